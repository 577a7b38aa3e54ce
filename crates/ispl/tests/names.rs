//! The index of names: every use has the name of its declaration, renaming a declaration and its uses leaves the
//! model as it was, and a syntax error hides no names outside its statement.

use std::collections::BTreeMap;
use std::path::Path;

use fastrand::Rng;
use masque_ispl::{Options, check, names, parse_model};
use masque_model::{System, Wording};
use masque_testkit::{
    GENERATORS, TextLibrary, files_below, random_fixpoint_model, random_model, random_old_model,
    random_parameterised_model, seeds, split_into_modules, structure,
};
use masque_text::{Declaration, NameIndex, NameKind, Sources, Span};

/// A name that no model contains.
const FRESH: &str = "zqfresh";

/// A model: its files by path, and the path of the main file.
#[derive(Clone)]
struct Files {
    texts: BTreeMap<String, String>,
    main: String,
}

impl Files {
    fn one(text: &str) -> Files {
        let main = "test.ispl".to_string();
        Files { texts: BTreeMap::from([(main.clone(), text.to_string())]), main }
    }

    fn library(&self) -> TextLibrary {
        let texts: Vec<(&str, &str)> =
            self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        TextLibrary::new(&texts)
    }

    fn names(&self) -> (Sources, NameIndex) {
        let mut sources = Sources::default();
        let file = sources.add(self.main.as_str(), self.texts[&self.main].as_str()).unwrap();
        let index = names(&mut sources, file, &self.library());
        (sources, index)
    }

    /// The diagnostics and the structure of the model.
    fn checked(&self) -> (Vec<String>, Option<String>) {
        let mut sources = Sources::default();
        let file = sources.add(self.main.as_str(), self.texts[&self.main].as_str()).unwrap();
        let mut model = parse_model(&mut sources, file, &self.library());
        let checked = check(&sources, &mut model.tree, &Options::default());
        let all = model.diagnostics.iter().chain(&checked.diagnostics);
        let diagnostics = all.map(|one| format!("{}: {}", one.code, one.message)).collect();
        // The wording holds positions in the texts of properties.
        let system = checked.system.map(|system| System { wording: Wording::default(), ..system });
        (diagnostics, system.as_ref().map(structure))
    }

    /// The files after all uses of some declarations have got the fresh name.
    fn renamed(&self, sources: &Sources, index: &NameIndex, declarations: &[u32]) -> Files {
        let mut files = self.clone();
        let mut spans: Vec<Span> = declarations.iter().flat_map(|one| index.uses_of(*one)).collect();
        spans.sort();
        for span in spans.into_iter().rev() {
            let file = sources.file_of(span);
            let base = sources.span(file).start;
            let range = (span.start - base) as usize..(span.end - base) as usize;
            let text =
                files.texts.iter_mut().find(|(name, _)| same_path(name, sources.name(file))).unwrap().1;
            text.replace_range(range, FRESH);
        }
        files
    }
}

/// The texts from shortly before their first difference.
fn difference(a: &Option<String>, b: &Option<String>) -> String {
    let (a, b) = (a.as_deref().unwrap_or(""), b.as_deref().unwrap_or(""));
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(80)..])[..]
            .chars()
            .take(200)
            .collect::<String>()
    };
    format!("{}\n{}", part(a), part(b))
}

fn same_path(a: &str, b: &str) -> bool {
    masque_text::without_dots(Path::new(a)) == masque_text::without_dots(Path::new(b))
}

fn assert_uses_have_their_names(sources: &Sources, index: &NameIndex) {
    for name in &index.uses {
        let declaration = index.declaration(*name);
        assert_eq!(sources.slice(name.span), declaration.name, "{declaration:?}");
    }
    for (place, declaration) in index.declarations.iter().enumerate() {
        let found = index.at(declaration.span.start);
        assert_eq!(found.map(|name| name.declaration), Some(place as u32), "{declaration:?}");
        assert!(declaration.whole.start <= declaration.span.start, "{declaration:?}");
        assert!(declaration.span.end <= declaration.whole.end, "{declaration:?}");
    }
    assert!(index.uses.is_sorted() && index.declarations.is_sorted_by_key(|one| one.span));
}

