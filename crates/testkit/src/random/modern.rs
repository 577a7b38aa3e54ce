//! Random models of ISPL 1.x, with Masque's extensions of the syntax.

use super::Page;
use super::condition::{Scope, Slot, VariableType};
use super::dice::Dice;
use super::formula::Vocabulary;
use super::logics::{Grammar, Logic};

/// Returns a random system in ISPL 1.x of at most 4096 valuations, with 6 to 10 formulas of CTL, knowledge
/// and norms.
///
/// Both semantics, all types, arithmetic that overflows or divides
/// by zero, protocols with gaps, models with and without an Environment, norms, and (in a third of the
/// models) fairness occur. The text is valid, and at least one initial state exists.
pub fn random_model(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let model = Model::random(&mut dice, &[64, 512, 4096, 4096]);
    model.write(&mut dice, seed, None, Constraints::Some)
}

/// Returns a random system of at most 48 valuations, with 4 formulas of LTL and CTL* with knowledge.
pub fn random_path_model(seed: u64) -> String {
    small_model(seed, &[8, 16, 32, 48], Logic::Paths)
}

/// Returns a random system of at most 48 valuations, with 4 formulas of LTL and CTL* that CTL can express.
pub fn random_determined_model(seed: u64) -> String {
    small_model(seed, &[8, 16, 32, 48], Logic::Determined)
}

/// Returns a random system of at most 48 valuations, with 4 formulas of LTL and CTL* about what is always true
/// and what recurs.
pub fn random_recurring_model(seed: u64) -> String {
    small_model(seed, &[8, 16, 32, 48], Logic::Recurring)
}

/// Returns a random system of at most 32 valuations, with 4 formulas of ATL.
pub fn random_game_model(seed: u64) -> String {
    small_model(seed, &[4, 8, 16, 32], Logic::Strategies)
}

/// Returns a random system of at most 32 valuations with fairness constraints on single states, with 4
/// formulas of ATL.
pub fn random_fair_game_model(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let model = Model::random(&mut dice, &[4, 8, 16, 32]);
    model.write(&mut dice, seed, Some(Logic::Strategies), Constraints::Local)
}

/// Returns a random system of at most 64 valuations, with 4 formulas of the mu-calculus.
pub fn random_fixpoint_model(seed: u64) -> String {
    small_model(seed, &[8, 16, 32, 64], Logic::Fixpoints)
}

fn small_model(seed: u64, sizes: &[u64], logic: Logic) -> String {
    let mut dice = Dice::new(seed);
    let model = Model::random(&mut dice, sizes);
    model.write(&mut dice, seed, Some(logic), Constraints::Some)
}

/// VariableType of the fairness constraints of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constraints {
    /// Any, in a third of the models.
    Some,
    /// One or two, each an atom or its negation.
    Local,
}

#[derive(Clone, Debug)]
struct Variable {
    name: &'static str,
    kind: VariableType,
}

#[derive(Clone, Debug)]
struct Agent {
    name: &'static str,
    /// The Environment's observable variables; none elsewhere.
    observable: Vec<Variable>,
    variables: Vec<Variable>,
    /// The other variables of the Environment that it sees.
    lobsvars: Vec<Variable>,
    actions: Vec<&'static str>,
}

impl Agent {
    fn own(&self) -> impl Iterator<Item = &Variable> {
        self.observable.iter().chain(&self.variables)
    }

    fn is_environment(&self) -> bool {
        self.name == ENVIRONMENT
    }
}

const ENVIRONMENT: &str = "Environment";
const AGENTS: [&str; 3] = ["Alice", "Bob", "Carol"];
const VARIABLES: [&str; 6] = ["x", "y", "z", "u", "v", "w"];
/// Names of actions, shared by all agents. `X` is a keyword in formulas.
const ACTIONS: [&str; 5] = ["go", "stop", "wait", "none", "X"];

struct Model {
    single_assignment: bool,
    /// All agents, including the Environment, if there is one.
    agents: Vec<Agent>,
}

