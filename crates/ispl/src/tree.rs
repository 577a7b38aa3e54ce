//! The syntax tree: what stands in the file, before names are resolved and sizes are known.
//!
//! Expressions live in one arena and refer to each other by [`ExprId`]: a 33 MB model has
//! millions of them. Flat chains (`a or b or c ..`) are one node, so only brackets make depth.

use masque_model::{Relation, Strategies};
use masque_text::Span;
use rustc_hash::FxHashMap;

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub(crate) u32);

/// All names of a file; instances such as `coin[3]` join them during elaboration.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    texts: Vec<Box<str>>,
    index: FxHashMap<Box<str>, Symbol>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.index.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(text.into());
        self.index.insert(text.into(), symbol);
        symbol
    }

    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }
}

/// An expression of [`Tree::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExprId(pub(crate) u32);

/// Consecutive entries of [`Tree::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl List {
    pub(crate) const EMPTY: List = List { start: 0, len: 0 };
}

/// A name in an expression, perhaps with indexes: `coin`, `coin[i + 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref {
    pub(crate) name: Symbol,
    pub(crate) indexes: List,
}

/// A binary operator; those of one level share a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Iff,
    Implies,
    Or,
    And,
    Until,
    WeakUntil,
    Release,
    BitOr,
    BitXor,
    BitAnd,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

impl Op {
    /// How tightly the operator binds. Comparisons stand at [`Op::COMPARISON`].
    pub(crate) fn level(self) -> u8 {
        match self {
            Op::Iff => 1,
            Op::Implies => 2,
            Op::Or => 3,
            Op::And => 4,
            Op::Until | Op::WeakUntil | Op::Release => 5,
            Op::BitOr | Op::BitXor => 7,
            Op::BitAnd => 8,
            Op::Plus | Op::Minus => 9,
            Op::Times | Op::Divide | Op::Modulo => 10,
        }
    }

    pub(crate) const LOOSEST: u8 = 1;
    pub(crate) const UNTIL: u8 = 5;
    pub(crate) const COMPARISON: u8 = 6;
    pub(crate) const SUM: u8 = 9;
}

/// A path quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Some,
}

/// A unary temporal operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Temporal {
    Next,
    Finally,
    Globally,
}

/// Functions of index expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Min,
    Max,
    Previous,
    Next,
}

/// `sum(i in a..b : e)` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Sum,
    Count,
    Forall,
    Exists,
}

/// Knowledge, correctness and coalitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modality {
    Knows,
    EveryoneKnows,
    DistributedKnowledge,
    CommonKnowledge,
    Correct,
    KnowsUnder,
    /// With the strategies the formula names, if it names any.
    Enforces(Option<Strategies>),
}

impl Modality {
    /// The word by which messages call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Modality::Knows => "K",
            Modality::EveryoneKnows => "GK",
            Modality::DistributedKnowledge => "DK",
            Modality::CommonKnowledge => "GCK",
            Modality::Correct => "O",
            Modality::KnowsUnder => "KH",
            Modality::Enforces(_) => "<group>",
        }
    }
}

/// An expression: a condition, arithmetic, or a formula. One type serves all, because formulas
/// contain conditions on indexes; the checker sorts out what may stand where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool(bool),
    Number(i64),
    Name(Ref),
    /// `Agent.name`
    Member(Ref, Ref),
    /// `! a`
    Not(ExprId),
    /// `~ a`
    BitNot(ExprId),
    Negate(ExprId),
    Compare(Relation, ExprId, ExprId),
    /// Operands in `operands`; the operators between them begin at `ops` in [`Tree::ops`].
    Chain {
        operands: List,
        ops: u32,
    },
    Call(Function, List),
    /// An entry of [`Tree::binders`] and a body.
    Aggregate(Aggregate, u32, ExprId),
    /// `count(c, d, ..)`
    Count(List),
    Path(Quantifier, ExprId),
    Temporal(Temporal, ExprId),
    /// An entry of [`Tree::modals`].
    Modal(u32),
    /// `EX{condition} body`
    Step(Quantifier, ExprId, ExprId),
    /// An entry of [`Tree::fixpoints`].
    Fixpoint(u32),
    /// Something that could not be read and was reported.
    Error,
}

/// An expression and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// `i in lo..hi where condition`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binder {
    pub(crate) name: Symbol,
    pub(crate) lo: ExprId,
    pub(crate) hi: ExprId,
    pub(crate) condition: Option<ExprId>,
    pub(crate) span: Span,
}

/// One index of a pattern: a value, or a range of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    At(ExprId),
    /// An entry of [`Tree::binders`].
    Each(u32),
}

/// A name being declared or listed, perhaps a family: `coin[i in 1..N]`.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) name: Symbol,
    pub(crate) indexes: Vec<Index>,
    pub(crate) span: Span,
}

