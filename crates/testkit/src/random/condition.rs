//! Random types, conditions and right-hand sides.

use super::dice::Dice;

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Range(i64, i64),
    Enumeration(&'static [&'static str]),
}

/// Enumerations that overlap, nest, and differ in order only; one made of keywords, which are fine
/// names wherever no formula can stand; and one with a single value.
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

impl Kind {
    pub(super) fn random(dice: &mut Dice) -> Kind {
        match dice.count(0, 9) {
            0..=2 => Kind::Boolean,
            3..=6 => {
                let lo = dice.between(-2, 2).min(dice.between(-2, 2));
                Kind::Range(lo, lo + if dice.chance(5) { 0 } else { dice.between(1, 5) })
            }
            _ => Kind::Enumeration(dice.pick(&ENUMERATIONS)),
        }
    }

    pub(super) fn size(self) -> u64 {
        match self {
            Kind::Boolean => 2,
            Kind::Range(lo, hi) => (hi - lo + 1) as u64,
            Kind::Enumeration(values) => values.len() as u64,
        }
    }

    pub(super) fn declaration(self) -> String {
        match self {
            Kind::Boolean => "boolean".to_string(),
            Kind::Range(lo, hi) => format!("{lo}..{hi}"),
            Kind::Enumeration(values) => format!("{{{}}}", values.join(", ")),
        }
    }

    /// A value as text.
    pub(super) fn value(self, dice: &mut Dice) -> String {
        match self {
            Kind::Boolean => dice.pick(&["true", "false"]).to_string(),
            Kind::Range(lo, hi) => dice.between(lo, hi).to_string(),
            Kind::Enumeration(values) => dice.pick(values).to_string(),
        }
    }

    /// Whether every value of `self` is one of `other`.
    pub(super) fn is_within(self, other: Kind) -> bool {
        match (self, other) {
            (Kind::Enumeration(mine), Kind::Enumeration(theirs)) => mine.iter().all(|v| theirs.contains(v)),
            _ => false,
        }
    }
}

/// Something a condition may read: a variable as it is written there.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// What a condition may be made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) slots: Vec<Slot>,
    /// Further atoms, such as `Bob.Action = go`.
    pub(super) atoms: Vec<String>,
}

impl Scope {
    fn texts(&self, wanted: impl Fn(Kind) -> bool) -> Vec<&str> {
        self.slots.iter().filter(|s| wanted(s.kind)).map(|s| s.text.as_str()).collect()
    }

    fn booleans(&self) -> Vec<&str> {
        self.texts(|kind| kind == Kind::Boolean)
    }

    fn numbers(&self) -> Vec<&str> {
        self.texts(|kind| matches!(kind, Kind::Range(..)))
    }

    /// A condition with at most `depth` connectives on a branch.
    pub(super) fn condition(&self, dice: &mut Dice, depth: usize) -> String {
        if depth == 0 || dice.chance(35) {
            return self.atom(dice);
        }
        let mut operand = || {
            let operand = self.condition(dice, depth - 1);
            // Without brackets now and then: precedence is part of the language.
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

    /// A condition without `and`, `or`.
    fn atom(&self, dice: &mut Dice) -> String {
        if !self.atoms.is_empty() && (self.slots.is_empty() || dice.chance(65)) {
            return dice.one_of(&self.atoms).clone();
        }
        if self.slots.is_empty() || dice.chance(2) {
            return dice.pick(&["true", "false"]).to_string();
        }
        let slot = dice.one_of(&self.slots).clone();
        match slot.kind {
            Kind::Boolean => self.boolean_atom(dice, &slot.text),
            Kind::Range(..) => self.comparison(dice, &slot),
            Kind::Enumeration(_) => {
                let relation = dice.pick(&["=", "=", "=", "<>", "!="]);
                let fits = |k: Kind| k.is_within(slot.kind) || slot.kind.is_within(k);
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
                let right = if dice.chance(60) { Kind::Boolean.value(dice) } else { self.bits(dice, 1) };
                format!("{left} {} {right}", dice.pick(&["=", "=", "<>"]))
            }
        }
    }

    /// A boolean expression of `& | ^ ~`.
    fn bits(&self, dice: &mut Dice, depth: usize) -> String {
        let booleans = self.booleans();
        if booleans.is_empty() {
            return Kind::Boolean.value(dice);
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

    /// An arithmetic expression that reads at least one variable, if there is one.
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
            return format!("{operand} {operator} {variable}"); // Zero by accident, now and then.
        }
        if matches!(operator, "/" | "mod") && operand == "0" {
            operand = "2".to_string();
        }
        format!("{variable} {operator} {operand}")
    }

    /// An assignment to a variable, and a condition that keeps it within bounds, if it needs one.
    ///
    /// Counting within bounds keeps a model moving; what is not bounded soon overflows.
    pub(super) fn assignment(&self, dice: &mut Dice, target: &str, kind: Kind) -> (String, Option<String>) {
        match kind {
            Kind::Range(0, hi) if hi > 0 && dice.chance(20) => {
                (format!("{target} = ({target} + {}) mod {}", dice.between(1, hi), hi + 1), None)
            }
            Kind::Range(lo, hi) if dice.chance(60) => {
                let (step, bound) = *dice.one_of(&[("+", ("<", hi)), ("-", (">", lo))]);
                let guard = format!("{target} {} {}", bound.0, bound.1);
                (format!("{target} = {target} {step} 1"), dice.chance(85).then_some(guard))
            }
            _ => (format!("{target} = {}", self.right_side(dice, target, kind)), None),
        }
    }

    /// What may be assigned to the variable `target` of this type.
    fn right_side(&self, dice: &mut Dice, target: &str, kind: Kind) -> String {
        match kind {
            Kind::Boolean if dice.chance(20) => format!("~{target}"),
            Kind::Boolean if dice.chance(40) => self.bits(dice, 2),
            Kind::Range(..) if dice.chance(40) => self.arithmetic(dice, 2),
            Kind::Enumeration(_) => {
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
