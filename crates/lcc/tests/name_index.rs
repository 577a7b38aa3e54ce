//! The names that editors show and rename, on all shipped models: each use has the text of its declaration, a
//! rename changes no diagnostic and no verdict, and a broken statement leaves the names of the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use masque_lcc::{InstanceInput, OpenedInstance, check_all, explore, names, open_with, without_dots};
use masque_testkit::{OpenFiles, files_below};
use masque_text::{Library, NameIndex, NameKind, OptionOverride, Sources, Span};
use masque_verdict::{Budget, Show};

/// Maximum number of states of a model whose properties are checked again for each name.
const MAX_CHECKED_STATES: u64 = 150;

fn models(endings: &[&str]) -> Vec<PathBuf> {
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"), endings)
}

fn index(path: &Path, library: &OpenFiles) -> (Sources, NameIndex) {
    let mut sources = Sources::default();
    let file = sources.add(path.display().to_string(), library.read(path).unwrap()).unwrap();
    let index = names(&mut sources, file, library);
    (sources, index)
}

#[test]
fn each_use_has_the_text_of_its_declaration() {
    let (mut n_files, mut n_uses, mut kinds) = (0, 0, BTreeMap::new());
    for path in models(&["lcc", "pol", "mu"]) {
        let (sources, index) = index(&path, &OpenFiles::default());
        n_files += 1;
        let mut end = 0;
        for name in &index.uses {
            assert!(end <= name.span.start, "{}: overlapping names at {:?}", path.display(), name.span);
            end = name.span.end;
            assert_eq!(sources.slice(name.span), index.declaration(*name).name, "{}", path.display());
            n_uses += 1;
        }
        for (number, declaration) in index.declarations.iter().enumerate() {
            let Span { start, end } = declaration.span;
            assert!(declaration.whole.start <= start && end <= declaration.whole.end, "{declaration:?}");
            assert!(index.uses_of(number as u32).any(|span| span == declaration.span), "{declaration:?}");
            assert!(!declaration.text.contains('\n') && !declaration.text.is_empty(), "{declaration:?}");
            *kinds.entry(declaration.kind).or_insert(0) += 1;
        }
    }
    println!("{n_files} files, {n_uses} uses, {kinds:?}");
    assert!(n_files > 70 && n_uses > 5_000, "{n_files} files, {n_uses} uses");
    use NameKind::{Agent, Fixpoint, Index, Message, Predicate, Property, Role, Value};
    for kind in [Agent, Role, Message, Predicate, Value, Index, Fixpoint, Property] {
        assert!(kinds.contains_key(&kind), "{kind:?}");
    }
}

/// What must not change: the codes of the diagnostics and the verdicts, if the model is small.
fn result(path: &Path, library: &OpenFiles) -> (Vec<String>, Vec<String>) {
    let mut sources = Sources::default();
    let file = sources.add(path.display().to_string(), library.read(path).unwrap()).unwrap();
    let option = sources.add("option", format!("states={MAX_CHECKED_STATES}")).unwrap();
    let options = vec![OptionOverride {
        name: "states".to_string(),
        value: MAX_CHECKED_STATES.to_string(),
        span: sources.span(option),
    }];
    let input = InstanceInput { files: vec![file], options, ..InstanceInput::default() };
    let OpenedInstance { system, properties, diagnostics, .. } = open_with(&mut sources, &input, library);
    let mut codes: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()).collect();
    codes.sort();
    // The number of warnings about misspelt names depends on which other names are similar.
    if codes.iter().any(|code| code.starts_with("lcc/no-such-")) {
        codes.dedup();
    }
    let Some(mut system) = system else { return (codes, Vec::new()) };
    let counts = explore(&mut system, &Budget::unlimited()).unwrap();
    if counts.cut.is_some() {
        return (codes, Vec::new());
    }
    let checked = check_all(&mut system, &properties, Show::None, &Budget::unlimited(), &mut |_, _| {});
    let verdicts = checked.iter().map(|checked| format!("{:?}", checked.verdict));
    (codes, verdicts.chain([format!("{counts:?}")]).collect())
}

/// Renames a declaration in all files.
fn renamed(sources: &Sources, index: &NameIndex, declaration: u32, fresh: &str) -> OpenFiles {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for file in sources.files() {
        let (text, base) = (sources.text(file), sources.span(file).start);
        let mut changed = String::new();
        let mut position = 0;
        for span in index.uses_of(declaration).filter(|span| sources.file_of(*span) == file) {
            changed.push_str(&text[position..(span.start - base) as usize]);
            changed.push_str(fresh);
            position = (span.end - base) as usize;
        }
        changed.push_str(&text[position..]);
        texts.insert(without_dots(Path::new(sources.name(file))), changed);
    }
    OpenFiles(texts)
}

