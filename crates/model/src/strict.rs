//! Strict readings: formulas that are false where a property is true vacuously.
//!
//! Some operators are vacuously true: `O(i, f)` where no state is green, `AX f` where there is no step,
//! `<g> goal` where the group prevents all fair paths. The strict reading of a formula is another formula
//! that is false there. If a property holds, but not in its strict reading, it holds for a reason that
//! its author probably did not intend; reports say so.
//!
//! ```text
//! strict reading                       is
//! O(i, f)      KH(i, g, f)             O(i, f) ∧ ¬O(i, false)      KH(i, g, f) ∧ ¬KH(i, g, false)
//! AX f                                 AX f ∧ EX true
//! AF f         A(f U g)                AF f ∧ ¬E(¬f U (¬f ∧ dead))      A(f U g) ∧ ¬E(¬g U (¬g ∧ dead))
//! A f          (LTL and CTL*)          A f ∧ EG true
//! <g> goal     (with fairness)         <g> goal ∧ honest(g, goal)
//! ```
//!
//! where `dead` is `AX false`. Operands are read strictly too; under a negation they are read
//! *leniently*, by duality: `¬EX f` is `AX ¬f`, so there `EX f` is `EX f ∨ dead`. `AG`, `A .. W`,
//! `A .. R` and `AX{c}` do not promise that anything becomes true, and are not changed.
//!
//! `honest(g, goal)` says that the group can meet the goal in such a way that, for all actions of the
//! others, a fair path that meets it remains: the group stays in a set `S` of states from which it wins,
//! and from each state in `S` some fair path meets the goal by choices of the group that lead only to
//! `S`. With the group's choices `a`, and `W` for `<g> goal` with perfect information,
//!
//! ```text
//! H(Z)        = ⋁_a EX{a} Z ∧ AX{a} S          a choice that may lead into Z and stays in S
//! X f           ⋁_a EX{a} f ∧ AX{a} f
//! f U g         νS. W ∧ reach(f, g)                          reach(f, g) = μZ. g ∨ (f ∧ H(Z))
//! G f           νS. W ∧ stay(f)                stay(f) = νR. f ∧ ⋀_c H(μY. (f ∧ R ∧ c) ∨ (f ∧ H(Y)))
//! f W g         νS. W ∧ (reach(f, g) ∨ stay(f))              f R g   is   g W (f ∧ g)
//! ```
//!
//! for all fairness constraints `c`. If a group cannot prevent all fair paths, this is true in all states
//! from which it wins. Under uniform strategies the choices may be ones that need perfect information, so
//! the strict reading may miss a vacuous property there, but it never reports one wrongly.

use std::collections::BTreeMap;

use crate::{
    ActionId, AgentId, Deadlock, Expr, ExprId, Formula, FormulaId, GroupId, Paths, Strategies, System,
};

/// Maximum number of a group's joint choices; coalitions with more are not read strictly, because the
/// strict reading has one subformula per choice.
const MAX_CHOICES: usize = 128;

/// The reasons why a formula may be vacuously true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vacuity {
    /// No relevant state is green.
    NothingGreen,
    /// No path continues.
    PathsEnd,
    /// A group prevents all fair paths.
    NoFairPath,
}

impl Vacuity {
    /// All reasons.
    pub const ALL: [Vacuity; 3] = [Vacuity::NothingGreen, Vacuity::PathsEnd, Vacuity::NoFairPath];
}

/// A subformula that is vacuously true where its condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspect {
    /// `O(i, ..)`, where no state is green for the agent.
    Correct(AgentId),
    /// `KH(i, g, ..)`, where the agent considers no state possible that is green for the group.
    KnowsUnder(AgentId, GroupId),
    /// A universal path formula such as `AF ..`, where there is no step.
    Promise,
    /// `<g> ..`, where the group can prevent all fair paths.
    Coalition(GroupId),
}

impl Suspect {
    /// Returns the reason why the subformula is true there.
    pub fn vacuity(self) -> Vacuity {
        match self {
            Suspect::Correct(_) | Suspect::KnowsUnder(..) => Vacuity::NothingGreen,
            Suspect::Promise => Vacuity::PathsEnd,
            Suspect::Coalition(_) => Vacuity::NoFairPath,
        }
    }
}

/// The strict readings of one formula.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Subformulas that may be vacuously true, each with a formula for the states where they are.
    pub suspects: Vec<(Suspect, FormulaId)>,
    /// For each reason that occurs in `suspects`, the formula read strictly for this reason only.
    pub by: Vec<(Vacuity, FormulaId)>,
    /// The formula read strictly for all reasons.
    pub all: Option<FormulaId>,
}

