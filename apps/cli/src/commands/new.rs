//! `masque new`: writes a small model to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use masque_driver::{Diagnostic, Language, Severity, Sources};

use crate::args::NewArgs;
use crate::{Context, Exit};

/// `new NAME`: writes a commented model with expected verdicts, and says what to do with it.
pub fn new(
    args: &NewArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut sources = Sources::default();
    let written = model_path(args, &mut sources).and_then(|(path, language)| {
        write(&path, template(language))?;
        Ok((path, language))
    });
    let (path, language) = match written {
        Ok(written) => written,
        Err(diagnostic) => {
            context.text.diagnostics(err, &sources, [&*diagnostic])?;
            return Ok(Exit::BadInput);
        }
    };
    let name = shell_word(&path);
    writeln!(out, "wrote {}", path.display()).context("cannot write")?;
    writeln!(out, "\nNext:")?;
    for (command, purpose) in [
        ("check", "decide its properties"),
        ("test", "compare the verdicts with the expected ones in its comments"),
        ("why", "explain each verdict"),
        ("simulate", "walk through it step by step"),
    ] {
        let line = format!("masque {command} {name}");
        writeln!(out, "  {line:36} {purpose}")?;
    }
    writeln!(out, "The language is described in docs/{}.md.", language.name())?;
    Ok(Exit::AllHold)
}

/// The path of the new file, and its language.
fn model_path(args: &NewArgs, sources: &mut Sources) -> Result<(PathBuf, Language), Box<Diagnostic>> {
    let refuse = |sources: &mut Sources, message: String, help: &str| {
        let diagnostic = match sources.add("<NAME>", args.name.as_str()) {
            Ok(file) => Diagnostic::error("cli/bad-name", sources.span(file), message),
            Err(_) => Diagnostic::nowhere(Severity::Error, "cli/bad-name", message),
        };
        Err(Box::new(diagnostic.hint(help)))
    };
    let path = Path::new(&args.name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let named = match extension.map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("ispl") => Some(Language::Ispl),
        Some("bdi") => Some(Language::Bdi),
        Some("lcc") => Some(Language::Lcc),
        Some(other) => {
            let message = format!("`.{other}` is not the extension of a model that `masque new` writes");
            return refuse(
                sources,
                message,
                "accepted are .ispl, .bdi and .lcc, or a name without an extension",
            );
        }
    };
    let language = match (named, args.language) {
        (Some(named), Some(wanted)) if named != wanted => {
            let message = format!(
                "the extension is that of {}, but `--language` asks for {}",
                named.title(),
                wanted.title()
            );
            return refuse(sources, message, "leave out one of the two");
        }
        (named, wanted) => named.or(wanted).unwrap_or(Language::Ispl),
    };
    let is_folder = args.name.ends_with(['/', '\\']);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| !is_folder).unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !stem.starts_with(char::is_alphanumeric) || !stem.chars().all(is_plain) {
        let help = "a name begins with a letter or a digit, and consists of letters, digits, `_` and `-`";
        return refuse(sources, format!("`{}` is not the name of a model", args.name), help);
    }
    let path = if named.is_some() { path.to_path_buf() } else { path.with_extension(language.name()) };
    Ok((path, language))
}

fn template(language: Language) -> &'static str {
    match language {
        Language::Bdi => include_str!("../../templates/model.bdi"),
        Language::Lcc => include_str!("../../templates/model.lcc"),
        Language::Ispl | Language::Aut => include_str!("../../templates/model.ispl"),
    }
}

/// Writes a new file. A file that exists is not changed.
fn write(path: &Path, text: &str) -> Result<(), Box<Diagnostic>> {
    let name = masque_text::printable(&path.display().to_string()).into_owned();
    let refuse = |code, message: String, help: &str| {
        Box::new(Diagnostic::nowhere(Severity::Error, code, message).hint(help))
    };
    let unwritable = |error: std::io::Error| {
        let help = "the folder must exist and be writable";
        refuse("file/unwritable", format!("`{name}` cannot be written: {error}"), help)
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            refuse(
                "file/exists",
                format!("`{name}` exists already, and is not changed"),
                "choose another name",
            )
        } else {
            unwritable(error)
        }
    })?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // An incomplete file would prevent the next attempt.
        _ = std::fs::remove_file(path);
        unwritable(error)
    })
}

/// A path as a word of a shell.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
