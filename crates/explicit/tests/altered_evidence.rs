//! Replay refuses strategies, opponents' answers, unfolded fixpoints, steps and traces of path formulas
//! after any change that makes them wrong.

use masque_explicit::Explicit;
use masque_model::{ActionId, System};
use masque_replay::{Fault, ReplayError, replay};
use masque_testkit::system;
use masque_verdict::{
    Because, Budget, DecidedBy, Engine, Evidence, GroupStrategy, NotShownReason, PathReason, ReasonId,
    Responses, Show, StateId, Unfolding,
};

/// A thief enters a house by the door that the guard does not watch. Whether he has tried is not
/// observable.
fn house_with(questions: &str) -> System {
    system(&format!(
        "Agent Environment
           Obsvars: inside : boolean; end Obsvars
           Vars: tried : boolean; end Vars
           Actions = {{none}};
           Protocol: Other : {{none}}; end Protocol
           Evolution:
             inside = true and tried = true if Thief.Action = left and Guard.Action = right;
             inside = true and tried = true if Thief.Action = right and Guard.Action = left;
             tried = true if Thief.Action = left and Guard.Action = left;
           end Evolution
         end Agent
         Agent Guard
           Vars: end Vars
           Actions = {{left, right}};
           Protocol: Other : {{left, right}}; end Protocol
           Evolution: end Evolution
         end Agent
         Agent Thief
           Vars: end Vars
           Actions = {{left, right, wait}};
           Protocol: Other : {{left, right, wait}}; end Protocol
           Evolution: end Evolution
         end Agent
         Evaluation inside if Environment.inside; tried if Environment.tried; end Evaluation
         InitStates !Environment.inside and !Environment.tried; end InitStates
         {questions}"
    ))
}

fn house() -> System {
    house_with(
        "Groups both = {Guard, Thief}; end Groups
         Formulae
           <both>F inside;
           <both, uniform>F inside;
           <both>G !inside;
           <Thief>X !inside;
           LTL G(tried -> F inside);
         end Formulae",
    )
}

/// Returns the evidence for the property with this index.
fn evidence(system: &System, index: usize) -> Evidence {
    let budget = Budget::unlimited();
    let mut encoded = Explicit { evidence: Show::All, jobs: None }.encode(system, &budget).unwrap();
    encoded.decide(&system.properties[index], &budget).evidence.expect("evidence")
}

fn replayed(system: &System, index: usize, evidence: &Evidence) -> Result<(), ReplayError> {
    let holds = evidence.root().holds;
    replay(system, &system.properties[index], holds, evidence).map(|_| ())
}

fn strategy(evidence: &mut Evidence) -> &mut GroupStrategy {
    let Because::Strategy(strategy) = &mut evidence.reasons[0].because else { panic!("no strategy") };
    strategy
}

fn showing(evidence: &mut Evidence) -> &mut PathReason {
    let Because::Path(showing) = &mut evidence.reasons[0].because else { panic!("no run") };
    showing
}

/// A change to evidence.
type Change = fn(&mut Evidence);

fn refused(fault: Fault) -> Result<(), ReplayError> {
    Err(ReplayError::Refused { reason: ReasonId(0), fault })
}

const WAIT: ActionId = ActionId(2);

#[rustfmt::skip]
#[test]
fn strategies() {
    let system = house();
    let check = |index: usize, change: Change, expected: Result<(), ReplayError>, because: &str| {
        let mut evidence = evidence(&system, index);
        change(&mut evidence);
        assert_eq!(replayed(&system, index, &evidence), expected, "{index}: {because}");
    };
    for index in 0..4 {
        check(index, |_| {}, Ok(()), "as it was found");
    }
    check(0, |e| strategy(e).rows[0].actions[1] = WAIT,             refused(Fault::NotEnforced), "waiting forever");
    check(0, |e| strategy(e).rows.clear(),                          refused(Fault::NoStrategy),  "no action is given");
    check(0, |e| strategy(e).rows[0].actions[1] = ActionId(7),      refused(Fault::NoStrategy),  "no such action");
    check(0, |e| { let row = strategy(e).rows[0].clone(); strategy(e).rows.push(row) },
                                                                    refused(Fault::NoStrategy),  "two rows for one view");
    check(0, |e| _ = strategy(e).rows[0].sees.pop(),                refused(Fault::NoStrategy),  "by less than is seen");
    check(0, |e| strategy(e).from.clear(),                          refused(Fault::Seen),        "from nowhere");
    check(0, |e| { let end = strategy(e).play.states[1]; strategy(e).from.push(end) },
                                                                    refused(Fault::Seen),        "from elsewhere");
    check(0, |e| strategy(e).claims.clear(),                        Err(ReplayError::Shape),     "claims that no reason uses");
    check(0, |e| strategy(e).play.states[0] = StateId(9),           Err(ReplayError::Shape),     "a state that does not exist");
    check(1, |e| strategy(e).rows[1].actions[0] = WAIT,             refused(Fault::NotEnforced), "waiting forever");
    check(1, |e| _ = strategy(e).rows.pop(),                        refused(Fault::NoStrategy),  "no action is given for one view");
    check(2, |e| { let row = &mut strategy(e).rows[0]; row.actions = vec![ActionId(0), ActionId(1)] },
                                                                    refused(Fault::Claims),      "he is in");
    check(3, |e| strategy(e).rows[0].actions[0] = ActionId(0),      refused(Fault::Claims),      "he may be in");
}

