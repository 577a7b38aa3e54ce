//! File names as URIs.

use std::path::Path;

use masque_text::without_dots;
use serde::Serialize;

/// The name of the folder that relative URIs are relative to, as GitHub and other programs expect it.
pub(crate) const BASE_ID: &str = "%SRCROOT%";

/// A file as a URI: relative below a certain folder, otherwise absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileLocation {
    pub(crate) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri_base_id: Option<&'static str>,
}

impl FileLocation {
    /// The location of a file, by its name in reports; none if the text is no file, such as `<stdin>`.
    pub(crate) fn new(name: &str, folder: &Path) -> Option<FileLocation> {
        if name.is_empty() || (name.starts_with('<') && name.ends_with('>')) {
            return None;
        }
        let path = without_dots(&folder.join(name));
        Some(match path.strip_prefix(without_dots(folder)) {
            Ok(inside) => FileLocation { uri: encoded(inside), uri_base_id: Some(BASE_ID) },
            Err(_) => {
                let path = encoded(&path);
                let slash = if path.starts_with('/') { "" } else { "/" };
                FileLocation { uri: format!("file://{slash}{path}"), uri_base_id: None }
            }
        })
    }
}

/// The path in the syntax of URIs: `/` between names, and other bytes than letters, digits and `-._~` as `%20`.
fn encoded(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    let mut uri = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn names_become_uris() {
        let check = |name: &str, uri: &str, is_relative: bool| {
            let location = FileLocation::new(name, Path::new("/shelf/me/desk")).unwrap();
            assert_eq!((location.uri.as_str(), location.uri_base_id.is_some()), (uri, is_relative), "{name}");
        };
        check("a.ispl",                  "a.ispl",                         true);
        check("./models/../a b.ispl",    "a%20b.ispl",                     true);
        check("über/50%#?.bdi",          "%C3%BCber/50%25%23%3F.bdi",      true);
        check("a:b.lcc",                 "a%3Ab.lcc",                      true);
        check("/shelf/me/desk/x/y.aut",  "x/y.aut",                        true);
        check("../other/a.ispl",         "file:///shelf/me/other/a.ispl",   false);
        check("/else/a b.ispl",          "file:///else/a%20b.ispl",        false);
        check("/../../a.ispl",           "file:///a.ispl",                 false);
        for name in ["<stdin>", "<--property>", "<-D>", ""] {
            assert_eq!(FileLocation::new(name, Path::new("/shelf/me")), None);
        }
    }
}
