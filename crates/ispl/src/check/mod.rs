//! The checker: from the syntax tree to the checked model.
//!
//! Expansion of parameters, name resolution, type checks and lowering are one pass: a template is
//! walked once for each value of its indexes, and every node is lowered immediately, so the expanded
//! text never exists (`docs/adr/0002-one-tree-for-conditions-and-formulas.md`).
//! Messages point at the template and name the instance.

mod agent;
mod bounds;
mod compare;
mod declare;
mod elaborate;
mod expr;
mod fixpoint;
mod formula;
mod lint;
mod report;
mod satisfy;
mod split;

use std::collections::BTreeMap;
use std::sync::Arc;

use masque_model::{ActionId, AgentId};
use masque_model::{
    Assignment, At, Deadlock, GroupId, Meaning, Overflow, PropositionId, Strategies, SymbolId, System, VarId,
    Wording,
};
use masque_text::{Diagnostic, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexer::Token;
use crate::parser::ConditionScope;
use crate::tree::{Dialect, Names, Symbol, Tree};
use expr::Context;
use report::MessageCounts;

pub use split::SplitClasses;

/// Number of expressions that are lowered between two checks of the limits.
const LOWERED_PER_CHECK: usize = 4096;

/// The value of a parameter, given outside the file: `-D N=40`.
#[derive(Clone, Debug)]
pub struct Define {
    /// Name of the parameter.
    pub name: String,
    /// Value of the parameter.
    pub value: i64,
    /// Span of the definition.
    pub span: Span,
}

/// Options that change the meaning of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of parameters, which override defaults.
    pub defines: Vec<Define>,
    /// States at which properties must be true. `None` means the default of the dialect.
    pub at: Option<At>,
    /// Meaning of a state without successors. `None` means [`Deadlock::Finite`].
    pub deadlock: Option<Deadlock>,
    /// Meaning of an overflow. `None` means [`Overflow::Drop`].
    pub overflow: Option<Overflow>,
    /// Strategies of coalitions that name none. `None` means [`Strategies::Perfect`].
    pub strategies: Option<Strategies>,
}

