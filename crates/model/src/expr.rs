//! Conditions and arithmetic over variables and actions.

use serde::{Deserialize, Serialize};

use crate::pool::{List, Pool};
use crate::{ActionId, AgentId, SymbolId, VarId};

/// An expression of [`Exprs`]; operands have smaller ids than the expressions that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExprId(u32);

impl ExprId {
    /// Returns the index in the pool, for tables indexed by expression.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<>`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Relation {
    /// Returns the operator as written in ISPL.
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::Unequal => "<>",
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::Greater => ">",
            Relation::AtLeast => ">=",
        }
    }

    /// Returns whether two values with this order are in the relation.
    pub fn admits(self, order: std::cmp::Ordering) -> bool {
        match self {
            Relation::Equal => order.is_eq(),
            Relation::Unequal => order.is_ne(),
            Relation::Less => order.is_lt(),
            Relation::AtMost => order.is_le(),
            Relation::Greater => order.is_gt(),
            Relation::AtLeast => order.is_ge(),
        }
    }
}

/// One expression, its operands as ids.
///
/// Values are exact rationals: booleans are 0 and 1, an enumeration value is the number of its
/// symbol. Division by zero, and `mod` of a fraction or by zero, have no value; an operation on an
/// operand without a value has no value, and a comparison with it is false.
pub type Expr<'p> = ExprWith<&'p [ExprId]>;

/// An expression whose lists of operands have the type `L`: slices outside the pool, `List`s inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExprWith<L> {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Number(i64),
    /// A value of an enumeration.
    Symbol(SymbolId),
    /// The value of a variable in the current state.
    Variable(VarId),
    /// Whether the agent performs this action in the current step (evolution lines only).
    ActionIs(AgentId, ActionId),
    /// Negation of a boolean.
    Not(ExprId),
    /// Conjunction of booleans.
    And(L),
    /// Disjunction of booleans.
    Or(L),
    /// True iff an odd number of the booleans is true.
    Xor(L),
    /// A comparison; enumerations and booleans with `Equal` and `Unequal` only.
    Compare(Relation, ExprId, ExprId),
    /// The sum of numbers; booleans count as 0 and 1.
    Sum(L),
    /// The product of numbers.
    Product(L),
    /// `- a`
    Negate(ExprId),
    /// `a / b`, exactly.
    Divide(ExprId, ExprId),
    /// `a mod b`, Euclidean: the result is never negative.
    Modulo(ExprId, ExprId),
}

impl<L> ExprWith<L> {
    /// Returns the same expression with another type of list.
    fn with_list<M>(self, change: impl FnOnce(L) -> M) -> ExprWith<M> {
        match self {
            ExprWith::Bool(a) => ExprWith::Bool(a),
            ExprWith::Number(a) => ExprWith::Number(a),
            ExprWith::Symbol(a) => ExprWith::Symbol(a),
            ExprWith::Variable(a) => ExprWith::Variable(a),
            ExprWith::ActionIs(a, b) => ExprWith::ActionIs(a, b),
            ExprWith::Not(a) => ExprWith::Not(a),
            ExprWith::And(list) => ExprWith::And(change(list)),
            ExprWith::Or(list) => ExprWith::Or(change(list)),
            ExprWith::Xor(list) => ExprWith::Xor(change(list)),
            ExprWith::Compare(a, b, c) => ExprWith::Compare(a, b, c),
            ExprWith::Sum(list) => ExprWith::Sum(change(list)),
            ExprWith::Product(list) => ExprWith::Product(change(list)),
            ExprWith::Negate(a) => ExprWith::Negate(a),
            ExprWith::Divide(a, b) => ExprWith::Divide(a, b),
            ExprWith::Modulo(a, b) => ExprWith::Modulo(a, b),
        }
    }
}

type ExprNode = ExprWith<List>;