/// Renames declarations one by one, at most `limit` of them, and compares the models. Returns the number of
/// renamed declarations.
#[track_caller]
fn check_renaming(files: &Files, limit: usize) -> usize {
    let (sources, index) = files.names();
    assert_uses_have_their_names(&sources, &index);
    let (before, system) = files.checked();
    let n_declarations = index.declarations.len();
    let step = n_declarations.div_ceil(limit).max(1);
    let mut n_renamed = 0;
    for place in (0..n_declarations).step_by(step) {
        let declaration = &index.declarations[place];
        if declaration.name == "Environment" {
            continue;
        }
        let name = declaration.name.as_str();
        let back = |text: &str| text.replace(FRESH, name);
        let compare = |declarations: &[u32], with_structure: bool| {
            let renamed = files.renamed(&sources, &index, declarations);
            let (after, renamed_system) = renamed.checked();
            let what = format!("{declaration:?}\n{}", renamed.texts[&renamed.main]);
            let mut after: Vec<String> = after.iter().map(|text| back(text)).collect();
            let mut before = before.clone();
            after.sort();
            before.sort();
            assert_eq!(before, after, "{what}");
            if with_structure {
                let renamed = renamed_system.map(|text| back(&text));
                assert!(system == renamed, "{}\n{what}", difference(&system, &renamed));
            }
        };
        // Values of the same name in unrelated enumerations are one symbol of the system; so are variables of
        // the same name in unrelated fixpoints.
        let is_same = |other: &Declaration| {
            let is_shared = matches!(other.kind, NameKind::Value | NameKind::Fixpoint);
            is_shared && other.kind == declaration.kind && other.name == name
        };
        let others = (0..n_declarations as u32).filter(|other| is_same(&index.declarations[*other as usize]));
        let others: Vec<u32> = others.collect();
        compare(&[place as u32], others.len() <= 1);
        if others.len() > 1 {
            compare(&others, true);
        }
        n_renamed += 1;
    }
    n_renamed
}

/// All shipped models, with the files that they may import.
fn shipped() -> Vec<Files> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let paths = files_below(&root, &["ispl"]);
    let texts: BTreeMap<String, String> = paths
        .iter()
        .map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap()))
        .collect();
    texts.keys().map(|main| Files { texts: texts.clone(), main: main.clone() }).collect()
}

#[test]
fn shipped_models_keep_their_meaning_when_a_name_changes() {
    let mut n_renamed = 0;
    for files in shipped() {
        let n_bytes = files.texts[&files.main].len();
        let limit = if n_bytes > 20_000 { 3 } else { 12 };
        n_renamed += check_renaming(&files, limit);
    }
    println!("{n_renamed} declarations renamed");
    assert!(n_renamed > 400, "{n_renamed}");
}

#[test]
fn random_models_keep_their_meaning_when_a_name_changes() {
    for seed in seeds("0..60") {
        let text = GENERATORS[seed as usize % GENERATORS.len()](seed);
        assert!(check_renaming(&Files::one(&text), usize::MAX) > 4, "{text}");
    }
}

#[test]
fn modules_keep_their_meaning_when_a_name_changes() {
    for seed in seeds("0..20") {
        let modules = split_into_modules(&random_model(seed), seed);
        let main = modules[0].0.clone();
        check_renaming(&Files { texts: modules.into_iter().collect(), main }, 10);
    }
}

const BROKEN: &str = "param N = 3;
Agent Environment
  Obsvars: seen : boolean; end Obsvars
  Vars: coin[i in 1..N] : {head, tail}; x : 0..3; end Vars
  Actions = {none, flip};
  Protocol: x = 1 : {flip}; Other : {none}; end Protocol
  Evolution: x = 2 if Action = flip and Alice.Action = go; end Evolution
end Agent
Agent Alice
  Lobsvars = {x, coin[1]};
  Vars: x : {low, high}; y : boolean; end Vars
  RedStates: x = high; end RedStates
  Actions = {go, stay};
  Protocol: x = low and Environment.x = 1 : {go}; Other : {stay}; end Protocol
  Evolution: x = high if Action = go and Environment.Action = none; end Evolution
