//! Evidence of every kind: both engines give the same, and replay refuses it after any change that makes it
//! wrong.

use std::time::{Duration, Instant};

use masque_evidence::MAX_REASONS;
use masque_explicit::Explicit;
use masque_model::semantics::explore;
use masque_model::{AgentId, Deadlock, System};
use masque_replay::replay;
use masque_symbolic::Symbolic;
use masque_testkit::{Reference, load, random_model};
use masque_verdict::{
    Because, Budget, Engine, Evidence, EvidencePath, NotShownReason, Outcome, ReasonId, Show, StateId,
    Verdict,
};

/// Loads a text, which must be valid.
#[track_caller]
fn system(text: &str, deadlock: Deadlock) -> System {
    load(text, deadlock).unwrap_or_else(|| panic!("not valid:\n{text}"))
}

/// Returns the outcomes of all properties, which must be the same for both engines and replay.
#[track_caller]
fn outcomes(system: &System) -> Vec<Outcome> {
    let budget = Budget::unlimited();
    let explicit = Explicit { evidence: Show::All, jobs: None };
    let symbolic = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let mut explicit = explicit.encode(system, &budget).unwrap();
    let mut symbolic = symbolic.encode(system, &budget).unwrap();
    let decide = |property| {
        let outcome = explicit.decide(property, &budget);
        assert!(outcome == symbolic.decide(property, &budget), "property {}", property.name);
        if let Some(evidence) = &outcome.evidence {
            let replayed = replay(system, property, outcome.verdict == Verdict::Holds, evidence);
            assert!(replayed.is_ok(), "property {}: {replayed:?}", property.name);
        }
        outcome
    };
    system.properties.iter().map(decide).collect()
}

/// A walker that counts up or goes back to 0, a watcher that sees whether it ever went back, and a
/// sleeper that sees nothing. At 4 there is a deadlock. The watcher is red once the walker has gone back.
fn walk(fairness: &str, formulas: &str) -> String {
    format!(
        "Agent Walker
           Vars: x : 0..4; end Vars
           Actions = {{up, back}};
           Protocol: x < 3 : {{up, back}}; x = 3 : {{up}}; end Protocol
           Evolution: x = x + 1 if Action = up; x = 0 if Action = back; end Evolution
         end Agent
         Agent Watcher
           Vars: went : boolean; end Vars
           RedStates: went; end RedStates
           Actions = {{look}};
           Protocol: Other : {{look}}; end Protocol
           Evolution: went = true if Walker.Action = back; end Evolution
         end Agent
         Agent Sleeper
           Vars: bed : boolean; end Vars
           Actions = {{sleep}};
           Protocol: Other : {{sleep}}; end Protocol
           Evolution: bed = true if bed; end Evolution
         end Agent
         Evaluation
           zero if Walker.x = 0; two if Walker.x = 2; four if Walker.x = 4; went if Watcher.went;
         end Evaluation
         InitStates Walker.x = 0 and !Watcher.went and !Sleeper.bed; end InitStates
         Groups all = {{Walker, Watcher, Sleeper}}; blind = {{Watcher, Sleeper}}; end Groups
         {fairness}
         Formulae {formulas} end Formulae"
    )
}

/// Formats a trace: the walker's numbers, with `*` if it has ever gone back, then the start of the loop.
fn trace_text(evidence: &Evidence, run: &EvidencePath) -> String {
    let state = |id| {
        let state = evidence.state(id);
        format!("{}{}", state[0], if state[1] == 1 { "*" } else { "" })
    };
    let states: Vec<String> = run.states.iter().map(|&id| state(id)).collect();
    let back = run.back_to.map_or(String::new(), |index| format!(" ({index}..)"));
    states.join(" ") + &back
}

