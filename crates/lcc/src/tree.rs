//! The syntax tree of LCC files, policies included, with locations.

use masque_text::Span;

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The statements in the order of the text.
    pub items: Vec<Item>,
    /// Locations of the headings `enforced by id:`. The rules below have their enforcer.
    pub headings: Vec<Span>,
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
    Obligation(Obligation),
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
    /// Returns the location of the statement, or of its main part.
    pub fn span(&self) -> Span {
        match self {
            Item::Clause(clause) | Item::Now(clause) => clause.span,
            Item::Member(member) => member.agent.span,
            Item::Fact(fact) => fact.span,
            Item::Rule(rule) => rule.span,
            Item::Obligation(obligation) => obligation.span,
            Item::Choice(choice) => choice.span,
            Item::Mail(mail) => mail.span,
            Item::Setting(setting) => setting.name.span,
            Item::Role(role) => role.span,
            Item::Property(property) => property.name.span,
            Item::Import(import) => import.path.span,
        }
    }

    /// Returns the location of the whole statement, for statements that a session may add and remove. The full
    /// stop of a clause is not part of it.
    pub fn statement_span(&self) -> Span {
        match self {
            Item::Member(member) => member.span,
            other => other.span(),
        }
    }
}

/// The state of an interaction as a tuple `(I, M, A, R, (P_F, P_S, K))`. [ORW06 §4.2]
#[derive(Clone, Debug)]
pub struct Tuple {
    /// I: the id of the interaction.
    pub interaction: Term,
    /// M with its sender and receiver; `None` for `null`, a tuple without a message.
    pub message: Option<Mail>,
    /// A and R: the receiver of the tuple.
    pub to: Agent,
    /// P_F: the clauses of the protocol.
    pub framework: Vec<Item>,
    /// P_S: what remains of the agents' clauses, and other messages under way.
    pub state: Vec<Item>,
    /// Obligations that events have triggered, among the statements of P_S.
    pub due: Vec<Due>,
    /// K: facts and choices that are common knowledge.
    pub knowledge: Vec<Item>,
    /// Location of P_F, with its braces.
    pub framework_span: Span,
    /// Location of K, with its braces.
    pub knowledge_span: Span,
}

/// `due(id, triggered, met) rule ..`: how often events of an agent have triggered an obligation. Occurs only in
/// tuples.
#[derive(Clone, Debug)]
pub struct Due {
    /// Id of the agent whose events triggered the obligation.
    pub agent: Name,
    /// Number of events that triggered it.
    pub triggered: u32,
    /// Number of these after which it was met.
    pub met: u32,
    /// The obligation.
    pub obligation: Obligation,
    /// Location of the whole statement.
    pub span: Span,
}

/// `a(Role, Id)`.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The role, with its arguments.
    pub role: Term,
    /// The id of the agent.
    pub id: Term,
    /// Location of the whole term.
    pub span: Span,
}

/// A clause: what an agent does in a role.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The role and the agent.
    pub head: Agent,
    /// The process that the agent executes.
    pub body: Proc,
    /// Location from the head to the end of the body.
    pub span: Span,
}

/// A member of the team.
#[derive(Clone, Debug)]
pub struct Member {
    /// First role and id of the member.
    pub agent: Agent,
    /// Whether the member is a server, which may remain in its first process in a final state.
    pub is_server: bool,
    /// Location of the whole statement.
    pub span: Span,
}

/// A fact, with conditions if it has a body.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The agent that knows the fact; all agents if `None`.
    pub owner: Option<Term>,
    /// The conclusion.
    pub head: Term,
    /// The conditions.
    pub body: Option<Constraint>,
    /// Location of the whole statement.
    pub span: Span,
}

/// A permission or a prohibition.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The id that enforces the rule.
    pub enforcer: Term,
    /// The agent that is allowed or forbidden to act.
    pub subject: Term,
    /// The agent or thing that the action concerns.
    pub object: Term,
    /// Whether the rule permits the action; otherwise it forbids it.
    pub permits: bool,
    /// The action.
    pub action: Term,
    /// The conditions.
    pub body: Option<Constraint>,
    /// Location of the whole statement.
    pub span: Span,
}

