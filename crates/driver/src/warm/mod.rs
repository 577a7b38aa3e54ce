//! A model that stays loaded, with its encoding, and answers many questions about single states.
//!
//! States have numbers, which the model assigns when it meets a state for the first time. The numbers have no
//! meaning outside this value; a run that must survive it is a [`TraceRun`], which names values and actions.
//!
//! | question | interpreted systems | other languages |
//! |---|---|---|
//! | initial states, steps | by the definition (`model::steps`), without an encoding | the [`Explorer`](crate::Explorer) |
//! | truth of formulas | the encoding, kept by a thread (`resident`) | the solver; results are kept |
//! | indistinguishable states | the encoding | none: their states have no views of agents |
//! | shortest paths | the encoding | breadth first |
//!
//! The encoding is made for the first question that needs it. A formula that is new needs an encoding of the system
//! with this formula; it is kept for the next states.

mod formula_parts;
mod labelled;
mod resident;
mod switches;
mod system;

use std::rc::Rc;
use std::sync::Arc;

use masque_verdict::Why;
use serde::{Deserialize, Serialize};

use crate::check::Limits;
use crate::load::{Loaded, Model};
use crate::trace::{TraceAction, TraceRun, TraceState, TraceStep, TraceValue};
use crate::{Cut, Event, Language, Refused, Trace, Truth};

use labelled::{WarmLabelled, trace_name, world_of};
use system::WarmSystem;

pub use switches::{ProtocolSwitches, Statement, StatementKind, SwitchedVerdict};

/// Maximum index of an item of a list, unless [`WarmModel::with_max_listed`] sets another. Items beyond it are not listed.
pub const MAX_LISTED_INDEX: usize = 10_000;
/// Maximum number of states that a model remembers. A model with more must be loaded again.
pub const MAX_KNOWN_STATES: usize = 1 << 20;

/// A model that answers questions.
pub struct WarmModel {
    loaded: Rc<Loaded>,
    kind: Kind,
    /// Maximum index of an item of a list.
    max_listed: usize,
}

/// A model of either kind of steps.
#[allow(clippy::large_enum_variant, reason = "there is one value in a process")]
enum Kind {
    System(WarmSystem),
    Labelled(WarmLabelled),
}

/// A part of a list: at most `limit` items from the index `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRange {
    /// Index of the first item.
    pub offset: usize,
    /// Maximum number of items.
    pub limit: usize,
}

impl PageRange {
    /// The index after the last item.
    fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }

    /// The part of the page below an index.
    fn below(self, index: usize) -> PageRange {
        let offset = self.offset.min(index);
        PageRange { offset, limit: self.limit.min(index - offset) }
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    /// The items.
    pub items: Vec<T>,
    /// Whether items follow, or may follow.
    pub has_more: bool,
    /// Number of all items in decimal, if it is known.
    pub count: Option<String>,
}

impl<T> Listed<T> {
    /// A page of a list of which all items are known.
    fn of_all(all: Vec<T>, page: PageRange) -> Listed<T> {
        let count = Some(all.len().to_string());
        let has_more = all.len() > page.end();
        let items = all.into_iter().take(page.end()).skip(page.offset).collect();
        Listed { items, has_more, count }
    }
}

/// A step from a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmStep {
    /// What happens.
    pub action: TraceAction,
    /// What happens, as text.
    pub text: String,
    /// For a protocol: the event. It is not sent to other processes.
    #[serde(skip)]
    pub event: Option<Event>,
    /// State after the step.
    pub to: usize,
}

/// The steps of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmSteps {
    /// Steps; the number of all is that of joint actions, of which one may have several successors.
    pub steps: Listed<WarmStep>,
    /// For interpreted systems: each agent with the actions it can choose from in this state.
    pub agents: Vec<(String, Vec<String>)>,
    /// If there is no step: the reasons, one for each line.
    pub end: Vec<String>,
    /// Name of the bound in the model that was reached, if there may be more steps.
    pub cut: Option<String>,
}

/// A formula that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Asked {
    /// The property of the model with this index.
    Property(usize),
    /// A formula in the language of the model.
    Formula(String),
}

