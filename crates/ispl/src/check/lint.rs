//! Warnings about models that are valid but probably not what was intended.

use masque_model::{
    Agent, AgentId, Assignment, Expr, ExprId, Formula, Line, Protocol, Strategies, System, VarId,
};
use masque_text::{Diagnostic, ReadLimits};

use super::Checker;
use super::satisfy::ConditionSearch;

/// Maximum number of pairs of lines compared per agent.
const MAX_PAIRS: usize = 2_000;
/// Work on one line that counts against the limits on reading.
const STEPS_PER_LINE: u64 = 16;
/// Maximum number of different sets of assigned variables considered per agent.
const MAX_GROUPS: usize = 200;

impl Checker<'_> {
    pub(super) fn lints(&mut self) {
        let system = &self.system;
        let mut found = Vec::new();
        let mut search = ConditionSearch::new(system);
        for agent in &system.agents {
            never_enabled(agent, &mut search, self.sources.limits(), &mut found);
            if system.meaning.assignment == Assignment::Multi {
                competing_lines(system, agent, &mut search, &mut found);
            }
        }
        unread_variables(system, &mut found);
        agents_that_see_everything(system, &mut found);
        for diagnostic in found {
            self.report(diagnostic);
        }
    }
}

/// Finds protocol and evolution lines whose condition is unsatisfiable.
fn never_enabled(
    agent: &Agent,
    search: &mut ConditionSearch,
    limits: &ReadLimits,
    found: &mut Vec<Diagnostic>,
) {
    if let Protocol::Lines { lines, .. } = &agent.protocol {
        for line in lines.iter().take_while(|_| limits.charge(STEPS_PER_LINE)) {
            if search.satisfiable(&[line.condition]) == Some(false) {
                let message = format!("this protocol line of `{}` can never apply", agent.name);
                found.push(
                    Diagnostic::warning("ispl/protocol-never-enabled", line.span, message)
                        .label("its condition is always false")
                        .hint("`and` binds tighter than `or`: mixed conditions need brackets"),
                );
            }
        }
    }
    for line in agent.evolution.iter().take_while(|_| limits.charge(STEPS_PER_LINE)) {
        if search.satisfiable(&[line.condition]) == Some(false) {
            let message = format!("this evolution line of `{}` can never fire", agent.name);
            found.push(
                Diagnostic::warning("ispl/never-fires", line.span, message)
                    .label("its condition is always false"),
            );
        }
    }
}

/// Finds lines that set different variables and can be enabled together. With MultiAssignment exactly
/// one enabled line is taken, so they do not both take effect. At most one pair per agent is reported.
fn competing_lines(
    system: &System,
    agent: &Agent,
    search: &mut ConditionSearch,
    found: &mut Vec<Diagnostic>,
) {
    // Lines grouped by the variables they set: there are few such sets, even for many lines.
    let mut groups: Vec<(Vec<VarId>, Vec<&Line>)> = Vec::new();
    for line in &agent.evolution {
        let mut set: Vec<VarId> = line.assignments.iter().map(|(v, _)| *v).collect();
        set.sort_unstable();
        match groups.iter().position(|(other, _)| *other == set) {
            Some(known) => groups[known].1.push(line),
            None if groups.len() < MAX_GROUPS => groups.push((set, vec![line])),
            None => {}
        }
    }
    let mut n_pairs = 0;
    for (i, (set, lines)) in groups.iter().enumerate() {
        for (other_set, others) in
            groups[i + 1..].iter().filter(|(other, _)| !set.iter().any(|v| other.contains(v)))
        {
            for (first, second) in lines.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
                n_pairs += 1;
                if n_pairs > MAX_PAIRS {
                    return;
                }
                if search.satisfiable(&[first.condition, second.condition]) != Some(true) {
                    continue;
                }
                let names = |set: &[VarId]| {
                    set.iter().map(|v| system.variable(*v).name.as_str()).collect::<Vec<_>>().join(", ")
                };
                let message = format!(
                    "these lines of `{}` set different variables ({} and {}) and can be enabled together, but only one of them is taken",
                    agent.name,
                    names(set),
                    names(other_set)
                );
                let (first, second) =
                    if first.span < second.span { (first, second) } else { (second, first) };
                found.push(
                    Diagnostic::warning("ispl/competing-lines", second.span, message)
                        .also(first.span, "the other line")
                        .hint("join them with `and`, or choose `Semantics = SingleAssignment;` to let each variable change on its own"),
                );
                return;
            }
        }
    }
}

/// Finds variables without effect: no condition, value or proposition reads them, and no agent whose
/// knowledge is used in a formula sees them.
fn unread_variables(system: &System, found: &mut Vec<Diagnostic>) {
    let mut is_read = vec![false; system.variables.len()];
    let mut is_seen = vec![false; system.exprs.len()];
    let mut open: Vec<ExprId> = Vec::new();
    for agent in &system.agents {
        open.extend(agent.red);
        if let Protocol::Lines { lines, .. } = &agent.protocol {
            open.extend(lines.iter().map(|line| line.condition));
        }
        for line in &agent.evolution {
            open.push(line.condition);
            open.extend(line.assignments.iter().map(|(_, value)| *value));
        }
    }
    open.extend(system.propositions.iter().map(|p| p.condition));
    for formula in system.formulas.ids() {
        if let Formula::Condition(condition) = system.formulas.get(formula) {
            open.push(condition);
        }
    }
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut is_seen[id.index()], true) {
            continue;
        }
        match system.exprs.get(id) {
            Expr::Variable(v) => is_read[v.index()] = true,
            _ => system.exprs.each_operand(id, |a| open.push(a)),
        }
    }
    for agent in knowing_agents(system) {
        for v in &system.agent(agent).sees {
            is_read[v.index()] = true;
        }
    }
    for id in system.variable_ids().filter(|id: &VarId| !is_read[id.index()]) {
        let message = format!("nothing reads `{}`", system.full_name(id));
        found.push(
            Diagnostic::warning("ispl/unread-variable", system.variable(id).span, message)
                .hint("it increases the number of states and changes no verdict"),
        );
    }
}

/// Returns the agents whose observations matter to some formula.
fn knowing_agents(system: &System) -> Vec<AgentId> {
    let mut agents = Vec::new();
    for id in system.formulas.ids() {
        match system.formulas.get(id) {
            Formula::Knows(agent, _) | Formula::KnowsUnder(agent, _, _) => agents.push(agent),
            Formula::EveryoneKnows(group, _)
            | Formula::DistributedKnowledge(group, _)
            | Formula::CommonKnowledge(group, _) => agents.extend(&system.groups[group.index()].agents),
            Formula::Enforces(group, strategies, _) if strategies != Strategies::Perfect => {
                agents.extend(&system.groups[group.index()].agents);
            }
            _ => {}
        }
    }
    agents.sort_unstable();
    agents.dedup();
    agents
}

/// Finds agents that see all variables, including those of others: they know everything that is true.
fn agents_that_see_everything(system: &System, found: &mut Vec<Diagnostic>) {
    for agent in &system.agents {
        let is_environment = system.environment.is_some_and(|e| std::ptr::eq(agent, system.agent(e)));
        if !is_environment
            && agent.sees.len() == system.variables.len()
            && agent.sees.len() > agent.variables.len()
        {
            let message =
                format!("agent `{}` sees every variable, so it knows everything that is true", agent.name);
            found.push(
                Diagnostic::warning("ispl/sees-everything", agent.span, message)
                    .hint("declare variables that it should not see in the Environment's `Vars`"),
            );
        }
    }
}
