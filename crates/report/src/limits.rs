//! How much of the evidence a text or a drawing shows.

/// Maximum numbers of items that are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Variables of a state.
    pub(crate) variables: usize,
    /// Actions of a joint action.
    pub(crate) actions: usize,
    /// Rows of each kind in a comparison of two states.
    pub(crate) rows: usize,
    /// States or events at each end of a long path.
    pub(crate) at_each_end: usize,
    /// Claims, links of a chain, rows of a strategy, and rows of a chart.
    pub(crate) claims: usize,
    /// Whether agents are shown that have only one action.
    pub(crate) shows_forced_actions: bool,
}

impl Limits {
    /// Limits of a text without `-v` and `--full`.
    pub(crate) const NORMAL: Limits = Limits {
        variables: 24,
        actions: 12,
        rows: 12,
        at_each_end: 5,
        claims: 40,
        shows_forced_actions: false,
    };
    /// Limits with `-v`: all variables and actions.
    pub(crate) const VERBOSE: Limits = Limits {
        variables: usize::MAX,
        actions: usize::MAX,
        rows: usize::MAX,
        shows_forced_actions: true,
        ..Limits::NORMAL
    };
    /// Limits with `--full`: everything.
    pub(crate) const NONE: Limits = Limits { at_each_end: usize::MAX, claims: usize::MAX, ..Limits::VERBOSE };
}