#[rustfmt::skip]
#[test]
fn runs_of_path_formulas() {
    let system = house();
    let check = |change: Change, expected: Result<(), ReplayError>, because: &str| {
        let mut evidence = evidence(&system, 4);
        change(&mut evidence);
        assert_eq!(replayed(&system, 4, &evidence), expected, "{because}");
    };
    check(|_| {},                                         Ok(()),                     "as it was found");
    check(|e| showing(e).run.back_to = None,              Err(ReplayError::Shape),    "one action too many");
    check(|e| { showing(e).run.back_to = None; showing(e).run.actions.pop(); },
                                                          refused(Fault::Ends),       "the trace must be infinite");
    check(|e| _ = showing(e).claims.pop(),                refused(Fault::Claims),     "a claim less");
    check(|e| showing(e).claims.swap(0, 1),               refused(Fault::Claims),     "claims in another order");
    check(|e| showing(e).fair.push(0),                    refused(Fault::Unfair),     "there are no constraints");
    check(|e| { e.reasons.iter_mut().skip(1).for_each(|r| r.holds = false) },
                                                          refused(Fault::Truth),      "then it would be true: the thief has not tried");
}

/// A walker crosses a bridge while the wind does not blow. By fairness it is calm infinitely often.
fn bridge() -> System {
    system(
        "Agent Environment
           Obsvars: calm : boolean; end Obsvars
           Actions = {blow, rest};
           Protocol: Other : {blow, rest}; end Protocol
           Evolution: calm = false if Action = blow; calm = true if Action = rest; end Evolution
         end Agent
         Agent Walker
           Vars: at : 0..2; end Vars
           Actions = {walk, stay};
           Protocol: Other : {walk, stay}; end Protocol
           Evolution: at = at + 1 if Action = walk and Environment.calm and at < 2; end Evolution
         end Agent
         Evaluation calm if Environment.calm; across if Walker.at = 2; end Evaluation
         InitStates !Environment.calm and Walker.at = 0; end InitStates
         Groups walker = {Walker}; wind = {Environment}; end Groups
         Fairness calm; end Fairness
         Formulae
           <walker>F across;
           <walker>G !across;
           <wind>(!across U calm);
           <walker>X across;
           <walker>F(across and !calm);
           <wind>G !calm;
           <walker>G calm;
         end Formulae",
    )
}

fn answers(evidence: &mut Evidence) -> &mut Responses {
    let Because::Responses(answers) = &mut evidence.reasons[0].because else { panic!("no answers") };
    answers
}

fn unfolding(evidence: &mut Evidence) -> &mut Unfolding {
    let Because::Unfolded(unfolding) = &mut evidence.reasons[0].because else { panic!("not unfolded") };
    unfolding
}

const STAY: ActionId = ActionId(1);

#[rustfmt::skip]
#[test]
fn strategies_under_fairness() {
    let system = bridge();
    let check = |index: usize, change: Change, expected: Result<(), ReplayError>, because: &str| {
        let mut evidence = evidence(&system, index);
        change(&mut evidence);
        assert_eq!(replayed(&system, index, &evidence), expected, "{index}: {because}");
    };
    for index in 0..7 {
        check(index, |_| {}, Ok(()), "as it was found");
    }
    check(0, |e| strategy(e).rows[1].actions[0] = STAY,             refused(Fault::NotEnforced), "staying where it is calm");
    check(0, |e| _ = strategy(e).rows.remove(1),                    refused(Fault::NotEnforced), "then anything may be done there");
    check(0, |e| strategy(e).unmet = None,                          refused(Fault::Ends),        "a play that never reaches the goal");
    check(0, |e| strategy(e).unmet = Some(4),                       refused(Fault::Ends),        "there is no such constraint");
    check(0, |e| strategy(e).play.back_to = None,                   Err(ReplayError::Shape),     "one action too many");
    check(1, |e| strategy(e).rows.iter_mut().for_each(|row| row.actions[0] = ActionId(0)),
                                                                    refused(Fault::NotEnforced), "he crosses, and a fair run follows");
    check(1, |e| strategy(e).unmet = Some(0),                       Ok(()),                      "true of this loop, though not required");
    check(5, |e| strategy(e).rows[0].actions[0] = ActionId(1),      refused(Fault::NotEnforced), "it becomes calm");
}

