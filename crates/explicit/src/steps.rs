//! The transition relation, compiled: protocols and units.
//!
//! A *unit* is a set of variables that evolves independently of the rest in one step: all variables of an
//! agent (MultiAssignment), or one variable (SingleAssignment). Variables that no line assigns belong to
//! no unit; they are frozen.

use masque_model::{Agent, Assignment, Expr, ExprId, Protocol, System, VarId};

use crate::bounds::parts;
use crate::code::{Code, Memory, Source};
use crate::compile::Compiler;
use crate::guards::Guards;
use crate::layout::{Field, Layout};
use crate::tables::Gather;

/// A system's transition relation.
#[derive(Debug)]
pub(crate) struct Steps<'s> {
    pub(crate) layout: Layout,
    pub(crate) code: Code<'s>,
    pub(crate) protocols: Vec<Enabling>,
    pub(crate) units: Vec<Unit>,
    /// Whether some unit reads the agent's action.
    pub(crate) is_read: Vec<bool>,
    /// The bits of frozen variables.
    pub(crate) frozen: Vec<u64>,
}

/// The actions that an agent may perform.
#[derive(Debug)]
pub(crate) enum Enabling {
    /// The same actions at all states.
    Fixed(Box<[u32]>),
    /// The actions of each line; the last list applies if no line is enabled. `gather` has the fields that
    /// the guards read, if they are few enough for a table.
    Lines { guards: Guards, actions: Vec<Box<[u32]>>, gather: Option<Gather> },
}

/// Variables that evolve independently of the others.
#[derive(Debug)]
pub(crate) struct Unit {
    guards: Guards,
    lines: Vec<UnitLine>,
    /// Bits of its variables, by word.
    pub(crate) bits: Box<[(u32, u64)]>,
    /// The actions it tests, as pairs of agent and action, in increasing order.
    pub(crate) tests: Box<[(u32, u32)]>,
    /// Whether an assigned value depends on actions.
    assigns_by_action: bool,
    /// The fields that determine its next values, if they are few enough for a table.
    pub(crate) gather: Option<Gather>,
}

/// The assignments of a line.
#[derive(Debug)]
struct UnitLine {
    /// Assignments of constants: for each word of the unit, the assigned bits and their values.
    constants: Box<[(u64, u64)]>,
    others: Box<[(Field, Source)]>,
    /// Whether a constant lies outside its variable's domain.
    always_overflows: bool,
}

/// Number of choices of a unit in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choices {
    /// No choice: all enabled lines overflow.
    None,
    /// One choice.
    One,
    /// More than one choice.
    Many,
}

/// Parameters that change only speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Number of bits of a word that are used.
    pub(crate) word_bits: u32,
    /// Maximum number of bits that a unit or protocol with a table reads.
    pub(crate) table_bits: u32,
    /// The same for units that are slow to evaluate.
    pub(crate) slow_table_bits: u32,
}

/// Number of subexpressions from which a unit counts as slow to evaluate.
const MIN_SLOW_PARTS: usize = if cfg!(test) { 4 } else { 64 };

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { word_bits: u64::BITS, table_bits: 10, slow_table_bits: 32 }
    }
}

