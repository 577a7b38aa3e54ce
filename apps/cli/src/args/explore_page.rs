//! Arguments of `explore`.

use clap::{Arg, Args};

use super::CheckArgs;

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "masque explore [OPTIONS] <FILE>...")]
#[command(mut_arg("files", |arg| arg.help(FILES).long_help(FILES)))]
#[command(mut_args(hide_unsuitable))]
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

/// Hides the options of `check` about its reports and about several processes and models. They are not accepted, or
/// have no effect.
fn hide_unsuitable(arg: Arg) -> Arg {
    let is_hidden = matches!(arg.get_help_heading(), Some("Several processes" | "Output"))
        || matches!(arg.get_id().as_str(), "parse_only" | "each");
    if is_hidden { arg.hide(true) } else { arg }
}

const EXAMPLES: &str = "\
Examples:
  masque explore dc.ispl
  masque explore dc.ispl -D N=5 --timeout 1m
  masque explore travel.lcc travel.mu --no-open

Exit codes: 0 after Ctrl-C, 2 the page cannot be served.";
