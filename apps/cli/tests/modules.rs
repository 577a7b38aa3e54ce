//! Models of several files: imports in ISPL and BDI mean the same as the whole model in one file, for every command.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use masque_cli::{Context, Exit};
use masque_testkit::write_files;
use serde_json::Value;

use crate::support::outcome;

/// Parts of a report that differ between one file and several: names of files, times, and locations.
const OF_FILES: [&str; 3] = ["files", "stats", "spans"];

/// Removes everything that depends on how the model is divided into files.
fn without_files(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|name, _| !OF_FILES.contains(&name.as_str()));
            entries.values_mut().for_each(without_files);
        }
        Value::Array(items) => items.iter_mut().for_each(without_files),
        _ => {}
    }
}

/// The runs of a report, without everything that depends on files. Messages are sorted, because their order is that
/// of the text.
fn runs(json: &str) -> Value {
    let mut report: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}\n{json}"));
    without_files(&mut report);
    for run in report["runs"].as_array_mut().unwrap() {
        run["diagnostics"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    }
    report["runs"].take()
}

fn masque(words: &[&str]) -> (String, Exit) {
    outcome(words, &Context::default())
}

/// The report of `masque check` as JSON.
fn check(words: &[&str]) -> Value {
    let words = [&["check", "--format", "json", "--evidence", "all"], words].concat();
    runs(&masque(&words).0)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// The program itself, in a folder, with an input.
fn program(folder: &Path, words: &[&str], input: &str) -> Output {
    use std::io::Write as _;
    let mut child = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap()
}

/// Gallery models in modules have the verdicts, counts and evidence of the models in one file.
#[test]
fn gallery_models_in_modules_mean_the_same() {
    let models = [
        ("models/ispl/bit_transmission.ispl", "models/modules/bit_transmission/main.ispl"),
        ("models/ispl/trains.ispl", "models/modules/trains/main.ispl"),
        ("models/bdi/trader.bdi", "models/modules/trader/main.bdi"),
    ];
    for (whole, main) in models {
        let [whole, main] = [whole, main].map(|path| format!("../../{path}"));
        let mut variants: Vec<Vec<&str>> = vec![vec![]];
        if whole.ends_with(".ispl") {
            variants.extend([vec!["-D", "N=2"], vec!["--engine", "explicit"], vec!["--engine", "symbolic"]]);
        }
        for variant in variants {
            let found = check(&[&[main.as_str()], &variant[..]].concat());
            assert_eq!(found, check(&[&[whole.as_str()], &variant[..]].concat()), "{main} {variant:?}");
            assert!(found[0]["properties"].as_array().unwrap().len() >= 3, "{main}");
        }
    }
}

/// Random systems in modules, with files that several modules import.
#[test]
fn random_models_in_modules_mean_the_same() {
    let generators: [fn(u64) -> String; 6] = [
        masque_testkit::random_model,
        masque_testkit::random_path_model,
        masque_testkit::random_game_model,
        masque_testkit::random_fair_game_model,
        masque_testkit::random_parameterised_model,
        masque_testkit::random_old_model,
    ];
    let (mut n_verdicts, mut n_files) = (0, 0);
    for seed in masque_testkit::seeds("0..300") {
        let text = generators[seed as usize % generators.len()](seed);
        let modules = masque_testkit::split_into_modules(&text, seed);
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<(&str, &str)> =
            modules.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        write_files(folder.path(), &files);
        write_files(folder.path(), &[("whole.ispl", &text)]);
        let whole = check(&[&path(folder.path(), "whole.ispl")]);
        let found = check(&[&path(folder.path(), files[0].0)]);
        assert_eq!(found, whole, "seed {seed}\n{text}\n{modules:#?}");
        n_verdicts += whole[0]["properties"].as_array().unwrap().len();
        n_files += files.len();
    }
    assert!(n_verdicts >= 300 && n_files >= 700, "{n_verdicts} verdicts, {n_files} files");
}

const LAMP: &str = "Agent Lamp
  Vars: on : boolean; end Vars
  Actions = {switch, wait};
  Protocol: Other : {switch, wait}; end Protocol
  Evolution: on = ~on if Action = switch; end Evolution
end Agent
Evaluation lit if Lamp.on; end Evaluation
InitStates !Lamp.on; end InitStates
";
const MAIN: &str = "import \"parts/lamp.ispl\";\nFormulae\n  EF lit; AG lit;\nend Formulae\n";

/// A folder with a model of two files.
fn lamp() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[("main.ispl", MAIN), ("parts/lamp.ispl", LAMP)]);
    folder
}