end Agent
Agent Bob[i in 1..N]
  Vars: x : {low, high}; z : 1..i; end Vars
  Actions = {go};
  Protocol: Other : {go}; end Protocol
  Evolution: z = 1 if x = low and Action = go and Environment.coin[i] = head; end Evolution
end Agent
Evaluation high if Alice.x = high; lit[i in 1..N] if Bob[i].z = i; end Evaluation
InitStates Alice.x = low and forall(i in 1..N : Bob[i].x = low); end InitStates
Groups all = {Alice, Bob[i in 1..N]}; end Groups
Fairness high; end Fairness
Formulae
  safe : AG (high -> K(Alice, lit[1]));
  GK(all, high) or <all>F Alice.x = high;
  mu Z. high or EX{Alice.Action = go} Z;
end Formulae
";

/// Returns what the uses in a text refer to, by position: kind, name and position of the declaration.
fn meanings(index: &NameIndex) -> BTreeMap<u32, (NameKind, String, u32)> {
    let meaning =
        |declaration: &Declaration| (declaration.kind, declaration.name.clone(), declaration.span.start);
    index.uses.iter().map(|name| (name.span.start, meaning(index.declaration(*name)))).collect()
}

#[test]
fn names_belong_to_their_agents() {
    let (sources, index) = Files::one(BROKEN).names();
    assert_uses_have_their_names(&sources, &index);
    let line = |span: Span| sources.locate(span).0.line;
    let lines = |kind: NameKind, name: &str, declared: u32| -> Vec<u32> {
        let found = index
            .declarations
            .iter()
            .position(|one| one.kind == kind && one.name == name && line(one.span) == declared);
        let found = found.unwrap_or_else(|| panic!("{name} in line {declared}"));
        index.uses_of(found as u32).map(line).collect()
    };
    assert_eq!(lines(NameKind::Variable, "x", 4), [4, 6, 7, 10, 14]);
    assert_eq!(lines(NameKind::Variable, "x", 11), [11, 12, 14, 15, 23, 24, 29]);
    assert_eq!(lines(NameKind::Variable, "x", 18), [18, 21, 24]);
    assert_eq!(lines(NameKind::Value, "high", 11), [11, 12, 15, 23, 29]);
    assert_eq!(lines(NameKind::Value, "low", 18), [18, 21, 24]);
    assert_eq!(lines(NameKind::Proposition, "high", 23), [23, 26, 28, 29, 30]);
    assert_eq!(lines(NameKind::Action, "go", 13), [7, 13, 14, 15, 30]);
    assert_eq!(lines(NameKind::Action, "none", 5), [5, 6, 15]);
    assert_eq!(lines(NameKind::Variable, "coin", 4), [4, 10, 21]);
    assert_eq!(lines(NameKind::Index, "i", 17), [17, 18, 21]);
    assert_eq!(lines(NameKind::Group, "all", 25), [25, 29, 29]);
    assert_eq!(lines(NameKind::Fixpoint, "Z", 30), [30, 30]);
    assert_eq!(lines(NameKind::Property, "safe", 28), [28]);
    assert_eq!(lines(NameKind::Parameter, "N", 1), [1, 4, 17, 23, 24, 25]);
    let details = |name: &str, declared: u32| {
        let found = index.declarations.iter().find(|one| one.name == name && line(one.span) == declared);
        found.unwrap().details.join(" ")
    };
    assert_eq!(details("x", 4), "Domain: 0..3 (4 values). 2 bits. Seen by: Environment, Alice.");
    assert_eq!(
        details("coin", 4),
        "Domain: {head, tail} (2 values). 3 elements of 1 bit each. Seen by: Environment, Alice."
    );
    assert_eq!(details("y", 11), "Domain: boolean (2 values). 1 bit. Only `Alice` sees it.");
    assert_eq!(details("seen", 3), "Domain: boolean (2 values). 1 bit. Every agent sees it.");
    assert_eq!(details("Bob", 17), "A family of 3 agents. Variables: x, z. Actions: go.");
    assert_eq!(details("go", 13), "Action of agent `Alice`.");
}

