//! The worlds on decision diagrams.
//!
//! A set of states of a world is a set over the bits of its program ([`layout`]). Worlds are built in
//! the order of the plan: the engine explores the program ([`moves`], [`step`]), computes which states of
//! the worlds below are accessible ([`edge`]), and removes states that are incoherent or start no
//! infinite path ([`world`]). Then it decides formulas ([`truth`]) and explains failures ([`explain`]).

mod edge;
mod explain;
mod graph;
mod layout;
mod matching;
mod moves;
mod number;
mod own;
mod paths;
mod removed;
mod step;
mod subworld;
mod truth;
mod values;
mod world;

use masque_model::Count;
use masque_symbolic::space::{Cube, Limited, Set, Space};
use masque_verdict::{Budget, Verdict, Why};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{Edge, FormulaId, Model, ProgramId, Question, VarId};
use crate::outcome::{Failure, PropertyResult, Status, WorldResult};
use crate::plan::{Plan, WorldId};
use edge::EdgeSets;
use layout::{Layout, ProgramLayout};
use truth::Scope;
use values::MergedValues;
use world::World;

pub use explain::FixedAttitude;
pub use graph::{Link, StatePattern, WorldGraph};
pub use removed::{LossyWorld, RemovedState, RemovedStates, WhyRemoved};

/// The engine: the worlds of a model as decision diagrams, with all results computed so far.
pub struct Engine<'m> {
    model: &'m Model,
    plan: &'m Plan,
    space: Space,
    layout: Layout,
    worlds: FxHashMap<WorldId, World>,
    edges: FxHashMap<(WorldId, Edge), EdgeSets>,
    /// States in which formulas are true.
    truth: FxHashMap<(Scope, WorldId, FormulaId), Set>,
    /// States that start a fair path.
    fair: FxHashMap<WorldId, Set>,
    /// Current bits of programs.
    cubes: FxHashMap<ProgramId, Cube>,
    /// Steps of worlds as pairs of kept states.
    steps: FxHashMap<WorldId, Set>,
    /// Whether states of a world below are never grouped.
    separates_states: bool,
    /// States of programs that are counted.
    counted: FxHashMap<ProgramId, Set>,
}

/// Choices of an engine that do not change any result.
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineOptions {
    /// Whether any two worlds can be compared, not only those of which a property asks it.
    pub compares_all: bool,
    /// Whether variables keep all their values, even those that behave alike. Then all states can be listed.
    pub keeps_values: bool,
    /// Whether states of a world below are never grouped by what the world above sees of them.
    pub separates_states: bool,
}

impl EngineOptions {
    /// Returns the programs whose worlds are compared.
    fn compared(self, model: &Model, plan: &Plan) -> FxHashSet<ProgramId> {
        if self.compares_all {
            return plan.worlds.iter().map(|world| world.program).collect();
        }
        let outer = plan.outer_worlds.iter().zip(&plan.properties);
        let pairs = outer.filter_map(|(outer, inner)| outer.map(|outer| (*inner, outer)));
        debug_assert_eq!(plan.outer_worlds.len(), model.properties.len());
        pairs.filter(|(a, b)| a != b).flat_map(|(a, b)| [plan.program(a), plan.program(b)]).collect()
    }
}

impl<'m> Engine<'m> {
    /// Builds all worlds within a budget.
    pub fn new(model: &'m Model, plan: &'m Plan, budget: &Budget) -> Result<Self, Failure> {
        Engine::with_options(model, plan, EngineOptions::default(), budget)
    }

    /// Builds all worlds within a budget, with all their states, so that they can be listed.
    pub fn with_all_values(model: &'m Model, plan: &'m Plan, budget: &Budget) -> Result<Self, Failure> {
        let options = EngineOptions { keeps_values: true, ..EngineOptions::default() };
        Engine::with_options(model, plan, options, budget)
    }

