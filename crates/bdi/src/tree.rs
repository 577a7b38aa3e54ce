//! The syntax tree. Chains (`&`, `;`, `else if`, ..) are lists, so only brackets and prefix
//! operators make depth, and that is limited by the parser.

use masque_text::Span;

/// A name as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// An attitude: what a `B`, `D` or `I` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Belief.
    B,
    /// Desire.
    D,
    /// Intention.
    I,
}

impl Op {
    /// All three, in the usual order.
    pub const ALL: [Op; 3] = [Op::B, Op::D, Op::I];

    /// The letter.
    pub fn name(self) -> &'static str {
        match self {
            Op::B => "B",
            Op::D => "D",
            Op::I => "I",
        }
    }
}

/// `sent`, `sent(p)`, `putmsg(inform(snd, rcv, !p))`: the arguments are inert text.
#[derive(Clone, Debug)]
pub struct Term {
    /// The functor.
    pub name: Name,
    /// The arguments; `None` without brackets.
    pub args: Option<Vec<Expr>>,
    /// The whole of it.
    pub span: Span,
}

/// A formula or an arithmetic expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// A path quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// On some path.
    E,
    /// On all paths.
    A,
}

/// A temporal operator with one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Next.
    X,
    /// Eventually.
    F,
    /// Always.
    G,
}

/// A temporal operator with two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Until.
    U,
    /// Release.
    R,
    /// Weak until.
    W,
}

/// A comparison of numbers or enumerated values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rel {
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Rel {
    /// The sign.
    pub fn sign(self) -> &'static str {
        match self {
            Rel::Eq => "=",
            Rel::Ne => "!=",
            Rel::Lt => "<",
            Rel::Le => "<=",
            Rel::Gt => ">",
            Rel::Ge => ">=",
        }
    }

    /// Whether two values stand in this relation.
    pub fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Rel::Eq => a == b,
            Rel::Ne => a != b,
            Rel::Lt => a < b,
            Rel::Le => a <= b,
            Rel::Gt => a > b,
            Rel::Ge => a >= b,
        }
    }
}

/// How an agent is committed to an intention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Commitment {
    /// Until it believes the goal is reached.
    Blind,
    /// Or believes it out of reach.
    SingleMinded,
    /// Or no longer desires it.
    OpenMinded,
}

impl Commitment {
    /// The word before the intention.
    pub fn name(self) -> &'static str {
        match self {
            Commitment::Blind => "blind",
            Commitment::SingleMinded => "single_minded",
            Commitment::OpenMinded => "open_minded",
        }
    }
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `true`, `false`
    Constant(bool),
    /// A number.
    Number(i64),
    /// An atom, a variable or an enumerated value.
    Term(Term),
    /// `do a`
    Do(Term),
    /// `!f`
    Not(Box<Expr>),
    /// `f & g & ..`
    And(Vec<Expr>),
    /// `f | g | ..`
    Or(Vec<Expr>),
    /// `f -> g -> ..`, from the right.
    Implies(Vec<Expr>),
    /// `f <-> g <-> ..`
    Iff(Vec<Expr>),
    /// `EX f` and the like.
    Unary(Quantifier, Unary, Box<Expr>),
    /// `E[f U g]` and the like.
    Binary(Quantifier, Binary, Box<[Expr; 2]>),
    /// `B(i, f)`, and with `dual` `PB(i, f)`.
    Attitude {
        /// Which one.
        op: Op,
        /// Whether it is `PB`, `PD` or `PI`.
        dual: bool,
        /// Whose.
        agent: Name,
        /// Of what.
        arg: Box<Expr>,
    },
    /// `a = b` and the like.
    Compare(Rel, Box<[Expr; 2]>),
    /// `a + b - c`: each with whether it is subtracted.
    Sum(Vec<(bool, Expr)>),
    /// `blind I(i, AF f)` and the like: the intention.
    Commit(Commitment, Box<Expr>),
    /// `persistent I(i, f) unless g`
    Persistent(Box<[Expr; 2]>),
}

/// The right side of an assignment.
#[derive(Clone, Debug)]
pub enum Value {
    /// `any`
    Any,
    /// An expression.
    Expr(Expr),
}

/// The left side of an assignment.
#[derive(Clone, Debug)]
pub enum Target {
    /// A variable.
    Term(Term),
    /// An explicit attitude, an [`Kind::Attitude`].
    Attitude(Expr),
    /// `forall x in AP : x`
    All(Name),
}

