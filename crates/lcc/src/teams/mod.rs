//! Finding teams that work: candidates for each role, every combination a team.
//!
//! A team is the instance with the statements of its candidates added. Teams are tried in the order
//! in which candidates are listed, those of the last role changing fastest.
//!
//! | file | defines |
//! |---|---|
//! | `mod` | the request, the answer, and the search |
//! | `cast` | teams from one instance: what they share is read and solved once |
//! | `alike` | teams that no formula can tell apart |

mod alike;
mod cast;

use masque_mu::{Formula, Play, Space, check, explain};
use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::{Budget, Stop, Verdict, Why};
use rustc_hash::FxHashMap;

use self::alike::{Run, Shapes, nearest_dead_end};
use self::cast::Cast;
use crate::session::{Question, Refused, Setup, Work};
use crate::system::System;
use crate::trace::Trace;

/// So many teams are looked at, if all are.
const MOST: u64 = 100_000;

/// Somebody who could play a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// What the answer calls it; most likely its id.
    pub name: String,
    /// What it brings: its `agent` or `server` statement, what it knows, what is known of it, its
    /// rules.
    pub statements: String,
    /// What it costs; [`Want::Best`] prefers cheap teams among those of equal worth.
    pub cost: u32,
}

/// A role and those who could play it, the favourites first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// What the role is called in diagnostics.
    pub name: String,
    /// Who could play it.
    pub candidates: Vec<Candidate>,
}

/// Which teams are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Want {
    /// The first for which all properties hold; later ones are not looked at.
    #[default]
    First,
    /// All.
    All,
    /// The best: one for which the first property holds before one for which it does not, then
    /// likewise for the second, and so on; among equals the cheapest; among these the first.
    Best,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The instance without those who are wanted.
    pub setup: Setup,
    /// The roles that are to be filled.
    pub roles: Vec<Role>,
    /// What a team must satisfy, the most important first; all properties of the instance if empty.
    pub questions: Vec<Question>,
    /// Which teams are wanted.
    pub want: Want,
}

/// A team.
#[derive(Clone, Debug)]
pub struct Team {
    /// For each role, the number of its candidate.
    pub candidates: Vec<usize>,
    /// Their names.
    pub names: Vec<String>,
    /// What it costs.
    pub cost: u64,
    /// For each property, in the order of [`Teams::properties`].
    pub verdicts: Vec<Verdict>,
    /// If a property fails: the shortest reason.
    pub weakness: Option<Weakness>,
}

impl Team {
    /// Whether all properties hold.
    pub fn works(&self) -> bool {
        self.verdicts.iter().all(|verdict| *verdict == Verdict::Holds)
    }
}

