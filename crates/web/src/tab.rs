//! Tabs of the browser. Each has its own walk of the simulator, and its own choice of rules and facts of a protocol.
//!
//! The number of a tab is a part of the address of its pages. A visit of the first page without a number opens a new
//! tab, and so does a page that finds another one open with its number, such as a duplicate.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use masque_driver::warm::WarmWalk;

use crate::protocol::NamedRun;
use crate::server::plain;
use crate::state::{App, lock};

/// Maximum number of tabs that are remembered. Then the one that was used longest ago starts anew.
const MAX_TABS: usize = 64;

/// A tab, for the time of a request.
pub(crate) struct Tab {
    pub(crate) app: Arc<App>,
    /// The first parts of the paths of its pages.
    pub(crate) base: String,
    walk: Arc<Mutex<WalkState>>,
}

/// What is known about all tabs.
#[derive(Default)]
pub(crate) struct Tabs {
    walks: HashMap<u64, KnownTab>,
    /// Number of requests of all tabs.
    n_requests: u64,
    /// Number of tabs that were opened.
    n_opened: u64,
}

struct KnownTab {
    walk: Arc<Mutex<WalkState>>,
    /// Number of the request that used it last.
    used: u64,
}

/// The walk of the simulator, and what else a tab has chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkState {
    /// The walk, with the number of the process in which its states have their numbers; none before it begins.
    pub(crate) walk: Option<WarmWalk>,
    pub(crate) generation: u64,
    /// The walk with names, by which it is found again in another process.
    pub(crate) named: NamedRun,
    /// Number of steps between the start and the state that is shown.
    pub(crate) position: usize,
    /// Actions that the listed steps must have, by agent.
    pub(crate) fixed: Vec<(String, String)>,
    /// Formulas that are shown at each state.
    pub(crate) formulas: Vec<String>,
    /// A message about the last command.
    pub(crate) note: Option<String>,
    /// Seed of the next random steps.
    pub(crate) seed: u64,
    /// Texts of the statements of a protocol that are switched off.
    pub(crate) off: BTreeSet<String>,
    /// Earlier values of `off`, the last one at the end.
    pub(crate) undo: Vec<BTreeSet<String>>,
}

impl Tab {
    /// Opens a tab. `from` is the tab whose walk it copies.
    pub(crate) fn open(app: &Arc<App>, from: Option<&Tab>) -> Tab {
        let number = {
            let mut tabs = lock(&app.tabs);
            tabs.n_opened += 1;
            tabs.n_opened
        };
        let tab = Tab::of(app, number);
        if let Some(from) = from {
            let copy = from.walk().clone();
            *tab.walk() = copy;
        }
        tab
    }

    fn of(app: &Arc<App>, number: u64) -> Tab {
        let mut tabs = lock(&app.tabs);
        tabs.n_requests += 1;
        let used = tabs.n_requests;
        if tabs.walks.len() >= MAX_TABS && !tabs.walks.contains_key(&number) {
            let oldest = tabs.walks.iter().min_by_key(|(_, tab)| tab.used).map(|(number, _)| *number);
            oldest.map(|number| tabs.walks.remove(&number));
        }
        let new = || KnownTab { walk: Arc::default(), used };
        let known = tabs.walks.entry(number).or_insert_with(new);
        known.used = used;
        let (base, walk) = (format!("{}/{number}", app.base), Arc::clone(&known.walk));
        Tab { app: Arc::clone(app), base, walk }
    }

    /// The walk of the simulator.
    pub(crate) fn walk(&self) -> MutexGuard<'_, WalkState> {
        lock(&self.walk)
    }
}

impl FromRequestParts<Arc<App>> for Tab {
    type Rejection = Response;

    /// Finds the tab by its number, which follows the token in the path.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Tab, Response> {
        let number = parts.uri.path().split('/').nth(2).and_then(|part| part.parse().ok());
        let number = number.filter(|number| *number <= lock(&app.tabs).n_opened);
        let refuse = || plain(StatusCode::NOT_FOUND, "there is no such page".to_string());
        number.map(|number| Tab::of(app, number)).ok_or_else(refuse)
    }
}
