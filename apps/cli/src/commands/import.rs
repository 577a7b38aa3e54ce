//! `masque import`: protocols from descriptions of agents by other programs.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use masque_driver::{Limits, Unread, read_text_within};
use masque_import::{MAX_BYTES, a2a, langgraph};
use masque_report::Detail;

use crate::args::{ImportArgs, ImportFrom};
use crate::{Context, Exit};

/// `import FORMAT FILE..`: writes the protocol, and what it has to `err`.
pub fn import(
    args: &ImportArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut texts = Vec::new();
    for path in &args.files {
        texts.push((path.display().to_string(), read(path)?));
    }
    let skeleton = match (args.from, &texts[..]) {
        (ImportFrom::Langgraph, [(name, text)]) => langgraph(name, text)?,
        (ImportFrom::Langgraph, _) => bail!("expected one graph, found {} files", texts.len()),
        (ImportFrom::A2a, cards) => a2a(cards)?,
    };
    let name = match &args.output {
        Some(path) => {
            let cannot = || match path.exists() {
                true => format!("{} exists, and is not overwritten", path.display()),
                false => format!("cannot write {}", path.display()),
            };
            File::create_new(path)
                .and_then(|mut file| file.write_all(skeleton.text().as_bytes()))
                .with_context(cannot)?;
            path.display().to_string()
        }
        None => {
            out.write_all(skeleton.text().as_bytes())?;
            "<stdout>".to_string()
        }
    };
    if context.text.detail > Detail::Quiet {
        writeln!(err, "{name}: {}", skeleton.summary())?;
    }
    Ok(Exit::AllHold)
}

/// The text of a file.
fn read(path: &Path) -> anyhow::Result<String> {
    match read_text_within(path, MAX_BYTES, &Limits::default()) {
        Ok(text) => Ok(text),
        Err(Unread::Refused(diagnostic)) => bail!("{}", diagnostic.message),
        Err(Unread::Stopped(why)) => bail!("{} was not read: {}", path.display(), why.word()),
    }
}