/// The truth of a formula, or of a part of it, at a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartTruth {
    /// The formula as written.
    pub text: String,
    /// Number of formulas that contain it.
    pub depth: usize,
    /// Whether the same formula is listed before; then its parts are not listed again.
    pub is_repeated: bool,
    /// Whether it is true; `None` if that is not known.
    pub holds: Option<bool>,
    /// Why it is not known.
    pub why: Option<String>,
}

/// A part of the state graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WarmGraph {
    /// Numbers of the states, in the order in which a search from the initial states finds them.
    pub states: Vec<usize>,
    /// Number of initial states, which are the first ones.
    pub n_initial: usize,
    /// Whether the graph has all successors of a state, per state.
    pub expanded: Vec<bool>,
    /// Steps: the indices of two states in `states`, and the labels of the steps from one to the other.
    pub edges: Vec<(usize, usize, Vec<String>)>,
    /// What is left out, if anything is.
    pub cut: Option<String>,
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// A limit was hit, or the model cannot answer.
    Stopped(Why),
    /// The formula has errors.
    Refused(Box<Refused>),
    /// The question makes no sense for this model or state: a message.
    Impossible(&'static str),
}

impl From<Why> for Unanswered {
    fn from(why: Why) -> Unanswered {
        Unanswered::Stopped(why)
    }
}

impl From<Box<Refused>> for Unanswered {
    fn from(refused: Box<Refused>) -> Unanswered {
        Unanswered::Refused(refused)
    }
}

/// The result of a question.
pub type Answer<T> = Result<T, Unanswered>;

/// A walk along steps: its first state, and the steps taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmWalk {
    /// Number of the first state.
    pub start: usize,
    /// Steps from there.
    pub steps: Vec<WarmStep>,
}

impl WarmWalk {
    /// The number of the last state.
    pub fn last(&self) -> usize {
        self.steps.last().map_or(self.start, |step| step.to)
    }
}

impl WarmModel {
    /// Keeps a loaded model; nothing if it has errors. For a BDI file, its worlds are built now, and at most
    /// `max_states` of their states are listed.
    ///
    /// # Errors
    ///
    /// If the worlds of a BDI file cannot be built within the limits.
    pub fn new(loaded: Rc<Loaded>, max_states: usize, limits: &Limits) -> Result<Option<WarmModel>, Why> {
        let kind = match &loaded.model {
            None => return Ok(None),
            Some(Model::Ispl(system)) => Kind::System(WarmSystem::new(&loaded, system)),
            Some(_) => match loaded.explorer(max_states, limits)? {
                None => return Ok(None),
                Some(explorer) => Kind::Labelled(WarmLabelled::new(&loaded, explorer)),
            },
        };
        Ok(Some(WarmModel { loaded, kind, max_listed: MAX_LISTED_INDEX }))
    }

    /// Sets the maximum index of an item of a list, [`MAX_LISTED_INDEX`] by default. A long list takes time and memory in
    /// proportion to the index of its last item.
    #[must_use]
    pub fn with_max_listed(self, max_listed: usize) -> WarmModel {
        WarmModel { max_listed, ..self }
    }

    /// The loaded model.
    pub fn loaded(&self) -> &Rc<Loaded> {
        &self.loaded
    }

    /// The initial states.
    ///
    /// # Errors
    ///
    /// If they cannot be found within the limits.
    pub fn initial(&mut self, page: PageRange, limits: &Limits) -> Answer<Listed<usize>> {
        let page = page.below(self.max_listed);
        match &mut self.kind {
            Kind::System(system) => system.initial(page, limits),
            Kind::Labelled(model) => Ok(model.initial(page)),
        }
    }

    /// The named values of a state; nothing for a number that was not given out.
    pub fn values(&self, state: usize) -> Vec<(String, String)> {
        match &self.kind {
            Kind::System(system) => system.values(state),
            Kind::Labelled(model) => model.values(state),
        }
    }

    /// The number of the state of an interpreted system that has these values; none if a variable has no value. The
    /// state need not be reachable: then formulas have no truth there. For BDI files, the number of the listed state
    /// with these values; none if no listed state has them.
    ///
    /// # Errors
    ///
    /// If the states of the model cannot be found by their values.
    pub fn find(&mut self, values: &[(String, String)]) -> Answer<Option<usize>> {
        match &mut self.kind {
            Kind::System(system) => system.find(values),
            Kind::Labelled(model) => model.find(values),
        }
    }

