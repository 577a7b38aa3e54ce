//! Sizes that are known without the checker: values of parameters, numbers of elements and of values, bits.

use rustc_hash::FxHashMap;

use super::Indexer;
use crate::tree::{ExprId, Function, Index, Kind, Op, Pattern, Symbol, Type};

/// Default values of the parameters, as far as they can be computed.
pub(super) type Values = FxHashMap<Symbol, i64>;

impl Indexer<'_> {
    /// Computes the default values of the parameters from first to last.
    pub(super) fn parameter_values(&self) -> Values {
        let mut values = Values::default();
        for param in &self.tree.sections.params {
            if let Some(value) = param.value.and_then(|value| self.constant(value, &values)) {
                values.entry(param.name).or_insert(value);
            }
        }
        values
    }

    /// Computes an expression over numbers and parameters.
    fn constant(&self, id: ExprId, values: &Values) -> Option<i64> {
        let tree = self.tree;
        match tree.expr(id).kind {
            Kind::Number(number) => Some(number),
            Kind::Name(name) if name.indexes.len == 0 => values.get(&name.name).copied(),
            Kind::Negate(a) => self.constant(a, values)?.checked_neg(),
            Kind::Chain { operands, ops } => {
                let (first, rest) = tree.list(operands).split_first()?;
                let ops = &tree.ops[ops as usize..ops as usize + rest.len()];
                rest.iter().zip(ops).try_fold(self.constant(*first, values)?, |left, (right, op)| {
                    let right = self.constant(*right, values)?;
                    match op {
                        Op::Plus => left.checked_add(right),
                        Op::Minus => left.checked_sub(right),
                        Op::Times => left.checked_mul(right),
                        Op::Divide if right != 0 && left.checked_rem(right)? == 0 => left.checked_div(right),
                        Op::Modulo => left.checked_rem_euclid(right),
                        _ => None,
                    }
                })
            }
            Kind::Call(function, arguments) => {
                let arguments = tree.list(arguments).iter().map(|argument| self.constant(*argument, values));
                let arguments: Vec<i64> = arguments.collect::<Option<_>>()?;
                match function {
                    Function::Min => arguments.into_iter().min(),
                    Function::Max => arguments.into_iter().max(),
                    Function::Previous | Function::Next => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the number of names that a pattern stands for.
    pub(super) fn n_names(&self, pattern: &Pattern, values: &Values) -> Option<u64> {
        pattern.indexes.iter().try_fold(1u64, |n_names, index| match *index {
            Index::At(_) => Some(n_names),
            Index::Each(binder) => {
                let binder = self.tree.binders[binder as usize];
                if binder.condition.is_some() {
                    return None;
                }
                n_names.checked_mul(self.n_numbers(binder.lo, binder.hi, values)?)
            }
        })
    }

    /// Returns the number of values of a type.
    pub(super) fn n_values(&self, ty: &Type, values: &Values) -> Option<u64> {
        match ty {
            Type::Boolean => Some(2),
            Type::Range(lo, hi) => self.n_numbers(*lo, *hi, values),
            Type::Enumeration(patterns) => {
                patterns.iter().try_fold(0u64, |sum, pattern| sum.checked_add(self.n_names(pattern, values)?))
            }
        }
    }

    fn n_numbers(&self, lo: ExprId, hi: ExprId, values: &Values) -> Option<u64> {
        let (lo, hi) = (self.constant(lo, values)?, self.constant(hi, values)?);
        u64::try_from(hi.checked_sub(lo)?.checked_add(1)?).ok()
    }
}

/// Returns the number of bits that distinguish this number of values.
pub(super) fn bits(n_values: u64) -> u32 {
    u64::BITS - n_values.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn bits_distinguish_all_values() {
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 9].map(bits), [0, 0, 1, 2, 2, 3, 3, 4]);
    }
}
