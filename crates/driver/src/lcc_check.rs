//! The work on an LCC instance: verdicts, runs that show failures, and the whole space counted.
//!
//! A property is first decided with sends at once, where it cannot see the difference; only what
//! fails is looked at in full, for a shortest run that shows it.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_lcc::{Counts, Reduced, System, Trace, explore};
use masque_mu::{Evidence, Property, Space, explain};
use masque_verdict::{Budget, Show, Verdict, Why, in_shares};

use crate::lcc::Instance;
use crate::supervise::{Limits, Progress};
use crate::worker::listen;

/// The answer to one property.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The property's name.
    pub name: String,
    /// The formula, as it was read.
    pub formula: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// A run that shows it, if a run does.
    pub trace: Option<Trace>,
    /// What is to be said beside the verdict.
    pub remarks: Vec<String>,
    /// Why a run is withheld: the evidence does not replay. That is a bug of ours.
    pub withheld: Option<String>,
    /// How long it took.
    pub time: Duration,
}

/// What became of a check.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// One answer per property.
    pub answers: Vec<Answer>,
    /// The whole space, if it was asked for: counted, or why it could not be. Counts with a cut
    /// are lower bounds.
    pub counts: Option<Result<Counts, Why>>,
    /// What was both permitted and forbidden, in what was looked at.
    pub conflicts: Vec<String>,
    /// Constraints of which an agent knows nothing, in what was looked at.
    pub unknown_constraints: Vec<String>,
    /// States that were met; 0 if the work was left behind.
    pub states: u64,
    /// Bytes that they take.
    pub bytes: u64,
    /// How long the properties took.
    pub deciding: Duration,
    /// How long the counting took.
    pub exploring: Duration,
}

/// What is asked besides verdicts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Whether the whole space is to be counted.
    pub counts: bool,
    /// Which verdicts are to be shown by a run.
    pub evidence: Show,
}

/// What the work tells.
enum Event {
    Decided(usize, Answer),
    Done(Run),
}

