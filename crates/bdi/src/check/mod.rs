//! Checks a syntax tree and builds the model: resolves names, checks types and static rules.

mod formula;
mod options;
mod program;
mod property;
mod vocabulary;

use std::hash::Hash;

use masque_model::Wording;
use masque_text::{Diagnostic, OptionOverride, ReadLimits, Severity, Span, did_you_mean};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexer::Token;
use crate::model::{
    ActionId, Agent, AgentId, Delay, Expr, ExprId, Formula, FormulaId, Model, Options, PointId, Program,
    ProgramId, SelfAttitudes, View,
};
use crate::plan::Plan;
use crate::tree::{Body, Name, OptionDecl, Tree};

pub use options::MAX_NESTING;
pub(crate) use options::option_values;
use vocabulary::Vocabulary;

/// Estimate of the memory for a formula or expression, in bytes.
const BYTES_PER_NODE: u64 = 48;
/// Estimate of the memory for a program, a statement or a property without its formulas, in bytes.
const BYTES_PER_PART: u64 = 128;

/// Number of messages in which an unknown name is compared with all known ones.
const MAX_EXPLAINED: usize = 20;
/// Number of names that it is compared with in later messages.
const MAX_NAMES_LATER: usize = 16;

/// Result of checking a file.
#[derive(Debug)]
pub struct Checked {
    /// Model and plan of its worlds; `None` if there are errors.
    pub model: Option<(Model, Plan)>,
    /// Errors, warnings and notes, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a syntax tree that was parsed without errors.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let text = "agent a is loop B(b, p) := any endloop agent b is loop p := any endloop";
/// let file = sources.add("tiny.bdi", text).unwrap();
/// let (tree, _) = masque_bdi::parse(&sources, file);
/// let checked = masque_bdi::check(&tree, &[]);
/// let (model, plan) = checked.model.unwrap();
/// assert_eq!((model.agents.len(), plan.worlds.len()), (2, 2));
/// ```
pub fn check(tree: &Tree, overrides: &[OptionOverride]) -> Checked {
    check_within(tree, overrides, &ReadLimits::default())
}

/// Does what [`check()`] does, within limits. If one is exceeded, there is no model, and diagnostics may be missing.
pub fn check_within(tree: &Tree, overrides: &[OptionOverride], limits: &ReadLimits) -> Checked {
    let mut checker = Checker { limits: limits.clone(), ..Checker::default() };
    checker.model.wording = Wording::new(masque_text::for_each_piece::<Token>);
    checker.tree(tree, overrides);
    let Checker { model, mut diagnostics, self_option, .. } = checker;
    let mut result = None;
    if !diagnostics.iter().any(Diagnostic::is_error) && limits.exceeded().is_none() {
        match Plan::within(&model, tree.span, limits) {
            _ if limits.exceeded().is_some() => {}
            Ok(plan) => {
                diagnostics.extend(self_attitudes_note(&model, &plan, self_option));
                result = Some((model, plan));
            }
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    diagnostics.sort_by_key(|d| d.primary.as_ref().map(|label| label.span.start));
    Checked { model: result, diagnostics }
}

#[derive(Default)]
struct Checker<'t> {
    limits: ReadLimits,
    model: Model,
    vocabularies: Vec<Vocabulary>,
    bodies: Vec<&'t Body>,
    agents: FxHashMap<String, AgentId>,
    formulas: FxHashMap<Formula, u32>,
    /// Whether a property is read, as written and not rewritten: its wording is remembered.
    is_in_property: bool,
    exprs: FxHashMap<Expr, u32>,
    /// Whether the actions of all programs are declared.
    has_actions: bool,
    /// The actions of each program, by name.
    action_ids: FxHashMap<(ProgramId, String), ActionId>,
    diagnostics: Vec<Diagnostic>,
    /// Codes and messages reported so far: each is reported once.
    reported: FxHashSet<(&'static str, String)>,
    /// Span of `option self`, where its value is set.
    self_option: Option<Span>,
}

impl<'t> Checker<'t> {
    /// Checks a file in the order in which later parts need earlier ones.
    fn tree(&mut self, tree: &'t Tree, overrides: &[OptionOverride]) {
        if let Some(import) = tree.imports.first() {
            let message = "imports are not followed here";
            self.report(Diagnostic::error("bdi/import-not-found", import.span, message));
            return;
        }
        if tree.agents.is_empty() {
            self.no_agents(tree);
            return;
        }
        self.read_options(tree, overrides);
        self.declare_agents(tree);
        self.declare_views(tree);
        self.compose(tree);
        // Every step needs the results of the steps before it, so none begins after a stop.
        for index in 0..self.bodies.len() {
            if self.is_stopped() {
                return;
            }
            let vocabulary = self.vocabulary(ProgramId(index as u32), self.bodies[index]);
            self.vocabularies.push(vocabulary);
        }
        for index in 0..self.bodies.len() {
            if self.is_stopped() {
                return;
            }
            self.attitudes(ProgramId(index as u32));
        }
        for index in 0..self.bodies.len() {
            if self.is_stopped() {
                return;
            }
            self.program(ProgramId(index as u32), self.bodies[index]);
        }
        self.check_definitions();
        self.check_delay();
        self.properties(tree);
    }

    /// Maximum number of names that are compared with an unknown one. After many messages there are few, because
    /// each comparison takes time.
    fn max_considered_names(&self) -> usize {
        if self.diagnostics.len() < MAX_EXPLAINED { usize::MAX } else { MAX_NAMES_LATER }
    }

    /// Counts work on a part of the file, and returns whether a limit is exceeded.
    fn is_stopped(&self) -> bool {
        !self.limits.charge(BYTES_PER_PART)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let span = diagnostic.primary.as_ref().map(|label| label.span);
        // An error is reported once in the file, a warning or note once per span.
        let span = if diagnostic.is_error() { None } else { span };
        let message = format!("{} {span:?}", diagnostic.message);
        if self.reported.insert((diagnostic.code, message)) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn read_options(&mut self, tree: &Tree, overrides: &[OptionOverride]) {
        let mut options = Options::default();
        let in_file = tree.options.iter().map(|OptionDecl { name, value }| {
            (name.text.as_str(), value.text.as_str(), name.span, name.span.to(value.span))
        });
        let given = overrides.iter().map(|o| (o.name.as_str(), o.value.as_str(), o.span, o.span));
        // An option may be set once in the file and once outside.
        for list in [in_file.collect::<Vec<_>>(), given.collect()] {
            let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
            for (name, value, name_span, span) in list {
                if let Some(first) = seen.insert(name, name_span) {
                    self.duplicate("option", name, name_span, first);
                }
                if name == "self" {
                    self.self_option = Some(span);
                }
                if let Err(diagnostic) = options::set(&mut options, name, value, span) {
                    self.report(*diagnostic);
                }
            }
        }
        self.model.options = options;
    }

    fn declare_agents(&mut self, tree: &'t Tree) {
        for agent in &tree.agents {
            if let Some(&first) = self.agents.get(&agent.name.text) {
                let program = self.model.agents[first.index()].program;
                let first = self.model.program(program).span;
                self.duplicate("agent", &agent.name.text, agent.name.span, first);
                continue;
            }
            let id = AgentId(self.model.agents.len() as u32);
            let program = self.add_program(agent.name.text.clone(), id, &agent.body, agent.name.span);
            self.model.agents.push(Agent { name: agent.name.text.clone(), program });
            self.agents.insert(agent.name.text.clone(), id);
        }
    }

    /// Reports a file without agents. Its other items are not checked, because the agents that they name are unknown.
    fn no_agents(&mut self, tree: &Tree) {
        let is_part = !(tree.views.is_empty()
            && tree.mas.is_empty()
            && tree.tops.is_empty()
            && tree.options.is_empty()
            && tree.properties.is_empty());
        let (message, help) = if is_part {
            let message =
                "this file is a part of a system: there is no agent in it or in the files it imports";
            (message, "check the file that imports this one, or import the agents: `import \"agents.bdi\";`")
        } else {
            ("there is no agent", "a system has at least one: `agent a is loop skip endloop`")
        };
        self.report(Diagnostic::error("bdi/no-agent", tree.span.slice(0, 0), message).hint(help));
    }

    fn declare_views(&mut self, tree: &'t Tree) {
        let mut seen = FxHashMap::default();
        for view in &tree.views {
            let (agent, observer) = (self.agent(&view.agent), self.agent(&view.observer));
            let (Some(agent), Some(observer)) = (agent, observer) else { continue };
            let pictured = match view.op {
                Some(op) => format!("{}({})", op.name(), view.agent.text),
                None => view.agent.text.clone(),
            };
            let name = format!("view {pictured} in {}", view.observer.text);
            if let Some(&first) = seen.get(&(view.op, agent, observer)) {
                let first = self.model.program(first).span;
                self.duplicate("view", &format!("{pictured} in {}", view.observer.text), view.span, first);
                continue;
            }
            let program = self.add_program(name, agent, &view.body, view.span);
            seen.insert((view.op, agent, observer), program);
            self.model.views.push(View { op: view.op, agent, observer, program });
        }
    }

    fn add_program(&mut self, name: String, agent: AgentId, body: &'t Body, span: Span) -> ProgramId {
        self.bodies.push(body);
        self.model.programs.push(Program {
            name,
            agent,
            vars: Vec::new(),
            actions: Vec::new(),
            init: Vec::new(),
            points: Vec::new(),
            entry: PointId(0),
            fair: Vec::new(),
            span,
        });
        ProgramId(self.model.programs.len() as u32 - 1)
    }

    /// Resolves `mas` and `top`: by default all agents, and the first of `mas`.
    fn compose(&mut self, tree: &Tree) {
        if let [(_, first), (_, second), ..] = tree.mas[..] {
            self.duplicate("composition", "mas", second, first);
        }
        if let [first, second, ..] = &tree.tops[..] {
            self.duplicate("declaration", "top", second.span, first.span);
        }
        match tree.mas.first() {
            Some((names, _)) => {
                for name in names {
                    let Some(agent) = self.agent(name) else { continue };
                    if self.model.mas.contains(&agent) {
                        self.duplicate("member", &name.text, name.span, names[0].span);
                    }
                    self.model.mas.push(agent);
                }
            }
            None => self.model.mas = (0..self.model.agents.len() as u32).map(AgentId).collect(),
        }
        let top = match tree.tops.first() {
            Some(name) => self.agent(name),
            None => self.model.mas.first().copied(),
        };
        self.model.top = top;
    }

    /// Returns the agent with this name; reports it if there is none.
    fn agent(&mut self, name: &Name) -> Option<AgentId> {
        let found = self.agents.get(&name.text).copied();
        if found.is_none() {
            let message = format!("unknown agent {}", name.text);
            let agents = self.model.agents.iter().take(self.max_considered_names());
            let names: Vec<String> = agents.map(|agent| agent.name.clone()).collect();
            let help = did_you_mean(&name.text, &names).or_else(|| {
                (!names.is_empty()).then(|| format!("the agents are {}", capped(&names.join(", "))))
            });
            let diagnostic = Diagnostic::error("bdi/unknown-agent", name.span, message)
                .label("no agent of this name is declared")
                .help(help);
            self.report(diagnostic);
        }
        found
    }

    /// Reports an `option delay` that names an action which no program performs.
    fn check_delay(&mut self) {
        let Delay::Functor(functor) = &self.model.options.delay else { return };
        if !self.model.actions.iter().any(|action| action.occurs && action.functor == *functor) {
            let message = format!("delay: action {functor} never occurs");
            let diagnostic = Diagnostic::nowhere(Severity::Warning, "bdi/unknown-action", message);
            self.report(
                diagnostic.hint("nothing is delayed; name an action as it stands after `do`, or `all`"),
            );
        }
    }

    fn add(&mut self, formula: Formula) -> FormulaId {
        self.limits.charge(BYTES_PER_NODE);
        FormulaId(intern(&mut self.model.formulas, &mut self.formulas, formula))
    }

    fn add_expr(&mut self, expr: Expr) -> ExprId {
        self.limits.charge(BYTES_PER_NODE);
        ExprId(intern(&mut self.model.exprs, &mut self.exprs, expr))
    }
}

/// Returns a note if `option self = paper` changes nothing, because no agent has beliefs or intentions about itself that
/// lead to its own world.
fn self_attitudes_note(model: &Model, plan: &Plan, option: Option<Span>) -> Option<Diagnostic> {
    if model.options.self_attitudes == SelfAttitudes::Explicit || plan.own_edges(model).next().is_some() {
        return None;
    }
    let message =
        "option `self` changes nothing here: there is no belief or intention of an agent about itself";
    let hint = match model.options.nesting {
        Some(_) => "with `option nesting` agents picture themselves by copies of their worlds".to_string(),
        None => {
            let agent = model.top.map_or("a", |top| model.agents[top.index()].name.as_str());
            format!("ask for one in the world of the agent: `property p in {agent}: B({agent}, ..);`")
        }
    };
    Some(Diagnostic::note("bdi/no-self-attitude", option?, message).hint(hint))
}

/// Returns the index of an item, which is added if it is new.
fn intern<T: Clone + Eq + Hash>(items: &mut Vec<T>, indices: &mut FxHashMap<T, u32>, item: T) -> u32 {
    *indices.entry(item).or_insert_with_key(|item| {
        items.push(item.clone());
        items.len() as u32 - 1
    })
}

/// Returns a text for a message, cut off if it is long.
fn capped(text: &str) -> String {
    const MAX_BYTES: usize = 80;
    if text.len() <= MAX_BYTES {
        text.to_string()
    } else {
        format!("{}..", &text[..text.floor_char_boundary(MAX_BYTES)])
    }
}