/// The expressions of one system, each stored once.
///
/// ```
/// use masque_model::{Expr, Exprs, Relation};
/// let mut exprs = Exprs::default();
/// let (yes, no) = (exprs.bool(true), exprs.bool(false));
/// assert_eq!(exprs.or(vec![no, yes]), yes);
/// let (two, three) = (exprs.number(2), exprs.number(3));
/// let less = exprs.compare(Relation::Less, two, three);
/// assert_eq!(exprs.get(less), Expr::Bool(true));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    pool: Pool<ExprNode, ExprId>,
}

impl Exprs {
    /// Returns the number of different expressions; ids are `0..len`.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// Returns whether there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.pool.len() == 0
    }

    /// Returns all ids, operands before users.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ExprId> + use<> {
        (0..self.pool.len() as u32).map(ExprId)
    }

    /// Returns the expression with an id.
    pub fn get(&self, id: ExprId) -> Expr<'_> {
        self.pool.get(id.0).with_list(|list| self.pool.operands(list))
    }

    /// Calls `visit` for each direct operand of `id`.
    pub fn each_operand(&self, id: ExprId, mut visit: impl FnMut(ExprId)) {
        match self.get(id) {
            Expr::Bool(_) | Expr::Number(_) | Expr::Symbol(_) | Expr::Variable(_) | Expr::ActionIs(..) => {}
            Expr::Not(a) | Expr::Negate(a) => visit(a),
            Expr::Compare(_, a, b) | Expr::Divide(a, b) | Expr::Modulo(a, b) => {
                visit(a);
                visit(b);
            }
            Expr::And(list) | Expr::Or(list) | Expr::Xor(list) | Expr::Sum(list) | Expr::Product(list) => {
                list.iter().copied().for_each(visit)
            }
        }
    }
}

/// Constructors. They simplify constants and nothing else.
impl Exprs {
    fn add(&mut self, node: ExprNode) -> ExprId {
        ExprId(self.pool.intern(node))
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.add(ExprNode::Bool(value))
    }

    /// An integer.
    pub fn number(&mut self, value: i64) -> ExprId {
        self.add(ExprNode::Number(value))
    }

    /// An enumeration value.
    pub fn symbol(&mut self, symbol: SymbolId) -> ExprId {
        self.add(ExprNode::Symbol(symbol))
    }

    /// A variable.
    pub fn variable(&mut self, variable: VarId) -> ExprId {
        self.add(ExprNode::Variable(variable))
    }

    /// `agent.Action = action`
    pub fn action_is(&mut self, agent: AgentId, action: ActionId) -> ExprId {
        self.add(ExprNode::ActionIs(agent, action))
    }

    /// `! a`
    pub fn not(&mut self, a: ExprId) -> ExprId {
        match self.get(a) {
            Expr::Bool(b) => self.bool(!b),
            Expr::Not(inner) => inner,
            _ => self.add(ExprNode::Not(a)),
        }
    }

    /// Conjunction; `true` if there are no operands.
    pub fn and(&mut self, operands: Vec<ExprId>) -> ExprId {
        self.junction(operands, true)
    }

    /// Disjunction; `false` if there are no operands.
    pub fn or(&mut self, operands: Vec<ExprId>) -> ExprId {
        self.junction(operands, false)
    }

    fn junction(&mut self, mut operands: Vec<ExprId>, neutral: bool) -> ExprId {
        if operands.iter().any(|&a| self.get(a) == Expr::Bool(!neutral)) {
            return self.bool(!neutral);
        }
        operands.retain(|&a| self.get(a) != Expr::Bool(neutral));
        match operands[..] {
            [] => self.bool(neutral),
            [only] => only,
            _ => {
                let list = self.pool.list(&operands);
                self.add(if neutral { ExprNode::And(list) } else { ExprNode::Or(list) })
            }
        }
    }