impl Model {
    /// Returns a random model. The maximum number of valuations is one of `sizes`.
    fn random(dice: &mut Dice, sizes: &[u64]) -> Model {
        let mut agents: Vec<Agent> = Vec::new();
        // Maximum number of valuations of the remaining variables.
        let mut budget = *dice.one_of(sizes);
        let has_environment = dice.chance(75);
        if has_environment {
            let n_observable = dice.count(0, 2);
            let observable = variables(dice, &VARIABLES[..n_observable], &mut budget);
            let n_hidden = dice.count(usize::from(n_observable == 0), 2);
            let hidden = variables(dice, &VARIABLES[n_observable..n_observable + n_hidden], &mut budget);
            // One Environment in four has no action.
            let actions = if dice.chance(25) { Vec::new() } else { actions(dice) };
            agents.push(Agent {
                name: ENVIRONMENT,
                observable,
                variables: hidden,
                lobsvars: Vec::new(),
                actions,
            });
        }
        let hidden = agents.first().map(|e| e.variables.clone()).unwrap_or_default();
        let n_agents = *dice.one_of(&[1, 2, 2, 2, 3]);
        for name in &AGENTS[..n_agents] {
            let n = *dice.one_of(if agents.is_empty() { &[1, 2, 3] } else { &[0, 1, 2, 2, 3, 3] });
            // Names are reused across agents; an agent's own name may equal one it observes.
            let variables = variables(dice, &VARIABLES[..n], &mut budget);
            let n_seen = if dice.chance(50) { dice.count(0, hidden.len()) } else { 0 };
            let lobsvars = dice.some_of(&hidden, n_seen);
            agents.push(Agent { name, observable: Vec::new(), variables, lobsvars, actions: actions(dice) });
        }
        if has_environment && dice.chance(15) {
            agents.rotate_left(1); // The papers put the Environment last.
        }
        Model { single_assignment: dice.chance(45), agents }
    }

    fn environment(&self) -> Option<&Agent> {
        self.agents.iter().find(|a| a.is_environment())
    }

    /// Returns the variables that the agent's conditions may read: its own, and those of the Environment
    /// that it sees.
    fn visible(&self, agent: &Agent) -> Scope {
        let mut slots: Vec<Slot> =
            agent.own().map(|v| Slot { text: v.name.to_string(), kind: v.kind }).collect();
        if let Some(environment) = self.environment()
            && !agent.is_environment()
        {
            let seen = environment.observable.iter().chain(&agent.lobsvars);
            slots.extend(seen.map(|v| Slot { text: format!("Environment.{}", v.name), kind: v.kind }));
        }
        Scope { slots, atoms: Vec::new() }
    }

    /// Returns the same variables, and the actions of all agents.
    fn readable(&self, agent: &Agent) -> Scope {
        let mut scope = self.visible(agent);
        for other in &self.agents {
            for action in &other.actions {
                scope.atoms.push(format!("{}.Action = {action}", other.name));
            }
        }
        // The agent's own actions are added twice, because lines depend on them most.
        for action in agent.actions.iter().chain(&agent.actions) {
            scope.atoms.push(format!("Action = {action}"));
        }
        scope
    }

    /// Returns the conditions on steps that formulas may contain.
    fn steps(&self) -> Vec<String> {
        let of = |agent: &Agent| {
            let name = agent.name;
            agent.actions.iter().map(move |action| format!("{name}.Action = {action}")).collect::<Vec<_>>()
        };
        self.agents.iter().flat_map(of).collect()
    }

    /// Returns all variables, as they are written in Evaluation and InitStates.
    fn everything(&self) -> Scope {
        let slots = self.agents.iter().flat_map(|agent| {
            agent.own().map(|v| Slot { text: format!("{}.{}", agent.name, v.name), kind: v.kind })
        });
        Scope { slots: slots.collect(), atoms: Vec::new() }
    }

