//! Files that cannot be read, and requests that are read together with a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use masque_driver::{Limits, LogConditions, Request, Why, format_file, load, load_within, replace_file};
use tempfile::TempDir;

const MODEL: &str = "
    param N = 2;
    Agent Light[i in 1..N]
      Vars: on : boolean; end Vars
      Actions = {switch};
      Protocol: Other : {switch}; end Protocol
      Evolution: on = ~on if Action = switch; end Evolution
    end Agent
    Evaluation lit if Light[1].on; end Evaluation
    InitStates !Light[1].on; end InitStates
    Formulae AG EF lit; end Formulae";

/// A folder with one file in it.
fn folder(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// The diagnostics of a file: their codes, and the first message without the name of the folder.
fn said(path: &Path, request: &Request) -> (Vec<&'static str>, String) {
    let loaded = load(&[path], request);
    assert_eq!(loaded.system().is_some(), !loaded.has_errors());
    let folder = path.parent().unwrap().display().to_string() + "/";
    let message = loaded.diagnostics.first().map(|d| d.message.replace(&folder, "")).unwrap_or_default();
    (loaded.diagnostics.iter().map(|d| d.code).collect(), message)
}

fn check_file(bytes: &[u8], codes: &[&str], message: &str) {
    let (_folder, path) = folder("m.ispl", bytes);
    let found = said(&path, &Request::default());
    assert_eq!(found, (codes.to_vec(), message.to_string()));
    let formatted = format_file(&path, &Limits::default());
    assert_eq!(formatted.text.unwrap_err()[0].code, codes[0]);
}

#[rustfmt::skip]
#[test]
fn bad_bytes() {
    check_file(b"",                  &["file/empty"],    "`m.ispl` is empty");
    check_file(b" \n\t\r\n",         &["file/empty"],    "`m.ispl` is empty");
    check_file(b"\xef\xbb\xbf",      &["file/empty"],    "`m.ispl` is empty");
    check_file(b"Agent \xff",        &["file/not-text"], "`m.ispl` is not UTF-8 text: byte 7 is 0xff");
    check_file(b"Agent \x00 x \xff", &["file/not-text"], "`m.ispl` is not UTF-8 text: byte 7 is 0x00");
    check_file(b"\xff\xfeA\x00",     &["file/not-text"], "`m.ispl` is not UTF-8 text: it begins with a UTF-16 byte order mark");
}

#[test]
fn missing_files_and_directories() {
    let (folder, path) = folder("model.ispl", b"x");
    let missing = folder.path().join("modle.ispl");
    let loaded = load(&[&missing], &Request::default());
    assert_eq!(loaded.diagnostics[0].code, "file/not-found");
    assert_eq!(loaded.diagnostics[0].help.as_deref(), Some("did you mean `model.ispl`?"));
    let loaded = load(&[folder.path()], &Request::default());
    assert_eq!(loaded.diagnostics[0].code, "file/is-directory");
    let example = format!("for example `{}`", path.display());
    assert_eq!(loaded.diagnostics[0].help, Some(example));
    assert_eq!(load(&[path.join("below")], &Request::default()).diagnostics[0].code, "file/unreadable");
}

#[test]
fn a_file_beyond_the_limit_is_refused_unread() {
    let (_folder, path) = folder("m.ispl", b"");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(masque_driver::MAX_BYTES + 1).unwrap();
    let (codes, message) = said(&path, &Request::default());
    assert_eq!(codes, ["file/too-large"]);
    assert_eq!(message, "`m.ispl` is too large: a file may have 1024 MiB");
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let (_folder, path) = folder("m.ispl", format!("\u{feff}{MODEL}").as_bytes());
    assert!(load(&[&path], &Request::default()).system().is_some());
}

#[test]
fn requests_are_read_with_the_file() {
    let (_folder, path) = folder("m.ispl", MODEL.as_bytes());
    let request = |defines: &[&str], properties: &[&str]| Request {
        defines: defines.iter().map(|d| d.to_string()).collect(),
        properties: properties.iter().map(|p| p.to_string()).collect(),
        ..Request::default()
    };
    let loaded = load(&[&path], &request(&["N=3"], &["EF !lit", "AX lit"]));
    assert_eq!(loaded.parameters, [("N".to_string(), 3)]);
    let system = loaded.system().unwrap();
    assert_eq!((system.agents.len(), system.properties.len()), (3, 3));
    assert_eq!(said(&path, &request(&["N=x"], &[])).0, ["cli/bad-define"]);
    assert_eq!(said(&path, &request(&["M=1"], &[])).0, ["ispl/unknown-parameter"]);
    assert_eq!(said(&path, &request(&[], &["AG("])).0, ["ispl/unexpected-token"]);
    assert_eq!(said(&path, &request(&[], &["AG dark"])).0, ["ispl/unknown-proposition"]);
}

#[test]
fn conditions_of_a_log_are_read_with_the_file() {
    let (_folder, path) = folder("m.ispl", MODEL.as_bytes());
    let request = |unseen: Option<&str>, named: &[(&str, &str)]| Request {
        log: LogConditions {
            unseen: unseen.map(str::to_string),
            named: named.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        },
        ..Request::default()
    };
    let loaded = load(&[&path], &request(Some("Light[1].Action = switch"), &[("dark", "!lit")]));
    let system = loaded.system().unwrap();
    assert!(loaded.unseen.is_some());
    assert_eq!(system.propositions.iter().map(|p| &p.name[..]).collect::<Vec<_>>(), ["lit", "dark"]);
    assert!(load(&[&path], &request(None, &[])).unseen.is_none());
    let bad_unseen = [
        ("Light[1].Action = swich", "ispl/unknown-action"),
        ("lit lit", "ispl/unexpected-token"),
        ("", "ispl/unexpected-token"),
    ];
    for (unseen, code) in bad_unseen {
        assert_eq!(said(&path, &request(Some(unseen), &[])).0, [code], "{unseen}");
    }
    let bad_names = [
        (("lit", "true"), "ispl/duplicate-proposition"),
        (("moved", "Light[1].Action = switch"), "ispl/action-outside-evolution"),
    ];
    for (named, code) in bad_names {
        assert_eq!(said(&path, &request(None, &[named])).0, [code], "{named:?}");
    }
}

#[test]
fn a_file_is_replaced_atomically() {
    let (folder, path) = folder("m.ispl", MODEL.as_bytes());
    let formatted = format_file(&path, &Limits::default());
    let text = formatted.text.unwrap();
    assert!(formatted.is_changed);
    replace_file(&path, &text).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(!format_file(&path, &Limits::default()).is_changed);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    let missing = replace_file(&folder.path().join("other.ispl"), &text).unwrap_err();
    assert_eq!(missing.code, "file/unwritable");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (folder, path) = folder("m.ispl", MODEL.as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.ispl");
    symlink(&path, &link).unwrap();
    replace_file(&link, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

/// Limits apply to loading only: a model that was loaded in time can be asked later.
#[test]
fn limits_end_with_loading() {
    let model = Path::new("../../models/ispl/trains.ispl");
    let deadline = Instant::now() + Duration::from_secs(20);
    let limits = Limits { deadline: Some(deadline), memory: Some(1 << 30), ..Limits::default() };
    let loaded = load_within(&[model], &Request::default(), &limits);
    assert!(loaded.model.is_some() && loaded.stopped.is_none());
    assert!(loaded.sources.limits().charge(1 << 40), "no limit is left");

    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    assert!(load_within(&[model], &Request::default(), &late).model.is_some(), "a small file is always read");
    let large = Request { defines: vec!["N=3000".to_string()], ..Request::default() };
    let stopped = load_within(&[Path::new("../../models/ispl/card_game.ispl")], &large, &late);
    assert_eq!((stopped.model.is_none(), stopped.stopped), (true, Some(Why::Timeout)));
    assert_eq!(stopped.diagnostics[0].code, "load/stopped");
    assert!(!stopped.has_errors());
}