/// Decides the properties of an instance and, if asked to, counts its states; what is not decided
/// in time is unknown.
///
/// # Panics
///
/// If the work does: its bug is handed on.
pub fn check(instance: Instance, wanted: Wanted, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> Run {
    let total = instance.properties.len();
    let properties = instance.properties.clone();
    let remarks: Vec<Vec<String>> =
        properties.iter().map(|property| instance.system.remarks(&property.source.phi)).collect();
    let (mut decided, mut done): (Vec<Option<Answer>>, _) = (vec![None; total], None);
    let work = move |budget: &Budget, sender: &Sender<Event>| {
        let mut decided = |index: usize, answer: &Answer| {
            _ = sender.send(Event::Decided(index, answer.clone()));
        };
        let run = run(instance, wanted, budget, &mut decided);
        _ = sender.send(Event::Done(run));
    };
    let why = listen(limits, &limits.budget(), work, &mut |event| {
        match event {
            Some(Event::Decided(index, answer)) => decided[index] = Some(answer),
            Some(Event::Done(run)) => done = Some(run),
            None => {}
        }
        // States are found while properties are decided.
        let n_decided = decided.iter().flatten().count();
        observe(Progress { decided: n_decided, total, is_explored: true, found: None });
    });
    let mut run =
        done.unwrap_or_else(|| abandoned(&properties, decided, wanted.counts, why.unwrap_or(Why::Timeout)));
    for (answer, remarks) in run.answers.iter_mut().zip(remarks) {
        answer.remarks = remarks;
    }
    run
}

fn run(instance: Instance, wanted: Wanted, budget: &Budget, decided: &mut dyn FnMut(usize, &Answer)) -> Run {
    let Instance { mut system, properties } = instance;
    let start = Instant::now();
    let undecided = |property: &Property| Answer::new(property, Verdict::Unknown(Why::Timeout));
    let mut answers: Vec<Answer> = properties.iter().map(undecided).collect();
    // What one property explores, the others need not. Each has its share of the time, and bounds and
    // memory of its own, so none spoils another's verdict.
    let mut space = Space::new(&mut system);
    in_shares(properties.len(), budget, |index, share| {
        let before = answers[index].clone();
        // A verdict without a run is better than none.
        let is_better = |found: &Answer| found.is_decided() || !before.is_decided();
        let tell = &mut |found: &Answer| {
            if is_better(found) {
                decided(index, found);
            }
        };
        let mut found = answer(&mut space, &properties[index], (wanted.evidence, share), tell);
        found.time += before.time;
        if !is_better(&found) {
            return true;
        }
        let is_finished = !is_cut_short(&found, wanted.evidence, share);
        answers[index] = found;
        is_finished
    });
    drop(space);
    let deciding = start.elapsed();
    let counts = wanted.counts.then(|| explore(&mut system, budget).map_err(|stop| stop.why));
    Run {
        answers,
        counts,
        conflicts: system.conflicts(),
        unknown_constraints: system.unknown_constraints(),
        states: system.n_states() as u64,
        bytes: system.bytes(),
        deciding,
        exploring: start.elapsed() - deciding,
    }
}

/// Whether a share ended before a property had its verdict, or the run that shows it.
fn is_cut_short(answer: &Answer, show: Show, share: &Budget) -> bool {
    match answer.verdict {
        Verdict::Unknown(why) => why == Why::Timeout,
        verdict => show.wanted(verdict).is_some() && answer.trace.is_none() && share.is_over(),
    }
}

/// Tells a verdict as soon as it is known: a run that shows a failure may take much longer.
fn answer(
    space: &mut Space<&mut System>,
    property: &Property,
    (show, budget): (Show, &Budget),
    decided: &mut dyn FnMut(&Answer),
) -> Answer {
    let start = Instant::now();
    let mut answer = Answer::new(property, Verdict::Unknown(Why::Timeout));
    let by_reduction = Reduced::new(space.lts(), &property.formula).map(|mut reduced| {
        masque_mu::check(&mut Space::new(&mut reduced), &property.formula, budget).verdict
    });
    if let Some(verdict @ (Verdict::Holds | Verdict::Fails)) = by_reduction {
        answer.verdict = verdict;
        decided(&answer);
    }
    let is_open = !answer.is_decided();
    if is_open || show.wanted(answer.verdict).is_some() {
        let found = match show {
            Show::None => masque_mu::check(space, &property.formula, budget),
            Show::All | Show::Failed => explain(space, &property.formula, budget),
        };
        // The reduced system may be small enough to be decided where the whole is not.
        if is_open {
            answer.verdict = found.verdict;
        }
        answer.withheld = found.withheld.filter(|_| show.wanted(found.verdict).is_some());
        let is_shown = |evidence: &Evidence| match show.wanted(found.verdict) {
            // That a property holds is shown by one run, or not at all.
            Some(true) => evidence.is_one_run(),
            Some(false) => true,
            None => false,
        };
        let play = found.evidence.filter(is_shown).map(|evidence| evidence.play);
        answer.trace = play.and_then(|play| {
            let system = space.lts();
            (!play.steps.is_empty() || system.is_stuck(play.start)).then(|| system.trace(&play))
        });
    }
    answer.time = start.elapsed();
    decided(&answer);
    answer
}

impl Answer {
    fn is_decided(&self) -> bool {
        matches!(self.verdict, Verdict::Holds | Verdict::Fails)
    }

    fn new(property: &Property, verdict: Verdict) -> Answer {
        Answer {
            name: property.source.name.text.clone(),
            formula: property.source.phi.to_string(),
            verdict,
            trace: None,
            remarks: Vec::new(),
            withheld: None,
            time: Duration::ZERO,
        }
    }
}

/// What is known when the work is left behind.
fn abandoned(properties: &[Property], decided: Vec<Option<Answer>>, wants_counts: bool, why: Why) -> Run {
    let undecided = |property: &Property| Answer::new(property, Verdict::Unknown(why));
    let answers = decided.into_iter().zip(properties);
    Run {
        answers: answers.map(|(answer, property)| answer.unwrap_or_else(|| undecided(property))).collect(),
        counts: wants_counts.then_some(Err(why)),
        ..Run::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::lcc::{Request, load_text};

    const OFFER: &str =
        "a(buyer, B) :: offer => a(seller, S) then (ok <= a(seller, S) or no <= a(seller, S)).
        a(seller, S) :: offer <= a(buyer, B) then (ok => a(buyer, B) or no => a(buyer, B)).
        agent a(buyer, b). agent a(seller, s).
        property ends : AF final ;  property sold : inev(in(ok)) ;";
    /// A counter that takes longer than anyone waits.
    const LONG: &str = "a(counter(N), C) :: null <- M is N + 1 then a(counter(M), C).
        agent a(counter(0), c). option states = 1000000000.
        property never : AG !done(c) ;";

    fn run_of(text: &str, limits: &Limits) -> Run {
        run_with(text, limits, Show::Failed)
    }

    fn run_with(text: &str, limits: &Limits, evidence: Show) -> Run {
        let loaded = load_text("a.lcc", text, &Request::default());
        let wanted = Wanted { counts: true, evidence };
        check(loaded.instance.unwrap(), wanted, limits, &mut |_| {})
    }

    fn verdicts(run: &Run) -> Vec<String> {
        run.answers.iter().map(|answer| answer.verdict.to_string()).collect()
    }

    #[test]
    fn verdicts_traces_and_counts() {
        let run = run_of(OFFER, &Limits::default());
        assert_eq!(verdicts(&run), ["holds", "fails"]);
        assert!(run.answers[0].trace.is_none());
        assert_eq!(run.answers[1].trace.as_ref().unwrap().events.len(), 4);
        // The start, the offer under way and taken, `ok` or `no` under way, and one end of both.
        let counts = Counts { states: 6, transitions: 6, deadlocks: 0, finals: 1, cut: None };
        assert_eq!(run.counts, Some(Ok(counts)));
    }

    /// Verdicts are the same, whatever is shown of them.
    #[test]
    fn what_is_shown_is_what_is_asked_for() {
        let text = format!("{OFFER} property can : EF <in(ok)>tt ;");
        for (show, expected) in
            [(Show::None, [false; 3]), (Show::Failed, [false, true, false]), (Show::All, [false, true, true])]
        {
            let run = run_with(&text, &Limits::default(), show);
            assert_eq!(verdicts(&run), ["holds", "fails", "holds"]);
            let shown: Vec<bool> = run.answers.iter().map(|answer| answer.trace.is_some()).collect();
            assert_eq!(shown, expected, "{show:?}");
        }
    }

    #[test]
    fn a_deadline_is_kept() {
        let start = Instant::now();
        let limits = Limits { deadline: Some(start + Duration::from_millis(100)), ..Limits::default() };
        let run = run_of(LONG, &limits);
        assert_eq!(verdicts(&run), ["unknown(timeout)"]);
        assert_eq!(run.counts, Some(Err(Why::Timeout)));
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn an_interrupt_is_heard() {
        let limits = Limits::default();
        limits.interrupt.store(true, Ordering::Relaxed);
        assert_eq!(verdicts(&run_of(LONG, &limits)), ["unknown(interrupted)"]);
    }

    #[test]
    fn memory_is_a_limit() {
        let limits = Limits { memory: Some(100_000), ..Limits::default() };
        assert_eq!(verdicts(&run_of(LONG, &limits)), ["unknown(memory)"]);
    }
}
