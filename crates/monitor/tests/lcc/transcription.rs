//! The definitions of `docs/monitor.md`, transcribed: all runs that match a log are followed one by one, on the whole
//! transition system of the definition of LCC.

use std::collections::{BTreeMap, BTreeSet};

use masque_lcc::EventPattern;
use masque_lcc::reference::{Duty, Values, instances, matches};
use masque_mu::tree::{FormulaKind, Modality, PathOperator, Pattern, Phi, Regular};

use super::graph::Graph;

/// What is to be reached, and whether all runs must reach it.
pub(crate) struct Goal {
    pub(crate) certain: Phi,
    pub(crate) possible: Phi,
    pub(crate) reached: Reached,
}

pub(crate) enum Reached {
    State(Phi),
    Step(Pattern),
}

impl Goal {
    /// The goals of the table in the definition.
    pub(crate) fn of(phi: &Phi) -> Option<Goal> {
        let reached = match &phi.kind {
            FormulaKind::Path(PathOperator::EF | PathOperator::AF, f) => Reached::State((**f).clone()),
            FormulaKind::Inevitable(p) => Reached::Step(p.clone()),
            FormulaKind::Modal(Modality::Diamond, Regular::Sequence(parts), f)
                if matches!(f.kind, FormulaKind::True) =>
            {
                let [Regular::Star(any), Regular::Step(p)] = parts.as_slice() else { return None };
                if !matches!(**any, Regular::Step(Pattern::Any)) {
                    return None;
                }
                Reached::Step(p.clone())
            }
            _ => return None,
        };
        let span = phi.span;
        let possible = match (&phi.kind, &reached) {
            (FormulaKind::Path(PathOperator::AF, f), _) => FormulaKind::Path(PathOperator::EF, f.clone()),
            (FormulaKind::Inevitable(_), Reached::Step(p)) => {
                let any = Regular::Star(Box::new(Regular::Step(Pattern::Any)));
                let path = Regular::Sequence(vec![any, Regular::Step(p.clone())]);
                FormulaKind::Modal(Modality::Diamond, path, Box::new(Phi { kind: FormulaKind::True, span }))
            }
            (kind, _) => kind.clone(),
        };
        Some(Goal { certain: phi.clone(), possible: Phi { kind: possible, span }, reached })
    }
}

/// How it stands with an instance on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Owed,
    Met,
    Discharged,
}

/// An instance: the index of the obligation, and its values as texts.
pub(crate) type Instance = (usize, Vec<(String, String)>, String);

/// A run that matches the log.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) state: usize,
    /// For each goal: whether it is reached, and whether it may be.
    reached: Vec<[bool; 2]>,
    dues: BTreeMap<Instance, (Values, Standing)>,
}

impl Run {
    /// Two runs with the same key have the same continuations.
    fn key(&self) -> (usize, Vec<[bool; 2]>, Vec<(Instance, Standing)>) {
        let dues = self.dues.iter().map(|(instance, (_, standing))| (instance.clone(), *standing));
        (self.state, self.reached.clone(), dues.collect())
    }
}

/// The verdict about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Possible,
    Violated,
    Unknown,
}

/// How an instance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Met,
    Discharged,
    NeverDue,
}

/// The statuses of goals, as the words of the definition.
pub(crate) type Status = &'static str;

/// A monitor by definition.
pub(crate) struct Transcription<'m> {
    pub(crate) graph: &'m mut Graph,
    pub(crate) goals: &'m [Goal],
    pub(crate) facts: &'m [Phi],
    pub(crate) duties: &'m [Duty<'m>],
    pub(crate) observable: &'m [Pattern],
    pub(crate) runs: Vec<Run>,
    pub(crate) is_cut: bool,
    /// For each goal, the statuses after the beginnings of the log; and whether it was certain or reached.
    past: Vec<(Option<Status>, bool)>,
}

/// Maximum number of runs that are followed.
const MAX_RUNS: usize = 1_500;