/// An obligation, from which a property is made.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// The id that enforces the rule.
    pub enforcer: Term,
    /// The agent that must act.
    pub subject: Term,
    /// The agent or thing that the action concerns.
    pub object: Term,
    /// The action.
    pub action: Term,
    /// The action pattern after which the obligation is due.
    pub after: Span,
    /// The action pattern that ends the obligation.
    pub until: Option<Span>,
    /// Location of the whole statement.
    pub span: Span,
}

/// A predicate whose outcome is a decision of an agent.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The agent that decides; each agent if `None`.
    pub owner: Option<Term>,
    /// The name of the predicate.
    pub name: Name,
    /// The number of its arguments.
    pub arity: usize,
    /// Location of the whole statement.
    pub span: Span,
}

/// A message under way.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The sender.
    pub from: Agent,
    /// The receiver.
    pub to: Agent,
    /// The message.
    pub message: Term,
    /// Location of the whole statement.
    pub span: Span,
}

/// An option of the instance.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name of the option.
    pub name: Name,
    /// Value of the option.
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
    /// Minimum number of agents that start in the role.
    pub min: Option<u64>,
    /// Maximum number of agents that start in the role.
    pub max: Option<u64>,
    /// Location of the whole statement.
    pub span: Span,
}

impl RoleDecl {
    /// Maximum number of agents that one declaration adds to the team.
    const MAX_MEMBERS: u64 = 64;

    /// Number of agents that start in the role if no file names members.
    pub(crate) fn n_members(&self) -> u64 {
        let default = u64::from(matches!(self.kind.text.as_str(), "initial" | "necessary" | "cyclic"));
        self.min.unwrap_or(default).min(Self::MAX_MEMBERS)
    }
}

/// A property in a protocol file. Its formula is parsed by `masque_mu`.
#[derive(Clone, Debug)]
pub struct PropertyText {
    /// Name of the property.
    pub name: Name,
    /// The text of the formula, without the semicolon.
    pub formula: Span,
}

/// A name and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text, without quotes.
    pub text: String,
    /// Location in the text.
    pub span: Span,
}

/// A term and its location.
#[derive(Clone, Debug)]
pub struct Term {
    /// The kind of term, with its parts.
    pub kind: TermKind,
    /// Location in the text.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `X`, `_Name`.
    Var(String),
    /// `_`: a different variable at each occurrence.
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

/// A process and its location.
#[derive(Clone, Debug)]
pub struct Proc {
    /// The kind of process, with its parts.
    pub kind: ProcKind,
    /// Location in the text, brackets included.
    pub span: Span,
}

/// The kinds of processes. Chains of one operator are flat.
#[derive(Clone, Debug)]
pub enum ProcKind {
    /// `nil`: nothing left to do. Occurs only as the whole process of a `now` statement.
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
    /// Sequence: `P then Q`.
    Then(Vec<Proc>),
    /// Parallel composition: `P par Q`.
    Par(Vec<Proc>),
    /// Choice: `P or Q`.
    Or(Vec<Proc>),
    /// `{a(Role, Id) :: proc}`: a process in a role that has been entered. Occurs only in `now` statements.
    Frame(Agent, Box<Proc>),
}

/// A constraint and its location.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The kind of constraint, with its parts.
    pub kind: ConstraintKind,
    /// Location in the text.
    pub span: Span,
}

/// The kinds of constraints. Chains of one operator are flat.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// Conjunction, solved from left to right.
    And(Vec<Constraint>),
    /// Disjunction.
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

/// A question to the policies: whether an action is permitted or forbidden.
#[derive(Clone, Debug)]
pub struct Triple {
    /// The acting agent.
    pub subject: Term,
    /// The agent or thing that the action concerns.
    pub object: Term,
    /// Whether the question is for a permission; otherwise for a prohibition.
    pub permits: bool,
    /// The action.
    pub action: Term,
}