/// Workers of the distributed engine and processes of a race get the imported files as texts.
#[test]
fn imports_reach_other_processes() {
    let folder = lamp();
    let expected = check(&[&path(folder.path(), "main.ispl")]);
    let words = ["check", "main.ispl", "--format", "json", "--evidence", "all"];
    for more in [&["--processes", "2"][..], &["--engine", "race"]] {
        let output = program(folder.path(), &[&words[..], more].concat(), "");
        let mut found = runs(&String::from_utf8(output.stdout.clone()).unwrap());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        found[0]["engine"] = "auto".into();
        assert_eq!(found, expected, "{more:?}");
    }
}

/// A checkpoint belongs to all files of a model: it is not resumed after an imported file has changed.
#[test]
fn a_changed_import_invalidates_checkpoints() {
    let folder = lamp();
    let run = |more: &[&str]| {
        let words =
            ["check", "main.ispl", "--processes", "2", "--checkpoint", "saved", "--checkpoint-every", "1ms"];
        program(folder.path(), &[&words[..], more].concat(), "")
    };
    assert_eq!(run(&[]).status.code(), Some(1));
    write_files(
        folder.path(),
        &[("parts/lamp.ispl", &LAMP.replace("on : boolean", "on : boolean; more : boolean"))],
    );
    let output = run(&["--resume"]);
    assert!(text(&output).contains("is of another model"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}

/// The other commands read imports, too.
#[test]
fn every_command_follows_imports() {
    let folder = lamp();
    let main = path(folder.path(), "main.ispl");
    let (why, exit) = masque(&["why", &main, "1"]);
    assert!(why.contains("lit") && exit == Exit::AllHold, "{why}");
    let (export, exit) = masque(&["export", &main, "--format", "aut"]);
    assert!(export.contains("des (") && exit == Exit::AllHold, "{export}");
    let output = program(folder.path(), &["simulate", "main.ispl"], "1\n? EF lit\nquit\n");
    assert!(text(&output).contains("true") && output.status.code() == Some(0), "{}", text(&output));
    let output = program(folder.path(), &["bench", "main.ispl", "--format", "json"], "");
    assert!(text(&output).contains("\"states\": \"2\""), "{}", text(&output));
    let (worlds, exit) = masque(&["worlds", "../../models/modules/trader/main.bdi"]);
    assert!(worlds.contains("broker") && exit == Exit::AllHold, "{worlds}");
    let (why, _) = masque(&["why", "../../models/modules/trader/main.bdi", "decides"]);
    assert!(why.contains("decides"), "{why}");
}

/// `fmt` formats a file without following its imports, which need not exist.
#[test]
fn fmt_leaves_imports_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let ispl = "import   \"no such file.ispl\" ; -- why\nFormulae not(p)and not q; end Formulae";
    let bdi = "import\"x.bdi\";property p:not(q&r);";
    write_files(folder.path(), &[("a.ispl", ispl), ("a.bdi", bdi)]);
    for (name, expected) in [
        ("a.ispl", "import \"no such file.ispl\"; -- why\n\nFormulae\n  not (p) and not q;\nend Formulae\n"),
        ("a.bdi", "import \"x.bdi\";\nproperty p: not (q & r);\n"),
    ] {
        assert_eq!(masque(&["fmt", &path(folder.path(), name)]).1, Exit::AllHold);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), expected);
        masque(&["fmt", &path(folder.path(), name)]);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), expected, "twice");
    }
}

/// In a model from standard input, paths are relative to the working folder.
#[test]
fn standard_input_imports_from_the_working_folder() {
    let folder = lamp();
    let output = program(folder.path(), &["check", "-"], MAIN);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("1 holds; 1 fails: 2"), "{}", text(&output));
    let bdi = "import \"a.bdi\"; property p initially: EF q;";
    write_files(folder.path(), &[("a.bdi", "agent a is loop q := any endloop")]);
    let output = program(folder.path(), &["check", "-"], bdi);
    assert_eq!(output.status.code(), Some(0), "the language is that of the import: {}", text(&output));
}

