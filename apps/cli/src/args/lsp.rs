//! Arguments of `lsp`.

use clap::Args;

/// Arguments of `lsp`.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(after_help = LSP_EXAMPLES)]
pub struct LspArgs {
    /// Serve standard input and output. This is the only way of communication; editors that give the option find it
    /// accepted.
    #[arg(long)]
    pub stdio: bool,
}

const LSP_EXAMPLES: &str = "\
Examples:
  masque lsp    the command that an editor is configured with

Exit codes: 0 after `shutdown` and `exit`, 1 if the editor ends in another way.";