#[rustfmt::skip]
#[test]
fn answers_of_the_others() {
    let (plain, fair) = (house_of_answers(), bridge());
    let check = |is_fair: bool, index: usize, change: Change, expected: Result<(), ReplayError>, because: &str| {
        let system = if is_fair { &fair } else { &plain };
        let mut evidence = evidence(system, index);
        change(&mut evidence);
        assert_eq!(replayed(system, index, &evidence), expected, "{index}: {because}");
    };
    for index in 0..4 {
        check(false, index, |_| {}, Ok(()), "as it was found");
    }
    let no_answer = refused(Fault::NoAnswer);
    check(false, 0, |e| _ = answers(e).rows.pop(),                  no_answer,                   "a choice without an answer");
    check(false, 0, |e| { let row = answers(e).rows[0].clone(); answers(e).rows.push(row) },
                                                                    no_answer,                   "answered twice");
    check(false, 0, |e| answers(e).rows[0].joint[1] = ActionId(1),  no_answer,                   "it leads elsewhere");
    check(false, 0, |e| answers(e).rows[0].joint[2] = WAIT,         no_answer,                   "the group chose otherwise");
    check(false, 0, |e| answers(e).rows[0].next = None,             no_answer,                   "a step follows");
    check(false, 0, |e| answers(e).rows[0].next = Some(StateId(9)), Err(ReplayError::Shape),     "a state that does not exist");
    check(false, 0, |e| answers(e).from = StateId(1),               refused(Fault::Seen),        "from elsewhere");
    check(false, 0, |e| answers(e).claims.clear(),                  Err(ReplayError::Shape),     "claims that no reason uses");
    check(false, 0, |e| answers(e).fair.push(0),                    refused(Fault::Unfair),      "there are no constraints");
    check(false, 0, |e| { answers(e).claims.pop(); e.reasons.pop(); }, refused(Fault::Claims),   "the end may have come");
    check(false, 1, |e| { answers(e).claims.pop(); e.reasons.pop(); }, refused(Fault::NoAnswer), "no claim of a violation");
    check(false, 1, |e| { let play = &mut answers(e).play; play.states.truncate(1); play.actions.clear() },
                                                                    refused(Fault::Ends),        "it does not end there");
    check(false, 2, |e| answers(e).path = None,                     refused(Fault::Ends),        "a path to the state is missing");
    check(false, 3, |e| e.reasons[0].because = Because::NotShown(NotShownReason::AllPaths),
                                                                    Err(ReplayError::Shape),     "claims that no reason uses");
    // With fairness.
    check(true, 3, |e| answers(e).fair.clear(),                     refused(Fault::Unfair),      "it must be said where it is calm");
    check(true, 3, |e| answers(e).fair[0] = 0,                      refused(Fault::Unfair),      "it is not calm there");
    check(true, 3, |e| answers(e).rows[0].stage.seeks = Some(0),    no_answer,                   "in another stage");
    check(true, 4, |e| blow(answers(e)),                            refused(Fault::NotSpoiled),  "it is never calm");
    check(true, 6, |e| { answers(e).claims.pop(); e.reasons.pop(); }, no_answer,                 "no claim of a violation");
}

/// Makes the wind blow forever at the first state of the play.
fn blow(answers: &mut Responses) {
    let from = answers.from;
    for row in answers.rows.iter_mut().filter(|row| row.state == from) {
        row.joint[0] = ActionId(0);
        row.next = Some(from);
    }
}

/// `house` with formulas that cannot be enforced.
fn house_of_answers() -> System {
    house_with(
        "Groups thief = {Thief}; guard = {Guard}; end Groups
         Formulae
           <thief>F inside;
           <guard>G !inside;
           <thief, uniform>X !tried;
           <thief>(!tried U inside);
         end Formulae",
    )
}

