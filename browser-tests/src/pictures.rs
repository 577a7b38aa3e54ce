//! Pictures of every part of the page, in both themes, narrow and wide.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::browser::Browser;
use crate::server::{Server, Setup};

/// A page of which a picture is taken: its name, its path, and a text to wait for.
type Shot = (&'static str, &'static str, &'static str);

/// Names of the files of a model, the options, and the pages.
type Album = (&'static [&'static str], &'static [&'static str], &'static [Shot]);

const ALBUMS: &[Album] = &[
    (
        &["ispl/dining_cryptographers.ispl"],
        &["-D", "N=5"],
        &[
            ("dc-overview", "", "Checked in"),
            ("dc-evidence", "evidence/6", ""),
            ("dc-simulate", "simulate?alike=Crypt[1]", "State 2"),
        ],
    ),
    (
        &["ispl/dining_cryptographers.ispl"],
        &[],
        &[("dc-graph", "graph?show=1&agent=Crypt[1]&state=3", "State #3")],
    ),
    (
        &["ispl/needham_schroeder.ispl"],
        &[],
        &[
            ("ns-overview", "", "Checked in"),
            ("ns-evidence", "evidence/3", ""),
            ("ns-knowledge", "evidence/2?state=6", "Not distinguished"),
        ],
    ),
    (
        &["ispl/horse_race.ispl"],
        &[],
        &[
            ("horse-strategy", "evidence/2", ""),
            ("horse-evidence", "evidence/3", ""),
            ("horse-simulate", "simulate", "State 2"),
        ],
    ),
    (
        &[
            "lcc/travel.lcc",
            "lcc/travel_team.lcc",
            "lcc/rules.pol",
            "lcc/f_customer.lcc",
            "lcc/f_member.lcc",
            "lcc/f_pgp.lcc",
            "lcc/f_x509.lcc",
            "lcc/travel.mu",
        ],
        &[],
        &[("travel-protocol", "protocol", "Rules and facts"), ("travel-evidence", "evidence/6", "")],
    ),
    (
        &["bdi/news_figure2.bdi"],
        &[],
        &[
            ("news-worlds", "worlds?state=0", "State #0"),
            ("news-evidence", "evidence/1", ""),
            ("news-overview", "", ""),
        ],
    ),
];

/// Writes the pictures into a folder, as `NAME-WIDTH-THEME.png`.
pub async fn take(browser: &Browser, setup: &Setup, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (files, options, shots) in ALBUMS {
        let server = setup.explore(files, options)?;
        browser.open(&server.address).await?;
        browser.see("main", "Checked in").await?;
        // A walk of some steps, for the pages that show one.
        browser.click("nav a", "Simulator").await?;
        browser.press("1").await?;
        browser.see("h2#state", "State 0").await?;
        for state in ["State 1", "State 2"] {
            browser.press("1").await?;
            browser.see("h2#state", state).await?;
        }
        if files.iter().any(|name| name.ends_with(".pol")) {
            browser.click("nav a", "Protocol").await?;
            browser.click("button.switch", "member(ta, syta)").await?;
            browser.see("button.switch.off", "").await?;
        }
        for shot in *shots {
            take_one(browser, &server, shot, folder).await?;
        }
    }
    Ok(())
}

async fn take_one(browser: &Browser, server: &Server, shot: &Shot, folder: &Path) -> Result<()> {
    let (name, path, text) = shot;
    browser.set_view(1400, 900, "light").await?;
    browser.open(&server.page(path)).await?;
    browser.see("main", text).await?;
    for (width, height) in [(1400, 900), (1350, 640), (400, 800)] {
        for theme in ["light", "dark"] {
            browser.set_view(width, height, theme).await?;
            browser.driver.screenshot(&folder.join(format!("{name}-{width}-{theme}.png"))).await?;
        }
    }
    Ok(())
}
