//! What the initial states are split by, for engines that work on parts of them.

use std::collections::BTreeSet;

use masque_model::{ExprId as Lowered, VarId};
use masque_text::{Diagnostic, Span, did_you_mean};

use super::Checker;
use super::expr::Context;
use crate::tree::{Binder, SplitIndex, SplitItem, SplitName};

/// The classes of initial states that `--split` gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitClasses {
    /// Conditions on states: a class for each, without those before it, and one for the remaining states.
    pub formulas: Vec<Lowered>,
    /// Variables by whose values each class is split, each once.
    pub variables: Vec<VarId>,
}

/// A variable's name as the user writes it, in parts.
struct NameParts {
    id: VarId,
    agent: IndexedName,
    variable: IndexedName,
}

/// A name with its indexes: `coin[3]`.
struct IndexedName {
    name: String,
    indexes: Vec<i64>,
}

impl IndexedName {
    fn new(text: &str) -> IndexedName {
        let (name, indexes) = text.split_once('[').unwrap_or((text, ""));
        let indexes = indexes.trim_end_matches(']').split(',').filter_map(|index| index.parse().ok());
        IndexedName { name: name.to_string(), indexes: indexes.collect() }
    }
}

/// A range of indexes in a name, and its values that variables have.
struct UsedRange {
    lo: i64,
    hi: i64,
    used: BTreeSet<i64>,
}

/// An error that was reported.
struct Wrong;

