//! A model of each language, and the parts of the page that it has.

use anyhow::{Result, ensure};
use thirtyfour::Key;

use crate::browser::Browser;
use crate::server::Setup;

/// An ISPL model: overview, evidence, simulator, state graph.
pub async fn interpreted_system(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["ispl/dining_cryptographers.ispl"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.see("main", "Source").await?;

    browser.open(&server.page("evidence/1")).await?;
    browser.see("h1", "").await?;
    browser.open(&server.page("evidence")).await?;
    let failed = "[...document.querySelectorAll('.property')].find((e) => e.querySelector('.verdict.fails'))";
    if !browser.value(failed).await?.is_null() {
        browser.click(".property:has(.verdict.fails) a", "").await?;
        browser.see(".inspector", "The formula here").await?;
        let states =
            browser.value("document.querySelectorAll('.evidence g.state[data-state]').length").await?;
        ensure!(states.as_u64() > Some(0), "the drawing has no states");
        browser.click(".zoom button", "+").await?;
        // A part of the formula leads to its reason.
        browser.click(".tree a.reason", "").await?;
        browser.see(".inspector .why", "Why?").await?;
    }

    browser.click("nav a", "Simulator").await?;
    browser.see("h2", "Initial states").await?;
    browser.press("1").await?;
    browser.see("h2#state", "State 0").await?;
    browser.press("1").await?;
    browser.see("h2#state", "State 1").await?;
    browser.press(Key::Left).await?;
    browser.see("h2#state", "State 0").await?;
    browser.press(Key::Right).await?;
    browser.see("h2#state", "State 1").await?;
    browser.press("r").await?;
    browser.see("h2#state", "State 2").await?;

    browser.click("nav a", "State graph").await?;
    browser.click("button", "Draw").await?;
    browser.see("main", "states").await?;
    browser.click(".graph-drawing g.node", "").await?;
    browser.see(".inspector h2", "State #").await?;
    browser.check_log().await
}

/// A BDI file: the worlds and their states.
pub async fn worlds(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["bdi/news_figure2.bdi"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.click("nav a", "Worlds").await?;
    browser.see("svg title", "Worlds").await?;
    browser.click(".graph-drawing g.node", "").await?;
    browser.see(".inspector h2", "State #").await?;
    browser.click("nav a", "Simulator").await?;
    browser.click("button", "Random step").await?;
    browser.see("h2#state", "State 1").await?;
    browser.check_log().await
}

/// A protocol with its team and properties.
pub async fn protocol(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["lcc/travel.lcc", "lcc/travel_team.lcc", "lcc/travel.mu"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.open(&server.page("evidence/1")).await?;
    browser.see("h1", "p1_printed").await?;
    browser.click("nav a", "Simulator").await?;
    browser.click("button", "20 random steps").await?;
    browser.see("h2#chart", "Messages").await?;

    browser.click("nav a", "Protocol").await?;
    browser.see("h2#chart", "Messages").await?;
    browser.see(".standing", "c1").await?;
    browser.click("button", "Start again").await?;
    browser.click("button", "Initial state 1").await?;
    browser.see(".standing .chip", "can act").await?;
    browser.see(".standing .obstacles", "").await?;
    browser.click("button.step", "find_agent").await?;
    browser.see("h2#chart", "after 1 step").await?;
    // Without this fact the client never finds the broker.
    browser.click("button.switch", "common broker_id(br).").await?;
    browser.see(".switched .changed", "was holds").await?;
    browser.see("button.switch.off", "broker_id").await?;
    browser.press("u").await?;
    browser.wait_until("!document.querySelector('.switched .changed')").await?;
    browser.wait_until("!document.querySelector('button.switch.off')").await?;
    // The walk is kept.
    browser.see("h2#chart", "after 1 step").await?;
    browser.check_log().await
}

/// A transition system.
pub async fn transition_system(browser: &Browser, setup: &Setup) -> Result<()> {
    let aut = "des (0, 3, 2)\n(0, \"go\", 1)\n(1, \"back\", 0)\n(1, \"stay\", 1)\n";
    let mu = "live : AG <\"back\"> true ;\n";
    let server = setup.explore_texts(&[("ring.aut", aut), ("ring.mu", mu)], &[])?;
    browser.open(&server.address).await?;
    browser.see(".verdict", "fails").await?;
    browser.click("a", "live").await?;
    browser.see("h1", "live").await?;
    browser.click("nav a", "State graph").await?;
    browser.click("button", "Draw").await?;
    browser.see("main", "2 states, 3 edges").await?;
    browser.click("nav a", "Simulator").await?;
    browser.click("button", "Initial state 1").await?;
    browser.see("h2#state", "State 0").await?;
    browser.check_log().await
}

/// Each tab has its own walk, also a duplicate of another one.
pub async fn tabs(browser: &Browser, setup: &Setup) -> Result<()> {
    let server =
        setup.explore_texts(&[("ring.aut", "des (0, 2, 2)\n(0, \"go\", 1)\n(1, \"back\", 0)\n")], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.click("nav a", "Simulator").await?;
    browser.click("button", "Initial state 1").await?;
    browser.click("button.step", "go").await?;
    browser.see("h2#state", "State 1").await?;
    let first = browser.driver.window().await?;
    let address = browser.driver.current_url().await?;

    // A duplicate continues with a copy of the walk.
    let duplicate = browser.driver.new_tab().await?;
    browser.driver.switch_to_window(duplicate).await?;
    browser.open(address.as_str()).await?;
    browser.wait_until(&format!("location.href !== {:?}", address.as_str())).await?;
    browser.see("h2#state", "State 1").await?;
    browser.click("button.step", "back").await?;
    browser.see("h2#state", "State 2").await?;

    // A new tab has no walk.
    browser.open(&server.address).await?;
    browser.click("nav a", "Simulator").await?;
    browser.see("h2", "Initial states").await?;
    browser.check_log().await?;
    browser.driver.close_window().await?;

    browser.driver.switch_to_window(first).await?;
    browser.driver.refresh().await?;
    browser.see("h2#state", "State 1").await?;
    browser.wait_until(&format!("location.href === {:?}", address.as_str())).await
}

/// Names that look like elements are shown and not run.
pub async fn names_are_text(browser: &Browser, setup: &Setup) -> Result<()> {
    let label = "<script>window.isRun = 1</script><img src=x onerror='window.isRun = 1'>";
    let aut = format!("des (0, 2, 2)\n(0, \"{label}\", 1)\n(1, \"{label}\", 0)\n");
    let mu = format!("live : [\"{label}\"] false ;\n");
    let server = setup.explore_texts(&[("names.aut", &aut), ("names.mu", &mu)], &[])?;
    browser.open(&server.address).await?;
    browser.see("main code", "<script>").await?;
    for path in ["evidence/1", "simulate", "graph?show=1&state=0", ""] {
        browser.open(&server.page(path)).await?;
        browser.see("main", "").await?;
        ensure_not_run(browser).await?;
    }
    browser.click("nav a", "Simulator").await?;
    browser.click("button", "Initial state 1").await?;
    browser.see("button.step", "<script>").await?;
    browser.click("button.step", "").await?;
    browser.see(".walk", "<script>").await?;
    ensure_not_run(browser).await?;
    browser.check_log().await
}

async fn ensure_not_run(browser: &Browser) -> Result<()> {
    ensure!(browser.value("window.isRun").await?.is_null(), "a name of the model was run");
    ensure!(
        browser.value("document.querySelector('main script, main img')").await?.is_null(),
        "a name is an element"
    );
    Ok(())
}
