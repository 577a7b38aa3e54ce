//! Imports in texts of calls, and which files they may read.

use std::fs;
use std::path::Path;

use crate::support::{Connection, Server};
use masque_broker::Limits;
use serde_json::{Value, json};

const PROTOCOL: &str = "a(hen, H) :: egg => a(farmer, F). a(farmer, F) :: egg <= a(hen, H).";
const TEAM: &str = "agent a(hen, h). agent a(farmer, f). property fed : inev(in(egg)) ;";

/// The parameters of `open` for some texts.
fn texts(files: &[(&str, &str)]) -> Value {
    let files: Vec<Value> = files.iter().map(|(name, text)| json!({"name": name, "text": text})).collect();
    json!({"files": files})
}

/// The first diagnostic of a call that is refused because of its texts, or nothing.
fn refusal(client: &mut Connection, method: &str, params: &Value) -> String {
    let answer = client.call(method, params.clone());
    answer["error"]["data"]["diagnostics"][0]["code"].as_str().unwrap_or_default().to_string()
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Without a root folder no file is read.
#[test]
fn texts_import_texts_of_the_same_call() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let team = format!("import \"farm.lcc\". import \"wishes.mu\". {TEAM}");
    let mut params = texts(&[("team.lcc", &team), ("farm.lcc", PROTOCOL)]);
    params["properties"] = json!([{"name": "wishes.mu", "text": "more : EF final ;"}]);
    let opened = client.ok("open", params);
    let names = opened["properties"].as_array().unwrap().iter().map(|property| &property["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["fed", "more"]);
    for path in ["farm.lcc", "/etc/hosts", "../farm.lcc", "imports.rs"] {
        let text = format!("import \"{path}\". {TEAM}");
        let code = refusal(&mut client, "open", &texts(&[("team.lcc", &text)]));
        assert_eq!(code, "lcc/import-not-found", "{path}");
    }
    // Neither an update nor a candidate may import.
    let update = json!({"session": opened["session"], "add": ["import \"farm.lcc\"."]});
    assert_eq!(refusal(&mut client, "update", &update), "lcc/fixed");
}

#[test]
fn files_are_read_only_below_the_root() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("base");
    write(outside.path(), &[("secret.lcc", "common secret."), ("base_too/secret.lcc", "common secret.")]);
    write(
        &root,
        &[
            ("farm.lcc", PROTOCOL),
            ("lib/a.lcc", "import \"../farm.lcc\". import \"b.pol\"."),
            ("lib/b.pol", "common b."),
        ],
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path().join("secret.lcc"), root.join("link.lcc")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("up")).unwrap();
        std::os::unix::fs::symlink("farm.lcc", root.join("alias.lcc")).unwrap();
    }
    let server = Server::below(&root, Limits::default());
    let mut client = server.connect();
    let open = |client: &mut Connection, path: &str| {
        let text = format!("import \"{path}\". {TEAM}");
        refusal(client, "open", &texts(&[("team.lcc", &text)]))
    };
    let secret = outside.path().join("secret.lcc").display().to_string();
    let inside = root.join("farm.lcc").display().to_string();
    for (path, expected) in [
        ("farm.lcc", ""),
        ("lib/a.lcc", ""),
        ("lib/../farm.lcc", ""),
        ("no_such.lcc", "lcc/import-not-found"),
        ("lib", "file/is-directory"),
        ("../secret.lcc", "file/outside-root"),
        ("../base_too/secret.lcc", "file/outside-root"),
        ("../base/farm.lcc", "file/outside-root"),
        ("lib/../../no_such.lcc", "file/outside-root"),
        (&secret, "file/outside-root"),
        (&inside, "file/outside-root"),
        ("", "file/is-directory"),
    ] {
        assert_eq!(open(&mut client, path), expected, "{path}");
    }
    #[cfg(unix)]
    for (path, expected) in
        [("alias.lcc", ""), ("link.lcc", "file/outside-root"), ("up/secret.lcc", "file/outside-root")]
    {
        assert_eq!(open(&mut client, path), expected, "{path}");
    }
    // A text hides a file of the same name.
    let hidden =
        texts(&[("team.lcc", &format!("import \"farm.lcc\". {TEAM}")), ("farm.lcc", "a(hen, H) :: null.")]);
    assert_eq!(refusal(&mut client, "open", &hidden), "lcc/no-clause");
    // `teams` imports in the same way as `open`.
    let mut params =
        texts(&[("team.lcc", "import \"farm.lcc\". agent a(hen, h). property fed : inev(in(egg)) ;")]);
    let candidate = |statements: &str| json!({"name": "f", "statements": statements});
    params["roles"] = json!([{"name": "farmer", "candidates": [candidate("agent a(farmer, f).")]}]);
    assert_eq!(client.ok("teams", params.clone())["teams"][0]["works"], true);
    params["roles"][0]["candidates"] = json!([candidate("import \"farm.lcc\".")]);
    assert_eq!(refusal(&mut client, "teams", &params), "lcc/candidate");
}

/// The imports of one call may together be as large as one message.
#[test]
fn the_size_of_imports_is_limited() {
    let root = tempfile::tempdir().unwrap();
    let large = format!("// {}\ncommon p.", "x".repeat(6_000));
    write(root.path(), &[("a.pol", &large), ("b.pol", &large)]);
    let server = Server::below(root.path(), Limits { body: 10_000, ..Limits::default() });
    let mut client = server.connect();
    let open = |imports: &str| texts(&[("team.lcc", &format!("{imports} {PROTOCOL} {TEAM}"))]);
    for _ in 0..3 {
        client.ok("open", open("import \"a.pol\". import \"a.pol\"."));
    }
    let both = open("import \"a.pol\". import \"b.pol\".");
    assert_eq!(refusal(&mut client, "open", &both), "file/too-large");
}

/// A name that is given twice is an error, because one of the two values would be ignored.
#[test]
fn names_are_given_once() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let call = |method: &str, member: &str| {
        let files = r#""files": [{"name": "a.lcc", "text": "a(p, X) :: null. agent a(p, x)."}]"#;
        let params = format!(r#"{{{files}, {member}}}"#);
        format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}"#)
    };
    for message in [
        call("open", r#""options": {"cap": 3, "cap": 4}"#),
        call("teams", r#""roles": [], "options": {"cap": 3, "comm": "sync", "cap": 3}"#),
        call("check_model", r#""options": {"cap": 3, "cap": 4}"#),
        call("check_model", r#""define": {"N": 3, "N": 4}"#),
    ] {
        let (_, body) = client.post(&message);
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{body}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("is given twice"), "{body}");
    }
    let (_, body) = client.post(&call("open", r#""options": {"cap": 3, "comm": "sync"}"#));
    assert!(body.contains(r#""session":"s1""#), "{body}");
}
