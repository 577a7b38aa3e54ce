//! The operators on sets of states, each with its definition: the algorithm SAT of [JAL05 §3].
//!
//! | procedure of the paper | function | where it departs from the paper |
//! |---|---|---|
//! | SAT | [`Checker::truth`] | results are kept by formula; complement does not intersect with the domain |
//! | SAT_EX, SAT_EU, SAT_EG | [`Checker::exists_next`], [`Checker::exists_until`], [`Checker::exists_globally`] | fair paths; dead ends as the options say |
//! | SAT_K, SAT_D | `knows` | the hidden bits are quantified; no relation `R_i^K` or `R_Γ^D` is built |
//! | SAT_E | `everyone_knows` | one agent after the other instead of the union of their relations |
//! | SAT_C | `common_knowledge` | from the states outside φ along chains of confusions: the complement of the greatest fixpoint that the paper's text defines. The procedure as printed asks for *some* confused state inside φ and computes another set |
//! | SAT_O | [`Checker::holds_where_green`] | `R_i^O(g, g')` depends on `g'` only, so the answer is everywhere or nowhere |
//! | SAT_KH | [`Checker::unless_red`], then `knows` | `K̂_i^Γ φ = K_i (φ or some agent of Γ is red)` |
//!
//! A formula holds in the model if SAT contains all reachable states, the comparison at the end of the
//! paper's section 3: [`Checker::holds`].
//!
//! A set stands for its intersection with the domain `D`: the reachable states, or with fairness
//! those that begin a fair path. Sets are intersected with `D` as late as possible, so that complement
//! costs nothing, and sets are compared modulo `D`.

use std::sync::Arc;

use masque_model::{
    AgentId, At, Deadlock, FixpointId, Fixpoints, Formula, FormulaId, GroupId, Paths, Property, System,
};
use masque_verdict::{FairInitial, PendingProperties, Stop, Why};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::evidence::OracleCache;
use crate::fixpoint::{globally, iterate, reach};
use crate::knowledge::{each_view, unshared_cube};
use crate::moves::Moves;
use crate::relation::Relation;
use crate::space::{Limited, Set};
use crate::tableau::{Literal, PathFormulas};
use crate::turns::Turns;
use crate::uniform::Wanted;
use crate::world::{World, has_one};

/// The reachable states of a system and the formulas that are true in them.
pub(crate) struct Checker<'s> {
    pub(crate) system: &'s System,
    pub(crate) encoder: Encoder<'s>,
    pub(crate) relation: Relation,
    pub(crate) initial: Set,
    pub(crate) reachable: Set,
    /// States with a successor.
    pub(crate) live: Set,
    pub(crate) world: World,
    /// The world without fairness constraints, in which the constraints themselves are evaluated.
    plain: Option<World>,
    pub(crate) has_one_initial: bool,
    /// The last agent and context whose projection was computed, and the projection.
    pub(crate) last_seen: Option<(AgentId, Set, Set)>,
    pub(crate) paths: PathFormulas<'s>,
    /// Steps with actions, once they are needed.
    pub(crate) moves: Option<Arc<Moves>>,
    /// Turns by the agents whose actions they keep.
    pub(crate) turns: FxHashMap<Vec<AgentId>, Option<Arc<Turns>>>,
    fixpoints: Fixpoints,
    /// The value of each fixpoint variable while its fixpoint is computed.
    bound: Vec<Option<Set>>,
    /// The last value of each fixpoint inside one that is being computed, if it may start from there.
    last_values: FxHashMap<FormulaId, Set>,
    /// The properties that are still to be decided.
    pub(crate) ahead: PendingProperties,
    /// Results kept for evidence.
    pub(crate) oracle_cache: OracleCache,
    pub(crate) fair_initial: FairInitial,
}

