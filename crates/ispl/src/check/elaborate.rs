//! Parameters, indexes and loops.

use masque_model::Relation;
use masque_text::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::tree::{Binder, ExprId, Function, Index, Item, Kind, Op, Param, Pattern, Ref, Symbol};

/// Maximum number of iterations of all loops of one file: enough for a family of a thousand agents
/// that each refer to all others several times, and few enough to store the result.
pub(super) const MAX_ITERATIONS: u64 = 10_000_000;
/// Estimate of the memory for the result of one iteration, in bytes (the card game with a thousand cards
/// needs about this much).
const BYTES_PER_ITERATION: u64 = 256;

impl<'t> Checker<'t> {
    /// Determines the values of parameters: from `param N = 3;`, or from the options.
    pub(super) fn parameters(&mut self) {
        let tree = self.tree;
        let defaults = self.parameter_defaults();
        for param in &tree.sections.params {
            if self.params.contains_key(&param.name) {
                continue;
            }
            let text = self.names.text(param.name).to_string();
            let given = self.options.defines.iter().rev().find(|define| define.name == text);
            let default = defaults.get(&param.name).and_then(|declared| declared.value);
            let value = match (given, default) {
                (Some(define), _) => Some(define.value),
                (None, Some(value)) => self.constant(value),
                (None, None) => {
                    let message = format!("parameter `{text}` has no value");
                    self.report(
                        Diagnostic::error("ispl/missing-parameter", param.name_span, message)
                            .hint(format!("give one with `-D {text}=3`, or a default: `param {text} = 3;`")),
                    );
                    None
                }
            };
            let Some(value) = value else {
                self.is_incomplete = true;
                continue;
            };
            self.params.insert(param.name, value);
            self.parameters.push((text, value));
        }
        for define in &self.options.defines {
            if !self.parameters.iter().any(|(name, _)| *name == define.name) {
                let known = self.parameters.iter().map(|(name, _)| name.as_str());
                let help = masque_text::did_you_mean(&define.name, known.clone()).or_else(|| {
                    let known: Vec<&str> = known.collect();
                    Some(if known.is_empty() {
                        "the file declares no parameters".to_string()
                    } else {
                        format!("its parameters are {}", known.join(", "))
                    })
                });
                let message = format!("the file has no parameter `{}`", define.name);
                self.report(Diagnostic::error("ispl/unknown-parameter", define.span, message).help(help));
            }
        }
    }

