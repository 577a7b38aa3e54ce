//! Random formulas of every logic about one model whose names are chosen to confuse a parser. They are meant
//! to be printed and read again, not to be decided.

use super::dice::Dice;
use super::formula::Vocabulary;
use super::logics::{Grammar, Logic};

/// The model of [`random_formulas`]: propositions named like operators, a value named
/// like a proposition, a group named like an agent, families, arrays and negative numbers.
pub const FORMULA_MODEL: &str = "\
param N = 2;
Agent Environment
  Vars: b : boolean; n : -2..3; v : {X, U, red, green}; end Vars
  Actions = {go, X, AG};
  Protocol: Other : {go, X, AG}; end Protocol
  Evolution: b = true if Action = go; end Evolution
end Agent
Agent E
  Vars: flag[i in 1..2] : boolean; m[i in 1..2] : -3..4; w : {red, green}; z : 0..0; end Vars
  Actions = {go, stay[i in 1..2]};
  Protocol: Other : {go, stay[1], stay[2]}; end Protocol
  Evolution: m[1] = 0 if Action = go; end Evolution
end Agent
Agent Cell[i in 1..N]
  Vars: b : boolean; c : 0..5; end Vars
  Actions = {go, rest};
  Protocol: Other : {go, rest}; end Protocol
  Evolution: c = 0 if Action = rest; end Evolution
end Agent
Agent Odd
  Vars: GreenStates : boolean; end Vars
  Actions = {go};
  Protocol: Other : {go}; end Protocol
  Evolution: GreenStates = true if Action = go; end Evolution
end Agent
Evaluation
  p if Environment.b and !E.flag[1];
  q if Environment.n < 0 -> Cell[1].b;
  red if Environment.v = red;
  green_odd if Odd.GreenStates;
  X if E.m[1] > E.m[2];
  U if Environment.b;
  F if Cell[2].c = 3;
  A if Environment.b <-> Cell[2].b;
  AG if E.flag[2];
  K if E.w = red;
  mu if E.w <> green;
  LTL if Cell[1].c = Cell[2].c;
  count if Environment.v = U;
  at[i in 1..N] if Cell[i].c > 2;
end Evaluation
InitStates Environment.n = 0; end InitStates
Groups
  g = {E, Cell[1]};
  K = {Environment, E};
  E = {E, Cell[i in 1..2]};
end Groups
Formulae end Formulae
";

/// Returns `n` random formulas about [`FORMULA_MODEL`]: CTL with knowledge and norms, LTL, CTL*, ATL and the
/// mu-calculus.
///
/// ```
/// let formulas = masque_testkit::random_formulas(1, 40);
/// assert_eq!(formulas.len(), 40);
/// assert_eq!(formulas, masque_testkit::random_formulas(1, 40), "a seed determines the formulas");
/// ```
pub fn random_formulas(seed: u64, n: usize) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let names = [
        "p", "q", "red", "(X)", "(U)", "(F)", "(A)", "(AG)", "(K)", "(mu)", "(LTL)", "(count)", "at[1]",
        "at[N]",
    ];
    let mut atoms: Vec<String> = names.map(String::from).to_vec();
    atoms.extend((0..30).map(|_| atom(&mut dice)));
    let words = Vocabulary {
        atoms,
        agents: ["Environment", "Cell[1]", "Cell[N]", "E"].map(String::from).to_vec(),
        groups: ["g", "K", "E", "Cell[2]", "{E}", "{Cell[1], Environment}"].map(String::from).to_vec(),
        group_operators: &["GK", "DK", "GCK"],
    };
    let steps = (0..10).map(|_| condition(&mut dice, 2, true)).collect();
    let grammar = Grammar { words: &words, steps };
    let mut formulas = Vec::with_capacity(n);
    for _ in 0..n {
        let depth = dice.count(1, 4);
        formulas.push(match dice.count(0, 7) {
            0..=2 => words.formula(&mut dice, depth),
            3 | 4 => grammar.property(&mut dice, Logic::Paths),
            5 => grammar.property(&mut dice, Logic::Strategies),
            _ => grammar.property(&mut dice, Logic::Fixpoints),
        });
    }
    formulas
}