/// The strict readings of a system's properties.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// Number of formulas before the readings were added.
    n_without_readings: Option<usize>,
    of: BTreeMap<FormulaId, Reading>,
}

impl Readings {
    /// Returns the readings of a property's formula; `None` if no subformula may be vacuously true.
    pub fn of(&self, formula: FormulaId) -> Option<&Reading> {
        self.of.get(&formula)
    }
}

impl System {
    /// Adds the strict readings of all properties to the formulas, so that engines can decide them.
    pub fn add_strict_readings(&mut self) {
        let n_without_readings = self.formulas.len();
        self.readings = Readings { n_without_readings: Some(n_without_readings), of: BTreeMap::new() };
        let mut roots: Vec<FormulaId> = self.properties.iter().map(|property| property.formula).collect();
        roots.sort_unstable();
        roots.dedup();
        for root in roots {
            let reading = Reader::new(self).reading(root);
            if !reading.suspects.is_empty() {
                self.readings.of.insert(root, reading);
            }
        }
    }

    /// Returns the formulas of properties and constraints with their subformulas, without strict readings.
    pub fn property_formulas(&self) -> impl DoubleEndedIterator<Item = FormulaId> + use<> {
        let n_without_readings = self.readings.n_without_readings.unwrap_or(self.formulas.len());
        self.formulas.ids().take(n_without_readings).collect::<Vec<_>>().into_iter()
    }
}

/// How a subformula is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// False where it would be vacuously true.
    Strict,
    /// True where its negation would be vacuously true.
    Lenient,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Strict => Side::Lenient,
            Side::Lenient => Side::Strict,
        }
    }
}

struct Reader<'s> {
    system: &'s mut System,
    /// The reasons for which formulas are read strictly.
    reasons: Vec<Vacuity>,
    /// The choices of groups, as conditions on a step; `None` if there are too many.
    choices: BTreeMap<GroupId, Option<Vec<ExprId>>>,
    suspects: Vec<(Suspect, FormulaId)>,
}

/// The readings of subformulas.
type Read = BTreeMap<(FormulaId, Side), FormulaId>;