/// Messages of `masque check FILE` in a folder with these files, and its exit.
fn messages(files: &[(&str, &str)], words: &[&str]) -> (String, Exit) {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), files);
    let main = path(folder.path(), files[0].0);
    let (text, exit) = masque(&[&["check", &main], words].concat());
    (text.replace(&format!("{}/", folder.path().display()), ""), exit)
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let check = |files: &[(&str, &str)], expected: &[&str]| {
        let (text, exit) = messages(files, &[]);
        assert_eq!(exit, Exit::BadInput, "{text}");
        for part in expected {
            assert!(text.contains(part), "`{part}` in:\n{text}");
        }
    };
    let wrong = LAMP.replace("!Lamp.on", "!Lamp.off");
    check(
        &[("main.ispl", MAIN), ("parts/lamp.ispl", &wrong)],
        &["ispl/unknown-variable", "parts/lamp.ispl:8:"],
    );
    let broken = LAMP.replace("Actions = ", "Actions ");
    check(
        &[("main.ispl", MAIN), ("parts/lamp.ispl", &broken)],
        &["ispl/unexpected-token", "parts/lamp.ispl:3:"],
    );
    check(&[("main.ispl", MAIN)], &["ispl/import-not-found", "main.ispl:1:8", "parts/lamp.ispl"]);
    let twice = format!("{MAIN}{}", LAMP.split("Evaluation").next().unwrap());
    check(
        &[("main.ispl", &twice), ("parts/lamp.ispl", LAMP)],
        &["ispl/duplicate-agent", "main.ispl:5:", "parts/lamp.ispl:1:"],
    );
    let back = format!("import \"../main.ispl\";\n{LAMP}");
    check(&[("main.ispl", MAIN), ("parts/lamp.ispl", &back)], &["ispl/import-cycle", "closes the cycle"]);
    check(&[("main.ispl", "import \"main.ispl\";")], &["ispl/import-cycle", "imports itself"]);
    check(&[("main.ispl", "import \"x.bdi\";"), ("x.bdi", "agent a is skip")], &["ispl/import-language"]);
    check(&[("main.ispl", "import parts/lamp.ispl;")], &["the path of a file in quotes"]);
    check(&[("main.ispl", "import \"parts\";"), ("parts/x", "")], &["file/is-directory", "main.ispl:1:8"]);
    check(
        &[("main.ispl", "import \"a.ispl\"; param N = 1;"), ("a.ispl", "param N = 2;")],
        &["ispl/no-model"],
    );
    let param = format!("import \"a.ispl\"; param N = 1;{LAMP}");
    check(
        &[("main.ispl", &param), ("a.ispl", "param N = 2;")],
        &["ispl/duplicate-parameter", "a.ispl:1:7", "main.ispl:1:"],
    );
    check(
        &[("m.bdi", "import \"a.bdi\"; agent a is skip"), ("a.bdi", "agent a is skip")],
        &["bdi/duplicate", "a.bdi:1:"],
    );
    check(&[("m.bdi", "import \"a.bdi\";"), ("a.bdi", "import \"m.bdi\";")], &["bdi/import-cycle"]);
}