impl<'s> Checker<'s> {
    pub(crate) fn new(
        encoder: Encoder<'s>,
        relation: Relation,
        initial: Set,
        reachable: Set,
    ) -> Limited<Self> {
        let system = encoder.system;
        let live = relation.live(&encoder)?;
        let has_one_initial = has_one(&encoder, &initial);
        let world = World::new(system, reachable.clone(), Vec::new());
        let mut checker = Checker {
            system,
            encoder,
            relation,
            initial,
            reachable,
            live,
            world,
            plain: None,
            has_one_initial,
            last_seen: None,
            paths: PathFormulas::new(&system.formulas),
            moves: None,
            turns: FxHashMap::default(),
            fixpoints: system.formulas.fixpoints(),
            bound: vec![None; system.formulas.n_fixpoints()],
            last_values: FxHashMap::default(),
            ahead: PendingProperties::new(system),
            oracle_cache: OracleCache::default(),
            fair_initial: FairInitial::All,
        };
        checker.fair_domain()?;
        Ok(checker)
    }

    /// With fairness constraints, restricts the domain to the states that begin a fair path. The
    /// constraints themselves are evaluated without fairness.
    fn fair_domain(&mut self) -> Limited<()> {
        if self.system.fairness.is_empty() {
            return Ok(());
        }
        let mut constraints = Vec::new();
        for &constraint in &self.system.fairness {
            match self.truth(constraint) {
                Ok(set) => constraints.push(set),
                Err(stop) if stop.why == Why::Unsupported => {
                    self.fair_initial = FairInitial::Unsupported;
                    return Ok(());
                }
                Err(stop) => return Err(stop),
            }
        }
        let with_constraints = World::new(self.system, self.reachable.clone(), constraints);
        self.plain = Some(std::mem::replace(&mut self.world, with_constraints));
        let fair = self.exists_globally(&self.encoder.space.all())?;
        let fair = self.encoder.space.and(&fair, &self.reachable)?;
        self.world.domain = fair;
        self.world.is_fair = true;
        let space = &self.encoder.space;
        let fair_initial = space.and(&self.initial, &self.world.domain)?;
        self.fair_initial = match (fair_initial.is_empty(), fair_initial == self.initial) {
            (true, _) => FairInitial::None,
            (_, true) => FairInitial::All,
            _ => FairInitial::Some,
        };
        Ok(())
    }

    pub(crate) fn domain(&self) -> &Set {
        &self.world.domain
    }

    /// Returns whether a property holds. The caller checks that there are fair initial states.
    pub(crate) fn holds(&mut self, property: &Property) -> Limited<bool> {
        let context = match property.at {
            At::Initial => self.encoder.space.and(&self.initial, &self.world.domain)?,
            At::Reachable => self.world.domain.clone(),
        };
        self.everywhere(&context, property.formula, true)
    }

    /// Returns whether a formula contains the variable of a fixpoint around it.
    pub(crate) fn is_open(&self, formula: FormulaId) -> bool {
        self.fixpoints.is_open(formula)
    }

    /// Returns the sets in which the fairness constraints are true.
    pub(crate) fn constraints(&self) -> &[Set] {
        &self.world.constraints
    }

    /// Returns the set in which a fairness constraint is true.
    pub(crate) fn constraint(&self, index: usize) -> Option<&Set> {
        self.world.constraints.get(index)
    }

    /// Computes the states of the domain that agents together cannot distinguish from some state in
    /// `context`.
    pub(crate) fn confused(&mut self, view: &[AgentId], context: &Set) -> Limited<Set> {
        let hidden = self.world.projections.hidden_cube(&self.encoder, view)?;
        let space = &self.encoder.space;
        let seen = space.exists(context, &hidden)?;
        space.and(&seen, &self.world.domain)
    }

