//! A session with nothing but the tools and resources: a two-phase commit is written and checked, a variant blocks, the
//! reason is found, and another variant is right. The calls are those of a real session, in their order.

use serde_json::{Value, json};

use super::client::{Client, file};

/// The first text that was accepted without an error, written with the cheat sheet.
const COMMIT: &str = r#"
// Two-phase commit. The coordinator asks both participants, and tells both what it decided.
a(coordinator, C) ::
  a(asking([p1, p2]), C) then
  a(counting([p1, p2], commit, Decision), C) then
  a(telling([p1, p2], Decision), C).

a(asking(Ps), C) ::
  null <- Ps = []
  or
  ( prepare => a(participant, P) <- Ps = [P|Rest] then a(asking(Rest), C) ).

a(counting(Ps, SoFar, Decision), C) ::
  null <- Ps = [] and Decision = SoFar
  or
  ( null <- Ps = [P|Rest] then
    ( (yes <= a(participant, P) then a(counting(Rest, SoFar, Decision), C))
      or
      (no <= a(participant, P) then a(counting(Rest, abort, Decision), C)) ) ).

a(telling(Ps, Decision), C) ::
  null <- Ps = []
  or
  ( Decision => a(participant, P) <- Ps = [P|Rest] then a(telling(Rest, Decision), C) ).

a(participant, P) ::
  prepare <= a(asking(_), C) then
  ( ( yes => a(counting(_, _, _), C) <- can_commit then
      ( commit <= a(telling(_, _), C) or abort <= a(telling(_, _), C) ) )
    or
    ( no => a(counting(_, _, _), C) <- not can_commit then abort <= a(telling(_, _), C) ) ).

agent a(coordinator, c).
agent a(participant, p1).
agent a(participant, p2).
choice p1: can_commit/0.
choice p2: can_commit/0.

property ends : AF final ;
property never_stuck : AG !deadlock ;
property can_commit : <-* . in(commit)@p1>tt && <-* . in(commit)@p2>tt ;
property can_abort : <-* . in(abort)@p1>tt ;
property agreement : [-* . in(commit)@p1 . -* . in(abort)@p2]ff && [-* . in(abort)@p1 . -* . in(commit)@p2]ff
  && [-* . in(commit)@p2 . -* . in(abort)@p1]ff && [-* . in(abort)@p2 . -* . in(commit)@p1]ff ;
property veto : [-* . out(no) . -* . in(commit)]ff ;
"#;

/// The call of a tool on the model.
fn call(client: &mut Client, tool: &str, text: &str, more: Value) -> super::client::Called {
    let mut arguments = json!({"files": [file("commit.lcc", text)]});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.call(tool, arguments)
}

#[test]
fn a_two_phase_commit_and_a_variant_that_blocks() {
    let mut client = Client::new();
    // 1. Read how models are written.
    let sheet = client.request("resources/read", json!({"uri": "masque://docs/cheat-sheet"}));
    assert!(sheet["result"]["contents"][0]["text"].as_str().unwrap().contains("## LCC"), "{sheet}");

    // 2. Write the protocol, and check it.
    let checked = call(&mut client, "check", COMMIT, json!({}));
    assert!(!checked.is_error, "{}", checked.text);
    assert!(checked.verdicts().iter().all(|line| line.ends_with(": holds")), "{}", checked.text);

    // 3. A variant: a participant that votes no is done, because it knows that the decision will be abort.
    let hasty =
        COMMIT.replace(" <- not can_commit then abort <= a(telling(_, _), C) ) )", " <- not can_commit ) )");
    assert_ne!(hasty, COMMIT);
    let checked = call(&mut client, "check", &hasty, json!({}));
    let failing: Vec<String> =
        checked.verdicts().into_iter().filter(|line| line.ends_with(": fails")).collect();
    assert_eq!(failing, ["ends: fails", "never_stuck: fails"], "{}", checked.text);
    // The answer names the message that is stuck.
    let stuck = "stuck: no agent takes a(telling([p1,p2],abort),c) -> a(participant,p1) : abort";
    assert!(checked.text.contains(stuck), "{}", checked.text);

    // 4. Ask for the evidence of that property alone, and walk along it: who could still act?
    let why = call(&mut client, "why", &hasty, json!({"only": ["never_stuck"]}));
    let events = &why.data["report"]["run"]["properties"][0]["evidence"]["events"];
    let steps: Vec<Value> = events.as_array().unwrap().iter().map(|event| event["label"].clone()).collect();
    let walk = call(&mut client, "simulate", &hasty, json!({"steps": steps[..steps.len() - 2]}));
    // Both participants have left before the coordinator tells them.
    assert_eq!(
        (&walk.data["state"]["p1"], &walk.data["state"]["p2"]),
        (&json!("nil"), &json!("nil")),
        "{}",
        walk.text
    );
    assert_eq!(walk.data["choices"].as_array().unwrap().len(), 1, "{}", walk.text);
    let walk = call(&mut client, "simulate", &hasty, json!({"steps": steps}));
    assert_eq!((&walk.data["choices"], walk.is_error), (&json!([]), false), "{}", walk.text);
    assert!(walk.text.contains("No step is possible here."), "{}", walk.text);

    // 5. So the coordinator must tell only those who voted yes.
    let repaired = hasty
        .replace("counting([p1, p2], commit, Decision)", "counting([p1, p2], commit, [], Decision, Waiting)")
        .replace("a(telling([p1, p2], Decision), C)", "a(telling(Waiting, Decision), C)")
        .replace("a(counting(Ps, SoFar, Decision), C)", "a(counting(Ps, SoFar, Ready, Decision, Waiting), C)")
        .replace("Decision = SoFar", "Decision = SoFar and Waiting = Ready")
        .replace("counting(Rest, SoFar, Decision)", "counting(Rest, SoFar, [P|Ready], Decision, Waiting)")
        .replace("counting(Rest, abort, Decision)", "counting(Rest, abort, Ready, Decision, Waiting)")
        .replace("counting(_, _, _)", "counting(_, _, _, _, _)");
    let checked = call(&mut client, "check", &repaired, json!({}));
    assert!(checked.verdicts().iter().all(|line| line.ends_with(": holds")), "{}", checked.text);

    // 6. The trace of the blocking variant is no run of the repaired one.
    let trace = json!({"schema": "masque.check/1", "runs": [why.data["report"]["run"]]});
    let replayed = call(&mut client, "replay", &repaired, json!({"trace": trace}));
    assert_eq!(replayed.data["runs"][0]["verdict"], "leaves", "{}", replayed.text);

    // 7. The layout of the result.
    let formatted = call(&mut client, "fmt", &repaired, json!({}));
    let text = formatted.data["files"][0]["text"].as_str().unwrap();
    let checked = call(&mut client, "check", text, json!({}));
    assert!(!checked.is_error && checked.verdicts().len() == 6, "{}", checked.text);
    client.end();
}
