//! `masque import`: protocols from descriptions of agents by other programs.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
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
            let name = path.display().to_string();
            let mut file = create(path).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => anyhow!("{name} exists, and is not overwritten"),
                _ => anyhow!("cannot write {name}: {error}"),
            })?;
            file.write_all(skeleton.text().as_bytes()).with_context(|| format!("cannot write {name}"))?;
            name
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

/// Creates a file. A device or a pipe has nothing that would be overwritten.
fn create(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match path.metadata() {
            Ok(found) if !found.is_file() && !found.is_dir() => File::options().write(true).open(path),
            _ => Err(error),
        },
        created => created,
    }
}

/// The text of a file.
fn read(path: &Path) -> anyhow::Result<String> {
    match read_text_within(path, MAX_BYTES, &Limits::default()) {
        Ok(text) => Ok(text),
        Err(Unread::Refused(diagnostic)) => bail!("{}", diagnostic.message),
        Err(Unread::Stopped(why)) => bail!("{} was not read: {}", path.display(), why.word()),
    }
}