    /// Writes the model with formulas of a logic. `None` means CTL.
    fn write(&self, dice: &mut Dice, seed: u64, logic: Option<Logic>, constraints: Constraints) -> String {
        let mut page = Page::default();
        page.line(format!("-- Random model {seed}."));
        if self.single_assignment {
            page.line(format!("Semantics = {};", dice.pick(&["SA", "SingleAssignment"])));
        } else if dice.chance(50) {
            page.line(format!("Semantics = {};", dice.pick(&["MA", "MultiAssignment"])));
        }
        for agent in &self.agents {
            page.block(&format!("Agent {}", agent.name), "end Agent", |page| {
                self.write_agent(dice, page, agent);
            });
        }
        let propositions: Vec<String> = (0..dice.count(2, 5)).map(|i| format!("p{i}")).collect();
        let everything = self.everything();
        page.block("Evaluation", "end Evaluation", |page| {
            for p in &propositions {
                page.line(format!("{p} if {};", everything.condition(dice, 2)));
            }
        });
        let initial = initial(dice, &everything);
        page.block("InitStates", "end InitStates", |page| page.line(format!("{initial};")));
        let vocabulary = self.write_groups(dice, &mut page, propositions);
        if constraints == Constraints::Local {
            page.block("Fairness", "end Fairness", |page| {
                for _ in 0..*dice.one_of(&[1, 1, 1, 2]) {
                    let sign = if dice.chance(25) { "!" } else { "" };
                    page.line(format!("{sign}{};", vocabulary.atom(dice)));
                }
            });
        } else if dice.chance(33) {
            page.block("Fairness", "end Fairness", |page| {
                for _ in 0..*dice.one_of(&[0, 1, 1, 1, 1, 2, 2]) {
                    page.line(format!("{};", vocabulary.constraint(dice)));
                }
            });
        }
        page.block("Formulae", "end Formulae", |page| {
            if let Some(logic) = logic {
                let grammar = Grammar { words: &vocabulary, steps: self.steps() };
                return (0..4).for_each(|_| page.line(format!("{};", grammar.property(dice, logic))));
            }
            for _ in 0..dice.count(6, 10) {
                let depth = dice.count(1, 4);
                page.line(format!("{};", vocabulary.formula(dice, depth)));
            }
        });
        page.text
    }

    fn write_agent(&self, dice: &mut Dice, page: &mut Page, agent: &Agent) {
        let declare = |page: &mut Page, variables: &[Variable]| {
            for v in variables {
                page.line(format!("{} : {};", v.name, v.kind.declaration()));
            }
        };
        if agent.is_environment() {
            if !agent.observable.is_empty() || dice.chance(30) {
                page.block("Obsvars:", "end Obsvars", |page| declare(page, &agent.observable));
            }
        } else if !agent.lobsvars.is_empty() || dice.chance(10) {
            let names: Vec<&str> = agent.lobsvars.iter().map(|v| v.name).collect();
            page.line(format!("Lobsvars = {{{}}};", names.join(", ")));
        }
        if !agent.is_environment() || !agent.variables.is_empty() || dice.chance(30) {
            page.block("Vars:", "end Vars", |page| declare(page, &agent.variables));
        }
        let visible = self.visible(agent);
        if dice.chance(40) {
            page.block("RedStates:", "end RedStates", |page| {
                if dice.chance(90) {
                    page.line(format!("{};", visible.red_states(dice)));
                }
            });
        }
        page.line(format!("Actions = {{{}}};", agent.actions.join(", ")));
        page.block("Protocol:", "end Protocol", |page| write_protocol(dice, page, agent, &visible));
        page.block("Evolution:", "end Evolution", |page| self.write_evolution(dice, page, agent));
    }

    fn write_evolution(&self, dice: &mut Dice, page: &mut Page, agent: &Agent) {
        let readable = self.readable(agent);
        let own: Vec<&Variable> = agent.own().collect();
        let n_lines = if own.is_empty() { 0 } else { dice.count(own.len(), 1 + 3 * own.len()) };
        for _ in 0..n_lines {
            let n_targets = if self.single_assignment { 1 } else { *dice.one_of(&[1, 1, 1, 2, 3]) };
            let (mut assignments, mut conditions) = (Vec::new(), Vec::new());
            for v in dice.some_of(&own, n_targets) {
                let (assignment, guard) = readable.assignment(dice, v.name, v.kind);
                assignments.push(if dice.chance(15) { format!("({assignment})") } else { assignment });
                conditions.extend(guard);
            }
            let depth = *dice.one_of(&[0, 0, 0, 1, 1, 2]);
            let condition = readable.condition(dice, depth);
            conditions.push(if conditions.is_empty() { condition } else { format!("({condition})") });
            page.line(format!("{} if {};", assignments.join(" and "), conditions.join(" and ")));
        }
    }

