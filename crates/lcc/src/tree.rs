//! The syntax tree of LCC files, policies included: what was written, with its place.

use masque_text::Span;

/// A file, statement by statement.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The statements in the order of the text.
    pub items: Vec<Item>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Item {
    /// `a(Role, Id) :: proc.`
    Clause(Clause),
    /// `agent a(Role, id).` or `server a(Role, id).`
    Member(Member),
    /// `common H <- B.` or `know id: H <- B.`
    Fact(Fact),
    /// `rule id: (S, O, +act) <- B.`
    Rule(Rule),
    /// `rule id: (S, O, !act) after P until Q.`
    Duty(Duty),
    /// `choice id: p/n.`
    Choice(Choice),
    /// `now a(Role, id) :: proc.`
    Now(Clause),
    /// `mail a(R, i) -> a(S, j) : M.`
    Mail(Mail),
    /// `option name = value.`
    Setting(Setting),
    /// `r(Role, initial, 1, 2)`: a role declaration of LiJ and OpenKnowledge.
    Role(RoleDecl),
    /// `property name : formula ;`
    Property(PropertyText),
    /// `import "rules.pol".`
    Import(Import),
}

impl Item {
    /// Where the statement stands, or what it is about.
    pub fn span(&self) -> Span {
        match self {
            Item::Clause(clause) | Item::Now(clause) => clause.span,
            Item::Member(member) => member.agent.span,
            Item::Fact(fact) => fact.span,
            Item::Rule(rule) => rule.span,
            Item::Duty(duty) => duty.span,
            Item::Choice(choice) => choice.span,
            Item::Mail(mail) => mail.span,
            Item::Setting(setting) => setting.name.span,
            Item::Role(role) => role.span,
            Item::Property(property) => property.name.span,
            Item::Import(import) => import.path.span,
        }
    }
}

/// `a(Role, Id)`.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The role, with its arguments.
    pub role: Term,
    /// Who is in it.
    pub id: Term,
    /// The whole of it.
    pub span: Span,
}

/// A clause: what an agent does in a role.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The role, and who is in it.
    pub head: Agent,
    /// What is to be done.
    pub body: Proc,
    /// From the head to the end of the body.
    pub span: Span,
}

/// A member of the team.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its first role and its id.
    pub agent: Agent,
    /// A server may also rest in its first state.
    pub is_server: bool,
}

/// A fact or a clause of somebody's knowledge.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Who knows it; everybody if `None`.
    pub owner: Option<Term>,
    /// What follows.
    pub head: Term,
    /// From what.
    pub body: Option<Constraint>,
    /// The whole statement.
    pub span: Span,
}

/// A permission or a prohibition.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Who enforces it.
    pub enforcer: Term,
    /// Who may or may not.
    pub subject: Term,
    /// Towards whom.
    pub object: Term,
    /// Whether the rule permits.
    pub permits: bool,
    /// What.
    pub action: Term,
    /// When.
    pub body: Option<Constraint>,
    /// The whole statement.
    pub span: Span,
}

/// An obligation; it becomes a property.
#[derive(Clone, Debug)]
pub struct Duty {
    /// Who enforces it.
    pub enforcer: Term,
    /// Who must.
    pub subject: Term,
    /// Towards whom.
    pub object: Term,
    /// What.
    pub action: Term,
    /// The action pattern after which it is due.
    pub after: Span,
    /// The action pattern that ends it.
    pub until: Option<Span>,
    /// The whole statement.
    pub span: Span,
}

/// A predicate whose outcome is the agent's own decision.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Whose decision; everybody's if `None`.
    pub owner: Option<Term>,
    /// The name of the predicate.
    pub name: Name,
    /// The number of its arguments.
    pub arity: usize,
    /// The whole statement.
    pub span: Span,
}

/// A message under way.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Who sent it.
    pub from: Agent,
    /// To whom.
    pub to: Agent,
    /// What.
    pub message: Term,
    /// The whole statement.
    pub span: Span,
}

