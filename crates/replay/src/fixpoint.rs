//! Replay of unfolded fixpoints: checks each claim by the definition, and then the cycles of claims.

use masque_graph::component_numbers;
use masque_model::semantics::{is_green, is_true};
use masque_model::steps::Neighbourhood;
use masque_model::{ExprId, Fixpoints, Formula, FormulaId, System};
use masque_verdict::claims::{Needs, Unfolds, looks_same, scope_of, unfolded_once};
use masque_verdict::{DecidedBy, Evidence, JointAction, Literal, Reason, UnfoldedClaim, Unfolding};

use crate::fault::Fault;
use crate::knowledge::leads_to;

/// Fails if an unfolding does not show a claim about a fixpoint. Otherwise returns whether something was
/// taken on trust: that there are no other possible states, or that no fair path starts at the successors
/// that are left out.
pub(crate) fn confirm(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    unfolding: &Unfolding,
) -> Result<bool, Fault> {
    let first = unfolding.nodes.first().ok_or(Fault::Claims)?;
    let is_claim = (first.formula, first.holds, first.state) == (reason.formula, reason.holds, reason.state);
    if !is_claim || !first.scope.is_empty() || matches!(first.by, DecidedBy::Reason(_)) {
        return Err(Fault::Claims);
    }
    let fixpoints = system.formulas.fixpoints();
    let mut check = FixpointCheck { system, evidence, nodes: &unfolding.nodes, fixpoints, trusts: false };
    let mut nearby = Neighbourhood::new(system);
    for node in &unfolding.nodes {
        check.node(&mut nearby, node)?;
    }
    if check.has_wrong_cycle() { Err(Fault::Circle) } else { Ok(check.trusts) }
}

struct FixpointCheck<'a> {
    system: &'a System,
    evidence: &'a Evidence,
    nodes: &'a [UnfoldedClaim],
    fixpoints: Fixpoints,
    /// Whether something was taken on trust.
    trusts: bool,
}

