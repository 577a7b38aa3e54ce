//! Evidence together with its system: names, values, and the variables that matter, for text and drawings.

use masque_driver::{
    AgentId, Because, DecidedBy, Evidence, EvidencePath, Expr, ExprId, Formula, FormulaId, JointAction,
    Parts, PathReason, ReasonId, StateId, System, Unfolding, VarId,
};

use crate::limits::Limits;
use crate::wording::{enumeration, shortened};

/// Maximum number of characters of a formula in a claim. The JSON report has the whole formula.
const MAX_FORMULA_CHARS: usize = 240;

/// Evidence, its system, and the variables that matter.
pub(crate) struct EvidenceContext<'a> {
    pub(crate) system: &'a System,
    pub(crate) evidence: &'a Evidence,
    /// The formulas as written.
    written: Parts<'a>,
    /// For each variable, whether it occurs in the property.
    matters: Vec<bool>,
    /// For each variable, whether some step of some path changes it.
    changes: Vec<bool>,
}

/// The items that are shown, and the number of those that are not.
pub(crate) struct Abridged<T> {
    pub(crate) shown: Vec<T>,
    pub(crate) n_left_out: usize,
}

impl<T> Abridged<T> {
    /// Keeps all items if there are at most `limit`; otherwise half of `limit`, those with the least rank,
    /// because a long list is not read.
    fn new<R: Ord>(mut items: Vec<T>, limit: usize, rank: impl FnMut(&T) -> R) -> Self {
        if items.len() <= limit {
            return Abridged { shown: items, n_left_out: 0 };
        }
        let n_shown = limit.div_ceil(2);
        let n_left_out = items.len() - n_shown;
        items.sort_by_key(rank);
        items.truncate(n_shown);
        Abridged { shown: items, n_left_out }
    }
}

impl<'a> EvidenceContext<'a> {
    pub(crate) fn new(system: &'a System, evidence: &'a Evidence) -> Self {
        let matters = formula_variables(system, evidence.root().formula);
        let changes = vec![false; system.variables.len()];
        let written = system.written_parts(evidence.root().formula);
        let mut context = EvidenceContext { system, evidence, written, matters, changes };
        let mut changes = vec![false; system.variables.len()];
        context.each_run(|run| {
            for pair in run.states.windows(2) {
                for variable in context.differing(pair[0], pair[1]) {
                    changes[variable.index()] = true;
                }
            }
        });
        context.changes = changes;
        context
    }

    /// Calls `visit` for every path of the evidence, in order.
    fn each_run(&self, mut visit: impl FnMut(&EvidencePath)) {
        visit(&self.evidence.start);
        for reason in &self.evidence.reasons {
            match &reason.because {
                Because::Path(showing) => visit(&showing.run),
                Because::Possible(possible) => possible.path.iter().for_each(&mut visit),
                Because::Chain(chain) => chain.links.iter().for_each(|link| visit(&link.path)),
                Because::Strategy(strategy) => visit(&strategy.play),
                Because::Responses(answers) => {
                    answers.path.iter().for_each(&mut visit);
                    visit(&answers.play);
                }
                Because::Unfolded(unfolding) => unfolding_runs(unfolding).iter().for_each(&mut visit),
                _ => {}
            }
        }
    }