impl Checker<'_> {
    /// Resolves the items of `--split`.
    pub(super) fn split_classes(&mut self) -> SplitClasses {
        let tree = self.tree;
        let mut classes = SplitClasses::default();
        if tree.split.is_empty() || self.n_errors > 0 {
            return classes;
        }
        let names = self.variable_names();
        for item in &tree.split {
            match item {
                SplitItem::Formula(formula) => {
                    classes.formulas.push(self.condition(*formula, Context::Formula));
                }
                SplitItem::Variables { agent, variable, span } => {
                    let found = self.variables_named(&names, agent, variable, *span);
                    let is_new = |v: &VarId| !classes.variables.contains(v);
                    let found: Vec<VarId> = found.into_iter().filter(is_new).collect();
                    classes.variables.extend(found);
                }
            }
        }
        classes
    }

    fn variable_names(&self) -> Vec<NameParts> {
        let parts = |id| {
            let variable = self.system.variable(id);
            let agent = IndexedName::new(&self.system.agent(variable.owner).name);
            NameParts { id, agent, variable: IndexedName::new(&variable.name) }
        };
        self.system.variable_ids().map(parts).collect()
    }

    /// Returns the variables that a name stands for, in the order of declaration. Reports a name that
    /// stands for none, and a range with an index that no variable has.
    fn variables_named(
        &mut self,
        names: &[NameParts],
        agent: &SplitName,
        variable: &SplitName,
        span: Span,
    ) -> Vec<VarId> {
        let n_bindings = self.bindings.len();
        let n_indexes = agent.indexes.len() + variable.indexes.len();
        let mut ranges: Vec<Option<UsedRange>> = (0..n_indexes).map(|_| None).collect();
        let mut found = Vec::new();
        for parts in names {
            let (of_agent, of_variable) = ranges.split_at_mut(agent.indexes.len());
            let matches = self
                .matches(agent, &parts.agent, of_agent)
                .and_then(|is_agent| Ok(is_agent && self.matches(variable, &parts.variable, of_variable)?));
            let values: Vec<i64> =
                parts.agent.indexes.iter().chain(&parts.variable.indexes).copied().collect();
            self.bindings.truncate(n_bindings);
            match matches {
                Err(Wrong) => return Vec::new(),
                Ok(false) => {}
                Ok(true) => {
                    found.push(parts.id);
                    for (range, value) in ranges.iter_mut().zip(values) {
                        range.as_mut().map(|range| range.used.insert(value));
                    }
                }
            }
        }
        if found.is_empty() {
            self.unknown_split_name(names, span);
        } else {
            self.check_ranges(&ranges, span);
        }
        found
    }

    /// Returns whether a name with indexes is one that a pattern stands for. Adds the bindings of the
    /// pattern's index variables, and stores ranges that do not depend on them.
    fn matches(
        &mut self,
        pattern: &SplitName,
        name: &IndexedName,
        ranges: &mut [Option<UsedRange>],
    ) -> Result<bool, Wrong> {
        if self.names.text(pattern.name) != name.name || pattern.indexes.len() != name.indexes.len() {
            return Ok(false);
        }
        for ((index, &value), range) in pattern.indexes.iter().zip(&name.indexes).zip(ranges) {
            let (lo, hi) = match *index {
                SplitIndex::All => continue,
                SplitIndex::At(index) => {
                    let index = self.constant(index).ok_or(Wrong)?;
                    if index != value {
                        return Ok(false);
                    }
                    continue;
                }
                SplitIndex::Range(lo, hi) => (lo, hi),
                SplitIndex::Each(binder) => {
                    let Binder { lo, hi, .. } = self.tree.binders[binder as usize];
                    (lo, hi)
                }
            };
            let (lo, hi) = (self.constant(lo).ok_or(Wrong)?, self.constant(hi).ok_or(Wrong)?);
            if self.bindings.is_empty() && !self.has_condition(index) {
                range.get_or_insert(UsedRange { lo, hi, used: BTreeSet::new() });
            }
            if !(lo..=hi).contains(&value) {
                return Ok(false);
            }
            if let SplitIndex::Each(binder) = *index
                && !self.binds(binder, value)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_condition(&self, index: &SplitIndex) -> bool {
        matches!(*index, SplitIndex::Each(binder) if self.tree.binders[binder as usize].condition.is_some())
    }

    /// Gives an index variable a value. Returns whether its `where` condition is true.
    fn binds(&mut self, binder: u32, value: i64) -> Result<bool, Wrong> {
        let Binder { name, condition, span, .. } = self.tree.binders[binder as usize];
        if self.binding(name).is_some() {
            let message = format!("`{}` is already a parameter or an index here", self.names.text(name));
            self.report(Diagnostic::error("ispl/duplicate-index", span, message).hint("use another name"));
            return Err(Wrong);
        }
        self.bindings.push((name, value));
        match condition {
            Some(condition) => self.index_condition(condition).ok_or(Wrong),
            None => Ok(true),
        }
    }

    /// Reports a name that stands for no variable, with the variable or family whose name is nearest.
    fn unknown_split_name(&mut self, names: &[NameParts], span: Span) {
        let text: String = self.sources.slice(span).to_string();
        let is_family = text.contains('*') || text.contains("..");
        let help = if is_family {
            let families: BTreeSet<String> =
                names.iter().map(|parts| with_stars(&self.system.full_name(parts.id))).collect();
            let used = with_stars(&text);
            if families.contains(&used) {
                Some("no variable has an index in this range".to_string())
            } else {
                did_you_mean(&used, &families)
            }
        } else {
            did_you_mean(&text, names.iter().map(|parts| self.system.full_name(parts.id)))
        };
        let message = format!("there is no variable `{text}`");
        self.report(
            Diagnostic::error("cli/unknown-variable", span, message)
                .label("expected `Agent.variable`, `Agent[*].variable` or a formula")
                .help(help),
        );
    }

    /// Reports a range of which only some indexes occur.
    fn check_ranges(&mut self, ranges: &[Option<UsedRange>], span: Span) {
        for UsedRange { lo, hi, used } in ranges.iter().flatten() {
            let Some(missing) = (*lo..=*hi).find(|value| !used.contains(value)) else { continue };
            let message = format!("no variable `{}` has the index {missing}", self.sources.slice(span));
            let (first, last) = (used.first().copied().unwrap_or(*lo), used.last().copied().unwrap_or(*hi));
            self.report(
                Diagnostic::error("cli/unknown-variable", span, message)
                    .label(format!("the range is {lo}..{hi}"))
                    .hint(format!("the indexes in this range are {first}..{last}; `*` stands for all")),
            );
            return;
        }
    }
}

/// Replaces all indexes by `*`: `Crypt[3].coin[1,2]` becomes `Crypt[*].coin[*]`.
fn with_stars(name: &str) -> String {
    let (mut text, mut depth) = (String::new(), 0);
    for c in name.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '[' => {
                depth += 1;
                text.push_str("[*]");
            }
            ']' => depth -= 1,
            _ if depth <= 0 => text.push(c),
            _ => {}
        }
    }
    text
}
