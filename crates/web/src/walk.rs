//! The commands of the simulator. The walk belongs to a tab; its states have numbers in one process only, so it
//! is followed again by its names when the process or the model has changed.

use masque_driver::warm::{Asked, PageRange, WarmWalk};

use crate::protocol::{Ask, NamedRun, Reply};
use crate::state::Asker;
use crate::tab::Tab;

/// Maximum number of steps of a walk.
pub(crate) const MAX_STEPS: usize = 10_000;
/// Maximum number of random steps at once.
const MAX_RANDOM_STEPS: usize = 1000;
/// Maximum number of formulas that are shown at each state.
const MAX_FORMULAS: usize = 12;
/// Maximum characters of a formula.
const MAX_FORMULA_CHARS: usize = 10_000;

/// A command of the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Start again.
    Reset,
    /// Begin in an initial state, by its index among all.
    Begin(usize),
    /// Take a step, by its index among those of the state.
    Step(usize),
    /// Show the state after this many steps.
    Go(usize),
    /// Take random steps.
    Random(usize),
    /// Follow a run, and show its state with this index.
    Follow(NamedRun, usize),
    /// List only steps in which an agent performs an action; all if the action is empty.
    Fix(String, String),
    /// Show a formula at each state.
    AddFormula(String),
    /// Show it no more.
    RemoveFormula(usize),
    /// Walk to a state at which a formula is true.
    PathTo(String),
}

impl Tab {
    /// Makes sure that the walk has numbers in this process.
    pub(crate) async fn resume_walk(&self, asker: &mut Asker<'_>) -> Result<(), String> {
        let (named, position) = {
            let mut state = self.walk();
            if state.walk.is_none() || state.generation == asker.generation() {
                state.generation = asker.generation();
                return Ok(());
            }
            (state.named.clone(), state.position)
        };
        let n_steps = named.steps.len();
        let reply = asker.ask(&Ask::Follow { run: named.clone() }).await;
        let mut state = self.walk();
        state.generation = asker.generation();
        match reply {
            Ok(Reply::Followed { walk: Some(info), stopped }) => {
                let n_left = info.walk.steps.len();
                state.named.states.truncate(n_left + 1);
                state.named.steps.truncate(n_left);
                state.position = position.min(n_left);
                state.walk = Some(info.walk);
                if let Some(why) = stopped {
                    state.note = Some(format!("The walk ends after {n_left} of {n_steps} steps: {why}."));
                }
            }
            Ok(Reply::Followed { walk: None, stopped }) => {
                (state.walk, state.position, state.named) = (None, 0, NamedRun::default());
                state.note = stopped.map(|why| format!("The walk begins anew: {why}."));
            }
            Ok(_) => {}
            Err(message) => {
                (state.walk, state.position) = (None, 0);
                return Err(message);
            }
        }
        state.fixed.clear();
        Ok(())
    }

    /// Runs a command. A message about what went wrong is kept for the page.
    pub(crate) async fn walk_command(&self, command: Command) {
        let result = match self.app.asker().await {
            Err(crate::child::NoReply::Failed(message)) => Err(message),
            Err(crate::child::NoReply::Cancelled) => Err("it was cancelled".to_string()),
            Ok(mut asker) => match self.resume_walk(&mut asker).await {
                Err(message) => Err(message),
                Ok(()) => {
                    self.walk().note = None;
                    self.run_command(&mut asker, command).await
                }
            },
        };
        if let Err(message) = result {
            self.walk().note = Some(sentence(&message));
        }
    }

    async fn run_command(&self, asker: &mut Asker<'_>, command: Command) -> Result<(), String> {
        match command {
            Command::Reset => {
                let mut state = self.walk();
                (state.walk, state.position, state.named) = (None, 0, NamedRun::default());
                state.fixed.clear();
                Ok(())
            }
            Command::Begin(index) => {
                let page = PageRange { offset: index, limit: 1 };
                let Reply::Initial(found) = asker.ask(&Ask::Initial { page }).await? else { return Ok(()) };
                let first = found.items.first().ok_or("there is no such initial state")?;
                self.set_walk(asker, WarmWalk { start: first.number, steps: Vec::new() }, 0).await
            }
            Command::Step(index) => {
                let (walk, fixed) = self.walk_so_far().ok_or("choose an initial state first")?;
                let page = PageRange { offset: index, limit: 1 };
                let ask = Ask::State { state: walk.last(), fixed, page };
                let Reply::State(found) = asker.ask(&ask).await? else { return Ok(()) };
                let step = found.steps.steps.items.into_iter().next().ok_or("there is no such step")?;
                self.extend(asker, walk, vec![step]).await
            }
            Command::Random(n_steps) => {
                let (walk, _) = match self.walk_so_far() {
                    Some(walk) => walk,
                    None => (self.random_start(asker).await?, Vec::new()),
                };
                let seed = self.next_seed();
                let n_steps = n_steps.min(MAX_RANDOM_STEPS);
                let ask = Ask::Random { state: walk.last(), n_steps, seed };
                let Reply::Walk(info) = asker.ask(&ask).await? else { return Ok(()) };
                self.extend(asker, walk, info.walk.steps).await
            }
            Command::Go(position) => {
                let mut state = self.walk();
                let n_steps = state.walk.as_ref().map_or(0, |walk| walk.steps.len());
                state.position = position.min(n_steps);
                state.fixed.clear();
                Ok(())
            }
            Command::Follow(run, position) => {
                let reply = asker.ask(&Ask::Follow { run }).await?;
                let Reply::Followed { walk, stopped } = reply else { return Ok(()) };
                let walk = walk.ok_or_else(|| stopped.clone().unwrap_or_default())?.walk;
                let position = position.min(walk.steps.len());
                self.set_walk(asker, walk, position).await?;
                stopped.map_or(Ok(()), Err)
            }
            Command::Fix(agent, action) => {
                let mut state = self.walk();
                state.fixed.retain(|(known, _)| *known != agent);
                if !action.is_empty() {
                    state.fixed.push((agent, action));
                }
                Ok(())
            }
            Command::AddFormula(text) => {
                let text = text.trim().to_string();
                if text.is_empty() || text.chars().count() > MAX_FORMULA_CHARS {
                    return Err(format!("a formula has 1 to {MAX_FORMULA_CHARS} characters"));
                }
                let mut state = self.walk();
                state.formulas.retain(|known| *known != text);
                state.formulas.insert(0, text);
                state.formulas.truncate(MAX_FORMULAS);
                Ok(())
            }
            Command::RemoveFormula(index) => {
                let mut state = self.walk();
                if index < state.formulas.len() {
                    state.formulas.remove(index);
                }
                Ok(())
            }
            Command::PathTo(text) => self.path_to(asker, text).await,
        }
    }

