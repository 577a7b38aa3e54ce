//! `docs/papers.md` lists every result of `models/papers`, as the program finds it.
//!
//! A row of the page that ends in a verdict is `| place | claim | model | result | paper | Masque |`. The test runs
//! `masque test models/papers` and compares both ways: each row with what was found, and each result with the page.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::{fs, io};

use masque_driver::{Limits, Request, TestPool, TestRequest, TestSubject, Tested, test_files};

/// A result of a model: the file below `models/papers`, and the name of the property, a quantity such as
/// `states`, or the code of a diagnostic.
type Place = (String, String);

#[test]
fn the_page_lists_what_is_found() {
    let (page, found) = (page(), found());
    let mut wrong = String::new();
    for (place, (_, verdict)) in &page {
        match found.get(place) {
            None => wrong += &format!("on the page, but not in the models: {place:?}\n"),
            Some(result) if result != verdict => {
                wrong += &format!("{place:?}: the page says {verdict}, found {result}\n");
            }
            Some(_) => {}
        }
    }
    for ((file, name), result) in &found {
        if !page.contains_key(&(file.clone(), name.clone())) {
            wrong += &format!(
                "not on the page: |  |  | [{file}](../models/papers/{file}) | `{name}` |  | {result} |\n"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(found.len() >= 37, "{}", found.len());
}

/// Where the paper says something else than the program finds, the model or the page gives the reason: the claim of
/// such a row is more than the formula.
#[test]
fn differences_from_the_papers_are_explained() {
    for ((file, name), (claim, verdict)) in page() {
        let says = claim.paper.as_str();
        let differs = matches!(says, "holds" | "fails") && says != verdict;
        assert!(!differs || claim.text.contains("misprint"), "{file} {name}: the paper says {says}, why?");
    }
}

/// A claim of a paper, as the page has it.
struct Claim {
    /// What the paper claims, in words.
    text: String,
    /// The verdict of the paper, or `-` if it has none.
    paper: String,
}

/// Reads the rows of the page, with the verdict of Masque.
fn page() -> BTreeMap<Place, (Claim, String)> {
    let text = fs::read_to_string("../../docs/papers.md").unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("](../models/papers/")) {
        // A `|` in a cell is written `\|`.
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let [_, claim, model, result, paper, verdict] = &cells[..] else { continue };
        let file = model.split(']').next().unwrap().trim_start_matches('[').to_string();
        assert!(model.ends_with(&format!("](../models/papers/{file})")), "{line}");
        let place = (file, result.trim_matches('`').to_string());
        let claim = Claim { text: claim.clone(), paper: paper.clone() };
        assert!(rows.insert(place.clone(), (claim, verdict.clone())).is_none(), "twice: {place:?}");
    }
    rows
}

/// Returns the results of all models of the papers.
fn found() -> BTreeMap<Place, String> {
    let root = Path::new("../../models/papers");
    let files = test_files(&[root.into()], &Request::default(), &Limits::default()).unwrap();
    assert!(files.errors.is_empty(), "{:?}", files.errors);
    let pool = TestPool {
        test: TestRequest { is_strict: true, ..TestRequest::default() },
        jobs: NonZeroUsize::new(2).unwrap(),
        ..TestPool::default()
    };
    let mut found = BTreeMap::new();
    let mut done = |_, tested: Option<Tested>| -> io::Result<()> {
        let tested = tested.unwrap();
        let file = tested.loaded.name().split(" and ").next().unwrap().to_string();
        let file = file.split("models/papers/").last().unwrap().to_string();
        for comparison in &tested.comparisons {
            let (name, result) = match &comparison.subject {
                TestSubject::Property(property) => (property.title.clone(), comparison.found.clone()),
                TestSubject::Count(quantity) => (quantity.to_string(), comparison.found.clone()),
                TestSubject::Diagnostic(expected) => {
                    (comparison.found.clone(), expected.severity.name().into())
                }
            };
            found.insert((file.clone(), name), result);
        }
        Ok(())
    };
    pool.run(&files.models, &mut done, &mut |_| {}).unwrap();
    found
}
