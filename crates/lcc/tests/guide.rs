//! The examples of `docs/lcc.md` have no diagnostics, and their properties have the verdicts that it
//! states.

use masque_lcc::{InstanceInput, check_all, open};
use masque_testkit::code_blocks;
use masque_text::{Sources, render};
use masque_verdict::{Budget, Show};

const GUIDE: &str = include_str!("../../../docs/lcc.md");

#[test]
fn examples_are_true() {
    let blocks = code_blocks(GUIDE, "lcc");
    assert!(blocks.len() >= 7);
    for block in blocks {
        let mut sources = Sources::default();
        let files = vec![sources.add("guide.lcc", block).unwrap()];
        let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
        let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
        assert!(opened.diagnostics.is_empty(), "{drawn}");
        let mut system = opened.system.unwrap();
        let checked =
            check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
        let expected: Vec<&str> =
            block.lines().filter_map(|line| line.strip_prefix("// expect: ")).map(str::trim).collect();
        let written = opened.properties.iter().zip(&checked);
        let verdicts: Vec<&str> = written
            .filter(|(property, _)| !property.source.name.text.starts_with("obligation"))
            .map(|(_, checked)| checked.verdict.word())
            .collect();
        assert_eq!(verdicts, expected, "{block}");
    }
}

#[test]
fn bounds_are_named() {
    let blocks = code_blocks(GUIDE, "lcc");
    let endless = *blocks.iter().find(|block| block.contains("never_negative")).unwrap();
    let mut sources = Sources::default();
    let files = vec![sources.add("guide.lcc", endless).unwrap()];
    let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
    let checked = check_all(
        &mut opened.system.unwrap(),
        &opened.properties,
        Show::None,
        &Budget::unlimited(),
        &mut |_, _| {},
    );
    assert_eq!(checked[2].verdict.reason(), Some("bound:cap"));
}
