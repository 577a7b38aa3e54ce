//! A run as a table: a row for each state, a column for each variable, and a lane for each agent.
//!
//! The table is plain data in the names of the model. Text, pages and other formats are made from it.

use masque_driver::{EventAction, Evidence, EvidencePath, JointAction, LabelledPath, State, System, Trace};

use crate::bdi::ExplanationReport;
use crate::path::{PathReport, action_text};
use crate::wording::plural;

/// A run of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunTable {
    /// What the rows are.
    pub(crate) kind: RowKind,
    /// Variables.
    pub(crate) columns: Vec<Column>,
    /// Agents that act or see something.
    pub(crate) lanes: Vec<Lane>,
    /// States in the order of the run; for a protocol, events.
    pub(crate) rows: Vec<Row>,
    /// For an infinite run: index of the row to which the last step leads back.
    pub(crate) back_to: Option<usize>,
}

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// States of an interpreted system.
    #[default]
    States,
    /// States of a BDI world.
    WorldStates,
    /// States of a transition system.
    LabelledStates,
    /// Events of a protocol.
    Events,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Full name, as in `Alice.card`.
    pub(crate) name: String,
    /// For a variable of an agent: the index of the agent's lane.
    pub(crate) owner: Option<usize>,
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
    /// Whether the agent has more than one action.
    pub(crate) has_choice: bool,
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
        let column = |v| (system.full_name(v), Some(system.variable(v).owner.index()));
        let columns = system.variable_ids().map(column).collect();
        let lanes = system.agents.iter().map(|agent| Lane {
            name: agent.name.clone(),
            sees: agent.sees.iter().map(|variable| variable.index()).collect(),
            has_choice: agent.actions.len() > 1,
        });
        let values =
            |state: &State| system.variable_ids().zip(state).map(|(v, &x)| system.value_text(v, x)).collect();
        let step = |position: usize| match actions.get(position) {
            None => Step::None,
            Some(None) => Step::Stutter,
            Some(Some(joint)) => Step::Actions(action_names(system, joint)),
        };
        let rows = states.enumerate().map(|(at, (number, state))| (number, values(state), step(at)));
        RunTable::new(RowKind::States, columns, lanes.collect(), rows, back_to)
    }

    /// The table of a path to a state that a message is about. It has no lanes but one for all actions.
    pub(crate) fn of_report(path: &PathReport) -> Self {
        let Some(first) = path.states.first() else { return RunTable::default() };
        let columns = first.0.iter().map(|(name, _)| (name.clone(), None)).collect();
        let lane = Lane { name: "actions".to_string(), sees: Vec::new(), has_choice: true };
        let step = |at: usize| match path.actions.get(at) {
            Some(actions) => {
                let texts: Vec<String> = actions.0.iter().map(action_text).collect();
                Step::Actions(vec![Some(texts.join(", "))])
            }
            None => Step::None,
        };
        let rows = path.states.iter().enumerate().map(|(at, state)| {
            let values = state.0.iter().map(|(_, value)| value.clone()).collect();
            (at as u64, values, step(at))
        });
        RunTable::new(RowKind::WorldStates, columns, vec![lane], rows, None)
    }

    /// The table of the states of a BDI world. The only lane has the actions of its program.
    pub(crate) fn of_world(part: &ExplanationReport) -> Self {
        let Some(first) = part.states.first() else { return RunTable::default() };
        let columns: Vec<_> = first.values.0.iter().map(|(name, _)| (name.clone(), None)).collect();
        let lane = Lane { name: part.world.clone(), sees: (0..columns.len()).collect(), has_choice: true };
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
        RunTable::new(RowKind::WorldStates, columns, vec![lane], rows, part.back_to)
    }

    /// The table of a path of a transition system: its only lane has the labels, and there are no columns.
    pub(crate) fn of_labels(path: &LabelledPath) -> Self {
        let lane = Lane { name: "label".to_string(), sees: Vec::new(), has_choice: true };
        let step = |at: usize| match path.labels.get(at) {
            Some(label) => Step::Actions(vec![Some(label.clone())]),
            None => Step::None,
        };
        let rows = path.states.iter().enumerate().map(|(at, &state)| (state, Vec::new(), step(at)));
        RunTable::new(RowKind::LabelledStates, Vec::new(), vec![lane], rows, path.back_to)
    }

    /// The events of a protocol, each in the lanes of the agents that take part in it.
    pub(crate) fn of_trace(trace: &Trace) -> Self {
        let lane = |name: &String| Lane { name: name.clone(), sees: Vec::new(), has_choice: true };
        let lanes = trace.agents.iter().map(lane).collect();
        let rows = (trace.events.iter().enumerate()).map(|(at, event)| {
            (at as u64, Vec::new(), event_step(trace, &event.action, &event.informative_reasons()))
        });
        RunTable::new(RowKind::Events, Vec::new(), lanes, rows, trace.loop_at)
    }

    fn new(
        kind: RowKind,
        columns: Vec<(String, Option<usize>)>,
        lanes: Vec<Lane>,
        rows: impl Iterator<Item = (u64, Vec<String>, Step)>,
        back_to: Option<usize>,
    ) -> Self {
        let mut table = RunTable { kind, lanes, back_to, ..RunTable::default() };
        let mut changes = vec![false; columns.len()];
        for (state, values, step) in rows {
            let before = table.rows.last().map(|row| &row.values);
            let changed: Vec<bool> = match before {
                None => vec![false; values.len()],
                Some(before) => values.iter().zip(before).map(|(now, before)| now != before).collect(),
            };
            changes.iter_mut().zip(&changed).for_each(|(any, now)| *any |= now);
            table.rows.push(Row { state, values, changed, step });
        }
        let column = |((name, owner), changes)| Column { name, owner, changes };
        table.columns = columns.into_iter().zip(changes).map(column).collect();
        table
    }

    /// The name of a row: `#3` for a state, a number from 1 for an event.
    pub(crate) fn label(&self, row: usize) -> String {
        let state = self.rows[row].state;
        match self.kind {
            RowKind::States => format!("#{state}"),
            RowKind::WorldStates | RowKind::LabelledStates => state.to_string(),
            RowKind::Events => (state + 1).to_string(),
        }
    }

    /// The name of a column in the lane of an agent: without the name of the agent if it owns the variable.
    pub(crate) fn short_name(&self, column: usize, lane: Option<usize>) -> &str {
        let Column { name, owner, .. } = &self.columns[column];
        let prefix = owner.filter(|owner| lane == Some(*owner)).map(|owner| &self.lanes[owner].name);
        let rest = prefix.and_then(|prefix| name.strip_prefix(prefix.as_str())?.strip_prefix('.'));
        rest.unwrap_or(name)
    }

    /// The number of states or events that follow each other, in words.
    pub(crate) fn size(&self) -> String {
        match self.kind {
            RowKind::Events => plural(self.rows.len(), "event", "events"),
            _ => plural(self.rows.len(), "state", "states"),
        }
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
fn event_step(trace: &Trace, action: &EventAction, because: &[&str]) -> Step {
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
        assert_eq!(table.lanes[1], Lane { name: "A".to_string(), sees: vec![0, 1], has_choice: false });
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
