//! Large ranges: variables that are only assigned and compared cost what their comparisons cost, and nothing else
//! changes: numbers of states, verdicts and explanations.

use fastrand::Rng;
use masque_bdi::plan::WorldId;
use masque_bdi::replay::replay;
use masque_bdi::symbolic::Engine;
use masque_testkit::seeds;
use masque_verdict::Budget;

/// Returns a random system of two agents with ranges that are assigned constants, copies and `any`, and compared.
fn system(seed: u64) -> (String, Vec<(String, String)>) {
    let mut dice = Dice { random: Rng::with_seed(seed), high: 0 };
    dice.high = dice.random.i64(5..9);
    let (high, other) = (dice.high, dice.random.i64(4..=dice.high));
    let vars = format!("x : 0..{high}, y : 0..{high}, z : -1..{other}, on");
    let mut text = String::new();
    for agent in ["a", "b"] {
        let beliefs: Vec<String> = if agent == "a" {
            (0..2).map(|_| format!("B(b, {})", dice.formula(1))).collect()
        } else {
            vec![]
        };
        text += &format!("agent {agent} is\n  var {vars};\n");
        for belief in &beliefs {
            text += &format!("  bdi {belief};\n");
        }
        if dice.random.bool() {
            text += &format!("  init {};\n", dice.assigns(&beliefs));
        }
        let steps: Vec<String> = (0..dice.random.usize(1..4)).map(|_| dice.unit(&beliefs)).collect();
        text += &format!("  loop {} endloop\n", steps.join("; "));
    }
    if dice.random.bool() {
        let steps = dice.unit(&[]);
        text += &format!("view b in a is\n  var {vars};\n  loop {steps} endloop\n");
        text += "property less: subworld(a.B(b), b);\nproperty more: subworld(b, a.B(b));\n";
    }
    for (index, world) in ["a", "b", "a.B(b)", "a"].into_iter().enumerate() {
        let initially = if dice.random.bool() { " initially" } else { "" };
        let formula = dice.formula(2);
        text += &format!("property f{index}{initially} in {world}: {formula};\n");
    }
    text += &format!("property believed in a: B(b, {}) -> x = z;\n", dice.formula(1));
    let mut options = Vec::new();
    if dice.random.u32(..3) == 0 {
        options.push(("condition2".to_string(), "infer".to_string()));
    }
    (text, options)
}

struct Dice {
    random: Rng,
    high: i64,
}

impl Dice {
    fn pick(&mut self, items: &[&'static str]) -> &'static str {
        items[self.random.usize(..items.len())]
    }

    fn constant(&mut self) -> i64 {
        [0, 2, 3, self.high - 1][self.random.usize(..4)]
    }

    fn assigns(&mut self, beliefs: &[String]) -> String {
        let mut one = || match self.random.u32(..12) {
            0..=2 => format!("{} := any", self.pick(&["x", "y", "z"])),
            3 | 4 => format!("{} := {}", self.pick(&["x", "y", "z"]), self.constant().min(3)),
            5 => "x := y".to_string(),
            6 => "y := x, x := y".to_string(),
            7 => "x := x".to_string(),
            // Rarely: may leave the range, or not simple.
            8 if self.random.u32(..6) == 0 => self.pick(&["z := x", "x := z", "x := 4 - z"]).to_string(),
            9 | 10 if !beliefs.is_empty() => {
                format!("{} := any", beliefs[self.random.usize(..beliefs.len())])
            }
            _ => format!("on := {}", self.pick(&["any", "true", "(x = 2)", "!on"])),
        };
        (0..2).map(|_| one()).collect::<Vec<_>>().join(", ")
    }

    fn unit(&mut self, beliefs: &[String]) -> String {
        match self.random.u32(..5) {
            0 => format!("if {} then {{ {} }}", self.compare(), self.assigns(beliefs)),
            1 => format!("{{ {} }} | {{ {} }}", self.assigns(beliefs), self.assigns(beliefs)),
            2 => "do read(x)".to_string(),
            _ => self.assigns(beliefs),
        }
    }

    fn compare(&mut self) -> String {
        match self.random.u32(..10) {
            0 | 1 => self.pick(&["x = y", "x != y", "y = x"]).to_string(),
            2 => self.pick(&["x = z", "z != y"]).to_string(),
            // Rarely by order: then the class keeps all values, or has only constants.
            3 if self.random.u32(..4) == 0 => "x < y".to_string(),
            4 if self.random.u32(..8) == 0 => "x + 1 = y".to_string(),
            5 => "on".to_string(),
            _ => {
                let sign = self.pick(&["=", "!=", "<", "<=", ">", ">="]);
                format!("{} {sign} {}", self.pick(&["x", "y", "z"]), self.constant())
            }
        }
    }

    fn formula(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.compare();
        }
        let part = self.formula(depth - 1);
        match self.random.u32(..5) {
            0 => format!("!({part})"),
            1 => format!("({part}) & ({})", self.compare()),
            2 => format!("({part}) | ({})", self.compare()),
            _ => format!("{} ({part})", self.pick(&["EX", "EF", "EG", "AX", "AF", "AG"])),
        }
    }
}

/// Returns a random system of an agent whose ranges are parts of its own state, which it has attitudes about.
fn self_system(seed: u64) -> RandomSystem {
    let mut dice = Dice { random: Rng::with_seed(seed), high: 8 };
    let own: Vec<String> = ["B", "I"].iter().map(|op| format!("{op}(a, {})", dice.compare())).collect();
    let mut text = "agent a is\n  var x : 0..8, y : 0..8, z : -1..3, on;\n".to_string();
    text += &format!("  bdi {};\n", own.join(", "));
    let steps: Vec<String> = (0..dice.random.usize(1..3)).map(|_| dice.unit(&own)).collect();
    text += &format!("  loop {} endloop\n", steps.join("; "));
    for index in 0..4 {
        let (op, formula) = (dice.pick(&["B", "B", "D", "I"]), dice.formula(1));
        text += &format!("property f{index}: {op}(a, {formula}) -> {};\n", dice.compare());
        text += &format!("property g{index}: {} -> {op}(a, {formula});\n", dice.compare());
    }
    (text, vec![("self".to_string(), "paper".to_string())])
}

/// `SEEDS=0..10000 cargo test --release -p masque-bdi --test all values`.
#[test]
fn the_engine_agrees_with_the_reference() {
    let n = compare("0..200", system);
    assert!(n.merged * 2 > n.systems && n.overflows > 0 && n.explained > n.systems / 2, "{n:?}");
}

/// Values that behave alike stay exact if accessible states have the same values.
#[test]
fn the_engine_agrees_with_the_reference_on_own_states() {
    let n = compare("0..150", self_system);
    assert!(n.merged * 5 > n.systems && n.explained > n.systems / 2, "{n:?}");
}

/// Text of a system, and options from outside.
type RandomSystem = (String, Vec<(String, String)>);

/// Numbers of cases, so that the tests fail if they no longer cover them.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    merged: usize,
    overflows: usize,
    explained: usize,
}