/// `target := value`
#[derive(Clone, Debug)]
pub struct Assign {
    /// What is assigned.
    pub target: Target,
    /// What it becomes.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `skip`
    Skip,
    /// `do a`
    Do(Term),
    /// `x := e, ..`
    Assign(Vec<Assign>),
    /// `if c then s else if d then t else u`
    If {
        /// Conditions and what they guard.
        arms: Vec<(Expr, Stmt)>,
        /// The last `else`.
        otherwise: Option<Box<Stmt>>,
    },
    /// `loop .. endloop`
    Loop(Vec<Stmt>),
    /// `s | t | ..`
    Choice(Vec<Stmt>),
    /// `{ s; t; .. }`
    Block(Vec<Stmt>),
}

/// The values of a declared variable.
#[derive(Clone, Debug)]
pub enum Type {
    /// True and false.
    Bool,
    /// `lo..hi`
    Range(i64, i64, Span),
    /// `{a, b, c}`
    Enum(Vec<Name>),
}

/// `var x : type`
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// The variable.
    pub term: Term,
    /// Its values.
    pub kind: Type,
}

/// `bdi B(i, f)` or `bdi B(i, f) = g`
#[derive(Clone, Debug)]
pub struct BdiDecl {
    /// The attitude.
    pub atom: Expr,
    /// Its definition.
    pub definition: Option<Expr>,
}

/// Declarations and program of an agent or a view.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Whether there is a `var` line: then only what it declares exists.
    pub has_vars: bool,
    /// Declared variables.
    pub vars: Vec<VarDecl>,
    /// Declared attitudes.
    pub bdis: Vec<BdiDecl>,
    /// Fairness.
    pub fair: Vec<Expr>,
    /// Initial values.
    pub init: Vec<Assign>,
    /// The program.
    pub program: Vec<Stmt>,
}

/// `agent a is ..`
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name.
    pub name: Name,
    /// Its program.
    pub body: Body,
}

/// `view i in a is ..` or `view B(i) in a is ..`
#[derive(Clone, Debug)]
pub struct View {
    /// For one attitude only.
    pub op: Option<Op>,
    /// Who is pictured.
    pub agent: Name,
    /// By whom.
    pub observer: Name,
    /// The picture.
    pub body: Body,
    /// The heading.
    pub span: Span,
}

/// `a.B(i).D(j)`; without a root, `top`.
#[derive(Clone, Debug)]
pub struct Path {
    /// The root; `None` is `top`.
    pub root: Option<Name>,
    /// The steps down.
    pub steps: Vec<(Op, Name)>,
    /// Where it stands.
    pub span: Span,
}

/// How believed, desired and intended are to be related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Realism {
    /// Intended is desired is believed.
    Strong,
    /// Believed is desired is intended.
    Plain,
    /// The three are pairwise compatible.
    Weak,
}

impl Realism {
    /// The word after `realism`.
    pub fn name(self) -> &'static str {
        match self {
            Realism::Strong => "strong",
            Realism::Plain => "plain",
            Realism::Weak => "weak",
        }
    }
}

/// What a property asks.
#[derive(Clone, Debug)]
pub enum Question {
    /// A formula.
    Formula(Expr),
    /// `check serial B(i)`
    Serial(Op, Name),
    /// `check introspection B(i)`: positive and negative.
    Introspection(Op, Name),
    /// `check realism strong i`
    Realism(Realism, Name),
}

/// `property p initially in a : f`, or a `check`.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name; a check has none.
    pub name: Option<Name>,
    /// Whether only initial states count.
    pub initially: bool,
    /// In which world.
    pub path: Option<Path>,
    /// What is asked.
    pub question: Question,
    /// The whole of it.
    pub span: Span,
}

/// `option name = value`
#[derive(Clone, Debug)]
pub struct OptionDecl {
    /// The option.
    pub name: Name,
    /// Its value.
    pub value: Name,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The agents.
    pub agents: Vec<Agent>,
    /// The views.
    pub views: Vec<View>,
    /// `mas = ..`, each with its span.
    pub mas: Vec<(Vec<Name>, Span)>,
    /// `top a`
    pub tops: Vec<Name>,
    /// Options.
    pub options: Vec<OptionDecl>,
    /// Properties and checks.
    pub properties: Vec<Property>,
    /// The whole file.
    pub span: Span,
}
