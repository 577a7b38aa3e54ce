//! Random models in the dialect of the 2004 and 2005 papers.

use super::Page;
use super::condition::Scope;
use super::dice::Dice;
use super::formula::Vocabulary;

/// Returns a random system in the 2004/05 dialect (`Lstate`, `Lgreen`, `Ev`), with at most four agents of at
/// most five states each and 6 to 10 formulas.
///
/// The text is valid, and at least one initial state exists. Some models have protocols with gaps;
/// some read other agents' local states, as the paper of 2004 allows.
pub fn random_old_model(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let n_agents = *dice.one_of(&[1, 2, 2, 3, 3]);
    let mut agents: Vec<Agent> =
        NAMES[..n_agents].iter().map(|name| Agent::random(&mut dice, name)).collect();
    if dice.chance(75) {
        agents.push(Agent::random(&mut dice, "Environment"));
    }
    write(&mut dice, &agents, seed)
}

const NAMES: [&str; 3] = ["Sender", "Receiver", "Third"];
/// Names of states, shared by all agents, including `S`, `R` and `SR` of the paper.
const STATES: [&str; 6] = ["s0", "s1", "s2", "S", "R", "SR"];
const ACTIONS: [&str; 4] = ["send", "nothing", "ack", "S"];

struct Agent {
    name: &'static str,
    states: Vec<&'static str>,
    actions: Vec<&'static str>,
}

impl Agent {
    fn random(dice: &mut Dice, name: &'static str) -> Agent {
        let (n_states, n_actions) = (*dice.one_of(&[1, 2, 3, 4, 5, 5]), dice.count(1, 3));
        Agent { name, states: dice.some_of(&STATES, n_states), actions: dice.some_of(&ACTIONS, n_actions) }
    }

    /// Returns the condition `(NAME.Lstate=s)`.
    fn is_in(&self, state: &str) -> String {
        format!("({}.Lstate={state})", self.name)
    }
}

fn braces(names: &[&str]) -> String {
    format!("{{{}}}", names.join(","))
}

fn write(dice: &mut Dice, agents: &[Agent], seed: u64) -> String {
    let mut page = Page::default();
    page.line(format!("-- Random model {seed} of the 2004/05 dialect."));
    let reads_others = dice.chance(30);
    for agent in agents {
        page.block(&format!("Agent {}", agent.name), "end Agent", |page| {
            page.line(format!("Lstate = {};", braces(&agent.states)));
            if dice.chance(60) {
                let n_green = dice.count(1, agent.states.len());
                page.line(format!("Lgreen = {};", braces(&dice.some_of(&agent.states, n_green))));
            }
            page.line(format!("Action = {};", braces(&agent.actions)));
            page.block("Protocol:", "end Protocol", |page| {
                let has_gaps = dice.chance(10);
                for state in &agent.states {
                    if !(has_gaps && dice.chance(30)) {
                        let n = dice.count(1, agent.actions.len());
                        page.line(format!("{state}: {};", braces(&dice.some_of(&agent.actions, n))));
                    }
                }
            });
            let scope = readable(agents, agent, reads_others);
            page.block("Ev:", "end Ev", |page| {
                for _ in 0..dice.count(agent.states.len(), 3 * agent.states.len()) {
                    let target = dice.pick(&agent.states);
                    let depth = dice.count(0, 2);
                    page.line(format!("{target} if {};", scope.condition(dice, depth)));
                }
            });
        });
    }
    let propositions = write_evaluation(dice, &mut page, agents);
    page.block("InitStates", "end InitStates", |page| {
        let initial = |agent: &Agent| {
            let n = if dice.chance(70) { 1 } else { dice.count(1, agent.states.len()) };
            let options: Vec<_> = dice.some_of(&agent.states, n).iter().map(|s| agent.is_in(s)).collect();
            format!("({})", options.join(" or "))
        };
        let parts: Vec<String> = agents.iter().map(initial).collect();
        page.line(format!("{};", parts.join(" and ")));
    });
    write_formulas(dice, &mut page, agents, propositions);
    page.text
}

/// Returns what an evolution line may read: its own local state, all actions, the Environment's state, and
/// perhaps the states of all others.
fn readable(agents: &[Agent], agent: &Agent, reads_others: bool) -> Scope {
    let mut atoms: Vec<String> = agent.states.iter().map(|s| format!("(Lstate={s})")).collect();
    atoms.extend(agent.actions.iter().map(|a| format!("(Action={a})")));
    for other in agents {
        atoms.extend(other.actions.iter().map(|a| format!("({}.Action={a})", other.name)));
        if reads_others || other.name == "Environment" {
            atoms.extend(other.states.iter().map(|s| other.is_in(s)));
        }
    }
    Scope { slots: Vec::new(), atoms }
}

fn write_evaluation(dice: &mut Dice, page: &mut Page, agents: &[Agent]) -> Vec<String> {
    let atoms = agents.iter().flat_map(|agent| agent.states.iter().map(|s| agent.is_in(s))).collect();
    let scope = Scope { slots: Vec::new(), atoms };
    let propositions: Vec<String> = (0..dice.count(2, 5)).map(|i| format!("p{i}")).collect();
    page.block("Evaluation", "end Evaluation", |page| {
        for p in &propositions {
            page.line(format!("{p} if {};", scope.condition(dice, 2)));
        }
    });
    propositions
}

fn write_formulas(dice: &mut Dice, page: &mut Page, agents: &[Agent], propositions: Vec<String>) {
    let names: Vec<String> = agents.iter().map(|a| a.name.to_string()).collect();
    let mut groups = Vec::new();
    page.block("Groups", "end Groups", |page| {
        for i in 0..dice.count(1, 3) {
            let n = dice.count(1, names.len());
            page.line(format!("g{i} = {{{}}};", dice.some_of(&names, n).join(",")));
            groups.push(format!("g{i}"));
        }
    });
    groups.extend(names.iter().cloned());
    let group_operators = &["GK", "DK", "GCK", "E", "D", "C"];
    let vocabulary = Vocabulary { atoms: propositions, agents: names, groups, group_operators };
    page.block("Formulae", "end Formulae", |page| {
        for _ in 0..dice.count(6, 10) {
            let depth = dice.count(1, 4);
            page.line(format!("{};", vocabulary.formula(dice, depth)));
        }
    });
}
