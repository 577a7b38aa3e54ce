//! Plans the worlds: which there are, in which order they are built, and where nesting ends.
//!
//! A world depends only on its program and, with a nesting bound, on its depth, never on its parent.
//! So one world per program and depth serves all paths that lead to it. A world is built after the
//! worlds below in which it evaluates formulas. If there is no such order, no finite set of worlds is
//! sufficient, and the file is rejected unless it sets `option nesting`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use masque_text::{Diagnostic, ReadLimits, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    Condition2, Edge, Formula, FormulaId, Model, ProgramId, Question, SelfAttitudes, WorldPath,
};
use crate::tree::Op;

masque_text::ids! {
    /// A world of a [`Plan`].
    WorldId
}

/// A world before it is built.
#[derive(Clone, Debug)]
pub struct PlannedWorld {
    /// Program that generates the world.
    pub program: ProgramId,
    /// Number of edges from a root; 0 if nesting is not bounded.
    pub depth: u32,
    /// Whether nesting ends here, so that explicit attitudes are only labels.
    pub is_leaf: bool,
    /// Worlds below, by edge.
    pub children: BTreeMap<Edge, WorldId>,
}

/// Part of its own state that an agent has attitudes about. [BB04 Fig. 1]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnPart {
    /// The values of its variables and explicit attitudes: it believes that they are as they are.
    Variables,
    /// Its action: it intends to do what it does.
    Action,
}

/// A path to a world that the file mentions.
#[derive(Clone, Debug)]
pub struct PlannedPath {
    /// Root and edges.
    pub path: WorldPath,
    /// The path as text.
    pub text: String,
    /// World at the end of the path.
    pub world: WorldId,
}

/// The worlds of a model.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// All worlds.
    pub worlds: Vec<PlannedWorld>,
    /// All worlds, each after those it is built from.
    pub order: Vec<WorldId>,
    /// The world of each property.
    pub properties: Vec<WorldId>,
    /// For each property, the world that its world should be a sub-world of, if it asks that.
    pub outer_worlds: Vec<Option<WorldId>>,
    /// Paths to worlds, from the top world and from the roots that properties name.
    pub paths: Vec<PlannedPath>,
    /// Whether there are more paths than are listed.
    pub is_cut: bool,
}

/// Maximum number of listed paths. Worlds are shared, so there may be exponentially many paths.
const MAX_LISTED_PATHS: usize = 2000;

/// Estimate of the memory for a formula that must be evaluated in a world, in bytes.
const BYTES_PER_NEED: u64 = 96;
/// Memory for a world in a list, in bytes.
const BYTES_PER_WORLD_ID: u64 = 4;

impl Plan {
    /// Plans the worlds that the top world and the properties need, or says why no finite set suffices.
    pub fn new(model: &Model, file: Span) -> Result<Plan, Box<Diagnostic>> {
        Plan::within(model, file, &ReadLimits::default())
    }

    /// Does what [`Plan::new`] does, within limits. If one is exceeded, the plan is incomplete.
    pub(crate) fn within(model: &Model, file: Span, limits: &ReadLimits) -> Result<Plan, Box<Diagnostic>> {
        let mut planner = Planner::new(model, file, limits);
        planner.run()?;
        planner.sort()?;
        let Planner { mut plan, .. } = planner;
        plan.list(model);
        Ok(plan)
    }

    /// Returns the shortest path to a world, as text.
    pub fn name(&self, world: WorldId) -> &str {
        let paths = self.paths.iter().filter(|p| p.world == world);
        paths.min_by_key(|p| p.path.edges.len()).map_or("", |p| p.text.as_str())
    }

