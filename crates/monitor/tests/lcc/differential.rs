//! Compares monitors with the transcription of the definition, on random protocols and logs. A large run:
//! `SEEDS=0..100000 cargo test --release -p masque-monitor --test all lcc::differential -- --nocapture`.

use fastrand::Rng;
use masque_lcc::reference::{Duty, Reference};
use masque_lcc::{EventPattern, EventText, tree::Item};
use masque_monitor::lcc::{Bounds, LccModel, LccMonitor, Observation};
use masque_monitor::{
    EventVerdict, GoalStatus, InstanceChange, InstanceStatus, Judgement, Monitor, Status, Truth,
};
use masque_mu::parse_pattern;
use masque_mu::tree::{Pattern, Phi};
use masque_testkit::seeds;
use masque_text::Span;
use masque_verdict::Budget;

use super::graph::Graph;
use super::transcription::{End, Goal, Instance, Transcription, Verdict};
use super::{exchanges, random, random_logs, support};

/// Maximum number of states of a protocol that is compared.
const MAX_STATES: usize = 60;

/// A random protocol with obligations, goals and other properties.
fn protocol(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let base = match seed % 8 {
        0 => random::instance(seed),
        1 | 2 => random::talkers(seed),
        3 => exchanges::protocol(seed),
        4 => exchanges::parallel_parts(seed),
        _ => exchanges::dialogue(seed),
    };
    let base = if rng.u32(0..4) == 0 { exchanges::with_comm(&base, "sync") } else { base };
    let mut lines = vec![base.clone()];
    // Statements about labels that occur say more than those about any.
    if let Some((_, opened)) = support::try_open(&[("base.lcc", base)])
        && let Some(graph) = Graph::explore(Reference::new(&opened.trees), MAX_STATES)
        && !graph.labels.is_empty()
    {
        lines.extend((0..rng.usize(1..4)).map(|_| random_logs::obligation_about(&mut rng, &graph)));
        for index in 0..rng.usize(1..4) {
            lines.push(format!("property about{index} : {} ;", random_logs::goal_about(&mut rng, &graph)));
        }
    }
    lines.extend((0..rng.usize(0..3)).map(|_| exchanges::obligation(&mut rng)));
    for index in 0..rng.usize(0..3) {
        lines.push(format!("property goal{index} : {} ;", random_logs::goal(&mut rng)));
    }
    for index in 0..rng.usize(0..3) {
        lines.push(format!("property fact{index} : {} ;", random_logs::fact(&mut rng)));
    }
    lines.join("\n")
}

/// Counts of what was compared.
#[derive(Debug, Default)]
struct Tally {
    protocols: usize,
    logs: usize,
    changed: usize,
    events: usize,
    violated: usize,
    unknown: usize,
    /// Events after which more than one state is possible.
    ambiguous: usize,
    owed: usize,
    perhaps_owed: usize,
    with_values: usize,
    ended: [usize; 3],
    lost: usize,
    /// Logs with a goal that is lost after the first event.
    lost_later: usize,
    at_risk: usize,
    reached: usize,
}

/// What one comparison uses.
struct Case {
    model: LccModel,
    graph: Graph,
    goals: Vec<Goal>,
    facts: Vec<Phi>,
    observable: Vec<Pattern>,
    sources: masque_text::Sources,
    obligations: Vec<masque_lcc::tree::Obligation>,
    /// Whether states and results are discarded all the time.
    is_tight: bool,
}

