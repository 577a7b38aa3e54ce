//! Finds teams that satisfy properties, given candidates for each role. Every combination is a team. This is the
//! broker's search for a group of agents with compatible rules. [ORW06 §2, §3]
//!
//! A team is the instance with the statements of its candidates added. Teams are tried in the order
//! in which candidates are listed, those of the last role changing fastest.
//!
//! | file | defines |
//! |---|---|
//! | `mod` | the request, the result, and the search |
//! | `team_system` | the system of an instance whose team can be replaced |
//! | `shape` | teams that no formula can distinguish |

mod shape;
mod team_system;

use masque_mu::{Formula, Play, Space, check, explain};
use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::{Budget, Stop, Verdict, Why};
use rustc_hash::FxHashMap;

use self::shape::{Shapes, TransitionPath, nearest_dead_end};
use self::team_system::TeamSystem;
use crate::session::{Question, RefusedTexts, Setup, Work};
use crate::system::System;
use crate::trace::Trace;

/// Maximum number of teams, if all of them are to be checked.
const MAX_TEAMS: u64 = 100_000;

/// An agent that could play a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Name of the candidate in the result, usually its id.
    pub name: String,
    /// Statements that the candidate adds to the instance: its `agent` or `server` statement, facts, choices
    /// and rules.
    pub statements: String,
    /// Cost of the candidate. [`TeamSelection::Best`] prefers the cheapest of the teams with the same verdicts.
    pub cost: u32,
}

/// A role and its candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// Name of the role in diagnostics.
    pub name: String,
    /// The candidates, in the order in which they are tried.
    pub candidates: Vec<Candidate>,
}

/// Which teams are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TeamSelection {
    /// The first team for which all properties hold; later teams are not checked.
    #[default]
    First,
    /// All teams.
    All,
    /// The best team: verdicts are compared property by property, and `holds` is better than `unknown`, which
    /// is better than `fails`. Among teams with equal verdicts, the cheapest; among these, the first.
    Best,
}

/// A request for teams.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The instance without the candidates.
    pub setup: Setup,
    /// The roles to be filled.
    pub roles: Vec<Role>,
    /// What a team must satisfy, the most important first. Empty means all properties of the instance.
    pub questions: Vec<Question>,
    /// Which teams are searched for.
    pub want: TeamSelection,
}

/// A team and its verdicts.
#[derive(Clone, Debug)]
pub struct Team {
    /// For each role, the index of its candidate.
    pub candidates: Vec<usize>,
    /// Names of the candidates.
    pub names: Vec<String>,
    /// Sum of the costs of the candidates.
    pub cost: u64,
    /// Verdict of each property, in the order of [`Teams::properties`].
    pub verdicts: Vec<Verdict>,
    /// If a property fails, why.
    pub weakness: Option<TeamFailure>,
}

impl Team {
    /// Whether all properties hold.
    pub fn works(&self) -> bool {
        self.verdicts.iter().all(|verdict| *verdict == Verdict::Holds)
    }
}

/// Why a team fails.
#[derive(Clone, Debug)]
pub struct TeamFailure {
    /// Name of a property that fails.
    pub property: String,
    /// The shortest run that shows the failure, if there is one.
    pub trace: Option<Trace>,
    /// If the run ends in a deadlock, why each agent is stuck there.
    pub blame: Vec<String>,
}

/// The result of a search for teams.
#[derive(Debug, Default)]
pub struct Teams {
    /// Names of the properties, or texts of the formulas, that were checked.
    pub properties: Vec<String>,
    /// The teams that were checked, in their order.
    pub teams: Vec<Team>,
    /// Index in `teams` of the first team that works or, for [`TeamSelection::Best`], of the best team. `None` if
    /// there is no such team.
    pub chosen: Option<usize>,
    /// The limit that was exceeded before all teams were checked.
    pub stopped: Option<Stop>,
    /// Work spent on the search.
    pub work: Work,
    /// Warnings about the instance, the candidates and the formulas that were asked.
    pub warnings: Vec<Diagnostic>,
    /// The texts that the warnings refer to.
    pub sources: Sources,
}

