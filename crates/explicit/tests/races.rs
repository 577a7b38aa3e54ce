//! Strategies on gallery models with larger parameters than the default.

use std::fs;

use masque_explicit::Explicit;
use masque_ispl::{Define, Options, check, parse};
use masque_model::System;
use masque_text::{Sources, Span};
use masque_verdict::{Budget, Engine, Show};

/// Loads a gallery model with this value of `N`.
fn load_with(name: &str, n: i64) -> System {
    let path = format!("{}/../../models/ispl/{name}.ispl", env!("CARGO_MANIFEST_DIR"));
    let mut sources = Sources::default();
    let file = sources.add(name, fs::read_to_string(path).unwrap()).unwrap();
    let (mut tree, _) = parse(&sources, file);
    let define = Define { name: "N".to_string(), value: n, span: Span::default() };
    let options = Options { defines: vec![define], ..Options::default() };
    check(&sources, &mut tree, &options).system.expect("a valid model")
}

/// Returns the verdicts of all properties, without evidence.
fn verdicts(system: &System) -> Vec<&'static str> {
    let budget = Budget::unlimited();
    let mut encoded = Explicit { evidence: Show::None, jobs: None }.encode(system, &budget).unwrap();
    let decide = |property| {
        let start = std::time::Instant::now();
        let verdict = encoded.decide(property, &budget).verdict.word();
        println!("{:>8.3?}  {verdict}  {}", start.elapsed(), system.formula_text(property.formula));
        verdict
    };
    system.properties.iter().map(decide).collect()
}

/// Each side sees its own horses and the score. The hard part is to refute all strategies of Tian Ji: there
/// are about 10^33 with five horses.
#[test]
fn horse_races() {
    for n in 3..=5 {
        let expected = ["holds", "holds", "fails", "fails", "holds", "holds"];
        assert_eq!(verdicts(&load_with("horse_race", n)), expected, "{n} horses");
    }
}

/// With perfect information the player wins; with a uniform strategy it does not.
#[test]
fn card_games() {
    for n in [3, 4, 8, 12] {
        let expected = ["fails", "holds", "holds", "holds", "fails", "fails"];
        assert_eq!(verdicts(&load_with("card_game", n)), expected, "{n} cards");
    }
}