#[test]
fn sections_belong_to_their_agents() {
    let (_, index) = Files::one(BROKEN).names();
    let at = BROKEN.find("z = 1 if").unwrap() as u32;
    let section = index.section_at(at).unwrap();
    assert_eq!(section.heading, "Evolution");
    assert_eq!(index.declarations[section.owner.unwrap() as usize].name, "Bob");
    assert_eq!(index.section_at(BROKEN.find("safe").unwrap() as u32).unwrap().heading, "Formulae");
    let headings: Vec<&str> = index.sections.iter().map(|section| section.heading).collect();
    assert_eq!(headings[..4], ["Agent", "Obsvars", "Vars", "Actions"]);
    assert_eq!(
        headings[headings.len() - 5..],
        ["Evaluation", "InitStates", "Groups", "Fairness", "Formulae"]
    );
}

/// The statements of a text: the ranges between `;`, headings and ends.
fn statement_around(text: &str, at: usize) -> std::ops::Range<usize> {
    let start = text[..at].rfind([';', '\n']).map_or(0, |before| before + 1);
    let end = text[at..].find([';', '\n']).map_or(text.len(), |after| at + after + 1);
    start..end
}

/// Deletes a range of a text and checks that all names that are declared outside the broken statement, in a
/// section other than the broken one, have the same uses there as before.
#[track_caller]
fn check_deletion(text: &str, deleted: std::ops::Range<usize>) {
    let (_, whole) = Files::one(text).names();
    let mut broken = text.to_string();
    broken.replace_range(deleted.clone(), "");
    let (sources, index) = Files::one(&broken).names();
    assert_uses_have_their_names(&sources, &index);
    let found = meanings(&index);
    let from = statement_around(text, deleted.start).start as u32;
    let to = statement_around(text, deleted.end).end as u32;
    let n_deleted = deleted.len() as u32;
    let moved = |position: u32| if position >= deleted.end as u32 { position - n_deleted } else { position };
    let is_hit = |position: u32| (from..to).contains(&position);
    for (position, (kind, name, declared)) in meanings(&whole) {
        if is_hit(position) || is_hit(declared) {
            continue;
        }
        let expected = (kind, name, moved(declared));
        let got = found.get(&moved(position));
        assert_eq!(got, Some(&expected), "after the deletion of `{}`:\n{broken}", &text[deleted.clone()]);
    }
}

#[test]
fn a_cut_statement_hides_no_other_names() {
    // A byte in the middle of each statement is deleted up to the end of the statement, without its `;`.
    let mut n_cuts = 0;
    for (at, _) in BROKEN.match_indices(';') {
        let statement = statement_around(BROKEN, at);
        for from in statement.clone().filter(|from| BROKEN[*from..].starts_with(' ')) {
            check_deletion(BROKEN, from..at);
            n_cuts += 1;
        }
    }
    assert!(n_cuts > 150, "{n_cuts}");
}

#[test]
fn random_deletions_do_not_panic() {
    let models = [random_model, random_old_model, random_parameterised_model, random_fixpoint_model];
    for seed in seeds("0..400") {
        let mut text = models[seed as usize % models.len()](seed);
        let mut rng = Rng::with_seed(seed);
        for _ in 0..rng.usize(1..6) {
            let from = rng.usize(..text.len());
            let to = (from + rng.usize(1..40)).min(text.len());
            let insert = ["", "", ";", "}", "Agent", " end Vars ", "é"][rng.usize(..7)];
            text.replace_range(text.floor_char_boundary(from)..text.ceil_char_boundary(to), insert);
        }
        let (sources, index) = Files::one(&text).names();
        assert_uses_have_their_names(&sources, &index);
    }
}

#[test]
fn names_are_found_after_more_errors_than_are_reported() {
    let many = "x = = 1 if true; ".repeat(50);
    let text = BROKEN.replace("x = high if Action", &format!("{many} x = high if Action"));
    let (_, index) = Files::one(&text).names();
    let at = text.rfind("Alice.x = high").unwrap() as u32;
    assert_eq!(index.declaration(index.at(at).unwrap()).kind, NameKind::Agent);
    assert_eq!(index.declaration(index.at(at + 6).unwrap()).kind, NameKind::Variable);
    // The broken lines have uses of `x`, too.
    let first = text.find("x = = 1").unwrap() as u32;
    assert_eq!(index.declaration(index.at(first).unwrap()).name, "x");
}
