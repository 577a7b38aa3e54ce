//! The same three steps for all languages: load, check, read the results.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use masque_driver::lcc::Session;
use masque_driver::{
    Counts, Details, EngineChoice, Language, Limits, Loaded, Request, Run, RunFiles, Show, Shown, Work,
    check, format_file, load, load_text, protocol_setup, runs,
};

const OFFER: &str = "a(buyer, B) :: offer => a(seller, S) then (ok <= a(seller, S) or no <= a(seller, S)).
    a(seller, S) :: offer <= a(buyer, B) then (ok => a(buyer, B) or no => a(buyer, B)).
    agent a(buyer, b). agent a(seller, s).
    property ends : AF final ;  property sold : inev(in(ok)) ;";
const HEN: &str = "a(hen, H) :: null. agent a(hen, h). option cap = 3. property ends : AF final ;";
/// Counters whose checks do not end within the tests.
const LONG: [(&str, &str); 2] = [
    (
        "a.bdi",
        "agent a is var n : 0..16777215; loop if n < 16777215 then n := n + 1 endloop
         property p: EF n = 16777215;",
    ),
    (
        "a.lcc",
        "a(counter(N), C) :: null <- M is N + 1 then a(counter(M), C).
         agent a(counter(0), c). option states = 1000000000. property never : AG !done(c) ;",
    ),
];

