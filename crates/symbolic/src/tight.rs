//! Tests under tight limits: what is done where an arena or a turn would be too large.

use masque_explicit::Explicit;
use masque_model::Deadlock;
use masque_testkit::{load, random_fixpoint_model, random_game_model};
use masque_verdict::{Budget, Engine, Show, Verdict};

use crate::engine::Symbolic;

#[test]
fn larger_games_end_as_smaller_ones() {
    let budget = Budget::unlimited();
    let (mut n_holds, mut n_fails) = (0, 0);
    for seed in 0..800 {
        let text = if seed % 4 == 3 { random_fixpoint_model(seed) } else { random_game_model(seed) };
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system = load(&text, deadlock).unwrap();
        let symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
        let explicit = Explicit { evidence: Show::None, ..Explicit::default() };
        let mut symbolic = symbolic.encode(&system, &budget).unwrap();
        let mut explicit = explicit.encode(&system, &budget).unwrap();
        for property in &system.properties {
            let (found, expected) = (symbolic.decide(property, &budget), explicit.decide(property, &budget));
            assert_eq!(found.verdict, expected.verdict, "seed {seed}, {}:\n{text}", property.name);
            n_holds += usize::from(found.verdict == Verdict::Holds);
            n_fails += usize::from(found.verdict == Verdict::Fails);
        }
    }
    assert!(n_holds >= 600 && n_fails >= 600, "{n_holds} hold, {n_fails} fail");
}