impl<'s> Steps<'s> {
    pub(crate) fn new(system: &'s System, tuning: Tuning) -> Steps<'s> {
        let layout = Layout::new(system, tuning.word_bits);
        let drafts = drafts(system);
        let mut roots = Vec::new();
        for agent in &system.agents {
            if let Protocol::Lines { lines, .. } = &agent.protocol {
                roots.extend(lines.iter().map(|line| line.condition));
            }
        }
        for (condition, assignments) in drafts.iter().flat_map(|draft| &draft.lines) {
            roots.push(*condition);
            roots.extend(assignments.iter().map(|(_, expr)| *expr));
        }
        let mut compiler = Compiler::new(system, &layout, &roots);
        let protocols = system.agents.iter().map(|agent| enabling(&mut compiler, agent, tuning)).collect();
        let units: Vec<Unit> = drafts.iter().map(|draft| Unit::new(&mut compiler, draft, tuning)).collect();
        let code = compiler.code;
        let mut is_read = vec![false; system.agents.len()];
        let mut frozen = layout.mask(system.variable_ids());
        for unit in &units {
            unit.tests.iter().for_each(|&(agent, _)| is_read[agent as usize] = true);
            unit.bits.iter().for_each(|(word, bits)| frozen[*word as usize] &= !bits);
        }
        Steps { layout, code, protocols, units, is_read, frozen }
    }
}

impl Unit {
    fn new(compiler: &mut Compiler<'_, '_>, draft: &Draft<'_>, tuning: Tuning) -> Unit {
        let mask = compiler.layout.mask(draft.variables.iter().copied());
        let bits: Box<[(u32, u64)]> = (0..).zip(mask).filter(|(_, mask)| *mask != 0).collect();
        let guards = Guards::new(compiler, draft.lines.iter().map(|(condition, _)| *condition));
        let lines =
            draft.lines.iter().map(|(_, assigned)| UnitLine::new(compiler, &bits, assigned)).collect();
        let exprs = draft.lines.iter().flat_map(|(condition, assigned)| {
            std::iter::once(*condition).chain(assigned.iter().map(|(_, expr)| *expr))
        });
        let tested = |part| match compiler.system.exprs.get(part) {
            Expr::ActionIs(agent, action) => Some((agent.0, action.0)),
            _ => None,
        };
        let read = parts(&compiler.system.exprs, exprs.clone());
        let table_bits = if read.len() < MIN_SLOW_PARTS { tuning.table_bits } else { tuning.slow_table_bits };
        let mut tests: Vec<(u32, u32)> = read.into_iter().filter_map(tested).collect();
        tests.sort_unstable();
        let assigned = draft.lines.iter().flat_map(|(_, assigned)| assigned.iter().map(|(_, expr)| *expr));
        let assigns_by_action =
            parts(&compiler.system.exprs, assigned).into_iter().any(|part| tested(part).is_some());
        let own = draft.variables.iter().map(|&variable| compiler.layout.variable(variable));
        let gather = Gather::new(own.chain(fields_read(compiler, exprs)), table_bits);
        Unit { guards, lines, bits, tests: tests.into(), assigns_by_action, gather }
    }

    pub(crate) fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// Appends the actions of an agent that the unit can still distinguish from others, given the bits of
    /// the row that are `known`. `field` is the field of the agent's action.
    pub(crate) fn distinguished_actions(
        &self,
        row: &[u64],
        known: &[u64],
        agent: u32,
        field: Field,
        actions: &mut Vec<u32>,
    ) {
        let n_before = actions.len();
        if self.assigns_by_action || !self.guards.possible_values(row, known, field, actions) {
            actions.truncate(n_before);
            let begin = self.tests.partition_point(|test| test.0 < agent);
            let tested = self.tests[begin..].iter().take_while(|test| test.0 == agent);
            actions.extend(tested.map(|test| test.1));
        }
    }

    /// Computes the next values of the unit: the first choice is written into the unit's bits of
    /// `next`, which must be zero, and every choice is appended to `more` if there are several.
    ///
    /// `more` holds whole states whose bits outside the unit are zero; a state may occur twice.
    #[inline]
    pub(crate) fn evolve(
        &self,
        steps: &Steps<'_>,
        row: &[u64],
        memory: &mut Memory,
        next: &mut [u64],
        more: &mut Vec<u64>,
        overflow: &mut bool,
    ) -> Choices {
        let Steps { layout, code, .. } = steps;
        let mut n_choices = 0_usize;
        let mut is_enabled = false;
        self.guards.each_enabled(code, layout, row, memory, |line, memory| {
            is_enabled = true;
            let line = &self.lines[line as usize];
            if line.always_overflows {
                *overflow = true;
                return;
            }
            if n_choices == 0 {
                if self.apply(line, steps, row, memory, next) {
                    n_choices = 1;
                } else {
                    *overflow = true;
                }
                return;
            }
            if n_choices == 1 {
                more.extend_from_slice(next);
                // `next` may already hold bits of other units.
                let first = more.len() - next.len();
                self.keep_own_bits(&mut more[first..]);
            }
            let begin = more.len();
            more.resize(begin + next.len(), 0);
            if self.apply(line, steps, row, memory, &mut more[begin..]) {
                n_choices += 1;
            } else {
                *overflow = true;
                more.truncate(begin);
                if n_choices == 1 {
                    more.truncate(begin - next.len());
                }
            }
        });
        if !is_enabled {
            for (word, bits) in &self.bits {
                next[*word as usize] |= row[*word as usize] & bits;
            }
            return Choices::One;
        }
        match n_choices {
            0 => Choices::None,
            1 => Choices::One,
            _ => Choices::Many,
        }
    }

    /// Applies the assignments of a line to the unit's bits of `next`. Returns false, and clears the bits, if
    /// a value overflows.
    #[inline]
    fn apply(
        &self,
        line: &UnitLine,
        Steps { layout, code, .. }: &Steps<'_>,
        row: &[u64],
        memory: &mut Memory,
        next: &mut [u64],
    ) -> bool {
        for ((word, bits), (assigned, values)) in self.bits.iter().zip(&line.constants) {
            next[*word as usize] |= row[*word as usize] & bits & !assigned | values;
        }
        for (field, source) in &line.others {
            match code.assigned(source, layout, row, memory) {
                Some(code) => field.set(next, code),
                None => {
                    self.clear(next);
                    return false;
                }
            }
        }
        true
    }