/// The result of [`check()`].
#[derive(Debug)]
pub struct Checked {
    /// The model, unless there are errors.
    pub system: Option<System>,
    /// Parameters of the file with the values used, in the order of the text.
    pub parameters: Vec<(String, i64)>,
    /// What the initial states are split by.
    pub split: SplitClasses,
    /// The conditions given outside the file ([`parse_condition`](crate::parse_condition)), in their order.
    pub conditions: Vec<masque_model::ExprId>,
    /// Errors and lints, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Expands, checks and lowers a parsed file.
///
/// ```
/// use masque_ispl::{Options, check, parse};
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let text = "
///     Agent Light
///       Vars: on : boolean; end Vars
///       Actions = {switch};
///       Protocol: Other : {switch}; end Protocol
///       Evolution: on = ~on if Action = switch; end Evolution
///     end Agent
///     Evaluation lit if Light.on; end Evaluation
///     InitStates !Light.on; end InitStates
///     Formulae AG EF lit; end Formulae";
/// let file = sources.add("light.ispl", text).unwrap();
/// let (mut tree, errors) = parse(&sources, file);
/// assert!(errors.is_empty());
/// let system = check(&sources, &mut tree, &Options::default()).system.unwrap();
/// assert_eq!(system.formula_text(system.properties[0].formula), "AG(EF(lit))");
/// ```
pub fn check(sources: &Sources, tree: &mut Tree, options: &Options) -> Checked {
    let names = std::mem::take(&mut tree.names);
    let mut checker = Checker::new(sources, tree, names, options);
    checker.file();
    let split = checker.split_classes();
    let conditions = checker.given_conditions();
    checker.diagnostics.sort_by_key(|d| d.primary.as_ref().map_or(Span::default(), |p| p.span));
    checker.report_dropped_messages();
    let Checker { names, system, parameters, diagnostics, n_errors, .. } = checker;
    tree.names = names;
    // After a stop, the system is incomplete.
    let is_good = n_errors == 0 && sources.limits().exceeded().is_none();
    Checked { system: is_good.then_some(system), parameters, split, conditions, diagnostics }
}

/// The names that an agent declares and may read.
#[derive(Default)]
struct Scope {
    variables: FxHashMap<Symbol, VarId>,
    actions: FxHashMap<Symbol, ActionId>,
    /// For the Environment: its Obsvars, which every agent sees. For other agents: the variables of the
    /// Environment listed in Lobsvars.
    shared: FxHashSet<VarId>,
    /// Names of arrays, with the span of each declaration.
    arrays: FxHashMap<Symbol, Span>,
    /// Span of the declaration of the actions, if there is one.
    actions_span: Option<Span>,
    /// Index values of this instance of a family.
    bindings: Vec<(Symbol, i64)>,
    /// Index of the template in [`Tree::agents`].
    template: usize,
}

/// The values of an enumeration.
struct Enumeration {
    values: Arc<[SymbolId]>,
    members: FxHashMap<Symbol, SymbolId>,
}

/// An index of [`Checker::enumerations`].
type EnumId = u32;

struct Checker<'t> {
    sources: &'t Sources,
    tree: &'t Tree,
    options: &'t Options,
    names: Names,
    system: System,
    parameters: Vec<(String, i64)>,
    diagnostics: Vec<Diagnostic>,
    /// Codes and spans of messages so far: an error in a template is reported once.
    reported: FxHashSet<(&'static str, Option<Span>)>,
    message_counts: MessageCounts,
    /// Number of errors found, including those that are not shown.
    n_errors: usize,
    /// Whether a range has an error, so that names with indexes may be missing for that reason.
    is_incomplete: bool,

    params: FxHashMap<Symbol, i64>,
    /// Index variables in scope, innermost last.
    bindings: Vec<(Symbol, i64)>,
    /// Iterations that the loops of the file may still make; `None` after the limit was exceeded.
    iterations_left: Option<u64>,
    /// Number of expressions lowered so far.
    n_lowered: usize,
    /// Buffer for the names of instances.
    text: String,

    agents: FxHashMap<Symbol, AgentId>,
    families: FxHashMap<Symbol, Span>,
    scopes: Vec<Scope>,
    symbols: FxHashMap<Symbol, SymbolId>,
    enumerations: Vec<Enumeration>,
    enumeration_index: FxHashMap<Arc<[SymbolId]>, EnumId>,
    /// For each variable its enumeration, if it has one.
    variable_enums: Vec<Option<EnumId>>,
    propositions: FxHashMap<Symbol, PropositionId>,
    proposition_families: FxHashMap<Symbol, Span>,
    /// For each `forall` and `exists` in the current formula, the number of its members in all
    /// instances.
    aggregates: BTreeMap<u32, usize>,
    groups: FxHashMap<Symbol, (GroupId, Span)>,
    /// Whether a property is being lowered, and not a fairness constraint: its wording is remembered.
    is_in_property: bool,
    /// Labels of properties, with the span of the formula that each names.
    labels: FxHashMap<String, Span>,
    /// Variables of fixpoints in scope, innermost last.
    fixpoints: Vec<fixpoint::BoundVariable>,
    /// The name `Action`.
    word_action: Symbol,
}

impl<'t> Checker<'t> {
    fn new(sources: &'t Sources, tree: &'t Tree, mut names: Names, options: &'t Options) -> Self {
        let mut system = System::new(Meaning {
            assignment: tree.sections.semantics.as_ref().map_or(Assignment::Multi, |s| s.items),
            deadlock: options.deadlock.unwrap_or(Deadlock::Finite),
            overflow: options.overflow.unwrap_or(Overflow::Drop),
        });
        system.default_strategies = options.strategies.unwrap_or(Strategies::Perfect);
        system.wording = Wording::new(masque_text::for_each_piece::<Token>);
        system.initial_span = tree.sections.init_states.as_ref().map_or(tree.span, |s| s.span);
        let word_action = names.intern("Action");
        Checker {
            sources,
            tree,
            options,
            names,
            system,
            parameters: Vec::new(),
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
            message_counts: MessageCounts::default(),
            n_errors: 0,
            is_incomplete: false,
            params: FxHashMap::default(),
            bindings: Vec::new(),
            iterations_left: Some(elaborate::MAX_ITERATIONS),
            n_lowered: 0,
            text: String::new(),
            agents: FxHashMap::default(),
            families: FxHashMap::default(),
            scopes: Vec::new(),
            symbols: FxHashMap::default(),
            enumerations: Vec::new(),
            enumeration_index: FxHashMap::default(),
            variable_enums: Vec::new(),
            propositions: FxHashMap::default(),
            proposition_families: FxHashMap::default(),
            aggregates: BTreeMap::new(),
            groups: FxHashMap::default(),
            is_in_property: false,
            labels: FxHashMap::default(),
            fixpoints: Vec::new(),
            word_action,
        }
    }

