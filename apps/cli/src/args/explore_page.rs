//! Arguments of `explore`.

use clap::Args;

use super::CheckArgs;

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "masque explore [OPTIONS] <FILE>...")]
#[command(mut_arg("files", |arg| arg.help(FILES).long_help(FILES)))]
#[command(mut_args(|arg| if OF_REPORTS.contains(&arg.get_id().as_str()) { arg.hide(true) } else { arg }))]
pub struct ExploreArgs {
    /// The files and the options of the check.
    #[command(flatten)]
    pub check: CheckArgs,
    /// Print the address of the page instead of opening a browser.
    #[arg(long, help_heading = "Page")]
    pub no_open: bool,
    /// Port of the page on this machine [default: a free one].
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Page"
    )]
    pub port: u16,
    /// Hold the model for a page: answer requests on standard input.
    #[arg(long, hide = true)]
    pub serve_model: bool,
}

const FILES: &str =
    "Files of one model: an ISPL, BDI or AUT file, or the LCC files (.lcc, .pol, .mu) of a protocol";

/// Options of `check` about its reports and about several models. They are not accepted, or have no effect.
const OF_REPORTS: [&str; 9] = [
    "parse_only",
    "each",
    "format",
    "stats",
    "evidence",
    "evidence_format",
    "evidence_out",
    "deny",
    "processes",
];

const EXAMPLES: &str = "\
Examples:
  masque explore dc.ispl
  masque explore dc.ispl -D N=5 --timeout 1m
  masque explore travel.lcc travel.mu --no-open

Exit codes: 0 after Ctrl-C, 2 the page cannot be served.";