impl<'m> Transcription<'m> {
    /// The runs that match the empty log; `None` if there are too many.
    pub(crate) fn new(
        graph: &'m mut Graph,
        goals: &'m [Goal],
        facts: &'m [Phi],
        duties: &'m [Duty<'m>],
        observable: &'m [Pattern],
    ) -> Option<Transcription<'m>> {
        let first = Run { state: 0, reached: vec![[false; 2]; goals.len()], dues: BTreeMap::new() };
        let past = vec![(None, false); goals.len()];
        let mut all =
            Transcription { graph, goals, facts, duties, observable, runs: vec![first], is_cut: false, past };
        all.runs[0] = all.at_its_state(all.runs[0].clone());
        all.add_unseen()?;
        all.remember();
        Some(all)
    }

    fn is_observable(&self, label: usize) -> bool {
        self.observable.iter().any(|pattern| matches(&self.graph.labels[label], pattern))
    }

    /// Marks the goals that the last state of a run reaches.
    fn at_its_state(&mut self, mut run: Run) -> Run {
        for (index, goal) in self.goals.iter().enumerate() {
            if let Reached::State(f) = &goal.reached {
                let [surely, perhaps] = self.graph.truth(f, run.state);
                run.reached[index][0] |= surely;
                run.reached[index][1] |= perhaps;
            }
        }
        run
    }

    /// Continues a run by a step with a label.
    fn continued(&mut self, run: &Run, label: &[masque_lcc::reference::Act], to: usize) -> Run {
        let mut next = run.clone();
        next.state = to;
        for (index, goal) in self.goals.iter().enumerate() {
            if let Reached::Step(p) = &goal.reached
                && matches(label, p)
            {
                next.reached[index] = [true; 2];
            }
        }
        for ((duty, ..), (values, standing)) in &mut next.dues {
            let duty = &self.duties[*duty];
            if *standing == Standing::Owed {
                if duty.is_met(values, label) {
                    *standing = Standing::Met;
                } else if duty.is_discharged(values, label) {
                    *standing = Standing::Discharged;
                }
            }
        }
        for (index, duty) in self.duties.iter().enumerate() {
            for values in duty.triggered(label) {
                let instance = (index, duty.bindings(&values), format!("{values:?}"));
                next.dues.insert(instance, (values, Standing::Owed));
            }
        }
        self.at_its_state(next)
    }

    /// Adds all continuations by unobservable steps; `None` if there are too many.
    fn add_unseen(&mut self) -> Option<()> {
        let mut known: BTreeSet<_> = self.runs.iter().map(Run::key).collect();
        let mut done = 0;
        while done < self.runs.len() {
            let run = self.runs[done].clone();
            done += 1;
            self.is_cut |= self.graph.is_cut[run.state];
            for (label, to) in self.graph.transitions[run.state].clone() {
                if !self.is_observable(label) {
                    let acts = self.graph.labels[label].clone();
                    let next = self.continued(&run, &acts, to);
                    if known.insert(next.key()) {
                        self.runs.push(next);
                    }
                }
            }
            if self.runs.len() > MAX_RUNS {
                return None;
            }
        }
        Some(())
    }

    /// Whether some observable step is possible.
    pub(crate) fn can_go_on(&self) -> bool {
        let next = self.runs.iter().flat_map(|run| &self.graph.transitions[run.state]);
        next.into_iter().any(|(label, _)| self.is_observable(*label))
    }

    /// Adds an event to the log. Returns the verdict and the instances that ended; `None` if there are too many runs.
    pub(crate) fn observe(&mut self, event: &EventPattern) -> Option<(Verdict, Vec<(Instance, End)>)> {
        let mut next: Vec<Run> = Vec::new();
        let mut known = BTreeSet::new();
        for run in self.runs.clone() {
            for (label, to) in self.graph.transitions[run.state].clone() {
                if !self.is_observable(label) {
                    continue;
                }
                for instance in instances(&self.graph.labels[label].clone(), event) {
                    let run = self.continued(&run, &instance, to);
                    if known.insert(run.key()) {
                        next.push(run);
                    }
                }
            }
        }
        if next.is_empty() && !self.is_cut {
            return Some((Verdict::Violated, Vec::new()));
        }
        let verdict = if next.is_empty() { Verdict::Unknown } else { Verdict::Possible };
        let before: BTreeSet<Instance> = self.runs.iter().flat_map(|run| run.dues.keys().cloned()).collect();
        self.runs = next;
        self.add_unseen()?;
        let ended = self.forget_ended(before);
        self.remember();
        Some((verdict, ended))
    }

    /// Forgets the instances that no run owes, and returns how they ended.
    fn forget_ended(&mut self, mut known: BTreeSet<Instance>) -> Vec<(Instance, End)> {
        known.extend(self.runs.iter().flat_map(|run| run.dues.keys().cloned()));
        let mut ended = Vec::new();
        for instance in known {
            let standings = self.runs.iter().filter_map(|run| Some(run.dues.get(&instance)?.1));
            let standings: BTreeSet<Standing> = standings.collect();
            if standings.contains(&Standing::Owed) {
                continue;
            }
            self.runs.iter_mut().for_each(|run| {
                run.dues.remove(&instance);
            });
            let end = if standings.contains(&Standing::Discharged) {
                End::Discharged
            } else if standings.contains(&Standing::Met) {
                End::Met
            } else {
                End::NeverDue
            };
            if !self.is_cut {
                ended.push((instance, end));
            }
        }
        // Runs that differed only in these are one run now.
        let mut known = BTreeSet::new();
        self.runs.retain(|run| known.insert(run.key()));
        ended
    }

    /// The texts of the possible states.
    pub(crate) fn states(&self) -> BTreeSet<String> {
        self.runs.iter().map(|run| self.graph.texts[run.state].clone()).collect()
    }

    /// The instances that some run owes, and whether all do.
    pub(crate) fn owed(&self) -> Vec<(Instance, bool)> {
        let all: BTreeSet<Instance> = self.runs.iter().flat_map(|run| run.dues.keys().cloned()).collect();
        let owes = |run: &Run, instance: &Instance| {
            run.dues.get(instance).is_some_and(|(_, standing)| *standing == Standing::Owed)
        };
        all.into_iter()
            .filter(|instance| self.runs.iter().any(|run| owes(run, instance)))
            .map(|instance| {
                let is_sure = !self.is_cut && self.runs.iter().all(|run| owes(run, &instance));
                (instance, is_sure)
            })
            .collect()
    }

    /// The truth of each fact: certain, possible, impossible or unknown.
    pub(crate) fn facts(&mut self) -> Vec<Status> {
        let states: BTreeSet<usize> = self.runs.iter().map(|run| run.state).collect();
        let facts = self.facts;
        let status = |phi: &Phi| {
            let truths: Vec<[bool; 2]> = states.iter().map(|state| self.graph.truth(phi, *state)).collect();
            let (some_true, some_false) =
                (truths.iter().any(|truth| truth[0]), truths.iter().any(|truth| !truth[1]));
            if some_true && some_false {
                "possible"
            } else if self.is_cut || truths.iter().any(|truth| truth[0] != truth[1]) {
                "unknown"
            } else if some_true {
                "certain"
            } else {
                "impossible"
            }
        };
        facts.iter().map(status).collect()
    }

    /// For each run, what a goal may be on it: impossible 0, possible 1, certain 2, reached 3.
    fn outlooks(&mut self, goal: &Goal, index: usize) -> Vec<BTreeSet<u8>> {
        let mut all = Vec::new();
        for run in self.runs.clone() {
            if run.reached[index][0] {
                all.push(BTreeSet::from([3]));
                continue;
            }
            let certain = self.graph.truth(&goal.certain, run.state);
            let possible = self.graph.truth(&goal.possible, run.state);
            let mut here = BTreeSet::new();
            for (is_certain, is_possible) in
                [0, 1].into_iter().flat_map(|c| [0, 1].map(|p| (certain[c], possible[p])))
            {
                // What is certain is possible.
                match (is_certain, is_possible) {
                    (true, true) => here.insert(2),
                    (false, true) => here.insert(1),
                    (false, false) => here.insert(0),
                    (true, false) => false,
                };
            }
            if run.reached[index][1] {
                here.insert(3);
            }
            all.push(here);
        }
        if self.is_cut {
            all.push(BTreeSet::from([0, 1, 2, 3]));
        }
        all
    }

    /// The status of each goal now, without its past, and whether it is certain or reached.
    fn now(&mut self) -> Vec<(Option<Status>, bool)> {
        let goals = self.goals;
        let mut found = Vec::new();
        for (index, goal) in goals.iter().enumerate() {
            let all = self.outlooks(goal, index);
            let each = |can: &dyn Fn(&u8) -> bool| all.iter().all(|run| run.iter().any(can));
            let some = |can: &dyn Fn(&u8) -> bool| all.iter().any(|run| run.iter().any(can));
            // The statuses under all assumptions about what bounds hide.
            let mut statuses = BTreeSet::new();
            if each(&|o| *o == 3) {
                statuses.insert("reached");
            }
            if each(&|o| *o >= 2) && some(&|o| *o == 2) {
                statuses.insert("certain");
            }
            if each(&|o| *o == 0) {
                statuses.insert("lost");
            }
            let is_mixed = |low: usize, high: usize| {
                let (low, high) = (&all[low], &all[high]);
                low.iter().any(|o| *o <= 1) && high.iter().any(|o| *o >= 1)
            };
            let pairs = (0..all.len()).flat_map(|low| (0..all.len()).map(move |high| (low, high)));
            let is_one = all.iter().any(|run| run.contains(&1));
            if is_one || pairs.into_iter().any(|(low, high)| low != high && is_mixed(low, high)) {
                statuses.insert("possible");
            }
            let is_certain = all.iter().all(|run| run.iter().all(|o| *o >= 2));
            let one = if statuses.len() == 1 { statuses.first().copied() } else { None };
            found.push((one, is_certain));
        }
        found
    }

    /// Remembers what the log says about goals.
    fn remember(&mut self) {
        let now = self.now();
        for (past, (status, is_certain)) in self.past.iter_mut().zip(now) {
            if !matches!(past.0, Some("reached" | "lost")) {
                past.0 = status;
            }
            past.1 |= is_certain;
        }
    }

    /// The status of each goal.
    pub(crate) fn goal_statuses(&self) -> Vec<Status> {
        let status = |past: &(Option<Status>, bool)| match past {
            (Some("possible"), true) => "at risk",
            (Some(status), _) => status,
            (None, _) => "unknown",
        };
        self.past.iter().map(status).collect()
    }
}
