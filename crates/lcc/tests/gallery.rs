//! The verdicts of all models with properties do not depend on the reductions. `masque test models` compares them
//! with the expected ones.

use crate::support::{instances, models};
use masque_lcc::{InstanceInput, OpenedInstance, check_all, open};
use masque_mu::Space;
use masque_text::Sources;
use masque_verdict::{Budget, Show};

/// Checks an instance with and without reductions. Returns the number of properties.
#[track_caller]
fn check(name: &str, opened: OpenedInstance) -> usize {
    let mut system = opened.system.unwrap();
    let checked = check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
    for (property, checked) in opened.properties.iter().zip(&checked) {
        let whole = masque_mu::check(&mut Space::new(&mut system), &property.formula, &Budget::unlimited());
        assert_eq!(checked.verdict, whole.verdict, "{name}: {}", property.source.name.text);
    }
    opened.properties.len()
}

#[test]
fn reductions_change_no_verdict() {
    let mut n_properties = 0;
    let entries = std::fs::read_dir(models()).unwrap().map(|entry| entry.unwrap().path());
    for path in entries.filter(|path| path.extension().is_some_and(|ending| ending == "lcc")) {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("\nproperty ") {
            continue;
        }
        let mut sources = Sources::default();
        let files = vec![sources.add(path.display().to_string(), text).unwrap()];
        let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
        n_properties += check(&path.display().to_string(), opened);
    }
    assert!(n_properties >= 20, "{n_properties}");
    for instance in instances() {
        n_properties += check(&instance.name, instance.opened);
    }
    assert!(n_properties >= 160, "{n_properties}");
}
