//! Every key of the table in `docs/explore.md`.

use anyhow::{Result, ensure};
use thirtyfour::Key;

use crate::browser::Browser;
use crate::server::Setup;

/// Keys of the simulator: numbers, arrows, and `r`.
pub async fn simulator(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["ispl/needham_schroeder.ispl"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.click("nav a", "Simulator").await?;
    browser.see("h2", "Initial states").await?;
    browser.press("1").await?;
    browser.see("h2#state", "State 0").await?;
    browser.press("r").await?;
    browser.see("h2#state", "State 1").await?;
    browser.press(Key::Left).await?;
    browser.see("h2#state", "State 0").await?;
    browser.press(Key::Right).await?;
    browser.see("h2#state", "State 1").await?;
    browser.press("1").await?;
    browser.see("h2#state", "State 2").await?;
    // A key that is typed into a field is text.
    browser.element("#formula").await?.send_keys("r1").await?;
    ensure!(
        browser.value("document.querySelector('#formula').value").await? == "r1",
        "the field has no text"
    );
    browser.see("h2#state", "State 2").await?;
    browser.check_log().await
}

/// Keys of evidence: arrows along a run, `n` and `p`, and the zoom of a drawing.
pub async fn evidence(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["ispl/needham_schroeder.ispl"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.open(&server.page("evidence/3")).await?;
    browser.see(".run output", "step 0").await?;
    browser.press(Key::Right).await?;
    browser.see(".run output", "step 1").await?;
    browser.press(Key::Right).await?;
    browser.see(".run output", "step 2").await?;
    browser.press(Key::Left).await?;
    browser.see(".run output", "step 1").await?;
    // The page is the same when it is loaded again.
    browser.wait_until("location.search.startsWith('?state=')").await?;
    browser.driver.refresh().await?;
    browser.see(".run output", "step 1").await?;
    browser.element(".evidence g.state.selected").await?;

    browser.press("p").await?;
    browser.wait_until("location.pathname.endsWith('evidence/2')").await?;
    browser.see("main", "next").await?;
    browser.press("n").await?;
    browser.wait_until("location.pathname.endsWith('evidence/3')").await?;

    let width = "Number(document.querySelector('.drawing svg').getAttribute('width'))";
    browser.element(".zoom").await?;
    let original = browser.value(width).await?.as_f64().unwrap_or_default();
    browser.driver.execute("document.querySelector('.drawing').focus()", Vec::new()).await?;
    browser.press("+").await?;
    browser.wait_until(&format!("{width} > {original}")).await?;
    browser.press("0").await?;
    browser.wait_until(&format!("{width} === {original}")).await?;
    browser.press("-").await?;
    browser.wait_until(&format!("{width} < {original}")).await?;
    browser.check_log().await
}

/// `u` takes back the last change of rules and facts.
pub async fn protocol(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore(&["lcc/travel.lcc", "lcc/travel_team.lcc", "lcc/travel.mu"], &[])?;
    browser.open(&server.address).await?;
    browser.see("main", "Checked in").await?;
    browser.click("nav a", "Protocol").await?;
    browser.click("button.switch", "common broker_id(br).").await?;
    browser.see("button.switch.off", "broker_id").await?;
    browser.press("u").await?;
    browser.see_no("button.switch.off", "broker_id").await?;
    browser.check_log().await
}