impl<'s> Reader<'s> {
    fn new(system: &'s mut System) -> Reader<'s> {
        Reader { system, reasons: Vec::new(), choices: BTreeMap::new(), suspects: Vec::new() }
    }

    fn reading(mut self, root: FormulaId) -> Reading {
        let mut possible = vec![Vacuity::NothingGreen];
        let has_fairness = !self.system.fairness.is_empty();
        // With fairness, operators range over states that start a fair path, and so have a successor.
        if !has_fairness && self.system.meaning.deadlock != Deadlock::Stutter {
            possible.push(Vacuity::PathsEnd);
        }
        if has_fairness
            && self.system.fairness.iter().all(|&constraint| self.system.formulas.is_local(constraint))
        {
            possible.push(Vacuity::NoFairPath);
        }
        self.reasons = possible;
        let all = self.read(root);
        let suspects = std::mem::take(&mut self.suspects);
        let mut by = Vec::new();
        for vacuity in Vacuity::ALL {
            if suspects.iter().any(|(suspect, _)| suspect.vacuity() == vacuity) {
                self.reasons = vec![vacuity];
                by.push((vacuity, self.read(root)));
            }
        }
        Reading { suspects, by, all: Some(all) }
    }

    /// Reads a formula strictly: first finds from the top down how its subformulas must be read; then
    /// reads all of them, operands first.
    fn read(&mut self, root: FormulaId) -> FormulaId {
        let needed = self.system.formulas.signs(root, [true, false], |_| true);
        let mut read = Read::new();
        for (id, [strict, lenient]) in needed {
            for (side, is_needed) in [(Side::Strict, strict), (Side::Lenient, lenient)] {
                if is_needed {
                    let found = self.part(id, side, &read);
                    read.insert((id, side), found);
                }
            }
        }
        read[&(root, Side::Strict)]
    }

    /// Reads a subformula whose operands have been read.
    fn part(&mut self, id: FormulaId, side: Side, read: &Read) -> FormulaId {
        let of = |f: FormulaId| read[&(f, side)];
        let opposite = |f: FormulaId| read[&(f, side.other())];
        let list = |list: &[FormulaId]| list.iter().map(|&f| of(f)).collect::<Vec<_>>();
        let formulas = &self.system.formulas;
        match formulas.get(id) {
            Formula::Bool(_)
            | Formula::Proposition(_)
            | Formula::Condition(_)
            | Formula::Green(_)
            | Formula::Red(_)
            | Formula::Bound(_) => id,
            Formula::Not(f) => self.not(opposite(f)),
            Formula::And(operands) => {
                let operands = list(operands);
                self.add(Formula::And(&operands))
            }
            Formula::Or(operands) => {
                let operands = list(operands);
                self.add(Formula::Or(&operands))
            }
            Formula::Implies(f, g) => self.add(Formula::Implies(opposite(f), of(g))),
            Formula::Iff(f, g) => {
                self.iff(id, side, [f, g].map(|f| (read[&(f, Side::Strict)], read[&(f, Side::Lenient)])))
            }
            Formula::Exists(paths, path) => self.exists(paths, of(path), side),
            Formula::Forall(paths, path) => self.forall(paths, of(path), side),
            Formula::Next(f) => self.add(Formula::Next(of(f))),
            Formula::Finally(f) => self.add(Formula::Finally(of(f))),
            Formula::Globally(f) => self.add(Formula::Globally(of(f))),
            Formula::Until(f, g) => self.add(Formula::Until(of(f), of(g))),
            Formula::WeakUntil(f, g) => self.add(Formula::WeakUntil(of(f), of(g))),
            Formula::Release(f, g) => self.add(Formula::Release(of(f), of(g))),
            Formula::Knows(i, f) => self.add(Formula::Knows(i, of(f))),
            Formula::EveryoneKnows(g, f) => self.add(Formula::EveryoneKnows(g, of(f))),
            Formula::DistributedKnowledge(g, f) => self.add(Formula::DistributedKnowledge(g, of(f))),
            Formula::CommonKnowledge(g, f) => self.add(Formula::CommonKnowledge(g, of(f))),
            Formula::Correct(i, f) => {
                let make = |f| Formula::Correct(i, f);
                self.green(Suspect::Correct(i), of(f), side, make)
            }
            Formula::KnowsUnder(i, g, f) => {
                let make = |f| Formula::KnowsUnder(i, g, f);
                self.green(Suspect::KnowsUnder(i, g), of(f), side, make)
            }
            Formula::Enforces(g, strategies, path) => self.enforces(g, strategies, of(path), side),
            Formula::ExistsStep(c, f) => self.add(Formula::ExistsStep(c, of(f))),
            Formula::ForallStep(c, f) => self.add(Formula::ForallStep(c, of(f))),
            Formula::Least(z, f) => self.add(Formula::Least(z, of(f))),
            Formula::Greatest(z, f) => self.add(Formula::Greatest(z, of(f))),
        }
    }

    /// Returns whether a subformula is to be read strictly for its reason; if so, adds it to the suspects.
    fn suspects(&mut self, suspect: Suspect, when: FormulaId) -> bool {
        if !self.reasons.contains(&suspect.vacuity()) {
            return false;
        }
        if !self.suspects.contains(&(suspect, when)) {
            self.suspects.push((suspect, when));
        }
        true
    }

    /// `f <-> g`, each operand read strictly and leniently.
    fn iff(&mut self, id: FormulaId, side: Side, [f, g]: [(FormulaId, FormulaId); 2]) -> FormulaId {
        if f.0 == f.1 && g.0 == g.1 {
            return id;
        }
        let [not_f, not_g] = [f.1, g.1].map(|f| self.not(f));
        let pairs = match side {
            Side::Strict => [[f.0, g.0], [not_f, not_g]],
            Side::Lenient => [[f.0, not_g], [not_f, g.0]],
        };
        let pairs = pairs.map(|pair| self.add(Formula::And(&pair)));
        let some = self.add(Formula::Or(&pairs));
        if side == Side::Strict { some } else { self.not(some) }
    }

    /// Reads `O` and `KH`.
    fn green(
        &mut self,
        suspect: Suspect,
        operand: FormulaId,
        side: Side,
        make: impl Fn(FormulaId) -> Formula<'static>,
    ) -> FormulaId {
        let plain = self.add(make(operand));
        let nothing = self.add(Formula::Bool(false));
        let when = self.add(make(nothing));
        if side == Side::Lenient || !self.suspects(suspect, when) {
            return plain;
        }
        let some = self.not(when);
        self.add(Formula::And(&[plain, some]))
    }

    fn add(&mut self, formula: Formula<'_>) -> FormulaId {
        self.system.formulas.add(formula)
    }

    fn not(&mut self, f: FormulaId) -> FormulaId {
        self.add(Formula::Not(f))
    }
}

/// Path quantifiers, where paths may end.
impl Reader<'_> {
    fn forall(&mut self, paths: Paths, path: FormulaId, side: Side) -> FormulaId {
        let plain = self.add(Formula::Forall(paths, path));
        let promised = match (paths, self.system.formulas.get(path)) {
            (Paths::Infinite, _) | (Paths::Ctl, Formula::Next(_)) => None,
            (Paths::Ctl, Formula::Finally(f) | Formula::Until(_, f)) => Some(f),
            _ => return plain,
        };
        let dead = self.dead();
        if side == Side::Lenient || !self.suspects(Suspect::Promise, dead) {
            return plain;
        }
        let kept = match (paths, promised) {
            (Paths::Infinite, _) => self.some_infinite_path(),
            (Paths::Ctl, None) => self.not(dead),
            (Paths::Ctl, Some(f)) => {
                let not_f = self.not(f);
                let ends = self.ends_within(not_f);
                self.not(ends)
            }
        };
        self.add(Formula::And(&[plain, kept]))
    }