    /// The steps of a state. `fixed` selects the steps in which these agents perform these actions.
    ///
    /// # Errors
    ///
    /// If there is no such state, or too many states are known.
    pub fn steps(&mut self, state: usize, fixed: &[(String, String)], page: PageRange) -> Answer<WarmSteps> {
        let page = page.below(self.max_listed);
        match &mut self.kind {
            Kind::System(system) => system.steps(state, fixed, page),
            Kind::Labelled(model) => model.steps(state, page),
        }
    }

    /// A random step; none if there is no step. `roll(n)` returns a number below n.
    ///
    /// # Errors
    ///
    /// If there is no such state, or too many states are known.
    pub fn random_step(
        &mut self,
        state: usize,
        roll: &mut dyn FnMut(usize) -> usize,
    ) -> Answer<Option<WarmStep>> {
        match &mut self.kind {
            Kind::System(system) => system.random_step(state, roll),
            Kind::Labelled(model) => model.random_step(state, roll),
        }
    }

    /// The truth of a formula at a state. The parts of the formula that have a truth there follow it, each before its own
    /// parts, at most `max_parts` in all.
    ///
    /// # Errors
    ///
    /// If the formula has errors, there is no such state, or a limit is hit.
    pub fn truth(
        &mut self,
        asked: &Asked,
        state: usize,
        max_parts: usize,
        limits: &Limits,
    ) -> Answer<Vec<PartTruth>> {
        match &mut self.kind {
            Kind::System(system) => system.truth(asked, state, max_parts, limits),
            Kind::Labelled(model) => model.truths(asked, state, max_parts, limits),
        }
    }

    /// The truth of a formula at each of these states; `None` where it is not known.
    ///
    /// # Errors
    ///
    /// If the formula has errors, there is no such state, or a limit is hit.
    pub fn truth_at_each(
        &mut self,
        asked: &Asked,
        states: &[usize],
        limits: &Limits,
    ) -> Answer<Vec<Option<bool>>> {
        match &mut self.kind {
            Kind::System(system) => system.truth_at_each(asked, states, limits),
            Kind::Labelled(model) => {
                states.iter().map(|&state| Ok(model.truth(asked, state, limits)?.holds)).collect()
            }
        }
    }

    /// The states at which a formula is true, or all states if none is given. For an interpreted system these are the
    /// reachable states, or with fairness constraints those on a fair path, and the number of all of them is exact; for
    /// other models, the states that a search finds first: as many as the page needs, and at least [`MAX_LISTED_INDEX`].
    ///
    /// # Errors
    ///
    /// If the formula has errors, or a limit is hit.
    pub fn states_where(
        &mut self,
        asked: Option<&Asked>,
        page: PageRange,
        limits: &Limits,
    ) -> Answer<Listed<usize>> {
        let page = page.below(self.max_listed);
        match &mut self.kind {
            Kind::System(system) => system.states_where(asked, page, limits),
            Kind::Labelled(model) => model.states_where(asked, page, limits),
        }
    }

    /// The reachable states that the agents, combining what they see, cannot distinguish from a state, which is
    /// one of them.
    ///
    /// # Errors
    ///
    /// If the model has no such agents or no views of agents, there is no such state, or a limit is hit.
    pub fn alike(
        &mut self,
        agents: &[String],
        state: usize,
        page: PageRange,
        limits: &Limits,
    ) -> Answer<Listed<usize>> {
        let page = page.below(self.max_listed);
        match &mut self.kind {
            Kind::System(system) => system.alike(agents, state, page, limits),
            Kind::Labelled(_) => {
                Err(Unanswered::Impossible("only states of ISPL models have views of agents"))
            }
        }
    }