/// Searches for teams that satisfy properties.
///
/// ```
/// use masque_lcc::{Candidate, Request, Role, Setup, Text, TeamSelection, teams};
/// use masque_verdict::Budget;
///
/// let text = "a(buyer, B) :: ask => a(seller, S) then (yes <= a(seller, S) or no <= a(seller, S)).
///     a(seller, S) :: ask <= a(buyer, B) then
///         (yes => a(buyer, B) <- willing or no => a(buyer, B) <- not willing).
///     agent a(buyer, ben).  property sold : inev(in(yes)) ;";
/// let seller = |name: &str, knows: &str| Candidate {
///     name: name.to_string(),
///     statements: format!("agent a(seller, {name}). {knows}"),
///     cost: 0,
/// };
/// let request = Request {
///     setup: Setup { files: vec![Text::new("shop.lcc", text)], ..Setup::default() },
///     roles: vec![Role {
///         name: "seller".to_string(),
///         candidates: vec![seller("sam", ""), seller("sue", "know sue: willing.")],
///     }],
///     want: TeamSelection::First,
///     ..Request::default()
/// };
/// let found = teams(&request, &Budget::unlimited()).unwrap();
/// assert_eq!(found.teams[found.chosen.unwrap()].names, ["sue"]);
/// ```
pub fn teams(request: &Request, budget: &Budget) -> Result<Teams, Box<RefusedTexts>> {
    if let Some(diagnostic) = out_of_range(request) {
        return Err(RefusedTexts::new(Sources::default(), vec![diagnostic]));
    }
    let mut team_system = TeamSystem::new(request, budget)?;
    let formulas = match team_system.formulas(&request.questions) {
        Ok(formulas) => formulas,
        Err(diagnostics) => {
            return Err(RefusedTexts::new(team_system.into_sources(), diagnostics));
        }
    };
    let mut found =
        Teams { properties: formulas.iter().map(|(name, _)| name.clone()).collect(), ..Teams::default() };
    let (mut shapes, mut known) = (Shapes::default(), FxHashMap::default());
    let mut candidates = Some(vec![0; request.roles.len()]);
    while let Some(chosen) = candidates {
        if let Err(diagnostics) = team_system.set_team(&chosen, budget) {
            return Err(RefusedTexts::new(team_system.into_sources(), diagnostics));
        }
        team_system.space.lts().set_budget(budget);
        let shape = shapes.of(&mut team_system.space, budget);
        let judgement = match shape.and_then(|shape| known.get(&shape)) {
            Some(judgement) => Judgement::clone(judgement),
            None => judge(&mut team_system.space, &formulas, budget),
        };
        let team = describe_team(&mut team_system, request, &chosen, &judgement);
        // A verdict that is unknown because of a limit may be decided for another team.
        let is_open =
            |verdict: &Verdict| matches!(verdict, Verdict::Unknown(why) if !matches!(why, Why::Bound(_)));
        if let Some(shape) = shape
            && !judgement.verdicts.iter().any(is_open)
        {
            known.insert(shape, judgement);
        }
        if let Err(stop) = budget.check() {
            found.stopped = Some(stop);
            break;
        }
        let is_enough = request.want == TeamSelection::First && team.works();
        found.teams.push(team);
        if is_enough {
            break;
        }
        if request.setup.limits.memory.is_some_and(|bytes| team_system.space.system().bytes() > bytes) {
            team_system.space.lts().forget();
            team_system.space.clear();
            shapes.forget_labels();
        }
        candidates = next_combination(&request.roles, chosen);
    }
    found.chosen = match request.want {
        TeamSelection::First | TeamSelection::All => found.teams.iter().position(Team::works),
        TeamSelection::Best => (0..found.teams.len()).min_by_key(|index| rank(&found.teams[*index])),
    };
    let situations = team_system.space.system().situations.n_computed;
    found.work = Work { is_kept: false, situations, lists: team_system.space.n_expansions() };
    found.warnings = std::mem::take(&mut team_system.warnings);
    found.sources = team_system.into_sources();
    Ok(found)
}

