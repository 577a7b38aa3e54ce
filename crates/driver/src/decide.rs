//! The work of a check: it finds the facts of the system, then the verdicts in order, then vacuous
//! properties.
//!
//! Each result is sent through a channel as soon as it is known, so that nothing is lost when the time limit
//! is hit. This includes verdicts that are found while states are still being explored; they stand even if
//! the exploration does not finish.
//!
//! The facts serve all properties. The time that is left after them is divided equally among the properties,
//! in rounds (`masque_verdict::run_in_shares`); each property may use all of the memory. An engine that runs out
//! of memory after it has decided other properties is started again, without the data it kept for them.

use std::borrow::Cow;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_model::{Deadlock, Formula, FormulaId, Overflow, Property, Strategies, System};
use masque_replay::{replay, replay_path};
use masque_verdict::{
    Budget, CertificateRequest, Encoded, Extent, Facts, NotCertified, Outcome, Path, Show, Stats, Stop,
    Unsupported, Vacuous, Verdict, Why, remarks, run_in_shares, subformulas, vacuous_antecedents,
};

use serde::{Deserialize, Serialize};

use crate::check::{Certified, Decision, Shown};
use crate::compare::Disagreement;
use crate::engines::{AnyEngine, CertificateHeader, EXPLICIT, choose};
use crate::portfolio::Portfolio;

/// The result of one property of an interpreted system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// Verdict and evidence.
    pub outcome: Outcome,
    /// Why evidence is withheld: the replay error. This is a bug in Masque.
    pub withheld: Option<String>,
    /// The certificate of the verdict, if it was wanted.
    #[serde(skip)]
    pub certified: Certified,
    /// Remarks on the verdict, for example that the property holds for a trivial reason.
    pub remarks: Vec<String>,
    /// Name of the engine that decided the property, if one did.
    pub engine: Option<Cow<'static, str>>,
    /// Time spent on this property after the facts were known.
    pub time: Duration,
}

impl From<Decided> for Decision {
    fn from(decided: Decided) -> Decision {
        let Decided { outcome, withheld, certified, remarks, engine, time } = decided;
        Decision {
            verdict: outcome.verdict,
            evidence: outcome.evidence.map(|evidence| Shown::Reasons(Box::new(evidence))),
            withheld,
            certified,
            remarks,
            engine,
            time,
            satisfied: None,
        }
    }
}

impl Decided {
    /// The result of a property that no engine decided.
    pub(crate) fn unknown(why: Why) -> Decided {
        Decided {
            outcome: Verdict::Unknown(why).into(),
            withheld: None,
            certified: Certified::default(),
            remarks: Vec::new(),
            engine: None,
            time: Duration::ZERO,
        }
    }
}

/// What an engine has cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// The engine's name.
    pub engine: Cow<'static, str>,
    /// The engine's own statistics.
    pub stats: Stats,
}

/// A message from a check in progress. A race sends messages between processes, except for the kinds that do
/// not occur in a race. Properties are given by their index.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Which engine was chosen and why, if there was a choice.
    Chosen(String),
    Facts(Facts),
    /// The facts could not be found, so nothing else can be.
    Stopped(Stop),
    /// A bug in Masque: a path in the facts does not replay and is withheld.
    Bug(String),
    Decided(usize, Decided),
    #[serde(skip)]
    Unsupported(usize, Unsupported),
    Vacuous(usize, Vec<Vacuous>),
    /// The certificate of a property that was decided before.
    #[serde(skip)]
    Certificate(usize, Certified),
    /// Remarks on the verdict of a property that was decided before.
    Remarks(usize, Vec<String>),
    #[serde(skip)]
    Extent(FormulaId, Extent),
    Cost(Cost),
    /// Result of a comparison between two engines.
    #[serde(skip)]
    Compared(Compared),
}

impl Message {
    /// The index of the property that the message is about, if it is about one.
    pub(crate) fn property(&self) -> Option<usize> {
        match self {
            Message::Decided(index, _)
            | Message::Unsupported(index, _)
            | Message::Certificate(index, _)
            | Message::Vacuous(index, _)
            | Message::Remarks(index, _) => Some(*index),
            _ => None,
        }
    }
}

/// Result of a comparison between two engines.
#[derive(Debug)]
pub(crate) enum Compared {
    /// Number of properties that at least two engines support.
    Comparable(usize),
    /// The facts are the same.
    Facts,
    /// Verdict and evidence of a property are the same.
    Property,
    /// The engines disagree.
    Differs(Disagreement),
}

