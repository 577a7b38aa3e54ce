//! `simulate`: a walk through a model. The server keeps no walk: each call gives all its steps.

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use masque_driver::{
    JointAction, Limits, Loaded, MAX_LISTED_SUCCESSORS, Model, RandomChoices, Simulation, State, StepPath,
};
use masque_report::{joint_text, state_values};

use super::super::answers::{Marked, Offered, Taken, Walked};
use super::super::parameters::{Choice, Simulate};
use super::{Answer, Job, answer, refused};

/// Maximum number of states of BDI worlds that a walk lists.
const MAX_LISTED_STATES: usize = 20_000;
/// Maximum number of steps in a call, given and random.
const MAX_STEPS: usize = 10_000;
/// Maximum number of steps that an answer shows; the last ones.
const MAX_SHOWN_STEPS: usize = 200;

/// Values of a state, by name.
type Values = BTreeMap<String, String>;

/// A walk through a model in any language.
enum Walk {
    /// Joint actions of an interpreted system.
    Joint(Box<Simulation>),
    /// Labelled steps.
    Steps(StepPath),
}

/// A choice that can be taken.
enum Next {
    Initial(usize),
    Joint(JointAction, State),
    Step(masque_driver::Step),
}

/// Why a walk does not go on.
#[derive(Debug)]
enum Halt {
    /// A limit was hit, which is a result.
    Limit(String),
    /// The model or the parameters are wrong.
    Mistake(String),
}

impl Walk {
    /// The walk before its first choice; or why there is none.
    fn begin(loaded: &Loaded, limits: &Limits) -> Result<Walk, Halt> {
        let limit = |what: &str, why: &str| Halt::Limit(format!("{what} could not be found: {why}"));
        let limits = limits.after_loading(loaded);
        if let Some(Model::Ispl(system)) = &loaded.model {
            let mut simulation = Simulation::new(system, &loaded.engine_options, &limits)
                .map_err(|why| limit("the initial states", why.word()))?;
            match simulation.initial.len() {
                0 => return Err(Halt::Mistake("no state satisfies InitStates".to_string())),
                1 => _ = simulation.begin(0),
                _ => {}
            }
            return Ok(Walk::Joint(Box::new(simulation)));
        }
        let explorer = loaded.explorer(MAX_LISTED_STATES, &limits);
        let explorer = explorer.map_err(|why| limit("the states", why.word()))?;
        let path = explorer.and_then(StepPath::new);
        path.map(Walk::Steps).ok_or_else(|| Halt::Mistake("the model has no initial state".to_string()))
    }

    /// The values of the current state; none before an initial state is chosen.
    fn state(&self) -> Option<Values> {
        match self {
            Walk::Joint(walk) => Some(state_values(&walk.system, walk.state()?).into_iter().collect()),
            Walk::Steps(path) => Some(path.values(path.state()?).into_iter().collect()),
        }
    }

    /// The choices here with their labels, and why there may be more.
    fn choices(&mut self) -> (Vec<(String, Next)>, Option<String>) {
        match self {
            Walk::Joint(walk) => match walk.choices() {
                None => {
                    let initial = walk.initial.iter().enumerate();
                    let label = |state| values_text(state_values(&walk.system, state));
                    let choices =
                        initial.map(|(index, state)| (label(state), Next::Initial(index))).collect();
                    (choices, walk.n_initial.as_ref().map(|n| format!("of {n} initial states")))
                }
                Some(choices) => {
                    let more = (choices.count != choices.listed.len().into())
                        .then(|| format!("of {} joint actions", choices.count));
                    let one = choices.listed.iter().flat_map(|(joint, successors)| {
                        let label = joint_text(&walk.system, joint);
                        let next = successors.iter().take(MAX_LISTED_SUCCESSORS);
                        next.map(move |next| (label.clone(), Next::Joint(joint.clone(), next)))
                    });
                    (one.collect(), more)
                }
            },
            Walk::Steps(path) => {
                let steps = path.steps(values_text);
                let more = steps.cut.map(|bound| format!("the bound `{bound}` of the model was reached"));
                (steps.steps.into_iter().map(|step| (step.label.clone(), Next::Step(step))).collect(), more)
            }
        }
    }

    fn take(&mut self, next: Next) {
        match (self, next) {
            (Walk::Joint(walk), Next::Initial(index)) => _ = walk.begin(index),
            (Walk::Joint(walk), Next::Joint(joint, state)) => walk.step(joint, state),
            (Walk::Steps(path), Next::Step(step)) => path.take(step),
            // A walk offers only choices of its own kind.
            _ => {}
        }
    }
}

/// Walks along the given steps and then along random ones.
pub(super) fn simulate(job: &Job, asked: Simulate) -> io::Result<Answer> {
    let limits = job.limits();
    let loaded = job.load(&asked.files, asked.settings.request(), &limits);
    let mut walked = Walked {
        used: job.used(&asked.files, &asked.settings, Some(&loaded)),
        diagnostics: Marked::all(&loaded.sources, &loaded.diagnostics),
        ..Walked::default()
    };
    if loaded.model.is_none() {
        let text = refused(&loaded, &walked.diagnostics);
        return answer(&walked, text, loaded.has_errors());
    }
    let mut walk = match Walk::begin(&loaded, &limits) {
        Ok(walk) => walk,
        Err(halt) => {
            let is_error = walked.halted(halt);
            let why = walked.refused.as_deref().unwrap_or_default();
            let text = format!("The walk cannot begin: {why}.\n");
            return answer(&walked, text, is_error);
        }
    };
    let is_error = follow(&mut walk, &asked, &limits, &mut walked).is_err_and(|halt| walked.halted(halt));
    walked.state = walk.state();
    let (choices, more) = walk.choices();
    let numbered = choices.into_iter().enumerate();
    walked.choices = numbered.map(|(index, (label, _))| Offered { number: index + 1, label }).collect();
    walked.more = more;
    let text = text(&walked);
    answer(&walked, text, is_error)
}