/// A counter that goes up or back to 0, and that stops at 3. A watcher sees whether it is at 0.
fn counter() -> System {
    system(
        "Agent Environment
           Obsvars: zero : boolean; end Obsvars
           Vars: end Vars
           Actions = {none};
           Protocol: Other : {none}; end Protocol
           Evolution:
             zero = false if Counter.Action = up;
             zero = true if Counter.Action = back;
           end Evolution
         end Agent
         Agent Counter
           Vars: x : 0..3; end Vars
           Actions = {up, back, stop};
           Protocol: x < 3 : {up, back}; Other : {stop}; end Protocol
           Evolution: x = x + 1 if Action = up; x = 0 if Action = back; end Evolution
         end Agent
         Agent Watcher
           Vars: end Vars
           Actions = {none};
           Protocol: Other : {none}; end Protocol
           Evolution: end Evolution
         end Agent
         Evaluation three if Counter.x = 3; end Evaluation
         InitStates Environment.zero and Counter.x = 0; end InitStates
         Formulae
           mu Z. three or EX Z;
           nu Z. EX{Counter.Action = back} Z;
           nu Z. AX Z and !three;
           mu Z. three or AX Z;
           nu Z. K(Watcher, Z) and EX Z and !three;
           EX{Counter.Action = up} !Environment.zero;
           AX{Counter.Action = back} !Environment.zero;
           nu Z. !three and AX K(Watcher, Z);
         end Formulae",
    )
}

#[rustfmt::skip]
#[test]
fn unfolded_fixpoints() {
    let system = counter();
    let check = |index: usize, change: Change, expected: Result<(), ReplayError>, because: &str| {
        let mut evidence = evidence(&system, index);
        change(&mut evidence);
        assert_eq!(replayed(&system, index, &evidence), expected, "{index}: {because}");
    };
    for index in 0..8 {
        check(index, |_| {}, Ok(()), "as it was found");
    }
    let claims = || refused(Fault::Claims);
    check(0, |e| unfolding(e).nodes.clear(),                        Err(ReplayError::Shape), "claims that no reason uses");
    check(0, |e| unfolding(e).nodes[0].holds = false,               claims(),                "another claim");
    check(0, |e| unfolding(e).nodes[1].scope.clear(),               claims(),                "a variable that stands for nothing");
    check(0, |e| unfolding(e).nodes[0].by = DecidedBy::Nodes(vec![0]), claims(),               "it does not lead there");
    check(0, |e| unfolding(e).nodes[0].by = DecidedBy::Nodes(vec![99]), Err(ReplayError::Shape), "a node that does not exist");
    check(0, |e| { e.reasons.truncate(1); circle(unfolding(e)) },     refused(Fault::Circle),  "a circular argument");
    check(1, |e| steps(unfolding(e))[0].0 = None,                   claims(),                "the counter does not go back");
    check(1, |e| steps(unfolding(e)).clear(),                       claims(),                "no step at all");
    check(2, |e| _ = unfolding(e).nodes.pop(),                      Err(ReplayError::Shape), "a node less");
    check(3, |e| steps(unfolding(e)).clear(),                       claims(),                "a step that leads there is needed");
    check(7, |e| possible(unfolding(e)),                            refused(Fault::Ends),    "a path to the state is missing");
    check(5, |e| showing(e).claims.clear(),                         Err(ReplayError::Shape), "claims that no reason uses");
    check(5, |e| showing(e).claims[0].0 = 0,                        claims(),                "at the wrong end");
    check(6, |e| { let stays = showing(e).run.states[0]; showing(e).run.states[0] = StateId(1); showing(e).run.states[1] = stays },
                                                                    Err(ReplayError::Shape), "a state that does not exist");
}

/// Returns the first steps of an unfolding.
fn steps(unfolding: &mut Unfolding) -> &mut Vec<(Option<Vec<ActionId>>, usize)> {
    let steps = unfolding.nodes.iter_mut().find_map(|node| match &mut node.by {
        DecidedBy::Steps(list) => Some(list),
        _ => None,
    });
    steps.expect("steps")
}

/// Makes the counter go back instead of up, so that the unfolding justifies itself.
fn circle(unfolding: &mut Unfolding) {
    let variable = match steps(unfolding).first() {
        Some((_, node)) => *node,
        None => panic!("no step"),
    };
    let back = vec![ActionId(0), ActionId(1), ActionId(0)];
    let start = unfolding.nodes[0].state;
    steps(unfolding)[0].0 = Some(back);
    unfolding.nodes.truncate(variable + 1);
    unfolding.nodes[variable].state = start;
    unfolding.nodes[variable].by = DecidedBy::Nodes(vec![0]);
}

/// Removes the path to an indistinguishable state.
fn possible(unfolding: &mut Unfolding) {
    for node in &mut unfolding.nodes {
        if let DecidedBy::Possible { path, .. } = &mut node.by {
            *path = None;
        }
    }
}
