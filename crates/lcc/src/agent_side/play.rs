//! Plays the agent: makes its steps while one is possible, and writes the tuples for the messages it has sent.

use masque_mu::{LabelId, StateId};
use masque_verdict::{Budget, Verdict};

use super::due::Dues;
use super::status::status;
use super::{AgentSide, AgentStatus, Played, RefusedTuple, stopped};
use crate::session::{Question, Session, TupleHead, framework_texts, knowledge_texts};
use crate::symbol::Symbol;
use crate::system::{LabelTerm, System};
use crate::term::TermId;

impl AgentSide {
    /// Makes the agent's steps while one is possible.
    pub(super) fn play(&mut self, view: &mut Session, budget: &Budget) -> Result<Played, RefusedTuple> {
        let me = self.index(view);
        let before = view.space.initial();
        let mut dues = Dues::read(view, &self.due);
        let (mut steps, mut sent, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let status = loop {
            if steps.len() >= self.setup.max_steps {
                break AgentStatus::Limited("steps");
            }
            let (own, cut) = match view.within(budget, |view| own_steps(view, me)) {
                Ok(found) => found,
                Err(stop) => return Err(stopped(view, stop)),
            };
            let mut refused = Vec::new();
            let mut chosen = None;
            for (label, target) in own {
                let next = dues.after(view, label, &self.setup.id);
                let step = CheckedStep { label, target, sent: &sent, dues: &next };
                let reasons = self.objections(view, &step, &mut notes, budget);
                if reasons.is_empty() {
                    chosen = Some((label, target, next));
                    break;
                }
                refused.extend(reasons);
            }
            match chosen {
                Some((label, target, next)) => {
                    steps.push(view.space.system().label_text(label));
                    sent.extend(self.make(view, me, label, target));
                    dues = next;
                }
                None if !refused.is_empty() => break AgentStatus::Blocked(refused),
                None => break status(view, me, cut),
            }
        };
        notes.sort();
        notes.dedup();
        if matches!(status, AgentStatus::Blocked(_)) {
            // The agent goes back to where it was, and nothing is passed on.
            view.space.lts().start_at(before);
            return Ok(Played { steps: Vec::new(), tuples: Vec::new(), status, notes });
        }
        self.has_begun = true;
        self.due = dues.into_counts();
        let tuples = self.tuples(view, &sent);
        Ok(Played { steps, tuples, status, notes })
    }

    /// Returns the properties that fail after a step, and the due obligations that cannot be met any more.
    fn objections(
        &self,
        view: &mut Session,
        step: &CheckedStep<'_>,
        notes: &mut Vec<String>,
        budget: &Budget,
    ) -> Vec<String> {
        if self.setup.properties.is_empty() {
            return Vec::new();
        }
        let before = view.space.initial();
        step.enter(view);
        let label = view.space.system().label_text(step.label);
        let names: Vec<String> = view.properties().into_iter().map(|property| property.name).collect();
        let mut reasons = Vec::new();
        for property in &self.setup.properties {
            let (verdict, problem) = if step.dues.is_obligation(property) {
                let due = step.dues.due_formulas(property).into_iter();
                let mut verdicts = due.map(|(key, formula)| view.check_resolved(&key, formula, budget));
                let Some(verdict) = verdicts.find(|verdict| *verdict == Verdict::Fails) else { continue };
                (verdict, "is due and could not be met after")
            } else {
                let question = if names.contains(property) {
                    Question::Property(property.clone())
                } else {
                    Question::Formula(property.clone())
                };
                match view.check(&question, false, budget) {
                    Ok(reply) => (reply.checked.verdict, "would fail after"),
                    Err(found) => {
                        reasons.extend(found.into_iter().map(|one| one.message));
                        continue;
                    }
                }
            };
            if verdict == Verdict::Fails {
                let unknown = self.unknown_to_the_agent(view, budget);
                if unknown.is_empty() {
                    reasons.push(format!("`{property}` {problem} {label}"));
                } else {
                    let unknown = unknown.join(", ");
                    notes.push(format!("`{property}` is not decided: nothing is known about {unknown}"));
                }
            }
        }
        view.space.lts().start_at(before);
        reasons
    }

    /// The constraints of others that the agent's view cannot decide.
    fn unknown_to_the_agent(&self, view: &mut Session, budget: &Budget) -> Vec<String> {
        _ = view.explore(budget);
        let own = format!("{}: ", self.setup.id);
        view.unknown_constraints().into_iter().filter(|one| !one.starts_with(&own)).collect()
    }

    /// Makes a step. Returns the message that leaves the agent.
    fn make(&self, view: &mut Session, me: usize, label: LabelId, target: StateId) -> Option<TermId> {
        let before = view.space.initial();
        let system = view.space.lts();
        let (processes, mail) = system.parts(target);
        let processes: Vec<TermId> = processes.iter().map(|process| TermId(*process)).collect();
        let mut mail: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
        let mut sent = None;
        if kind(system, label) == Some(Symbol::SENT) {
            let mut old: Vec<u32> = system.parts(before).1.to_vec();
            let is_new = |message: &TermId| match old.iter().position(|other| *other == message.0) {
                Some(index) => {
                    old.swap_remove(index);
                    false
                }
                None => true,
            };
            let index = mail.iter().position(is_new);
            // A message to itself stays in its list of incoming messages.
            let id = system.program.agents[me].id;
            sent =
                index.filter(|index| system.terms.arg(mail[*index], 3) != id).map(|index| mail.remove(index));
        }
        system.set_initial_parts(&processes, &mail);
        view.has_past = true;
        sent
    }

    /// Writes the tuples for messages that were sent.
    fn tuples(&self, view: &mut Session, sent: &[TermId]) -> Vec<String> {
        let state = view.space.initial();
        let system = view.space.system();
        let (processes, _) = system.parts(state);
        let now = processes.iter().zip(&system.program.agents);
        let now = now.flat_map(|(process, agent)| system.terms.now(agent.id, TermId(*process)));
        let mut rest: Vec<String> =
            now.map(|text| text.strip_prefix("now ").unwrap_or(&text).to_string()).collect();
        rest.extend(self.due.statements());
        let (framework, knowledge) = (framework_texts(system), knowledge_texts(system));
        let interaction = view.interaction.clone().unwrap_or_default();
        let tuple = |message: &TermId| {
            TupleHead::new(&system.terms, Some(*message)).tuple(&interaction, &framework, &rest, &knowledge)
        };
        sent.iter().map(tuple).collect()
    }
}

/// A step that is checked before it is made.
struct CheckedStep<'p> {
    label: LabelId,
    target: StateId,
    /// Messages that the agent has sent since the last tuple.
    sent: &'p [TermId],
    /// The obligations as they are after the step.
    dues: &'p Dues,
}