    /// The declaration of each parameter that decides its default. A file may declare a parameter without a
    /// default that another file declares, too; any other second declaration is an error.
    fn parameter_defaults(&mut self) -> FxHashMap<Symbol, &'t Param> {
        let mut declared: FxHashMap<Symbol, &Param> = FxHashMap::default();
        for param in &self.tree.sections.params {
            let Some(first) = declared.get(&param.name) else {
                declared.insert(param.name, param);
                continue;
            };
            let is_in_one_file =
                self.sources.file_of(first.name_span) == self.sources.file_of(param.name_span);
            if is_in_one_file || (first.value.is_some() && param.value.is_some()) {
                let message = format!("parameter `{}` is declared twice", self.names.text(param.name));
                let diagnostic = Diagnostic::error("ispl/duplicate-parameter", param.name_span, message);
                self.report(diagnostic.also(first.name_span, "first declared here"));
            } else if param.value.is_some() {
                declared.insert(param.name, param);
            }
        }
        declared
    }

    pub(super) fn binding(&self, name: Symbol) -> Option<i64> {
        let index = self.bindings.iter().rev().find(|(bound, _)| *bound == name).map(|(_, value)| *value);
        index.or_else(|| self.params.get(&name).copied())
    }

    /// Evaluates an expression over parameters and index variables.
    pub(super) fn constant(&mut self, id: ExprId) -> Option<i64> {
        let expr = self.tree.expr(id);
        match expr.kind {
            Kind::Number(n) => return Some(n),
            Kind::Name(Ref { name, indexes }) if indexes.len == 0 => {
                if let Some(value) = self.binding(name) {
                    return Some(value);
                }
                let known: Vec<Symbol> =
                    self.bindings.iter().map(|b| b.0).chain(self.params.keys().copied()).collect();
                let message = format!("`{}` is not a parameter or an index variable", self.names.text(name));
                let help = self
                    .suggest(name, &known)
                    .unwrap_or("ranges and indexes are computed before the model is checked".to_string());
                self.report(Diagnostic::error("ispl/not-constant", expr.span, message).hint(help));
                return None;
            }
            Kind::Error => return None,
            _ => {}
        }
        match self.arithmetic(expr.kind) {
            Some(Some(value)) => Some(value),
            Some(None) => {
                let message = "this has no value: it divides by zero or with a remainder, or leaves 64 bits";
                self.error("ispl/bad-index", expr.span, message);
                None
            }
            None => {
                self.explain_not_constant(id);
                None
            }
        }
    }

    /// Evaluates an operator or function. Returns `None` if an operand has no value (which was reported)
    /// or if this is not arithmetic, and `Some(None)` if the result is undefined.
    fn arithmetic(&mut self, kind: Kind) -> Option<Option<i64>> {
        match kind {
            Kind::Negate(a) => Some(self.constant(a)?.checked_neg()),
            Kind::Chain { operands, ops } => {
                let operands = self.tree.list(operands);
                let mut value = self.constant(operands[0])?;
                for (i, &operand) in operands[1..].iter().enumerate() {
                    let op = self.tree.ops[ops as usize + i];
                    if op.level() < Op::SUM {
                        return None;
                    }
                    let right = self.constant(operand)?;
                    let result = match op {
                        Op::Plus => value.checked_add(right),
                        Op::Minus => value.checked_sub(right),
                        Op::Times => value.checked_mul(right),
                        Op::Modulo => value.checked_rem_euclid(right),
                        Op::Divide if value.checked_rem(right) == Some(0) => value.checked_div(right),
                        _ => None,
                    };
                    match result {
                        Some(result) => value = result,
                        None => return Some(None),
                    }
                }
                Some(Some(value))
            }
            Kind::Call(function, arguments) => {
                let mut values = Vec::new();
                for &argument in self.tree.list(arguments) {
                    values.push(self.constant(argument)?);
                }
                Some(match function {
                    Function::Min => values.into_iter().min(),
                    Function::Max => values.into_iter().max(),
                    // 1, 2, .., N in a ring.
                    Function::Previous => {
                        values[0].checked_sub(2).and_then(|i| i.checked_rem_euclid(values[1])).map(|i| i + 1)
                    }
                    Function::Next => values[0].checked_rem_euclid(values[1]).map(|i| i + 1),
                })
            }
            _ => None,
        }
    }

    /// Reports that an expression is not an index expression, unless a part of it was reported.
    fn explain_not_constant(&mut self, id: ExprId) {
        let expr = self.tree.expr(id);
        let is_arithmetic = match expr.kind {
            Kind::Chain { ops, .. } => self.tree.ops[ops as usize].level() >= Op::SUM,
            Kind::Negate(_) | Kind::Call(..) | Kind::Error => true,
            _ => false,
        };
        if !is_arithmetic {
            let message = "an index consists of numbers, parameters and index variables";
            self.error("ispl/not-constant", expr.span, message);
        }
    }

    /// Evaluates a `where` condition.
    pub(super) fn index_condition(&mut self, id: ExprId) -> Option<bool> {
        let expr = self.tree.expr(id);
        match expr.kind {
            Kind::Bool(value) => Some(value),
            Kind::Not(a) => Some(!self.index_condition(a)?),
            Kind::Compare(relation, a, b) => self.compare_constants(relation, a, b),
            Kind::Chain { operands, ops } if self.tree.ops[ops as usize].level() <= Op::And.level() => {
                let mut values = Vec::new();
                for &operand in self.tree.list(operands) {
                    values.push(self.index_condition(operand)?);
                }
                let last = values.pop()?;
                Some(values.into_iter().rev().fold(last, |right, left| match self.tree.ops[ops as usize] {
                    Op::And => left && right,
                    Op::Or => left || right,
                    Op::Implies => !left || right,
                    _ => left == right,
                }))
            }
            Kind::Error => None,
            _ => {
                let message = "a `where` condition compares numbers, parameters and index variables";
                self.error("ispl/not-constant", expr.span, message);
                None
            }
        }
    }

    fn compare_constants(&mut self, relation: Relation, a: ExprId, b: ExprId) -> Option<bool> {
        let (a, b) = (self.constant(a)?, self.constant(b)?);
        Some(relation.admits(a.cmp(&b)))
    }

    /// Runs `body` for each value of an index. Returns whether there was one, or whether the range has
    /// an error, so that there might have been one.
    pub(super) fn each(&mut self, binder: u32, mut body: impl FnMut(&mut Self)) -> bool {
        let Binder { name, lo, hi, condition, span } = self.tree.binders[binder as usize];
        let (Some(lo), Some(hi)) = (self.constant(lo), self.constant(hi)) else {
            self.is_incomplete = true;
            return true;
        };
        if self.binding(name).is_some() {
            let message = format!("`{}` is already a parameter or an index here", self.names.text(name));
            self.report(Diagnostic::error("ispl/duplicate-index", span, message).hint("use another name"));
        }
        let n_iterations = (i128::from(hi) - i128::from(lo) + 1).max(0);
        let Some(iterations_left) = self.iterations_left.filter(|left| n_iterations <= i128::from(*left))
        else {
            self.report_too_many_iterations(span);
            return true;
        };
        self.iterations_left = Some(iterations_left - n_iterations as u64);
        let mut any = false;
        for value in lo..=hi {
            if !self.sources.limits().charge(BYTES_PER_ITERATION) {
                return true;
            }
            self.bindings.push((name, value));
            if condition.is_none_or(|c| self.index_condition(c).unwrap_or(false)) {
                any = true;
                body(self);
            }
            self.bindings.pop();
        }
        any
    }

    /// Reports the first loop that exceeds the limit. No further loop is entered.
    fn report_too_many_iterations(&mut self, span: Span) {
        if self.iterations_left.take().is_some() {
            let message = format!("the loops of this file have more than {MAX_ITERATIONS} iterations");
            self.report(
                Diagnostic::error("ispl/too-many-rounds", span, message)
                    .label("the limit is exceeded here")
                    .hint("choose smaller ranges or parameters"),
            );
        }
        self.is_incomplete = true;
    }

    /// Runs `body` for each instance of each item.
    pub(super) fn each_item<'a, T>(&mut self, items: &'a [Item<T>], body: &mut dyn FnMut(&mut Self, &'a T)) {
        for item in items {
            if self.is_stopped() {
                return;
            }
            match item {
                Item::One(one) => body(self, one),
                Item::For { binder, items, .. } => {
                    self.each(*binder, |checker| checker.each_item(items, body));
                }
            }
        }
    }

    /// Runs `body` for each name that a pattern stands for. Returns whether there was one.
    pub(super) fn each_name(&mut self, pattern: &Pattern, body: &mut dyn FnMut(&mut Self, Symbol)) -> bool {
        if pattern.indexes.is_empty() {
            body(self, pattern.name);
            return true;
        }
        self.each_index(pattern, &mut Vec::new(), body)
    }

    fn each_index(
        &mut self,
        pattern: &Pattern,
        values: &mut Vec<i64>,
        body: &mut dyn FnMut(&mut Self, Symbol),
    ) -> bool {
        match pattern.indexes.get(values.len()) {
            None => {
                let name = self.instance(pattern.name, values);
                body(self, name);
                true
            }
            Some(Index::At(index)) => {
                let Some(value) = self.constant(*index) else {
                    self.is_incomplete = true;
                    return true;
                };
                values.push(value);
                let any = self.each_index(pattern, values, body);
                values.pop();
                any
            }
            Some(Index::Each(binder)) => {
                let variable = self.tree.binders[*binder as usize].name;
                let (mut any, mut is_entered) = (false, false);
                let may_be_any = self.each(*binder, |checker| {
                    is_entered = true;
                    values.push(checker.binding(variable).unwrap_or_default());
                    any |= checker.each_index(pattern, values, body);
                    values.pop();
                });
                any || may_be_any && !is_entered
            }
        }
    }

    /// Interns the name of an instance: `coin[3]`, `cell[1,2]`.
    pub(super) fn instance(&mut self, name: Symbol, values: &[i64]) -> Symbol {
        use std::fmt::Write;
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.push_str(self.names.text(name));
        for (i, value) in values.iter().enumerate() {
            _ = write!(text, "{}{value}", if i == 0 { '[' } else { ',' });
        }
        text.push(']');
        let symbol = self.names.intern(&text);
        self.text = text;
        symbol
    }

    /// Returns the name that a reference stands for under the current bindings.
    pub(super) fn resolve(&mut self, reference: Ref) -> Option<Symbol> {
        if reference.indexes.len == 0 {
            return Some(reference.name);
        }
        let mut values = [0; 8];
        let indexes = self.tree.list(reference.indexes);
        if indexes.len() > values.len() {
            let span = self.tree.expr(indexes[8]).span;
            self.error("ispl/wrong-index-count", span, "an array has at most 8 indexes");
            return None;
        }
        for (i, &index) in indexes.iter().enumerate() {
            values[i] = self.constant(index)?;
        }
        Some(self.instance(reference.name, &values[..indexes.len()]))
    }
}
