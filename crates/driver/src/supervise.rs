//! A check of an interpreted system: the messages of the helper thread are collected into a [`Run`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use masque_model::{FormulaId, System};
use masque_verdict::{Budget, Extent, Facts, Reached, Stop, Unsupported, Vacuous, Why};

use crate::check::{Details, Limits, Progress, Run, SystemDetails};
use crate::compare::CrossCheck;
use crate::decide::{self, CheckSetup, Compared, Cost, Decided, Message, Mode, is_decided};
use crate::engines::EngineOptions;
use crate::{findings, helper_thread};

/// Decides all properties of a system. `observe` is called after each verdict, and many times a second in
/// between.
///
/// # Panics
///
/// If the engine panics.
pub fn check(
    system: &Arc<System>,
    options: &EngineOptions,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
) -> Run {
    let mut run = check_by(options.setup(), system, limits, observe);
    if let (Details::Ispl(details), Some(reason)) = (&mut run.details, options.reason()) {
        details.reason = Some(reason);
    }
    run
}

/// Decides all properties with the engines of a setup.
fn check_by(
    setup: CheckSetup,
    system: &Arc<System>,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
) -> Run {
    let start = Instant::now();
    let mut gathered = Gathered::new(system);
    if setup.mode == Mode::CrossCheck {
        let engines = setup.candidates.iter().map(|engine| engine.name()).collect();
        gathered.cross_check = Some(CrossCheck { engines, ..CrossCheck::default() });
    }
    let on_thread = Arc::clone(system);
    let work = move |budget: &Budget, sender: &_| {
        decide::work(&on_thread, &setup, budget, sender);
    };
    let budget = limits.budget();
    let why = helper_thread::supervise(limits, &budget, work, &mut |message| {
        message.into_iter().for_each(|message| gathered.receive(message));
        observe(gathered.progress(budget.meter().read()));
    });
    if let Some(why) = why {
        gathered.stopped.get_or_insert(why.into());
    }
    Run { reached: budget.meter().read(), ..gathered.finish(system, start) }
}

/// The results in the messages received so far.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) facts: Option<Facts>,
    pub(crate) stopped: Option<Stop>,
    pub(crate) reason: Option<String>,
    pub(crate) decided: Vec<Option<Decided>>,
    pub(crate) n_decided: usize,
    pub(crate) unsupported: Vec<(usize, Unsupported)>,
    pub(crate) vacuous: Vec<(usize, Vec<Vacuous>)>,
    pub(crate) extents: BTreeMap<FormulaId, Extent>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) cross_check: Option<CrossCheck>,
    pub(crate) bugs: Vec<String>,
}

impl Gathered {
    pub(crate) fn new(system: &System) -> Gathered {
        Gathered { decided: vec![None; system.properties.len()], ..Gathered::default() }
    }

    fn progress(&self, reached: Option<Reached>) -> Progress {
        let is_explored = self.facts.is_some();
        Progress { decided: self.n_decided, total: self.decided.len(), is_explored, reached }
    }

    pub(crate) fn receive(&mut self, message: Message) {
        match message {
            Message::Chosen(reason) => self.reason = Some(reason),
            Message::Facts(facts) => self.facts = Some(facts),
            Message::Stopped(stop) => self.stopped = Some(stop),
            Message::Bug(bug) => self.bugs.push(bug),
            Message::Decided(index, decided) => {
                // A property whose share of the time was too short may be decided in a later round. A verdict
                // is never replaced by `unknown`.
                let known = &mut self.decided[index];
                self.n_decided += usize::from(known.is_none());
                let is_final = known.as_ref().is_some_and(|known| is_decided(&known.outcome));
                if !is_final || is_decided(&decided.outcome) {
                    *known = Some(decided);
                }
            }
            Message::Unsupported(index, unsupported) => self.unsupported.push((index, unsupported)),
            Message::Vacuous(index, vacuous) => self.vacuous.push((index, vacuous)),
            Message::Certificate(index, certified) => {
                if let Some(decided) = &mut self.decided[index] {
                    decided.certified = certified;
                }
            }
            Message::Remarks(index, remarks) => {
                if let Some(decided) = &mut self.decided[index] {
                    decided.remarks = remarks;
                }
            }
            Message::Extent(formula, extent) => _ = self.extents.insert(formula, extent),
            Message::Cost(cost) => self.costs.push(cost),
            Message::Compared(compared) => {
                let found = self.cross_check.get_or_insert_default();
                match compared {
                    Compared::Comparable(n) => found.comparable = n,
                    Compared::Facts => found.facts = true,
                    Compared::Property => found.agreed += 1,
                    Compared::Differs(disagreement) => found.disagreements.push(disagreement),
                }
            }
        }
    }