/// What a check computes besides verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing: one engine decides each property.
    Plain,
    /// The results of all other engines, which are compared with those of the first.
    CrossCheck,
    /// The number of states in which the properties and their subformulas are true.
    Survey,
}

/// Maximum number of states for which uniform strategies are searched on stored states. Exploring that many
/// takes a second or two.
const MAX_STORED_STATES: u64 = 1_000_000;

/// Maximum number of subformulas reported per property.
pub const MAX_REPORTED_SUBFORMULAS: usize = 1000;

/// The engines of a check and what they compute.
#[derive(Clone)]
pub(crate) struct CheckSetup {
    /// The engines to choose from, best first.
    pub(crate) candidates: Vec<AnyEngine>,
    /// The explicit and the symbolic engine in turns, if the user does not choose an engine.
    pub(crate) portfolio: Option<Portfolio>,
    pub(crate) mode: Mode,
    /// Whether only verdicts are wanted: states are not counted, and nothing that needs all states is computed.
    pub(crate) is_quick: bool,
    /// Which verdicts get evidence.
    pub(crate) evidence: Show,
    /// What certificates say about the model, if they are wanted.
    pub(crate) certify: Option<CertificateHeader>,
}

/// Decides the properties of a system and sends what it finds.
///
/// The work does not stop when the receiver is gone; it stops when the budget is cancelled.
pub(crate) fn work(system: &System, setup: &CheckSetup, budget: &Budget, messages: &Sender<Message>) {
    let CheckSetup { candidates, portfolio, mode, is_quick, evidence, certify } = setup;
    let (mode, is_quick, evidence) = (*mode, *is_quick, *evidence);
    let send = |message| _ = messages.send(message);
    let mut chosen = Vec::new();
    for (index, property) in system.properties.iter().enumerate() {
        let choice = choose(candidates, system, property);
        if let Err(lacking) = choice {
            if let Some(unsupported) = lacking {
                send(Message::Unsupported(index, unsupported));
            }
            send(Message::Decided(index, Decided::unknown(Why::Unsupported)));
        }
        chosen.push(choice.ok());
    }
    let Some(leader) = chosen.iter().flatten().min().copied().or((!candidates.is_empty()).then_some(0))
    else {
        return;
    };
    // The best engine in use finds the facts; all engines agree on them.
    let is_early = |index: &usize| mode == Mode::Plain && chosen[*index].is_some();
    let undecided = (0..chosen.len()).filter(is_early).collect();
    let encoded = Vec::new();
    let certify = certify.as_ref();
    let mut used =
        EnginesInUse { system, budget, candidates, mode, is_quick, evidence, certify, undecided, encoded };
    let prepared = used.prepare(portfolio.as_ref(), leader, &mut chosen, &send).and_then(|leader| {
        let (facts, bugs) = used.facts(leader)?;
        Ok((leader, facts, bugs))
    });
    match prepared {
        Err(_) if is_quick && used.undecided.is_empty() => {}
        Err(stop) => send(Message::Stopped(stop)),
        Ok((leader, facts, bugs)) => {
            if !is_quick || facts.no_initial_state {
                bugs.into_iter().for_each(|bug| send(Message::Bug(bug)));
                send(Message::Facts(facts.clone()));
            }
            if mode == Mode::CrossCheck {
                used.compare_facts(leader, &facts, &chosen, &send);
            }
            if !is_refused(system, &facts) {
                if mode == Mode::Plain {
                    used.prefer_explicit(&mut chosen, &facts);
                }
                used.decide(&chosen, leader, &send);
                if mode == Mode::Survey {
                    used.file_status(&chosen, leader, &send);
                }
            }
        }
    }
    for EngineInUse { engine, encoded, .. } in &used.encoded {
        send(Message::Cost(Cost { engine: candidates[*engine].name().into(), stats: encoded.stats() }));
    }
}

/// Whether a property has an operator whose strategies must be uniform.
fn asks_for_uniform(system: &System, property: &Property) -> bool {
    let mut is_found = false;
    system.formulas.each_part(property.formula, |part| {
        let kind = system.formulas.get(part);
        is_found |= matches!(kind, Formula::Enforces(_, strategies, _) if strategies != Strategies::Perfect);
        !is_found
    });
    is_found
}

