//! Logs of the team of language-model agents (`models/lcc/llm_team.lcc`).

use masque_monitor::lcc::{Bounds, LccModel, Observation};
use masque_monitor::{EventVerdict, GoalStatus, InstanceStatus, Judgement, Monitor, Truth, Violation};
use masque_verdict::Budget;

use super::support::{gallery_text, message, model_within, step};

/// The team, and the goal that the planner hears that the task is done.
fn team() -> LccModel {
    let text = gallery_text("llm_team.lcc");
    let goal = "told : <-* . out(done(_))>tt ;".to_string();
    let observable = ["out(_)", "#(merge(_))", "#(run(_))", "#(log(_))"];
    model_within(&[("llm_team.lcc", text), ("goal.mu", goal)], &observable, Bounds::default())
}

fn task() -> Observation {
    message("pat", "cody", "task(fix_login)")
}

fn patch() -> Observation {
    message("cody", "rex", "patch(fix_login, pat)")
}

/// Follows a log, which must be possible.
fn follow(log: &[Observation]) -> (masque_monitor::lcc::LccMonitor, Vec<Judgement>) {
    let mut monitor = team().open();
    let budget = Budget::unlimited();
    let judgements: Vec<Judgement> =
        log.iter().map(|observation| monitor.observe(observation, &budget).unwrap()).collect();
    assert!(judgements.iter().all(|judgement| judgement.event == EventVerdict::Possible), "{judgements:?}");
    (monitor, judgements)
}

/// The changes of goals and obligations of a judgement.
fn changes(judgement: &Judgement) -> Vec<String> {
    let goals = judgement.goals.iter().map(|change| format!("{}: {:?}", change.goal, change.status));
    let instances =
        judgement.obligations.iter().map(|change| format!("{}: {:?}", change.instance.owes, change.status));
    goals.chain(instances).collect()
}

/// Why an observation is impossible after a log.
fn violation(log: &[Observation], last: &Observation) -> Violation {
    let (mut monitor, _) = follow(log);
    let before = monitor.status(&Budget::unlimited()).unwrap();
    let judgement = monitor.observe(last, &Budget::unlimited()).unwrap();
    assert_eq!(monitor.status(&Budget::unlimited()).unwrap(), before, "a violation changes nothing");
    match judgement.event {
        EventVerdict::Violated(violation) => violation,
        event => panic!("{event:?}"),
    }
}

#[test]
fn a_good_log() {
    let log = [
        task(),
        step("cody", "run(tests)"),
        patch(),
        step("rex", "merge(main)"),
        step("rex", "log(merge)"),
        message("rex", "cody", "merged"),
        message("rex", "pat", "done(fix_login)"),
    ];
    let (mut monitor, judgements) = follow(&log);
    let changes: Vec<Vec<String>> = judgements.iter().map(changes).collect();
    let nothing: Vec<String> = Vec::new();
    assert_eq!(changes[..3], [nothing.clone(), nothing.clone(), nothing.clone()]);
    assert_eq!(changes[3], ["ends: Certain", "rex owes log(merge): Owed"]);
    assert_eq!(changes[4], ["rex owes log(merge): Met"]);
    assert_eq!(changes[5..], [nothing, vec!["told: Reached".to_string()]]);
    let closing = monitor.close(&Budget::unlimited()).unwrap();
    assert_eq!((closing.open, closing.perhaps_open, closing.unknown), (vec![], vec![], None));
    assert!(!monitor.is_over(&Budget::unlimited()).unwrap(), "messages may be under way");
}

#[test]
fn a_merge_without_review_is_a_violation_and_names_the_rule() {
    let found = violation(&[task()], &step("cody", "merge(main)"));
    assert_eq!(found.instead, ["cody: run(tests)"]);
    assert_eq!(
        found.because[0].text,
        "cody could not merge(main): rule 4 of ops requires in_charge(cody, review)"
    );
    let rule = found.because[0].rules[0];
    let text = gallery_text("llm_team.lcc");
    let written = &text[rule.start as usize..rule.end as usize];
    assert!(written.contains("+merge(main)"), "{written}");
    // The coder may run tools, but not this one.
    let found = violation(&[task()], &step("cody", "run(deploy)"));
    assert_eq!(found.because.len(), 1, "{found:?}");
    assert_eq!(
        found.because[0].text,
        "cody could not run(deploy): rule 1 of ops requires tool(deploy, sandbox); \
         rule 2 of ops requires tool(deploy, network)"
    );
    assert_eq!(found.because[0].rules.len(), 2);
    // The reviewer is not there yet.
    let found = violation(&[task()], &step("rex", "merge(main)"));
    assert_eq!(found.because[0].text, "rex waits for patch(_, _) from a(solving(_, _), _)");
    assert!(found.because[0].rules.is_empty());
}

/// A log about other agents or messages is probably a mistake of the map.
#[test]
fn unknown_names_are_reported() {
    let found = violation(&[task()], &message("'Pat'", "cody", "taks(fix_login)"));
    let texts: Vec<&str> = found.because.iter().map(|reason| reason.text.as_str()).collect();
    let stranger = "no member of the team is called `Pat`: did you mean `pat`?";
    assert_eq!(texts, ["no agent sends a message `taks/1`: did you mean `task`?", stranger]);
}

#[test]
fn a_task_that_is_given_up_cannot_be_done() {
    let log = [
        task(),
        step("cody", "run(tests)"),
        patch(),
        message("rex", "cody", "changes"),
        message("cody", "pat", "given_up(fix_login)"),
    ];
    let (_, judgements) = follow(&log);
    assert_eq!(changes(&judgements[4]), ["ends: Certain", "told: Lost"]);
}

#[test]
fn an_obligation_that_is_not_met_is_open() {
    let (mut monitor, judgements) =
        follow(&[task(), step("cody", "run(tests)"), patch(), step("rex", "merge(main)")]);
    assert_eq!(judgements[3].obligations[0].status, InstanceStatus::Owed);
    let closing = monitor.close(&Budget::unlimited()).unwrap();
    assert_eq!(closing.open[0].owes, "rex owes log(merge)");
}

/// `may`: a step that is not taken changes nothing, and the reply says which goals would remain.
#[test]
fn a_preview_tells_what_would_remain_possible() {
    let (mut monitor, _) = follow(&[task(), step("cody", "run(tests)"), patch()]);
    let budget = Budget::unlimited();
    let before = monitor.status(&budget).unwrap();
    let changes = message("rex", "cody", "changes");
    let preview = monitor.preview(&changes, &budget).unwrap();
    assert_eq!(preview.judgement.event, EventVerdict::Possible);
    let told = preview.goals.iter().find(|goal| goal.goal == "told").unwrap();
    assert_eq!(told.status, GoalStatus::Certain, "the coder may try again");
    assert_eq!(monitor.status(&budget).unwrap(), before);
    let refused = monitor.preview(&message("rex", "cody", "merged"), &budget).unwrap();
    assert!(matches!(refused.judgement.event, EventVerdict::Violated(_)) && refused.goals.is_empty());
    // The facts are about now.
    let fact = |name: &str| before.facts.iter().find(|fact| fact.property == name).unwrap().truth.clone();
    assert_eq!(fact("deadlock_free"), Truth::Certain);
    assert_eq!(fact("reviewed"), Truth::Possible, "the reviewer may not have taken the patch yet");
}
