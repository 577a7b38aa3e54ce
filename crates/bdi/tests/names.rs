//! The index of names: complete enough to rename every name of every shipped model, and robust in broken files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::{Results, by_engine};
use masque_bdi::{check, names, parse_system};
use masque_testkit::{OpenFiles, files_below};
use masque_text::{Diagnostic, FileId, Library, NameIndex, NameKind, NoFiles, Sources, Span, without_dots};

/// A name that no model has.
const FRESH: &str = "fresh_name_1";

/// The models of the gallery, of the papers and of the regression tests.
fn models() -> Vec<PathBuf> {
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"), &["bdi"])
}

/// A model whose files are in memory.
struct Read {
    sources: Sources,
    index: NameIndex,
    /// Codes of the diagnostics.
    codes: Vec<&'static str>,
    /// Worlds and verdicts, if there are no errors.
    results: Option<Results>,
}

fn read(path: &Path, buffers: &OpenFiles) -> Read {
    let mut sources = Sources::default();
    let file = sources.add(path.to_str().unwrap(), buffers.read(path).unwrap()).unwrap();
    let index = names(&mut sources, file, buffers);
    let mut again = Sources::default();
    let file = again.add(path.to_str().unwrap(), buffers.read(path).unwrap()).unwrap();
    let system = parse_system(&mut again, file, buffers);
    let mut codes: Vec<&str> = system.diagnostics.iter().map(|d| d.code).collect();
    let mut results = None;
    if !system.diagnostics.iter().any(Diagnostic::is_error) {
        let checked = check(&system.tree, &[]);
        codes.extend(checked.diagnostics.iter().map(|d| d.code));
        results = checked.model.map(|(model, plan)| by_engine(&model, &plan).unwrap());
    }
    Read { sources, index, codes, results }
}

/// The texts of all files after a name is replaced.
fn renamed(read: &Read, declaration: u32) -> OpenFiles {
    let mut buffers = OpenFiles::default();
    for file in read.sources.files() {
        let (base, mut text) = (read.sources.span(file).start, read.sources.text(file).to_string());
        let spans: Vec<Span> = read.index.uses_of(declaration).collect();
        for span in spans.iter().rev().filter(|span| read.sources.file_of(**span) == file) {
            text.replace_range((span.start - base) as usize..(span.end - base) as usize, FRESH);
        }
        buffers.0.insert(without_dots(Path::new(read.sources.name(file))), text);
    }
    buffers
}

#[test]
fn every_name_of_every_model_can_be_renamed() {
    let (mut n_names, mut wrong) = (BTreeMap::<NameKind, usize>::new(), String::new());
    for path in models() {
        let before = read(&path, &OpenFiles::default());
        for name in &before.index.uses {
            assert_eq!(before.sources.slice(name.span), before.index.declaration(*name).name, "{path:?}");
        }
        for (declaration, declared) in (0..).zip(&before.index.declarations) {
            let n_uses = before.index.uses_of(declaration).count();
            let has_same_name = |other: &&masque_text::Declaration| {
                (other.kind, &other.name) == (NameKind::Property, &declared.name)
            };
            let is_duplicate = before.index.declarations.iter().filter(has_same_name).count() > 1;
            // To rename one of two properties with the same name removes an error.
            if n_uses == 0 || is_duplicate {
                continue;
            }
            let after = read(&path, &renamed(&before, declaration));
            let is_same = after.codes == before.codes && after.results == before.results;
            // The renamed file has the same names.
            let texts = |read: &Read| read.index.uses.len();
            if !is_same || texts(&before) != texts(&after) {
                wrong += &format!("{path:?}: {:?} {}: {:?}\n", declared.kind, declared.name, after.codes);
            }
            *n_names.entry(declared.kind).or_default() += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    println!("{n_names:?}");
    let n_of = |kind| n_names.get(&kind).copied().unwrap_or_default();
    assert!(n_of(NameKind::Agent) >= 30 && n_of(NameKind::Variable) >= 60, "{n_names:?}");
    assert!(n_of(NameKind::Action) >= 20 && n_of(NameKind::Property) >= 40, "{n_names:?}");
    assert!(n_of(NameKind::Index) >= 3 && n_of(NameKind::Value) >= 2, "{n_names:?}");
}

/// The index of one text.
fn index_of(text: &str) -> (Sources, NameIndex) {
    let mut sources = Sources::default();
    let file: FileId = sources.add("test.bdi", text).unwrap();
    let index = names(&mut sources, file, &NoFiles);
    (sources, index)
}

/// Cuts each line of each model in the middle: names on other lines are found as before.
#[test]
fn a_broken_line_leaves_the_other_names() {
    let (mut n_cuts, mut n_names, mut missing) = (0, 0, Vec::new());
    for path in models() {
        let text = std::fs::read_to_string(&path).unwrap();
        let (_, whole) = index_of(&text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let (first, end) = (start, start + line.len());
            start = end;
            let code = line.split("//").next().unwrap().trim_end();
            if code.trim().is_empty() {
                continue;
            }
            let middle = (0..=code.len() / 2).rev().find(|at| code.is_char_boundary(*at)).unwrap();
            let cut = first + middle..first + code.len();
            let broken = format!("{}{}", &text[..cut.start], &text[cut.end..]);
            let (_, found) = index_of(&broken);
            n_cuts += 1;
            for name in &whole.uses {
                let declared = whole.declaration(*name);
                let is_outside = |span: Span| (span.end as usize) < first || (span.start as usize) >= end;
                let line_declares = whole
                    .declarations
                    .iter()
                    .any(|other| other.name == declared.name && !is_outside(other.span));
                // Names that the broken line declares, or that belong to a world it names, may be lost.
                if !is_outside(name.span) || !is_outside(declared.span) || line_declares {
                    continue;
                }
                let moved = |at: u32| if at as usize >= end { at - (cut.len() as u32) } else { at };
                let use_found = found.at(moved(name.span.start) + 1).or(found.at(moved(name.span.start)));
                let is_same = use_found.is_some_and(|other| {
                    let other = found.declaration(other);
                    other.name == declared.name && other.kind == declared.kind
                });
                n_names += 1;
                if !is_same {
                    let shown = &text[name.span.start as usize..name.span.end as usize];
                    missing.push(format!("{path:?} cut `{code}`: {shown} at {}", name.span.start));
                }
            }
        }
    }
    println!("{n_cuts} cuts, {n_names} names, {} missing\n{}", missing.len(), missing.join("\n"));
    // A line that names a world decides what the names of that world are.
    assert!(missing.len() * 100 <= n_names, "{} of {n_names} are missing", missing.len());
    assert!(n_cuts >= 400 && n_names >= 20_000, "{n_cuts} {n_names}");
}
