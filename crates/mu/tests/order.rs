//! Formulas checked one after the other in one space, with a bound on the number of states that each check
//! expands: every formula has the same verdict as in a space of its own.

use crate::support::{alternating, formula, graph, read};
use fastrand::Rng;
use masque_mu::{
    AtomId, Completeness, Formula, Graph, LabelId, Lts, PatternId, PausedGame, Space, StateId, check, recheck,
};
use masque_verdict::{Budget, Verdict, Why};

/// A system of which each check may expand a limited number of states.
struct Bounded<'g> {
    graph: &'g mut Graph,
    max_states: u64,
}

impl Lts for Bounded<'_> {
    fn initial(&mut self) -> StateId {
        self.graph.initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        self.graph.successors(state, step)
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.graph.holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.graph.matches(label, pattern)
    }

    fn max_states(&self) -> u64 {
        self.max_states
    }
}

fn alone(graph: &mut Graph, max_states: u64, formula: &Formula) -> Verdict {
    check(&mut Space::new(Bounded { graph, max_states }), formula, &Budget::unlimited()).verdict
}

/// The order of formulas does not change a verdict, and a verdict under a bound is that of the whole system.
#[test]
fn every_formula_has_the_verdict_that_it_has_alone() {
    let budget = Budget::unlimited();
    let (mut n_decided, mut n_stopped) = (0, 0);
    for seed in 0..400 {
        let mut random = Rng::with_seed(seed);
        let mut graph = graph(&mut random, 24, false);
        let texts: Vec<String> = (0..4)
            .map(|_| if random.bool() { formula(&mut random) } else { alternating(&mut random) })
            .collect();
        let formulas: Vec<Formula> = texts.iter().map(|text| read(text, &mut graph).1).collect();
        let max_states = random.u64(1..4);
        let expected: Vec<Verdict> =
            formulas.iter().map(|formula| alone(&mut graph, max_states, formula)).collect();
        for (verdict, formula) in expected.iter().zip(&formulas) {
            let whole = alone(&mut graph, u64::MAX, formula);
            match *verdict {
                Verdict::Unknown(why) => assert_eq!(why, Why::Bound("states"), "seed {seed}"),
                decided => assert_eq!(decided, whole, "seed {seed}"),
            }
        }
        let is_stopped = |verdict: &&Verdict| matches!(verdict, Verdict::Unknown(_));
        n_stopped += expected.iter().filter(is_stopped).count();
        n_decided += expected.len() - expected.iter().filter(is_stopped).count();
        let mut order: Vec<usize> = (0..formulas.len()).collect();
        random.shuffle(&mut order);
        let mut space = Space::new(Bounded { graph: &mut graph, max_states });
        let mut standing: Vec<PausedGame> = formulas.iter().map(|_| PausedGame::default()).collect();
        // Twice: states that earlier checks of the same formula expanded do not count, either.
        for &index in order.iter().chain(&order) {
            let verdict = check(&mut space, &formulas[index], &budget).verdict;
            assert_eq!(verdict, expected[index], "seed {seed}: {}", texts[index]);
            let again = recheck(&mut space, &formulas[index], &mut standing[index], true, &budget);
            assert_eq!(again.verdict, expected[index], "seed {seed}: {}", texts[index]);
        }
    }
    assert!(n_stopped > 150 && n_decided > 150, "{n_stopped} stopped, {n_decided} decided");
}

/// The first check of a long chain uses up all memory.
#[test]
fn memory_is_free_again_for_the_next_formula() {
    let mut graph = Graph::new();
    let states: Vec<StateId> = (0..20_000).map(|_| graph.state()).collect();
    states.windows(2).for_each(|pair| graph.transition(pair[0], "a", pair[1]));
    let [endless, short] = ["AG <a>tt", "EF [-]ff || <a.a.a>tt"].map(|text| read(text, &mut graph).1);
    let budget = Budget::unlimited().with_memory(200_000);
    let mut space = Space::new(&mut graph);
    assert_eq!(check(&mut space, &endless, &budget).verdict, Verdict::Unknown(Why::Memory));
    // The explored states would leave too little memory for the next formula.
    assert!(space.bytes() > 10_000 && space.n_expanded() > 500);
    assert_eq!(check(&mut space, &short, &budget).verdict, Verdict::Holds);
}