    /// Returns the worlds in the order of the paths, each once.
    pub(crate) fn worlds_by_path(&self) -> impl Iterator<Item = WorldId> + '_ {
        let mut seen = FxHashSet::default();
        self.paths.iter().map(|path| path.world).filter(move |world| seen.insert(*world))
    }

    /// Returns the program that runs in a world.
    pub fn program(&self, world: WorldId) -> ProgramId {
        self.worlds[world.index()].program
    }

    /// Returns the world below on an edge, if there is one.
    pub fn child(&self, world: WorldId, edge: Edge) -> Option<WorldId> {
        self.worlds[world.index()].children.get(&edge).copied()
    }

    /// Whether an edge leads from a world to the world itself: an agent's attitude about itself.
    pub fn is_knotted(&self, world: WorldId, edge: Edge) -> bool {
        self.child(world, edge) == Some(world)
    }

    /// Returns the part of its own state that an agent has attitudes about on an edge, under `option self = paper`:
    /// only if the edge leads to the world itself.
    pub fn own_part(&self, model: &Model, world: WorldId, edge: Edge) -> Option<OwnPart> {
        if model.options.self_attitudes == SelfAttitudes::Explicit || !self.is_knotted(world, edge) {
            return None;
        }
        match edge.op {
            Op::B => Some(OwnPart::Variables),
            Op::D => None,
            Op::I => Some(OwnPart::Action),
        }
    }

    /// Returns the edges on which agents have attitudes about a part of their own state, with their worlds.
    pub(crate) fn own_edges<'p>(
        &'p self,
        model: &'p Model,
    ) -> impl Iterator<Item = (WorldId, Edge, OwnPart)> + 'p {
        let worlds = (0..self.worlds.len() as u32).map(WorldId).zip(&self.worlds);
        let edges = worlds.flat_map(|(id, world)| world.children.keys().map(move |edge| (id, *edge)));
        edges.filter_map(|(id, edge)| Some((id, edge, self.own_part(model, id, edge)?)))
    }

    /// Whether the truth of an attitude in a world is read from its label.
    pub fn is_label(&self, model: &Model, world: WorldId, is_explicit: bool) -> bool {
        is_explicit && (model.options.condition2 == Condition2::Remove || self.worlds[world.index()].is_leaf)
    }

    /// Returns the attitudes of a formula that are looked up in accessible states.
    fn looked_up(&self, model: &Model, world: WorldId, formula: FormulaId) -> Vec<LookedUp> {
        let attitudes = model.attitudes(formula).into_iter().filter_map(|id| match *model.formula(id) {
            Formula::Attitude { edge, arg, explicit } => Some((id, edge, arg, explicit)),
            _ => None,
        });
        let looked_up = attitudes.filter(|(.., explicit)| !self.is_label(model, world, explicit.is_some()));
        looked_up.map(|(attitude, edge, arg, _)| LookedUp { attitude, edge, arg }).collect()
    }
}

/// An attitude that is looked up in accessible states.
struct LookedUp {
    /// The attitude itself.
    attitude: FormulaId,
    edge: Edge,
    arg: FormulaId,
}

/// A formula that must be evaluated in a world.
struct NeededFormula {
    world: WorldId,
    formula: FormulaId,
    /// World that cannot be built before this formula is evaluated, and the worlds between the two.
    builder: Option<(WorldId, Vec<WorldId>)>,
    /// Span for an error message.
    span: Span,
}

/// Reason why a world is built from another.
struct Use {
    /// Worlds between the two.
    between: Vec<WorldId>,
    /// Span of the attitude that leads there.
    span: Span,
}

/// Worlds that a world is built from.
type Uses = BTreeMap<WorldId, Use>;

struct Planner<'m> {
    limits: &'m ReadLimits,
    model: &'m Model,
    file: Span,
    plan: Plan,
    ids: FxHashMap<(ProgramId, u32), WorldId>,
    uses: Vec<Uses>,
    open: Vec<NeededFormula>,
    /// Explicit attitudes of new worlds: edges, arguments and spans.
    pending: Vec<(WorldId, Edge, FormulaId, Span)>,
    seen: FxHashSet<(WorldId, FormulaId, Option<WorldId>)>,
}

impl<'m> Planner<'m> {
    fn new(model: &'m Model, file: Span, limits: &'m ReadLimits) -> Self {
        Planner {
            limits,
            model,
            file,
            plan: Plan::default(),
            ids: FxHashMap::default(),
            uses: Vec::new(),
            open: Vec::new(),
            pending: Vec::new(),
            seen: FxHashSet::default(),
        }
    }

    fn run(&mut self) -> Result<(), Box<Diagnostic>> {
        if let Some(top) = self.model.top {
            self.world(self.model.agents[top.index()].program, 0);
            self.work()?;
        }
        for property in &self.model.properties {
            if self.limits.exceeded().is_some() {
                return Ok(());
            }
            let world = self.world_at(&property.path, property.span)?;
            let outer = match &property.question {
                Question::Subworld(outer) => Some(self.world_at(outer, property.span)?),
                _ => None,
            };
            if let Question::Formula(formula) = property.question {
                self.open.push(NeededFormula { world, formula, builder: None, span: property.span });
                let formula = property.antecedent.map_or(formula, |antecedent| antecedent.formula);
                self.open.push(NeededFormula { world, formula, builder: None, span: property.span });
            }
            for edge in property.question.edges() {
                self.child(world, edge, property.span)?;
            }
            self.plan.properties.push(world);
            self.plan.outer_worlds.push(outer);
            self.work()?;
        }
        Ok(())
    }

