//! Compares the search for teams with a check of each team alone.

use masque_lcc::{Candidate, Request, Role, Session, Setup, Team, TeamSelection, Text, teams};
use masque_text::render;
use masque_verdict::{Budget, Verdict, Why};

/// Opens a session for one team.
fn alone(setup: &Setup, roles: &[Role], team: &[usize]) -> Session {
    let mut setup = setup.clone();
    let members = roles.iter().zip(team).map(|(role, index)| &role.candidates[*index]);
    setup.files.extend(members.map(|member| Text::new(member.name.clone(), member.statements.clone())));
    Session::open(setup).unwrap_or_else(|refused| panic!("{:?}", refused.diagnostics))
}

#[test]
fn every_team_gets_the_answers_it_gets_alone_for_less_work() {
    let (setup, roles) = crate::support::travel_roles();
    let request = Request { setup, roles, want: TeamSelection::All, ..Request::default() };
    let found = teams(&request, &Budget::unlimited()).unwrap();
    assert_eq!((found.teams.len(), found.properties.len()), (125, 11));
    let (mut situations, mut lists, mut n_working) = (0, 0, 0);
    for team in &found.teams {
        let mut session = alone(&request.setup, &request.roles, &team.candidates);
        let replies = session.check_all(true, &Budget::unlimited());
        let verdicts: Vec<Verdict> = replies.iter().map(|reply| reply.checked.verdict).collect();
        assert_eq!(team.verdicts, verdicts, "{:?}", team.names);
        assert_eq!(team.weakness.is_some(), verdicts.contains(&Verdict::Fails), "{:?}", team.names);
        // The explanation is as short as the shortest one that the team alone has.
        if let Some(weakness) = &team.weakness {
            let traces = replies.iter().filter(|reply| reply.checked.verdict == Verdict::Fails);
            let traces: Vec<_> = traces.filter_map(|reply| reply.checked.trace.as_ref()).collect();
            let shortest =
                traces.iter().filter(|trace| !trace.blame.is_empty()).map(|t| t.events.len()).min();
            let mine = weakness.trace.as_ref().map(|trace| trace.events.len());
            assert!(shortest.is_none() || mine == shortest, "{:?}: {mine:?}, {shortest:?}", team.names);
            assert_eq!(
                shortest.is_some() || traces.is_empty(),
                !weakness.blame.is_empty(),
                "{:?}",
                team.names
            );
        }
        n_working += usize::from(verdicts[3] == Verdict::Holds && verdicts[4] == Verdict::Holds);
        (situations, lists) = (situations + session.effort().situations, lists + session.effort().lists);
    }
    assert!(4 * found.work.situations <= situations, "{:?}, alone {situations}", found.work);
    assert_eq!(found.work.lists, lists, "each team has states of its own");
    // Three agents may query, three hotels have rooms, three cards can pay. The agent `ta` has a rule that
    // permits rooms, which makes them regulated; so the shed, which has no facts about rooms, has all
    // permitted ones.
    assert_eq!(found.properties[3..5], ["deadlock_free", "can_confirm"]);
    assert_eq!(n_working, 3 * 3 * 3 + 3);
}

/// Name, cost and statements of a seller.
type Seller = (&'static str, u32, &'static str);

/// Makes a request for a team with one of these sellers.
fn sellers(text: &str, sellers: &[Seller], want: TeamSelection) -> Request {
    let candidate = |(name, cost, more): &Seller| Candidate {
        name: name.to_string(),
        statements: format!("agent a(seller, {name}). {more}"),
        cost: *cost,
    };
    Request {
        setup: Setup { files: vec![Text::new("shop.lcc", text)], ..Setup::default() },
        roles: vec![Role { name: "seller".to_string(), candidates: sellers.iter().map(candidate).collect() }],
        want,
        ..Request::default()
    }
}

const SHOP: &str = "
    a(buyer, B) :: ask => a(seller, S) then (yes(P) <= a(seller, S) or no <= a(seller, S)).
    a(seller, S) :: ask <= a(buyer, B) then
        ((null <- polite then yes(9) => a(buyer, B)) or (yes(5) => a(buyer, B) <- cheap)
         or (no => a(buyer, B) <- honest)).
    agent a(buyer, ben).
    rule guild: (_, _, -cheap).
    property ends : AF final ;
    property sells : EF <in(yes(_))>tt ;
    property never_refuses : [-* . in(no)]ff ;";

