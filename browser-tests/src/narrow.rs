//! Narrow pages, in both themes, and the comparison of states for failed knowledge.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::browser::Browser;
use crate::server::Setup;

/// Names of the files of a model, and the paths of its pages.
type Pages = (&'static [&'static str], &'static [&'static str]);

const PAGES: &[Pages] = &[
    (
        &["ispl/needham_schroeder.ispl"],
        &["", "evidence", "evidence/2?state=6", "evidence/3", "simulate", "graph?show=1&state=3"],
    ),
    (&["ispl/horse_race.ispl"], &["", "evidence/2", "evidence/3", "simulate"]),
    (
        &["lcc/travel.lcc", "lcc/travel_team.lcc", "lcc/travel.mu"],
        &["", "evidence", "evidence/6", "simulate", "protocol", "graph?show=1&state=0"],
    ),
    (
        &["bdi/news_figure2.bdi"],
        &["", "evidence/1", "evidence/2?state=3", "simulate", "worlds?state=0", "graph?show=1&state=0"],
    ),
];

/// At 400 pixels no page scrolls sideways.
pub async fn no_page_scrolls_sideways(browser: &Browser, setup: &Setup) -> Result<()> {
    let mut wide = Vec::new();
    for (files, paths) in PAGES {
        let server = setup.explore(files, &[])?;
        browser.open(&server.address).await?;
        browser.see("main", "Checked in").await?;
        // The pages of the simulator and of protocols show the walk.
        browser.click("nav a", "Simulator").await?;
        browser.click("button", "20 random steps").await?;
        browser.see("h2#state", "State ").await?;
        for path in *paths {
            browser.open(&server.page(path)).await?;
            browser.see("main", "").await?;
            for theme in ["light", "dark"] {
                browser.set_view(400, 800, theme).await?;
                let widths = "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]";
                let widths = browser.value(widths).await?;
                let [page, window] = [0, 1].map(|index| widths[index].as_u64());
                let (page, window) = page.zip(window).context("the page has no width")?;
                if page > window {
                    wide.push(format!("{} {path:?}, {theme}: {page} pixels in {window}", files[0]));
                }
            }
        }
        browser.check_log().await?;
    }
    ensure!(wide.is_empty(), "pages scroll sideways:\n{}", wide.join("\n"));
    Ok(())
}

/// For failed knowledge, the two states that an agent cannot distinguish are side by side.
pub async fn knowledge_compares_states(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["ispl/needham_schroeder.ispl"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.open(&server.page("evidence/2?state=6")).await?;
    browser.see(".inspector h3", "Not distinguished from").await?;
    browser.see(".side-by-side th", "#6").await?;
    let rows = "[...document.querySelectorAll('.side-by-side tbody tr')]";
    let is_different = "(row) => row.children[1].textContent !== row.children[2].textContent";
    browser.wait_until(&format!("{rows}.length > 0 && {rows}.every({is_different})")).await?;
    // The link leads to the other state, which is compared with this one. The address names it.
    let other = browser.value("document.querySelector('.alike-with a').textContent").await?;
    let other = other.as_str().context("the other state has no name")?.to_string();
    browser.click(".alike-with a", &other).await?;
    browser.see("#inspector h2", &other).await?;
    browser.see(".alike-with a", "State #6").await?;
    let number = other.trim_start_matches("State #");
    browser.wait_until(&format!("location.search === {}", json!(format!("?state={number}")))).await?;
    let selected = format!(".evidence g.state.selected[data-state={}]", json!(number));
    browser.element(&selected).await?;
    browser.check_log().await
}