    /// True iff an odd number of the operands is true.
    pub fn xor(&mut self, mut operands: Vec<ExprId>) -> ExprId {
        let trues = operands.iter().filter(|&&a| self.get(a) == Expr::Bool(true)).count();
        operands.retain(|&a| !matches!(self.get(a), Expr::Bool(_)));
        let rest = match operands[..] {
            [] => self.bool(false),
            [only] => only,
            _ => {
                let list = self.pool.list(&operands);
                self.add(ExprNode::Xor(list))
            }
        };
        if trues % 2 == 1 { self.not(rest) } else { rest }
    }

    /// A comparison.
    pub fn compare(&mut self, relation: Relation, a: ExprId, b: ExprId) -> ExprId {
        let order = match (self.get(a), self.get(b)) {
            (Expr::Number(a), Expr::Number(b)) => Some(a.cmp(&b)),
            (Expr::Symbol(a), Expr::Symbol(b)) => Some(a.cmp(&b)),
            (Expr::Bool(a), Expr::Bool(b)) => Some(a.cmp(&b)),
            _ => None,
        };
        if let Some(order) = order {
            return self.bool(relation.admits(order));
        }
        // `b = true` is `b`; the other relations do not apply to booleans.
        let (side, constant) = match (self.get(a), self.get(b)) {
            (Expr::Bool(constant), _) => (b, constant),
            (_, Expr::Bool(constant)) => (a, constant),
            _ => return self.add(ExprNode::Compare(relation, a, b)),
        };
        if constant == (relation == Relation::Equal) { side } else { self.not(side) }
    }

    /// A sum; 0 if there are no operands.
    pub fn sum(&mut self, operands: Vec<ExprId>) -> ExprId {
        self.fold(operands, 0, i128::checked_add, ExprNode::Sum)
    }

    /// A product; 1 if there are no operands.
    pub fn product(&mut self, operands: Vec<ExprId>) -> ExprId {
        self.fold(operands, 1, i128::checked_mul, ExprNode::Product)
    }

    /// Folds all constants into one, which becomes the last operand. If their total does not fit into 64
    /// bits, they stay as they are. Either way, folding the result again changes nothing.
    fn fold(
        &mut self,
        mut operands: Vec<ExprId>,
        neutral: i64,
        combine: fn(i128, i128) -> Option<i128>,
        node: fn(List) -> ExprNode,
    ) -> ExprId {
        let constant = |pool: &Self, a: &ExprId| match pool.get(*a) {
            Expr::Number(n) => Some(i128::from(n)),
            _ => None,
        };
        let mut constants = operands.iter().filter_map(|a| constant(self, a));
        let total = constants.try_fold(i128::from(neutral), combine).and_then(|n| i64::try_from(n).ok());
        if let Some(total) = total {
            operands.retain(|a| constant(self, a).is_none());
            if total != neutral || operands.is_empty() {
                operands.push(self.number(total));
            }
        }
        match operands[..] {
            // A single constant stands for itself; any other single operand stays in a sum, because a
            // boolean is a number only there.
            [only] if constant(self, &only).is_some() => only,
            _ => {
                let list = self.pool.list(&operands);
                self.add(node(list))
            }
        }
    }

    /// `- a`
    pub fn negate(&mut self, a: ExprId) -> ExprId {
        match self.get(a) {
            Expr::Number(n) if n != i64::MIN => self.number(-n),
            _ => self.add(ExprNode::Negate(a)),
        }
    }

    /// `a / b`, exactly.
    pub fn divide(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.get(a), self.get(b)) {
            (Expr::Number(x), Expr::Number(y)) if y != 0 && x.checked_rem(y) == Some(0) => self.number(x / y),
            _ => self.add(ExprNode::Divide(a, b)),
        }
    }

    /// `a mod b`, Euclidean.
    pub fn modulo(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.get(a), self.get(b)) {
            (Expr::Number(x), Expr::Number(y)) if y != 0 => match x.checked_rem_euclid(y) {
                Some(r) => self.number(r),
                None => self.number(0), // i64::MIN mod -1
            },
            _ => self.add(ExprNode::Modulo(a, b)),
        }
    }
}