    /// Zeroes the unit's bits.
    pub(crate) fn clear(&self, state: &mut [u64]) {
        for (word, bits) in &self.bits {
            state[*word as usize] &= !bits;
        }
    }

    /// Zeroes all bits outside the unit.
    fn keep_own_bits(&self, state: &mut [u64]) {
        let mut own = self.bits.iter().peekable();
        for (word, value) in (0..).zip(state) {
            match own.next_if(|(own_word, _)| *own_word == word) {
                Some((_, bits)) => *value &= bits,
                None => *value = 0,
            }
        }
    }
}

impl UnitLine {
    fn new(compiler: &mut Compiler<'_, '_>, bits: &[(u32, u64)], assigned: &[(VarId, ExprId)]) -> UnitLine {
        let mut constants = vec![(0, 0); bits.len()];
        let mut others = Vec::new();
        let mut always_overflows = false;
        for &(target, expr) in assigned {
            let field = compiler.layout.variable(target);
            match compiler.source(target, expr) {
                Source::Fixed(None) => always_overflows = true,
                Source::Fixed(Some(code)) => {
                    // A variable with a single value has no bits.
                    if let Some(index) = bits.iter().position(|(word, _)| *word == field.word) {
                        constants[index].0 |= field.bits();
                        constants[index].1 |= code << field.shift;
                    }
                }
                source => others.push((field, source)),
            }
        }
        UnitLine { constants: constants.into(), others: others.into(), always_overflows }
    }
}

/// A unit before it is compiled.
struct Draft<'s> {
    variables: Vec<VarId>,
    lines: Vec<(ExprId, &'s [(VarId, ExprId)])>,
}

/// Returns the units, in the order of agents and variables.
fn drafts(system: &System) -> Vec<Draft<'_>> {
    let mut drafts = Vec::new();
    for agent in system.agents.iter().filter(|agent| !agent.evolution.is_empty()) {
        match system.meaning.assignment {
            Assignment::Multi => {
                let mut variables: Vec<VarId> =
                    agent.evolution.iter().flat_map(|line| line.assignments.iter().map(|a| a.0)).collect();
                variables.sort_unstable();
                variables.dedup();
                let lines = agent.evolution.iter().map(|l| (l.condition, l.assignments.as_slice())).collect();
                drafts.push(Draft { variables, lines });
            }
            Assignment::Single => {
                let mut by_variable: std::collections::BTreeMap<VarId, Vec<_>> = Default::default();
                for line in &agent.evolution {
                    for assignment in &line.assignments {
                        let assigned = std::slice::from_ref(assignment);
                        by_variable.entry(assignment.0).or_default().push((line.condition, assigned));
                    }
                }
                let units = by_variable.into_iter();
                drafts.extend(units.map(|(variable, lines)| Draft { variables: vec![variable], lines }));
            }
        }
    }
    drafts
}

fn enabling(compiler: &mut Compiler<'_, '_>, agent: &Agent, tuning: Tuning) -> Enabling {
    let sorted = |actions: &[masque_model::ActionId]| -> Box<[u32]> {
        let mut actions: Vec<u32> = actions.iter().map(|a| a.0).collect();
        actions.sort_unstable();
        actions.dedup();
        actions.into()
    };
    match &agent.protocol {
        Protocol::Unconstrained => Enabling::Fixed((0..agent.actions.len() as u32).collect()),
        Protocol::Lines { lines, other } if lines.is_empty() => {
            Enabling::Fixed(sorted(other.as_deref().unwrap_or_default()))
        }
        Protocol::Lines { lines, other } => {
            let conditions = lines.iter().map(|line| line.condition);
            let guards = Guards::new(compiler, conditions.clone());
            let gather = Gather::new(fields_read(compiler, conditions), tuning.table_bits);
            let actions = lines.iter().map(|line| sorted(&line.actions));
            let other = sorted(other.as_deref().unwrap_or_default());
            Enabling::Lines { guards, actions: actions.chain([other]).collect(), gather }
        }
    }
}

/// Returns the fields of a row that expressions read.
fn fields_read(compiler: &Compiler<'_, '_>, exprs: impl Iterator<Item = ExprId>) -> Vec<Field> {
    let field = |part| match compiler.system.exprs.get(part) {
        Expr::Variable(variable) => Some(compiler.layout.variable(variable)),
        Expr::ActionIs(agent, _) => Some(compiler.layout.action(agent)),
        _ => None,
    };
    parts(&compiler.system.exprs, exprs).into_iter().filter_map(field).collect()
}
