//! Which engine decides what if none is named.

use masque_driver::{
    EngineChoice, Formula, Limits, Property, Request, Strategies, System, Verdict, check_system, load_text,
};

const RACE: &str = include_str!("../../../models/ispl/horse_race.ispl");

fn is_uniform(system: &System, property: &Property) -> bool {
    matches!(system.formulas.get(property.formula),
        Formula::Enforces(_, strategies, _) if strategies != Strategies::Perfect)
}

#[test]
fn uniform_strategies_are_searched_for_among_stored_states() {
    let text = RACE.replace("param N = 3", "param N = 5");
    let loaded = load_text("race.ispl", &text, &Request::default());
    let system = loaded.system().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let run = check_system(system, &EngineChoice::Auto.into(), &Limits::default(), &mut |_| {});
    let mut n_uniform = 0;
    for (property, decided) in system.properties.iter().zip(&run.decisions) {
        let is_uniform = is_uniform(system, property);
        n_uniform += usize::from(is_uniform);
        assert!(!is_uniform || decided.engine.as_deref() == Some("explicit"), "property {}", property.name);
        assert!(!matches!(decided.verdict, Verdict::Unknown(_)), "{}", property.name);
    }
    assert!(n_uniform > 0 && n_uniform < system.properties.len(), "{n_uniform}");
}