    /// Builds all worlds within a budget.
    pub fn with_options(
        model: &'m Model,
        plan: &'m Plan,
        options: EngineOptions,
        budget: &Budget,
    ) -> Result<Self, Failure> {
        let compared = options.compared(model, plan);
        let merged =
            if options.keeps_values { MergedValues::default() } else { MergedValues::new(model, &compared) };
        let layout = Layout::new(model, plan, &compared, merged);
        let space = Space::new(layout.n_bits, budget)?;
        let mut engine = Engine {
            model,
            plan,
            space,
            layout,
            worlds: FxHashMap::default(),
            edges: FxHashMap::default(),
            truth: FxHashMap::default(),
            fair: FxHashMap::default(),
            cubes: FxHashMap::default(),
            steps: FxHashMap::default(),
            separates_states: options.separates_states,
            counted: FxHashMap::default(),
        };
        for &world in &plan.order {
            let built = engine.build(world)?;
            engine.worlds.insert(world, built);
        }
        Ok(engine)
    }

    /// Whether some variable does not keep all its values.
    #[doc(hidden)]
    pub fn merges_values(&self) -> bool {
        !self.layout.merged.vars.is_empty()
    }

    /// Sets the budget for all operations that follow.
    pub fn set_budget(&self, budget: &Budget) {
        self.space.set_budget(budget);
    }

    /// Returns the number of bits, the peak number of nodes, and their memory in bytes.
    pub fn size(&self) -> (u32, usize, u64) {
        (self.space.n_bits(), self.space.peak_nodes(), self.space.peak_bytes())
    }

    fn program_of(&self, world: WorldId) -> ProgramId {
        self.plan.program(world)
    }

    fn layout_of(&self, world: WorldId) -> &ProgramLayout {
        &self.layout.programs[&self.program_of(world)]
    }

    fn world(&self, world: WorldId) -> &World {
        &self.worlds[&world]
    }

    /// Returns the number of states in a set of states of a world.
    fn count(&mut self, world: WorldId, set: &Set) -> Limited<Count> {
        let counted = self.counted(self.program_of(world))?;
        let layout = self.layout_of(world);
        let n_weights: usize = layout.weights.values().map(Vec::len).sum();
        let n_bits = (layout.current.len() + n_weights) as u32;
        let count = self.space.count(&self.space.and(set, &counted)?, n_bits);
        Ok(count.to_string().parse().expect("natural numbers are written in decimal digits"))
    }

    /// Returns the cube of the current bits of a program.
    fn cube_of(&mut self, program: ProgramId) -> Limited<Cube> {
        if let Some(cube) = self.cubes.get(&program) {
            return Ok(cube.clone());
        }
        let cube = self.space.cube(self.layout.programs[&program].current.iter().copied())?;
        self.cubes.insert(program, cube.clone());
        Ok(cube)
    }

    /// Returns the status and the numbers of states of a world.
    pub fn world_result(&mut self, id: WorldId) -> Limited<WorldResult> {
        let planned = &self.plan.worlds[id.index()];
        let edges = self.model.edges(planned.program);
        let mut inconsistent = Vec::new();
        if !planned.is_leaf {
            for (edge, _) in &edges {
                let empty = self.nothing_accessible(id, *edge)?;
                let empty = self.space.and(&empty, &self.world(id).kept)?;
                if !empty.is_empty() {
                    inconsistent.push((*edge, self.count(id, &empty)?));
                }
            }
        }
        let fair = self.fair(id)?;
        let world = self.world(id);
        let status = world.status;
        let initial = self.space.and(&world.initial, &world.kept)?;
        let lost_initial = initial != world.initial;
        let good = self.space.minus(&world.built, &world.bad)?;
        let unreachable = self.space.minus(&self.space.minus(&good, &world.dead)?, &world.kept)?;
        let [built, bad, dead, kept] = [&world.built, &world.bad, &world.dead, &world.kept].map(Set::clone);
        let has_fairness = !self.model.program(planned.program).fair.is_empty();
        Ok(WorldResult {
            status,
            built: self.count(id, &built)?,
            bad: self.count(id, &bad)?,
            dead: self.count(id, &dead)?,
            unreachable: self.count(id, &unreachable)?,
            kept: self.count(id, &kept)?,
            initial: self.count(id, &initial)?,
            lost_initial,
            inconsistent,
            is_opaque: planned.is_leaf && !edges.is_empty(),
            removed: Vec::new(),
            subworld_of: None,
            is_unfair: has_fairness && status == Status::Ok && !self.space.intersects(&initial, &fair)?,
        })
    }

