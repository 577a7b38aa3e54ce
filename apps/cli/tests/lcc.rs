//! LCC files on the command line: what is printed, exit codes, and the report as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use masque_cli::{Context, Exit};
use serde_json::Value;

const TRAVEL: [&str; 3] = ["travel.lcc", "travel_team.lcc", "rules.pol"];
/// The facts of a team that can do all it should.
const FACTS: [&str; 4] = ["f_member.lcc", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"];
/// The travel agent is no member of its association.
const STUCK: [&str; 4] = ["f_nomember.lcc", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"];

fn masque<S: AsRef<str>>(words: &[S]) -> (String, Exit) {
    crate::support::outcome(words, &Context::default())
}

fn model(name: &str) -> String {
    format!("../../models/lcc/{name}")
}

/// `check` on some model files, with more words.
fn check(files: &[&str], more: &[&str]) -> (String, Exit) {
    let files = files.iter().map(|name| model(name));
    let more = more.iter().map(|word| word.to_string());
    let words: Vec<String> = std::iter::once("check".to_string()).chain(files).chain(more).collect();
    masque(&words)
}

#[test]
fn check_reports_verdicts_and_draws_traces() {
    let properties = model("travel.mu");
    let (text, exit) = check(&[&TRAVEL[..], &FACTS].concat(), &["--properties", &properties, "--explore"]);
    insta::assert_snapshot!("check_travel", text);
    assert_eq!(exit, Exit::SomeFail);
    let (text, exit) = check(&[&TRAVEL[..], &STUCK].concat(), &["--property", "AG !deadlock"]);
    insta::assert_snapshot!("check_travel_stuck", text);
    assert_eq!(exit, Exit::SomeFail);
}

/// Property files are recognised by their names, at any position.
#[test]
fn property_files_may_stand_among_the_others() {
    let properties = model("travel.mu");
    let files = [&TRAVEL[..], &FACTS].concat();
    let by_option = check(&files, &["--properties", &properties]);
    assert_eq!(check(&[&files[..], &["travel.mu"]].concat(), &[]), by_option);
}

#[test]
fn other_languages_are_runs_of_their_own() {
    let (text, _) =
        check(&["m02_or.lcc"], &["tests/models/light.ispl", &model("m03_par.lcc"), "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!((&runs[0]["language"], &runs[1]["language"]), (&"lcc".into(), &"ispl".into()));
    assert_eq!(runs[0]["files"].as_array().unwrap().len(), 2);
    assert!(runs[0].get("conflicts").is_some() && runs[1].get("conflicts").is_none());
}

/// Errors are reported, with the right exit code.
#[rustfmt::skip]
#[test]
fn exit_codes() {
    let conflict = "m06_conflict.lcc";
    let rows: [(&[&str], &[&str], Exit, &str); 17] = [
        (&[conflict],        &["--property", "EF final"],                    Exit::SomeFail,     "±read(file)"),
        (&[conflict],        &["--property", "EF final", "--option", "conflict=permit"],
                                                                             Exit::AllHold,      "holds"),
        (&[conflict],        &["--property", "EF <#"],                       Exit::BadInput,     "mu/"),
        (&[conflict],        &["--property", "mu X. !X"],                    Exit::BadInput,     "mu/negative-variable"),
        (&[conflict],        &["--option", "conflict"],                      Exit::BadInput,     "cli/bad-option"),
        (&[conflict],        &["--option", "conflict=maybe"],                Exit::BadInput,     "lcc/option-value"),
        (&[conflict],        &["--at", "initial"],                           Exit::BadInput,     "cli/wrong-language"),
        (&[conflict],        &["--order", "declared"],                       Exit::BadInput,     "cli/wrong-language"),
        (&[conflict],        &["--engine", "symbolic"],                      Exit::BadInput,     "cli/wrong-language"),
        (&[conflict],        &["--cross-check"],                             Exit::BadInput,     "cli/wrong-language"),
        (&[conflict],        &["--properties", "no_such.mu"],                Exit::BadInput,     "file/not-found"),
        (&[conflict],        &["--parse-only"],                              Exit::AllHold,      "2 agents, 0 properties"),
        (&["no_such.pol"],   &[],                                            Exit::BadInput,     "file/not-found"),
        (&["travel.mu"],     &[],                                            Exit::BadInput,     "cli/no-protocol"),
        (&["../bdi/robot.bdi"],   &["--explore"],                            Exit::BadInput,     "cli/wrong-language"),
        (&["../ispl/trains.ispl"], &["--explore"],                           Exit::BadInput,     "cli/wrong-language"),
        (&["../ispl/trains.ispl"], &["--option", "a=b"],                     Exit::BadInput,     "BDI and LCC"),
    ];
    for (files, more, expected, text) in rows {
        let (found, exit) = check(files, more);
        assert_eq!(exit, expected, "{files:?} {more:?}\n{found}");
        assert!(found.contains(text), "{files:?} {more:?}\n{found}");
    }
}

#[test]
fn properties_beyond_a_bound_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counter.lcc");
    let text = "a(counter(N), C) :: tick(N) => a(wall, W) then a(next(N), C).
        a(next(N), C) :: null <- M is N + 1 then a(counter(M), C).
        a(wall, W) :: null or tick(N) <= a(counter(_), C).
        agent a(counter(0), c).
        agent a(wall, w).
        property never_negative : [-* . out(tick(-1))]ff ;";
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let (text, exit) = masque(&["check", path, "--explore"]);
    assert!(text.contains("unknown(bound:cap)") && text.contains("cli/not-counted"), "{text}");
    assert_eq!(exit, Exit::Inconclusive);
    let report: Value =
        serde_json::from_str(&masque(&["check", path, "--explore", "--format", "json"]).0).unwrap();
    for key in ["states", "transitions", "deadlocks", "finals"] {
        assert!(report["runs"][0].get(key).is_some_and(Value::is_null), "{key}");
    }
}

/// The report has what the models expect: counts and verdicts.
#[test]
fn the_report_conforms() {
    let folder = Path::new("../../models/lcc/expected");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 20);
    for file in files {
        let loaded = masque_driver::load(&[&file], &masque_driver::Request::default());
        let expected = masque_driver::expectations(&loaded);
        let path = file.to_str().unwrap();
        let report: Value =
            serde_json::from_str(&masque(&["check", path, "--format", "json", "--explore"]).0).unwrap();
        let found = &report["runs"][0];
        assert_eq!(expected.counts.len(), 2, "{path}");
        for count in &expected.counts {
            assert_eq!(
                found[count.value.quantity.to_string()],
                count.value.number,
                "{path}: {}",
                count.value.quantity
            );
        }
        assert!(found["deadlocks"].is_u64() && found["conflicts"].is_array(), "{path}");
        let answers = found["properties"].as_array().unwrap();
        assert_eq!(answers.len(), expected.verdicts.len(), "{path}");
        for (answer, expected) in answers.iter().zip(&expected.verdicts) {
            let verdict = expected.as_ref().unwrap().value.to_string();
            assert_eq!(answer["verdict"], verdict, "{path}: {}", answer["name"]);
            assert!(verdict == "fails" || answer["evidence"].is_null());
        }
    }
}

#[test]
fn evidence_is_data_too() {
    let (text, _) = check(&["m02_or.lcc"], &["--property", "AG !deadlock", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let properties = report["runs"][0]["properties"].as_array().unwrap();
    let evidence = &properties.last().unwrap()["evidence"];
    insta::assert_snapshot!("evidence", format!("{evidence:#}"));
}

/// Every format of evidence has the runs, wherever it goes; the report has them only if nothing
/// else has.
#[test]
fn evidence_in_files_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evidence");
    let path = file.to_str().unwrap();
    let run = "|---- offer --->|";
    for (format, expected) in [
        ("text", vec!["m02_or.lcc:\n\n1 fails:", "<~~~ no ~~~", "stuck: b waits for ok"]),
        ("json", vec![r#""kind": "sent""#, r#""end": "stuck""#, r#""sent": 0"#]),
        ("dot", vec!["subgraph cluster_1", r#"label="b\nbuyer""#, r#"label="offer""#, "not received"]),
        ("html", vec![r#"<g class="lifeline" data-agent="b">"#, "not received", "b waits for ok"]),
    ] {
        let words = ["--property", "AG !deadlock", "--evidence-format", format];
        let (text, exit) = check(&["m02_or.lcc"], &[&words[..], &["--evidence-out", path]].concat());
        assert_eq!(exit, Exit::SomeFail, "{format}");
        assert!(!text.contains(run) && text.contains("fails  1  AG !deadlock"), "{format}: {text}");
        let evidence = fs::read_to_string(&file).unwrap();
        for part in expected {
            assert!(evidence.contains(part), "{format}: {part}\n{evidence}");
        }
        // Without a file it is on standard output, but for text, which is in the report.
        let (text, _) = check(&["m02_or.lcc"], &words);
        assert!(format == "text" || text.starts_with(&evidence), "{format}: {text}");
    }
}

#[test]
fn evidence_of_a_bdi_file() {
    let html = check(&["../bdi/robot.bdi"], &["--evidence-format", "html"]).0;
    assert!(html.contains("<h1>../../models/lcc/../bdi/robot.bdi</h1>"), "{html}");
    let json = check(&["../bdi/robot.bdi"], &["--evidence-format", "json"]).0;
    assert!(json.contains(r#""language": "bdi""#), "{json}");
    let (text, exit) = check(&["../bdi/robot.bdi"], &["--evidence-format", "dot"]);
    assert!(text.contains("cli/wrong-language") && exit == Exit::BadInput, "{text}");
}

#[test]
fn evidence_as_much_as_asked_for() {
    let shown = |which: &str| {
        let more = ["--property", "EF deadlock", "--property", "AG !deadlock", "--evidence", which];
        let (text, exit) = check(&["m02_or.lcc"], &more);
        assert_eq!(exit, Exit::SomeFail);
        (text.contains("1 holds:"), text.contains("2 fails:"))
    };
    assert_eq!((shown("none"), shown("failed"), shown("all")), ((false, false), (false, true), (true, true)));
}

#[test]
fn times_only_when_asked_for() {
    assert!(check(&["m02_or.lcc"], &["--stats"]).0.contains("checked in"));
    assert!(!check(&["m02_or.lcc"], &[]).0.contains("checked in"));
}

#[test]
fn fmt_knows_the_language() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_string()
    };
    let file = write("a.lcc", "a(hen,H)::null.agent a(hen,h).\n");
    assert_eq!(masque(&["fmt", "--check", &file]).1, Exit::SomeFail);
    assert_eq!(masque(&["fmt", &file]).1, Exit::AllHold);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a(hen, H) :: null.\nagent a(hen, h).\n");
    let properties = write("a.mu", "p:tt; // always\n");
    assert_eq!(masque(&["fmt", "--check", &properties]).1, Exit::SomeFail);
    assert_eq!(masque(&["fmt", &properties]).1, Exit::AllHold);
    assert_eq!(fs::read_to_string(&properties).unwrap(), "p : tt ;  // always\n");
    assert_eq!(masque(&["fmt", "--check", &properties]).1, Exit::AllHold);
    let (text, exit) = masque(&["fmt", &write("b.mu", "p : mu ;\n")]);
    assert!(text.contains("mu/unexpected-token"), "{text}");
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn codes_are_explained() {
    for code in ["lcc/atom", "mu/negative-variable", "cli/no-protocol"] {
        assert_eq!(masque(&["explain", code]).1, Exit::AllHold, "{code}");
    }
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// `check` on files of a folder, with more words; its report and its exit.
fn report_on(folder: &Path, files: &[&str], more: &[&str]) -> (Value, Exit) {
    let files = files.iter().map(|name| folder.join(name).to_str().unwrap().to_string());
    let more = more.iter().map(|word| word.to_string());
    let words = ["check".to_string(), "--format".to_string(), "json".to_string()].into_iter();
    let (text, exit) = masque(&words.chain(files).chain(more).collect::<Vec<_>>());
    (serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")), exit)
}

/// Names of the files of a run, without their folder.
fn file_names(run: &Value) -> Vec<String> {
    let name =
        |file: &Value| Path::new(file.as_str().unwrap()).file_name().unwrap().to_string_lossy().into_owned();
    run["files"].as_array().unwrap().iter().map(name).collect()
}

fn codes_of(run: &Value) -> Vec<String> {
    let diagnostics = run["diagnostics"].as_array().unwrap();
    diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap().to_string()).collect()
}

const FARM: &str = "a(hen, H) :: egg => a(farmer, F). a(farmer, F) :: egg <= a(hen, H).";
const FARM_TEAM: &str = "agent a(hen, h). agent a(farmer, f). property fed : AF final ;";
const DAIRY: &str = "a(cow, C) :: moo => a(maid, M). a(maid, M) :: milk <= a(cow, C).
    agent a(cow, c). agent a(maid, m). property fed : AF final ;";

/// Before, three verdicts of the second file changed, without a word.
#[test]
fn unrelated_files_are_refused() {
    let (text, exit) = check(&["llm_team.lcc", "contract_net.lcc"], &[]);
    insta::assert_snapshot!("check_unrelated", text);
    assert_eq!(exit, Exit::BadInput);
    let (text, exit) = check(&["llm_team.lcc", "contract_net.lcc"], &["--each"]);
    insta::assert_snapshot!("check_each", text);
    let alone = ["llm_team.lcc", "contract_net.lcc"].map(|file| check(&[file], &[]).1.code());
    assert_eq!(exit.code(), alone.into_iter().max().unwrap());
}

/// The whole gallery: a run for each team, and a note for the rest.
#[test]
fn each_file_of_the_gallery() {
    let mut names: Vec<String> = (fs::read_dir("../../models/lcc").unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".lcc"))
        .collect();
    names.sort();
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let (text, _) = check(&files, &["--each", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let runs = report["runs"].as_array().unwrap();
    let refused = |run: &&Value| codes_of(run).iter().any(|code| code.starts_with("lcc/no-clause"));
    let refused: Vec<_> = runs.iter().filter(refused).flat_map(file_names).collect();
    // A team whose protocol is in another file, which it does not import.
    assert_eq!(refused, ["travel_team.lcc", "travel_team_noretry.lcc"]);
    let note = runs.last().unwrap()["diagnostics"].as_array().unwrap().last().unwrap();
    assert_eq!(note["code"], "cli/left-out");
    assert!(note["message"].as_str().unwrap().contains("f_black.lcc, "), "{note}");
    for run in runs {
        let [name] = &file_names(run)[..] else { panic!("{run}") };
        let (text, _) = check(&[name], &["--format", "json"]);
        let alone: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(run["properties"], alone["runs"][0]["properties"], "{name}");
    }
    assert!(runs.len() > 10, "{}", runs.len());
    // Together they are no instance.
    let (text, exit) = check(&files, &["--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(exit, Exit::BadInput);
    assert!(codes_of(&report["runs"][0]).contains(&"lcc/unrelated-files".to_string()));
}

#[test]
fn what_each_makes_of_files() {
    let folder = folder(&[
        ("main.lcc", "import \"sub/farm.lcc\". import \"team.lcc\"."),
        ("sub/farm.lcc", FARM),
        ("team.lcc", FARM_TEAM),
        ("dairy.lcc", DAIRY),
        ("facts.pol", "common sunny."),
        ("goals.mu", "more : EF final ;"),
        ("broken.lcc", "agent a(hen h)."),
    ]);
    // The files that are named, the files of each run, and the exit.
    let rows: [(&[&str], &[&str], Exit); 6] = [
        (&["main.lcc", "sub/farm.lcc", "team.lcc"], &["main.lcc farm.lcc team.lcc"], Exit::AllHold),
        (
            &["main.lcc", "facts.pol", "dairy.lcc"],
            &["main.lcc farm.lcc team.lcc", "dairy.lcc"],
            Exit::SomeFail,
        ),
        (
            &["dairy.lcc", "goals.mu", "main.lcc", "dairy.lcc"],
            &["dairy.lcc goals.mu", "main.lcc farm.lcc team.lcc goals.mu"],
            Exit::SomeFail,
        ),
        (&["team.lcc", "dairy.lcc"], &["team.lcc", "dairy.lcc"], Exit::BadInput),
        (&["facts.pol", "sub/farm.lcc"], &["facts.pol farm.lcc"], Exit::BadInput),
        (&["broken.lcc", "none.lcc", "dairy.lcc"], &["broken.lcc", "none.lcc", "dairy.lcc"], Exit::BadInput),
    ];
    for (files, expected, exit) in rows {
        let (report, found) = report_on(folder.path(), files, &["--each"]);
        let runs = report["runs"].as_array().unwrap().iter().map(|run| file_names(run).join(" "));
        assert_eq!(
            (runs.collect::<Vec<_>>(), found),
            (expected.iter().map(|run| run.to_string()).collect(), exit)
        );
    }
    // Other languages are runs of their own, as always.
    let (report, _) =
        report_on(folder.path(), &["dairy.lcc", "main.lcc"], &["tests/models/light.ispl", "--each"]);
    let languages = report["runs"].as_array().unwrap().iter().map(|run| run["language"].as_str().unwrap());
    assert_eq!(languages.collect::<Vec<_>>(), ["lcc", "lcc", "ispl"]);
    let (report, _) =
        report_on(folder.path(), &["dairy.lcc", "facts.pol"], &["--each", "--deny", "warnings"]);
    assert_eq!(codes_of(&report["runs"][0]).last().map(String::as_str), Some("cli/left-out"));
}

/// A file and its imports have the report that the files have when they are all named.
#[test]
fn imports_are_as_files_that_are_named() {
    let folder = folder(&[
        ("main.lcc", "import \"lib/farm.lcc\". import \"team.lcc\". import \"goals.mu\"."),
        ("lib/farm.lcc", FARM),
        ("team.lcc", FARM_TEAM),
        ("goals.mu", "more : EF final ;"),
        ("missing.lcc", "import \"lib/frm.lcc\"."),
        ("folder.lcc", "import \"lib\"."),
        ("twice.lcc", "option cap = 3. import \"option.pol\"."),
        ("option.pol", "option cap = 4. a(p, X) :: null. agent a(p, x)."),
    ]);
    let named = ["main.lcc", "lib/farm.lcc", "team.lcc", "goals.mu"];
    let (alone, exit) = report_on(folder.path(), &named[..1], &["--explore"]);
    let (all, _) = report_on(folder.path(), &named, &["--explore"]);
    assert_eq!((&alone, exit), (&all, Exit::AllHold));
    assert_eq!(file_names(&alone["runs"][0]), ["main.lcc", "farm.lcc", "team.lcc", "goals.mu"]);
    assert_eq!(alone["runs"][0]["properties"].as_array().unwrap().len(), 2);
    // A file that is named twice is read once.
    let twice = [&named[..], &["team.lcc", "goals.mu"]].concat();
    assert_eq!(report_on(folder.path(), &twice, &["--explore"]).0, all);
    for (file, code) in [
        ("missing.lcc", "lcc/import-not-found"),
        ("folder.lcc", "file/is-directory"),
        ("twice.lcc", "lcc/duplicate-option"),
    ] {
        let (report, exit) = report_on(folder.path(), &[file], &[]);
        assert_eq!((codes_of(&report["runs"][0]), exit), (vec![code.to_string()], Exit::BadInput), "{file}");
        assert!(!report["runs"][0]["diagnostics"][0]["spans"].as_array().unwrap().is_empty(), "{file}");
    }
    // An LCC instance is neither spread over processes nor raced, with imports or without.
    for more in [&["--processes", "2"][..], &["--engine", "race"]] {
        let (report, exit) = report_on(folder.path(), &["main.lcc"], more);
        assert_eq!(
            (codes_of(&report["runs"][0]), exit),
            (vec!["cli/wrong-language".to_string()], Exit::BadInput)
        );
    }
}

/// An option that is given twice is an error, wherever; one on the command line replaces that of the file.
#[test]
fn options_are_given_once() {
    let folder = folder(&[
        ("a.lcc", "option cap = 5. a(p, X) :: null. agent a(p, x)."),
        ("b.bdi", "agent a is loop p := any endloop"),
    ]);
    let options = |file: &str, options: &[&str]| {
        let more: Vec<&str> = options.iter().flat_map(|option| ["--option", option]).collect();
        let (mut report, _) = report_on(folder.path(), &[file], &more);
        (codes_of(&report["runs"][0]), report["runs"][0]["options"].take())
    };
    assert_eq!(options("a.lcc", &["cap=3"]), (vec![], serde_json::json!({"cap": "3"})));
    assert_eq!(options("a.lcc", &["cap=3", "cap=4"]).0, ["lcc/duplicate-option"]);
    assert_eq!(options("a.lcc", &["cap=3", "cap=3"]).0, ["lcc/duplicate-option"]);
    assert_eq!(options("b.bdi", &["delay=all"]), (vec![], serde_json::json!({"delay": "all"})));
    assert_eq!(options("b.bdi", &["delay=all", "delay=none"]).0, ["bdi/duplicate"]);
}