fn compare(default: &str, system: fn(u64) -> RandomSystem) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds(default) {
        let (text, options) = system(seed);
        let (model, plan) = crate::support::model(&text, &options);
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let found = crate::support::by_engine(&model, &plan);
        assert_eq!(found, crate::support::by_reference(&model, &plan), "{what}");
        tally.systems += 1;
        if found.is_err() {
            tally.overflows += 1;
            continue;
        }
        let mut merged = Engine::new(&model, &plan, &Budget::default()).unwrap();
        let mut whole = Engine::with_all_values(&model, &plan, &Budget::default()).unwrap();
        let explained = crate::support::explanations(&mut merged, &model);
        assert_eq!(explained, crate::support::explanations(&mut whole, &model), "{what}");
        for (index, explanation) in &explained {
            assert_eq!(replay(&model, &plan, *index, explanation), Ok(()), "{what}");
        }
        for world in (0..plan.worlds.len() as u32).map(WorldId) {
            assert_eq!(merged.removals(world), whole.removals(world), "{what}");
        }
        tally.explained += explained.len();
        tally.merged += usize::from(merged.merges_values());
    }
    eprintln!("{tally:?}");
    tally
}

/// A range of a million values costs what a range of ten costs.
#[test]
fn a_large_range_costs_what_its_comparisons_cost() {
    let nodes = |high: u64| {
        let text = format!(
            "agent a is
               var x : 0..{high}, y : 0..{high}, z : 0..{high};
               bdi B(b, n > 5);
               init x := any;
               loop x := any, y := x, z := y; if x = z & x > 5 then y := 3 else z := x endloop
             agent b is var n : 0..{high}; init n := any; loop n := any endloop
             property same: x = y -> EX x != y;
             property known: B(b, n > 4);"
        );
        let (model, plan) = crate::support::model(&text, &[]);
        let mut engine = Engine::new(&model, &plan, &Budget::default()).unwrap();
        let kept = (0..2).map(|world| engine.world_result(WorldId(world)).unwrap().kept.to_string());
        let kept: Vec<String> = kept.collect();
        engine.decide(0);
        (kept, engine.size().1)
    };
    let ((small, few), (large, many)) = (nodes(20), nodes(1_000_000));
    eprintln!("{few} nodes for {small:?}, {many} nodes for {large:?}");
    assert_eq!(large[1], "1000001", "one point, 1 000 001 values");
    assert!(many < 4 * few, "{many} nodes instead of {few}");
}