/// Formats all reasons in order, except those that follow from a single state.
fn text(system: &System, evidence: &Evidence) -> String {
    let mut parts = Vec::new();
    if evidence.start.states.len() > 1 {
        parts.push(format!("start {}", trace_text(evidence, &evidence.start)));
    }
    let names = |agents: &[AgentId]| {
        agents.iter().map(|&i| system.agent(i).name.as_str()).collect::<Vec<_>>().join("+")
    };
    for reason in &evidence.reasons {
        let part = match &reason.because {
            Because::Here | Because::Operands(_) => continue,
            Because::DeadEnd(list) => format!("dead end with {}", list.len()),
            Because::Path(showing) => trace_text(evidence, &showing.run),
            Because::Possible(other) => {
                let path = other.path.as_ref().map_or("here".to_string(), |path| trace_text(evidence, path));
                let green = names(&other.green);
                let green = if green.is_empty() { String::new() } else { format!(" green {green}") };
                format!("~{}{green}: {path}", names(&other.view))
            }
            Because::Chain(chain) => {
                let link = |l: &masque_verdict::Link| {
                    format!("~{}: {}", system.agent(l.agent).name, trace_text(evidence, &l.path))
                };
                format!("chain [{}]", chain.links.iter().map(link).collect::<Vec<_>>().join("; "))
            }
            Because::NotShown(missing) => format!("{missing:?}"),
            other => format!("{other:?}"),
        };
        parts.push(part);
    }
    parts.join(", ")
}

#[rustfmt::skip]
#[test]
fn every_kind() {
    let check_with = |deadlock: Deadlock, fairness: &str, formula: &str, verdict: &str, expected: &str| {
        let system = system(&walk(fairness, &format!("{formula};")), deadlock);
        let outcome = outcomes(&system).remove(0);
        let shown = outcome.evidence.as_ref().map_or("nothing".to_string(), |e| text(&system, e));
        assert_eq!((outcome.verdict.word(), &shown[..]), (verdict, expected), "{formula}");
    };
    let check = |formula: &str, verdict: &str, expected: &str| check_with(Deadlock::Finite, "", formula, verdict, expected);
    //    formula                       verdict  evidence
    check("!zero",                      "fails", "");
    check("zero",                       "holds", "nothing");
    // Finite traces.
    check("AG !two",                    "fails", "0 1 2");
    check("EF two",                     "holds", "0 1 2");
    check("AX zero",                    "fails", "0 1");
    check("EX went",                    "holds", "0 0*");
    check("E(!two U went)",             "holds", "0 0*");
    check("A(zero W two)",              "fails", "0 1");
    check("A(two R !went)",             "fails", "0 0*");
    check("E(two R !four)",             "holds", "0 1 2");
    // Infinite traces.
    check("AF two",                     "fails", "0 0* (1..)");
    check("EG !two",                    "holds", "0 0* (1..)");
    check("E(!two W four)",             "holds", "0 0* (1..)");
    check("A(!two U four)",             "fails", "0 1 2");
    check("A(!four U four)",            "fails", "0 0* (1..)");
    // Claims about all paths are not shown, unless they are true at once or there is no path.
    check("EF(four and two)",           "fails", "AllPaths");
    check("AG !(four and two)",         "holds", "nothing");
    check("AF zero and EX zero",        "holds", "0 0*");
    check("EX four or AF zero",         "holds", "nothing");
    check("EF(four and AX false)",      "holds", "0 1 2 3 4, dead end with 0");
    check("EF(four and !EG four)",      "holds", "0 1 2 3 4, dead end with 0");
    check("EF(four and !EF zero)",      "holds", "0 1 2 3 4, dead end with 1");
    check("EF(four and AF two)",        "holds", "0 1 2 3 4, dead end with 0");
    check("AG EF two",                  "fails", "0 1 2 3, AllPaths");
    // Branching.
    check("EF(two and EX zero)",        "holds", "0 1 2, 2 0*");
    check("EG EX two",                  "fails", "AllPaths");
    check("EG EF two",                  "holds", "0 0* (1..), 0 1 2, 0* 1* 2*");
    // Knowledge.
    check("K(Walker, went)",            "fails", "~Walker: here");
    check("AG(two -> K(Watcher, two))", "fails", "0 1 2, ~Watcher: 0");
    check("AG(went -> K(Walker, went))","fails", "0 0*, ~Walker: 0");
    check("!K(Sleeper, zero)",          "holds", "~Sleeper: 0 1");
    check("AG K(Walker, zero or !zero)","holds", "nothing");
    check("GK(all, zero)",              "fails", "~Watcher: 0 1");
    check("DK(blind, zero)",            "fails", "~Watcher+Sleeper: 0 1");
    check("GCK(all, !four)",            "fails", "chain [~Watcher: 0 1 2 3 4]");
    check("GCK(Watcher, !went)",        "holds", "nothing");
    check("K(Sleeper, EF two)",         "fails", "~Sleeper: 0 1 2 3, AllPaths");
    check("K(Watcher, K(Walker, zero))","fails", "~Watcher: 0 1, ~Walker: here");
    // Norms.
    check("O(Watcher, zero)",           "fails", "~ green Watcher: 0 1");
    check("O(Watcher, !went)",          "holds", "nothing");
    check("KH(Sleeper, Watcher, zero)", "fails", "~Sleeper green Watcher: 0 1");
    // With fairness: the loop meets the constraints, and deadlocks are outside the domain.
    let fair = |formula: &str, verdict: &str, expected: &str| {
        check_with(Deadlock::Finite, "Fairness two; zero; end Fairness", formula, verdict, expected);
    };
    fair("AF four",                     "fails", "0 0* 1* 2* (1..)");
    fair("EG !four",                    "holds", "0 0* 1* 2* (1..)");
    fair("EG went",                     "fails", "");
    fair("AX two",                      "fails", "0 0*");
    fair("K(Sleeper, !two)",            "fails", "~Sleeper: 0 1 2");
    // A deadlock state with a self-loop.
    check_with(Deadlock::Stutter, "", "AG AF two", "fails", "0, 0 0* (1..)");
    check_with(Deadlock::Stutter, "", "EF EG four", "holds", "0 1 2 3 4, 4 (0..)");
}