/// Whether the facts make the model erroneous, so that its properties have no meaning.
pub(crate) fn is_refused(system: &System, facts: &Facts) -> bool {
    facts.no_initial_state
        || (system.meaning.deadlock == Deadlock::Error && facts.deadlock.is_some())
        || (system.meaning.overflow == Overflow::Error && facts.overflow.is_some())
}

/// The engines in use, each with its encoding of the system.
struct EnginesInUse<'w, 's> {
    system: &'s System,
    budget: &'w Budget,
    candidates: &'w [AnyEngine],
    mode: Mode,
    is_quick: bool,
    evidence: Show,
    certify: Option<&'w CertificateHeader>,
    /// Indices of the properties that may be decided while states are being explored, and are not yet.
    undecided: Vec<usize>,
    encoded: Vec<EngineInUse<'s>>,
}

/// The outcome of a property after its evidence was replayed.
pub(crate) struct ReplayedOutcome {
    pub(crate) outcome: Outcome,
    /// Why the evidence is withheld, if it does not replay.
    pub(crate) withheld: Option<String>,
}

/// An engine with its encoding of the system.
struct EngineInUse<'s> {
    /// Index of the engine among the candidates.
    engine: usize,
    encoded: Box<dyn Encoded + 's>,
    /// Whether the engine has decided a property, so that it may hold more data than the states and facts.
    has_decided: bool,
}