    /// Returns the world at the end of a path.
    fn world_at(&mut self, path: &WorldPath, span: Span) -> Result<WorldId, Box<Diagnostic>> {
        let mut world = self.world(self.model.agents[path.root.index()].program, 0);
        for &edge in &path.edges {
            world = self.child(world, edge, span)?;
        }
        Ok(world)
    }

    /// Returns the world of a program at a depth; if it is new, queues the formulas it is built from.
    fn world(&mut self, program: ProgramId, depth: u32) -> WorldId {
        let bound = self.model.options.nesting;
        let depth = if bound.is_some() { depth } else { 0 };
        if let Some(&id) = self.ids.get(&(program, depth)) {
            return id;
        }
        let id = WorldId(self.plan.worlds.len() as u32);
        self.ids.insert((program, depth), id);
        let is_leaf = bound.is_some_and(|bound| depth >= bound);
        self.plan.worlds.push(PlannedWorld { program, depth, is_leaf, children: BTreeMap::new() });
        self.uses.push(Uses::new());
        let span = self.model.program(program).span;
        for formula in self.model.static_formulas(program) {
            self.open.push(NeededFormula { world: id, formula, builder: Some((id, Vec::new())), span });
        }
        if !is_leaf {
            // The arguments of explicit attitudes are evaluated in the world below.
            for (_, vars) in self.model.edges(program) {
                for var in vars {
                    let Some(attitude) = self.model.var(var).attitude else { continue };
                    let span = self.model.var(var).span;
                    self.pending.push((id, attitude.edge, attitude.arg, span));
                }
            }
        }
        id
    }

    fn child(&mut self, world: WorldId, edge: Edge, span: Span) -> Result<WorldId, Box<Diagnostic>> {
        if let Some(child) = self.plan.child(world, edge) {
            return Ok(child);
        }
        let PlannedWorld { program, depth, is_leaf, .. } = self.plan.worlds[world.index()];
        if is_leaf {
            let name = &self.model.agents[self.model.program(program).agent.index()].name;
            let edge = self.model.edge_text(edge);
            let message = format!("{edge} in a world of {name} lies below the nesting bound");
            let hint = format!("the bound is {depth}; raise `option nesting`");
            return Err(Box::new(Diagnostic::error("bdi/nesting-bound", span, message).hint(hint)));
        }
        let child = self.world(self.model.child(program, edge), depth + 1);
        self.plan.worlds[world.index()].children.insert(edge, child);
        Ok(child)
    }

    /// Follows the attitudes of all queued formulas to the worlds below.
    fn work(&mut self) -> Result<(), Box<Diagnostic>> {
        loop {
            while let Some((world, edge, arg, span)) = self.pending.pop() {
                let child = self.child(world, edge, span)?;
                // Arguments about the world itself are read in each state, so the world can be built with them.
                if child == world && self.model.is_static(arg) {
                    let builder = Some((world, Vec::new()));
                    self.open.push(NeededFormula { world, formula: arg, builder, span });
                    continue;
                }
                self.uses[world.index()].entry(child).or_insert(Use { between: Vec::new(), span });
                self.open.push(NeededFormula {
                    world: child,
                    formula: arg,
                    builder: Some((world, vec![child])),
                    span,
                });
            }
            let Some(NeededFormula { world, formula, builder, span }) = self.open.pop() else {
                return Ok(());
            };
            let n_between = builder.as_ref().map_or(0, |(_, between)| between.len() as u64);
            if !self.limits.charge(BYTES_PER_NEED + BYTES_PER_WORLD_ID * n_between) {
                return Ok(());
            }
            if !self.seen.insert((world, formula, builder.as_ref().map(|b| b.0))) {
                continue;
            }
            for LookedUp { attitude, edge, arg } in self.plan.looked_up(self.model, world, formula) {
                // Deeper down, the span of the attitude in the builder's own program is kept.
                let is_own = builder.as_ref().is_some_and(|(_, between)| between.is_empty());
                let mention = (self.plan.program(world), attitude);
                let known = self.model.attitude_spans.get(&mention).filter(|_| is_own);
                let span = known.copied().unwrap_or(span);
                let child = self.child(world, edge, span)?;
                let mut next = builder.clone();
                if let Some((builder, between)) = &mut next {
                    let uses = &mut self.uses[builder.index()];
                    uses.entry(child).or_insert_with(|| Use { between: between.clone(), span });
                    between.push(child);
                }
                self.open.push(NeededFormula { world: child, formula: arg, builder: next, span });
            }
        }
    }

