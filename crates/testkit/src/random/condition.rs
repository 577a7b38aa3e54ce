//! Random types, conditions and right-hand sides.

use super::dice::Dice;

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableType {
    Boolean,
    Range(i64, i64),
    Enumeration(&'static [&'static str]),
}

/// Enumerations that overlap, contain each other, or differ only in order; one made of keywords, which are
/// valid names where no formula can stand; and one with a single value.
const ENUMERATIONS: [&[&str]; 8] = [
    &["idle", "busy"],
    &["idle", "busy", "done"],
    &["done", "idle", "busy"],
    &["red", "green"],
    &["green", "red", "done", "blue"],
    &["busy", "idle", "done", "red", "green"],
    &["K", "A", "X"],
    &["idle"],
];

impl VariableType {
    pub(super) fn random(dice: &mut Dice) -> VariableType {
        match dice.count(0, 9) {
            0..=2 => VariableType::Boolean,
            3..=6 => {
                let lo = dice.between(-2, 2).min(dice.between(-2, 2));
                VariableType::Range(lo, lo + if dice.chance(5) { 0 } else { dice.between(1, 5) })
            }
            _ => VariableType::Enumeration(dice.pick(&ENUMERATIONS)),
        }
    }

    pub(super) fn size(self) -> u64 {
        match self {
            VariableType::Boolean => 2,
            VariableType::Range(lo, hi) => (hi - lo + 1) as u64,
            VariableType::Enumeration(values) => values.len() as u64,
        }
    }

    pub(super) fn declaration(self) -> String {
        match self {
            VariableType::Boolean => "boolean".to_string(),
            VariableType::Range(lo, hi) => format!("{lo}..{hi}"),
            VariableType::Enumeration(values) => format!("{{{}}}", values.join(", ")),
        }
    }

    /// Returns a random value as text.
    pub(super) fn value(self, dice: &mut Dice) -> String {
        match self {
            VariableType::Boolean => dice.pick(&["true", "false"]).to_string(),
            VariableType::Range(lo, hi) => dice.between(lo, hi).to_string(),
            VariableType::Enumeration(values) => dice.pick(values).to_string(),
        }
    }

    /// Returns one of the values as text, the first for 0.
    fn nth_value(self, n: usize) -> String {
        match self {
            VariableType::Boolean => ["false", "true"][n % 2].to_string(),
            VariableType::Range(lo, hi) => (lo + n as i64 % (hi - lo + 1)).to_string(),
            VariableType::Enumeration(values) => values[n % values.len()].to_string(),
        }
    }

    /// Whether both are enumerations and every value of `self` is one of `other`.
    pub(super) fn is_within(self, other: VariableType) -> bool {
        match (self, other) {
            (VariableType::Enumeration(mine), VariableType::Enumeration(theirs)) => {
                mine.iter().all(|v| theirs.contains(v))
            }
            _ => false,
        }
    }
}

/// A variable that a condition may read, as it is written there.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) text: String,
    pub(super) kind: VariableType,
}

/// The variables and atoms that a condition may contain.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) slots: Vec<Slot>,
    /// Further atoms, such as `Bob.Action = go`.
    pub(super) atoms: Vec<String>,
}

impl Scope {
    fn texts(&self, wanted: impl Fn(VariableType) -> bool) -> Vec<&str> {
        self.slots.iter().filter(|s| wanted(s.kind)).map(|s| s.text.as_str()).collect()
    }

    fn booleans(&self) -> Vec<&str> {
        self.texts(|kind| kind == VariableType::Boolean)
    }

    fn numbers(&self) -> Vec<&str> {
        self.texts(|kind| matches!(kind, VariableType::Range(..)))
    }

    /// Returns a condition that is false for some values of the variables, because every agent has a green
    /// local state.
    pub(super) fn red_states(&self, dice: &mut Dice) -> String {
        let condition = self.condition(dice, 2);
        // Not chosen by the dice, so that all later choices are the same with and without red states.
        let choice = condition.len();
        match self.slots.get(choice % self.slots.len().max(1)) {
            Some(Slot { text, kind }) => format!("({condition}) and {text} <> {}", kind.nth_value(choice)),
            None => "false".to_string(),
        }
    }

    /// Returns a condition with at most `depth` nested connectives.
    pub(super) fn condition(&self, dice: &mut Dice, depth: usize) -> String {
        if depth == 0 || dice.chance(35) {
            return self.atom(dice);
        }
        let mut operand = || {
            let operand = self.condition(dice, depth - 1);
            // One in five has no brackets, because precedence is part of the language.
            if dice.chance(80) { format!("({operand})") } else { operand }
        };
        let mut chain = vec![operand(), operand()];
        if dice.chance(30) {
            chain.push(self.atom(dice));
        }
        match dice.count(0, 4) {
            0 | 1 => chain.join(" and "),
            2 | 3 => chain.join(" or "),
            _ => format!("!({})", chain[0]),
        }
    }

