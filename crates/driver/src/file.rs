//! Reading of texts, with diagnostics if a text cannot be read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use masque_text::{Diagnostic, ReadLimits, Severity, did_you_mean, printable};

/// Maximum size of a file in bytes.
pub const MAX_BYTES: u64 = 1 << 30;

/// Number of bytes that are read between two checks of the limits.
const BYTES_PER_READ: u64 = 1 << 20;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// The name of a file in reports: the path as the user gave it.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_string() } else { printable(&path.display().to_string()).into_owned() }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// Reads the text of a file, or of standard input if the path is `-`, within limits. If one is exceeded, the
/// result is incomplete.
pub(crate) fn read_within(path: &Path, limits: &ReadLimits) -> Result<String, Box<Diagnostic>> {
    read_as(path, &display_name(path), limits)
}

/// Reads the text of a model. Messages call the file by `name`.
pub(crate) fn read_as(path: &Path, name: &str, limits: &ReadLimits) -> Result<String, Box<Diagnostic>> {
    let bytes = read_bytes(path, name, limits)?;
    let text = decode(name, bytes)?;
    if text.trim().is_empty() {
        let empty = error("file/empty", format!("`{name}` is empty"));
        return Err(empty.hint("a model has at least one agent").into());
    }
    Ok(text)
}

/// Reads a text of at most `max_bytes` bytes, which may be empty.
pub(crate) fn read_at_most(
    path: &Path,
    max_bytes: u64,
    limits: &ReadLimits,
) -> Result<String, Box<Diagnostic>> {
    let name = display_name(path);
    decode(&name, bytes_at_most(path, &name, max_bytes, limits)?)
}

/// An error about a whole file, without a span.
pub(crate) fn error(code: &'static str, message: String) -> Diagnostic {
    Diagnostic::nowhere(Severity::Error, code, message)
}

/// The error about a model larger than [`MAX_BYTES`].
pub(crate) fn too_large(name: &str) -> Diagnostic {
    larger_than(name, MAX_BYTES)
}

/// The error about a file larger than `max_bytes`.
fn larger_than(name: &str, max_bytes: u64) -> Diagnostic {
    error("file/too-large", format!("`{name}` is too large: a file may have {} MiB", max_bytes >> 20))
}

/// The error about files that are too large in total.
pub(crate) fn too_large_together() -> Diagnostic {
    error("file/too-large", "the files are too large together".to_string())
}

/// Reads the bytes of a file.
pub(crate) fn read_bytes(path: &Path, name: &str, limits: &ReadLimits) -> Result<Vec<u8>, Box<Diagnostic>> {
    bytes_at_most(path, name, MAX_BYTES, limits)
}

/// Reads the bytes of a file, at most `max_bytes` of them.
pub(crate) fn bytes_at_most(
    path: &Path,
    name: &str,
    max_bytes: u64,
    limits: &ReadLimits,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    if path.is_dir() {
        let message = format!("`{name}` is a directory; a file is needed");
        return Err(error("file/is-directory", message).help(a_file_inside(path)).into());
    }
    let result = if is_stdin(path) {
        read_some(io::stdin().lock(), 0, max_bytes, limits)
    } else {
        open_and_read(path, max_bytes, limits)
    };
    match result {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(larger_than(name, max_bytes).into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Err(error("file/not-found", format!("there is no file `{name}`")).help(neighbour(path)).into())
        }
        Err(e) => Err(error("file/unreadable", format!("`{name}` cannot be read: {}", reason(&e))).into()),
    }
}

/// Reads all bytes of a file; none if there are too many.
fn open_and_read(path: &Path, max_bytes: u64, limits: &ReadLimits) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > max_bytes { Ok(None) } else { read_some(file, size as usize, max_bytes, limits) }
}

/// Reads all bytes of a stream that has about `size` bytes; none if there are too many. Stops early if a limit is
/// exceeded.
fn read_some(
    mut stream: impl Read,
    size: usize,
    max_bytes: u64,
    limits: &ReadLimits,
) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    if !limits.charge(size as u64) {
        return Ok(Some(bytes));
    }
    bytes.reserve_exact(size + 1);
    loop {
        let capacity = bytes.capacity();
        if stream.by_ref().take(BYTES_PER_READ).read_to_end(&mut bytes)? == 0 {
            return Ok(Some(bytes));
        }
        if bytes.len() as u64 > max_bytes {
            return Ok(None);
        }
        // A vector that grows needs the old and the new memory for a moment.
        let grown = if bytes.capacity() > capacity { bytes.capacity() } else { 0 };
        if !limits.charge(grown as u64) {
            return Ok(Some(bytes));
        }
    }
}

/// The operating system's message without the error number, in lower case.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

/// Decodes bytes as UTF-8 text. A byte order mark is dropped.
fn decode(name: &str, bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = format!("`{name}` is not UTF-8 text: it begins with a UTF-16 byte order mark");
        return Err(error("file/not-text", message).hint("save it as UTF-8").into());
    }
    let not_text = |index: usize, byte: u8| {
        let message = format!("`{name}` is not UTF-8 text: byte {} is 0x{byte:02x}", index + 1);
        Box::new(error("file/not-text", message))
    };
    // Texts contain no NUL; most binary files do.
    if let Some(index) = bytes.iter().position(|byte| *byte == 0) {
        return Err(not_text(index, 0));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_string(),
            None => text,
        }),
        Err(e) => {
            let index = e.utf8_error().valid_up_to();
            Err(not_text(index, e.as_bytes().get(index).copied().unwrap_or_default()))
        }
    }
}

/// A hint at a file in the same folder whose name is similar to that of the missing file.
pub(crate) fn neighbour(path: &Path) -> Option<String> {
    let used = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    did_you_mean(used, names_in(folder))
}

/// A hint at a model file inside a directory.
fn a_file_inside(folder: &Path) -> Option<String> {
    let inside = names_in(folder).into_iter().filter(|n| n.ends_with(".ispl")).min()?;
    Some(format!("for example `{}`", folder.join(inside).display()))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