impl CheckedStep<'_> {
    /// Puts the view into the state after the step, in which the messages sent before are still under way.
    fn enter(&self, view: &mut Session) {
        let system = view.space.lts();
        let (processes, mail) = system.parts(self.target);
        let processes: Vec<TermId> = processes.iter().map(|process| TermId(*process)).collect();
        let mail: Vec<TermId> =
            mail.iter().map(|message| TermId(*message)).chain(self.sent.iter().copied()).collect();
        system.set_initial_parts(&processes, &mail);
    }
}

/// The agent's steps in the current state, receipts first, and the bound that was exceeded, if any.
fn own_steps(view: &mut Session, me: usize) -> (Vec<(LabelId, StateId)>, Option<&'static str>) {
    let (steps, cut) = view.steps();
    let system = view.space.system();
    let id = system.program.agents[me].id;
    let is_own = |(label, _): &(LabelId, StateId)| match system.label_term(*label) {
        LabelTerm::Own(label) => system.terms.arg(label, 4) == id,
        LabelTerm::Tau(..) => false,
    };
    let mut own: Vec<(LabelId, StateId)> = steps.into_iter().filter(is_own).collect();
    own.sort_by_key(|(label, _)| kind(system, *label) != Some(Symbol::TAKEN));
    (own, cut)
}

/// The kind of an agent's own action.
fn kind(system: &System, label: LabelId) -> Option<Symbol> {
    match system.label_term(label) {
        LabelTerm::Own(label) => system.terms.symbol(label),
        LabelTerm::Tau(..) => None,
    }
}
