//! A run as a table: a row for each state, a column for each variable, and a lane for each agent.
//!
//! The table is plain data in the names of the model. Text, pages and other formats are made from it.

use masque_driver::{EventAction, Evidence, EvidencePath, JointAction, LabelledPath, State, System, Trace};

use crate::bdi::ExplanationReport;

/// A run of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunTable {
    /// Variables.
    pub(crate) columns: Vec<Column>,
    /// Agents that act or see something.
    pub(crate) lanes: Vec<Lane>,
    /// States in the order of the run; for a protocol, events.
    pub(crate) rows: Vec<Row>,
    /// For an infinite run: index of the row to which the last step leads back.
    pub(crate) back_to: Option<usize>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Full name, as in `Alice.card`.
    pub(crate) name: String,
    /// Whether some step of the run changes the variable.
    pub(crate) changes: bool,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Name of the agent.
    pub(crate) name: String,
    /// Indices of the columns that the agent sees, in increasing order.
    pub(crate) sees: Vec<usize>,
}

/// A state, and the step from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Number of the state: for ISPL its index in the evidence, for AUT its number in the file, otherwise
    /// its position from 0.
    pub(crate) state: u64,
    /// For each column, the value at this state, in the syntax of the language.
    pub(crate) values: Vec<String>,
    /// For each column, whether the value differs from that of the row before. False in the first row.
    pub(crate) changed: Vec<bool>,
    /// The step from this state to the next.
    pub(crate) step: Step,
}

/// What happens between a state and the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The run ends at this state.
    None,
    /// The step of a dead end to itself, in which no agent acts.
    Stutter,
    /// The action of each lane; `None` for an agent without actions, or that does not take part.
    Actions(Vec<Option<String>>),
}

impl Step {
    /// The action of a lane, if it acts.
    pub(crate) fn action(&self, lane: usize) -> Option<&str> {
        match self {
            Step::Actions(actions) => actions.get(lane)?.as_deref(),
            Step::None | Step::Stutter => None,
        }
    }
}

impl RunTable {
    /// The table of a path of an interpreted system.
    pub(crate) fn of_path(system: &System, evidence: &Evidence, path: &EvidencePath) -> Self {
        let states = path.states.iter().map(|&id| (u64::from(id.0), evidence.state(id)));
        let actions: Vec<_> = path.actions.iter().map(Option::as_ref).collect();
        RunTable::of_states(system, states, &actions, path.back_to)
    }

    /// The table of numbered states of an interpreted system. `actions[k]` leads from state `k` to the next;
    /// `None` is the step of a dead end to itself.
    pub(crate) fn of_states<'s>(
        system: &System,
        states: impl Iterator<Item = (u64, &'s State)>,
        actions: &[Option<&JointAction>],
        back_to: Option<usize>,
    ) -> Self {
        let names = system.variable_ids().map(|v| system.full_name(v)).collect();
        let lanes = system.agents.iter().map(|agent| Lane {
            name: agent.name.clone(),
            sees: agent.sees.iter().map(|variable| variable.index()).collect(),
        });
        let values =
            |state: &State| system.variable_ids().zip(state).map(|(v, &x)| system.value_text(v, x)).collect();
        let step = |position: usize| match actions.get(position) {
            None => Step::None,
            Some(None) => Step::Stutter,
            Some(Some(joint)) => Step::Actions(action_names(system, joint)),
        };
        let rows = states.enumerate().map(|(at, (number, state))| (number, values(state), step(at)));
        RunTable::new(names, lanes.collect(), rows, back_to)
    }