    /// Computes `context` and the states of the domain that some agent of the group cannot distinguish
    /// from some state in it.
    pub(crate) fn confused_by_some(&self, group: GroupId, context: &Set) -> Limited<Set> {
        let mut agents = self.system.groups[group.index()].agents.clone();
        self.sort_by_level(&mut agents);
        let (encoder, domain) = (&self.encoder, &self.world.domain);
        let space = &encoder.space;
        let mut reached = context.clone();
        let outside = space.minus(domain, context)?;
        // No agent confuses two states that differ in the bits that all agents see. So only states matter
        // that agree on these bits with some state on the other side.
        let unshared = unshared_cube(encoder, &agents)?;
        let (a, b) = (space.exists(context, &unshared)?, space.exists(&outside, &unshared)?);
        let alike = space.and(&a, &b)?;
        if alike.is_empty() {
            return Ok(reached);
        }
        let (context, outside) = (space.and(context, &alike)?, space.and(&outside, &alike)?);
        each_view(encoder, &agents, &context, &outside, &mut |seen, outside| {
            // A new state has the same view as a state outside; usually there is none.
            if encoder.space.intersects(seen, outside)? {
                let confused = encoder.space.and(seen, domain)?;
                reached = encoder.space.or(&reached, &confused)?;
            }
            Ok(())
        })?;
        Ok(reached)
    }

    /// Sorts agents by the levels of their variables, so that neighbours see similar sets of bits.
    fn sort_by_level(&self, agents: &mut [AgentId]) {
        let level = |agent: &AgentId| {
            let own = &self.system.agent(*agent).variables;
            let bits = own.iter().flat_map(|v| self.encoder.layout.variables[v.index()].current.first());
            (bits.map(|&bit| self.encoder.space.level(bit)).min(), *agent)
        };
        agents.sort_by_key(level);
    }

    /// Computes the states in which all of some agents are green.
    pub(crate) fn green(&mut self, agents: &[AgentId]) -> Limited<Set> {
        let mut sets = Vec::new();
        for agent in agents {
            if let Some(red) = self.system.agent(*agent).red {
                let red = self.encoder.condition(red)?;
                sets.push(self.encoder.space.not(&red)?);
            }
        }
        self.encoder.balanced(sets, true)
    }

    /// Returns whether a formula is true in all states of the domain in which an agent is green. SAT_O of
    /// [JAL05 §3]: `O_i φ` is true in all states if so, and in none otherwise.
    pub(crate) fn holds_where_green(&mut self, agent: AgentId, f: FormulaId) -> Limited<bool> {
        let (phi, green) = (self.truth(f)?, self.green(&[agent])?);
        let green = self.encoder.space.and(&green, &self.world.domain)?;
        self.encoder.space.is_subset(&green, &phi)
    }

    /// Computes the states in which a formula is true or some agent of a group is red. SAT_KH of [JAL05 §3] is
    /// SAT_K of this set.
    pub(crate) fn unless_red(&mut self, group: GroupId, f: FormulaId) -> Limited<Set> {
        let phi = self.truth(f)?;
        let green = self.green(&self.system.groups[group.index()].agents)?;
        let red = self.encoder.space.not(&green)?;
        self.encoder.space.or(&red, &phi)
    }