fn checked(loaded: &Loaded, limits: &Limits) -> Run {
    check(loaded, limits, &mut |_| {}).unwrap().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn verdicts(run: &Run) -> Vec<String> {
    run.decisions.iter().map(|decision| decision.verdict.to_string()).collect()
}

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn options(options: &[&str], properties: &[&str]) -> Request {
    let list = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
    Request { options: list(options), properties: list(properties), ..Request::default() }
}

#[test]
fn every_language_is_loaded_and_checked() {
    let text = "agent a is loop p := any endloop property q initially: EF p;";
    let loaded = load_text("a.bdi", text, &options(&[], &["a : AF p"]));
    assert_eq!(verdicts(&checked(&loaded, &Limits::default())), ["holds", "fails"]);
    let loaded = load_text("a.lcc", OFFER, &Request::default());
    assert_eq!(verdicts(&checked(&loaded, &Limits::default())), ["holds", "fails"]);
    let text = "des (0, 3, 3)\n(0, ask, 1)\n(1, answer, 0)\n(1, drop, 2)\n";
    let loaded = load_text("a.aut", text, &options(&[], &["AG !deadlock", "<ask><answer>tt"]));
    let run = checked(&loaded, &Limits::default());
    assert_eq!(verdicts(&run), ["fails", "holds"]);
    assert_eq!((&run.states, &run.transitions), (&Some(3_u64.into()), &Some(3_u64.into())));
    let Some(Shown::Run(shown)) = &run.decisions[0].evidence else { panic!("{:?}", run.decisions[0]) };
    assert_eq!((&shown.states[..], shown.is_stuck), (&[0, 1, 2][..], true));
    assert_eq!(shown.labels, ["ask", "drop"]);
}

#[test]
fn runs_are_shown_and_states_counted_as_asked() {
    let text = format!("{OFFER} property can : EF <in(ok)>tt ;");
    for (evidence, expected) in
        [(Show::None, [false; 3]), (Show::Failed, [false, true, false]), (Show::All, [false, true, true])]
    {
        let work = Work { evidence, explore: true, ..Work::default() };
        let run =
            checked(&load_text("a.lcc", &text, &Request { work, ..Request::default() }), &Limits::default());
        assert_eq!(verdicts(&run), ["holds", "fails", "holds"]);
        let shown: Vec<bool> = run.decisions.iter().map(|decision| decision.evidence.is_some()).collect();
        assert_eq!(shown, expected, "{evidence:?}");
        // The start, the offer in transit and received, `ok` or `no` in transit, and one end of both.
        let Details::Lcc(details) = &run.details else { panic!("{:?}", run.details) };
        let counts = Counts { states: 6, transitions: 6, deadlocks: 0, finals: 1, cut: None };
        assert_eq!(details.counts, Some(counts));
    }
}

#[test]
fn no_evidence_without_a_request() {
    let text = "agent a is loop p := any endloop property q: AF p;";
    let work = Work { evidence: Show::None, ..Work::default() };
    let run = checked(&load_text("a.bdi", text, &Request { work, ..Request::default() }), &Limits::default());
    assert_eq!(verdicts(&run), ["fails"]);
    assert!(run.decisions[0].evidence.is_none());
}

#[test]
fn limits_are_respected_in_every_language() {
    for (name, text) in LONG {
        let work = Work { explore: name == "a.lcc", ..Work::default() };
        let loaded = load_text(name, text, &Request { work, ..Request::default() });
        let start = Instant::now();
        let limits = Limits { deadline: Some(start + Duration::from_millis(100)), ..Limits::default() };
        let run = checked(&loaded, &limits);
        assert_eq!(verdicts(&run), ["unknown(timeout)"], "{name}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name}");
        if name == "a.lcc" {
            assert_eq!(run.findings[0].diagnostic.code, "cli/not-counted");
        }
        let limits = Limits::default();
        limits.interrupt.store(true, Ordering::Relaxed);
        assert_eq!(verdicts(&checked(&loaded, &limits)), ["unknown(interrupted)"], "{name}");
    }
    let limits = Limits { memory: Some(100_000), ..Limits::default() };
    let loaded = load_text(LONG[1].0, LONG[1].1, &Request::default());
    assert_eq!(verdicts(&checked(&loaded, &limits)), ["unknown(memory)"]);
}

#[rustfmt::skip]
#[test]
fn requested_formulas_and_options_are_checked() {
    let bdi = "agent a is loop p := any endloop option delay = none;";
    let aut = "des (0, 1, 1)\n(0, a, 0)\n";
    let check = |name: &str, text: &str, option: &[&str], property: &[&str], expected: &[&str]| {
        assert_eq!(codes(&load_text(name, text, &options(option, property))), expected, "{option:?} {property:?}");
    };
    check("a.lcc", HEN, &[],             &["EF final"],  &[]);
    check("a.lcc", HEN, &["cap=4"],      &[],            &[]);
    check("a.lcc", HEN, &["cap"],        &[],            &["cli/bad-option"]);
    check("a.lcc", HEN, &["cpa=4"],      &[],            &["lcc/unknown-option"]);
    check("a.lcc", HEN, &["cap=many"],   &[],            &["lcc/option-value"]);
    check("a.lcc", HEN, &[],             &["mu X. !X"],  &["mu/negative-variable"]);
    check("a.bdi", bdi, &["delay=all"],  &[],            &[]);
    check("a.bdi", bdi, &["delay"],      &[],            &["cli/bad-option"]);
    check("a.bdi", bdi, &["dealy=all"],  &[],            &["bdi/unknown-option"]);
    check("a.bdi", bdi, &["nesting=-1"], &[],            &["bdi/bad-option"]);
    check("a.aut", aut, &[],             &["<a>tt"],     &[]);
    check("a.aut", aut, &[],             &["<a>lit"],    &["mu/unknown-atom"]);
    check("a.aut", aut, &["cap=4"],      &[],            &["cli/wrong-language"]);
}

#[test]
fn requested_options_override_those_of_the_file() {
    let loaded = load_text("a.lcc", HEN, &options(&["cap=4"], &[]));
    assert_eq!(loaded.options, [("cap", "4".to_string())]);
    let text = "agent a is loop p := any endloop option delay = none;";
    let loaded = load_text("a.bdi", text, &options(&["delay=all"], &[]));
    assert_eq!(loaded.options, [("delay", "all".to_string())]);
}

/// A property of the file may have a number as its name.
#[test]
fn a_formula_without_a_name_gets_a_number_that_is_not_a_name() {
    let names = |text: &str, properties: &[&str]| -> Vec<String> {
        let loaded = load_text("a.lcc", text, &options(&[], properties));
        loaded.model.unwrap().properties().into_iter().map(|property| property.name).collect()
    };
    assert_eq!(names(HEN, &["EF final"]), ["ends", "2"]);
    let text = "a(hen, H) :: null. agent a(hen, h). property 2 : AF final ;";
    assert_eq!(names(text, &["tt", "ff"]), ["2", "3", "4"]);
}

#[test]
fn properties_are_kept_by_name_and_position() {
    for (only, expected) in [(&["2"][..], vec!["sold"]), (&["ends"], vec!["ends"]), (&["no"], vec![])] {
        let only = only.iter().map(|name| name.to_string()).collect();
        let loaded = load_text("a.lcc", OFFER, &Request { only, ..Request::default() });
        let names: Vec<String> = loaded.model.iter().flat_map(|m| m.properties()).map(|p| p.name).collect();
        assert_eq!(names, expected);
        assert_eq!(loaded.has_errors(), expected.is_empty());
    }
}

/// A property keeps its own world.
#[test]
fn kept_properties_of_worlds_have_the_same_verdicts() {
    let text =
        "agent a is init B(b, q) := any; loop skip endloop  agent b is init q := any; loop skip endloop
        property in_a: !B(b, q); property in_b in b: !q; property sure in b: q | !q;";
    let all = checked(&load_text("m.bdi", text, &Request::default()), &Limits::default());
    for (position, name) in ["in_a", "in_b", "sure"].into_iter().enumerate() {
        let request = Request { only: vec![name.to_string()], ..Request::default() };
        let run = checked(&load_text("m.bdi", text, &request), &Limits::default());
        assert_eq!(verdicts(&run), verdicts(&all)[position..=position], "{name}");
        assert_eq!(run.decisions[0].satisfied, all.decisions[position].satisfied, "{name}");
    }
}

/// A text in the wrong language is one error, not a list of syntax errors.
#[rustfmt::skip]
#[test]
fn wrong_languages_are_named() {
    let check = |name: &str, text: &str, expected: &str| {
        let loaded = load_text(name, text, &Request::default());
        assert_eq!(codes(&loaded), ["file/wrong-language"], "{name} {text}");
        assert_eq!(loaded.diagnostics[0].message, format!("`{name}` is not {expected}"));
    };
    check("m.ispl", "MODULE main\nVAR x : boolean;",            "ISPL but looks like SMV");
    check("m.ispl", "mdp\nmodule m x : bool; endmodule",        "ISPL but looks like PRISM");
    check("m.ispl", "---- MODULE Clock ----\nEXTENDS Naturals", "ISPL but looks like TLA+");
    check("m.ispl", "agent a is\n loop skip endloop",           "ISPL but looks like BDI");
    check("m.bdi",  "Agent Environment\n Vars: end Vars",       "BDI but looks like ISPL");
    check("m.lcc",  "des (0, 0, 1)\n",                          "LCC but looks like AUT");
    check("m.aut",  HEN,                                        "AUT but looks like LCC");
}

#[test]
fn the_language_of_a_text_without_an_extension_is_recognised() {
    for (text, language) in
        [(HEN, Language::Lcc), (LONG[0].1, Language::Bdi), ("des (0, 0, 1)", Language::Aut)]
    {
        let loaded = load_text("<stdin>", text, &Request::default());
        assert_eq!((loaded.language, codes(&loaded)), (Some(language), vec![]));
    }
}

/// A text without a language's extension is formatted in the language in which it is checked.
#[test]
fn texts_are_formatted_in_the_language_they_are_checked_in() {
    let folder = tempfile::tempdir().unwrap();
    let formatted = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        format_file(&path, &Limits::default()).text.map_err(|errors| errors[0].code)
    };
    assert_eq!(formatted("hen", "a(hen,H)::null.").unwrap(), "a(hen, H) :: null.\n");
    assert_eq!(
        formatted("hen.txt", "agent a is\nloop skip endloop").unwrap(),
        "agent a is\n  loop skip endloop\n"
    );
    assert_eq!(formatted("graph.txt", "des (0, 0, 1)\n"), Err("cli/wrong-language"));
    assert_eq!(formatted("m.lcc", "agent a is\n loop skip endloop"), Err("file/wrong-language"));
    assert_eq!(formatted("m.ispl", "MODULE main\nVAR x : boolean;"), Err("file/wrong-language"));
}