/// A part of a model says that it is one.
#[test]
fn a_module_alone_says_so() {
    let definitions = "Evaluation lit if Lamp.on; end Evaluation";
    let (text, exit) = messages(&[("definitions.ispl", definitions)], &[]);
    assert_eq!(exit, Exit::BadInput);
    assert!(text.contains("this file is a part of a model") && text.contains("1 error"), "{text}");
    let agents = LAMP.replace("InitStates !Lamp.on; end InitStates", "");
    let (text, _) = messages(&[("agents.ispl", &agents)], &[]);
    assert!(
        text.contains("there is no `InitStates` section") && text.contains("check the file that imports it")
    );
    let of_others = LAMP.replace("Action = switch", "Other.Action = switch");
    let (text, exit) = messages(&[("agents.ispl", &of_others)], &[]);
    assert!(text.contains("file/part") && text.contains("may be a part of a model"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    let (text, exit) = messages(&[("wishes.bdi", "property p: AG q;")], &[]);
    assert!(text.contains("this file is a part of a system") && exit == Exit::BadInput, "{text}");
}

/// Of several files on the command line, parts that another one imports are not checked alone.
#[test]
fn imported_parts_are_not_checked_alone() {
    let folder = lamp();
    let (main, part) = (path(folder.path(), "main.ispl"), path(folder.path(), "parts/lamp.ispl"));
    assert_eq!(check(&[&part, &main]), check(&[&main]));
    // A whole model is checked although another file imports it, and so is a part that none imports.
    write_files(folder.path(), &[("more.ispl", "import \"main.ispl\"; Fairness lit; end Fairness")]);
    assert_eq!(check(&[&main, &path(folder.path(), "more.ispl")]).as_array().unwrap().len(), 2);
    write_files(folder.path(), &[("alone.ispl", "import \"parts/lamp.ispl\";")]);
    assert_eq!(check(&[&main, &path(folder.path(), "alone.ispl")]).as_array().unwrap().len(), 2);
    let parts = ["main", "trader", "broker"].map(|name| format!("../../models/modules/trader/{name}.bdi"));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    assert_eq!(check(&parts), check(&parts[..1]));
}

/// Clients import only what lies below the root folder.
#[test]
fn roots_restrict_imports() {
    let folder = lamp();
    let root = path(folder.path(), "parts");
    let root = ["--import-root", root.as_str(), "--format", "json"];
    write_files(folder.path(), &[("in.ispl", "import \"lamp.ispl\"; Formulae EF lit; end Formulae")]);
    for path in ["../main.ispl", "/etc/hostname", "../parts/../main.ispl"] {
        write_files(folder.path(), &[("out.ispl", &format!("import \"{path}\";"))]);
        let output = program(folder.path(), &[&["check", "out.ispl"], &root[..]].concat(), "");
        assert!(text(&output).contains("file/outside-root"), "{}", text(&output));
    }
    let output = program(folder.path(), &[&["check", "in.ispl"], &root[..]].concat(), "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

/// Parameters of imported files are set by `-D`, and a file may say that it needs one.
#[test]
fn parameters_of_all_files_are_set() {
    let counter = "param N;\nAgent C Vars: n : 0..N; end Vars Actions = {tick};
        Protocol: Other : {tick}; end Protocol
        Evolution: n = n + 1 if n < N; end Evolution end Agent
        InitStates C.n = 0; end InitStates";
    let main = "import \"counter.ispl\";\nparam N = 3;\nFormulae EF C.n = 5; end Formulae";
    let files = [("main.ispl", main), ("counter.ispl", counter)];
    assert_eq!(messages(&files, &[]).1, Exit::SomeFail);
    assert_eq!(messages(&files, &["-D", "N=5"]).1, Exit::AllHold);
    let (text, exit) = messages(&[("main.ispl", &main.replace("= 3", "")), files[1]], &[]);
    assert!(text.contains("parameter `N` has no value") && exit == Exit::BadInput, "{text}");
}

/// Reading imports obeys the limits.
#[test]
fn limits_apply_to_imports() {
    let folder = tempfile::tempdir().unwrap();
    let large = format!("{LAMP}{}", "-- a comment\n".repeat(400_000));
    write_files(folder.path(), &[("main.ispl", MAIN), ("parts/lamp.ispl", &large)]);
    let output = program(folder.path(), &["check", "main.ispl", "--memory", "2M"], "");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("load/stopped"), "{}", text(&output));
}

/// A chain of as many files as a model may have.
#[test]
fn long_chains_of_imports_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for n in 1..999 {
        let text = format!("import \"m{}.ispl\";\nparam P{n} = P{} + 1;\n", n + 1, n + 1);
        write_files(folder.path(), &[(&format!("m{n}.ispl"), &text)]);
    }
    write_files(folder.path(), &[("m999.ispl", &format!("param P999 = 0;\n{LAMP}"))]);
    let main = "import \"m1.ispl\";\nFormulae forall(i in 998..P1 : EF lit); end Formulae";
    write_files(folder.path(), &[("main.ispl", main)]);
    assert_eq!(masque(&["check", &path(folder.path(), "main.ispl"), "-q"]).1, Exit::AllHold);
    write_files(folder.path(), &[("m999.ispl", "import \"m1000.ispl\";"), ("m1000.ispl", LAMP)]);
    let (text, exit) = masque(&["check", &path(folder.path(), "main.ispl")]);
    assert!(text.contains("a model has at most 1000 files") && exit == Exit::BadInput, "{text}");
}

/// `import` and `not` are names where they cannot be keywords.
#[test]
fn old_names_still_work() {
    let text = "Agent import
          Vars: not : boolean; import : 0..3; end Vars
          Actions = {not, wait};
          Protocol: not : {wait}; Other : {not, wait}; end Protocol
          Evolution:
            not = true if Action = not and import = 0;
            import = import + 1 if import < 3 and not = true;
          end Evolution
        end Agent
        Evaluation not if import.not; import if import.import = 3; end Evaluation
        InitStates import.not = false and import.import = 0; end InitStates
        Formulae
          not : EF import;
          AG(not -> AF not);
          E(not not U not);
          LTL not not or G not not or F not;
          not (not and import) or not import or not EF (not and import);
        end Formulae";
    let (report, exit) = messages(&[("m.ispl", text)], &[]);
    assert!(exit != Exit::BadInput, "{report}");
    let bdi = "agent a is loop not := any, import := any; if not then import := (not & not import) endloop
        property p initially: EF (not & not not) | not B(a, not(not)) | EF import;";
    let (report, _) = messages(&[("m.bdi", bdi)], &[]);
    assert!(!report.contains("unexpected"), "{report}");
    let (report, exit) = messages(&[("m.bdi", "agent a is var not(p); loop not(p) := any endloop")], &[]);
    assert!(report.contains("`not(..)` is a negation") && exit == Exit::BadInput, "{report}");
}

/// `not` is another word for `!`.
#[test]
fn not_negates() {
    let formulas =
        ["EF not lit", "AG not (lit and not lit)", "not EF AG lit", "LTL not G lit", "not K(Lamp, lit)"];
    for formula in formulas {
        let model = format!("{LAMP}Formulae {formula}; end Formulae");
        let (report, exit) = messages(&[("m.ispl", &model)], &["-q"]);
        assert_eq!(exit, Exit::AllHold, "{formula}\n{report}");
    }
}

/// Files of properties for ISPL and BDI, with labels, families, comments and mistakes.
#[test]
fn files_of_properties() {
    let folder = lamp();
    let files = [
        ("one.txt", "-- comment\nsafe : EF lit; -- first\nfor i in 1..2 {\n  each : EF lit;\n}\n"),
        ("two.txt", "Formulae\n  last : AG lit;\nend Formulae\n"),
        ("wrong.txt", "EF lit;\n\nAG lot;\n"),
        ("broken.txt", "EF lit;\nAG (-> lit);\nEF lit; end Formulae"),
    ];
    write_files(folder.path(), &files);
    let main = path(folder.path(), "main.ispl");
    let name = |name: &str| path(folder.path(), name);
    let found = check(&[
        &main,
        "--properties",
        &name("one.txt"),
        "--properties",
        &name("two.txt"),
        "--property",
        "AG !lit",
    ]);
    let names: Vec<&str> =
        found[0]["properties"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["1", "2", "safe", "each", "each", "last", "7"]);
    for (file, code, place) in [
        ("wrong.txt", "ispl/unknown-proposition", "wrong.txt:3:4"),
        ("broken.txt", "ispl/unexpected-token", "broken.txt:2:5"),
    ] {
        let (report, exit) = masque(&["check", &main, "--properties", &name(file)]);
        assert!(report.contains(code) && report.contains(place) && exit == Exit::BadInput, "{report}");
    }
    let (report, exit) = masque(&["check", &main, "--properties", &name("none.txt")]);
    assert!(report.contains("file/not-found") && exit == Exit::BadInput, "{report}");
    let (report, exit) = masque(&["why", &main, "last", "--properties", &name("two.txt")]);
    assert!(report.contains("last") && exit == Exit::SomeFail, "{report}");
    let output =
        program(folder.path(), &["check", "main.ispl", "--properties", "two.txt", "--processes", "2"], "");
    assert!(text(&output).contains("last"), "{}", text(&output));
    let output = program(folder.path(), &["bench", "main.ispl", "--properties", "two.txt"], "");
    assert!(output.status.code() == Some(0), "{}", text(&output));
    let output = program(folder.path(), &["bench", "main.ispl", "--properties", "wrong.txt"], "");
    assert!(output.status.code() == Some(2), "{}", text(&output));
    // BDI
    write_files(
        folder.path(),
        &[
            ("a.bdi", "agent a is loop p := any endloop"),
            ("more.txt", "// comment\nproperty q initially: EF p;\ncheck serial B(a);\n"),
            ("bad.txt", "property q initially: EF p;\nagent b is skip"),
        ],
    );
    let found = check(&[&name("a.bdi"), "--properties", &name("more.txt")]);
    assert_eq!(found[0]["properties"].as_array().unwrap().len(), 2);
    let (report, exit) = masque(&["check", &name("a.bdi"), "--properties", &name("bad.txt")]);
    assert!(report.contains("bad.txt:2:1") && exit == Exit::BadInput, "{report}");
}

/// `--stats` counts `|S|` and `|M|` as [JAL05 §5.3] does: 4 · 3 · 5 · 2 · 4 · 4 combinations.
#[test]
fn stats_have_the_sizes_of_the_papers() {
    let model = "../../models/ispl/bit_transmission_faulty1.ispl";
    let (report, _) = masque(&["check", model, "--stats", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["runs"][0]["stats"]["possible_states"], "1920");
    assert_eq!(report["runs"][0]["stats"]["model_size"], "3688320");
    let (report, _) = masque(&["check", model, "--stats", "-q"]);
    assert!(report.contains("|S| = 1920, |M| = |S| + |S|² = 3688320"), "{report}");
    let (report, _) = masque(&["check", "../../models/bdi/robot.bdi", "--stats", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["runs"][0]["stats"]["possible_states"].is_null());
}