    /// The reasons in depth-first order: each before those it refers to.
    pub(crate) fn order(&self) -> Vec<ReasonId> {
        let mut is_met = vec![false; self.evidence.reasons.len()];
        let (mut order, mut open) = (Vec::new(), vec![ReasonId(0)]);
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut is_met[id.index()], true) {
                continue;
            }
            order.push(id);
            let first = open.len();
            self.evidence.reason(id).because.each_reason(|reason| open.push(reason));
            open[first..].reverse();
        }
        order
    }

    /// The positions of a path that must not be left out: those with a claim that the state alone does not
    /// show, and those at which fairness constraints are true.
    pub(crate) fn important(&self, showing: &PathReason) -> Vec<usize> {
        let is_local = |id: ReasonId| matches!(self.evidence.reason(id).because, Because::Here);
        let claims = showing.claims.iter().filter(|(_, id)| !is_local(*id)).map(|claim| claim.0);
        claims.chain(showing.fair.iter().copied()).collect()
    }

    /// Whether a variable occurs in the property.
    pub(crate) fn matters(&self, variable: VarId) -> bool {
        self.matters[variable.index()]
    }

    /// The variables in which two states differ.
    pub(crate) fn differing(&self, one: StateId, other: StateId) -> Vec<VarId> {
        let (one, other) = (self.evidence.state(one), self.evidence.state(other));
        self.system.variable_ids().filter(|v| one[v.index()] != other[v.index()]).collect()
    }

    /// The variables that at least one of the agents sees, in increasing order.
    pub(crate) fn seen_by(&self, view: &[AgentId]) -> Vec<VarId> {
        let mut sees: Vec<VarId> =
            view.iter().flat_map(|agent| &self.system.agent(*agent).sees).copied().collect();
        sees.sort_unstable();
        sees.dedup();
        sees
    }

    /// At most `limit` variables. If there are more, those of the property come first, then those that
    /// change.
    pub(crate) fn abridge(&self, variables: Vec<VarId>, limit: usize) -> Abridged<VarId> {
        Abridged::new(variables, limit, |v| (!self.matters(*v), !self.changes[v.index()]))
    }

    /// The actions of the agents, as in `Alice: wait`. Agents with only one action are left out, unless all
    /// agents have only one or the limits say otherwise. If there are more than allowed, the agents come first
    /// that own variables of the property or variables that the step changes.
    pub(crate) fn doing(&self, joint: &JointAction, changed: &[VarId], limits: Limits) -> Abridged<String> {
        let named = |agent: &AgentId| !self.action(*agent, joint).is_empty();
        let chooses = |agent: &AgentId| self.system.agent(*agent).actions.len() > 1;
        let mut agents: Vec<AgentId> = self.system.agent_ids().filter(named).collect();
        if !limits.shows_forced_actions && agents.iter().any(chooses) {
            agents.retain(chooses);
        }
        let owns = |agent: AgentId, variable: &VarId| self.system.variable(*variable).owner == agent;
        let agents = Abridged::new(agents, limits.actions, |&agent| {
            let own = &self.system.agent(agent).variables;
            (!own.iter().any(|v| self.matters(*v)), !changed.iter().any(|v| owns(agent, v)))
        });
        let text = |agent| format!("{}: {}", self.system.agent(agent).name, self.action(agent, joint));
        Abridged { shown: agents.shown.into_iter().map(text).collect(), n_left_out: agents.n_left_out }
    }

    fn action(&self, agent: AgentId, joint: &JointAction) -> &str {
        let action = joint.get(agent.index()).map_or(0, |action| action.index());
        self.system.agent(agent).actions.get(action).map_or("", |action| &action.name)
    }

    /// The value of a variable at a state, in the syntax of the language.
    pub(crate) fn value(&self, variable: VarId, state: StateId) -> String {
        self.system.value_text(variable, self.evidence.state(state)[variable.index()])
    }

    /// `Alice.card = ace`
    pub(crate) fn assignment(&self, variable: VarId, state: StateId) -> String {
        format!("{} = {}", self.system.full_name(variable), self.value(variable, state))
    }

    /// The same evidence, with formulas as they were parsed instead of as written.
    pub(crate) fn with_parsed_formulas(self) -> Self {
        EvidenceContext { written: Parts::default(), ..self }
    }

    /// A formula, shortened if it is very long.
    pub(crate) fn formula(&self, formula: FormulaId) -> String {
        shortened(self.system.part_text(&self.written, formula), MAX_FORMULA_CHARS)
    }

    /// "`AF(won)` is false"
    pub(crate) fn claim(&self, formula: FormulaId, holds: bool) -> String {
        format!("`{}` is {holds}", self.formula(formula))
    }

    /// The claim of a reason, without its state.
    pub(crate) fn claim_of(&self, id: ReasonId) -> String {
        let reason = self.evidence.reason(id);
        self.claim(reason.formula, reason.holds)
    }

    /// Names of agents in a sentence: `Alice, Bob and Carol`.
    pub(crate) fn agents(&self, agents: &[AgentId]) -> String {
        let names: Vec<&str> = agents.iter().map(|agent| self.system.agent(*agent).name.as_str()).collect();
        enumeration(&names)
    }
}

/// The paths in an unfolded fixpoint: each step as a path of one step, and the paths to indistinguishable
/// states.
fn unfolding_runs(unfolding: &Unfolding) -> Vec<EvidencePath> {
    let mut runs: Vec<EvidencePath> = Vec::new();
    for node in &unfolding.nodes {
        match &node.by {
            DecidedBy::Steps(list) => runs.extend(list.iter().map(|(joint, index)| {
                let states = vec![node.state, unfolding.nodes[*index].state];
                EvidencePath { states, actions: vec![joint.clone()], back_to: None }
            })),
            DecidedBy::Possible { path: Some(path), .. } => runs.push(path.clone()),
            _ => {}
        }
    }
    runs
}

/// For each variable, whether it occurs in a formula. Variables that an agent of the formula sees do not
/// count.
pub(crate) fn formula_variables(system: &System, root: FormulaId) -> Vec<bool> {
    let mut conditions: Vec<ExprId> = Vec::new();
    // Operands have smaller ids than their users, so one pass from the top reaches all of them.
    let mut is_part = vec![false; root.index() + 1];
    is_part[root.index()] = true;
    for id in system.formulas.ids().rev().filter(|id| *id <= root) {
        if !is_part[id.index()] {
            continue;
        }
        system.formulas.each_operand(id, |operand| is_part[operand.index()] = true);
        match system.formulas.get(id) {
            Formula::Proposition(p) => conditions.push(system.propositions[p.index()].condition),
            Formula::Condition(condition) => conditions.push(condition),
            Formula::Green(agent) | Formula::Red(agent) => conditions.extend(system.agent(agent).red),
            _ => {}
        }
    }
    let mut is_used = vec![false; system.exprs.len()];
    conditions.iter().for_each(|id| is_used[id.index()] = true);
    let mut variables = vec![false; system.variables.len()];
    for id in system.exprs.ids().rev() {
        if is_used[id.index()] {
            system.exprs.each_operand(id, |operand| is_used[operand.index()] = true);
            if let Expr::Variable(variable) = system.exprs.get(id) {
                variables[variable.index()] = true;
            }
        }
    }
    variables
}
