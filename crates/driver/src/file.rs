//! Reading a text, or saying why it cannot be read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use masque_text::{Diagnostic, Severity, did_you_mean};

/// A file may have this many bytes.
pub const MAX_BYTES: u64 = 1 << 30;

/// The name of standard input as a file.
const STDIN: &str = "-";

/// The name of a file in reports: as it was given.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_string() } else { path.display().to_string() }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// The text of a file; of standard input if the path is `-`.
pub fn read(path: &Path) -> Result<String, Box<Diagnostic>> {
    read_as(path, &display_name(path))
}

/// The text of a file that messages call by a name.
pub(crate) fn read_as(path: &Path, name: &str) -> Result<String, Box<Diagnostic>> {
    let bytes = read_bytes(path, name)?;
    let text = decode(name, bytes)?;
    match text.trim().is_empty() {
        true => {
            let empty = error("file/empty", format!("`{name}` is empty"));
            Err(empty.hint("a model has at least one agent").into())
        }
        false => Ok(text),
    }
}

/// A message about a whole file, so there is no text to point at.
pub(crate) fn error(code: &'static str, message: String) -> Diagnostic {
    Diagnostic::nowhere(Severity::Error, code, message)
}

/// A file beyond [`MAX_BYTES`].
pub(crate) fn too_large(name: &str) -> Diagnostic {
    error("file/too-large", format!("`{name}` is too large: a file may have {} MiB", MAX_BYTES >> 20))
}

/// The bytes of a file.
pub(crate) fn read_bytes(path: &Path, name: &str) -> Result<Vec<u8>, Box<Diagnostic>> {
    if path.is_dir() {
        let message = format!("`{name}` is a directory; a file is needed");
        return Err(error("file/is-directory", message).help(a_file_inside(path)).into());
    }
    let result = if is_stdin(path) { read_some(io::stdin().lock(), 0) } else { open_and_read(path) };
    match result {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(too_large(name).into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Err(error("file/not-found", format!("there is no file `{name}`")).help(neighbour(path)).into())
        }
        Err(e) => Err(error("file/unreadable", format!("`{name}` cannot be read: {}", reason(&e))).into()),
    }
}

/// All bytes of a file; none if there are too many.
fn open_and_read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > MAX_BYTES { Ok(None) } else { read_some(file, size as usize) }
}

/// All bytes of a stream that has about `size`; none if there are too many.
fn read_some(stream: impl Read, size: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(size + 1);
    stream.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_BYTES).then_some(bytes))
}

/// What the system says, without its number: the same words on every run.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

/// Bytes as text; a byte order mark is dropped.
fn decode(name: &str, bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = format!("`{name}` is not UTF-8 text: it begins like UTF-16");
        return Err(error("file/not-text", message).hint("save it as UTF-8").into());
    }
    let not_text = |at: usize, byte: u8| {
        let message = format!("`{name}` is not UTF-8 text: byte {} is 0x{byte:02x}", at + 1);
        Box::new(error("file/not-text", message))
    };
    // No text has a NUL, and every other kind of file has one early on.
    if bytes.contains(&0) {
        let at = bytes.iter().position(|b| *b == 0).unwrap_or_default();
        return Err(not_text(at, 0));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_string(),
            None => text,
        }),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            Err(not_text(at, e.as_bytes().get(at).copied().unwrap_or_default()))
        }
    }
}

/// A file beside the missing one whose name is nearly the same.
pub(crate) fn neighbour(path: &Path) -> Option<String> {
    let used = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    did_you_mean(used, names_in(folder))
}

/// Shows how a file of a directory is named.
fn a_file_inside(folder: &Path) -> Option<String> {
    let inside = names_in(folder).into_iter().filter(|n| n.ends_with(".ispl")).min()?;
    Some(format!("for example `{}`", folder.join(inside).display()))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