#[test]
fn a_rename_changes_no_diagnostic_and_no_verdict() {
    let (mut n_renames, mut n_checked) = (0, 0);
    for path in models(&["lcc"]) {
        let (sources, index) = index(&path, &OpenFiles::default());
        let before = result(&path, &OpenFiles::default());
        for (number, declaration) in index.declarations.iter().enumerate() {
            // A warning recognises these words of patterns in obligations, and obligations have names of their
            // own, which a property must not have.
            if ["in", "out", "obligation_1"].contains(&declaration.name.as_str()) {
                continue;
            }
            let fresh = match declaration.kind {
                NameKind::Index | NameKind::Fixpoint => "Qz9",
                _ => "qz9",
            };
            let library = renamed(&sources, &index, number as u32, fresh);
            let after = result(&path, &library);
            let what = format!("{}: {declaration:#?}", path.display());
            assert_eq!(after.0, before.0, "{what}");
            assert_eq!(after.1, before.1, "{what}");
            n_renames += 1;
            n_checked += usize::from(!before.1.is_empty());
        }
    }
    println!("{n_renames} renames, {n_checked} with verdicts");
    assert!(n_renames > 1_000 && n_checked > 500, "{n_renames} renames, {n_checked} with verdicts");
}

/// Cuts each statement in its middle: the names of the other statements are still found.
#[test]
fn a_broken_statement_leaves_the_names_of_the_others() {
    let (mut n_cuts, mut n_names) = (0, 0);
    for path in models(&["lcc", "pol"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let (sources, whole) = index(&path, &OpenFiles::default());
        let own = sources.span(sources.files().next().unwrap());
        let sections = whole.sections.iter().filter(|section| section.span.end <= own.end);
        for section in sections {
            let inside: Vec<Span> = whole
                .uses
                .iter()
                .map(|name| name.span)
                .filter(|span| section.span.start < span.start && span.end <= section.span.end)
                .collect();
            let Some(middle) = inside.get(inside.len() / 2) else { continue };
            let (cut, end) = (middle.start as usize, section.span.end as usize);
            let broken = format!("{}\n{}", &text[..cut], &text[end..]);
            let library = OpenFiles([(without_dots(&path), broken.clone())].into());
            let (_, found) = index(&path, &library);
            n_cuts += 1;
            let removed = (end - cut - 1) as u32;
            for name in whole.uses.iter().filter(|name| name.span.end <= own.end) {
                let span = match name.span {
                    span if span.end <= section.span.start => span,
                    span if span.start >= section.span.end => {
                        Span { start: span.start - removed, end: span.end - removed }
                    }
                    _ => continue,
                };
                let is_found = found.uses.iter().any(|other| other.span == span);
                let context = &broken[section.span.start as usize..(span.end as usize).max(cut)];
                assert!(is_found, "{}: {:?} is lost after the cut: {context}", path.display(), span);
                n_names += 1;
            }
        }
    }
    println!("{n_cuts} cuts, {n_names} names");
    assert!(n_cuts > 500 && n_names > 40_000, "{n_cuts} cuts, {n_names} names");
}

/// Buffers that are open in an editor are used in place of files, and imports that do not exist lose nothing else.
#[test]
fn imports_are_followed() {
    let library = OpenFiles(
        [
            ("main.lcc", "import \"rules.pol\". import \"gone.pol\". import \"claims.mu\". a(r, X) :: m => a(s, Y) <- act(X)."),
            ("rules.pol", "rule hd: (A, _, +act(A)) <- member(A). know hd: member(x). agent a(r, x)."),
            ("claims.mu", "sends : <out(m)@x>tt ;"),
        ]
        .map(|(name, text)| (PathBuf::from(name), text.to_string()))
        .into(),
    );
    let (sources, found) = index(Path::new("main.lcc"), &library);
    let uses = |name: &str, kind: NameKind| -> Vec<&str> {
        let number = found.declarations.iter().position(|one| one.name == name && one.kind == kind).unwrap();
        found.uses_of(number as u32).map(|span| sources.name(sources.file_of(span))).collect()
    };
    assert_eq!(uses("act", NameKind::Predicate), ["main.lcc", "rules.pol"]);
    assert_eq!(uses("m", NameKind::Message), ["main.lcc", "claims.mu"]);
    assert_eq!(uses("x", NameKind::Agent), ["rules.pol", "rules.pol", "claims.mu"]);
    assert_eq!(uses("r", NameKind::Role), ["main.lcc", "rules.pol"]);
    assert_eq!(uses("sends", NameKind::Property), ["claims.mu"]);
    // A file of properties alone has its own names.
    let (_, alone) = index(Path::new("claims.mu"), &library);
    assert_eq!(alone.declarations.len(), 3);
}