    pub(crate) fn finish(self, system: &System, start: Instant) -> Run {
        let mut findings = Vec::new();
        if let Some(facts) = &self.facts {
            findings.extend(findings::of_facts(system, facts));
        }
        let is_known = |decided: &Option<Decided>| decided.as_ref().is_some_and(|d| is_decided(&d.outcome));
        if self.facts.is_none() && !self.decided.is_empty() && self.decided.iter().all(is_known) {
            findings.push(findings::of_not_counted(self.stopped.map(|stop| stop.why)));
        }
        findings.extend(findings::of_unsupported(system, &self.unsupported));
        findings.extend(findings::of_vacuity(system, &self.vacuous));
        let why = self.stopped.map_or(Why::Unsupported, |stop| stop.why);
        let decisions = if findings.iter().any(|f| f.diagnostic.is_error()) {
            Vec::new()
        } else {
            let decision = |d: Option<Decided>| d.unwrap_or_else(|| Decided::unknown(why)).into();
            self.decided.into_iter().map(decision).collect()
        };
        Run {
            states: self.facts.map(|facts| facts.states),
            decisions,
            findings,
            costs: self.costs,
            explored: self.stopped.and_then(|stop| stop.states),
            details: Details::Ispl(SystemDetails {
                reason: self.reason,
                extents: self.extents,
                cross_check: self.cross_check,
            }),
            bugs: self.bugs,
            time: start.elapsed(),
            ..Run::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::thread::sleep;
    use std::time::Duration;

    use masque_model::Property;
    use masque_verdict::{
        Early, Encoded, Engine, Evidence, FairInitial, Outcome, Path, Show, Stats, Verdict,
    };

    use super::*;
    use crate::check::Decision;
    use crate::{AnyEngine, Request, load_text};

    /// An engine that decides the first property and then behaves in a given way.
    struct Fake(Behaviour);

    #[derive(Clone, Copy, PartialEq)]
    enum Behaviour {
        /// Decides everything.
        Good,
        /// Never checks the budget.
        IgnoresBudget,
        /// Waits until the budget is over.
        Waits,
        /// Waits until the budget is over, but only at the first property.
        WaitsAtFirst,
        /// Runs out of memory at the second property, and keeps the memory.
        FillsMemory,
        /// Panics.
        Panics,
        /// Supports nothing.
        SupportsNothing,
        /// Finds one state too many.
        Miscounts,
        /// Gives wrong evidence.
        WrongEvidence,
        /// Finds a deadlock at the end of a path that does not exist.
        WrongPath,
    }

    /// An engine whose memory is used up by the property named `2`. True if it is.
    struct Filled(bool);

    impl Encoded for Filled {
        fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
            Fake(Behaviour::Good).facts(budget)
        }

        fn decide(&mut self, property: &Property, _: &Budget) -> Outcome {
            self.0 |= property.name == "2";
            if self.0 { Verdict::Unknown(Why::Memory).into() } else { Verdict::Holds.into() }
        }

        fn is_true_somewhere(&mut self, _: FormulaId, _: &Budget) -> Result<bool, Stop> {
            Ok(true)
        }

        fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
            Fake(Behaviour::Good).extent(formula, budget)
        }

        fn stats(&self) -> Stats {
            Stats::default()
        }
    }

    impl Engine for Fake {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn supports(&self, _: &System, property: &Property) -> Result<(), Unsupported> {
            match self.0 {
                Behaviour::SupportsNothing => {
                    Err(Unsupported { formula: property.formula, what: "formulas" })
                }
                _ => Ok(()),
            }
        }

