//! Strategies and runs of path formulas that are wrong in any way are refused.

use masque_explicit::Explicit;
use masque_model::{ActionId, System};
use masque_testkit::system;
use masque_verdict::{
    Because, Budget, Engine, Evidence, Fault, ReasonId, ReplayError, Show, Showing, StateId, Strategy, replay,
};

/// A thief gets into a house by the door that the guard does not watch. What is hidden is how often he
/// has tried, up to one.
fn house() -> System {
    system(
        "Agent Environment
           Obsvars: inside : boolean; end Obsvars
           Vars: tried : boolean; end Vars
           Actions = {none};
           Protocol: Other : {none}; end Protocol
           Evolution:
             inside = true and tried = true if Thief.Action = left and Guard.Action = right;
             inside = true and tried = true if Thief.Action = right and Guard.Action = left;
             tried = true if Thief.Action = left and Guard.Action = left;
           end Evolution
         end Agent
         Agent Guard
           Vars: end Vars
           Actions = {left, right};
           Protocol: Other : {left, right}; end Protocol
           Evolution: end Evolution
         end Agent
         Agent Thief
           Vars: end Vars
           Actions = {left, right, wait};
           Protocol: Other : {left, right, wait}; end Protocol
           Evolution: end Evolution
         end Agent
         Evaluation inside if Environment.inside; tried if Environment.tried; end Evaluation
         InitStates !Environment.inside and !Environment.tried; end InitStates
         Groups both = {Guard, Thief}; end Groups
         Formulae
           <both>F inside;
           <both, uniform>F inside;
           <both>G !inside;
           <Thief>X !inside;
           LTL G(tried -> F inside);
         end Formulae",
    )
}

/// The evidence for a property, by its position.
fn evidence(system: &System, position: usize) -> Evidence {
    let budget = Budget::unlimited();
    let mut encoded = Explicit { evidence: Show::All, jobs: None }.encode(system, &budget).unwrap();
    encoded.decide(&system.properties[position], &budget).evidence.expect("something to show")
}

fn replayed(system: &System, position: usize, evidence: &Evidence) -> Result<(), ReplayError> {
    let holds = evidence.root().holds;
    replay(system, &system.properties[position], holds, evidence).map(|_| ())
}

fn strategy(evidence: &mut Evidence) -> &mut Strategy {
    let Because::Strategy(strategy) = &mut evidence.reasons[0].because else { panic!("no strategy") };
    strategy
}

fn showing(evidence: &mut Evidence) -> &mut Showing {
    let Because::Run(showing) = &mut evidence.reasons[0].because else { panic!("no run") };
    showing
}

/// A change to evidence that spoils it.
type Change = fn(&mut Evidence);

fn refused(fault: Fault) -> Result<(), ReplayError> {
    Err(ReplayError::Refused { reason: ReasonId(0), fault })
}

const WAIT: ActionId = ActionId(2);

#[rustfmt::skip]
#[test]
fn strategies() {
    let system = house();
    let check = |position: usize, change: Change, expected: Result<(), ReplayError>, because: &str| {
        let mut evidence = evidence(&system, position);
        change(&mut evidence);
        assert_eq!(replayed(&system, position, &evidence), expected, "{position}: {because}");
    };
    for position in 0..4 {
        check(position, |_| {}, Ok(()), "as it was found");
    }
    check(0, |e| strategy(e).rows[0].actions[1] = WAIT,             refused(Fault::NotEnforced), "waiting for ever");
    check(0, |e| strategy(e).rows.clear(),                          refused(Fault::NoStrategy),  "nothing is said");
    check(0, |e| strategy(e).rows[0].actions[1] = ActionId(7),      refused(Fault::NoStrategy),  "no such action");
    check(0, |e| { let row = strategy(e).rows[0].clone(); strategy(e).rows.push(row) },
                                                                    refused(Fault::NoStrategy),  "said twice");
    check(0, |e| _ = strategy(e).rows[0].sees.pop(),                refused(Fault::NoStrategy),  "by less than is seen");
    check(0, |e| strategy(e).from.clear(),                          refused(Fault::Seen),        "from nowhere");
    check(0, |e| { let end = strategy(e).play.states[1]; strategy(e).from.push(end) },
                                                                    refused(Fault::Seen),        "from elsewhere");
    check(0, |e| strategy(e).claims.clear(),                        Err(ReplayError::Shape),     "claims that nobody needs");
    check(0, |e| strategy(e).play.states[0] = StateId(9),           Err(ReplayError::Shape),     "a state that is not there");
    check(1, |e| strategy(e).rows[1].actions[0] = WAIT,             refused(Fault::NotEnforced), "waiting for ever");
    check(1, |e| _ = strategy(e).rows.pop(),                        refused(Fault::NoStrategy),  "nothing is said of one");
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
                                                          refused(Fault::Ends),       "it must go on for ever");
    check(|e| _ = showing(e).claims.pop(),                refused(Fault::Claims),     "a claim less");
    check(|e| showing(e).claims.swap(0, 1),               refused(Fault::Claims),     "claims in another order");
    check(|e| showing(e).fair.push(0),                    refused(Fault::Unfair),     "there are no constraints");
    check(|e| { e.reasons.iter_mut().skip(1).for_each(|r| r.holds = false) },
                                                          refused(Fault::Truth),      "then it would be true: nobody has tried");
}