    /// Computes the set in which a state formula is true, modulo the domain. SAT of [JAL05 §3].
    pub(crate) fn truth(&mut self, formula: FormulaId) -> Limited<Set> {
        if let Some(known) = &self.world.known[formula.index()] {
            return Ok(known.clone());
        }
        let system = self.system;
        let set = match system.formulas.get(formula) {
            Formula::Bool(value) => self.encoder.space.constant(value),
            Formula::Proposition(p) => self.encoder.condition(system.propositions[p.index()].condition)?,
            Formula::Condition(condition) => self.encoder.condition(condition)?,
            Formula::Green(agent) => self.green(&[agent])?,
            Formula::Red(agent) => {
                let green = self.green(&[agent])?;
                self.encoder.space.not(&green)?
            }
            Formula::Not(f) => {
                let phi = self.truth(f)?;
                self.encoder.space.not(&phi)?
            }
            Formula::And(list) => {
                let sets = list.iter().map(|&f| self.truth(f)).collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(sets, true)?
            }
            Formula::Or(list) => {
                let sets = list.iter().map(|&f| self.truth(f)).collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(sets, false)?
            }
            Formula::Implies(f, g) => {
                let (phi, psi) = (self.truth(f)?, self.truth(g)?);
                self.encoder.space.or(&self.encoder.space.not(&phi)?, &psi)?
            }
            Formula::Iff(f, g) => {
                let (phi, psi) = (self.truth(f)?, self.truth(g)?);
                self.encoder.space.iff(&phi, &psi)?
            }
            Formula::Exists(Paths::Ctl, path) => self.exists(path)?,
            Formula::Forall(Paths::Ctl, path) => self.forall(path)?,
            Formula::Exists(Paths::Infinite, path) => self.exists_path(Literal::new(path, true))?,
            Formula::Forall(Paths::Infinite, path) => {
                let violated = self.exists_path(Literal::new(path, false))?;
                self.encoder.space.not(&violated)?
            }
            Formula::Enforces(group, strategies, path) => {
                self.enforces(group, strategies, path, Wanted::All)?
            }
            Formula::ExistsStep(condition, f) => {
                let phi = self.truth(f)?;
                self.exists_step(condition, &phi)?
            }
            Formula::ForallStep(condition, f) => {
                let not_phi = self.not_truth(f)?;
                let violated = self.exists_step(condition, &not_phi)?;
                self.encoder.space.not(&violated)?
            }
            Formula::Least(z, f) => self.fixpoint(formula, z, f, true)?,
            Formula::Greatest(z, f) => self.fixpoint(formula, z, f, false)?,
            Formula::Bound(z) => self.bound[z.index()].clone().ok_or(Stop::from(Why::Unsupported))?,
            Formula::Knows(agent, f) => {
                let phi = self.truth(f)?;
                self.knows(&[agent], &phi)?
            }
            Formula::DistributedKnowledge(group, f) => {
                let phi = self.truth(f)?;
                self.knows(&system.groups[group.index()].agents, &phi)?
            }
            Formula::EveryoneKnows(group, f) => {
                let phi = self.truth(f)?;
                self.everyone_knows(group, &phi)?
            }
            Formula::CommonKnowledge(group, f) => {
                let phi = self.truth(f)?;
                self.common_knowledge(group, &phi)?
            }
            Formula::Correct(agent, f) => {
                let holds = self.holds_where_green(agent, f)?;
                self.encoder.space.constant(holds)
            }
            Formula::KnowsUnder(agent, group, f) => {
                let weaker = self.unless_red(group, f)?;
                self.knows(&[agent], &weaker)?
            }
            _ => return Err(Stop::from(Why::Unsupported)),
        };
        if !self.fixpoints.is_open(formula) {
            self.world.known[formula.index()] = Some(set.clone());
        }
        Ok(set)
    }

    /// Computes `μZ. φ` from the empty set upwards, or `νZ. φ` from `D` downwards. [EL86 §4]
    ///
    /// While the value of `Z` only grows, or only shrinks, so do the inner fixpoints of the same kind:
    /// they continue from their last values. Those of the other kind start again each time.
    fn fixpoint(
        &mut self,
        formula: FormulaId,
        z: FixpointId,
        body: FormulaId,
        is_least: bool,
    ) -> Limited<Set> {
        if !self.fixpoints.is_open(formula) {
            self.last_values.clear();
        }
        let first = if is_least { self.encoder.space.none() } else { self.world.domain.clone() };
        let mut set = self.last_values.remove(&formula).unwrap_or(first);
        loop {
            self.bound[z.index()] = Some(set.clone());
            let next = self.truth(body);
            self.bound[z.index()] = None;
            let next = self.encoder.space.and(&next?, &self.world.domain)?;
            if next == set {
                break;
            }
            set = next;
            let formulas = &self.system.formulas;
            self.last_values
                .retain(|&inner, _| matches!(formulas.get(inner), Formula::Least(..)) == is_least);
        }
        self.last_values.insert(formula, set.clone());
        Ok(set)
    }