/// The files of a protocol in another language are refused by name: by that of the file, or by the words of the text.
#[test]
fn protocols_in_other_languages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let code = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let setup = protocol_setup("state", &[path], &[], &[], &Limits::default());
        let opened = setup.and_then(|setup| Ok(Session::open(setup)?));
        opened.map_err(|refused| refused.diagnostics[0].code).err()
    };
    assert_eq!(code("m.lcc", HEN), None);
    assert_eq!(code("m.ispl", HEN), Some("cli/wrong-language"));
    assert_eq!(code("m.lcc", "agent a is\n loop skip endloop"), Some("file/wrong-language"));
    assert_eq!(code("m.lcc", "a(hen, H)"), Some("lcc/syntax"));
}

#[test]
fn files_of_one_command_line_become_runs() {
    let shape = |files: &[&str], each: bool| -> Vec<Vec<String>> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let text = |RunFiles { files, .. }: RunFiles| -> Vec<String> {
            files.iter().map(|file| file.display().to_string()).collect()
        };
        runs(&files, each, &Request::default(), &Limits::default()).unwrap().into_iter().map(text).collect()
    };
    assert_eq!(shape(&["a.ispl", "b.bdi", "-"], false), [["a.ispl"], ["b.bdi"], ["-"]]);
    assert_eq!(
        shape(&["a.lcc", "b.ispl", "c.pol", "d.mu"], false),
        [&["a.lcc", "c.pol", "d.mu"][..], &["b.ispl"]]
    );
    assert_eq!(shape(&["p.mu", "a.aut", "b.aut"], false), [["a.aut", "p.mu"], ["b.aut", "p.mu"]]);
    assert_eq!(shape(&["a.aut", "b.lcc", "p.mu"], false), [["a.aut", "b.lcc", "p.mu"]]);
    assert_eq!(shape(&["p.mu"], false), [["p.mu"]]);
}