/// Who a modality is about: a name, or a set in braces.
#[derive(Clone, Debug)]
pub(crate) enum Party {
    Named(Ref, Span),
    Set(Vec<Pattern>, Span),
}

/// `K(i, phi)`, `KH(i, J, phi)`, `<g> phi`
#[derive(Clone, Debug)]
pub(crate) struct Modal {
    pub(crate) modality: Modality,
    pub(crate) parties: Vec<Party>,
    pub(crate) body: ExprId,
}

/// `mu Z. phi`, `nu Z. phi`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixpoint {
    pub(crate) is_least: bool,
    pub(crate) name: Symbol,
    pub(crate) name_span: Span,
    pub(crate) body: ExprId,
}

/// A declaration, line or formula, or several of them under a `for`.
#[derive(Clone, Debug)]
pub(crate) enum Item<T> {
    One(T),
    For { binder: u32, items: Vec<Item<T>>, span: Span },
}

/// What a variable may be declared as.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Boolean,
    Range(ExprId, ExprId),
    Enumeration(Vec<Pattern>),
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) pattern: Pattern,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// `condition : { actions };`, the condition absent for `Other`.
#[derive(Clone, Debug)]
pub(crate) struct ProtocolLine {
    pub(crate) condition: ExprId,
    /// The condition is the bare word `Other`.
    pub(crate) is_other: bool,
    pub(crate) actions: Vec<Pattern>,
    pub(crate) span: Span,
}

/// `effect if condition;` in Evolution, where the effect is assignments; in `Ev`, where it is a
/// local state.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) effect: ExprId,
    pub(crate) condition: ExprId,
    pub(crate) span: Span,
}

/// A part of a file between its heading and its end.
#[derive(Clone, Debug)]
pub(crate) struct Section<T> {
    pub(crate) items: T,
    /// The heading, for messages.
    pub(crate) heading: Span,
    /// From the heading to the end.
    pub(crate) span: Span,
}

/// The sections of an agent, in either dialect.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) pattern: Pattern,
    pub(crate) lobsvars: Option<Section<Vec<Pattern>>>,
    pub(crate) obsvars: Option<Section<Vec<Item<Variable>>>>,
    pub(crate) vars: Option<Section<Vec<Item<Variable>>>>,
    pub(crate) red_states: Option<Section<Option<ExprId>>>,
    pub(crate) actions: Option<Section<Vec<Pattern>>>,
    pub(crate) protocol: Option<Section<Vec<Item<ProtocolLine>>>>,
    pub(crate) evolution: Option<Section<Vec<Item<Line>>>>,
    pub(crate) lstate: Option<Section<Vec<Pattern>>>,
    pub(crate) lgreen: Option<Section<Vec<Pattern>>>,
    /// `Agent NAME`
    pub(crate) heading: Span,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) pattern: Pattern,
    pub(crate) condition: ExprId,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) pattern: Pattern,
    pub(crate) members: Vec<Pattern>,
    pub(crate) span: Span,
}

/// How a formula is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    /// CTL, ATL, knowledge: `form`.
    State,
    Ltl,
    CtlStar,
}

#[derive(Clone, Debug)]
pub(crate) struct FormulaLine {
    /// `name : formula`
    pub(crate) label: Option<Pattern>,
    pub(crate) logic: Logic,
    pub(crate) formula: ExprId,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: Symbol,
    pub(crate) name_span: Span,
    pub(crate) value: Option<ExprId>,
    pub(crate) span: Span,
}

/// Which layer of the language a file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// ISPL 1.x with Masque's additions.
    Modern,
    /// The language of the 2004 and 2005 papers: `Lstate`, `Lgreen`, `Ev`.
    Papers,
}

/// A parsed file.
#[derive(Debug)]
pub struct Tree {
    pub(crate) names: Names,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lists: Vec<ExprId>,
    pub(crate) ops: Vec<Op>,
    pub(crate) binders: Vec<Binder>,
    pub(crate) modals: Vec<Modal>,
    pub(crate) fixpoints: Vec<Fixpoint>,
    pub(crate) params: Vec<Param>,
    pub(crate) semantics: Option<Section<masque_model::Assignment>>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) evaluation: Option<Section<Vec<Item<Definition>>>>,
    pub(crate) init_states: Option<Section<Option<ExprId>>>,
    pub(crate) groups: Option<Section<Vec<Item<Group>>>>,
    pub(crate) fairness: Option<Section<Vec<Item<FormulaLine>>>>,
    pub(crate) formulae: Option<Section<Vec<Item<FormulaLine>>>>,
    /// Formulas from the command line.
    pub(crate) extra: Vec<FormulaLine>,
    pub(crate) dialect: Dialect,
    /// The whole file.
    pub(crate) span: Span,
}

impl Tree {
    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.0 as usize]
    }

    pub(crate) fn list(&self, list: List) -> &[ExprId] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    /// Which layer of the language the file uses.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}
