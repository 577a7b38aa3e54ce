//! The syntax tree. Chains (`&`, `;`, `else if`, ..) are lists, so only brackets and prefix operators
//! increase the depth, which the parser limits.

use std::fmt;

use masque_text::{ImportPath, Span};

/// A name as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Location in the source.
    pub span: Span,
}

/// The operator of an attitude.
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

    /// Returns the letter.
    pub fn name(self) -> &'static str {
        match self {
            Op::B => "B",
            Op::D => "D",
            Op::I => "I",
        }
    }
}

/// `sent`, `sent(p)`, `putmsg(inform(snd, rcv, !p))`: the arguments are part of the name and have no meaning.
#[derive(Clone, Debug)]
pub struct Term {
    /// Functor.
    pub name: Name,
    /// Arguments; `None` without brackets.
    pub args: Option<Vec<Expr>>,
    /// Location in the source.
    pub span: Span,
}

/// A formula or an arithmetic expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Form.
    pub kind: ExprKind,
    /// Location in the source.
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
    /// Returns the sign.
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

/// Kind of commitment of an agent to an intention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Commitment {
    /// Until the agent believes that the goal is reached.
    Blind,
    /// Until the agent believes that the goal is reached or is out of reach.
    SingleMinded,
    /// Until the agent believes that the goal is reached or no longer desires it.
    OpenMinded,
}

impl Commitment {
    /// Returns the word before the intention.
    pub fn name(self) -> &'static str {
        match self {
            Commitment::Blind => "blind",
            Commitment::SingleMinded => "single_minded",
            Commitment::OpenMinded => "open_minded",
        }
    }
}

/// Form of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `true`, `false`
    Constant(bool),
    /// A number.
    Number(i64),
    /// An atom, a variable or an enumerated value.
    Term(Term),
    /// `do a`
    Do(Term),
    /// `!f`, `not f`
    Not(Box<Expr>),
    /// `f & g & ..`
    And(Vec<Expr>),
    /// `f | g | ..`
    Or(Vec<Expr>),
    /// `f -> g -> ..`, which associates to the right.
    Implies(Vec<Expr>),
    /// `f <-> g <-> ..`
    Iff(Vec<Expr>),
    /// `EX f` and the like.
    Unary(Quantifier, Unary, Box<Expr>),
    /// `E[f U g]` and the like.
    Binary(Quantifier, Binary, Box<[Expr; 2]>),
    /// `B(i, f)`, and with `dual` `PB(i, f)`.
    Attitude {
        /// Operator.
        op: Op,
        /// Whether it is `PB`, `PD` or `PI`.
        dual: bool,
        /// Agent that the attitude is about.
        agent: Name,
        /// Argument.
        arg: Box<Expr>,
    },
    /// `a = b` and the like.
    Compare(Rel, Box<[Expr; 2]>),
    /// `a + b - c`: each item with whether it is subtracted.
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
    /// An explicit attitude: an [`ExprKind::Attitude`].
    Attitude(Expr),
    /// `forall x in AP : x`: the bound name, and the location of its second occurrence.
    All(Name, Span),
}

/// `target := value`
#[derive(Clone, Debug)]
pub struct Assign {
    /// Left side.
    pub target: Target,
    /// Right side.
    pub value: Value,
    /// Location in the source.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Form.
    pub kind: StmtKind,
    /// Location in the source.
    pub span: Span,
}

/// Form of a statement.
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
        /// Conditions with their branches.
        arms: Vec<(Expr, Stmt)>,
        /// Branch of the last `else`.
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
    /// `true` and `false`.
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
    /// Whether there is a `var` line; then only declared variables exist.
    pub has_vars: bool,
    /// Declared variables.
    pub vars: Vec<VarDecl>,
    /// Declared attitudes.
    pub bdis: Vec<BdiDecl>,
    /// Fairness conditions.
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
    /// Attitude that the view is restricted to; `None` for all three.
    pub op: Option<Op>,
    /// Agent that is pictured.
    pub agent: Name,
    /// Agent whose view it is.
    pub observer: Name,
    /// Declarations and program of the picture.
    pub body: Body,
    /// Location of the heading.
    pub span: Span,
}

/// `a.B(i).D(j)`; without a root, `top`.
#[derive(Clone, Debug)]
pub struct Path {
    /// Root; `None` for `top`.
    pub root: Option<Name>,
    /// Edges down from the root.
    pub steps: Vec<(Op, Name)>,
    /// Location in the source.
    pub span: Span,
}

/// A relation between the states accessible by belief, desire and intention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Realism {
    /// Every believed state is desired, and every desired state is intended.
    Strong,
    /// Every intended state is desired, and every desired state is believed.
    Plain,
    /// Any two of the three have a state in common.
    Weak,
}

impl Realism {
    /// Returns the word after `realism`.
    pub fn name(self) -> &'static str {
        match self {
            Realism::Strong => "strong",
            Realism::Plain => "plain",
            Realism::Weak => "weak",
        }
    }
}

/// The statement of a property.
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
    /// `subworld(v, w)`, or `check subworld v in w`.
    Subworld(Path, Path),
}

/// The text that a question was read from. It repeats the question in some layout, so the debugging output of a
/// tree leaves it out, and trees of differently formatted files can be compared.
#[derive(Clone)]
pub struct QuestionText(pub String);

impl fmt::Debug for QuestionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QuestionText")
    }
}

/// `property p initially in a : f`, or a `check`.
#[derive(Clone, Debug)]
pub struct Property {
    /// Name; `None` for a check.
    pub name: Option<Name>,
    /// Whether the property is required of initial states only.
    pub initially: bool,
    /// World of the property; `None` for the top world.
    pub path: Option<Path>,
    /// Statement of the property.
    pub question: Question,
    /// Text of the question.
    pub text: QuestionText,
    /// Location of the question in the source.
    pub question_span: Span,
    /// Location in the source.
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

/// A file, or a system with its imported files.
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
    /// Imports that were not followed.
    pub imports: Vec<ImportPath>,
    /// The whole file, without imported files.
    pub span: Span,
}

impl Tree {
    /// Adds the items of another part of the system.
    pub(crate) fn append(&mut self, mut more: Tree) {
        self.agents.append(&mut more.agents);
        self.views.append(&mut more.views);
        self.mas.append(&mut more.mas);
        self.tops.append(&mut more.tops);
        self.options.append(&mut more.options);
        self.properties.append(&mut more.properties);
        self.imports.append(&mut more.imports);
    }
}
