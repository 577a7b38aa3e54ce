//! The pages of the documentation that are parts of programs: what `masque explain` prints and `masque mcp` serves.
//!
//! The package is the folder of the pages itself. So a published package contains them, and each page exists once.
//!
//! ```
//! assert!(masque_docs::PAGES.iter().any(|page| page.name == "ispl"));
//! assert!(masque_docs::DIAGNOSTICS.iter().any(|text| text.contains("## file/not-found")));
//! ```
#![forbid(unsafe_code)]

/// A page for readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Name of the file without its ending.
    pub name: &'static str,
    /// Title of the page and what it is about.
    pub title: &'static str,
    /// Text in Markdown.
    pub text: &'static str,
}

/// Declares pages by the names of their files.
macro_rules! pages {
    ($($name:literal $title:literal,)*) => {
        [$(Page { name: $name, title: $title, text: include_str!(concat!($name, ".md")) },)*]
    };
}

/// Pages about languages, logics, evidence and work with agents.
#[rustfmt::skip]
pub static PAGES: &[Page] = &pages![
    "cheat-sheet" "Cheat sheet: two pages: a small model in each language, and the operators",
    "ispl" "The language ISPL: interpreted systems",
    "logics" "Logics: the operators of ISPL formulas",
    "bdi" "The language BDI: agents with beliefs, desires and intentions",
    "lcc" "The language LCC: protocols of agents, and their rules",
    "mu" "The mu-calculus: properties of LCC protocols and transition systems",
    "evidence" "Evidence: what counterexamples and witnesses show",
    "testing" "Expectations: expected verdicts in comments",
    "monitor" "Watching agents at work: observations, goals, obligations, and logs",
    "mcp" "Agents write models: this server: tools, limits, how to work",
    "agents" "A checker beside agents: monitors, guards and the broker",
];

/// Texts about diagnostics: a section for each code.
pub static DIAGNOSTICS: &[&str] = &[
    include_str!("diagnostics-bdi.md"),
    include_str!("diagnostics-lcc.md"),
    include_str!("diagnostics-monitor.md"),
    include_str!("diagnostics-mu.md"),
    include_str!("diagnostics-test.md"),
    include_str!("diagnostics.md"),
];
