//! Files that change while the page is open, and checks that do not end by themselves.

use anyhow::Result;

use crate::browser::Browser;
use crate::server::Setup;

const LAMP: &str = "
Agent Lamp
  Vars: on : boolean; end Vars
  Actions = {switch, wait};
  Protocol: Other : {switch, wait}; end Protocol
  Evolution: on = true if on = false and Action = switch; end Evolution
end Agent
InitStates Lamp.on = false; end InitStates
Formulae
  possible: EF Lamp.on;
  never: AG !Lamp.on;
end Formulae
";

/// Counters that change independently: a check takes minutes.
const COUNTERS: &str = "
Agent Counter[i in 1..5]
  Vars: c : 0..59; end Vars
  Actions = {step, wait};
  Protocol: Other : {step, wait}; end Protocol
  Evolution: c = c + 1 if c < 59 and Action = step; end Evolution
end Agent
InitStates forall(i in 1..5 : Counter[i].c = 0); end InitStates
Formulae AG Counter[1].c < 60; end Formulae
";

/// A saved change appears on the open page, which stays where it is.
pub async fn edited_file(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore_texts(&[("lamp.ispl", LAMP)], &[])?;
    browser.open(&server.address).await?;
    browser.see(".verdict", "fails").await?;
    browser.value("window.isSamePage = true").await?;
    server.save("lamp.ispl", &LAMP.replace("AG !Lamp.on", "AG EF Lamp.on"))?;
    browser.see(".formula", "AG EF Lamp.on").await?;
    browser.see("main", "Checked in").await?;
    browser.see_no(".verdict", "fails").await?;
    // The page follows without being loaded anew.
    browser.wait_until("window.isSamePage").await?;

    // The walk of the simulator is kept.
    browser.open(&server.page("simulate")).await?;
    browser.click("button", "Initial state 1").await?;
    browser.click("button.step", "switch").await?;
    browser.see("h2#state", "State 1").await?;
    browser.fill("#formula", "K(Lamp, Lamp.on)").await?;
    browser.click("button", "Ask").await?;
    browser.see(".truths", "K(Lamp, Lamp.on)").await?;
    server.save("lamp.ispl", &LAMP.replace("never:", "always_off:"))?;
    browser.see(".truths", "always_off").await?;
    browser.see("h2#state", "State 1").await?;
    browser.see(".truths", "K(Lamp, Lamp.on)").await?;
    browser.check_log().await
}

/// A file with errors shows them, and the page recovers.
pub async fn broken_file(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore_texts(&[("lamp.ispl", LAMP)], &[])?;
    browser.open(&server.address).await?;
    browser.see(".verdict", "fails").await?;
    server.save("lamp.ispl", &LAMP.replace("end Agent", ""))?;
    browser.see("main", "The model has errors").await?;
    browser.see(".messages .severity", "error").await?;
    for part in ["Evidence", "Simulator", "State graph"] {
        browser.click("nav a", part).await?;
        browser.see("main", "the overview shows why").await?;
    }
    server.save("lamp.ispl", LAMP)?;
    browser.click("nav a", "Overview").await?;
    browser.see(".verdict", "fails").await?;
    browser.see_no("main", "The model has errors").await?;
    browser.check_log().await
}

/// The button ends a long check, which can be started again.
pub async fn cancelled_check(browser: &Browser, setup: &Setup) -> Result<()> {
    let server = setup.explore_texts(&[("counters.ispl", COUNTERS)], &["--engine", "explicit"])?;
    browser.open(&server.address).await?;
    browser.see("#progress", "states").await?;
    browser.click("#progress button", "Cancel").await?;
    browser.see("#progress", "was cancelled").await?;
    browser.click("#progress button", "Check again").await?;
    browser.see("#progress button", "Cancel").await?;
    browser.check_log().await
}

/// A check that runs out of time says so.
pub async fn time_limit(browser: &Browser, setup: &Setup) -> Result<()> {
    let options = ["--engine", "explicit", "--timeout", "1s"];
    let server = setup.explore_texts(&[("counters.ispl", COUNTERS)], &options)?;
    browser.open(&server.address).await?;
    browser.see("#progress", "The time limit was reached").await?;
    browser.see(".verdict", "timeout").await?;
    browser.check_log().await
}
