//! `masque lsp`: the language server for editors.

use anyhow::Context as _;
use masque_lsp::{Config, serve, user_cache};

use crate::Exit;
use crate::args::LspArgs;

/// `lsp`: serves an editor on standard input and output. The exit code is 0 after `shutdown` and `exit`, otherwise 1,
/// as the protocol requires.
pub fn lsp(_: &LspArgs) -> anyhow::Result<Exit> {
    let program = std::env::current_exe().context("cannot locate the `masque` executable")?;
    let config = Config { program: Some(program), cache: user_cache() };
    let code = serve(config).context("the server cannot continue")?;
    Ok(if code == 0 { Exit::AllHold } else { Exit::SomeFail })
}
