//! The syntax tree of a file, before names are resolved and parameters are expanded.
//!
//! Expressions are stored in one arena and refer to each other by [`ExprId`], because a model of 33 MB
//! has millions of them. Flat chains (`a or b or c ..`) are one node, so only brackets and prefix
//! operators make the tree deep.

use masque_model::{Relation, Strategies};
use masque_text::Span;
use rustc_hash::FxHashMap;

use crate::parser::ConditionScope;

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub(crate) u32);

/// All names of a file. The checker adds the names of instances, such as `coin[3]`.
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

    /// Returns a name that occurs in the file.
    pub(crate) fn find(&self, text: &str) -> Option<Symbol> {
        self.index.get(text).copied()
    }

    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }
}

/// Index of an expression in [`Tree::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExprId(pub(crate) u32);

/// A range of consecutive entries of [`Tree::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl List {
    pub(crate) const EMPTY: List = List { start: 0, len: 0 };
}

/// A name in an expression, optionally with indexes: `coin`, `coin[i + 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref {
    pub(crate) name: Symbol,
    pub(crate) indexes: List,
}

/// A binary operator. Operators of the same level may form one chain.
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
    /// Returns the precedence level; a higher level binds tighter. Comparisons have the level
    /// [`Op::COMPARISON`].
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

    /// Level of the loosest operators.
    pub(crate) const LOOSEST: u8 = 1;
    /// Level of `U`, `W` and `R`.
    pub(crate) const UNTIL: u8 = 5;
    /// Level of comparisons.
    pub(crate) const COMPARISON: u8 = 6;
    /// Level of sums.
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

/// A function of index expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Min,
    Max,
    Previous,
    Next,
}

/// An aggregate over a range: `sum(i in a..b : e)`, `count`, `forall`, `exists`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Sum,
    Count,
    Forall,
    Exists,
}

/// An operator about agents: knowledge, correct behaviour or a coalition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modality {
    Knows,
    EveryoneKnows,
    DistributedKnowledge,
    CommonKnowledge,
    Correct,
    KnowsUnder,
    /// A coalition, with the kind of strategies if the formula names one.
    Enforces(Option<Strategies>),
}

impl Modality {
    /// Returns the name of the operator in messages.
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

/// The kind of an expression: a condition, arithmetic, or a formula. One type serves all, because
/// formulas contain conditions; the checker decides what is allowed in which context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool(bool),
    Number(i64),
    Name(Ref),
    /// `Agent.name`
    Member(Ref, Ref),
    /// `! a`, `not a`
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
    /// An expression with a syntax error, which was reported.
    Error,
}

/// An expression and its span.
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

/// The agents that a modality is about: a name, or a set in braces.
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

/// The declared type of a variable.
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

/// `condition : { actions };`; for `Other` the condition is that word.
#[derive(Clone, Debug)]
pub(crate) struct ProtocolLine {
    pub(crate) condition: ExprId,
    /// Whether the condition is the word `Other` alone.
    pub(crate) is_other: bool,
    pub(crate) actions: Vec<Pattern>,
    pub(crate) span: Span,
}

/// `effect if condition;`. The effect is assignments in `Evolution`, and a local state in `Ev`.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) effect: ExprId,
    pub(crate) condition: ExprId,
    pub(crate) span: Span,
}

/// A section of a file or of an agent, from its heading to its end.
#[derive(Clone, Debug)]
pub(crate) struct Section<T> {
    pub(crate) items: T,
    /// Span of the heading, for messages.
    pub(crate) heading: Span,
    /// Span of the whole section.
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

/// One index of a name in `--split`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SplitIndex {
    /// `*`
    All,
    At(ExprId),
    /// `lo..hi`
    Range(ExprId, ExprId),
    /// An entry of [`Tree::binders`].
    Each(u32),
}

/// A name in `--split`, perhaps of a family: `coin[*]`.
#[derive(Clone, Debug)]
pub(crate) struct SplitName {
    pub(crate) name: Symbol,
    pub(crate) indexes: Vec<SplitIndex>,
}

/// A condition given outside the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenCondition {
    pub(crate) condition: ExprId,
    pub(crate) scope: ConditionScope,
}

/// One item of `--split`.
#[derive(Clone, Debug)]
pub(crate) enum SplitItem {
    Variables { agent: SplitName, variable: SplitName, span: Span },
    Formula(ExprId),
}

/// The logic of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    /// CTL, ATL and knowledge; formulas without a prefix.
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
    /// Span of the formula with its logic, without the name.
    pub(crate) formula_span: Span,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: Symbol,
    pub(crate) name_span: Span,
    pub(crate) value: Option<ExprId>,
    pub(crate) span: Span,
}

/// The dialect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// ISPL 1.x with the additions of Masque.
    Modern,
    /// The language of the 2004 and 2005 papers: `Lstate`, `Lgreen`, `Ev`.
    Papers,
}

/// The sections of a file, or of a part of it between two imports.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) params: Vec<Param>,
    pub(crate) semantics: Option<Section<masque_model::Assignment>>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) evaluation: Option<Section<Vec<Item<Definition>>>>,
    pub(crate) init_states: Option<Section<Option<ExprId>>>,
    pub(crate) groups: Option<Section<Vec<Item<Group>>>>,
    pub(crate) fairness: Option<Section<Vec<Item<FormulaLine>>>>,
    pub(crate) formulae: Option<Section<Vec<Item<FormulaLine>>>>,
}

/// `import "agents.ispl";`
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) path: masque_text::ImportPath,
    pub(crate) span: Span,
}

/// A parsed file, or a parsed model with its imported files.
#[derive(Debug)]
pub struct Tree {
    pub(crate) names: Names,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lists: Vec<ExprId>,
    pub(crate) ops: Vec<Op>,
    pub(crate) binders: Vec<Binder>,
    pub(crate) modals: Vec<Modal>,
    pub(crate) fixpoints: Vec<Fixpoint>,
    /// The sections of all files.
    pub(crate) sections: Sections,
    /// Imports that were not followed.
    pub(crate) imports: Vec<Import>,
    /// Formulas given on the command line or in files of properties.
    pub(crate) extra: Vec<Item<FormulaLine>>,
    /// What the initial states are split by, given on the command line.
    pub(crate) split: Vec<SplitItem>,
    /// Conditions given outside the file, for logs.
    pub(crate) given: Vec<GivenCondition>,
    pub(crate) dialect: Dialect,
    /// Every section that was read, complete or not, with its heading; for editors.
    pub(crate) outline: Vec<(&'static str, Span)>,
    /// Statements with a syntax error, which are not in the tree; for editors.
    pub(crate) broken: Vec<Span>,
    /// Span of the whole file, without imported files.
    pub(crate) span: Span,
}

impl Tree {
    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.0 as usize]
    }

    pub(crate) fn list(&self, list: List) -> &[ExprId] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    /// Returns the dialect of the file.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}