    fn file(&mut self) {
        let tree = self.tree;
        if let Some(import) = tree.imports.first() {
            let message = "imports are not followed here";
            self.error("ispl/import-not-found", import.path.span, message);
            return;
        }
        if tree.sections.agents.is_empty() {
            self.no_agents();
            return;
        }
        self.parameters();
        if self.is_incomplete {
            return; // Without the size of the model nothing else can be checked.
        }
        self.missing_sections();
        self.declare_agents();
        self.declare_variables();
        self.agent_behaviour();
        if self.n_errors == 0 {
            self.require_green_states();
        }
        self.evaluation();
        self.init_states();
        self.group_definitions();
        self.fairness();
        self.properties();
        if self.n_errors == 0 {
            self.lints();
        }
    }

    /// Reports a file without agents. Its other sections are not checked, because agents and variables that they
    /// name are unknown.
    fn no_agents(&mut self) {
        let tree = self.tree;
        let is_module = !tree.sections.params.is_empty()
            || tree.sections.evaluation.is_some()
            || tree.sections.init_states.is_some()
            || tree.sections.groups.is_some()
            || tree.sections.fairness.is_some()
            || tree.sections.formulae.is_some();
        let (message, help) = if is_module {
            let message =
                "this file is a part of a model: there are no agents in it or in the files it imports";
            (message, "check the file that imports this one, or import the agents: `import \"agents.ispl\";`")
        } else {
            let help = "a model has agents (`Agent NAME .. end Agent`), an Evaluation and InitStates";
            ("there is no model in this file", help)
        };
        self.report(Diagnostic::error("ispl/no-model", tree.span.slice(0, 0), message).hint(help));
    }

    /// Whether a limit on reading is exceeded.
    fn is_stopped(&self) -> bool {
        self.sources.limits().exceeded().is_some()
    }

    /// Counts an expression that is lowered, and now and then checks the time. The memory for it was counted when
    /// its tokens were read.
    fn count_lowered(&mut self) {
        self.n_lowered += 1;
        if self.n_lowered.is_multiple_of(LOWERED_PER_CHECK) {
            self.sources.limits().charge(LOWERED_PER_CHECK as u64);
        }
    }

    /// Resolves the conditions given outside the file.
    fn given_conditions(&mut self) -> Vec<masque_model::ExprId> {
        let tree = self.tree;
        let context = |scope| match scope {
            ConditionScope::States => Context::Formula,
            ConditionScope::Steps => Context::Step,
        };
        let given = tree.given.iter().filter(|_| self.n_errors == 0).collect::<Vec<_>>();
        given.into_iter().map(|given| self.condition(given.condition, context(given.scope))).collect()
    }

    fn is_papers(&self) -> bool {
        self.tree.dialect == Dialect::Papers
    }
}