/// Returns a condition that may stand in a formula: a boolean variable or a comparison.
fn atom(dice: &mut Dice) -> String {
    match dice.count(0, 9) {
        0 | 1 => boolean(dice, false),
        2..=5 => {
            let (a, relation) = (condition(dice, 2, false), dice.pick(&["=", "<>"]));
            let b = match dice.count(0, 2) {
                0 => format!("({})", condition(dice, 1, false)),
                _ => dice.pick(&["true", "false"]).to_string(),
            };
            format!("({a}) {relation} {b}")
        }
        _ => comparison(dice, 2, false),
    }
}

/// Returns a condition of any form, on a step if `is_step`.
fn condition(dice: &mut Dice, depth: usize, is_step: bool) -> String {
    if depth == 0 {
        return boolean(dice, is_step);
    }
    let part = |dice: &mut Dice| format!("({})", condition(dice, depth - 1, is_step));
    match dice.count(0, 11) {
        0 => boolean(dice, is_step),
        1 => format!("{}{}", dice.pick(&["!", "~"]), part(dice)),
        2..=5 => {
            let word = dice.pick(&["and", "or", "&", "|", "^", "->", "<->"]);
            let parts: Vec<String> = (0..dice.count(2, 3)).map(|_| part(dice)).collect();
            parts.join(&format!(" {word} "))
        }
        6 => format!("{} {} {}", part(dice), dice.pick(&["=", "<>"]), part(dice)),
        7 => format!("{}(i in 1..{} : Cell[i].b)", dice.pick(&["forall", "exists"]), dice.pick(&["N", "1"])),
        _ => comparison(dice, depth, is_step),
    }
}

/// Returns a boolean variable or an equation.
fn boolean(dice: &mut Dice, is_step: bool) -> String {
    const ACTIONS: [&str; 5] = [
        "Environment.Action = AG",
        "X <> Environment.Action",
        "E.Action = stay[2]",
        "Cell[N].Action = go",
        "Cell[1].Action <> rest",
    ];
    const VARIABLES: [&str; 9] = [
        "Environment.b",
        "E.flag[1]",
        "E.flag[N]",
        "Cell[1].b",
        "Cell[2].b",
        "Environment.b = false",
        "green_odd = true",
        "count = false",
        "red = true",
    ];
    if is_step && dice.chance(50) { dice.pick(&ACTIONS) } else { dice.pick(&VARIABLES) }.to_string()
}

/// Returns a comparison of numbers or of enumeration values.
fn comparison(dice: &mut Dice, depth: usize, is_step: bool) -> String {
    const VALUES: [&str; 6] = [
        "Environment.v = X",
        "(U) <> Environment.v",
        "Environment.v = E.w",
        "E.w <> red",
        "green = E.w",
        "Environment.v <> red",
    ];
    match dice.count(0, 3) {
        0 => dice.pick(&VALUES).to_string(),
        _ => {
            let relation = dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
            format!("({}) {relation} {}", number(dice, depth, is_step), number(dice, depth, is_step))
        }
    }
}

/// Returns an arithmetic expression.
fn number(dice: &mut Dice, depth: usize, is_step: bool) -> String {
    let leaves = ["Environment.n", "E.m[1]", "E.m[2]", "Cell[1].c", "Cell[N].c", "0", "1", "-2", "7", "N"];
    if depth == 0 {
        return dice.pick(&leaves).to_string();
    }
    let part = |dice: &mut Dice| format!("({})", number(dice, depth - 1, is_step));
    match dice.count(0, 11) {
        0..=2 => dice.pick(&leaves).to_string(),
        3 => format!("-{}", part(dice)),
        4 | 5 => {
            let word = dice.pick(&["+", "-"]);
            let parts: Vec<String> = (0..dice.count(2, 3)).map(|_| part(dice)).collect();
            parts.join(&format!(" {word} "))
        }
        6 => format!("{} {} {}", part(dice), dice.pick(&["*", "/", "mod"]), part(dice)),
        7 => format!("{} * 1", part(dice)),
        8 => format!("{} {}", part(dice), dice.pick(&["+ 0", "/ -2", "mod 3", "* -1"])),
        9 => {
            let conditions: Vec<String> =
                (0..dice.count(1, 3)).map(|_| condition(dice, depth - 1, is_step)).collect();
            format!("count({})", conditions.join(", "))
        }
        10 => format!("count(i in 1..{} : Cell[i].b or i = 1)", dice.pick(&["N", "1"])),
        _ => format!("sum(i in 1..{} : Cell[i].c)", dice.pick(&["N", "1", "0"])),
    }
}
