//! URIs of documents and the paths that they stand for.

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

/// The path of a document. A document that is no file, such as `untitled:Untitled-1`, gets a path below a folder that
/// does not exist, with the ending of its language.
pub(crate) fn path_of(uri: &Uri, language_id: &str) -> PathBuf {
    file_path(uri).unwrap_or_else(|| {
        let name: String = uri
            .0
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' })
            .collect();
        PathBuf::from(format!("/no-such-folder/{name}.{language_id}"))
    })
}

/// The path of a `file:` URI.
pub(crate) fn file_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let path = decoded(path)?;
    let is_drive =
        path.as_bytes().get(2) == Some(&b':') && path.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
    Some(PathBuf::from(if cfg!(windows) && is_drive { &path[1..] } else { &path }))
}

/// The URI of a file.
pub fn uri_of(path: &Path) -> Uri {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { format!("/{}", text.replace('\\', "/")) } else { text.into_owned() };
    let mut uri = String::from("file://");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri(uri)
}

/// The text with `%20` and the like replaced by the bytes that they stand for; none if that is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
        bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive() {
        let path = Path::new("/home/é ü/a+b%.ispl");
        assert_eq!(file_path(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(file_path(&Uri("file:///a%20b.lcc".into())).as_deref(), Some(Path::new("/a b.lcc")));
        assert_eq!(file_path(&Uri("file:///a%2".into())), None);
        assert_eq!(file_path(&Uri("file://".into())), None);
        let untitled = path_of(&Uri("untitled:Untitled-1".into()), "bdi");
        assert_eq!(untitled.extension().unwrap(), "bdi");
    }
}
