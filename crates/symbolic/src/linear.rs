//! Arithmetic: comparisons of sums as decision diagrams.
//!
//! Every number is brought into the form `(k + c_1 t_1 + .. + c_n t_n) / scale`, where a term `t` is
//! a bit, a condition counted as 0 or 1, or an expression with a table of values. A comparison is then
//! the question whether the sum lies in some intervals, answered by dynamic programming over (rest
//! of the terms, sum so far), with the terms in the order of the diagram. Tables of values for sums
//! instead are 2 to 5 times slower on the dining cryptographers, and far worse on muddy children.

use std::rc::Rc;

use masque_model::{Domain, Expr, ExprId, Relation, VarId};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::space::{Bit, Level, Limited, Set};

/// Disjoint intervals in increasing order, both ends included.
type Targets = Vec<(i128, i128)>;

/// For each `value`, the set in which an expression has the value `value / scale`. In states outside all
/// sets the expression has no value.
#[derive(Clone)]
struct ValueTable {
    values: Rc<Vec<(i128, Set)>>,
    scale: i128,
}

#[derive(Clone)]
enum Term {
    Bit(Bit),
    Condition(Set),
    Table(Rc<Vec<(i128, Set)>>),
}

/// `(constant + sum of coefficient * term) / scale`, `scale` positive.
#[derive(Clone)]
struct Linear {
    terms: Vec<(i128, Term)>,
    constant: i128,
    scale: i128,
}

impl Linear {
    fn constant(constant: i128) -> Self {
        Linear { terms: Vec::new(), constant, scale: 1 }
    }

    fn times(mut self, factor: i128) -> Self {
        self.terms.iter_mut().for_each(|(c, _)| *c *= factor);
        self.constant *= factor;
        self
    }

    fn over(mut self, divisor: i128) -> Self {
        if divisor < 0 {
            self = self.times(-1);
        }
        self.scale *= divisor.abs();
        self
    }

    fn plus(self, other: Linear) -> Self {
        let scale = self.scale / gcd(self.scale, other.scale) * other.scale;
        let (a, b) = (scale / self.scale, scale / other.scale);
        let (mut sum, other) = (self.times(a), other.times(b));
        sum.terms.extend(other.terms);
        sum.constant += other.constant;
        sum.scale = scale;
        sum
    }