/// Opens a protocol both ways; `None` if it has errors or too many states.
fn case(text: &str, patterns: &[&str], is_tight: bool) -> Option<Case> {
    let (mut sources, opened) = support::try_open(&[("random.lcc", text.to_string())])?;
    let graph = Graph::explore(Reference::new(&opened.trees), MAX_STATES)?;
    let (mut goals, mut facts) = (Vec::new(), Vec::new());
    for property in &opened.properties {
        let phi = &property.source.phi;
        match Goal::of(phi) {
            _ if property.source.name.text.starts_with("obligation_") => {}
            Some(goal) => goals.push(goal),
            None => facts.push(phi.clone()),
        }
    }
    let items = opened.trees.iter().flat_map(|tree| &tree.items);
    let obligations: Vec<_> = items
        .filter_map(|item| match item {
            Item::Obligation(obligation) => Some(obligation.clone()),
            _ => None,
        })
        .collect();
    let spans: Vec<Span> = patterns
        .iter()
        .map(|pattern| {
            let file = sources.add("observable", pattern.to_string()).unwrap();
            sources.span(file)
        })
        .collect();
    let observable = spans.iter().map(|span| parse_pattern(&sources, *span).0.unwrap()).collect();
    let given = if patterns == ["out(_)"] { &[][..] } else { &spans[..] };
    let cache = if is_tight { 0 } else { Bounds::default().cache };
    let model = LccModel::new(&sources, opened, given, Bounds { cache, ..Bounds::default() }).unwrap();
    Some(Case { model, graph, goals, facts, observable, sources, obligations, is_tight })
}

/// The text of values of variables, without the names of variables in them.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut is_name = false;
    for c in text.chars().filter(|c| *c != ' ') {
        let is_part = is_name && c.is_ascii_digit();
        is_name = c == '_' || is_part;
        if !is_part {
            plain.push(c);
        }
    }
    plain
}

/// The values of variables. One that may be any term is left out: the definition also shares variables that occur
/// only in a complement, which never gives them a value.
fn plain_bindings(bindings: &[(String, String)]) -> Vec<(String, String)> {
    let bindings = bindings.iter().map(|(name, value)| (name.clone(), plain(value)));
    bindings.filter(|(_, value)| value != "_").collect()
}

fn plain_instance((obligation, bindings, _): &Instance) -> (String, Vec<(String, String)>) {
    (format!("obligation_{}", obligation + 1), plain_bindings(bindings))
}

type PlainInstance = ((String, Vec<(String, String)>), InstanceStatus);

/// Instances with their statuses, sorted.
fn fast_instances(changes: &[InstanceChange], keep: &[InstanceStatus]) -> Vec<PlainInstance> {
    let mut found: Vec<PlainInstance> = changes
        .iter()
        .filter(|change| keep.contains(&change.status))
        .map(|InstanceChange { instance, status }| {
            ((instance.obligation.clone(), plain_bindings(&instance.bindings)), *status)
        })
        .collect();
    found.sort_by_key(|item| format!("{item:?}"));
    found
}

fn slow_instances(found: impl Iterator<Item = (Instance, InstanceStatus)>) -> Vec<PlainInstance> {
    let mut found: Vec<PlainInstance> =
        found.map(|(instance, status)| (plain_instance(&instance), status)).collect();
    found.sort_by_key(|item| format!("{item:?}"));
    found
}

fn word(status: &GoalStatus) -> &'static str {
    match status {
        GoalStatus::Reached => "reached",
        GoalStatus::Certain => "certain",
        GoalStatus::Possible => "possible",
        GoalStatus::AtRisk => "at risk",
        GoalStatus::Lost => "lost",
        GoalStatus::Unknown(_) => "unknown",
    }
}

fn truth(truth: &Truth) -> &'static str {
    match truth {
        Truth::Certain => "certain",
        Truth::Possible => "possible",
        Truth::Impossible => "impossible",
        Truth::Unknown(_) => "unknown",
    }
}

/// Says that two things differ.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, fast: T, slow: T) -> Result<(), String> {
    if fast == slow { Ok(()) } else { Err(format!("{what}: {fast:?}\nby definition: {slow:?}")) }
}

