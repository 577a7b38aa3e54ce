//! Unfolds fixpoints: finds the claims about parts of a fixpoint that decide whether it is true.
//!
//! The claims that may matter are the positions of a parity game. The prover chooses where one of several
//! claims is enough (an operand of a true disjunction, a step for a true `EX`), the opponent where all are
//! needed. A variable leads to its fixpoint. The prover wins an infinite play if the outermost fixpoint that
//! recurs is a greatest one, for a claim of truth, or a least one, for a claim of falsehood. A claim is true
//! iff the prover wins, and the prover's strategy shows it. [EJ91]
//!
//! The game is explored from the claim by the definition, within limits on its size, so it is the same for
//! all engines. Parts without free variables are decided by the oracle.

use std::collections::HashMap;
use std::convert::Infallible;

use masque_graph::{ParityGame, solve};
use masque_model::semantics::{is_green, is_true};
use masque_model::steps::Neighbourhood;
use masque_model::{AgentId, ExprId, Fixpoints, Formula, FormulaId};
use masque_verdict::claims::{Needs, Unfolds, looks_same, scope_of, unfolded_once};
use masque_verdict::{JointAction, Literal, RegionPart, State, Stop};

use crate::explain::Explainer;

/// Maximum number of claims in the game.
const MAX_EXPLORED: usize = 20_000;
/// Maximum number of claims in the evidence.
const MAX_SHOWN: usize = 300;
/// Maximum number of states that are indistinguishable from a state.
const MAX_ALIKE: usize = 200;

/// The priority of a claim: even if the prover wins when the claim recurs. Greater ranks dominate; within a
/// rank, the even priority dominates.
fn priority(rank: u32, is_good: bool) -> u32 {
    2 * rank + if is_good { 2 } else { 1 }
}

/// A joint action, `None` for the loop of a dead end, and the state to which it leads.
type Successor = (Option<JointAction>, u32);

/// A claim about a part at a state, with the fixpoints that its variables stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    pub(crate) literal: Literal,
    pub(crate) state: u32,
    pub(crate) scope: Vec<FormulaId>,
}

/// The claims that decide a claim, by index.
#[derive(Clone, Debug)]
pub(crate) enum How {
    /// None: the part has no free variable.
    Closed,
    Nodes(Vec<usize>),
    Steps(Vec<(Option<JointAction>, usize)>),
    Possible(Vec<AgentId>, usize),
    Alike(Vec<usize>),
}

/// A claim of the evidence, its state, and the claims that decide it.
pub(crate) struct Shown {
    pub(crate) claim: Claim,
    pub(crate) state: State,
    pub(crate) how: How,
}

impl Explainer<'_> {
    /// Finds the claims that show why a fixpoint is true or false at a state; the claim about the fixpoint
    /// comes first. Returns `None` if there are too many.
    pub(crate) fn unfold(&mut self, literal: Literal, state: &State) -> Result<Option<Vec<Shown>>, Stop> {
        let mut game = Unfold {
            fixpoints: self.system.formulas.fixpoints(),
            nearby: Neighbourhood::new(self.system),
            claims: Vec::new(),
            numbers: HashMap::new(),
            hows: Vec::new(),
            closed_truths: Vec::new(),
            insides: HashMap::new(),
            explainer: self,
        };
        let state = game.nearby.number(state.clone());
        game.claim(literal, state, Vec::new());
        if !game.explore()? {
            return Ok(None);
        }
        Ok(game.shown())
    }
}

struct Unfold<'e, 's> {
    explainer: &'e mut Explainer<'s>,
    fixpoints: Fixpoints,
    nearby: Neighbourhood<'s>,
    claims: Vec<Claim>,
    numbers: HashMap<Claim, usize>,
    /// For each claim, all claims that may decide it.
    hows: Vec<How>,
    /// For claims without free variables, whether they are true.
    closed_truths: Vec<Option<bool>>,
    /// Known states of the domain, and states outside it.
    insides: HashMap<u32, bool>,
}

impl Unfold<'_, '_> {
    fn claim(&mut self, literal: Literal, state: u32, scope: Vec<FormulaId>) -> usize {
        let claim = Claim { literal, state, scope };
        let next = self.claims.len();
        *self.numbers.entry(claim).or_insert_with_key(|claim| {
            self.claims.push(claim.clone());
            next
        })
    }

    fn part(&mut self, of: &Claim, literal: Literal, state: u32) -> usize {
        let scope = scope_of(self.explainer.system, &self.fixpoints, &of.scope, literal.formula);
        self.claim(literal, state, scope)
    }

