//! Finding teams that work: candidates for each role, every combination a team.
//!
//! A team is the instance with the statements of its candidates added. Teams are tried in the order
//! in which candidates are listed, those of the last role changing fastest.

use masque_text::{Diagnostic, Severity};
use masque_verdict::{Budget, Stop, Verdict};

use crate::session::{Question, Refused, Session, Setup, Text, Work};
use crate::trace::Trace;

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
#[derive(Clone, Debug, Default)]
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
    let mut found = Teams::default();
    if let Some(role) = request.roles.iter().find(|role| role.candidates.is_empty()) {
        let message = format!("nobody is listed for the role `{}`", role.name);
        let diagnostic = Diagnostic::nowhere(Severity::Error, "lcc/no-candidates", message);
        return Err(Box::new(Refused { sources: Default::default(), diagnostics: vec![diagnostic] }));
    }
    let mut candidates = Some(vec![0; request.roles.len()]);
    while let Some(chosen) = candidates {
        if let Err(stop) = budget.check() {
            found.stopped = Some(stop);
            break;
        }
        let mut setup = request.setup.clone();
        let members = || request.roles.iter().zip(&chosen).map(|(role, at)| &role.candidates[*at]);
        setup.files.extend(members().map(|member| Text::new(member.name.clone(), member.statements.clone())));
        let mut session = Session::open(setup)?;
        let questions = match request.questions.is_empty() {
            true => session.properties().into_iter().map(|stated| Question::Property(stated.name)).collect(),
            false => request.questions.clone(),
        };
        let mut team = Team {
            names: members().map(|member| member.name.clone()).collect(),
            cost: members().map(|member| u64::from(member.cost)).sum(),
            candidates: chosen.clone(),
            verdicts: Vec::new(),
            weakness: None,
        };
        found.properties.clear();
        for question in &questions {
            match session.check(question, true, budget) {
                Ok(reply) => {
                    if reply.checked.verdict == Verdict::Fails {
                        let blame = reply.checked.trace.as_ref().map(|trace| trace.blame.clone());
                        team.weakness.get_or_insert(Weakness {
                            property: reply.name.clone(),
                            trace: reply.checked.trace,
                            blame: blame.unwrap_or_default(),
                        });
                    }
                    team.verdicts.push(reply.checked.verdict);
                    found.properties.push(reply.name);
                }
                Err(diagnostics) => {
                    return Err(Box::new(Refused { sources: session.into_sources(), diagnostics }));
                }
            }
        }
        let works = team.works();
        found.teams.push(team);
        if works && request.want == Want::First {
            break;
        }
        candidates = next(&request.roles, chosen);
    }
    found.chosen = match request.want {
        Want::First | Want::All => found.teams.iter().position(Team::works),
        Want::Best => (0..found.teams.len()).min_by_key(|at| rank(&found.teams[*at])),
    };
    Ok(found)
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