#[test]
fn files_that_are_not_one_model_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (properties, protocol) = (file("p.mu", "p : AG !deadlock ;"), file("a.lcc", HEN));
    let graph = file("a.aut", "des (0, 1, 1)\n(0, a, 0)\n");
    let code = |files: &[&Path]| codes(&load(files, &Request::default()));
    assert_eq!(code(&[&properties]), ["cli/no-protocol"]);
    assert_eq!(code(&[&graph, &protocol]), ["cli/mixed-languages"]);
    assert_eq!(code(&[&graph, &graph.with_file_name("b.aut")]), ["cli/mixed-languages"]);
    assert_eq!(code(&[&protocol, &properties]), [""; 0]);
    let loaded = load(&[&properties, &graph], &Request::default());
    assert_eq!(verdicts(&checked(&loaded, &Limits::default())), ["holds"]);
    let request = Request { property_files: vec![properties], ..Request::default() };
    let loaded = load(&[&graph], &request);
    assert_eq!(verdicts(&checked(&loaded, &Limits::default())), ["holds"]);
    let text = "des (0, 1, 1)\n(0, a, 0)\n";
    let loaded = load_text("<stdin>", text, &request);
    assert_eq!(verdicts(&checked(&loaded, &Limits::default())), ["holds"]);
}

/// An option that a language does not have is refused by name.
#[test]
fn misplaced_options_are_refused() {
    let refused = |name: &str, text: &str, request: &Request| -> String {
        let loaded = load_text(name, text, request);
        assert!(loaded.model.is_none(), "{name}");
        loaded.diagnostics.last().map(|d| d.message.clone()).unwrap_or_default()
    };
    let quick = Request { work: Work { quick: true, ..Work::default() }, ..Request::default() };
    let explicit = Work { engine: EngineChoice::Named("explicit"), ..Work::default() };
    let explicit = Request { work: explicit, ..Request::default() };
    let bdi = "agent a is loop p := any endloop property q: AF p;";
    assert_eq!(refused("a.lcc", HEN, &quick), "`--quick` is an option for ISPL files");
    assert_eq!(refused("a.bdi", bdi, &explicit), "`--engine` is an option for ISPL files");
    let symbolic = Work { engine: EngineChoice::Named("symbolic"), ..Work::default() };
    let symbolic = Request { work: symbolic, ..Request::default() };
    assert!(load_text("a.bdi", bdi, &symbolic).model.is_some());
    assert_eq!(refused("a.lcc", HEN, &symbolic), "`--engine` is an option for ISPL and BDI files");
}