    /// Explores all claims that may matter. Returns false if there are too many.
    fn explore(&mut self) -> Result<bool, Stop> {
        let mut at = 0;
        while let Some(claim) = self.claims.get(at).cloned() {
            if at >= MAX_EXPLORED {
                return Ok(false);
            }
            if at % 64 == 0 {
                self.explainer.budget.check()?;
            }
            let mut truth = None;
            let formula = claim.literal.formula;
            let is_leaf = formula != self.claims[0].literal.formula && !self.fixpoints.is_open(formula);
            let how = if is_leaf {
                let state = self.nearby.state(claim.state).clone();
                truth = Some(self.explainer.is_true(claim.literal, &state)?);
                Some(How::Closed)
            } else {
                self.how(&claim)?
            };
            let Some(how) = how else { return Ok(false) };
            self.hows.push(how);
            self.closed_truths.push(truth);
            at += 1;
        }
        Ok(true)
    }

    /// All claims that may decide a claim about an open part; `None` if there are too many.
    fn how(&mut self, claim: &Claim) -> Result<Option<How>, Stop> {
        let system = self.explainer.system;
        let Literal { formula, holds } = claim.literal;
        let Some(unfolds) = Unfolds::of(system, claim.literal) else { return Ok(None) };
        Ok(match unfolds {
            Unfolds::Once => {
                let once = unfolded_once(system, &self.fixpoints, &claim.scope, formula);
                once.map(|(formula, scope)| {
                    How::Nodes(vec![self.claim(Literal { formula, holds }, claim.state, scope)])
                })
            }
            Unfolds::Operands(Needs::All(list) | Needs::One(list)) => {
                let parts = list.into_iter().map(|literal| self.part(claim, literal, claim.state));
                Some(How::Nodes(parts.collect()))
            }
            Unfolds::Operands(Needs::Same(..)) => None,
            Unfolds::Steps(condition, operand, _) => {
                let Some(steps) = self.steps(claim.state, condition)? else { return Ok(None) };
                let operand = Literal { formula: operand, holds };
                let parts = steps.into_iter().map(|(joint, next)| (joint, self.part(claim, operand, next)));
                Some(How::Steps(parts.collect()))
            }
            Unfolds::Views(views, green, operand) => {
                let Some(states) = self.alike(claim.state, &views, &green)? else { return Ok(None) };
                let operand = Literal { formula: operand, holds };
                let parts = states.into_iter().map(|state| self.part(claim, operand, state)).collect();
                Some(How::Alike(parts))
            }
        })
    }

    /// The steps from a state, one per successor, in canonical order; `None` if there are too many.
    fn steps(&mut self, state: u32, condition: Option<ExprId>) -> Result<Option<Vec<Successor>>, Stop> {
        let Some(steps) = self.nearby.steps(state) else { return Ok(None) };
        let here = self.nearby.state(state).clone();
        let mut found: HashMap<u32, Option<JointAction>> = HashMap::new();
        for step in steps.iter() {
            let may = match (condition, &step.joint) {
                (None, _) => true,
                (Some(condition), Some(joint)) => is_true(self.explainer.system, condition, &here, joint),
                // In the loop of a dead end no agent acts.
                (Some(_), None) => false,
            };
            if may {
                for &target in &step.targets {
                    found.entry(target).or_insert_with(|| step.joint.clone());
                }
            }
        }
        let Some(successors) = self.nearby.successors(state) else { return Ok(None) };
        let mut all = Vec::new();
        for target in successors {
            if let Some(joint) = found.remove(&target)
                && self.is_inside(target)?
            {
                all.push((joint, target));
            }
        }
        Ok(Some(all))
    }

    fn is_inside(&mut self, state: u32) -> Result<bool, Stop> {
        if self.explainer.system.fairness.is_empty() {
            return Ok(true);
        }
        if let Some(&known) = self.insides.get(&state) {
            return Ok(known);
        }
        let is_inside = self.explainer.is_inside(&self.nearby.state(state).clone())?;
        self.insides.insert(state, is_inside);
        Ok(is_inside)
    }