        fn explore<'s>(
            &self,
            _: &'s System,
            _: &mut Early<'_>,
            _: &Budget,
        ) -> Result<Box<dyn Encoded + 's>, Stop> {
            match self.0 {
                Behaviour::FillsMemory => Ok(Box::new(Filled(false))),
                behaviour => Ok(Box::new(Fake(behaviour))),
            }
        }
    }

    impl Fake {
        fn wait(budget: &Budget) -> Outcome {
            loop {
                match budget.check() {
                    Ok(()) => sleep(Duration::from_millis(1)),
                    Err(stop) => return stop.into(),
                }
            }
        }
    }

    impl Encoded for Fake {
        fn facts(&mut self, _: &Budget) -> Result<Facts, Stop> {
            let fair_initial = FairInitial::All;
            let states = if self.0 == Behaviour::Miscounts { 3_u64 } else { 2 }.into();
            let nowhere = Path { states: vec![vec![]], actions: vec![] };
            let deadlock = (self.0 == Behaviour::WrongPath).then_some(nowhere);
            Ok(Facts { states, no_initial_state: false, deadlock, overflow: None, fair_initial })
        }

        fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
            match self.0 {
                Behaviour::WaitsAtFirst if property.name == "1" => Fake::wait(budget),
                _ if property.name == "1" => Verdict::Holds.into(),
                Behaviour::Good
                | Behaviour::SupportsNothing
                | Behaviour::Miscounts
                | Behaviour::WrongPath
                | Behaviour::FillsMemory
                | Behaviour::WaitsAtFirst => Verdict::Fails.into(),
                Behaviour::IgnoresBudget => {
                    sleep(Duration::from_secs(20));
                    Verdict::Fails.into()
                }
                Behaviour::Waits => Fake::wait(budget),
                Behaviour::Panics => panic!("a bug"),
                Behaviour::WrongEvidence => {
                    let start =
                        masque_verdict::EvidencePath { states: vec![], actions: vec![], back_to: None };
                    let evidence = Evidence { states: vec![], start, reasons: vec![] };
                    Outcome { verdict: Verdict::Fails, evidence: Some(evidence) }
                }
            }
        }

        fn is_true_somewhere(&mut self, _: FormulaId, _: &Budget) -> Result<bool, Stop> {
            Ok(self.0 != Behaviour::Good)
        }

        fn extent(&mut self, _: FormulaId, _: &Budget) -> Result<Extent, Stop> {
            let [states, of_states, initial, of_initial] = [1_u64, 2, 0, 1].map(Into::into);
            Ok(Extent { states, of_states, initial, of_initial })
        }

        fn stats(&self) -> Stats {
            Stats::default()
        }
    }

    const MODEL: &str = "
        Agent Light
          Vars: on : boolean; end Vars
          Actions = {switch};
          Protocol: Other : {switch}; end Protocol
          Evolution: on = ~on if Action = switch; end Evolution
        end Agent
        Evaluation lit if Light.on; end Evaluation
        InitStates !Light.on; end InitStates
        Formulae AG(lit -> AX !lit); EF lit; AF lit; end Formulae";

    fn details(run: Run) -> SystemDetails {
        match run.details {
            Details::Ispl(details) => details,
            other => panic!("{other:?}"),
        }
    }

    fn setup(behaviour: Behaviour) -> CheckSetup {
        let candidates: Vec<AnyEngine> = vec![Arc::new(Fake(behaviour))];
        CheckSetup {
            candidates,
            portfolio: None,
            mode: Mode::Plain,
            is_quick: false,
            evidence: Show::None,
            certify: None,
        }
    }

    fn system() -> Arc<System> {
        load_text("light.ispl", MODEL, &Request::default()).system().cloned().unwrap()
    }

    /// Runs a fake engine. Returns the verdicts as text, and the codes of the findings.
    fn run(behaviour: Behaviour, limits: &Limits) -> (Vec<String>, Vec<&'static str>) {
        let start = Instant::now();
        let run = check_by(setup(behaviour), &system(), limits, &mut |_| {});
        assert!(start.elapsed() < Duration::from_secs(5));
        (
            run.decisions.iter().map(|d| d.verdict.to_string()).collect(),
            run.findings.iter().map(|f| f.diagnostic.code).collect(),
        )
    }

    fn soon() -> Limits {
        Limits { deadline: Some(Instant::now() + Duration::from_millis(50)), ..Limits::default() }
    }

    #[test]
    fn all_properties_are_decided_and_vacuity_is_found() {
        let (verdicts, codes) = run(Behaviour::Good, &Limits::default());
        assert_eq!(verdicts, ["holds", "fails", "fails"]);
        assert_eq!(codes, ["ispl/vacuous"]);
    }

    #[test]
    fn a_deadline_keeps_what_is_decided() {
        for behaviour in [Behaviour::IgnoresBudget, Behaviour::Waits] {
            let (verdicts, _) = run(behaviour, &soon());
            assert_eq!(verdicts, ["holds", "unknown(timeout)", "unknown(timeout)"]);
        }
    }

    /// The first property gets its share and not that of the others; then it gets the rest.
    #[test]
    fn a_property_that_takes_too_long_does_not_spoil_the_others() {
        let (verdicts, _) = run(Behaviour::WaitsAtFirst, &soon());
        assert_eq!(verdicts, ["unknown(timeout)", "fails", "fails"]);
    }

    #[test]
    fn a_property_that_takes_all_memory_does_not_spoil_the_others() {
        let (verdicts, _) = run(Behaviour::FillsMemory, &Limits::default());
        assert_eq!(verdicts, ["holds", "unknown(memory)", "holds"]);
    }

    #[test]
    fn an_interrupt_keeps_what_is_decided() {
        for behaviour in [Behaviour::IgnoresBudget, Behaviour::Waits] {
            let limits = Limits::default();
            let flag = Arc::clone(&limits.interrupt);
            let user = std::thread::spawn(move || {
                sleep(Duration::from_millis(50));
                flag.store(true, Ordering::Relaxed);
            });
            let (verdicts, _) = run(behaviour, &limits);
            assert_eq!(verdicts, ["holds", "unknown(interrupted)", "unknown(interrupted)"]);
            user.join().unwrap();
        }
    }

    #[test]
    fn unsupported_properties_are_unknown() {
        let (verdicts, codes) = run(Behaviour::SupportsNothing, &Limits::default());
        assert_eq!(verdicts, ["unknown(unsupported)"; 3]);
        assert_eq!(codes, ["ispl/unsupported"]);
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_is_propagated() {
        run(Behaviour::Panics, &Limits::default());
    }

    /// Wrong evidence for one property costs this evidence, and nothing else.
    #[test]
    fn evidence_that_does_not_replay_is_withheld() {
        for mode in [Mode::Plain, Mode::Survey] {
            let setup = CheckSetup { mode, ..setup(Behaviour::WrongEvidence) };
            let run = check_by(setup, &system(), &Limits::default(), &mut |_| {});
            let result = |d: &Decision| (d.verdict.to_string(), d.withheld.clone());
            let why = Some("the evidence is malformed".to_string());
            let expected =
                [("holds", None), ("fails", why.clone()), ("fails", why)].map(|(v, w)| (v.to_string(), w));
            assert_eq!(run.decisions.iter().map(result).collect::<Vec<_>>(), expected);
            assert!(run.decisions.iter().all(|d| d.evidence.is_none()) && run.bugs.is_empty());
        }
    }

    #[test]
    fn a_path_that_does_not_replay_is_withheld() {
        let run = check_by(setup(Behaviour::WrongPath), &system(), &Limits::default(), &mut |_| {});
        assert_eq!(run.decisions.len(), 3);
        assert_eq!(run.bugs, ["the path to a deadlock does not replay: the evidence is malformed"]);
        assert_eq!(run.findings[0].diagnostic.message, "a state without successors can be reached");
        assert!(run.findings[0].path.is_none());
    }

    /// Compares a real engine with a fake one.
    fn cross_check(behaviour: Behaviour, limits: &Limits) -> CrossCheck {
        let mut candidates = crate::engines();
        candidates.truncate(1);
        candidates.push(Arc::new(Fake(behaviour)));
        let setup = CheckSetup { candidates, mode: Mode::CrossCheck, ..setup(behaviour) };
        details(check_by(setup, &system(), limits, &mut |_| {})).cross_check.unwrap()
    }

    #[test]
    fn real_engines_agree() {
        let options = EngineOptions { cross_check: true, ..EngineOptions::default() };
        let run = check(&system(), &options, &Limits::default(), &mut |_| {});
        let n_costs = run.costs.len();
        let SystemDetails { cross_check, reason, .. } = details(run);
        let found = cross_check.unwrap();
        assert!(found.is_complete() && found.agreed == 3);
        assert_eq!(found.to_string(), "symbolic and explicit agree on the states and on 3 of 3 properties");
        assert_eq!((reason, n_costs), (None, 2));
    }

    #[test]
    fn wrong_verdicts_are_detected() {
        let found = cross_check(Behaviour::Good, &Limits::default());
        let text = |d: &crate::Disagreement| {
            let [(one, first), (other, second)] = &d.answers;
            format!("{:?}, {}: {one}: {first}, {other}: {second}", d.property, d.question)
        };
        let texts: Vec<String> = found.disagreements.iter().map(text).collect();
        let expected = [
            "Some(1), the verdict: explicit: holds, fake: fails",
            "Some(2), the verdict: explicit: holds, fake: fails",
            "Some(0), antecedents that are never true: explicit: none, fake: lit",
        ];
        assert_eq!(texts, expected);
        assert!(found.facts && found.agreed == 1 && !found.is_complete());
        assert_eq!(found.to_string(), "explicit and fake disagree");
    }

    #[test]
    fn wrong_facts_are_detected() {
        let found = cross_check(Behaviour::Miscounts, &Limits::default());
        assert!(!found.facts);
        assert_eq!(found.disagreements[0].property, None);
        assert_eq!(found.disagreements[0].question, "the number of reachable states");
        assert_eq!(found.disagreements[0].answers[1], ("fake", "3".to_string()));
    }

    #[test]
    fn a_limit_is_not_a_disagreement() {
        let found = cross_check(Behaviour::Waits, &soon());
        assert_eq!(found.disagreements, []);
        assert!(!found.is_complete() && found.agreed == 1 && found.comparable == 3);
        let found = cross_check(Behaviour::SupportsNothing, &Limits::default());
        assert!(found.is_complete() && found.comparable == 0);
    }
}
