//! `masque test`, `masque new`, and the selection of properties.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::outcome;
use masque_cli::{Context, Exit};
use masque_report::{Detail, Text};
use serde_json::Value;
use tempfile::TempDir;

/// Runs a command line inside this process. Paths are relative to the package.
fn masque<S: AsRef<str>>(words: &[S]) -> (String, u8) {
    let (text, exit) = outcome(words, &Context::default());
    (text, exit.code())
}

/// Runs a command line with `-v`.
fn verbose<S: AsRef<str>>(words: &[S]) -> (String, u8) {
    let text = Text { detail: Detail::Verbose, ..Text::default() };
    let (text, exit) = outcome(words, &Context { text, ..Context::default() });
    (text, exit.code())
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Tests a folder; its path is replaced by `DIR` in the output.
fn test_in(folder: &Path, more: &[&str]) -> (String, u8) {
    let path = folder.to_str().unwrap();
    let words = [&["test", path], more].concat();
    let (text, exit) = masque(&words);
    (text.replace(path, "DIR"), exit)
}

const COIN: &str = "agent a is loop p := any endloop\n";

/// A BDI file with properties about a coin.
fn coin(properties: &str) -> String {
    format!("{COIN}{properties}\n")
}

/// An ISPL file of a walker with these formulas.
fn walker(formulas: &str) -> String {
    format!(
        "param N = 3;
Agent Walker
  Vars: at : 0..N; end Vars
  Actions = {{walk, stay}};
  Protocol: Other : {{walk, stay}}; end Protocol
  Evolution: at = at + 1 if Action = walk and at < N; end Evolution
end Agent
Evaluation there if Walker.at = N; end Evaluation
InitStates Walker.at = 0; end InitStates
Formulae
{formulas}
end Formulae
"
    )
}

#[test]
fn the_models_of_the_repository_pass() {
    let (text, exit) = masque(&["test", "--strict", "../../models"]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.starts_with("119 models: 119 as expected; ") && text.lines().count() == 1, "{text}");
}

/// One wrong expectation in each language: which property, where, expected and found.
#[test]
fn differences_are_reported_with_their_places() {
    let folder = folder(&[
        (
            "a.ispl",
            &walker(
                "  EF there; -- expect: holds\n  reaches : AF there; -- expect: holds, [us]\n  -- expect states: 5",
            ),
        ),
        ("b/coin.bdi", &coin("property x: EF p; // expect: holds\nproperty y: AG p; // expect: holds")),
        (
            "c.lcc",
            "a(hen, H) :: null.\nagent a(hen, h).\n// expect: unknown(timeout)\nproperty ends : AF final ;\n// expect transitions: 4\n",
        ),
        ("d.aut", "des (0, 1, 2)\n(0, go, 1)\n"),
        ("d.mu", "moves : <go>tt ; // expect: fails\n// expect states: 2\n"),
        ("e.bdi", &coin("property z: EF p; // expect: holds")),
    ]);
    let (text, exit) = test_in(folder.path(), &[]);
    let expected = "\
DIR/a.ispl: 2 of 3 results differ
  DIR/a.ispl:12:3: property reaches: expected holds ([us]), found fails
  DIR/a.ispl:13:6: states: expected 5, found 4
DIR/b/coin.bdi: 1 of 2 results differs
  DIR/b/coin.bdi:3:10: property y: expected holds, found fails
DIR/c.lcc: 2 of 2 results differ
  DIR/c.lcc:4:10: property ends: expected unknown(timeout), found holds
  DIR/c.lcc:5:4: transitions: expected 4, found 1
DIR/d.aut and 1 more: 1 of 2 results differs
  DIR/d.mu:1:1: property moves: expected fails, found holds
5 models: 1 as expected; 4 differ; 10 results, of which 6 differ
";
    assert_eq!((text.as_str(), exit), (expected, 1));
    // The report does not depend on the number of threads.
    for jobs in ["1", "2", "7"] {
        assert_eq!(test_in(folder.path(), &["--jobs", jobs]), (expected.to_string(), 1), "{jobs}");
    }
}

#[test]
fn the_report_as_data() {
    let text = walker(
        "  for i in 1..2 { passes[i] : EF Walker.at = i; } -- expect: holds\n  AF there; -- expect: holds",
    );
    let folder = folder(&[("a.ispl", &text), ("b.lcc", "common sunny.\n")]);
    let (text, exit) = test_in(folder.path(), &["--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((exit, &report["schema"]), (1, &"masque.test/1".into()));
    let model = &report["models"][0];
    assert_eq!((&model["status"], &model["files"][0]), (&"differs".into(), &"DIR/a.ispl".into()));
    let result = &model["results"][2];
    assert_eq!(
        (&result["name"], &result["expected"], &result["found"]),
        (&"3".into(), &"holds".into(), &"fails".into())
    );
    assert_eq!((&result["place"]["line"], &result["place"]["column"]), (&12.into(), &3.into()));
    assert_eq!(model["results"][1]["index"]["i"], 2);
    assert_eq!(report["left_out"][0]["file"], "DIR/b.lcc");
    assert_eq!(report["summary"]["results_that_differ"], 1);
    assert!(masque(&["schema", "test"]).0.contains("masque.test/1"));
}

/// Mistakes in expectations are errors with the place, a caret and what would be accepted.
#[test]
fn mistakes_in_expectations() {
    let text = walker(
        "  EF there; -- expect: hold\n  AF there; -- expect: unknown(tired)\n  a : EF there; -- expected: holds\n  \
         -- expect: holds\n  b : EF there; -- expect: fails\n  -- expect c: holds\n  -- expect states: many\n  \
         -- expect error: ispl/deadlok\n  -- expect: holds",
    );
    let folder = folder(&[
        ("a.ispl", &text),
        ("b.bdi", &coin("property x: EF p; // expect: holds\n// expect states: 2")),
    ]);
    let (text, exit) = test_in(folder.path(), &["--strict"]);
    assert_eq!(exit, 2, "{text}");
    insta::assert_snapshot!(text);
}

/// A broken file does not stop the others; an expected error is no error.
#[test]
fn files_with_errors() {
    let folder = folder(&[
        ("a.ispl", "Agent"),
        ("b.bdi", &coin("property x: AG p; // expect: holds")),
        ("c.bdi", &coin("property x: AG p;\nproperty x: EF p;\n// expect error: bdi/duplicate")),
        ("d.bdi", &coin("// expect error: bdi/duplicate\n// expect warning: bdi/duplicate, unused")),
        ("e.bdi", "\u{0}"),
    ]);
    let (text, exit) = test_in(folder.path(), &[]);
    assert_eq!(exit, 2, "{text}");
    for part in [
        "DIR/a.ispl: 1 error\n",
        "property x: expected holds, found fails\n",
        "DIR/d.bdi: 2 of 2 results differ\n",
        "error: expected bdi/duplicate, found no error\n",
        "warning: expected bdi/duplicate (unused), found no warning\n",
        "error[file/not-text]",
        "\n5 models: 1 as expected; 2 differ; 2 with errors; 4 results, of which 3 differ\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let (text, exit) = masque(&["test", "no/such/folder", folder.path().join("c.bdi").to_str().unwrap()]);
    assert!(
        exit == 2 && text.contains("there is no file `no/such/folder`") && text.contains("1 as expected"),
        "{text}"
    );
}

/// Sorted, without hidden files, each file once, and no way around in circles.
#[test]
fn folders_are_searched() {
    let bdi = coin("property x: EF p; // expect: holds");
    let folder = folder(&[
        ("b.bdi", &bdi),
        ("a/z.bdi", &bdi),
        ("a.bdi", &bdi),
        ("é ü.bdi", &bdi),
        (".git/c.bdi", &bdi),
        (".hidden.bdi", "broken"),
        ("notes.txt", "no model"),
    ]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("..", folder.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink("b.bdi", folder.path().join("linked.bdi")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("a/dangling")).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let (text, exit) = verbose(&["test", path, path]);
    let text = text.replace(path, "DIR");
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("DIR/")).collect();
    let expected =
        ["a/z.bdi", "a.bdi", "b.bdi", "é ü.bdi"].map(|name| format!("DIR/{name}: as expected (1 result)"));
    assert_eq!((exit, heads), (0, expected.iter().map(String::as_str).collect()), "{text}");
    let empty = self::folder(&[("notes.txt", "")]);
    let (text, exit) = test_in(empty.path(), &[]);
    assert!(exit == 2 && text.contains("test/no-models"), "{text}");
}

/// LCC files with a team are models unless another file imports them; a protocol file of its own is not run.
#[test]
fn lcc_models_of_a_folder() {
    let folder = folder(&[
        ("protocol.lcc", "a(hen, H) :: null <- fed.\n"),
        ("facts.pol", "common fed.\n"),
        ("wishes.mu", "ends : AF final ; // expect: holds\n"),
        ("team.lcc", "agent a(hen, h).\n"),
        (
            "good.lcc",
            "import \"protocol.lcc\". import \"team.lcc\". import \"facts.pol\". import \"wishes.mu\".\n",
        ),
        (
            "hungry.lcc",
            "import \"protocol.lcc\". import \"team.lcc\". import \"wishes.mu\".\n// expect ends: fails\n",
        ),
        ("other.mu", "x : tt ; // expect: fails\n"),
    ]);
    let path = folder.path().to_str().unwrap();
    let (text, exit) = verbose(&["test", path]);
    let text = text.replace(path, "DIR");
    assert_eq!(exit, 0, "{text}");
    for part in [
        "DIR/good.lcc and 4 more: as expected (1 result)\n",
        "DIR/hungry.lcc and 3 more: as expected (1 result)\n",
        "2 models: 2 as expected; 2 results\n",
        "DIR/team.lcc: not tested by itself, because another file imports it\n",
        "DIR/facts.pol: not tested by itself, because another file imports it\n",
        "DIR/other.mu: not tested by itself, because no model has the same name, and no file imports it\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(
        test_in(folder.path(), &["--quiet"]).0,
        "2 models: 2 as expected; 2 results\n",
        "the level is in the context"
    );
    // Named alone, the team has no clauses, and the facts have no team.
    let (text, exit) = masque(&["test", &format!("{path}/facts.pol")]);
    assert!(exit == 2 && text.contains("it declares no team"), "{text}");
}

/// A property file without a partner belongs to the models of the command line.
#[test]
fn property_files_of_transition_systems() {
    let (aut, mu) = ("des (0, 1, 2)\n(0, go, 1)\n", "moves : <go>tt ; // expect: holds\n");
    let folder = folder(&[
        ("a.aut", aut),
        ("b.aut", aut),
        ("b.mu", mu),
        ("more.mu", "x : <go>ff ; // expect: fails\n"),
    ]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (text, exit) = masque(&["test", &path("a.aut"), &path("b.aut"), &path("b.mu"), &path("more.mu")]);
    assert_eq!((text.as_str(), exit), ("2 models: 2 as expected; 3 results\n", 0));
    assert_eq!(
        test_in(folder.path(), &[]),
        ("2 models: 1 as expected; 1 without expectations; 1 result\n".to_string(), 0)
    );
}

#[test]
fn strict_tests() {
    let folder = folder(&[
        ("a.bdi", &coin("property x: EF p;")),
        ("b.bdi", &coin("property x: EF p; // expect: holds\nproperty y: AG p;")),
    ]);
    assert_eq!(test_in(folder.path(), &[]).1, 0);
    let (text, exit) = test_in(folder.path(), &["--strict"]);
    assert_eq!(exit, 2);
    assert!(
        text.contains("`DIR/a.bdi` has no expectation") && text.contains("property y has no expectation"),
        "{text}"
    );
    assert_eq!(test_in(folder.path(), &["--strict", "--skip", "y", "--only", "*"]).1, 2, "a.bdi has none");
}

/// A limit leaves results open: neither a success nor a difference.
#[test]
fn limits_leave_results_open() {
    let folder = folder(&[("a.ispl", &walker("AF there; -- expect: fails"))]);
    let (text, exit) = test_in(folder.path(), &["--timeout", "0s"]);
    assert!(exit == 3 && text.contains("\n1 model: 1 not decided; "), "{text}");
    let words =
        ["test", "../../models/ispl/dining_cryptographers.ispl", "-D", "N=40", "--engine", "explicit"];
    let (text, exit) = masque(&[&words[..], &["--timeout", "500ms"]].concat());
    assert!(
        exit == 3 && text.contains(", found unknown(timeout)\n") && text.contains(" not decided\n"),
        "{text}"
    );
}

#[test]
fn parameters_and_options_are_for_their_languages() {
    let folder = folder(&[
        ("a.ispl", &walker("-- expect states: 6")),
        ("b.bdi", &coin("property x: EF p; // expect: holds")),
        ("c.lcc", "a(hen, H) :: null.\nagent a(hen, h).\nproperty ends : AF final ; // expect: holds\n"),
    ]);
    assert_eq!(test_in(folder.path(), &[]).1, 1);
    let (text, exit) = test_in(folder.path(), &["-D", "N=5", "--engine", "symbolic"]);
    assert_eq!((text.as_str(), exit), ("3 models: 3 as expected; 3 results\n", 0));
}

/// Expectations in a file of their own have priority.
#[test]
fn a_file_of_expectations() {
    let folder = folder(&[
        ("a.bdi", &coin("property x: EF p; // expect: fails\nproperty y: AG p;")),
        ("solution", "# for the teacher\n\nx: holds, obviously\nexpect y: fails\nstates: 2\n"),
        ("bad", "x holds\nz: holds\n"),
    ]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (text, exit) = masque(&["test", "--strict", "--expect", &path("solution"), &path("a.bdi")]);
    assert_eq!((text.as_str(), exit), ("1 model: 1 as expected; 3 results\n", 0));
    let (text, exit) = masque(&["test", &path("a.bdi"), "--expect", &path("bad")]);
    assert!(
        exit == 2 && text.contains("test/bad-expectation") && text.contains("there is no property `z`"),
        "{text}"
    );
    assert_eq!(masque(&["test", &path("a.bdi"), "--expect", &path("missing")]).1, 2);
}

#[test]
fn standard_input_and_closed_pipes() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(["test", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = coin("property x: AG p; // expect: holds");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("  <stdin>:2:10: property x: expected holds, found fails\n"), "{text}");
    // The exit code is right even if the report cannot be written.
    let mut child = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(["test", "-v", "../../models/ispl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn an_interrupt_ends_the_test() {
    let context = Context::default();
    context.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    let (text, exit) = outcome(&["test", "../../models"], &context);
    assert_eq!((text.as_str(), exit), ("the search for models was interrupted\n", Exit::Inconclusive));
}

/// The names in the lines of a report.
fn names(report: &str) -> Vec<&str> {
    let verdicts = ["holds", "fails", "unknown"];
    let lines = report.lines().filter(|line| verdicts.iter().any(|verdict| line.starts_with(verdict)));
    lines.filter_map(|line| line.split_whitespace().nth(1)).collect()
}

#[test]
fn selected_properties_keep_their_names() {
    let text = walker(
        "  EF there;\n  for i in 1..2 { passes[i] : EF Walker.at = i;\n reached : EF Walker.at = i; }\n  AF there;\n  safe_a : AG Walker.at >= 0;\n  safe_b : AG Walker.at <= N;",
    );
    let folder = folder(&[("a.ispl", &text)]);
    let file = folder.path().join("a.ispl").display().to_string();
    let check = |more: &[&str]| masque(&[&["check", file.as_str(), "--evidence", "none"], more].concat());
    let cases: [(&[&str], &[&str]); 10] = [
        (&["--only", "6"], &["6"]),
        (&["--only", "passes"], &["passes[1]", "passes[2]"]),
        (&["--only", "passes[i]", "reached[i=2]"], &["passes[1]", "passes[2]", "reached[i=2]"]),
        (&["--only", "reached"], &["reached[i=1]", "reached[i=2]"]),
        (&["--only", "safe*"], &["safe_a", "safe_b"]),
        (&["--only", "safe_?", "--skip", "safe_a"], &["safe_b"]),
        (&["--only", "safe_a,6", "--only", "1"], &["1", "6", "safe_a"]),
        (&["--skip", "safe*", "passes", "2"], &["1", "reached[i=1]", "reached[i=2]", "6"]),
        (&["--only", "*", "--skip", "*"], &[]),
        (&["--only", "5"], &["reached[i=2]"]),
    ];
    for (more, expected) in cases {
        let (text, exit) = check(more);
        assert_eq!(names(&text), expected, "{more:?}\n{text}");
        assert!(exit <= 1, "{more:?}");
    }
    // Files may follow the names.
    let (text, _) = masque(&["check", "--only", "6", &file]);
    assert_eq!(names(&text), ["6"]);
    let (text, exit) = check(&["--only", "saef_a"]);
    assert!(exit == 2 && text.contains("there is no property `saef_a`"), "{text}");
    assert!(text.contains("did you mean `safe_a`? the properties are 1, passes[1], reached[i=1]"), "{text}");
    assert!(check(&["--skip", "x*"]).0.contains("no property matches `x*`"));
    let (text, exit) = masque(&["why", file.as_str(), "--only", "safe*", "--skip", "safe_b"]);
    assert!(exit == 0 && text.contains("safe_a") && !text.contains("safe_b"), "{text}");
    for words in [&["masque", "check", "--only", "a"][..], &["masque", "check", "--only", "a.ispl"]] {
        assert!(masque_cli::parse(words.iter().map(Into::into)).is_err(), "{words:?}");
    }
}

/// All languages, and several models: a name must exist in one of them.
#[test]
fn properties_are_selected_in_all_languages() {
    let folder = folder(&[
        ("a.bdi", &coin("property x: EF p;\nproperty y: AG p;\nproperty z: EF !p;")),
        ("b.bdi", &coin("property y: EF p;")),
        ("c.lcc", "a(hen, H) :: null. agent a(hen, h).\nproperty x : tt ; property y : ff ;"),
        ("d.aut", "des (0, 1, 2)\n(0, go, 1)\n"),
        ("d.mu", "x : tt ; y : ff ;"),
    ]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let check = |files: &[&str], more: &[&str]| {
        let files: Vec<String> = files.iter().map(|name| path(name)).collect();
        let words: Vec<&str> = ["check", "--evidence", "none"]
            .into_iter()
            .chain(files.iter().map(String::as_str))
            .chain(more.iter().copied())
            .collect();
        masque(&words)
    };
    assert_eq!(names(&check(&["a.bdi"], &["--only", "y", "3"]).0), ["y", "z"]);
    assert_eq!(names(&check(&["c.lcc"], &["--skip", "x"]).0), ["y"]);
    assert_eq!(names(&check(&["d.aut", "d.mu"], &["--only", "2"]).0), ["y"]);
    let (text, exit) = check(&["a.bdi", "b.bdi"], &["--only", "x"]);
    assert_eq!((names(&text), exit), (vec!["x"], 0), "{text}");
    let (text, exit) = check(&["a.bdi", "b.bdi"], &["--only", "w", "--skip", "z"]);
    assert!(exit == 2 && text.contains("there is no property `w`") && !text.contains("`z`"), "{text}");
}

#[test]
fn new_models_pass_their_tests() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let cases: [(&str, &[&str], &str); 5] = [
        ("lamp", &[], "lamp.ispl"),
        ("farm.lcc", &[], "farm.lcc"),
        ("robot", &["--language", "bdi"], "robot.bdi"),
        ("Über_1.ISPL", &[], "Über_1.ISPL"),
        ("x.bdi", &["--language", "bdi"], "x.bdi"),
    ];
    for (name, more, file) in cases {
        let (text, exit) = masque(&[&["new", &path(name)], more].concat());
        assert!(exit == 0 && text.starts_with(&format!("wrote {}\n\nNext:\n", path(file))), "{text}");
        let (text, exit) = masque(&["test", "--strict", &path(file)]);
        assert!(exit == 0 && text.starts_with("1 model: 1 as expected; "), "{text}");
        assert_eq!(masque(&["fmt", "--check", &path(file)]).1, 0, "{file}");
        let (text, exit) = masque(&["check", &path(file), "--deny", "warnings"]);
        assert_eq!(exit, 1, "one property fails, and there is no warning: {text}");
    }
}

#[test]
fn new_refuses_names_and_changes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("old.ispl"), "mine").unwrap();
    let cases: [(&str, &[&str], &str); 9] = [
        ("old", &[], "file/exists"),
        ("old.ispl", &[], "file/exists"),
        ("a.txt", &[], "cli/bad-name"),
        ("a.aut", &[], "cli/bad-name"),
        ("a.bdi", &["--language", "lcc"], "cli/bad-name"),
        ("two words", &[], "cli/bad-name"),
        ("..", &[], "cli/bad-name"),
        ("folder/", &[], "cli/bad-name"),
        ("missing/a", &[], "file/unwritable"),
    ];
    for (name, more, code) in cases {
        let (text, exit) = masque(&[&["new", &path(name)], more].concat());
        assert!(exit == 2 && text.contains(code), "{name}: {text}");
    }
    assert_eq!(masque(&["new", ""]).1, 2);
    assert_eq!(fs::read_to_string(path("old.ispl")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