    /// Orders the worlds, each after those it is built from.
    fn sort(&mut self) -> Result<(), Box<Diagnostic>> {
        let n_worlds = self.plan.worlds.len();
        let mut n_uses: Vec<usize> = self.uses.iter().map(BTreeMap::len).collect();
        let mut users: Vec<Vec<WorldId>> = vec![Vec::new(); n_worlds];
        for (index, uses) in self.uses.iter().enumerate() {
            uses.keys().for_each(|used| users[used.index()].push(WorldId(index as u32)));
        }
        let all = (0..n_worlds as u32).map(WorldId);
        let mut ready: BTreeSet<WorldId> = all.filter(|id| n_uses[id.index()] == 0).collect();
        while let Some(next) = ready.pop_first() {
            self.plan.order.push(next);
            for &user in &users[next.index()] {
                n_uses[user.index()] -= 1;
                if n_uses[user.index()] == 0 {
                    ready.insert(user);
                }
            }
        }
        if self.plan.order.len() == n_worlds {
            return Ok(());
        }
        let cycle = (0..n_worlds as u32).map(WorldId).find_map(|start| self.cycle(start)).unwrap_or_default();
        Err(Box::new(self.cyclic(&cycle)))
    }

    /// Returns the shortest cycle from a world through worlds that each is built from.
    fn cycle(&self, start: WorldId) -> Option<Vec<WorldId>> {
        let mut before: FxHashMap<WorldId, WorldId> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(world) = queue.pop_front() {
            for &used in self.uses[world.index()].keys() {
                if before.contains_key(&used) {
                    continue;
                }
                before.insert(used, world);
                queue.push_back(used);
                if used != start {
                    continue;
                }
                // Collect the cycle backwards, with the worlds between.
                let mut cycle = vec![start];
                let mut at = start;
                loop {
                    let from = before[&at];
                    let between = &self.uses[from.index()][&at].between;
                    cycle.extend(between.iter().rev());
                    cycle.push(from);
                    at = from;
                    if at == start {
                        break;
                    }
                }
                cycle.reverse();
                return Some(cycle);
            }
        }
        None
    }

    /// Returns the reason why the first world of a cycle is built from the next.
    fn first_use(&self, cycle: &[WorldId]) -> Option<&Use> {
        let (first, rest) = cycle.split_first()?;
        let leads_on = |(target, found): &(&WorldId, &Use)| {
            let n_between = found.between.len();
            rest.get(..n_between) == Some(&found.between[..]) && rest.get(n_between) == Some(*target)
        };
        self.uses[first.index()].iter().find(leads_on).map(|(_, found)| found)
    }

    fn cyclic(&self, cycle: &[WorldId]) -> Diagnostic {
        let program = |id: &WorldId| self.model.program(self.plan.program(*id));
        let names: Vec<&str> =
            cycle.iter().map(|id| self.model.agents[program(id).agent.index()].name.as_str()).collect();
        let message = format!("cyclic nesting {}", names.join(" -> "));
        let start = cycle.first().map_or(self.file, |id| program(id).span);
        let span = self.first_use(cycle).map_or(start, |first| first.span);
        let mut diagnostic = Diagnostic::error("bdi/cyclic-nesting", span, message);
        if span == start {
            diagnostic = diagnostic.label("its world is built from worlds that are built from it");
        } else {
            diagnostic = diagnostic
                .label("this attitude leads to worlds that are built from its own")
                .also(start, "it is an attitude in the world of this program");
        }
        for id in cycle.iter().skip(1).take(cycle.len().saturating_sub(2)).take(3) {
            diagnostic = diagnostic.also(program(id).span, "by way of a world of this program");
        }
        diagnostic.hint("break the cycle with a `view`, or bound it: `option nesting = 2;`")
    }
}

/// A world in the tree of paths.
struct ListedWorld {
    path: WorldPath,
    world: WorldId,
    children: BTreeMap<Edge, usize>,
}