#[test]
fn the_first_team_all_teams_or_the_best_team() {
    let all = [
        ("sly", 1, "know sly: cheap."),
        ("hal", 2, "know hal: honest."),
        ("pam", 9, "know pam: polite."),
        ("peg", 4, "know peg: polite."),
    ];
    // Candidates, which teams are wanted, the chosen team, the number of teams checked.
    let rows: [(&[Seller], TeamSelection, Option<&str>, usize); 7] = [
        (&all, TeamSelection::First, Some("pam"), 3),
        (&all, TeamSelection::All, Some("pam"), 4),
        (&all, TeamSelection::Best, Some("peg"), 4),
        (&all[..2], TeamSelection::First, None, 2),
        // The first property `ends` holds for hal and fails for sly.
        (&all[..2], TeamSelection::Best, Some("hal"), 2),
        (&all[..1], TeamSelection::Best, Some("sly"), 1),
        (&all[2..], TeamSelection::First, Some("pam"), 1),
    ];
    for (candidates, want, chosen, n) in rows {
        let found = teams(&sellers(SHOP, candidates, want), &Budget::unlimited()).unwrap();
        let name = found.chosen.map(|index| found.teams[index].names[0].as_str());
        assert_eq!((name, found.teams.len()), (chosen, n), "{want:?} of {candidates:?}");
    }
}

#[test]
fn a_failure_names_the_agent_and_the_rule() {
    let candidates = [("sly", 0, "know sly: cheap."), ("sam", 0, "")];
    let found = teams(&sellers(SHOP, &candidates, TeamSelection::All), &Budget::unlimited()).unwrap();
    let reason = |team: &Team| {
        let weakness = team.weakness.as_ref().unwrap();
        (weakness.property.clone(), weakness.blame.join("; "))
    };
    let (property, blame) = reason(&found.teams[0]);
    assert_eq!(property, "ends");
    assert!(blame.contains("sly could not cheap: rule 1 of guild forbids it"), "{blame}");
    let (_, blame) = reason(&found.teams[1]);
    assert!(blame.contains("sam needs cheap, but has no facts about cheap/0"), "{blame}");
}

#[test]
fn a_limit_ends_the_search() {
    let (setup, roles) = crate::support::travel_roles();
    let request = Request { setup, roles, want: TeamSelection::All, ..Request::default() };
    let budget = Budget::unlimited();
    budget.cancel();
    // The texts are longer than what is read without limits.
    let stopped = teams(&request, &budget).map_or_else(|refused| refused.stopped, |found| found.stopped);
    assert_eq!(stopped.map(|stop| stop.why), Some(Why::Interrupted));
}

#[test]
fn invalid_requests_are_refused() {
    let pam: [Seller; 1] = [("pam", 0, "know pam: polite.")];
    let no_candidates = Request {
        roles: vec![Role { name: "seller".to_string(), candidates: Vec::new() }],
        ..sellers(SHOP, &pam, TeamSelection::All)
    };
    let mut many = sellers(SHOP, &pam, TeamSelection::All);
    many.roles =
        vec![Role { candidates: vec![many.roles[0].candidates[0].clone(); 60], ..many.roles[0].clone() }; 3];
    let of_pam = format!("{SHOP} property pam_ends : AF done(pam) ;");
    let rows: Vec<(Request, &str, &str)> = vec![
        (no_candidates, "lcc/no-candidates", "seller"),
        (many, "lcc/too-many-teams", "216000"),
        (
            sellers(SHOP, &[("ben", 0, "")], TeamSelection::All),
            "lcc/candidate",
            "`ben` is in the team already",
        ),
        (
            sellers(SHOP, &[("pam", 0, "a(x, X) :: null.")], TeamSelection::All),
            "lcc/candidate",
            "cannot have",
        ),
        (sellers(SHOP, &[("pam", 0, "option cap = 2.")], TeamSelection::All), "lcc/candidate", "cannot have"),
        (
            sellers(SHOP, &[("pam", 0, "agent a(waiter, pam).")], TeamSelection::All),
            "lcc/no-clause",
            "waiter",
        ),
        (
            sellers(SHOP, &[("pam", 0, "know pam: p <- not p.")], TeamSelection::All),
            "lcc/not-stratified",
            "p/0",
        ),
        (sellers(SHOP, &[("pam", 0, "know pam polite.")], TeamSelection::All), "lcc/syntax", ":"),
        (sellers(&of_pam, &pam, TeamSelection::All), "lcc/unknown-agent", "pam"),
    ];
    for (request, code, part) in rows {
        let refused = teams(&request, &Budget::unlimited()).unwrap_err();
        let errors = refused.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        let drawn: String =
            errors.clone().map(|diagnostic| render(&refused.sources, diagnostic, false)).collect();
        assert!(errors.clone().any(|diagnostic| diagnostic.code == code), "{code}\n{drawn}");
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
}