/// Why a team fails.
#[derive(Clone, Debug)]
pub struct Weakness {
    /// A property that fails.
    pub property: String,
    /// The shortest run that shows it.
    pub trace: Option<Trace>,
    /// What stands in whose way at the nearest dead end.
    pub blame: Vec<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Teams {
    /// What was asked of each team.
    pub properties: Vec<String>,
    /// The teams that were looked at, in their order.
    pub teams: Vec<Team>,
    /// The one that is wanted, by its place in `teams`: the first that works, or the best. None if
    /// none works, or if there is none at all.
    pub chosen: Option<usize>,
    /// The limit that was hit before all teams were looked at.
    pub stopped: Option<Stop>,
    /// What it took.
    pub work: Work,
    /// Warnings about the instance, the candidates and the formulas that were asked.
    pub warnings: Vec<Diagnostic>,
    /// The texts, which the warnings refer to.
    pub sources: Sources,
}

/// Looks for teams.
///
/// ```
/// use masque_lcc::{Candidate, Request, Role, Setup, Text, Want, teams};
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
///     want: Want::First,
///     ..Request::default()
/// };
/// let found = teams(&request, &Budget::unlimited()).unwrap();
/// assert_eq!(found.teams[found.chosen.unwrap()].names, ["sue"]);
/// ```
pub fn teams(request: &Request, budget: &Budget) -> Result<Teams, Box<Refused>> {
    if let Some(diagnostic) = out_of_range(request) {
        return Err(Box::new(Refused { sources: Sources::default(), diagnostics: vec![diagnostic] }));
    }
    let mut cast = Cast::new(request)?;
    let formulas = match cast.formulas(&request.questions) {
        Ok(formulas) => formulas,
        Err(diagnostics) => return Err(Box::new(Refused { sources: cast.into_sources(), diagnostics })),
    };
    let mut found =
        Teams { properties: formulas.iter().map(|(name, _)| name.clone()).collect(), ..Teams::default() };
    let (mut shapes, mut known) = (Shapes::default(), FxHashMap::default());
    let mut candidates = Some(vec![0; request.roles.len()]);
    while let Some(chosen) = candidates {
        if let Err(diagnostics) = cast.recast(&chosen) {
            return Err(Box::new(Refused { sources: cast.into_sources(), diagnostics }));
        }
        let shape = shapes.of(&mut cast.space, budget);
        let judged = match shape.and_then(|shape| known.get(&shape)) {
            Some(judged) => Judged::clone(judged),
            None => judge(&mut cast.space, &formulas, budget),
        };
        let team = tell(&mut cast, request, &chosen, &judged);
        // What a limit left open may be decided for another team.
        let is_open =
            |verdict: &Verdict| matches!(verdict, Verdict::Unknown(why) if !matches!(why, Why::Bound(_)));
        if let Some(shape) = shape.filter(|_| !judged.verdicts.iter().any(is_open)) {
            known.insert(shape, judged);
        }
        if let Err(stop) = budget.check() {
            found.stopped = Some(stop);
            break;
        }
        let is_enough = request.want == Want::First && team.works();
        found.teams.push(team);
        if is_enough {
            break;
        }
        if request.setup.limits.memory.is_some_and(|bytes| cast.space.system().bytes() > bytes) {
            cast.space.lts().forget();
            cast.space.clear();
            shapes.forget_labels();
        }
        candidates = next(&request.roles, chosen);
    }
    found.chosen = match request.want {
        Want::First | Want::All => found.teams.iter().position(Team::works),
        Want::Best => (0..found.teams.len()).min_by_key(|at| rank(&found.teams[*at])),
    };
    let situations = cast.space.system().situations.n_computed;
    found.work = Work { is_kept: false, situations, lists: cast.space.n_asked() };
    found.warnings = std::mem::take(&mut cast.warnings);
    found.sources = cast.into_sources();
    Ok(found)
}

/// A request that makes no team, or too many.
fn out_of_range(request: &Request) -> Option<Diagnostic> {
    if let Some(role) = request.roles.iter().find(|role| role.candidates.is_empty()) {
        let message = format!("nobody is listed for the role `{}`", role.name);
        let diagnostic = Diagnostic::nowhere(Severity::Error, "lcc/no-candidates", message);
        return Some(diagnostic.hint("list at least one candidate for each role"));
    }
    let sizes = request.roles.iter().map(|role| role.candidates.len() as u64);
    let n_teams = sizes.fold(1_u64, u64::saturating_mul);
    (n_teams > MOST && request.want != Want::First).then(|| {
        let message = format!("these candidates make {n_teams} teams, and at most {MOST} are looked at");
        Diagnostic::nowhere(Severity::Error, "lcc/too-many-teams", message)
            .hint("list fewer candidates, or ask for the first team that works")
    })
}

/// What is found out about one team, and said of all of its shape.
#[derive(Clone, Debug)]
struct Judged {
    verdicts: Vec<Verdict>,
    /// The property whose failure is told, and the run that shows it.
    failure: Option<(String, Option<Run>)>,
}

/// Tells what is known of the team that is in place.
fn tell(cast: &mut Cast, request: &Request, chosen: &[usize], judged: &Judged) -> Team {
    let members = || request.roles.iter().zip(chosen).map(|(role, at)| &role.candidates[*at]);
    let weakness = judged.failure.as_ref().map(|(property, run)| {
        let play = run.as_ref().and_then(|run| run.play(&mut cast.space));
        let trace = play.map(|play| cast.space.lts().trace(&play));
        let blame = trace.as_ref().map(|trace| trace.blame.clone()).unwrap_or_default();
        Weakness { property: property.clone(), trace, blame }
    });
    Team {
        candidates: chosen.to_vec(),
        names: members().map(|member| member.name.clone()).collect(),
        cost: members().map(|member| u64::from(member.cost)).sum(),
        verdicts: judged.verdicts.clone(),
        weakness,
    }
}

/// Checks the team that is in place.
fn judge(space: &mut Space<System>, formulas: &[(String, Formula)], budget: &Budget) -> Judged {
    let verdicts: Vec<Verdict> =
        formulas.iter().map(|(_, formula)| check(space, formula, budget).verdict).collect();
    let failed = formulas.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::Fails);
    let failed: Vec<&(String, Formula)> = failed.map(|(formula, _)| formula).collect();
    Judged { failure: failure(space, &failed, budget), verdicts }
}

/// The shortest reason why properties fail: a run into a dead end, if one shows it, since there the
/// rule that stands in the way can be named; else the shortest run; else the nearest dead end.
fn failure(
    space: &mut Space<System>,
    failed: &[&(String, Formula)],
    budget: &Budget,
) -> Option<(String, Option<Run>)> {
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
    Some((name.to_string(), play.and_then(|play| Run::new(space, &play))))
}

/// The combination after this one.
fn next(roles: &[Role], mut chosen: Vec<usize>) -> Option<Vec<usize>> {
    for at in (0..chosen.len()).rev() {
        chosen[at] += 1;
        if chosen[at] < roles[at].candidates.len() {
            return Some(chosen);
        }
        chosen[at] = 0;
    }
    None
}

/// The less, the better.
fn rank(team: &Team) -> (Vec<u8>, u64) {
    let worth = |verdict: &Verdict| match verdict {
        Verdict::Holds => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Fails => 2,
    };
    (team.verdicts.iter().map(worth).collect(), team.cost)
}