/// `n` is a constant in 0..4. Agent `A<i>` sees it, but cannot distinguish `i` from `i - 1`.
#[test]
fn a_chain_of_four_agents() {
    let agent = |i: usize| {
        format!(
            "Agent A{i} Vars: v : 0..4; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
             Evolution: v = v if true; end Evolution end Agent\n"
        )
    };
    let sees = |i: usize| {
        format!(
            "(Environment.n <> {i} and A{i}.v = Environment.n or Environment.n = {i} and A{i}.v = {i} - 1)"
        )
    };
    let text = format!(
        "Agent Environment Vars: n : 0..4; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
         Evolution: n = n if true; end Evolution end Agent
         {} Evaluation four if Environment.n = 4; end Evaluation
         InitStates {}; end InitStates
         Groups g = {{A4, A2, A3, A1}}; end Groups
         Formulae GCK(g, !four); four or GCK({{A1, A2, A3}}, !four); end Formulae",
        (1..=4).map(agent).collect::<String>(),
        (1..=4).map(sees).collect::<Vec<_>>().join(" and "),
    );
    let system = system(&text, Deadlock::Finite);
    let outcomes = outcomes(&system);
    let Some(Evidence { states, reasons, .. }) = &outcomes[0].evidence else { panic!("no evidence") };
    let Because::Chain(chain) = &reasons[0].because else { panic!("no chain") };
    let links: Vec<(&str, i64)> = chain
        .links
        .iter()
        .map(|link| (system.agent(link.agent).name.as_str(), states[link.state.index()][0]))
        .collect();
    assert_eq!(links, [("A1", 1), ("A2", 2), ("A3", 3), ("A4", 4)]);
    assert_eq!(outcomes[1].verdict, Verdict::Holds, "only A4 confuses 4 with 3");
}

