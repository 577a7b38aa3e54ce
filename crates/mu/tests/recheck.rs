//! Compares games that are continued after a change with checks from scratch.

use masque_mu::{
    AtomId, Completeness, Graph, LabelId, Lts, PatternId, PausedGame, Space, StateId, check, read_formula,
    recheck,
};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict};

const LABELS: [&str; 3] = ["a", "b", "c"];

/// A system in which the transitions of states can be changed, or cut off by a bound. Labels and patterns
/// are those of a graph.
struct Changing {
    words: Graph,
    labels: Vec<LabelId>,
    steps: Vec<Vec<(LabelId, StateId)>>,
    is_cut: Vec<bool>,
    first: StateId,
}

impl Lts for Changing {
    fn initial(&mut self) -> StateId {
        self.first
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        self.steps[state.index()].iter().for_each(|&(label, to)| step(label, to));
        if self.is_cut[state.index()] { Completeness::Cut("cap") } else { Completeness::Complete }
    }

    fn holds(&mut self, state: StateId, _: AtomId) -> bool {
        state.0.is_multiple_of(3)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.words.matches(label, pattern)
    }
}

impl Changing {
    fn new(random: &mut fastrand::Rng) -> Changing {
        let mut words = Graph::new();
        let (from, to) = (words.state(), words.state());
        LABELS.iter().for_each(|label| words.transition(from, label, to));
        let mut labels = Vec::new();
        words.successors(from, &mut |label, _| labels.push(label));
        let n = random.usize(1..14);
        let (steps, is_cut) = (vec![Vec::new(); n], vec![false; n]);
        let mut system = Changing { words, labels, steps, is_cut, first: StateId(0) };
        (0..n).for_each(|state| system.change(state, random));
        system
    }

    fn change(&mut self, state: usize, random: &mut fastrand::Rng) {
        let n = self.steps.len() as u32;
        let n_steps = [0, 1, 1, 2, 2, 3][random.usize(0..6)];
        let step = |_| (self.labels[random.usize(0..LABELS.len())], StateId(random.u32(0..n)));
        self.steps[state] = (0..n_steps).map(step).collect();
        self.is_cut[state] = random.u32(0..12) == 0;
    }
}

fn formula(random: &mut fastrand::Rng, depth: u32, vars: &mut Vec<String>) -> String {
    let label = ["a", "b", "c", "-", "-a", "{a, b}"][random.usize(0..6)];
    match random.u32(0..if depth == 0 { 3 } else { 9 }) {
        0 => "final".to_string(),
        1 => format!("<{label}>tt"),
        2 => vars.get(random.usize(0..vars.len() + 1)).cloned().unwrap_or("tt".to_string()),
        3 => format!("({} && {})", formula(random, depth - 1, vars), formula(random, depth - 1, vars)),
        4 => format!("({} || {})", formula(random, depth - 1, vars), formula(random, depth - 1, vars)),
        5 => format!("<{label}>{}", formula(random, depth - 1, vars)),
        6 => format!("[{label}]{}", formula(random, depth - 1, vars)),
        _ => {
            let name = format!("V{}", vars.len());
            vars.push(name.clone());
            let body = formula(random, depth - 1, vars);
            vars.pop();
            let sign = ["mu", "nu"][random.usize(0..2)];
            let step = ["<", "["][random.usize(0..2)];
            let close = if step == "<" { ">" } else { "]" };
            let join = ["&&", "||"][random.usize(0..2)];
            format!("({sign} {name}. {body} {join} {step}{label}{close}{name})")
        }
    }
}

#[test]
fn a_continued_game_decides_the_same_as_a_new_one() {
    let (mut n_verdicts, mut n_changed, mut n_unknown, mut n_values) = (0, 0, 0, 0);
    let budget = Budget::unlimited();
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut system = Changing::new(&mut random);
        let text = formula(&mut random, 4, &mut Vec::new());
        let mut sources = Sources::default();
        let file = sources.add("formula", text.clone()).unwrap();
        let Some(formula) = read_formula(&sources, sources.span(file), &mut system.words).0 else { continue };
        let (mut space, mut standing) = (Space::new(system), PausedGame::default());
        let mut before = None;
        for round in 0..8 {
            let wants_evidence = random.bool();
            let found = recheck(&mut space, &formula, &mut standing, wants_evidence, &budget);
            let wanted = check(&mut Space::new(space.lts()), &formula, &budget);
            assert_eq!(found.verdict, wanted.verdict, "seed {seed}, round {round}: {text}");
            // Evidence was replayed on the system when it was made.
            let is_decided = !matches!(found.verdict, Verdict::Unknown(_));
            assert_eq!(found.evidence.is_some(), wants_evidence && is_decided, "seed {seed}: {text}");
            n_verdicts += 1;
            // The game also knows the truth in some other states.
            let other = StateId(random.u32(0..space.lts().steps.len() as u32));
            if let Some(value) = standing.value(&formula, other) {
                let first = std::mem::replace(&mut space.lts().first, other);
                let wanted = check(&mut Space::new(space.lts()), &formula, &budget);
                assert_eq!(Verdict::from(value), wanted.verdict, "seed {seed}, {other:?}: {text}");
                space.lts().first = first;
                n_values += 1;
            }
            n_unknown += usize::from(!is_decided);
            n_changed += usize::from(before.is_some_and(|before| before != found.verdict));
            before = Some(found.verdict);
            let n = space.lts().steps.len();
            if random.bool() {
                space.lts().first = StateId(random.u32(0..n as u32));
                continue;
            }
            let changed: Vec<StateId> =
                (0..random.u32(1..3)).map(|_| StateId(random.u32(0..n as u32))).collect();
            let known: Vec<StateId> =
                changed.iter().copied().filter(|state| space.is_expanded(*state)).collect();
            standing.revise(&known, &space.leading_to(&known));
            for state in changed {
                space.forget(state);
                space.lts().change(state.index(), &mut random);
            }
        }
    }
    assert!(
        n_verdicts > 15_000 && n_changed > 2_000 && n_unknown > 300 && n_values > 5_000,
        "{n_verdicts} {n_changed} {n_unknown} {n_values}"
    );
}
