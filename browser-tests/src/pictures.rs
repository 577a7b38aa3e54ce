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

const ALBUMS: &[Album] = &[(
    &["ispl/dining_cryptographers.ispl"],
    &["-D", "N=5"],
    &[
        ("dc-overview", "", "Checked in"),
        ("dc-evidence", "evidence/1", ""),
        ("dc-simulate", "simulate", ""),
        ("dc-graph", "graph?show=1&agent=Crypt[1]&state=3", "State #3"),
    ],
)];

/// Writes the pictures into a folder, as `NAME-WIDTH-THEME.png`.
pub async fn take(browser: &Browser, setup: &Setup, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (files, options, shots) in ALBUMS {
        let server = setup.explore(files, options)?;
        browser.open(&server.address).await?;
        browser.see("main", "Checked in").await?;
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
    for (width, height) in [(1400, 900), (400, 800)] {
        for theme in ["light", "dark"] {
            browser.set_view(width, height, theme).await?;
            browser.driver.screenshot(&folder.join(format!("{name}-{width}-{theme}.png"))).await?;
        }
    }
    Ok(())
}
