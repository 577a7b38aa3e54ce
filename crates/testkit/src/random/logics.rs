//! Random formulas of LTL, CTL*, ATL and the mu-calculus, short enough for the truth definition, which
//! enumerates all truth values of a path formula's operators, and all uniform strategies.

use super::dice::Dice;
use super::formula::Vocabulary;

/// A logic beyond CTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logic {
    Paths,
    /// Path formulas that CTL can express.
    Determined,
    /// Path formulas about what is always true and what recurs.
    Recurring,
    Strategies,
    Fixpoints,
}

/// Generator of formulas: the vocabulary of CTL, and conditions on steps.
pub(super) struct Grammar<'v> {
    pub(super) words: &'v Vocabulary,
    /// Conditions on steps: `Alice.Action = go`.
    pub(super) steps: Vec<String>,
}

/// A variable in scope, and whether the number of negations between its fixpoint and the current formula is
/// odd.
type Bound = (&'static str, bool);

impl Grammar<'_> {
    pub(super) fn property(&self, dice: &mut Dice, logic: Logic) -> String {
        match logic {
            Logic::Paths if dice.chance(50) => {
                let n_operators = &mut dice.count(1, 4);
                format!("LTL {}", self.path(dice, 4, n_operators, false))
            }
            Logic::Paths => {
                let n_operators = &mut dice.count(1, 4);
                format!("CTL* {}", self.state(dice, 4, n_operators))
            }
            Logic::Determined => {
                let n_operators = &mut dice.count(1, 4);
                let path = self.determined(dice, 4, n_operators);
                match dice.count(0, 3) {
                    0 | 1 => format!("LTL {path}"),
                    2 => format!("CTL* A({path})"),
                    _ => format!("CTL* E(!({path}))"),
                }
            }
            Logic::Recurring => self.recurring(dice),
            Logic::Strategies => {
                let depth = *dice.one_of(&[1, 1, 2, 2, 3]);
                self.strategic(dice, depth)
            }
            Logic::Fixpoints if dice.chance(35) => self.alternating(dice),
            Logic::Fixpoints => {
                let depth = dice.count(3, 6);
                self.fixpoint(dice, depth, &[])
            }
        }
    }

    /// Returns a path formula with at most `left` temporal operators, which are subtracted; in CTL* it
    /// may have quantifiers.
    fn path(&self, dice: &mut Dice, depth: usize, left: &mut usize, quantifiers: bool) -> String {
        if depth == 0 || *left == 0 {
            return self.words.atom(dice);
        }
        let roll = dice.count(0, 99);
        let is_temporal = (15..75).contains(&roll);
        *left -= usize::from(is_temporal);
        let mut part = |dice: &mut Dice| self.path(dice, depth - 1, left, quantifiers);
        match roll {
            0..=4 => format!("!({})", part(dice)),
            5..=9 => format!("(({}) and ({}))", part(dice), part(dice)),
            10..=12 => format!("(({}) or ({}))", part(dice), part(dice)),
            13 => format!("(({}) -> ({}))", part(dice), part(dice)),
            14 => format!("(({}) <-> ({}))", part(dice), part(dice)),
            15..=22 => format!("X ({})", part(dice)),
            23..=37 => format!("F ({})", part(dice)),
            38..=52 => format!("G ({})", part(dice)),
            53..=74 => {
                let operator = dice.pick(&["U", "U", "W", "R"]);
                format!("(({}) {operator} ({}))", part(dice), part(dice))
            }
            75..=84 => format!("K({}, {})", dice.one_of(&self.words.agents), part(dice)),
            85..=89 => {
                let operator = dice.pick(self.words.group_operators);
                format!("{operator}({}, {})", dice.one_of(&self.words.groups), part(dice))
            }
            90..=94 if quantifiers => self.state(dice, depth - 1, left),
            _ => self.words.atom(dice),
        }
    }

    /// Returns a path formula of the common fragment of LTL and CTL, with at most `left` temporal operators.
    /// [Mai00 §3]
    fn determined(&self, dice: &mut Dice, depth: usize, left: &mut usize) -> String {
        if depth == 0 || *left == 0 {
            return self.words.atom(dice);
        }
        let roll = dice.count(0, 13);
        *left -= usize::from(roll > 3);
        let p = if dice.chance(20) {
            format!("K({}, {})", dice.one_of(&self.words.agents), self.words.atom(dice))
        } else {
            self.words.atom(dice)
        };
        let mut part = |dice: &mut Dice| self.determined(dice, depth - 1, left);
        match roll {
            0 => format!("(({}) and ({}))", part(dice), part(dice)),
            1 => format!("((({p}) and ({})) or (!({p}) and ({})))", part(dice), part(dice)),
            2 => format!("(({p}) -> ({}))", part(dice)),
            3 => format!("(({}) or ({p}))", part(dice)),
            4 | 5 => format!("X ({})", part(dice)),
            6..=8 => format!("G ({})", part(dice)),
            9 => format!("F ({p})"),
            10 => format!("(({}) {} ({p}))", part(dice), dice.pick(&["U", "W"])),
            11 => format!("(({p}) R ({}))", part(dice)),
            _ => {
                let operator = dice.pick(&["U", "W"]);
                format!("((({p}) and ({})) {operator} (!({p}) and ({})))", part(dice), part(dice))
            }
        }
    }

    /// Returns a formula about paths on which something recurs, or its negation.
    fn recurring(&self, dice: &mut Dice) -> String {
        let n_operators = &mut dice.count(0, 2);
        let (segment, atom) = (self.segment(dice, n_operators), self.words.atom(dice));
        let again = format!("G (F ({segment}))");
        match dice.count(0, 4) {
            0 => format!("LTL (({again}) -> (F ({atom})))"),
            1 => format!("LTL F (G (!({segment})))"),
            2 => format!("CTL* E(({again}) and (G (F ({atom}))))"),
            3 => format!("CTL* E(({again}) and (G ({atom})))"),
            _ => format!("CTL* E({again})"),
        }
    }

    /// Returns a path formula that a finite part of a path makes true, with at most `left` temporal operators.
    fn segment(&self, dice: &mut Dice, left: &mut usize) -> String {
        let p = self.words.atom(dice);
        if *left == 0 {
            return p;
        }
        *left -= 1;
        let rest = self.segment(dice, left);
        match dice.count(0, 3) {
            0 | 1 => format!("(({p}) and (X ({rest})))"),
            2 => format!("(({p}) and (F ({rest})))"),
            _ => format!("(({p}) and (({}) U ({rest})))", self.words.atom(dice)),
        }
    }

    /// Returns a state formula of CTL*.
    fn state(&self, dice: &mut Dice, depth: usize, left: &mut usize) -> String {
        match dice.count(0, 9) {
            0 if depth > 0 => format!("!({})", self.state(dice, depth - 1, left)),
            1 if depth > 0 => {
                let (a, b) = (self.state(dice, depth - 1, left), self.state(dice, depth - 1, left));
                format!("(({a}) {} ({b}))", dice.pick(&["and", "or", "->"]))
            }
            2 => format!("K({}, {})", dice.one_of(&self.words.agents), self.path(dice, depth, left, true)),
            _ => format!("{}({})", dice.pick(&["A", "E"]), self.path(dice, depth, left, true)),
        }
    }

    /// Returns a state formula with coalitions.
    fn strategic(&self, dice: &mut Dice, depth: usize) -> String {
        if depth == 0 {
            return self.words.atom(dice);
        }
        let part = |dice: &mut Dice| format!("({})", self.strategic(dice, depth - 1));
        match dice.count(0, 99) {
            0..=6 => format!("!{}", part(dice)),
            7..=14 => format!("{} {} {}", part(dice), dice.pick(&["and", "or", "->"]), part(dice)),
            15..=19 => format!("K({}, {})", dice.one_of(&self.words.agents), part(dice)),
            20..=24 => format!("{} {}", dice.pick(&["AG", "EF", "AX", "EG"]), part(dice)),
            25..=69 => {
                format!("{}{} {}", self.coalition(dice), dice.pick(&["X", "F", "F", "G", "G"]), part(dice))
            }
            _ => {
                let operator = dice.pick(&["U", "U", "W", "R"]);
                format!("{}({} {operator} {})", self.coalition(dice), part(dice), part(dice))
            }
        }
    }

    fn coalition(&self, dice: &mut Dice) -> String {
        let group = dice.one_of(&self.words.groups);
        let strategies =
            ["", "", "", ", perfect", ", uniform", ", uniform", ", uniform-joint", ", uniform-objective"];
        format!("<{group}{}>", dice.pick(&strategies))
    }

    /// Returns a formula with fixpoints in which variables stand under an even number of negations.
    fn fixpoint(&self, dice: &mut Dice, depth: usize, scope: &[Bound]) -> String {
        let usable: Vec<&str> = scope.iter().filter(|bound| !bound.1).map(|bound| bound.0).collect();
        if depth == 0 || dice.chance(8) {
            return if !usable.is_empty() && dice.chance(70) {
                dice.pick(&usable).to_string()
            } else {
                self.words.atom(dice)
            };
        }
        let part = |dice: &mut Dice| format!("({})", self.fixpoint(dice, depth - 1, scope));
        match dice.count(0, 99) {
            0..=7 => {
                let negated: Vec<Bound> = scope.iter().map(|&(name, is_odd)| (name, !is_odd)).collect();
                format!("!({})", self.fixpoint(dice, depth - 1, &negated))
            }
            8..=27 => format!("{} {} {}", part(dice), dice.pick(&["and", "or"]), part(dice)),
            28..=41 => format!("{} {}", dice.pick(&["EX", "AX"]), part(dice)),
            42..=51 => format!("{}{{{}}} {}", dice.pick(&["EX", "AX"]), self.step(dice), part(dice)),
            52..=59 => format!("K({}, {})", dice.one_of(&self.words.agents), part(dice)),
            60..=64 => {
                let operator = dice.pick(self.words.group_operators);
                format!("{operator}({}, {})", dice.one_of(&self.words.groups), part(dice))
            }
            65..=67 => format!("{} {}", dice.pick(&["EF", "AG", "EG"]), part(dice)),
            68..=70 => {
                format!("<{}>{} {}", dice.one_of(&self.words.groups), dice.pick(&["X", "F"]), part(dice))
            }
            _ => {
                let Some(name) =
                    ["Z", "Y", "V", "W"].into_iter().find(|name| scope.iter().all(|b| b.0 != *name))
                else {
                    return self.words.atom(dice);
                };
                let scope: Vec<Bound> = [(name, false)].into_iter().chain(scope.iter().copied()).collect();
                format!("({} {name}. {})", dice.pick(&["mu", "nu"]), self.fixpoint(dice, depth - 1, &scope))
            }
        }
    }

    /// Returns alternating fixpoints, which `fixpoint` rarely generates.
    fn alternating(&self, dice: &mut Dice) -> String {
        let (a, b) = (self.words.atom(dice), self.words.atom(dice));
        let next = dice.pick(&["EX", "EX", "AX"]);
        match dice.count(0, 4) {
            0 => format!("nu Z. mu Y. {next}(({a}) and Z or Y)"),
            1 => format!("mu Z. nu Y. {next}((({a}) or Z) and Y)"),
            2 => format!("nu Z. !(nu Y. !{next}(({a}) and Z or !Y))"),
            3 => format!("nu Z. mu Y. ({b}) and {next} Z or {next}(({a}) and Z or Y)"),
            _ => format!("mu Z. nu Y. mu V. {next}(({a}) and Y or ({b}) and Z or V)"),
        }
    }

    fn step(&self, dice: &mut Dice) -> String {
        if self.steps.is_empty() {
            return "true".to_string();
        }
        let condition = dice.one_of(&self.steps).clone();
        match dice.count(0, 4) {
            0 => format!("!({condition})"),
            1 => format!("{condition} {} {}", dice.pick(&["and", "or"]), dice.one_of(&self.steps)),
            _ => condition,
        }
    }
}