    fn exists(&mut self, paths: Paths, path: FormulaId, side: Side) -> FormulaId {
        let plain = self.add(Formula::Exists(paths, path));
        let through = match (paths, self.system.formulas.get(path)) {
            (Paths::Infinite, _) | (Paths::Ctl, Formula::Next(_)) => None,
            (Paths::Ctl, Formula::Globally(f) | Formula::WeakUntil(f, _) | Formula::Release(_, f)) => Some(f),
            _ => return plain,
        };
        let dead = self.dead();
        if side == Side::Strict || !self.suspects(Suspect::Promise, dead) {
            return plain;
        }
        let broken = match (paths, through) {
            (Paths::Infinite, _) => {
                let some = self.some_infinite_path();
                self.not(some)
            }
            (Paths::Ctl, None) => dead,
            (Paths::Ctl, Some(f)) => self.ends_within(f),
        };
        self.add(Formula::Or(&[plain, broken]))
    }

    /// `AX false`: there is no step.
    fn dead(&mut self) -> FormulaId {
        let nothing = self.add(Formula::Bool(false));
        let next = self.add(Formula::Next(nothing));
        self.add(Formula::Forall(Paths::Ctl, next))
    }

    /// `E(f U (f ∧ dead))`: some path ends, and `f` is true in all its states.
    fn ends_within(&mut self, f: FormulaId) -> FormulaId {
        let dead = self.dead();
        let end = self.add(Formula::And(&[f, dead]));
        let path = self.add(Formula::Until(f, end));
        self.add(Formula::Exists(Paths::Ctl, path))
    }

    /// `EG true`
    fn some_infinite_path(&mut self) -> FormulaId {
        let all = self.add(Formula::Bool(true));
        let path = self.add(Formula::Globally(all));
        self.add(Formula::Exists(Paths::Ctl, path))
    }
}

/// The steps that a group may take in an honest strategy.
struct Honest {
    /// The group's choices, as conditions on a step.
    choices: Vec<ExprId>,
    /// The formula `S` that must be true after the step, for all actions of the others.
    stays: FormulaId,
}