    /// A shortest walk to a state at which a formula is true, from a state or else from an initial state; none if
    /// there is no such walk.
    ///
    /// # Errors
    ///
    /// If the formula has errors, there is no such state, or a limit is hit.
    pub fn path_to(
        &mut self,
        asked: &Asked,
        from: Option<usize>,
        limits: &Limits,
    ) -> Answer<Option<WarmWalk>> {
        match &mut self.kind {
            Kind::System(system) => system.path_to(asked, from, limits),
            Kind::Labelled(model) => model.path_to(asked, from, limits),
        }
    }

    /// Why a formula is true or false at the end of a walk from an initial state, with the system that has the
    /// formula.
    ///
    /// # Errors
    ///
    /// If the model is not an interpreted system, the formula has errors, or a limit is hit.
    pub fn explain(
        &mut self,
        asked: &Asked,
        walk: &WarmWalk,
        limits: &Limits,
    ) -> Answer<(Arc<crate::System>, Truth)> {
        match &mut self.kind {
            Kind::System(system) => system.explain(asked, walk, limits),
            Kind::Labelled(_) => Err(Unanswered::Impossible("this language has no reasons at single states")),
        }
    }

    /// The states and steps that a search from the initial states finds first, at most `max_states` states.
    ///
    /// # Errors
    ///
    /// If the initial states cannot be found, or the user interrupts.
    pub fn graph(&mut self, max_states: usize, limits: &Limits) -> Answer<WarmGraph> {
        match &mut self.kind {
            Kind::System(system) => system.graph(max_states, limits),
            Kind::Labelled(model) => model.graph(max_states, limits),
        }
    }

    /// A walk as a trace of a protocol; none for models without messages.
    pub fn trace(&mut self, walk: &WarmWalk) -> Option<Trace> {
        match &mut self.kind {
            Kind::System(_) => None,
            Kind::Labelled(model) => model.trace(walk),
        }
    }

    /// What each agent of a protocol is doing in a state; empty for other models.
    ///
    /// # Errors
    ///
    /// If there is no such state.
    pub fn standings(&mut self, state: usize) -> Answer<Vec<masque_lcc::Standing>> {
        match &mut self.kind {
            Kind::System(_) => Ok(Vec::new()),
            Kind::Labelled(model) => model.standings(state),
        }
    }

    /// Follows a run as far as it is possible in this model. Returns also why it stopped, if it did; nothing if the
    /// first state of the run is not an initial state.
    ///
    /// # Errors
    ///
    /// If too many states are known.
    pub fn follow(&mut self, run: &TraceRun) -> Answer<Option<(WarmWalk, Option<&'static str>)>> {
        match &mut self.kind {
            Kind::System(system) => system.follow(run),
            Kind::Labelled(model) => model.follow(run),
        }
    }

    /// A walk as a run that names its values and actions. A run of a BDI file stays in one world, so it ends where
    /// the walk changes worlds.
    pub fn run(&self, walk: &WarmWalk) -> TraceRun {
        let language = self.loaded.language;
        let world = match language {
            Some(Language::Bdi) => world_of(&self.values(walk.start)),
            _ => None,
        };
        let state = |values: Vec<(String, String)>| {
            let is_given = |(name, _): &(String, String)| world.is_none() || name != "world";
            let named = values.into_iter().filter(is_given);
            let named = named
                .map(|(name, value)| (trace_name(language, &name).to_string(), TraceValue::Written(value)));
            TraceState { values: named.collect(), ..TraceState::default() }
        };
        let mut run = TraceRun { states: vec![state(self.values(walk.start))], ..TraceRun::default() };
        for step in &walk.steps {
            let values = self.values(step.to);
            if world.is_some() && world_of(&values) != world {
                break;
            }
            // What a step of a BDI program does is part of the state after it.
            let action = if world.is_some() { TraceAction::NotGiven } else { step.action.clone() };
            run.states.push(state(values));
            run.steps.push(TraceStep { place: Default::default(), action });
        }
        run.world = world;
        run
    }
}

/// What is left out of a graph, as a sentence.
fn cut_text(cut: Cut) -> String {
    match cut {
        Cut::States => "There are more states than are drawn.".to_string(),
        Cut::Edges => "There are more steps than are drawn.".to_string(),
        Cut::Bound(name) => format!("The bound `{name}` of the model was reached."),
        Cut::Stopped(why) => format!("The search was stopped: {}.", why.word()),
    }
}