/// Returns a diagnostic if the request has no teams, or too many.
fn out_of_range(request: &Request) -> Option<Diagnostic> {
    if let Some(role) = request.roles.iter().find(|role| role.candidates.is_empty()) {
        let message = format!("no candidate is listed for the role `{}`", role.name);
        let diagnostic = Diagnostic::nowhere(Severity::Error, "lcc/no-candidates", message);
        return Some(diagnostic.hint("list at least one candidate for each role"));
    }
    let sizes = request.roles.iter().map(|role| role.candidates.len() as u64);
    let n_teams = sizes.fold(1_u64, u64::saturating_mul);
    (n_teams > MAX_TEAMS && request.want != TeamSelection::First).then(|| {
        let message = format!("these candidates make {n_teams} teams, and at most {MAX_TEAMS} are checked");
        Diagnostic::nowhere(Severity::Error, "lcc/too-many-teams", message)
            .hint("list fewer candidates, or ask for the first team that works")
    })
}

/// The result for one team, which is valid for all teams of its shape.
#[derive(Clone, Debug)]
struct Judgement {
    verdicts: Vec<Verdict>,
    /// A property that fails, and the path that shows it.
    failure: Option<(String, Option<TransitionPath>)>,
}

/// Describes the current team.
fn describe_team(
    team_system: &mut TeamSystem,
    request: &Request,
    chosen: &[usize],
    judgement: &Judgement,
) -> Team {
    let members = || request.roles.iter().zip(chosen).map(|(role, index)| &role.candidates[*index]);
    let weakness = judgement.failure.as_ref().map(|(property, path)| {
        let play = path.as_ref().and_then(|path| path.play(&mut team_system.space));
        let trace = play.map(|play| team_system.space.lts().trace(&play));
        let blame = trace.as_ref().map(|trace| trace.blame.clone()).unwrap_or_default();
        TeamFailure { property: property.clone(), trace, blame }
    });
    Team {
        candidates: chosen.to_vec(),
        names: members().map(|member| member.name.clone()).collect(),
        cost: members().map(|member| u64::from(member.cost)).sum(),
        verdicts: judgement.verdicts.clone(),
        weakness,
    }
}

/// Checks the current team.
fn judge(space: &mut Space<System>, formulas: &[(String, Formula)], budget: &Budget) -> Judgement {
    let verdicts: Vec<Verdict> =
        formulas.iter().map(|(_, formula)| check(space, formula, budget).verdict).collect();
    let failed = formulas.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::Fails);
    let failed: Vec<&(String, Formula)> = failed.map(|(formula, _)| formula).collect();
    Judgement { failure: failure(space, &failed, budget), verdicts }
}

/// Finds the shortest explanation why properties fail: preferably a run into a deadlock, where the rule that
/// prevents a step can be named; otherwise the shortest run; otherwise the nearest deadlock.
fn failure(
    space: &mut Space<System>,
    failed: &[&(String, Formula)],
    budget: &Budget,
) -> Option<(String, Option<TransitionPath>)> {
    let mut best: Option<((bool, usize), &str, Option<Play>)> = None;
    for (name, formula) in failed {
        let play = explain(space, formula, budget).evidence.map(|evidence| evidence.play);
        let is_stuck = |space: &mut Space<System>, play: &Play| {
            play.loop_at.is_none() && space.lts().is_stuck(play.end())
        };
        let play = play.map(|play| (is_stuck(space, &play), play));
        let play = play.filter(|(is_stuck, play)| *is_stuck || !play.steps.is_empty());
        let length = match &play {
            Some((is_stuck, play)) => (!is_stuck, play.steps.len()),
            None => (true, usize::MAX),
        };
        if best.as_ref().is_none_or(|(shortest, ..)| length < *shortest) {
            best = Some((length, name, play.map(|(_, play)| play)));
        }
    }
    let (_, name, play) = best?;
    let play = play.or_else(|| nearest_dead_end(space, budget));
    Some((name.to_string(), play.and_then(|play| TransitionPath::new(space, &play))))
}

/// Returns the next combination of candidates.
fn next_combination(roles: &[Role], mut chosen: Vec<usize>) -> Option<Vec<usize>> {
    for index in (0..chosen.len()).rev() {
        chosen[index] += 1;
        if chosen[index] < roles[index].candidates.len() {
            return Some(chosen);
        }
        chosen[index] = 0;
    }
    None
}

/// Returns the key by which teams are compared; the least is the best.
fn rank(team: &Team) -> (Vec<u8>, u64) {
    let worth = |verdict: &Verdict| match verdict {
        Verdict::Holds => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Fails => 2,
    };
    (team.verdicts.iter().map(worth).collect(), team.cost)
}