    /// Returns the states in which a property is required but not true.
    fn violations(&mut self, index: usize) -> Limited<Set> {
        let holds = self.true_states(index)?;
        let required = self.required(index)?;
        self.space.minus(&required, &holds)
    }

    /// Returns the kept states in which a property is required: all, or the initial ones.
    fn required(&self, index: usize) -> Limited<Set> {
        let world = self.world(self.plan.properties[index]);
        if self.model.properties[index].initially {
            self.space.and(&world.initial, &world.kept)
        } else {
            Ok(world.kept.clone())
        }
    }

    /// Returns the kept states in which a property is true.
    fn true_states(&mut self, index: usize) -> Limited<Set> {
        let world = self.plan.properties[index];
        match self.model.properties[index].question {
            Question::Formula(formula) => self.sat(world, formula),
            Question::Subworld(_) => match self.plan.outer_worlds[index] {
                Some(outer) => self.states_within(world, outer),
                None => Ok(self.space.none()),
            },
            Question::Serial(edge) => {
                let empty = self.nothing_accessible(world, edge)?;
                self.space.minus(&self.world(world).kept, &empty)
            }
            Question::Realism(realism, agent) => {
                let holds = self.realism(world, realism, agent)?;
                self.space.and(&holds, &self.world(world).kept)
            }
        }
    }

    /// Decides a property; if a limit is reached, the verdict is `unknown`.
    pub fn decide(&mut self, index: usize) -> PropertyResult {
        self.try_decide(index).unwrap_or_else(|stop| PropertyResult::undecided(Verdict::Unknown(stop.why)))
    }

    fn try_decide(&mut self, index: usize) -> Limited<PropertyResult> {
        let id = self.plan.properties[index];
        let outer = self.plan.outer_worlds[index];
        if [Some(id), outer].into_iter().flatten().any(|id| self.world(id).status != Status::Ok) {
            return Ok(PropertyResult::undecided(Verdict::Unknown(Why::NoModel)));
        }
        let holds = self.true_states(index)?;
        let required = self.required(index)?;
        let fair = self.fair(id)?;
        let world = self.world(id);
        let fair_start = self.space.and(&world.initial, &fair)?;
        // Sub-worlds are compared with all their paths, fair or not.
        let verdict = if outer.is_some() || self.space.intersects(&fair_start, &world.kept)? {
            Verdict::from(self.space.is_subset(&required, &holds)?)
        } else {
            Verdict::Unknown(Why::NoFairPath)
        };
        let kept = world.kept.clone();
        let satisfied = Some((self.count(id, &holds)?, self.count(id, &kept)?));
        let mut is_vacuous = false;
        if let (Verdict::Holds, Some(antecedent)) = (verdict, self.model.properties[index].antecedent) {
            let is_true = self.sat(id, antecedent.formula)?;
            let states = if antecedent.is_everywhere { self.world(id).kept.clone() } else { required };
            is_vacuous = !self.space.intersects(&is_true, &states)?;
        }
        Ok(PropertyResult { satisfied, is_vacuous, ..PropertyResult::undecided(verdict) })
    }

    /// Returns the explicit attitudes of an edge of a world.
    fn explicit(&self, world: WorldId, edge: Edge) -> Vec<VarId> {
        let edges = self.model.edges(self.program_of(world));
        edges.into_iter().find(|(e, _)| *e == edge).map(|(_, vars)| vars).unwrap_or_default()
    }
}