    /// `E path`. [CGP99 §6.2]
    fn exists(&mut self, path: FormulaId) -> Limited<Set> {
        let all = self.encoder.space.all();
        match self.system.formulas.get(path) {
            Formula::Next(f) => {
                let phi = self.truth(f)?;
                self.exists_next(&phi)
            }
            Formula::Finally(f) => {
                let phi = self.truth(f)?;
                self.exists_until(&all, &phi)
            }
            Formula::Globally(f) => {
                let phi = self.truth(f)?;
                self.exists_globally(&phi)
            }
            Formula::Until(f, g) => {
                let (phi, psi) = (self.truth(f)?, self.truth(g)?);
                self.exists_until(&phi, &psi)
            }
            // E(φ W ψ) = E(φ U ψ) or EG φ
            Formula::WeakUntil(f, g) => {
                let (phi, psi) = (self.truth(f)?, self.truth(g)?);
                let (until, globally) = (self.exists_until(&phi, &psi)?, self.exists_globally(&phi)?);
                self.encoder.space.or(&until, &globally)
            }
            // E(φ R ψ) = E(ψ U (φ and ψ)) or EG ψ
            Formula::Release(f, g) => {
                let (phi, psi) = (self.truth(f)?, self.truth(g)?);
                let both = self.encoder.space.and(&phi, &psi)?;
                let (until, globally) = (self.exists_until(&psi, &both)?, self.exists_globally(&psi)?);
                self.encoder.space.or(&until, &globally)
            }
            _ => Err(Stop::from(Why::Unsupported)),
        }
    }

    /// `A path`, by duality.
    ///
    /// ```text
    /// AX φ = ¬EX ¬φ   AF φ = ¬EG ¬φ   AG φ = ¬EF ¬φ
    /// A(φ U ψ) = ¬(E(¬ψ U (¬φ ∧ ¬ψ)) ∨ EG ¬ψ)   A(φ W ψ) = ¬E(¬ψ U (¬φ ∧ ¬ψ))   A(φ R ψ) = ¬E(¬φ U ¬ψ)
    /// ```
    fn forall(&mut self, path: FormulaId) -> Limited<Set> {
        let all = self.encoder.space.all();
        let violated = match self.system.formulas.get(path) {
            Formula::Next(f) => {
                let not_phi = self.not_truth(f)?;
                self.exists_next(&not_phi)?
            }
            Formula::Finally(f) => {
                let not_phi = self.not_truth(f)?;
                self.exists_globally(&not_phi)?
            }
            Formula::Globally(f) => {
                let not_phi = self.not_truth(f)?;
                self.exists_until(&all, &not_phi)?
            }
            Formula::Until(f, g) => {
                let (not_phi, not_psi) = (self.not_truth(f)?, self.not_truth(g)?);
                let neither = self.encoder.space.and(&not_phi, &not_psi)?;
                let (early, never) =
                    (self.exists_until(&not_psi, &neither)?, self.exists_globally(&not_psi)?);
                self.encoder.space.or(&early, &never)?
            }
            Formula::WeakUntil(f, g) => {
                let (not_phi, not_psi) = (self.not_truth(f)?, self.not_truth(g)?);
                let neither = self.encoder.space.and(&not_phi, &not_psi)?;
                self.exists_until(&not_psi, &neither)?
            }
            Formula::Release(f, g) => {
                let (not_phi, not_psi) = (self.not_truth(f)?, self.not_truth(g)?);
                self.exists_until(&not_phi, &not_psi)?
            }
            _ => return Err(Stop::from(Why::Unsupported)),
        };
        self.encoder.space.not(&violated)
    }

    fn not_truth(&mut self, formula: FormulaId) -> Limited<Set> {
        let phi = self.truth(formula)?;
        self.encoder.space.not(&phi)
    }

    /// `EX φ = pre(φ ∩ D)`, SAT_EX of [JAL05 §3]; under `stutter` a dead end is its own successor.
    pub(crate) fn exists_next(&self, phi: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let targets = space.and(phi, &self.world.domain)?;
        let before = self.predecessors(&targets, &self.reachable)?;
        match self.system.meaning.deadlock {
            Deadlock::Stutter => space.or(&before, &space.minus(&targets, &self.live)?),
            Deadlock::Finite | Deadlock::Error => Ok(before),
        }
    }