/// Follows a log with the monitor and with the definition. Returns the monitor; `None` if the definition has too many
/// runs.
fn compare(case: &mut Case, log: &[EventText], tally: &mut Tally) -> Result<Option<LccMonitor>, String> {
    let Case { model, graph, goals, facts, observable, sources, obligations, is_tight } = case;
    let duties: Vec<Duty<'_>> =
        obligations.iter().map(|obligation| Duty::new(obligation, sources).unwrap()).collect();
    let budget = Budget::unlimited();
    let mut monitor = model.open();
    let Some(mut slow) = Transcription::new(graph, goals, facts, &duties, observable) else {
        return Ok(None);
    };
    let mut last_words = compare_status(&mut monitor, &mut slow, tally).map_err(|e| format!("first {e}"))?;
    let first_words = last_words.clone();
    for (index, event) in log.iter().enumerate() {
        let observation = Observation::read(event.clone()).unwrap();
        // Calls that a limit ends change nothing. Where the cache is kept, it stays warm.
        let _ = monitor.preview(&observation, &Budget::unlimited().with_steps(index as u64 % 3));
        if *is_tight && monitor.observe(&observation, &Budget::unlimited().with_memory(1)).is_ok() {
            return Err("one byte suffices".to_string());
        }
        let preview = monitor.preview(&observation, &budget).unwrap();
        let judgement = monitor.observe(&observation, &budget).unwrap();
        let Some((verdict, ended)) = slow.observe(&EventPattern::read(event).unwrap()) else {
            return Ok(None);
        };
        let of = |what: String| format!("event {index}, {event:?}\n{what}");
        same("preview", &preview.judgement, &judgement).map_err(of)?;
        compare_event(&judgement, verdict, ended, tally).map_err(of)?;
        if let EventVerdict::Violated(violation) = &judgement.event {
            same("steps instead", !violation.instead.is_empty(), slow.can_go_on()).map_err(of)?;
        }
        let words = compare_status(&mut monitor, &mut slow, tally).map_err(of)?;
        if verdict != Verdict::Violated {
            same(
                "goals of the preview",
                preview.goals.iter().map(|g| word(&g.status)).collect(),
                words.clone(),
            )
            .map_err(of)?;
        }
        let changed: Vec<&str> = (0..words.len())
            .filter(|goal| words[*goal] != last_words[*goal])
            .map(|goal| words[goal])
            .collect();
        same("changed goals", judgement.goals.iter().map(|g| word(&g.status)).collect(), changed)
            .map_err(of)?;
        last_words = words;
        tally.events += 1;
    }
    tally.lost += usize::from(last_words.contains(&"lost"));
    let newly = |(last, first): (&&str, &&str)| *last == "lost" && *first != "lost";
    tally.lost_later += usize::from(last_words.iter().zip(&first_words).any(newly));
    tally.at_risk += usize::from(last_words.contains(&"at risk"));
    tally.reached += usize::from(last_words.contains(&"reached"));
    Ok(Some(monitor))
}

fn compare_event(
    judgement: &Judgement,
    verdict: Verdict,
    ended: Vec<(Instance, End)>,
    tally: &mut Tally,
) -> Result<(), String> {
    let fast = match judgement.event {
        EventVerdict::Possible => Verdict::Possible,
        EventVerdict::Violated(_) => Verdict::Violated,
        EventVerdict::Unknown(_) => Verdict::Unknown,
    };
    same("verdict", fast, verdict)?;
    tally.violated += usize::from(fast == Verdict::Violated);
    tally.unknown += usize::from(fast == Verdict::Unknown);
    let ends = [InstanceStatus::Met, InstanceStatus::Discharged, InstanceStatus::NeverDue];
    let slow = slow_instances(ended.into_iter().map(|(instance, end)| {
        tally.ended[end as usize] += 1;
        (instance, ends[end as usize])
    }));
    same("ended instances", fast_instances(&judgement.obligations, &ends), slow)
}

