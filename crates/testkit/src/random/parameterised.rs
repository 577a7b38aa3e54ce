//! Random models with parameters, arrays and families of agents.

use super::Page;
use super::condition::{Scope, Slot, VariableType};
use super::dice::Dice;
use super::formula::Vocabulary;

/// Returns a random system with a parameter `N`, an array in the Environment and a family of agents,
/// with `for`, `forall`, `exists`, `sum` and `count` in conditions and formulas.
///
/// The text is valid, and at least one initial state exists. The default of `N` is 2 or 3; larger values
/// are valid too, but the state space grows with them.
pub fn random_parameterised_model(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let n = dice.between(2, 3);
    // At most 4096 valuations: `top + 1` values per element, two per agent, and the turn.
    let top = if n == 2 { dice.between(1, 3) } else { dice.between(1, 2) };
    let sample = Sample { n, top, has_lobsvars: dice.chance(60), has_turn: dice.chance(60) };
    sample.write(&mut dice, seed)
}

struct Sample {
    /// Default of `N`.
    n: i64,
    /// Elements of the array are in `0..=top`.
    top: i64,
    /// Whether members see only their element of the array and the next one; otherwise all elements.
    has_lobsvars: bool,
    /// Whether the Environment has a variable `turn : 1..N`.
    has_turn: bool,
}

/// Index expressions for a neighbour of `i`.
const NEIGHBOURS: [&str; 6] =
    ["next(i, N)", "prev(i, N)", "i", "i mod N + 1", "min(i + 1, N)", "max(i - 1, 1)"];
/// Ranges of indices.
const RANGES: [&str; 4] = ["j in 1..N", "j in 1..N where j <> 1", "j in 2..N", "j in 1..N - 1"];

impl Sample {
    fn write(&self, dice: &mut Dice, seed: u64) -> String {
        let mut page = Page::default();
        page.line(format!("-- Random parameterised model {seed}."));
        page.line(format!("param N = {};", self.n));
        page.line(format!("param TOP = {};", self.top));
        page.line(format!("Semantics = {};", dice.pick(&["SA", "SA", "MA"])));
        page.block("Agent Environment", "end Agent", |page| self.write_environment(dice, page));
        page.block("Agent P[i in 1..N]", "end Agent", |page| self.write_member(dice, page));
        let members = self.member_slots("i");
        page.block("Evaluation", "end Evaluation", |page| {
            page.block("for i in 1..N {", "}", |page| {
                page.line(format!("p[i] if {};", members.condition(dice, 1)));
            });
            let range = |dice: &mut Dice| dice.pick(&RANGES);
            let of_j = |dice: &mut Dice| self.member_slots("j").condition(dice, 1);
            page.line(format!("all if forall({} : {});", range(dice), of_j(dice)));
            page.line(format!("some if exists({} : {});", range(dice), of_j(dice)));
            page.line(format!("many if count({} : {}) >= 2;", range(dice), of_j(dice)));
            page.line(format!("odd if sum({} : Environment.slot[j]) mod 2 = 1;", range(dice)));
        });
        page.block("InitStates", "end InitStates", |page| {
            page.line(format!("forall(i in 1..N : {});", self.initial(dice)));
        });
        page.block("Groups", "end Groups", |page| {
            page.line("everyone = {P[i in 1..N]};");
            page.line("ends = {P[1], P[N]};");
            page.block("for i in 1..N {", "}", |page| page.line("pair[i] = {P[i], P[next(i, N)]};"));
        });
        if dice.chance(33) {
            page.block("Fairness", "end Fairness", |page| {
                page.block("for i in 1..N {", "}", |page| {
                    page.line(dice.pick(&["p[i];", "!p[i];", "p[i] or EX p[next(i, N)];"]));
                });
            });
        }
        page.block("Formulae", "end Formulae", |page| self.write_formulas(dice, page));
        page.text
    }

    fn write_environment(&self, dice: &mut Dice, page: &mut Page) {
        let (section, end) =
            if self.has_lobsvars { ("Vars:", "end Vars") } else { ("Obsvars:", "end Obsvars") };
        if self.has_lobsvars && self.has_turn {
            page.block("Obsvars:", "end Obsvars", |page| page.line("turn : 1..N;"));
        }
        page.block(section, end, |page| {
            page.line("slot[i in 1..N] : 0..TOP;");
            if !self.has_lobsvars && self.has_turn {
                page.line("turn : 1..N;");
            }
        });
        page.line("Actions = {tick, rest};");
        page.block("Protocol:", "end Protocol", |page| {
            if dice.chance(70) {
                page.line(format!(
                    "{} : {{tick}};",
                    dice.pick(&["exists(j in 1..N : slot[j] = 0)", "slot[1] = 0"])
                ));
                page.line("Other : {tick, rest};");
            }
        });
        page.block("Evolution:", "end Evolution", |page| {
            page.block("for i in 1..N {", "}", |page| {
                let value = self.new_value(dice, "slot[i]");
                page.line(format!(
                    "slot[i] = {value} if {};",
                    dice.pick(&["P[i].Action = push", "Action = tick and P[i].Action = push"])
                ));
                if dice.chance(50) {
                    let neighbour = dice.pick(&NEIGHBOURS);
                    page.line(format!("slot[i] = slot[{neighbour}] if P[i].Action = pull;"));
                }
            });
            if self.has_turn {
                page.line("turn = turn mod N + 1 if Action = tick;");
            }
            if dice.chance(30) {
                page.line("slot[N] = 0 if sum(j in 1..N : slot[j]) > N and Action = rest;");
            }
        });
    }