    /// Computes the predecessors of a set, of which only the states in `care` matter. `care` contains all
    /// reachable states but those whose predecessors are known.
    ///
    /// A set that equals this one inside `care` may have far fewer nodes: of all reachable states in which
    /// a condition is true, the condition is left. With a relation in clusters, the unreachable states in
    /// such a set would lead to more of them.
    fn predecessors(&self, set: &Set, care: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        if !self.relation.is_one_cluster() {
            return self.relation.pre(&self.encoder, set);
        }
        let simple = space.simplify(set, care)?;
        let set = if space.size(&simple) < space.size(set) { &simple } else { set };
        self.relation.pre(&self.encoder, set)
    }

    /// `E(φ U ψ) = μZ. ψ ∨ (φ ∧ EX Z)`, inside the domain. SAT_EU of [JAL05 §3]
    pub(crate) fn exists_until(&self, phi: &Set, psi: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let inside = space.and(phi, &self.world.domain)?;
        let goal = space.and(psi, &self.world.domain)?;
        if self.relation.events.len() > 1 {
            // The loop of a dead end adds nothing to a least fixpoint.
            return self.relation.chain_backward(&self.encoder, &goal, &inside);
        }
        let mut care = self.reachable.clone();
        reach(space, &goal, &inside, |frontier| {
            // States whose predecessors have been found do not matter.
            let before = self.predecessors(frontier, &care)?;
            care = space.minus(&care, frontier)?;
            Ok(before)
        })
    }

    /// `EG φ` on fair paths, inside the domain. SAT_EG of [JAL05 §3]
    pub(crate) fn exists_globally(&self, phi: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let phi = space.and(phi, &self.world.domain)?;
        if self.world.is_fair && phi == self.world.domain {
            return Ok(phi);
        }
        let (before, until) =
            (|z: &Set| self.exists_next(z), |_: &Set, goal: &Set| self.exists_until(&phi, goal));
        globally(space, &phi, &self.world.constraints, before, until)
    }

    /// `K_i φ`: agent `i` knows φ, or several agents together know it. [FHMV95 §2.1], SAT_K and SAT_D of
    /// [JAL05 §3]
    ///
    /// ```text
    /// ⟦K_i φ⟧ = D ∖ ∃ hidden_i. (D ∖ ⟦φ⟧)
    /// ```
    fn knows(&mut self, view: &[AgentId], phi: &Set) -> Limited<Set> {
        let doubtful = self.doubtful(view, phi)?;
        self.encoder.space.not(&doubtful)
    }

    /// Computes the states in which some agents together consider a state of the domain outside φ
    /// possible.
    pub(crate) fn doubtful(&mut self, view: &[AgentId], phi: &Set) -> Limited<Set> {
        let not_phi = self.encoder.space.not(phi)?;
        let World { projections, domain, .. } = &mut self.world;
        projections.possible(&self.encoder, domain, view, &not_phi)
    }

    /// `E_Γ φ = ⋀_{i ∈ Γ} K_i φ`. SAT_E of [JAL05 §3]
    fn everyone_knows(&mut self, group: GroupId, phi: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let outside = space.minus(&self.world.domain, phi)?;
        let possible = self.confused_by_some(group, &outside)?;
        self.encoder.space.not(&possible)
    }

    /// `C_Γ φ = νZ. E_Γ(φ ∧ Z)`: no chain of confusions leads to a state outside φ. SAT_C of [JAL05 §3], which
    /// as printed computes the states that some agent of Γ confuses with a state *inside* φ.
    fn common_knowledge(&mut self, group: GroupId, phi: &Set) -> Limited<Set> {
        let outside = self.encoder.space.minus(&self.world.domain, phi)?;
        let reached = self.confused_by_chains(group, outside)?;
        self.encoder.space.not(&reached)
    }

    /// Computes these states and all states of the domain to which a chain of confusions leads from them.
    pub(crate) fn confused_by_chains(&self, group: GroupId, from: Set) -> Limited<Set> {
        iterate(from, |reached| self.confused_by_some(group, reached))
    }
}