impl Walked {
    /// Notes why the walk does not go on. Returns whether that is an error.
    fn halted(&mut self, halt: Halt) -> bool {
        let is_error = matches!(halt, Halt::Mistake(_));
        let (Halt::Limit(why) | Halt::Mistake(why)) = halt;
        self.refused = Some(why);
        is_error
    }
}

/// Takes the steps, until one is refused or a limit is hit.
fn follow(walk: &mut Walk, asked: &Simulate, limits: &Limits, walked: &mut Walked) -> Result<(), Halt> {
    let mut random = RandomChoices::new(asked.seed);
    let n_steps = asked.steps.len() + asked.random as usize;
    for position in 0..n_steps {
        let at_step = |why: &str| format!("step {}: {why}", position + 1);
        if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Halt::Limit(at_step("the time limit was hit")));
        }
        if position >= MAX_STEPS {
            return Err(Halt::Mistake(at_step(&format!("a walk has at most {MAX_STEPS} steps"))));
        }
        let (choices, _) = walk.choices();
        let index = match asked.steps.get(position) {
            Some(choice) => index_of(choice, &choices).map_err(|why| Halt::Mistake(at_step(&why)))?,
            None if choices.is_empty() => break,
            None => random.below(choices.len()),
        };
        let Some((label, next)) = choices.into_iter().nth(index) else { break };
        let before = walk.state().unwrap_or_default();
        walk.take(next);
        let mut changes = walk.state().unwrap_or_default();
        changes.retain(|name, value| before.get(name) != Some(value));
        walked.n_taken += 1;
        walked.taken.push(Taken { label, changes });
        if walked.taken.len() > MAX_SHOWN_STEPS {
            walked.taken.remove(0);
        }
    }
    Ok(())
}

/// The index of the choice that is meant, or why there is none.
fn index_of(choice: &Choice, choices: &[(String, Next)]) -> Result<usize, String> {
    let n = choices.len();
    match choice {
        Choice::Number(number) if (1..=n).contains(number) => Ok(number - 1),
        Choice::Number(number) if n == 0 => Err(format!("there is no choice {number}: no step is possible")),
        Choice::Number(number) => Err(format!("there is no choice {number}: the choices are 1 to {n}")),
        Choice::Label(label) => {
            let mut matching = choices.iter().enumerate().filter(|(_, (own, _))| own == label);
            match (matching.next(), matching.next()) {
                (Some((index, _)), None) => Ok(index),
                (Some(_), Some(_)) => Err(format!("several choices have the label `{label}`; give a number")),
                (None, _) => Err(format!("no choice has the label `{label}`")),
            }
        }
    }
}

fn values_text(values: Vec<(String, String)>) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The walk in words.
fn text(walked: &Walked) -> String {
    let mut text = String::new();
    let first = walked.n_taken - walked.taken.len();
    for (position, Taken { label, changes }) in walked.taken.iter().enumerate() {
        let changes = values_text(changes.clone().into_iter().collect());
        text.push_str(&format!("{}. {label}  ->  {changes}\n", first + position + 1));
    }
    if let Some(state) = &walked.state {
        text.push_str(&format!("state: {}\n", values_text(state.clone().into_iter().collect())));
    }
    if let Some(refused) = &walked.refused {
        text.push_str(&format!("{refused}\n"));
    }
    match &walked.choices[..] {
        [] => text.push_str("No step is possible here.\n"),
        choices => {
            text.push_str("choices:\n");
            choices
                .iter()
                .for_each(|choice| text.push_str(&format!("  {}  {}\n", choice.number, choice.label)));
        }
    }
    if let Some(more) = &walked.more {
        text.push_str(&format!("These are not all: {more}.\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use masque_driver::{Request, load_text};

    use super::*;

    /// The time of a call does not begin again with its walk. A limit is a result, and a mistake is not.
    #[test]
    fn a_walk_ends_with_the_time_of_its_call() {
        let robot = include_str!("../../../../../models/bdi/robot.bdi");
        let loaded = load_text("m.bdi", robot, &Request::default());
        let past = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        assert!(matches!(Walk::begin(&loaded, &past), Err(Halt::Limit(_))));
        let limits = Limits::new(Some(Duration::from_secs(60)), None, &Arc::default());
        let mut walked = Walked::default();
        let asked = serde_json::from_value(serde_json::json!({"files": [], "steps": [1], "random": 3}));
        let asked: Simulate = asked.unwrap();
        let mut walk = Walk::begin(&loaded, &limits).unwrap_or_else(|halt| panic!("{halt:?}"));
        assert!(matches!(follow(&mut walk, &asked, &past, &mut walked), Err(Halt::Limit(_))));
        let asked = Simulate { steps: vec![Choice::Number(7)], ..asked };
        assert!(matches!(follow(&mut walk, &asked, &limits, &mut walked), Err(Halt::Mistake(_))));
        assert!(!walked.halted(Halt::Limit("late".to_string())) && walked.refused.as_deref() == Some("late"));
    }
}