impl FixpointCheck<'_> {
    /// Checks that the claims to which a node refers decide its own claim.
    fn node(&mut self, nearby: &mut Neighbourhood<'_>, node: &UnfoldedClaim) -> Result<(), Fault> {
        let literal = Literal { formula: node.formula, holds: node.holds };
        if let DecidedBy::Reason(id) = node.by {
            let claim = self.evidence.reason(id);
            let is_same = (claim.formula, claim.holds, claim.state) == (node.formula, node.holds, node.state);
            return if is_same && node.scope.is_empty() { Ok(()) } else { Err(Fault::Claims) };
        }
        let unfolds = Unfolds::of(self.system, literal).ok_or(Fault::Kind)?;
        match (&node.by, unfolds) {
            (DecidedBy::Nodes(list), Unfolds::Once) => {
                let once = unfolded_once(self.system, &self.fixpoints, &node.scope, node.formula);
                let (formula, scope) = once.ok_or(Fault::Claims)?;
                let [target] = list.as_slice() else { return Err(Fault::Claims) };
                let target = self.at(*target)?;
                let is_it = (target.formula, target.holds, target.state) == (formula, node.holds, node.state);
                if is_it && target.scope == scope { Ok(()) } else { Err(Fault::Claims) }
            }
            (DecidedBy::Nodes(list), Unfolds::Operands(needs @ (Needs::All(_) | Needs::One(_)))) => {
                let mut claims = Vec::new();
                for &target in list {
                    let target = self.part(node, target)?;
                    if target.state != node.state {
                        return Err(Fault::Claims);
                    }
                    claims.push(Literal { formula: target.formula, holds: target.holds });
                }
                if needs.are_met_by(&claims) { Ok(()) } else { Err(Fault::Claims) }
            }
            (DecidedBy::Steps(list), Unfolds::Steps(condition, operand, is_one)) => {
                self.steps(nearby, node, list, (condition, operand, is_one == node.holds))
            }
            (DecidedBy::Possible { view, path, node: target }, Unfolds::Views(views, green, operand))
                if !node.holds =>
            {
                let there = self.operand(node, *target, operand)?;
                let (here, other) = (self.evidence.state(node.state), self.evidence.state(there.state));
                if !leads_to(path.as_ref(), node.state, there.state) {
                    return Err(Fault::Ends);
                }
                if !views.contains(view)
                    || !view.iter().all(|&agent| looks_same(self.system, agent, here, other))
                {
                    return Err(Fault::Seen);
                }
                let is_red = green.iter().any(|&agent| !is_green(self.system, agent, other));
                if is_red { Err(Fault::Red) } else { Ok(()) }
            }
            (DecidedBy::Alike(list), Unfolds::Views(.., operand)) if node.holds => {
                self.trusts = true;
                list.iter().try_for_each(|&target| self.operand(node, target, operand).map(|_| ()))
            }
            _ => Err(Fault::Kind),
        }
    }

    fn at(&self, index: usize) -> Result<&UnfoldedClaim, Fault> {
        self.nodes.get(index).ok_or(Fault::Claims)
    }

    /// The node of a part, which must have the right scope.
    fn part(&self, of: &UnfoldedClaim, index: usize) -> Result<&UnfoldedClaim, Fault> {
        let target = self.at(index)?;
        let scope = scope_of(self.system, &self.fixpoints, &of.scope, target.formula);
        if target.scope == scope { Ok(target) } else { Err(Fault::Claims) }
    }

    /// The node of the operand, which must have the truth value of the whole formula.
    fn operand(&self, of: &UnfoldedClaim, index: usize, operand: FormulaId) -> Result<&UnfoldedClaim, Fault> {
        let target = self.part(of, index)?;
        if (target.formula, target.holds) == (operand, of.holds) { Ok(target) } else { Err(Fault::Claims) }
    }

    /// Checks that these are steps of the required kind, and all of them unless one is enough.
    fn steps(
        &mut self,
        nearby: &mut Neighbourhood<'_>,
        node: &UnfoldedClaim,
        list: &[(Option<JointAction>, usize)],
        (condition, operand, is_one): (Option<ExprId>, FormulaId, bool),
    ) -> Result<(), Fault> {
        let here = self.evidence.state(node.state);
        let number = nearby.number(here.clone());
        let steps = nearby.steps(number).ok_or(Fault::Claims)?;
        let may = |joint: &Option<JointAction>| match (condition, joint) {
            (None, _) => true,
            (Some(condition), Some(joint)) => is_true(self.system, condition, here, joint),
            (Some(_), None) => false,
        };
        let mut found = Vec::new();
        for (joint, target) in list {
            let target = self.operand(node, *target, operand)?;
            let next = nearby.number(self.evidence.state(target.state).clone());
            let is_step = steps.iter().any(|step| step.joint == *joint && step.targets.contains(&next));
            if !is_step || !may(joint) {
                return Err(Fault::Claims);
            }
            found.push(next);
        }
        if is_one {
            return if found.is_empty() { Err(Fault::Claims) } else { Ok(()) };
        }
        let mut all = steps.iter().filter(|step| may(&step.joint)).flat_map(|step| &step.targets);
        match all.all(|target| found.contains(target)) {
            true => Ok(()),
            false if self.system.fairness.is_empty() => Err(Fault::Claims),
            // It is taken on trust that no fair path starts at a successor that is left out.
            false => {
                self.trusts = true;
                Ok(())
            }
        }
    }

    /// Whether the outermost fixpoint on some cycle has the wrong kind.
    fn has_wrong_cycle(&self) -> bool {
        let fixpoint = |node: &UnfoldedClaim| match self.system.formulas.get(node.formula) {
            Formula::Least(..) => Some((node.formula, node.holds)),
            Formula::Greatest(..) => Some((node.formula, !node.holds)),
            _ => None,
        };
        let edges = |node: &UnfoldedClaim| match &node.by {
            DecidedBy::Reason(_) => Vec::new(),
            DecidedBy::Nodes(list) | DecidedBy::Alike(list) => list.clone(),
            DecidedBy::Steps(list) => list.iter().map(|step| step.1).collect(),
            DecidedBy::Possible { node, .. } => vec![*node],
        };
        let mut wrong: Vec<FormulaId> =
            self.nodes.iter().filter_map(fixpoint).filter(|f| f.1).map(|f| f.0).collect();
        wrong.sort_unstable();
        wrong.dedup();
        // Outer fixpoints have greater ids.
        wrong.into_iter().any(|outermost| {
            let stays = |node: &UnfoldedClaim| fixpoint(node).is_none_or(|(formula, _)| formula <= outermost);
            let part: Vec<Vec<usize>> = (self.nodes.iter())
                .map(|node| match stays(node) {
                    true => edges(node).into_iter().filter(|&next| stays(&self.nodes[next])).collect(),
                    false => Vec::new(),
                })
                .collect();
            let component = component_numbers(&part);
            self.nodes.iter().enumerate().any(|(index, node)| {
                fixpoint(node) == Some((outermost, true))
                    && part[index].iter().any(|&next| component[next] == component[index])
            })
        })
    }
}