/// An option of the instance.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Which.
    pub name: Name,
    /// Its value.
    pub value: Name,
}

/// Another file that belongs to the instance.
#[derive(Clone, Debug)]
pub struct Import {
    /// Path of the file, relative to the folder of the importing file.
    pub path: Name,
}

/// A declared role.
#[derive(Clone, Debug)]
pub struct RoleDecl {
    /// The role.
    pub role: Term,
    /// `initial`, `necessary`, `optional`, `auxiliary`, `cyclic` or `uncommitted`.
    pub kind: Name,
    /// At least so many agents start in it.
    pub min: Option<u64>,
    /// At most so many agents start in it.
    pub max: Option<u64>,
    /// The whole statement.
    pub span: Span,
}

impl RoleDecl {
    /// Maximum number of agents that a declaration makes.
    const MAX_MEMBERS: u64 = 64;

    /// Number of agents that start in the role if no file names members.
    pub(crate) fn n_members(&self) -> u64 {
        let usual = u64::from(matches!(self.kind.text.as_str(), "initial" | "necessary" | "cyclic"));
        self.min.unwrap_or(usual).min(Self::MAX_MEMBERS)
    }
}

/// A property in a protocol file: its formula is read by the logic's own parser.
#[derive(Clone, Debug)]
pub struct PropertyText {
    /// Its name.
    pub name: Name,
    /// The text of the formula, without the semicolon.
    pub formula: Span,
}

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text, without quotes.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A term and its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `X`, `_Name`.
    Var(String),
    /// `_`: a variable of its own at each occurrence.
    Anonymous,
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Decimal(f64),
    /// A constant, or a name with arguments. `f()` is `f`.
    App(String, Vec<Term>),
    /// `[a, b | T]`.
    List(Vec<Term>, Option<Box<Term>>),
    /// `X + 1`: arithmetic, or a term with that operator.
    Binary(&'static str, Box<Term>, Box<Term>),
    /// `- X`.
    Negative(Box<Term>),
}

/// A process and its place.
#[derive(Clone, Debug)]
pub struct Proc {
    /// What it is.
    pub kind: ProcKind,
    /// Where it stands, brackets included.
    pub span: Span,
}

/// The kinds of processes. Chains of one operator are flat.
#[derive(Clone, Debug)]
pub enum ProcKind {
    /// `nil`: nothing is left to be done; all there is, and in run-time states only.
    Nil,
    /// `null`: an internal step.
    Null,
    /// `a(Role, Id)`: a change of role.
    Call(Agent),
    /// `M => a(Role, Id)`.
    Send(Term, Agent),
    /// `M <= a(Role, Id)`.
    Receive(Term, Agent),
    /// `P <- C`, where P is one of those above.
    Guarded(Box<Proc>, Constraint),
    /// One after the other.
    Then(Vec<Proc>),
    /// Side by side.
    Par(Vec<Proc>),
    /// One of them.
    Or(Vec<Proc>),
    /// `{a(Role, Id) :: proc}`: a process in a role already entered; in run-time states only.
    Frame(Agent, Box<Proc>),
}

/// A constraint and its place.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// What it is.
    pub kind: ConstraintKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of constraints. Chains of one operator are flat.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// All of them, from left to right.
    And(Vec<Constraint>),
    /// Any of them.
    Or(Vec<Constraint>),
    /// Negation as failure.
    Not(Box<Constraint>),
    /// `p(X)`.
    Atom(Term),
    /// `X = Y`, `X < Y`, `X is Y + 1`.
    Compare(&'static str, Term, Term),
    /// `(S, O, +act)`, `(S, O, -act)`.
    Triple(Box<Triple>),
}

/// A question to the policies.
#[derive(Clone, Debug)]
pub struct Triple {
    /// Who.
    pub subject: Term,
    /// Towards whom.
    pub object: Term,
    /// Whether it asks for a permission.
    pub permits: bool,
    /// What.
    pub action: Term,
}