/// Compares possible states, goals, facts and obligations. Returns the statuses of goals.
fn compare_status(
    monitor: &mut LccMonitor,
    slow: &mut Transcription<'_>,
    tally: &mut Tally,
) -> Result<Vec<&'static str>, String> {
    let budget = Budget::unlimited();
    let status = monitor.status(&budget).unwrap();
    let states: Vec<String> = slow.states().into_iter().collect();
    tally.ambiguous += usize::from(states.len() > 1);
    same("number of states", status.n_states, states.len() as u64)?;
    same("states", monitor.states(&budget).unwrap(), states)?;
    let words: Vec<&str> = status.goals.iter().map(|goal| word(&goal.status)).collect();
    same("goals", words.clone(), slow.goal_statuses())?;
    same("facts", status.facts.iter().map(|fact| truth(&fact.truth)).collect(), slow.facts())?;
    same("unknown", status.unknown.is_some(), slow.is_cut)?;
    let owed = [InstanceStatus::Owed, InstanceStatus::PerhapsOwed];
    let by_definition = slow_instances(slow.owed().into_iter().map(|(instance, is_sure)| {
        (instance, if is_sure { InstanceStatus::Owed } else { InstanceStatus::PerhapsOwed })
    }));
    for ((_, values), status) in &by_definition {
        tally.owed += usize::from(*status == InstanceStatus::Owed);
        tally.perhaps_owed += usize::from(*status == InstanceStatus::PerhapsOwed);
        tally.with_values += usize::from(!values.is_empty());
    }
    same("obligations", fast_instances(&status.obligations, &owed), by_definition)?;
    Ok(words)
}

/// What is known after the log of a monitor.
fn known(monitor: &mut LccMonitor) -> (Status, Vec<String>) {
    let budget = Budget::unlimited();
    (monitor.status(&budget).unwrap(), monitor.states(&budget).unwrap())
}

/// Compares the logs of one seed.
fn run(seed: u64, text: &str, tally: &mut Tally) -> Option<Result<(), String>> {
    let mut rng = Rng::with_seed(seed);
    let patterns = random_logs::observable(&mut rng);
    let mut case = case(text, patterns, seed.is_multiple_of(3))?;
    let mut n_logs = 0;
    let mut others: Vec<(LccMonitor, Status, Vec<String>)> = Vec::new();
    for _ in 0..4 {
        let (log, is_changed) = random_logs::log(&mut rng, &case.graph, &case.observable);
        match compare(&mut case, &log, tally) {
            Ok(None) => {}
            Ok(Some(mut monitor)) => {
                n_logs += 1;
                tally.changed += usize::from(is_changed);
                let (status, states) = known(&mut monitor);
                others.push((monitor, status, states));
            }
            Err(difference) => return Some(Err(format!("{patterns:?}\n{log:#?}\n{difference}"))),
        }
    }
    for (monitor, status, states) in &mut others {
        let now = known(monitor);
        if let Err(difference) = same("after other sessions", &now, &(status.clone(), states.clone())) {
            return Some(Err(difference));
        }
    }
    tally.logs += n_logs;
    tally.protocols += usize::from(n_logs > 0);
    Some(Ok(()))
}

#[test]
fn monitors_do_what_the_definition_says() {
    let seeds = seeds("0..150");
    let mut tally = Tally::default();
    for seed in seeds.clone() {
        let text = protocol(seed);
        if let Some(Err(_)) = run(seed, &text, &mut tally) {
            let fails = |text: &str| matches!(run(seed, text, &mut Tally::default()), Some(Err(_)));
            let shrunk = random::shrink(&text, &fails);
            panic!(
                "seed {seed}\n{shrunk}\n{}",
                run(seed, &shrunk, &mut Tally::default()).unwrap().unwrap_err()
            );
        }
    }
    println!("{tally:#?}");
    let n = seeds.count();
    assert!(tally.logs >= n && tally.violated >= n / 8 && tally.ambiguous >= n, "{tally:?}");
    assert!(tally.lost_later >= n / 10 && tally.with_values >= n / 10, "{tally:?}");
}