    /// The table of the states of a BDI world. The only lane has the actions of its program.
    pub(crate) fn of_world(part: &ExplanationReport) -> Self {
        let Some(first) = part.states.first() else { return RunTable::default() };
        let names: Vec<String> = first.values.0.iter().map(|(name, _)| name.clone()).collect();
        let lane = Lane { name: part.world.clone(), sees: (0..names.len()).collect() };
        // A state has the action that led to it.
        let next = |at: usize| match (part.states.get(at + 1), part.back_to) {
            (Some(state), _) => Some(state),
            (None, Some(start)) => part.states.get(start),
            (None, None) => None,
        };
        let rows = part.states.iter().enumerate().map(|(at, state)| {
            let values = state.values.0.iter().map(|(_, value)| value.clone()).collect();
            let step = next(at).map_or(Step::None, |state| Step::Actions(vec![state.action.clone()]));
            (at as u64, values, step)
        });
        RunTable::new(names, vec![lane], rows, part.back_to)
    }

    /// The table of a path of a transition system: its only lane has the labels, and there are no columns.
    pub(crate) fn of_labels(path: &LabelledPath) -> Self {
        let lane = Lane { name: "label".to_string(), sees: Vec::new() };
        let step = |at: usize| match path.labels.get(at) {
            Some(label) => Step::Actions(vec![Some(label.clone())]),
            None => Step::None,
        };
        let rows = path.states.iter().enumerate().map(|(at, &state)| (state, Vec::new(), step(at)));
        RunTable::new(Vec::new(), vec![lane], rows, path.back_to)
    }

    /// The events of a protocol, each in the lanes of the agents that take part in it.
    pub(crate) fn of_trace(trace: &Trace) -> Self {
        let lane = |name: &String| Lane { name: name.clone(), sees: Vec::new() };
        let lanes = trace.agents.iter().map(lane).collect();
        let rows = (trace.events.iter().enumerate())
            .map(|(at, event)| (at as u64, Vec::new(), event_step(trace, &event.action, &event.because)));
        RunTable::new(Vec::new(), lanes, rows, trace.loop_at)
    }

    fn new(
        names: Vec<String>,
        lanes: Vec<Lane>,
        rows: impl Iterator<Item = (u64, Vec<String>, Step)>,
        back_to: Option<usize>,
    ) -> Self {
        let mut table = RunTable { lanes, back_to, ..RunTable::default() };
        let mut changes = vec![false; names.len()];
        for (state, values, step) in rows {
            let before = table.rows.last().map(|row| &row.values);
            let changed: Vec<bool> = match before {
                None => vec![false; values.len()],
                Some(before) => values.iter().zip(before).map(|(now, before)| now != before).collect(),
            };
            changes.iter_mut().zip(&changed).for_each(|(any, now)| *any |= now);
            table.rows.push(Row { state, values, changed, step });
        }
        let columns = names.into_iter().zip(changes).map(|(name, changes)| Column { name, changes });
        table.columns = columns.collect();
        table
    }

    /// Whether a lane acts in some step.
    pub(crate) fn acts(&self, lane: usize) -> bool {
        self.rows.iter().any(|row| row.step.action(lane).is_some())
    }
}

/// The name of each agent's action; `None` for an agent without actions.
fn action_names(system: &System, joint: &JointAction) -> Vec<Option<String>> {
    (system.agents.iter().zip(joint))
        .map(|(agent, action)| agent.actions.get(action.index()).map(|action| action.name.clone()))
        .map(|name| name.filter(|name| !name.is_empty()))
        .collect()
}

/// What each agent does in an event of a protocol.
fn event_step(trace: &Trace, action: &EventAction, because: &[String]) -> Step {
    let mut actions = vec![None; trace.agents.len()];
    let mut put = |agent: &str, text: String| {
        if let Some(lane) = trace.agents.iter().position(|other| other == agent) {
            actions[lane] = Some(text);
        }
    };
    match action {
        EventAction::Internal { by } if because.is_empty() => put(by, "internal step".to_string()),
        EventAction::Internal { by } => put(by, format!("internal step: {}", because.join(", "))),
        EventAction::Sent { by, to, message } if to.is_empty() => put(by, format!("sends {message}")),
        EventAction::Sent { by, to, message } => put(by, format!("sends {message} to {to}")),
        EventAction::Taken { by, from, message } => put(by, format!("receives {message} from {from}")),
        EventAction::Exchanged { from, to, message } => {
            put(to, format!("receives {message} from {from}"));
            put(from, format!("sends {message} to {to}"));
        }
    }
    Step::Actions(actions)
}