    fn as_constant(&self) -> Option<(i128, i128)> {
        self.terms.is_empty().then_some((self.constant, self.scale))
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl Encoder<'_> {
    /// Computes the states in which `a relation b` is true: both must have values.
    ///
    /// If both always have values, the four inequalities are one set or its complement, computed once:
    /// `S <= m`, `m >= S` and `m < S` share a diagram.
    pub(crate) fn compare_numbers(&mut self, relation: Relation, a: ExprId, b: ExprId) -> Limited<Set> {
        let (is_complement, key) = match relation {
            Relation::Less => (false, (a, b)),
            Relation::AtLeast => (true, (a, b)),
            Relation::Greater => (false, (b, a)),
            Relation::AtMost => (true, (b, a)),
            Relation::Equal | Relation::Unequal => (false, (a, b)),
        };
        let is_order = !matches!(relation, Relation::Equal | Relation::Unequal);
        if let (true, Some(less)) = (is_order, self.less.get(&key)) {
            let less = less.clone();
            return if is_complement { self.space.not(&less) } else { Ok(less) };
        }
        let (left, right) = (self.linear(a)?, self.linear(b)?);
        let difference = left.plus(right.times(-1));
        let (min, max) = (i128::MIN / 4, i128::MAX / 4);
        if is_order && !difference.terms.iter().any(|(_, term)| matches!(term, Term::Table(_))) {
            let difference = if key == (a, b) { difference } else { difference.times(-1) };
            let less = self.lies_in(difference, vec![(min, -1)])?;
            self.less.insert(key, less.clone());
            return if is_complement { self.space.not(&less) } else { Ok(less) };
        }
        let targets = match relation {
            Relation::Equal => vec![(0, 0)],
            Relation::Unequal => vec![(min, -1), (1, max)],
            Relation::Less => vec![(min, -1)],
            Relation::AtMost => vec![(min, 0)],
            Relation::Greater => vec![(1, max)],
            Relation::AtLeast => vec![(0, max)],
        };
        self.lies_in(difference, targets)
    }

    /// Computes the states in which an expression has one of these values.
    pub(crate) fn is_one_of(&mut self, id: ExprId, mut values: Vec<i128>) -> Limited<Set> {
        let linear = self.linear(id)?;
        values.sort_unstable();
        values.dedup();
        let mut targets: Targets = Vec::new();
        for value in values {
            let value = value * linear.scale;
            match targets.last_mut() {
                Some((_, end)) if *end + 1 == value => *end = value,
                _ => targets.push((value, value)),
            }
        }
        self.lies_in(linear, targets)
    }

    /// Computes the relation in which the next value of a number variable is the current value of an
    /// expression.
    pub(crate) fn next_is_number(&mut self, v: VarId, next: &[Bit], id: ExprId) -> Limited<Set> {
        let value = self.linear(id)?;
        let target = self.variable(v, next);
        let difference = value.plus(target.times(-1));
        let equal = self.lies_in(difference, vec![(0, 0)])?;
        let valid = self.valid_code(v, next)?;
        self.space.and(&equal, &valid)
    }

    /// Returns a variable's value as a sum of its bits.
    fn variable(&self, v: VarId, bits: &[Bit]) -> Linear {
        let lo = match self.system.variable(v).domain {
            Domain::Integers(lo, _) => lo.into(),
            _ => 0,
        };
        let terms = bits.iter().rev().enumerate().map(|(i, &bit)| (1 << i, Term::Bit(bit))).collect();
        Linear { terms, constant: lo, scale: 1 }
    }

    fn linear(&mut self, id: ExprId) -> Limited<Linear> {
        Ok(match self.system.exprs.get(id) {
            Expr::Number(n) => Linear::constant(n.into()),
            Expr::Variable(v) if !self.system.is_boolean(id) => {
                self.variable(v, &self.layout.variables[v.index()].current)
            }
            Expr::Variable(v) => self.variable(v, &self.layout.variables[v.index()].current),
            _ if self.system.is_boolean(id) => {
                let condition = self.condition(id)?;
                Linear { terms: vec![(1, Term::Condition(condition))], constant: 0, scale: 1 }
            }
            Expr::Sum(list) => {
                let mut sum = Linear::constant(0);
                for &a in list {
                    sum = sum.plus(self.linear(a)?);
                }
                sum
            }
            Expr::Negate(a) => self.linear(a)?.times(-1),
            Expr::Product(list) => self.product(list)?,
            Expr::Divide(a, b) => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                match b.as_constant() {
                    Some((n, scale)) if n != 0 => a.times(scale).over(n),
                    _ => {
                        let quotient = |a: i128, b: i128, scale: (i128, i128)| {
                            (b != 0).then(|| (a * scale.1 * b.signum(), scale.0 * b.abs()))
                        };
                        self.combine(a, b, quotient)?
                    }
                }
            }
            Expr::Modulo(a, b) => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                match b.as_constant() {
                    Some((n, 1)) if n != 0 && a.scale == 1 && n.abs() <= 1 << 12 => {
                        self.residues(a, n.abs())?
                    }
                    _ => {
                        let modulo = |a: i128, b: i128, scale: (i128, i128)| {
                            let is_whole = a % scale.0 == 0 && b % scale.1 == 0;
                            let (a, b) = (a / scale.0, b / scale.1);
                            (is_whole && b != 0).then(|| (a.rem_euclid(b), 1))
                        };
                        self.combine(a, b, modulo)?
                    }
                }
            }
            _ => Linear::constant(0),
        })
    }

    /// Computes a product. Constant factors scale; two factors that are not constant need tables.
    fn product(&mut self, list: &[ExprId]) -> Limited<Linear> {
        let mut product = Linear::constant(1);
        for &factor in list {
            let factor = self.linear(factor)?;
            product = match (product.as_constant(), factor.as_constant()) {
                (Some((n, scale)), _) => factor.times(n).over(scale),
                (_, Some((n, scale))) => product.times(n).over(scale),
                _ => self.combine(product, factor, |a, b, scale| Some((a * b, scale.0 * scale.1)))?,
            };
        }
        Ok(product)
    }

    /// Applies an operation to two tables of values. The operation gets two numerators and both scales,
    /// and returns a numerator and a denominator, or `None` if there is no value.
    fn combine(
        &mut self,
        a: Linear,
        b: Linear,
        operation: impl Fn(i128, i128, (i128, i128)) -> Option<(i128, i128)>,
    ) -> Limited<Linear> {
        let (a, b) = (self.table(a)?, self.table(b)?);
        let mut fractions: Vec<((i128, i128), Set)> = Vec::new();
        for (x, x_set) in a.values.iter() {
            for (y, y_set) in b.values.iter() {
                if let Some(result) = operation(*x, *y, (a.scale, b.scale)) {
                    let set = self.space.and(x_set, y_set)?;
                    if !set.is_empty() {
                        fractions.push((result, set));
                    }
                }
            }
        }
        let scale = fractions.iter().fold(1, |scale, ((n, d), _)| {
            let d = d / gcd(*n, *d).max(1);
            scale / gcd(scale, d) * d
        });
        let mut by_value: FxHashMap<i128, Set> = FxHashMap::default();
        for ((n, d), set) in fractions {
            let value = n * scale / d;
            let set = match by_value.get(&value) {
                Some(known) => self.space.or(known, &set)?,
                None => set,
            };
            by_value.insert(value, set);
        }
        let mut values: Vec<(i128, Set)> = by_value.into_iter().collect();
        values.sort_unstable_by_key(|(value, _)| *value);
        Ok(Linear { terms: vec![(1, Term::Table(Rc::new(values)))], constant: 0, scale })
    }

    /// Computes the values of a sum, each with its set.
    fn table(&mut self, linear: Linear) -> Limited<ValueTable> {
        let scale = linear.scale;
        let mut values: FxHashMap<i128, Set> = FxHashMap::default();
        values.insert(linear.constant, self.space.all());
        for (coefficient, term) in self.sorted(linear.terms).into_iter().rev() {
            let mut next: FxHashMap<i128, Set> = FxHashMap::default();
            for (choice, set) in self.choices_of(&term)? {
                for (sum, rest) in &values {
                    let both = self.space.and(&set, rest)?;
                    let sum = sum + coefficient * choice;
                    let known =
                        next.get(&sum).map_or(Ok(both.clone()), |known| self.space.or(known, &both))?;
                    next.insert(sum, known);
                }
            }
            next.retain(|_, set| !set.is_empty());
            values = next;
        }
        let mut values: Vec<(i128, Set)> = values.into_iter().collect();
        values.sort_unstable_by_key(|(value, _)| *value);
        Ok(ValueTable { values: Rc::new(values), scale })
    }

    /// Computes an integer sum modulo `m`, without a table of the sum itself.
    fn residues(&mut self, linear: Linear, m: i128) -> Limited<Linear> {
        let mut residues = vec![self.space.none(); m as usize];
        residues[linear.constant.rem_euclid(m) as usize] = self.space.all();
        for (coefficient, term) in self.sorted(linear.terms).into_iter().rev() {
            let mut next = vec![self.space.none(); m as usize];
            for (choice, set) in self.choices_of(&term)? {
                for (r, rest) in residues.iter().enumerate() {
                    let to = (r as i128 + coefficient * choice).rem_euclid(m) as usize;
                    next[to] = self.space.or(&next[to], &self.space.and(&set, rest)?)?;
                }
            }
            residues = next;
        }
        let values = residues.into_iter().enumerate().map(|(r, set)| (r as i128, set)).collect();
        Ok(Linear { terms: vec![(1, Term::Table(Rc::new(values)))], constant: 0, scale: 1 })
    }

    /// Returns the values of a term, each with its set.
    fn choices_of(&self, term: &Term) -> Limited<Vec<(i128, Set)>> {
        Ok(match term {
            Term::Bit(bit) => vec![(0, self.space.bit(*bit, false)?), (1, self.space.bit(*bit, true)?)],
            Term::Condition(set) => vec![(0, self.space.not(set)?), (1, set.clone())],
            Term::Table(values) => values.as_ref().clone(),
        })
    }

    /// Sorts terms from the top of the order down, and adds up equal bits.
    fn sorted(&self, terms: Vec<(i128, Term)>) -> Vec<(i128, Term)> {
        let mut bits: FxHashMap<Bit, i128> = FxHashMap::default();
        let mut rest: Vec<(Level, i128, Term)> = Vec::new();
        for (coefficient, term) in terms {
            match term {
                Term::Bit(bit) => *bits.entry(bit).or_default() += coefficient,
                Term::Condition(ref set) => rest.push((self.space.top(set), coefficient, term)),
                Term::Table(_) => rest.push((Level(0), coefficient, term)),
            }
        }
        rest.extend(
            bits.into_iter()
                .filter(|(_, c)| *c != 0)
                .map(|(bit, c)| (self.space.level(bit), c, Term::Bit(bit))),
        );
        rest.sort_by_key(|(level, _, _)| *level);
        rest.into_iter().map(|(_, coefficient, term)| (coefficient, term)).collect()
    }

    /// Computes the states in which the sum lies in one of the intervals.
    fn lies_in(&mut self, linear: Linear, targets: Targets) -> Limited<Set> {
        let terms = self.sorted(linear.terms);
        // The least and the largest sum of the terms from the k-th on.
        let mut rest = vec![(0, 0); terms.len() + 1];
        for (k, (coefficient, term)) in terms.iter().enumerate().rev() {
            let (lo, hi) = match term {
                Term::Bit(_) | Term::Condition(_) => (0, 1),
                Term::Table(values) => (values.first().map_or(0, |v| v.0), values.last().map_or(0, |v| v.0)),
            };
            let (a, b) = (coefficient * lo, coefficient * hi);
            rest[k] = (rest[k + 1].0 + a.min(b), rest[k + 1].1 + a.max(b));
        }
        let mut search = IntervalSearch { terms, rest, targets, memo: FxHashMap::default() };
        let mut set = self.search(&mut search, 0, linear.constant)?;
        // Where a table has no value, the comparison is false.
        for (_, term) in &search.terms {
            if let Term::Table(values) = term {
                let defined = self.balanced(values.iter().map(|(_, set)| set.clone()).collect(), false)?;
                set = self.space.and(&set, &defined)?;
            }
        }
        Ok(set)
    }

    /// Computes the states in which `sum` and the terms from the `k`-th on lie in one of the intervals.
    fn search(&mut self, search: &mut IntervalSearch, k: usize, sum: i128) -> Limited<Set> {
        let (lo, hi) = (sum + search.rest[k].0, sum + search.rest[k].1);
        // The first interval that does not end below the least possible sum.
        let first = search.targets.partition_point(|(_, end)| *end < lo);
        match search.targets.get(first) {
            None => return Ok(self.space.none()),
            Some((begin, _)) if *begin > hi => return Ok(self.space.none()),
            Some((begin, end)) if *begin <= lo && hi <= *end => return Ok(self.space.all()),
            _ => {}
        }
        if let Some(known) = search.memo.get(&(k, sum)) {
            return Ok(known.clone());
        }
        let (coefficient, term) = search.terms[k].clone();
        let set = match term {
            Term::Bit(_) | Term::Condition(_) => {
                let low = self.search(search, k + 1, sum)?;
                let high = self.search(search, k + 1, sum + coefficient)?;
                let condition = match term {
                    Term::Bit(bit) => self.space.bit(bit, true)?,
                    Term::Condition(set) => set,
                    Term::Table(_) => low.clone(),
                };
                self.space.ite(&condition, &high, &low)?
            }
            Term::Table(values) => {
                let mut sets = Vec::new();
                for (value, set) in values.iter() {
                    let then = self.search(search, k + 1, sum + coefficient * value)?;
                    sets.push(self.space.and(set, &then)?);
                }
                self.balanced(sets, false)?
            }
        };
        search.memo.insert((k, sum), set.clone());
        Ok(set)
    }
}

/// The dynamic program of `lies_in`.
struct IntervalSearch {
    terms: Vec<(i128, Term)>,
    /// For each `k`, the least and the largest sum of the terms from the `k`-th on.
    rest: Vec<(i128, i128)>,
    targets: Targets,
    /// Results by `k` and the sum of the terms before.
    memo: FxHashMap<(usize, i128), Set>,
}