    fn write_member(&self, dice: &mut Dice, page: &mut Page) {
        if self.has_lobsvars {
            page.line("Lobsvars = {slot[i], slot[next(i, N)]};");
        }
        page.block("Vars:", "end Vars", |page| page.line("x : 0..1;"));
        if dice.chance(50) {
            let red = ["x = 1", "Environment.slot[i] = TOP", "x = 1 and Environment.slot[next(i, N)] > 0"];
            page.block("RedStates:", "end RedStates", |page| page.line(format!("{};", dice.pick(&red))));
        }
        page.line("Actions = {push, pull, skip};");
        page.block("Protocol:", "end Protocol", |page| {
            if self.has_turn && dice.chance(60) {
                page.line("Environment.turn <> i : {skip};");
            }
            page.line(format!("Environment.slot[i] = {} : {{push, skip}};", dice.between(0, self.top)));
            if dice.chance(85) {
                page.line("Other : {push, pull};");
            }
        });
        page.block("Evolution:", "end Evolution", |page| {
            let neighbour = dice.pick(&NEIGHBOURS);
            page.line(format!("x = 1 if Action = {};", dice.pick(&["push", "pull"])));
            page.line(format!("x = 0 if P[{neighbour}].Action = {};", dice.pick(&["push", "skip"])));
            if dice.chance(40) {
                page.line("x = 1 - x if forall(j in 1..N where j <> i : P[j].Action = skip);");
            }
        });
    }

    /// Returns a right-hand side for an element, which may overflow.
    fn new_value(&self, dice: &mut Dice, element: &str) -> String {
        let wrap = format!("({element} + 1) mod (TOP + 1)");
        let choices = [wrap, format!("{element} + 1"), format!("TOP - {element}"), format!("{element} / 2")];
        dice.one_of(&choices).clone()
    }

    /// Returns the variables about member `index` that conditions in Evaluation may read.
    fn member_slots(&self, index: &str) -> Scope {
        let slot = |text: String, hi| Slot { text, kind: VariableType::Range(0, hi) };
        let mut slots = vec![
            slot(format!("P[{index}].x"), 1),
            slot(format!("Environment.slot[{index}]"), self.top),
            slot(format!("Environment.slot[next({index}, N)]"), self.top),
        ];
        if self.has_turn {
            slots.push(Slot { text: "Environment.turn".to_string(), kind: VariableType::Range(1, self.n) });
        }
        Scope { slots, atoms: Vec::new() }
    }

    /// Returns a satisfiable condition on member `i`.
    fn initial(&self, dice: &mut Dice) -> String {
        let mut parts = vec![dice.pick(&["P[i].x = 0", "P[i].x <= 1", "P[i].x = 1"])];
        if dice.chance(80) {
            parts.push(dice.pick(&[
                "Environment.slot[i] = 0",
                "Environment.slot[i] < 2",
                "Environment.slot[i] = i mod 2",
            ]));
        }
        if self.has_turn && dice.chance(80) {
            parts.push("Environment.turn = 1");
        }
        parts.join(" and ")
    }

    fn write_formulas(&self, dice: &mut Dice, page: &mut Page) {
        let strings = |texts: &[&str]| texts.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        let closed = Vocabulary {
            atoms: strings(&["all", "some", "many", "odd", "p[1]", "p[N]", "exists(j in 1..N : p[j])"]),
            agents: strings(&["P[1]", "P[N]", "Environment"]),
            groups: strings(&["everyone", "ends", "pair[1]", "{P[i in 1..N]}", "{P[1], Environment}"]),
            group_operators: &["GK", "DK", "GCK"],
        };
        let of_i = Vocabulary {
            atoms: strings(&[
                "p[i]",
                "p[next(i, N)]",
                "odd",
                "exists(j in 1..N : j <> i and p[j])",
                "forall(j in 1..N where j <> i : p[j])",
                "exists(j in 1..N where j <> i : K(P[j], p[i]))",
            ]),
            agents: strings(&["P[i]", "P[next(i, N)]", "P[prev(i, N)]"]),
            groups: strings(&["everyone", "pair[i]", "{P[i], P[next(i, N)]}", "{P[j in 1..N where j <> i]}"]),
            group_operators: &["GK", "DK", "GCK"],
        };
        for _ in 0..dice.count(2, 4) {
            page.line(format!("{};", closed.formula(dice, 3)));
        }
        page.block("for i in 1..N {", "}", |page| {
            for _ in 0..dice.count(1, 3) {
                page.line(format!("{};", of_i.formula(dice, 3)));
            }
        });
    }
}
