//! Tests of `masque explore` in a real browser.
//!
//! ```text
//! browser-tests PROGRAM MODELS [FILTER]             runs the tests whose name contains FILTER
//! browser-tests PROGRAM MODELS --pictures FOLDER    writes pictures of every part of the page
//! ```
//!
//! `PROGRAM` is the `masque` executable, `MODELS` the folder `models` of the repository. `chromium` and `chromedriver`
//! must be on the path. The exit code is 0 if all tests pass.

mod browser;
mod keys;
mod languages;
mod narrow;
mod pictures;
mod reload;
mod server;

use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use browser::{Browser, DriverProcess};
use server::Setup;

/// A test: it gets the browser, which stays open for the next one.
type Test = for<'t> fn(&'t Browser, &'t Setup) -> Pin<Box<dyn Future<Output = Result<()>> + 't>>;

macro_rules! tests {
    ($($module:ident::$name:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($name)), |browser, setup| Box::pin($module::$name(browser, setup)))),*]
    };
}

const TESTS: &[(&str, Test)] = &tests![
    languages::interpreted_system,
    languages::worlds,
    languages::protocol,
    languages::transition_system,
    languages::names_are_text,
    languages::tabs,
    narrow::no_page_scrolls_sideways,
    narrow::knowledge_compares_states,
    keys::simulator,
    keys::evidence,
    keys::protocol,
    reload::edited_file,
    reload::broken_file,
    reload::cancelled_check,
    reload::time_limit,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = runtime.context("cannot start").and_then(|runtime| runtime.block_on(run(&arguments)));
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("browser-tests: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what the arguments ask for. Returns whether it succeeded.
async fn run(arguments: &[String]) -> Result<bool> {
    let [program, models, rest @ ..] = arguments else {
        anyhow::bail!("usage: browser-tests PROGRAM MODELS [FILTER | --pictures FOLDER]");
    };
    let setup =
        Setup { program: Path::new(program).canonicalize()?, models: Path::new(models).canonicalize()? };
    let process = DriverProcess::start()?;
    let browser = Browser::start(&process).await?;
    let is_successful = match rest {
        [option, folder, ..] if option == "--pictures" => {
            pictures::take(&browser, &setup, Path::new(folder)).await?;
            true
        }
        _ => run_tests(&browser, &setup, rest.first().map_or("", String::as_str)).await,
    };
    browser.driver.quit().await?;
    Ok(is_successful)
}

async fn run_tests(browser: &Browser, setup: &Setup, filter: &str) -> bool {
    let mut n_failed = 0;
    for (name, test) in TESTS.iter().filter(|(name, _)| name.contains(filter)) {
        let start = Instant::now();
        let mut result = browser.set_view(1200, 900, "light").await;
        if result.is_ok() {
            result = test(browser, setup).await;
        }
        match result {
            Ok(()) => println!("{name}: passed in {:.1} s", start.elapsed().as_secs_f64()),
            Err(error) => {
                n_failed += 1;
                println!("{name}: FAILED after {:.1} s\n{error:#}", start.elapsed().as_secs_f64());
            }
        }
    }
    n_failed == 0
}
