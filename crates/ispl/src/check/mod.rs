//! From the syntax tree to the checked model: elaboration of parameters, names, types, scopes.
//!
//! Elaboration, checking and lowering are one pass: a template is walked once for each value of
//! its indexes, and what is walked is lowered at once, so the expanded text never exists. Messages
//! point at the template and name the instance.

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

use std::collections::BTreeMap;
use std::sync::Arc;

use masque_model::{ActionId, AgentId};
use masque_model::{
    Assignment, At, Deadlock, GroupId, Meaning, Overflow, PropositionId, Strategies, SymbolId, System, VarId,
};
use masque_text::{Diagnostic, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::tree::{Dialect, Names, Symbol, Tree};
use report::Said;

/// A parameter's value from outside the file: `-D N=40`.
#[derive(Clone, Debug)]
pub struct Define {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// Where it was given.
    pub span: Span,
}

/// What changes the meaning of a file from outside.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Parameters.
    pub defines: Vec<Define>,
    /// Where properties must be true; the dialect decides if `None`.
    pub at: Option<At>,
    /// What a state without successors means; `finite` if `None`.
    pub deadlock: Option<Deadlock>,
    /// What an overflow means; `drop` if `None`.
    pub overflow: Option<Overflow>,
    /// Strategies of coalitions that do not name theirs; `perfect` if `None`.
    pub strategies: Option<Strategies>,
}

/// What became of a tree.
#[derive(Debug)]
pub struct Checked {
    /// The model, unless there are errors.
    pub system: Option<System>,
    /// The file's parameters with the values used, in the order of the text.
    pub parameters: Vec<(String, i64)>,
    /// Errors and lints, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Elaborates, checks and lowers a parsed file.
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
    checker.diagnostics.sort_by_key(|d| d.primary.as_ref().map_or(Span::default(), |p| p.span));
    checker.left_unsaid();
    let Checker { names, system, parameters, diagnostics, n_errors, .. } = checker;
    tree.names = names;
    Checked { system: (n_errors == 0).then_some(system), parameters, diagnostics }
}

/// What an agent declares and may read.
#[derive(Default)]
struct Scope {
    variables: FxHashMap<Symbol, VarId>,
    actions: FxHashMap<Symbol, ActionId>,
    /// For the Environment: variables every agent sees. For others: what Lobsvars adds.
    shared: FxHashSet<VarId>,
    /// Names of arrays, and where each is declared.
    arrays: FxHashMap<Symbol, Span>,
    /// Where the actions are declared, if they are.
    actions_span: Option<Span>,
    /// The index values that made this instance of a family.
    bindings: Vec<(Symbol, i64)>,
    /// The template in [`Tree::agents`].
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
    /// Codes and places already spoken of: an error in a template is said once.
    said: FxHashSet<(&'static str, Option<Span>)>,
    n_said: Said,
    /// Errors found, whether said or not.
    n_errors: usize,
    /// Some range is wrong, so names with indexes may be missing for that reason.
    is_incomplete: bool,

    params: FxHashMap<Symbol, i64>,
    /// Index variables in scope, innermost last.
    bindings: Vec<(Symbol, i64)>,
    /// Rounds that the file's loops may still go; `None` once they asked for more.
    rounds_left: Option<u64>,
    text: String,

    agents: FxHashMap<Symbol, AgentId>,
    families: FxHashMap<Symbol, Span>,
    scopes: Vec<Scope>,
    symbols: FxHashMap<Symbol, SymbolId>,
    enumerations: Vec<Enumeration>,
    enumeration_index: FxHashMap<Arc<[SymbolId]>, EnumId>,
    /// For each variable the enumeration it ranges over, if it does.
    variable_enums: Vec<Option<EnumId>>,
    propositions: FxHashMap<Symbol, PropositionId>,
    proposition_families: FxHashMap<Symbol, Span>,
    /// For each `forall` and `exists` in the formula that is being read, how many members it had in
    /// all of its instances.
    aggregates: BTreeMap<u32, usize>,
    groups: FxHashMap<Symbol, (GroupId, Span)>,
    /// The labels of properties, and the formula that each names.
    labels: FxHashMap<String, Span>,
    /// The variables of fixpoints in scope, innermost last.
    fixpoints: Vec<fixpoint::InScope>,
    word_action: Symbol,
}

impl<'t> Checker<'t> {
    fn new(sources: &'t Sources, tree: &'t Tree, mut names: Names, options: &'t Options) -> Self {
        let mut system = System::new(Meaning {
            assignment: tree.semantics.as_ref().map_or(Assignment::Multi, |s| s.items),
            deadlock: options.deadlock.unwrap_or(Deadlock::Finite),
            overflow: options.overflow.unwrap_or(Overflow::Drop),
        });
        system.default_strategies = options.strategies.unwrap_or(Strategies::Perfect);
        system.initial_span = tree.init_states.as_ref().map_or(tree.span, |s| s.span);
        let word_action = names.intern("Action");
        Checker {
            sources,
            tree,
            options,
            names,
            system,
            parameters: Vec::new(),
            diagnostics: Vec::new(),
            said: FxHashSet::default(),
            n_said: Said::default(),
            n_errors: 0,
            is_incomplete: false,
            params: FxHashMap::default(),
            bindings: Vec::new(),
            rounds_left: Some(elaborate::ROUNDS),
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
            labels: FxHashMap::default(),
            fixpoints: Vec::new(),
            word_action,
        }
    }

    fn file(&mut self) {
        let tree = self.tree;
        if tree.agents.is_empty() && tree.evaluation.is_none() && tree.init_states.is_none() {
            let message = "there is no model in this file";
            self.report(
                Diagnostic::error("ispl/no-model", tree.span.slice(0, 0), message)
                    .hint("a model has agents (`Agent NAME .. end Agent`), an Evaluation and InitStates"),
            );
            return;
        }
        self.parameters();
        if self.is_incomplete {
            return; // Nothing can be said of a model whose size is not known.
        }
        self.missing_sections();
        self.declare_agents();
        self.declare_variables();
        self.agent_behaviour();
        self.evaluation();
        self.init_states();
        self.group_definitions();
        self.fairness();
        self.properties();
        if self.n_errors == 0 {
            self.lints();
        }
    }

    fn is_papers(&self) -> bool {
        self.tree.dialect == Dialect::Papers
    }
}