    /// Returns a condition without `and` and `or`.
    fn atom(&self, dice: &mut Dice) -> String {
        if !self.atoms.is_empty() && (self.slots.is_empty() || dice.chance(65)) {
            return dice.one_of(&self.atoms).clone();
        }
        if self.slots.is_empty() || dice.chance(2) {
            return dice.pick(&["true", "false"]).to_string();
        }
        let slot = dice.one_of(&self.slots).clone();
        match slot.kind {
            VariableType::Boolean => self.boolean_atom(dice, &slot.text),
            VariableType::Range(..) => self.comparison(dice, &slot),
            VariableType::Enumeration(_) => {
                let relation = dice.pick(&["=", "=", "=", "<>", "!="]);
                let fits = |k: VariableType| k.is_within(slot.kind) || slot.kind.is_within(k);
                let mut partners = self.texts(fits);
                partners.retain(|partner| *partner != slot.text);
                let right = if !partners.is_empty() && dice.chance(50) {
                    dice.pick(&partners).to_string()
                } else {
                    slot.kind.value(dice)
                };
                format!("{} {relation} {right}", slot.text)
            }
        }
    }

    fn boolean_atom(&self, dice: &mut Dice, text: &str) -> String {
        match dice.count(0, 5) {
            0 => text.to_string(),
            1 => format!("!{text}"),
            2 => self.bits(dice, 2),
            _ => {
                let left = if dice.chance(50) { text.to_string() } else { self.bits(dice, 2) };
                let right =
                    if dice.chance(60) { VariableType::Boolean.value(dice) } else { self.bits(dice, 1) };
                format!("{left} {} {right}", dice.pick(&["=", "=", "<>"]))
            }
        }
    }

    /// Returns a boolean expression of `& | ^ ~`.
    fn bits(&self, dice: &mut Dice, depth: usize) -> String {
        let booleans = self.booleans();
        if booleans.is_empty() {
            return VariableType::Boolean.value(dice);
        }
        if depth == 0 || dice.chance(30) {
            return dice.pick(&booleans).to_string();
        }
        if dice.chance(25) {
            return format!("~{}", dice.pick(&booleans));
        }
        let (left, right) = (self.bits(dice, depth - 1), self.bits(dice, depth - 1));
        let text = format!("{left} {} {right}", dice.pick(&["&", "|", "^"]));
        if dice.chance(50) { format!("({text})") } else { text }
    }

    fn comparison(&self, dice: &mut Dice, slot: &Slot) -> String {
        let relation = dice.pick(&["=", "=", "<>", "!=", "<", "<=", ">", ">="]);
        let left = if dice.chance(60) { slot.text.clone() } else { self.arithmetic(dice, 2) };
        let right = match dice.count(0, 9) {
            0..=5 => slot.kind.value(dice),
            // A literal outside the range is legal, with a warning.
            6 => dice.between(-9, 9).to_string(),
            _ => self.arithmetic(dice, 1),
        };
        format!("{left} {relation} {right}")
    }

    /// Returns an arithmetic expression that reads at least one variable, if there is one.
    fn arithmetic(&self, dice: &mut Dice, depth: usize) -> String {
        let numbers = self.numbers();
        if numbers.is_empty() {
            return dice.between(0, 3).to_string();
        }
        let variable = dice.pick(&numbers).to_string();
        if depth == 0 || dice.chance(25) {
            return variable;
        }
        if dice.chance(10) {
            return format!("-{variable}");
        }
        let mut operand = match dice.count(0, 3) {
            0 | 1 => dice.between(-2, 3).to_string(),
            2 => dice.pick(&numbers).to_string(),
            _ => {
                let inner = self.arithmetic(dice, depth - 1);
                if dice.chance(75) { format!("({inner})") } else { inner }
            }
        };
        let operator = dice.pick(&["+", "+", "+", "-", "-", "*", "/", "mod"]);
        if dice.chance(25) {
            return format!("{operand} {operator} {variable}"); // The variable may be zero.
        }
        if matches!(operator, "/" | "mod") && operand == "0" {
            operand = "2".to_string();
        }
        format!("{variable} {operator} {operand}")
    }

    /// Returns an assignment to a variable, and mostly a condition that keeps it within bounds, if it needs
    /// one: a counter without bounds soon overflows, and the model has few states.
    pub(super) fn assignment(
        &self,
        dice: &mut Dice,
        target: &str,
        kind: VariableType,
    ) -> (String, Option<String>) {
        match kind {
            VariableType::Range(0, hi) if hi > 0 && dice.chance(20) => {
                (format!("{target} = ({target} + {}) mod {}", dice.between(1, hi), hi + 1), None)
            }
            VariableType::Range(lo, hi) if dice.chance(60) => {
                let (step, bound) = *dice.one_of(&[("+", ("<", hi)), ("-", (">", lo))]);
                let guard = format!("{target} {} {}", bound.0, bound.1);
                (format!("{target} = {target} {step} 1"), dice.chance(85).then_some(guard))
            }
            _ => (format!("{target} = {}", self.right_side(dice, target, kind)), None),
        }
    }

    /// Returns an expression that may be assigned to the variable `target` of this type.
    fn right_side(&self, dice: &mut Dice, target: &str, kind: VariableType) -> String {
        match kind {
            VariableType::Boolean if dice.chance(20) => format!("~{target}"),
            VariableType::Boolean if dice.chance(40) => self.bits(dice, 2),
            VariableType::Range(..) if dice.chance(40) => self.arithmetic(dice, 2),
            VariableType::Enumeration(_) => {
                let mut sources = self.texts(|source| source.is_within(kind));
                sources.retain(|source| *source != target);
                if !sources.is_empty() && dice.chance(40) {
                    dice.pick(&sources).to_string()
                } else {
                    kind.value(dice)
                }
            }
            _ => kind.value(dice),
        }
    }
}