/// Traces of ten thousand steps: a finite one, one with a claim at every state, and one before a loop.
#[test]
fn long_traces() {
    const LAST: usize = 10_000;
    let text = format!(
        "Agent A
           Vars: x : 0..{LAST}; end Vars
           Actions = {{a}};
           Protocol: Other : {{a}}; end Protocol
           Evolution: x = x + 1 if x < {LAST}; end Evolution
         end Agent
         Evaluation last if A.x = {LAST}; end Evaluation
         InitStates A.x = 0; end InitStates
         Formulae AG !last; E(!last U last); AF false; AG(last -> !EG last); end Formulae"
    );
    let system = system(&text, Deadlock::Finite);
    let start = Instant::now();
    let outcomes = outcomes(&system);
    let lengths: Vec<usize> = outcomes
        .iter()
        .map(|outcome| match &outcome.evidence.as_ref().expect("evidence").reasons[0].because {
            Because::Path(showing) => showing.run.states.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lengths, [LAST + 1; 4]);
    let evidence = outcomes[1].evidence.as_ref().expect("evidence");
    assert_eq!(evidence.reasons.len(), LAST + 2);
    assert!(start.elapsed() < Duration::from_secs(100), "{:?}", start.elapsed());
}

/// If many claims need a trace each, only [`MAX_REASONS`] are shown; the others are marked as not shown.
#[test]
fn the_number_of_reasons_is_limited() {
    let text = "
        Agent A
          Vars: x : 0..300; end Vars
          Actions = {a};
          Protocol: Other : {a}; end Protocol
          Evolution: x = x + 1 if x < 300; end Evolution
        end Agent
        Evaluation last if A.x = 300; end Evaluation
        InitStates A.x = 0; end InitStates
        Formulae E(EX true U last); E(AX true U last and EX last); end Formulae";
    let system = system(text, Deadlock::Finite);
    let count = |outcome: &Outcome, missing: NotShownReason| {
        let evidence = outcome.evidence.as_ref().expect("evidence");
        evidence.not_shown().filter(|(_, why)| *why == missing).count()
    };
    let outcomes = outcomes(&system);
    assert_eq!(count(&outcomes[0], NotShownReason::TooMuch), 301 - MAX_REASONS);
    assert_eq!(count(&outcomes[1], NotShownReason::AllPaths), 300);
    assert_eq!(count(&outcomes[1], NotShownReason::TooMuch), 0, "the end of a trace is explained first");
}

/// Returns the traces of a reason.
fn traces(because: &mut Because) -> Vec<&mut EvidencePath> {
    match because {
        Because::Path(showing) => vec![&mut showing.run],
        Because::Possible(other) => other.path.iter_mut().collect(),
        Because::Chain(chain) => chain.links.iter_mut().map(|link| &mut link.path).collect(),
        _ => Vec::new(),
    }
}

/// Returns all versions of the evidence with one change that makes it wrong, each with a description.
fn altered(system: &System, evidence: &Evidence) -> Vec<(String, Evidence)> {
    let mut all = Vec::new();
    let mut alter = |what: String, change: &dyn Fn(&mut Evidence)| {
        let mut copy = evidence.clone();
        change(&mut copy);
        if copy != *evidence {
            all.push((what, copy));
        }
    };
    let n_states = evidence.states.len() as u32;
    alter("no reason".to_string(), &|e| e.reasons.clear());
    alter("an unused reason".to_string(), &|e| e.reasons.push(e.reasons[0].clone()));
    alter("a state too short".to_string(), &|e| _ = e.states[0].pop());
    alter("a value outside".to_string(), &|e| e.states[0][0] = 77);
    alter("an empty start".to_string(), &|e| e.start.states.clear());
    for (k, reason) in evidence.reasons.iter().enumerate() {
        let at = |what: &str| format!("{what} at reason {k}");
        alter(at("truth"), &|e| e.reasons[k].holds ^= true);
        alter(at("state"), &|e| e.reasons[k].state.0 = (e.reasons[k].state.0 + 1) % n_states);
        alter(at("no state"), &|e| e.reasons[k].state = StateId(n_states));
        let mut set =
            |what: &str, because: Because| alter(at(what), &|e| e.reasons[k].because = because.clone());
        match &reason.because {
            Because::Here => set("not shown", Because::NotShown(NotShownReason::TooMuch)),
            Because::NotShown(missing) => {
                set("here", Because::Here);
                set("dead end", Because::DeadEnd(vec![]));
                set("operands", Because::Operands(vec![]));
                let other = if *missing == NotShownReason::AllPaths {
                    NotShownReason::AllStates
                } else {
                    NotShownReason::AllPaths
                };
                set("missing", Because::NotShown(other));
            }
            Because::Operands(list) | Because::DeadEnd(list) => {
                set("here", Because::Here);
                for i in 0..list.len() {
                    let mut fewer = list.clone();
                    fewer.remove(i);
                    set("an operand missing", Because::Operands(fewer));
                }
                if matches!(reason.because, Because::Operands(_)) {
                    set("dead end", Because::DeadEnd(list.clone()));
                }
            }
            Because::Path(showing) => {
                let mut change = |what: &str, change: &dyn Fn(&mut masque_verdict::PathReason)| {
                    let mut showing = showing.clone();
                    change(&mut showing);
                    set(what, Because::Path(showing));
                };
                change("a claim missing", &|s| _ = s.claims.pop());
                change("a claim moved", &|s| s.claims[0].0 += 1);
                change("itself", &|s| s.claims[0].1 = ReasonId(k as u32));
                change("loop", &|s| s.run.back_to = s.run.back_to.is_none().then_some(0));
                change("unfair", &|s| s.fair.push(0));
                if showing.run.back_to.is_some_and(|index| index > 0) {
                    change("met before the loop", &|s| s.fair.iter_mut().for_each(|index| *index = 0));
                }
                change("a step missing", &|s| {
                    s.run.states.pop();
                    s.run.actions.pop();
                });
            }
            Because::Possible(other) => {
                let mut change = |what: &str, change: &dyn Fn(&mut masque_verdict::Possibility)| {
                    let mut other = other.clone();
                    change(&mut other);
                    set(what, Because::Possible(other));
                };
                change("view of no agent", &|p| p.view.clear());
                change("view of all agents", &|p| p.view = system.agent_ids().collect());
                change("no agent green", &|p| p.green.clear());
                change("green", &|p| p.green.push(AgentId(0)));
                change("elsewhere", &|p| p.state.0 = (p.state.0 + 1) % n_states);
                change("no path", &|p| p.path = None);
            }
            Because::Chain(chain) => {
                for i in 0..chain.links.len() {
                    let mut fewer = chain.clone();
                    fewer.links.remove(i);
                    set("a link missing", Because::Chain(fewer));
                    let mut other = chain.clone();
                    // The walker sees where it is.
                    other.links[i].agent = AgentId(0);
                    set("another agent", Because::Chain(other));
                    let mut other = chain.clone();
                    other.links[i].state.0 = (other.links[i].state.0 + 1) % n_states;
                    set("another state", Because::Chain(other));
                }
            }
            _ => {}
        }
        let n_traces = traces(&mut reason.because.clone()).len();
        for i in 0..n_traces {
            let mut in_trace = |what: &str, change: &dyn Fn(&mut EvidencePath)| {
                alter(at(what), &|e| change(traces(&mut e.reasons[k].because)[i]));
            };
            in_trace("no action", &|run| {
                run.actions.iter_mut().take(1).for_each(|action| {
                    *action = action.is_none().then(|| vec![masque_model::ActionId(0); system.agents.len()]);
                })
            });
            in_trace("no state", &|run| run.states.clear());
            in_trace("an extra action", &|run| run.actions.push(None));
            in_trace("begins elsewhere", &|run| run.states[0].0 = (run.states[0].0 + 1) % n_states);
        }
    }
    all
}

#[test]
fn altered_evidence_is_refused() {
    let formulas = "
        AG !two; EF(two and EX zero); AF two; EG EF two; EF(four and AX false); EF(four and !EF zero);
        AG EF two; AG(two -> K(Watcher, two)); GK(all, zero); DK(blind, zero); GCK(blind, !four);
        O(Watcher, zero); KH(Sleeper, Watcher, zero); K(Sleeper, EF two); A(two U four); !EX two;
        (zero <-> EF two) and !(zero <-> AG two); K(Watcher, K(Sleeper, zero));";
    let mut n_altered = 0;
    let mut kinds = std::collections::HashSet::new();
    let variants = [
        (Deadlock::Finite, ""),
        (Deadlock::Stutter, ""),
        (Deadlock::Finite, "Fairness two; zero; end Fairness"),
    ];
    for (deadlock, fairness) in variants {
        let system = system(&walk(fairness, formulas), deadlock);
        for (property, outcome) in system.properties.iter().zip(outcomes(&system)) {
            let Some(evidence) = &outcome.evidence else { continue };
            kinds.extend(evidence.reasons.iter().map(|reason| std::mem::discriminant(&reason.because)));
            let holds = outcome.verdict == Verdict::Holds;
            assert!(replay(&system, property, !holds, evidence).is_err(), "the other verdict");
            for (what, altered) in altered(&system, evidence) {
                let replayed = replay(&system, property, holds, &altered);
                let formula = system.formula_text(property.formula);
                assert!(replayed.is_err(), "{deadlock:?} {fairness} {formula}: {what}: {altered:?}");
                n_altered += 1;
            }
        }
    }
    assert!(n_altered > 1200 && kinds.len() == 7, "{n_altered}, {} kinds", kinds.len());
}

/// If replay confirms randomly changed evidence without trusting any claim, its claims are true.
#[test]
fn what_replay_confirms_is_true() {
    let mut dice = fastrand::Rng::with_seed(7);
    let (mut n_tried, mut n_confirmed) = (0, 0);
    for seed in 0..150 {
        let system = system(&random_model(seed), Deadlock::Finite);
        let Some(structure) = explore(&system, 300).filter(|s| s.n_states() > 0) else { continue };
        let mut reference = Reference::new(&structure, &system);
        for (property, outcome) in system.properties.iter().zip(outcomes(&system)) {
            let Some(evidence) = &outcome.evidence else { continue };
            for _ in 0..20 {
                let mut changed = evidence.clone();
                change(&system, &mut changed, &mut dice);
                n_tried += 1;
                let holds = changed.reasons[0].holds;
                let Ok(trusted) = replay(&system, property, holds, &changed) else { continue };
                if trusted.is_empty() && changed != *evidence {
                    n_confirmed += 1;
                    let verdict = Verdict::from(holds);
                    reference.check(property, verdict, Some(&changed)).unwrap_or_else(|error| {
                        panic!("seed {seed}: {error}: {changed:?}\n{}", random_model(seed))
                    });
                }
            }
        }
    }
    assert!(n_tried > 3000 && n_confirmed > 50, "{n_tried} {n_confirmed}");
}

/// Changes one part of the evidence at random.
fn change(system: &System, evidence: &mut Evidence, dice: &mut fastrand::Rng) {
    let n_states = evidence.states.len();
    let n_reasons = evidence.reasons.len();
    let reason = dice.usize(0..n_reasons);
    match dice.u8(0..7) {
        0 => evidence.reasons[reason].holds ^= true,
        1 => evidence.reasons[reason].state = StateId(dice.u32(0..n_states as u32)),
        2 => {
            let (state, variable) = (dice.usize(0..n_states), dice.usize(0..system.variables.len()));
            let domain = &system.variables[variable].domain;
            evidence.states[state][variable] = domain.value(dice.u64(0..domain.size() as u64));
        }
        3 => {
            let other = dice.usize(0..n_reasons);
            let because = evidence.reasons[other].because.clone();
            evidence.reasons[reason].because = because;
        }
        kind => {
            let mut traces = traces(&mut evidence.reasons[reason].because);
            if let Some(run) = traces.first_mut() {
                let index = dice.usize(0..run.states.len());
                match kind {
                    4 => run.states[index] = StateId(dice.u32(0..n_states as u32)),
                    5 => run.back_to = run.back_to.map(|_| index),
                    _ => {
                        if let Some(Some(joint)) = run.actions.get_mut(index) {
                            let agent = dice.usize(0..joint.len());
                            joint[agent].0 = dice.u32(0..system.agents[agent].actions.len() as u32);
                        }
                    }
                }
            }
        }
    }
}