impl<'s> EnginesInUse<'_, 's> {
    fn in_use(&mut self, engine: usize, budget: &Budget) -> Result<&mut EngineInUse<'s>, Stop> {
        let index = match self.encoded.iter().position(|one| one.engine == engine) {
            Some(index) => index,
            None => {
                let encoded = self.candidates[engine].encode(self.system, budget)?;
                self.encoded.push(EngineInUse { engine, encoded, has_decided: false });
                self.encoded.len() - 1
            }
        };
        Ok(&mut self.encoded[index])
    }

    fn encoded(&mut self, engine: usize, budget: &Budget) -> Result<&mut (dyn Encoded + 's), Stop> {
        Ok(self.in_use(engine, budget)?.encoded.as_mut())
    }

    fn name(&self, engine: usize) -> &'static str {
        self.candidates[engine].name()
    }

    /// Returns the facts and descriptions of bugs. The paths in the facts are replayed before they are shown;
    /// one that does not replay is withheld, which is a bug in Masque.
    fn facts(&mut self, engine: usize) -> Result<(Facts, Vec<String>), Stop> {
        let (system, budget) = (self.system, self.budget);
        let mut facts = self.encoded(engine, budget)?.facts(budget)?;
        let mut bugs = Vec::new();
        let deadlock = facts.deadlock.as_mut().map(|path| ("a deadlock", path));
        let overflow = facts.overflow.as_mut().map(|overflow| ("an overflow", &mut overflow.path));
        for (what, path) in deadlock.into_iter().chain(overflow) {
            if let Err(error) = replay_path(system, path) {
                bugs.push(format!("the path to {what} does not replay: {error}"));
                *path = Path::withheld();
            }
        }
        Ok((facts, bugs))
    }

    /// Decides a property with an engine and replays the evidence.
    ///
    /// If the memory does not suffice, the engine drops the data it keeps for other properties and decides the
    /// property again.
    fn outcome(&mut self, engine: usize, property: &Property, budget: &Budget) -> ReplayedOutcome {
        let (had_decided, mut outcome) = self.decide_once(engine, property, budget);
        if had_decided && outcome.verdict == Verdict::Unknown(Why::Memory) {
            self.encoded.retain(|one| one.engine != engine);
            (_, outcome) = self.decide_once(engine, property, budget);
        }
        replayed(self.system, property, outcome)
    }

    /// Decides a property with an engine. Returns also whether the engine had decided properties before.
    fn decide_once(&mut self, engine: usize, property: &Property, budget: &Budget) -> (bool, Outcome) {
        match self.in_use(engine, budget) {
            Err(stop) => (false, stop.into()),
            Ok(EngineInUse { encoded, has_decided, .. }) => {
                let had_decided = std::mem::replace(has_decided, true);
                (had_decided, encoded.decide(property, budget))
            }
        }
    }

    /// Chooses the explicit engine for properties with uniform strategies if it is a candidate and the system
    /// has at most [`MAX_STORED_STATES`] states.
    fn prefer_explicit(&self, chosen: &mut [Option<usize>], facts: &Facts) {
        let Some(explicit) = self.candidates.iter().position(|engine| engine.name() == EXPLICIT) else {
            return;
        };
        if facts.states.to_u64().is_none_or(|states| states > MAX_STORED_STATES) {
            return;
        }
        for (engine, property) in chosen.iter_mut().zip(&self.system.properties) {
            let is_better = engine.is_some()
                && asks_for_uniform(self.system, property)
                && self.candidates[explicit].supports(self.system, property).is_ok();
            if is_better {
                *engine = Some(explicit);
            }
        }
    }

    /// Decides the properties, each within its share of the time, then finds those that hold vacuously.
    fn decide(&mut self, chosen: &[Option<usize>], leader: usize, send: &dyn Fn(Message)) {
        let budget = self.budget;
        let is_left = |index: &usize| !self.is_quick || self.undecided.contains(index);
        let open: Vec<(usize, usize)> =
            (0..chosen.len()).filter(is_left).filter_map(|index| Some((index, chosen[index]?))).collect();
        let (mut spent, mut is_known) = (vec![Duration::ZERO; open.len()], vec![false; open.len()]);
        let (mut holding, mut to_certify) = (Vec::new(), Vec::new());
        run_in_shares(open.len(), budget, |number, share| {
            let (index, preferred) = open[number];
            let start = Instant::now();
            let (engine, mut found) = self.decide_property(index, preferred, leader, share);
            if self.is_quick {
                found.outcome = self.fewest_layers(index, self.name(engine), found.outcome);
            }
            spent[number] += start.elapsed();
            // A verdict without evidence from an earlier round is better than none.
            if is_known[number] && !is_decided(&found.outcome) {
                return true;
            }
            let is_finished = !is_cut_short(&found, share);
            let was_known = std::mem::replace(&mut is_known[number], is_decided(&found.outcome));
            if found.outcome.verdict == Verdict::Holds && !was_known {
                holding.push((index, engine));
            }
            if is_known[number] && !was_known && self.certify.is_some() {
                to_certify.push((index, engine, found.outcome.verdict == Verdict::Holds));
            }
            let decided = Decided {
                outcome: found.outcome.clone(),
                withheld: found.withheld.clone(),
                certified: Certified::default(),
                remarks: Vec::new(),
                engine: Some(self.name(engine).into()),
                time: spent[number],
            };
            send(Message::Decided(index, decided));
            if self.mode == Mode::CrossCheck && is_finished {
                self.compare_outcomes(index, engine, &found, share, send);
            }
            is_finished
        });
        self.certify(&to_certify, send);
        // Vacuity depends on all states, which a quick check does not explore.
        if !self.is_quick {
            holding.sort_unstable();
            run_in_shares(holding.len(), budget, |number, share| {
                let (index, engine) = holding[number];
                self.explain_holding(index, engine, share, send).is_ok()
            });
        }
    }

    /// Sends the certificates of verdicts, each within its share of the time.
    fn certify(&mut self, decided: &[(usize, usize, bool)], send: &dyn Fn(Message)) {
        let (system, budget, Some(header)) = (self.system, self.budget, self.certify) else { return };
        run_in_shares(decided.len(), budget, |number, share| {
            let (index, engine, holds) = decided[number];
            let request = CertificateRequest {
                property: &system.properties[index],
                holds,
                model: &header.model,
                parameters: &header.parameters,
            };
            let written = match self.encoded(engine, share) {
                Ok(encoded) => encoded.certificate(&request, share),
                Err(stop) => Err(stop.into()),
            };
            let is_cut_short = matches!(written, Err(NotCertified::Stopped(Why::Timeout)));
            let certified = match written {
                Ok(text) => Certified { text: Some(text), ..Certified::default() },
                Err(why) => Certified { why_not: Some(why.to_string()), ..Certified::default() },
            };
            send(Message::Certificate(index, certified));
            !is_cut_short
        });
    }

    /// Sends the implications in a property that never apply, and the remarks on its verdict `holds`.
    fn explain_holding(
        &mut self,
        index: usize,
        engine: usize,
        share: &Budget,
        send: &dyn Fn(Message),
    ) -> Result<(), Stop> {
        let system = self.system;
        let texts = |vacuous: &[Vacuous]| vacuous.iter().map(|v| system.formula_text(v.antecedent)).collect();
        let vacuous = self.vacuous(engine, index, share)?;
        if self.mode == Mode::CrossCheck {
            let find = |used: &mut Self, engine| Ok(texts(&used.vacuous(engine, index, share)?));
            let question = "antecedents that are never true";
            let expected: Vec<String> = texts(&vacuous);
            self.compare_lists(index, question, engine, &expected, find, send);
        }
        if !vacuous.is_empty() {
            send(Message::Vacuous(index, vacuous));
        }
        let remarks = self.remarks(engine, index, share)?;
        if self.mode == Mode::CrossCheck {
            let find = |used: &mut Self, engine| used.remarks(engine, index, share);
            self.compare_lists(index, "remarks on the verdict", engine, &remarks, find, send);
        }
        if !remarks.is_empty() {
            send(Message::Remarks(index, remarks));
        }
        Ok(())
    }

    /// Decides a property with the preferred engine, or with the leader if the system is too large for the
    /// preferred one. Returns also the engine.
    fn decide_property(
        &mut self,
        index: usize,
        preferred: usize,
        leader: usize,
        share: &Budget,
    ) -> (usize, ReplayedOutcome) {
        let property = &self.system.properties[index];
        let found = self.outcome(preferred, property, share);
        let is_too_large = matches!(found.outcome.verdict, Verdict::Unknown(Why::Memory | Why::States));
        let has_other =
            preferred != leader && self.candidates[leader].supports(self.system, property).is_ok();
        if is_too_large && has_other {
            (leader, self.outcome(leader, property, share))
        } else {
            (preferred, found)
        }
    }

    /// Sends in how many states each property and its subformulas are true, each property within its share of
    /// the time. The subformulas of a property that no engine decides may be decidable.
    fn file_status(&mut self, chosen: &[Option<usize>], leader: usize, send: &dyn Fn(Message)) {
        let (system, budget) = (self.system, self.budget);
        let mut is_sent = vec![false; system.formulas.len()];
        run_in_shares(system.properties.len(), budget, |index, share| {
            let engine = chosen[index].unwrap_or(leader);
            for part in
                subformulas(&system.formulas, system.properties[index].formula, MAX_REPORTED_SUBFORMULAS).0
            {
                if is_sent[part.formula.index()] {
                    continue;
                }
                match self.encoded(engine, share).and_then(|encoded| encoded.extent(part.formula, share)) {
                    Ok(extent) => send(Message::Extent(part.formula, extent)),
                    Err(stop) if stop.why == Why::Unsupported => {}
                    Err(_) => return false,
                }
                is_sent[part.formula.index()] = true;
            }
            true
        });
    }

    fn vacuous(&mut self, engine: usize, index: usize, budget: &Budget) -> Result<Vec<Vacuous>, Stop> {
        let system = self.system;
        vacuous_antecedents(self.encoded(engine, budget)?, system, &system.properties[index], budget)
    }

    fn remarks(&mut self, engine: usize, index: usize, budget: &Budget) -> Result<Vec<String>, Stop> {
        let system = self.system;
        remarks(self.encoded(engine, budget)?, system, &system.properties[index], budget)
    }
}

/// Replays the evidence of an outcome and withholds it if it does not replay.
pub(crate) fn replayed(system: &System, property: &Property, mut outcome: Outcome) -> ReplayedOutcome {
    let holds = outcome.verdict == Verdict::Holds;
    let replayed = outcome.evidence.as_ref().map(|evidence| replay(system, property, holds, evidence));
    let withheld = replayed.and_then(Result::err).map(|error| error.to_string());
    if withheld.is_some() {
        outcome.evidence = None;
    }
    ReplayedOutcome { outcome, withheld }
}

pub(crate) fn is_decided(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Holds | Verdict::Fails)
}

/// Whether the share ended before the property had its verdict, or its evidence.
fn is_cut_short(ReplayedOutcome { outcome, withheld }: &ReplayedOutcome, share: &Budget) -> bool {
    match outcome.verdict {
        Verdict::Unknown(why) => why == Why::Timeout,
        Verdict::Holds | Verdict::Fails => {
            outcome.evidence.is_none() && withheld.is_none() && share.is_over()
        }
    }
}

mod prepare;
mod second;
#[cfg(test)]
mod tests;