    async fn path_to(&self, asker: &mut Asker<'_>, text: String) -> Result<(), String> {
        let so_far = self.walk_so_far().map(|(walk, _)| walk);
        let from = so_far.as_ref().map(WarmWalk::last);
        let formula = Asked::Formula(text.trim().to_string());
        let Reply::Path(found) = asker.ask(&Ask::PathTo { formula, from }).await? else { return Ok(()) };
        let Some(found) = found else {
            let from = if so_far.is_some() { "this state" } else { "the initial states" };
            return Err(format!("no state that is reachable from {from} satisfies it"));
        };
        if found.walk.steps.is_empty() && so_far.is_some() {
            return Err("it is true at this state already".to_string());
        }
        match so_far {
            Some(walk) => self.extend(asker, walk, found.walk.steps).await,
            None => {
                let n_steps = found.walk.steps.len();
                self.set_walk(asker, found.walk, n_steps).await
            }
        }
    }

    /// The walk up to the state that is shown, and the actions that are fixed; none before it begins.
    pub(crate) fn walk_so_far(&self) -> Option<(WarmWalk, Vec<(String, String)>)> {
        let state = self.walk();
        let mut walk = state.walk.clone()?;
        walk.steps.truncate(state.position);
        Some((walk, state.fixed.clone()))
    }

    /// A walk of no steps from a random initial state among the first.
    async fn random_start(&self, asker: &mut Asker<'_>) -> Result<WarmWalk, String> {
        let page = PageRange { offset: 0, limit: 100 };
        let Reply::Initial(found) = asker.ask(&Ask::Initial { page }).await? else {
            return Ok(WarmWalk::default());
        };
        if found.items.is_empty() {
            return Err("the model has no initial state".to_string());
        }
        let index = (self.next_seed() % found.items.len() as u64) as usize;
        Ok(WarmWalk { start: found.items[index].number, steps: Vec::new() })
    }

    /// A seed that differs from the one before.
    fn next_seed(&self) -> u64 {
        let mut state = self.walk();
        state.seed = state.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state.seed ^ (state.seed >> 31)
    }

    async fn extend(
        &self,
        asker: &mut Asker<'_>,
        mut walk: WarmWalk,
        steps: Vec<masque_driver::warm::WarmStep>,
    ) -> Result<(), String> {
        if steps.is_empty() {
            return Err("no step is possible here".to_string());
        }
        if walk.steps.len() + steps.len() > MAX_STEPS {
            return Err(format!("a walk has at most {MAX_STEPS} steps"));
        }
        // A step that the walk took before is gone through again; what follows it is kept.
        let known = self.walk().walk.clone();
        let position = walk.steps.len();
        let is_repeated = known.as_ref().is_some_and(|known| known.steps[position..].starts_with(&steps));
        let n_steps = steps.len();
        match known {
            Some(known) if is_repeated => walk = known,
            _ => walk.steps.extend(steps),
        }
        self.set_walk(asker, walk, position + n_steps).await
    }

    /// Keeps a walk, with its names. The names of the steps that it has in common with the walk before are known.
    async fn set_walk(&self, asker: &mut Asker<'_>, walk: WarmWalk, position: usize) -> Result<(), String> {
        let n_known = match &self.walk().walk {
            Some(known) if known.start == walk.start => {
                let same = known.steps.iter().zip(&walk.steps).take_while(|(one, other)| one == other);
                Some(same.count())
            }
            _ => None,
        };
        let from = n_known.unwrap_or(0);
        let start = from.checked_sub(1).map_or(walk.start, |last| walk.steps[last].to);
        let rest = WarmWalk { start, steps: walk.steps[from..].to_vec() };
        let Reply::Named(new) = asker.ask(&Ask::Named { walk: rest }).await? else { return Ok(()) };
        let mut state = self.walk();
        let mut named = std::mem::take(&mut state.named);
        named.states.truncate(from);
        named.steps.truncate(from);
        named.states.extend(new.states);
        named.steps.extend(new.steps);
        (state.walk, state.named, state.position) = (Some(walk), named, position);
        state.generation = asker.generation();
        state.fixed.clear();
        Ok(())
    }
}

/// A message as a sentence.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', ')', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
