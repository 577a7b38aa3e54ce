//! Agent cards of the Agent2Agent protocol: JSON objects in which agents describe their skills.
//!
//! A card does not say which agents work together. The skeleton has a client that gives one task to one agent, which
//! completes it, fails, rejects it or asks for input, as the states of tasks in the protocol are.

use serde::Deserialize;

use crate::Refused;
use crate::json::read;
use crate::names::{Names, shown};
use crate::skeleton::{Property, Skeleton};

/// Maximum number of cards, and of skills of all cards together.
const MAX_PARTS: usize = 500;

/// The members of a card that matter here.
#[derive(Deserialize)]
struct Card {
    name: String,
    skills: Vec<Skill>,
}

#[derive(Deserialize)]
struct Skill {
    id: String,
    #[serde(default)]
    name: String,
}

/// Makes a skeleton from cards: names of files, and their texts.
///
/// # Errors
///
/// If a text is no agent card, or if no card has a skill.
pub fn a2a(files: &[(String, String)]) -> Result<Skeleton, Refused> {
    let cards = cards(files)?;
    let mut names = Names::default();
    // The roles of the task come first, so that no agent gets their names.
    let [client, ..] = ["client", "giving", "waiting", "working"].map(|role| names.give(role));
    let mut skeleton = Skeleton { origin: "agent cards (A2A)", ..Skeleton::default() };
    skeleton.names.push((client.clone(), "the program that gives tasks".to_string()));
    let roles: Vec<String> = cards.iter().map(|card| names.give(&card.name)).collect();
    let mut tasks = Vec::new();
    for (card, role) in cards.iter().zip(&roles) {
        skeleton.names.push((role.clone(), card.name.clone()));
        let mut skills = Names::default();
        for skill in &card.skills {
            let own = skills.give(&skill.id);
            tasks.push(format!("a(giving({own}, {role}), Self)"));
            skeleton.names.push((format!("{own} of {role}"), format!("{} ({})", skill.id, skill.name)));
        }
    }
    skeleton.clauses = vec![client_clause(&client, &tasks), giving(), waiting()];
    skeleton.clauses.extend(roles.iter().map(|role| agent(role)));
    skeleton.clauses.push(working());
    skeleton.team = vec![format!("agent a({client}, {client}).")];
    skeleton.team.extend(roles.iter().map(|role| format!("server a({role}, {role}).")));
    // The client chooses a task, and whether to give input; each agent chooses how a task ends.
    skeleton.n_choices = usize::from(tasks.len() > 1) + 1 + cards.len();
    skeleton.properties = properties(&client, &roles);
    skeleton.assumptions = assumptions(&cards, &roles);
    Ok(skeleton)
}

/// The cards in files, at least one, each with a skill.
fn cards(files: &[(String, String)]) -> Result<Vec<Card>, Refused> {
    let mut cards: Vec<Card> = Vec::new();
    for (file, text) in files {
        let card: Card = read(file, text, "an agent card with `name` and `skills`")?;
        if card.skills.is_empty() {
            return Err(Refused(format!(
                "{file}: the agent {} has no skills, so no task can be given to it",
                shown(&card.name)
            )));
        }
        cards.push(card);
    }
    let n_skills: usize = cards.iter().map(|card| card.skills.len()).sum();
    if cards.is_empty() || cards.len() > MAX_PARTS || n_skills > MAX_PARTS {
        let n_cards = cards.len();
        return Err(Refused(format!(
            "{n_cards} agent cards with {n_skills} skills: expected at least one card, and at most {MAX_PARTS} skills"
        )));
    }
    Ok(cards)
}

/// The usual properties, and that each agent can complete a task.
fn properties(client: &str, roles: &[String]) -> Vec<Property> {
    let mut all = Property::usual().to_vec();
    for role in roles {
        let formula = format!("<-* . in(completed(_), a(working(_, _), {role}))@{client}>tt");
        all.push(Property::new("This agent can complete a task.", format!("completes_{role}"), formula));
    }
    all
}

/// The client chooses a task.
fn client_clause(client: &str, tasks: &[String]) -> String {
    let tasks = if tasks.len() == 1 { tasks.join("") } else { format!("( {} )", tasks.join("\n    or ")) };
    format!("a({client}, Self) ::\n  {tasks}.")
}

/// The client gives a task.
fn giving() -> String {
    "a(giving(Skill, Agent), Self) ::\n  task(Skill) => a(Agent, Agent) then\n  a(waiting(Skill, Agent), Self).".to_string()
}

/// The client waits for the result, and may be asked for input.
fn waiting() -> String {
    "a(waiting(Skill, Agent), Self) ::
  ( completed(Skill) <= a(working(_, _), Agent)
    or failed(Skill) <= a(working(_, _), Agent)
    or rejected(Skill) <= a(Agent, Agent)
    or ( input_required(Skill) <= a(working(_, _), Agent) then
         ( ( input(Skill) => a(working(_, _), Agent) then a(waiting(Skill, Agent), Self) )
           or
           ( cancel(Skill) => a(working(_, _), Agent) then canceled(Skill) <= a(working(_, _), Agent) ) ) ) )."
        .to_string()
}

/// An agent takes a task.
fn agent(role: &str) -> String {
    format!(
        "a({role}, Self) ::
  task(Skill) <= a(giving(_, _), Client) then
  ( rejected(Skill) => a(waiting(_, _), Client)
    or a(working(Skill, Client), Self) ) then
  a({role}, Self)."
    )
}

/// An agent works on a task.
fn working() -> String {
    "a(working(Skill, Client), Self) ::
  ( completed(Skill) => a(waiting(_, _), Client)
    or failed(Skill) => a(waiting(_, _), Client)
    or ( input_required(Skill) => a(waiting(_, _), Client) then
         ( ( input(Skill) <= a(waiting(_, _), Client) then a(working(Skill, Client), Self) )
           or
           ( cancel(Skill) <= a(waiting(_, _), Client) then canceled(Skill) => a(waiting(_, _), Client) ) ) ) )."
        .to_string()
}

/// What the cards do not say.
fn assumptions(cards: &[Card], roles: &[String]) -> Vec<String> {
    let mut all = vec![
        "There is one client, which gives one task: to any agent, for any of its skills.".to_string(),
        "Agents do not give tasks to each other: their cards do not say to whom.".to_string(),
        "A task is completed, fails, is rejected or needs input; authentication, progress and artifacts are left out.".to_string(),
        "The client answers every request for input or cancels the task, any number of times.".to_string(),
    ];
    for (card, role) in cards.iter().zip(roles) {
        let n_skills = masque_text::counted(card.skills.len(), "skill", "skills");
        all.push(format!("{role} may end a task for any of its {n_skills} in any of these ways."));
    }
    all
}