/// Coalitions, with fairness.
impl Reader<'_> {
    fn enforces(&mut self, group: GroupId, strategies: Strategies, path: FormulaId, side: Side) -> FormulaId {
        let plain = self.add(Formula::Enforces(group, strategies, path));
        if side == Side::Lenient || !self.reasons.contains(&Vacuity::NoFairPath) {
            return plain;
        }
        let Some(choices) = self.choices(group) else { return plain };
        let nothing = self.add(Formula::Bool(false));
        let next = self.add(Formula::Next(nothing));
        let when = self.add(Formula::Enforces(group, Strategies::Perfect, next));
        self.suspects(Suspect::Coalition(group), when);
        let formula = self.system.formulas.get(path);
        if let Formula::Next(f) = formula {
            let step = self.step(&Honest { choices, stays: f }, f);
            return self.add(Formula::And(&[plain, step]));
        }
        let (through, to) = match formula {
            Formula::Finally(f) => (None, Some(f)),
            Formula::Until(f, g) => (Some(f), Some(g)),
            Formula::Globally(f) => (Some(f), None),
            Formula::WeakUntil(f, g) => (Some(f), Some(g)),
            Formula::Release(f, g) => {
                let both = self.add(Formula::And(&[f, g]));
                (Some(g), Some(both))
            }
            _ => return plain,
        };
        let may_stay = matches!(
            self.system.formulas.get(path),
            Formula::Globally(_) | Formula::WeakUntil(..) | Formula::Release(..)
        );
        let s = self.variable();
        let honest = Honest { choices, stays: self.add(Formula::Bound(s)) };
        let mut ways = Vec::new();
        if let Some(to) = to {
            ways.push(self.reach(&honest, through, to));
        }
        if let Some(f) = through
            && may_stay
        {
            ways.push(self.stay(&honest, f));
        }
        let wins = self.add(Formula::Enforces(group, Strategies::Perfect, path));
        let way = self.add(Formula::Or(&ways));
        let body = self.add(Formula::And(&[wins, way]));
        let honestly = self.add(Formula::Greatest(s, body));
        self.add(Formula::And(&[plain, honestly]))
    }

    /// `H(Z)`. The loop of a dead end is a step that no agent chooses.
    fn step(&mut self, honest: &Honest, z: FormulaId) -> FormulaId {
        let mut ways = Vec::new();
        for &choice in &honest.choices {
            let may = self.add(Formula::ExistsStep(choice, z));
            let keeps = self.add(Formula::ForallStep(choice, honest.stays));
            ways.push(self.add(Formula::And(&[may, keeps])));
        }
        if self.system.meaning.deadlock == Deadlock::Stutter {
            let any = self.system.exprs.bool(true);
            let nothing = self.add(Formula::Bool(false));
            let dead = self.add(Formula::ForallStep(any, nothing));
            let next = self.add(Formula::Next(z));
            let loops = self.add(Formula::Exists(Paths::Ctl, next));
            ways.push(self.add(Formula::And(&[dead, loops])));
        }
        self.add(Formula::Or(&ways))
    }

    /// `μZ. to ∨ (through ∧ H(Z))`
    fn reach(&mut self, honest: &Honest, through: Option<FormulaId>, to: FormulaId) -> FormulaId {
        let z = self.variable();
        let bound = self.add(Formula::Bound(z));
        let mut on = self.step(honest, bound);
        if let Some(through) = through {
            on = self.add(Formula::And(&[through, on]));
        }
        let body = self.add(Formula::Or(&[to, on]));
        self.add(Formula::Least(z, body))
    }

    /// `νR. f ∧ ⋀_c H(μY. (f ∧ R ∧ c) ∨ (f ∧ H(Y)))`
    fn stay(&mut self, honest: &Honest, f: FormulaId) -> FormulaId {
        let r = self.variable();
        let bound = self.add(Formula::Bound(r));
        let mut all = vec![f];
        for constraint in self.system.fairness.clone() {
            let met = self.add(Formula::And(&[f, bound, constraint]));
            let reached = self.reach(honest, Some(f), met);
            all.push(self.step(honest, reached));
        }
        let body = self.add(Formula::And(&all));
        self.add(Formula::Greatest(r, body))
    }

    /// Adds a variable that no other fixpoint uses.
    fn variable(&mut self) -> crate::FixpointId {
        let name = format!("'{}", self.system.formulas.n_fixpoints());
        self.system.formulas.fixpoint(&name)
    }

    /// Returns the joint choices of a group, as conditions on a step; `None` if there are more than
    /// [`MAX_CHOICES`]. Actions that no condition reads are left open.
    fn choices(&mut self, group: GroupId) -> Option<Vec<ExprId>> {
        if let Some(known) = self.choices.get(&group) {
            return known.clone();
        }
        let exprs = &self.system.exprs;
        let is_read =
            |i: &AgentId| exprs.ids().any(|id| matches!(exprs.get(id), Expr::ActionIs(j, _) if j == *i));
        let members = self.system.groups[group.index()].agents.iter().copied();
        let members: Vec<AgentId> = members.filter(is_read).collect();
        let mut tuples: Vec<Vec<ExprId>> = vec![Vec::new()];
        for i in members {
            let n_actions = self.system.agent(i).actions.len();
            if tuples.len() * n_actions > MAX_CHOICES {
                self.choices.insert(group, None);
                return None;
            }
            let actions: Vec<ExprId> =
                (0..n_actions as u32).map(|a| self.system.exprs.action_is(i, ActionId(a))).collect();
            let with = |tuple: &Vec<ExprId>| {
                actions.iter().map(|&action| [tuple.as_slice(), &[action]].concat()).collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(with).collect();
        }
        let choices: Vec<ExprId> = tuples.into_iter().map(|tuple| self.system.exprs.and(tuple)).collect();
        self.choices.insert(group, Some(choices.clone()));
        Some(choices)
    }
}
