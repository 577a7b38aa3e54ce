//! Arguments of `watch`.

use clap::Args;

use super::CheckArgs;

/// Arguments of `watch`: those of `check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WATCH_EXAMPLES, override_usage = "masque watch [OPTIONS] <FILE>...")]
#[command(mut_arg("files", |arg| arg.help(FILES).long_help(FILES)))]
pub struct WatchArgs {
    /// What is checked.
    #[command(flatten)]
    pub check: CheckArgs,
}

const FILES: &str =
    "Model files. All LCC files (.lcc, .pol, .mu) together form one model, unless `--each` is given";

const WATCH_EXAMPLES: &str = "\
Examples:
  masque watch model.ispl
  masque watch model.ispl -D N=3 --timeout 10s
  masque watch team.lcc travel.mu
  masque watch *.ispl --quiet

Exit codes: 130 ended by Ctrl-C, 2 the command line is not accepted.";