    /// The states that one of the views cannot distinguish from a state and at which the agents of `green`
    /// are green; `None` if there are too many.
    fn alike(
        &mut self,
        state: u32,
        views: &[Vec<AgentId>],
        green: &[AgentId],
    ) -> Result<Option<Vec<u32>>, Stop> {
        let here = self.nearby.state(state).clone();
        let mut all = Vec::new();
        if green.iter().all(|&agent| is_green(self.explainer.system, agent, &here)) {
            all.push(state);
        }
        for view in views {
            let mut region = vec![RegionPart::Alike(view.clone(), here.clone())];
            region.extend(green.iter().map(|&agent| RegionPart::Green(agent)));
            let Explainer { oracle, budget, .. } = &mut *self.explainer;
            let (states, _) = oracle.first(&region, MAX_ALIKE + 1, budget)?;
            for other in states {
                let other = self.nearby.number(other);
                if !all.contains(&other) {
                    all.push(other);
                }
            }
            if all.len() > MAX_ALIKE {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Whether the prover chooses: one of the claims that may decide a claim is enough.
    fn is_prover(&self, literal: Literal) -> bool {
        match Unfolds::of(self.explainer.system, literal) {
            Some(Unfolds::Operands(Needs::One(_))) => true,
            Some(Unfolds::Steps(_, _, is_one)) => is_one == literal.holds,
            Some(Unfolds::Views(..)) => !literal.holds,
            _ => false,
        }
    }

    /// Adds a claim to the game. The prover is the even player.
    fn add_to(&self, game: &mut ParityGame, number: usize) {
        let claim = &self.claims[number];
        let Literal { formula, holds } = claim.literal;
        let next: Vec<usize> = match &self.hows[number] {
            How::Closed => Vec::new(),
            How::Nodes(list) | How::Alike(list) => list.clone(),
            How::Steps(list) => list.iter().map(|step| step.1).collect(),
            How::Possible(_, node) => vec![*node],
        };
        let is_prover = self.is_prover(claim.literal);
        // A player who has to choose and cannot has lost.
        if next.is_empty() {
            let is_good = self.closed_truths[number].unwrap_or(!is_prover);
            return game.push(is_prover, priority(0, is_good), [number as u32]);
        }
        // Inner fixpoints have smaller ids, so ids can serve as ranks.
        let (rank, is_good) = match self.explainer.system.formulas.get(formula) {
            Formula::Least(..) => (formula.index() as u32 + 1, !holds),
            Formula::Greatest(..) => (formula.index() as u32 + 1, holds),
            _ => (0, true),
        };
        game.push(is_prover, priority(rank, is_good), next.into_iter().map(|next| next as u32));
    }

    /// The claims that the prover chooses, starting with the first. Returns `None` if there are too many, or
    /// if the prover loses.
    fn shown(self) -> Option<Vec<Shown>> {
        let mut game = ParityGame::default();
        (0..self.claims.len()).for_each(|number| self.add_to(&mut game, number));
        let Ok(solution) = solve(&game, || Ok::<(), Infallible>(()));
        if !solution.by_even[0] {
            return None;
        }
        let mut order = vec![0];
        let mut indices: HashMap<usize, usize> = HashMap::from([(0, 0)]);
        let mut shown = Vec::new();
        let mut at = 0;
        while let Some(&number) = order.get(at) {
            at += 1;
            let claim = self.claims[number].clone();
            // The prover wins at all these claims, so the strategy is defined there.
            let one = self.is_prover(claim.literal).then_some(solution.strategy[number] as usize);
            let mut index = |number: usize| {
                *indices.entry(number).or_insert_with(|| {
                    order.push(number);
                    order.len() - 1
                })
            };
            let chosen = |number: &usize| one.is_none_or(|one| one == *number);
            let how = match &self.hows[number] {
                How::Closed => How::Closed,
                How::Nodes(list) => How::Nodes(list.iter().copied().filter(chosen).map(&mut index).collect()),
                How::Steps(list) => {
                    let steps = list.iter().filter(|step| chosen(&step.1));
                    How::Steps(steps.map(|(joint, node)| (joint.clone(), index(*node))).collect())
                }
                How::Alike(_) if one.is_some() => {
                    let node = one?;
                    let view = self.first_view(&claim, self.claims[node].state)?;
                    How::Possible(view, index(node))
                }
                How::Alike(list) => How::Alike(list.iter().copied().map(&mut index).collect()),
                How::Possible(view, node) => How::Possible(view.clone(), index(*node)),
            };
            let state = self.nearby.state(claim.state).clone();
            shown.push(Shown { claim, state, how });
            if order.len() > MAX_SHOWN {
                return None;
            }
        }
        Some(shown)
    }

    /// The first of the views of a claim that cannot distinguish its state from another.
    fn first_view(&self, claim: &Claim, other: u32) -> Option<Vec<AgentId>> {
        let Unfolds::Views(views, ..) = Unfolds::of(self.explainer.system, claim.literal)? else {
            return None;
        };
        let (here, there) = (self.nearby.state(claim.state), self.nearby.state(other));
        let same = |agent: &AgentId| looks_same(self.explainer.system, *agent, here, there);
        views.into_iter().find(|view| view.iter().all(same))
    }
}