    /// Writes the groups; returns the vocabulary of the formulas.
    fn write_groups(&self, dice: &mut Dice, page: &mut Page, propositions: Vec<String>) -> Vocabulary {
        let agents: Vec<String> = self.agents.iter().map(|a| a.name.to_string()).collect();
        let mut groups = agents.clone();
        let set = |dice: &mut Dice| {
            let n = dice.count(1, agents.len());
            format!("{{{}}}", dice.some_of(&agents, n).join(", "))
        };
        groups.extend([set(dice), set(dice)]);
        if dice.chance(85) {
            page.block("Groups", "end Groups", |page| {
                for i in 0..dice.count(0, 3) {
                    page.line(format!("g{i} = {};", set(dice)));
                    groups.push(format!("g{i}"));
                    groups.push(format!("g{i}"));
                }
            });
        }
        Vocabulary { atoms: propositions, agents, groups, group_operators: &["GK", "DK", "GCK"] }
    }
}

fn variables(dice: &mut Dice, names: &[&'static str], budget: &mut u64) -> Vec<Variable> {
    let mut variables = Vec::new();
    for name in names {
        let kind = VariableType::random(dice);
        if kind.size() <= *budget {
            *budget /= kind.size();
            variables.push(Variable { name, kind });
        }
    }
    variables
}

fn actions(dice: &mut Dice) -> Vec<&'static str> {
    let n = *dice.one_of(&[1, 2, 2, 3]);
    dice.some_of(&ACTIONS, n)
}

fn write_protocol(dice: &mut Dice, page: &mut Page, agent: &Agent, visible: &Scope) {
    // An Environment without protocol lines may perform every action; another agent could perform none.
    if agent.actions.is_empty() || agent.is_environment() && dice.chance(25) {
        return;
    }
    let set = |dice: &mut Dice| {
        let n = dice.count(1, agent.actions.len());
        format!("{{{}}}", dice.some_of(&agent.actions, n).join(", "))
    };
    let n_lines = if visible.slots.is_empty() { 0 } else { dice.count(0, 3) };
    for _ in 0..n_lines {
        page.line(format!("{} : {};", visible.condition(dice, 1), set(dice)));
    }
    if dice.chance(if n_lines == 0 { 98 } else { 85 }) {
        page.line(format!("Other : {};", set(dice)));
    }
}

/// Returns a satisfiable condition on all variables: conjuncts that a chosen valuation satisfies.
fn initial(dice: &mut Dice, everything: &Scope) -> String {
    let witness: Vec<String> = everything.slots.iter().map(|slot| slot.kind.value(dice)).collect();
    let mut conjuncts = Vec::new();
    for (slot, value) in everything.slots.iter().zip(&witness) {
        let text = &slot.text;
        let other = slot.kind.value(dice);
        conjuncts.push(match (dice.count(0, 19), slot.kind) {
            (0..=3, _) => continue, // Unconstrained.
            (6..=7, _) => format!("({text} = {value} or {text} = {other})"),
            (4..=5, VariableType::Range(..)) => format!("{text} {} {value}", dice.pick(&["<=", ">="])),
            (4..=5, VariableType::Boolean) if value == "true" => text.clone(),
            (4..=5, VariableType::Boolean) => format!("!{text}"),
            (4..=5, VariableType::Enumeration(_)) if other != *value => format!("{text} <> {other}"),
            _ => format!("{text} = {value}"),
        });
    }
    // A comparison of two variables that the witness satisfies.
    let n = everything.slots.len();
    if n >= 2 {
        let (i, j) = (dice.count(0, n - 1), dice.count(0, n - 1));
        let (a, b) = (&everything.slots[i], &everything.slots[j]);
        match (a.kind, b.kind) {
            (VariableType::Range(..), VariableType::Range(..)) => {
                let value = |i: usize| witness[i].parse::<i64>().unwrap_or_default();
                let relation = if value(i) <= value(j) { "<=" } else { ">" };
                conjuncts.push(format!("{} {relation} {}", a.text, b.text));
            }
            (first, second) if first.is_within(second) || first == second => {
                let relation = if witness[i] == witness[j] { "=" } else { "<>" };
                conjuncts.push(format!("{} {relation} {}", a.text, b.text));
            }
            _ => {}
        }
    }
    dice.shuffle(&mut conjuncts);
    if conjuncts.is_empty() { "true".to_string() } else { conjuncts.join(" and ") }
}