#[cfg(test)]
mod tests {
    use masque_driver::{Because, End, Event, Limits, Model, Request, Shown, check, load_text};

    use super::*;

    /// The rows as text: state, values (`*` marks a change), actions.
    fn text(table: &RunTable) -> String {
        let mut out = String::new();
        for row in &table.rows {
            let value =
                |(value, changed): (&String, &bool)| format!("{}{value}", if *changed { "*" } else { "" });
            let values: Vec<String> = row.values.iter().zip(&row.changed).map(value).collect();
            let step = match &row.step {
                Step::None => "end".to_string(),
                Step::Stutter => "stutter".to_string(),
                Step::Actions(actions) => actions
                    .iter()
                    .map(|action| action.as_deref().unwrap_or("-"))
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            out += &format!("{} [{}] {step}\n", row.state, values.join(" "));
        }
        out += &format!("loop {:?}", table.back_to);
        out
    }

    const COUNTER: &str = "
Agent Environment
  Obsvars: n : 0 .. 2; end Obsvars
  Actions = {up, stay};
  Protocol: n < 2: {up}; Other: {stay}; end Protocol
  Evolution: n = n + 1 if Action = up; end Evolution
end Agent
Agent A
  Vars: seen : boolean; end Vars
  Actions = {look};
  Protocol: Other: {look}; end Protocol
  Evolution: seen = true if Environment.n = 1; end Evolution
end Agent
Evaluation two if Environment.n = 2; end Evaluation
InitStates Environment.n = 0 and A.seen = false; end InitStates
Formulae AG !two; AF AG !two; end Formulae
";

    #[test]
    fn a_path_is_a_table() {
        let loaded = load_text("counter.ispl", COUNTER, &Request::default());
        let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap().unwrap();
        let Some(Model::Ispl(system)) = &loaded.model else { panic!("{:?}", loaded.diagnostics) };
        let Some(Shown::Reasons(evidence)) = &run.decisions[0].evidence else { panic!("no evidence") };
        let Because::Path(showing) = &evidence.root().because else { panic!("no path") };
        let table = RunTable::of_path(system, evidence, &showing.run);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["Environment.n", "A.seen"]);
        assert_eq!(table.lanes[1], Lane { name: "A".to_string(), sees: vec![0, 1] });
        assert_eq!(text(&table), "0 [0 false] up look\n1 [*1 false] up look\n2 [*2 *true] end\nloop None");
        assert!(table.columns.iter().all(|column| column.changes) && table.acts(0));
    }

    #[test]
    fn a_trace_has_a_lane_for_each_agent() {
        let [ann, bob] = ["ann", "bob"].map(String::from);
        let event = |action| Event { action, because: vec!["c".into()], sent: None, label: String::new() };
        let trace = Trace {
            agents: vec![ann.clone(), bob.clone()],
            roles: vec![String::new(); 2],
            rests: vec![false; 2],
            events: vec![
                event(EventAction::Internal { by: ann.clone() }),
                event(EventAction::Sent { by: ann.clone(), to: String::new(), message: "m".into() }),
                event(EventAction::Exchanged { from: bob, to: ann, message: "n".into() }),
            ],
            loop_at: Some(1),
            end: End::Loop,
            blame: Vec::new(),
        };
        let expected = "0 [] internal step: c -\n1 [] sends m -\n\
                        2 [] receives n from bob sends n to ann\nloop Some(1)";
        assert_eq!(text(&RunTable::of_trace(&trace)), expected);
    }

    #[test]
    fn a_path_of_labels_has_no_columns() {
        let labels = ["a", "b"].map(String::from).to_vec();
        let path = LabelledPath { states: vec![0, 7], labels, back_to: Some(0), is_stuck: false };
        assert_eq!(text(&RunTable::of_labels(&path)), "0 [] a\n7 [] b\nloop Some(0)");
    }
}
