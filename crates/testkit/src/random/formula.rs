//! Random formulas of CTL with knowledge and norms.

use super::dice::Dice;

/// The names that formulas may contain.
pub(super) struct Vocabulary {
    /// Propositions and other atoms.
    pub(super) atoms: Vec<String>,
    /// Agents, as arguments of `K`.
    pub(super) agents: Vec<String>,
    /// Groups, as arguments of `GK`: names, agents, sets in braces.
    pub(super) groups: Vec<String>,
    /// Group operators: `GK`, in the old dialect also `E`.
    pub(super) group_operators: &'static [&'static str],
}

impl Vocabulary {
    /// Returns a state formula with at most `depth` nested operators.
    pub(super) fn formula(&self, dice: &mut Dice, depth: usize) -> String {
        if depth == 0 {
            return self.atom(dice);
        }
        let depth = depth - 1;
        match dice.count(0, 99) {
            0..=6 => self.atom(dice),
            7..=14 => format!("!{}", self.bracketed(dice, depth)),
            15..=22 => self.chain(dice, depth, "and"),
            23..=29 => self.chain(dice, depth, "or"),
            30..=36 => format!("{} -> {}", self.operand(dice, depth), self.operand(dice, depth)),
            37..=39 => format!("{} <-> {}", self.bracketed(dice, depth), self.bracketed(dice, depth)),
            40..=60 => {
                let operator = dice.pick(&["AG", "EG", "AX", "EX", "AF", "EF"]);
                let operand = self.operand(dice, depth);
                // `AG p` and `AG(p)`: before a bracket the space is optional.
                if operand.starts_with('(') && dice.chance(50) {
                    format!("{operator}{operand}")
                } else {
                    format!("{operator} {operand}")
                }
            }
            61..=71 => {
                let (left, right) = (self.operand(dice, depth), self.operand(dice, depth));
                let operator = dice.pick(&["U", "U", "W", "R"]);
                format!("{}({left} {operator} {right})", dice.pick(&["A", "E"]))
            }
            72..=81 => format!("K({}, {})", dice.one_of(&self.agents), self.formula(dice, depth)),
            82..=89 => {
                let operator = dice.pick(self.group_operators);
                format!("{operator}({}, {})", dice.one_of(&self.groups), self.formula(dice, depth))
            }
            90..=93 => format!("O({}, {})", dice.one_of(&self.agents), self.formula(dice, depth)),
            _ => {
                let (agent, group) = (dice.one_of(&self.agents), dice.one_of(&self.groups));
                format!("KH({agent}, {group}, {})", self.formula(dice, depth))
            }
        }
    }

    fn chain(&self, dice: &mut Dice, depth: usize, word: &str) -> String {
        let operands: Vec<String> = (0..dice.count(2, 3)).map(|_| self.operand(dice, depth)).collect();
        operands.join(&format!(" {word} "))
    }

    /// Returns an operand, in brackets unless it is a word; in 12 percent of the other cases also without.
    fn operand(&self, dice: &mut Dice, depth: usize) -> String {
        let formula = self.formula(dice, depth);
        let is_word = formula.chars().all(|c| c.is_alphanumeric() || "._[]".contains(c));
        // Chains of `<->` have no agreed meaning, so they are always in brackets.
        if is_word || !formula.contains("<->") && dice.chance(12) { formula } else { format!("({formula})") }
    }

    fn bracketed(&self, dice: &mut Dice, depth: usize) -> String {
        format!("({})", self.formula(dice, depth))
    }

    pub(super) fn atom(&self, dice: &mut Dice) -> String {
        match dice.count(0, 19) {
            0 => dice.pick(&["true", "false"]).to_string(),
            1 => format!("{}.GreenStates", dice.one_of(&self.agents)),
            2 => format!("{}.RedStates", dice.one_of(&self.agents)),
            _ => dice.one_of(&self.atoms).clone(),
        }
    }

    /// Returns a fairness constraint, mostly a simple one, so that fair paths exist.
    pub(super) fn constraint(&self, dice: &mut Dice) -> String {
        match dice.count(0, 9) {
            0 | 1 => dice.one_of(&self.atoms).clone(),
            2 => format!("!{}", dice.one_of(&self.atoms)),
            3..=5 => self.chain(dice, 0, "or"),
            6 | 7 => format!("{} -> {}", dice.one_of(&self.atoms), self.bracketed(dice, 1)),
            _ => self.formula(dice, 2),
        }
    }
}