impl Plan {
    /// Lists the paths to worlds that the file mentions, parents first.
    fn list(&mut self, model: &Model) {
        let mut tree = PathLister::new(model, self);
        let roots = tree.run();
        let PathLister { listed, is_cut, .. } = tree;
        let mut open: Vec<usize> = roots.into_iter().rev().collect();
        let mut paths = Vec::new();
        while let Some(index) = open.pop() {
            let node = &listed[index];
            let text = model.path_text(&node.path);
            paths.push(PlannedPath { path: node.path.clone(), text, world: node.world });
            open.extend(node.children.values().rev());
        }
        (self.paths, self.is_cut) = (paths, is_cut);
    }
}

struct PathLister<'m> {
    model: &'m Model,
    plan: &'m Plan,
    /// The worlds that are roots, by program.
    roots: FxHashMap<ProgramId, WorldId>,
    listed: Vec<ListedWorld>,
    /// Formulas to evaluate, with the index of their listed world.
    open: Vec<(usize, FormulaId)>,
    /// Explicit attitudes of newly listed worlds.
    pending: Vec<(usize, Edge, FormulaId)>,
    is_cut: bool,
}

impl<'m> PathLister<'m> {
    fn new(model: &'m Model, plan: &'m Plan) -> Self {
        let ids = (0..plan.worlds.len() as u32).map(WorldId).zip(&plan.worlds).rev();
        let roots =
            ids.filter(|(_, world)| world.depth == 0).map(|(id, world)| (world.program, id)).collect();
        let (listed, open, pending) = (Vec::new(), Vec::new(), Vec::new());
        PathLister { model, plan, roots, listed, open, pending, is_cut: false }
    }

    fn run(&mut self) -> Vec<usize> {
        let mut roots: Vec<usize> = Vec::new();
        let tops = self.model.top.iter().map(|&top| (WorldPath { root: top, edges: Vec::new() }, None));
        let of_properties = self.model.properties.iter().flat_map(|p| {
            let outer = match &p.question {
                Question::Subworld(outer) => Some((outer.clone(), None)),
                _ => None,
            };
            [(p.path.clone(), Some(p))].into_iter().chain(outer)
        });
        for (path, property) in tops.chain(of_properties) {
            let found = roots.iter().copied().find(|&r| self.listed[r].path.root == path.root);
            let root = found.or_else(|| {
                let program = self.model.agents[path.root.index()].program;
                let world = *self.roots.get(&program)?;
                let root = WorldPath { root: path.root, edges: Vec::new() };
                let node = self.add(root, world)?;
                roots.push(node);
                Some(node)
            });
            self.work();
            let Some(root) = root else { continue };
            let node = path.edges.iter().try_fold(root, |node, &edge| self.child(node, edge));
            if let (Some(node), Some(property)) = (node, property) {
                if let Question::Formula(formula) = property.question {
                    self.open.push((node, formula));
                }
                for edge in property.question.edges() {
                    self.child(node, edge);
                }
            }
            self.work();
        }
        roots
    }

    fn add(&mut self, path: WorldPath, world: WorldId) -> Option<usize> {
        if self.listed.len() >= MAX_LISTED_PATHS {
            self.is_cut = true;
            return None;
        }
        let index = self.listed.len();
        self.listed.push(ListedWorld { path, world, children: BTreeMap::new() });
        let PlannedWorld { program, is_leaf, .. } = self.plan.worlds[world.index()];
        self.open.extend(self.model.static_formulas(program).into_iter().map(|f| (index, f)));
        if !is_leaf {
            let vars = self.model.program(program).vars.iter();
            let attitudes: Vec<_> = vars.filter_map(|&var| self.model.var(var).attitude).collect();
            self.pending.extend(attitudes.into_iter().map(|a| (index, a.edge, a.arg)));
        }
        Some(index)
    }

    fn child(&mut self, node: usize, edge: Edge) -> Option<usize> {
        if let Some(&child) = self.listed[node].children.get(&edge) {
            return Some(child);
        }
        let world = self.plan.child(self.listed[node].world, edge)?;
        if world == self.listed[node].world {
            return Some(node);
        }
        let mut path = self.listed[node].path.clone();
        path.edges.push(edge);
        let child = self.add(path, world)?;
        self.listed[node].children.insert(edge, child);
        Some(child)
    }

    fn work(&mut self) {
        loop {
            while let Some((node, edge, arg)) = self.pending.pop() {
                if let Some(child) = self.child(node, edge) {
                    self.open.push((child, arg));
                }
            }
            let Some((node, formula)) = self.open.pop() else { return };
            for LookedUp { edge, arg, .. } in
                self.plan.looked_up(self.model, self.listed[node].world, formula)
            {
                if let Some(child) = self.child(node, edge) {
                    self.open.push((child, arg));
                }
            }
        }
    }
}
