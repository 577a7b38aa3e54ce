//! ATL: the goals that a group can enforce, with and without fairness, with perfect and imperfect
//! information.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::step::{enabled_actions, joint_actions, step};
use super::truth::{States, Truths, and, is_subset, or};
use crate::{ActionId, AgentId, Deadlock, Formula, FormulaId, GroupId, Strategies};

/// Maximum number of tuples of uniform strategies that are tried.
const MAX_STRATEGIES: usize = 1 << 10;

/// For each state its joint actions, each with its successors.
pub(super) type Moves = Vec<Vec<(Vec<ActionId>, Vec<usize>)>>;

/// The actions of a group, one per member, and for each completion by the others the successors.
type Choice = (Vec<ActionId>, Vec<Vec<usize>>);

/// The goal of a group.
struct GroupGoal {
    /// The path formula: one temporal operator.
    path: FormulaId,
    /// The states in which the first operand is true.
    phi: States,
    /// The states in which the second operand is true; equal to `phi` if there is one operand.
    psi: States,
    /// For each state the choices of the group.
    choices: Vec<Vec<Choice>>,
}

/// Whether a group may choose these actions, one per member, at a state.
type May<'m> = &'m dyn Fn(usize, &[ActionId]) -> bool;

/// An agent's local states.
struct LocalStates {
    /// For each state the index of its local state.
    of: Vec<usize>,
    /// Number of local states.
    n: usize,
}

/// One agent's uniform strategy: for each local state an action, or `None` where none is enabled.
type Strategy = Vec<Option<ActionId>>;

impl Truths<'_> {
    /// `<Γ> path`: the group has a strategy that enforces the path formula. [AHK02 §3.1; Schobbens04 §3]
    ///
    /// ```text
    /// g ⊨ <Γ> path            iff   a strategy of Γ enforces it from g
    /// g ⊨ <Γ, uniform..> path  iff   one tuple of uniform strategies of Γ's members enforces it from
    ///                               every start state g' ∈ D of g
    ///    uniform               g' that some member cannot distinguish from g
    ///    uniform-joint         g' that the members together cannot distinguish from g
    ///    uniform-objective     g' = g
    /// ```
    ///
    /// With perfect information memoryless strategies are as good as any others, so fixpoints
    /// decide. Uniform strategies are tried one by one: a tuple leaves the group one choice at each
    /// state, and it enforces the goals that the group can enforce with these choices only.
    pub(super) fn enforces(
        &mut self,
        group: GroupId,
        strategies: Strategies,
        path: FormulaId,
    ) -> Option<States> {
        let (phi, psi) = self.operands(path)?;
        self.enforces_sets(group, strategies, path, &phi, &psi)
    }

    /// `<Γ> path`, given the sets in which the operands are true; the same twice if there is one operand.
    /// Strategic operators inside the operands choose new strategies, so the operands do not depend on
    /// this choice.
    pub(super) fn enforces_sets(
        &mut self,
        group: GroupId,
        strategies: Strategies,
        path: FormulaId,
        phi: &States,
        psi: &States,
    ) -> Option<States> {
        let goal = self.goal(group, path, phi, psi);
        if strategies == Strategies::Perfect {
            return self.enforced(&goal, &|_, _| true);
        }
        let members = &self.system.groups[group.index()].agents;
        let local: Vec<LocalStates> = members.iter().map(|&i| self.local_states(i)).collect();
        let start_states: Vec<States> =
            (0..self.structure.n_states()).map(|g| self.start_states(&local, strategies, g)).collect();
        let mut truth = self.nowhere();
        for tuple in self.uniform_strategies(members, &local)? {
            let may = |g: usize, chosen: &[ActionId]| {
                let follows = |((local, strategy), action): ((&LocalStates, &Strategy), &ActionId)| {
                    strategy[local.of[g]] == Some(*action)
                };
                local.iter().zip(&tuple).zip(chosen).all(follows)
            };
            let enforced = self.enforced(&goal, &may)?;
            for (g, starts) in start_states.iter().enumerate().filter(|(g, _)| self.domain[*g]) {
                truth[g] |= is_subset(starts, &enforced);
            }
        }
        Some(truth)
    }

    /// Makes the goal of a group.
    fn goal(&mut self, group: GroupId, path: FormulaId, phi: &States, psi: &States) -> GroupGoal {
        let moves = self.moves();
        let choices = (0..self.structure.n_states()).map(|g| self.choices(&moves, group, g)).collect();
        GroupGoal { path, phi: phi.clone(), psi: psi.clone(), choices }
    }

    /// Computes the states in which the group can win, with perfect information, so that a fair path that
    /// meets the goal always remains: the largest set of states from which it wins, and from each of
    /// which a fair path meets the goal by *safe* steps: choices of the group that lead only into the set.
    /// For `X φ`: some choice leads only to `φ`.
    pub(super) fn enforces_honestly(
        &mut self,
        group: GroupId,
        path: FormulaId,
        phi: &States,
        psi: &States,
    ) -> Option<States> {
        let goal = self.goal(group, path, phi, psi);
        let steps = |safe: &States| -> Vec<Vec<usize>> {
            (0..self.structure.n_states()).map(|g| self.safe_steps(&goal, g, safe)).collect()
        };
        let both = and(phi, psi);
        let mut safe = self.enforced(&goal, &|_, _| true)?;
        loop {
            let next = match self.system.formulas.get(path) {
                Formula::Next(_) => {
                    let steps = steps(phi);
                    return Some(self.at_each(|g| !steps[g].is_empty()));
                }
                Formula::Finally(_) => self.leads(&steps(&safe), &self.domain, phi),
                Formula::Until(..) => self.leads(&steps(&safe), phi, psi),
                Formula::Globally(_) => self.recurs(&steps(&safe), phi),
                Formula::WeakUntil(..) => {
                    or(&self.leads(&steps(&safe), phi, psi), &self.recurs(&steps(&safe), phi))
                }
                Formula::Release(..) => {
                    or(&self.leads(&steps(&safe), psi, &both), &self.recurs(&steps(&safe), psi))
                }
                _ => return None,
            };
            let next = and(&safe, &next);
            if next == safe {
                return Some(safe);
            }
            safe = next;
        }
    }

    /// Returns the successors of a state by safe steps.
    fn safe_steps(&self, goal: &GroupGoal, g: usize, safe: &States) -> Vec<usize> {
        if !self.domain[g] {
            return Vec::new();
        }
        if self.is_looped(g) {
            return vec![g];
        }
        let mut targets = Vec::new();
        for (_, outcomes) in &goal.choices[g] {
            let inside: Vec<usize> =
                outcomes.concat().into_iter().filter(|&next| self.domain[next]).collect();
            if inside.iter().all(|&next| safe[next]) {
                targets.extend(inside);
            }
        }
        targets
    }

    /// Computes the states from which steps lead to one set through another.
    fn leads(&self, steps: &[Vec<usize>], through: &States, to: &States) -> States {
        iterate(to.clone(), &|z| or(z, &self.at_each(|g| through[g] && steps[g].iter().any(|&next| z[next]))))
    }

    /// Computes the states from which an infinite path of steps inside a set meets every constraint
    /// infinitely often: it leads to a state on cycles that together meet them all.
    fn recurs(&self, steps: &[Vec<usize>], inside: &States) -> States {
        let inner = |g: usize| steps[g].iter().copied().filter(|&next| inside[next]);
        let reaches = |g: usize| {
            let mut found = self.nowhere();
            let mut open: Vec<usize> = inner(g).collect();
            while let Some(next) = open.pop() {
                if !std::mem::replace(&mut found[next], true) {
                    open.extend(inner(next));
                }
            }
            found
        };
        let reached: Vec<States> =
            (0..steps.len()).map(|g| if inside[g] { reaches(g) } else { self.nowhere() }).collect();
        let meets = |g: usize, c: &States| (0..steps.len()).any(|k| c[k] && reached[g][k] && reached[k][g]);
        let on_cycles = self.at_each(|g| reached[g][g] && self.constraints.iter().all(|c| meets(g, c)));
        let leads_to_cycles = |g: usize| (0..steps.len()).any(|k| on_cycles[k] && reached[g][k]);
        self.at_each(|g| inside[g] && (on_cycles[g] || leads_to_cycles(g)))
    }

    /// Computes the states in which a group enforces its goal with the choices it may make.
    ///
    /// Without fairness, with `pre` for [`enforce_next`](Self::enforce_next): [AHK02 §4.1]
    ///
    /// ```text
    /// X φ      pre(φ)
    /// F φ      μZ. φ ∨ pre(Z)               G φ      νZ. φ ∧ pre(Z)
    /// φ U ψ    μZ. ψ ∨ (φ ∧ pre(Z))         φ W ψ    νZ. ψ ∨ (φ ∧ pre(Z))
    /// φ R ψ    νZ. ψ ∧ (φ ∨ pre(Z))
    /// ```
    ///
    /// With fairness it is enough that every fair path meets the goal: the complement of the states in
    /// which the opponents can [violate](Self::spoiled) it.
    fn enforced(&self, goal: &GroupGoal, may: May<'_>) -> Option<States> {
        if !self.constraints.is_empty() {
            return Some(self.not(&self.spoiled(goal, |z| self.spoil_next(goal, may, z))?));
        }
        let GroupGoal { path, phi, psi, .. } = goal;
        let pre = |z: &States| self.enforce_next(goal, may, z);
        let least = |f: &dyn Fn(&States) -> States| iterate(self.nowhere(), f);
        let greatest = |f: &dyn Fn(&States) -> States| iterate(self.domain.clone(), f);
        Some(match self.system.formulas.get(*path) {
            Formula::Next(_) => pre(phi),
            Formula::Finally(_) => least(&|z| or(phi, &pre(z))),
            Formula::Globally(_) => greatest(&|z| and(phi, &pre(z))),
            Formula::Until(..) => least(&|z| or(psi, &and(phi, &pre(z)))),
            Formula::WeakUntil(..) => greatest(&|z| or(psi, &and(phi, &pre(z)))),
            Formula::Release(..) => greatest(&|z| and(psi, &or(phi, &pre(z)))),
            _ => return None,
        })
    }

    /// `<Γ>X Z`: the members have actions such that, for all actions of the others, there is a step and
    /// every step leads into `Z`.
    ///
    /// ```text
    /// g ∈ pre(Z)   iff   for some a ∈ P_Γ(g), for all b ∈ P_rest(g):  ∅ ≠ step(g, (a, b)) ⊆ Z
    /// ```
    ///
    /// The Environment is one of the others unless it is a member. A joint action without successor
    /// enforces nothing, and a state without joint actions is in no `pre(Z)`. Under
    /// [`Deadlock::Stutter`] the loop is the only move of a dead end, for every group.
    fn enforce_next(&self, goal: &GroupGoal, may: May<'_>, z: &States) -> States {
        self.at_each(|g| {
            if self.is_looped(g) {
                return z[g];
            }
            goal.choices[g].iter().any(|(chosen, outcomes)| {
                let leads = |next: &Vec<usize>| !next.is_empty() && next.iter().all(|&next| z[next]);
                may(g, chosen) && outcomes.iter().all(leads)
            })
        })
    }

    /// The step of the opponents: for every choice of the group, some outcome leads into `Z`. They know
    /// the group's choice. Where the group has no enabled choice there is no path.
    ///
    /// ```text
    /// g ∈ opp(Z)   iff   P_Γ(g) ≠ ∅, and for all a ∈ P_Γ(g), for some b ∈ P_rest(g):  step(g, (a, b)) ∩ Z ≠ ∅
    /// ```
    fn spoil_next(&self, goal: &GroupGoal, may: May<'_>, z: &States) -> States {
        self.at_each(|g| {
            if self.is_looped(g) {
                return z[g];
            }
            let mut allowed = goal.choices[g].iter().filter(|(chosen, _)| may(g, chosen)).peekable();
            allowed.peek().is_some()
                && allowed.all(|(_, outcomes)| outcomes.iter().any(|next| next.iter().any(|&next| z[next])))
        })
    }

    /// Computes the states in which the opponents can enforce a fair path that violates the goal: a
    /// generalised Büchi game.
    ///
    /// ```text
    /// fair   = νZ. ⋀_c μY. (c ∧ opp(Z)) ∨ opp(Y)                      they can enforce a fair path
    /// X φ      opp(¬φ ∧ fair)
    /// G φ      μY. (¬φ ∧ fair) ∨ opp(Y)
    /// φ W ψ    μY. (¬φ ∧ ¬ψ ∧ fair) ∨ (¬ψ ∧ opp(Y))
    /// φ R ψ    μY. (¬ψ ∧ fair) ∨ (¬φ ∧ opp(Y))
    /// φ U ψ    νZ. ⋀_c μY. (¬φ ∧ ¬ψ ∧ fair) ∨ (¬ψ ∧ ((c ∧ opp(Z)) ∨ opp(Y)))
    /// F φ      as true U φ
    /// ```
    ///
    /// For `U`, either the goal is violated after finitely many steps and a fair path follows,
    /// or `¬ψ` is always true on a path that meets every `c` infinitely often: from `Z` to a `c₁`,
    /// from there to `Z` and a `c₂`, and so on.
    fn spoiled(&self, goal: &GroupGoal, opp: impl Fn(&States) -> States) -> Option<States> {
        let recurring = |through: &States, now: &States| {
            iterate(self.domain.clone(), &|z| {
                let reach = |c: &States| {
                    let again = and(c, &opp(z));
                    iterate(self.nowhere(), &|y| or(now, &and(through, &or(&again, &opp(y)))))
                };
                self.constraints.iter().fold(self.domain.clone(), |all, c| and(&all, &reach(c)))
            })
        };
        let fair = recurring(&self.domain, &self.nowhere());
        let until = |through: &States, now: &States| {
            iterate(self.nowhere(), &|y| or(&and(now, &fair), &and(through, &opp(y))))
        };
        let (not_phi, not_psi) = (self.not(&goal.phi), self.not(&goal.psi));
        let neither = and(&not_phi, &not_psi);
        Some(match self.system.formulas.get(goal.path) {
            Formula::Next(_) => opp(&and(&not_phi, &fair)),
            Formula::Finally(_) => recurring(&not_phi, &self.nowhere()),
            Formula::Globally(_) => until(&self.domain, &not_phi),
            Formula::Until(..) => recurring(&not_psi, &and(&neither, &fair)),
            Formula::WeakUntil(..) => until(&not_psi, &neither),
            Formula::Release(..) => until(&not_phi, &not_psi),
            _ => return None,
        })
    }

    /// Returns whether a state is a dead end to which a loop is added.
    fn is_looped(&self, g: usize) -> bool {
        self.structure.deadlocked[g] && self.system.meaning.deadlock == Deadlock::Stutter
    }

    /// Returns the choices of the group at a state, each with the successors for each completion by the
    /// others.
    fn choices(&self, moves: &Moves, group: GroupId, g: usize) -> Vec<Choice> {
        let members = &self.system.groups[group.index()].agents;
        let mut choices: BTreeMap<Vec<ActionId>, Vec<Vec<usize>>> = BTreeMap::new();
        for (joint, next) in &moves[g] {
            let chosen = members.iter().map(|i| joint[i.index()]).collect();
            choices.entry(chosen).or_default().push(next.clone());
        }
        choices.into_iter().collect()
    }

    /// Returns the successors by joint actions; computed once.
    fn moves(&mut self) -> Rc<Moves> {
        if let Some(moves) = &self.moves {
            return Rc::clone(moves);
        }
        let of = |g: &super::State| {
            let leads = |joint: Vec<ActionId>| {
                let successors = step(self.system, g, &joint).successors;
                let next = successors.iter().filter_map(|next| self.structure.index_of(next)).collect();
                (joint, next)
            };
            joint_actions(self.system, g).into_iter().map(leads).collect()
        };
        let moves = Rc::new(self.structure.states.iter().map(of).collect::<Moves>());
        self.moves = Some(Rc::clone(&moves));
        moves
    }

    /// Returns all tuples of uniform strategies, one for each member; `None` if there are more than
    /// [`MAX_STRATEGIES`].
    ///
    /// A uniform strategy is a function from the agent's local states to actions enabled there. For local
    /// states that no state of `D` has, the action makes no difference, so only one is tried.
    fn uniform_strategies(&self, members: &[AgentId], local: &[LocalStates]) -> Option<Vec<Vec<Strategy>>> {
        let mut tuples: Vec<Vec<Strategy>> = vec![Vec::new()];
        for (&i, local) in members.iter().zip(local) {
            tuples.iter_mut().for_each(|tuple| tuple.push(Strategy::new()));
            for local_state in 0..local.n {
                let has_local_state = |g: &usize| local.of[*g] == local_state;
                let mut enabled = match (0..self.structure.n_states()).find(has_local_state) {
                    Some(g) => enabled_actions(self.system, i, &self.structure.states[g]),
                    None => Vec::new(),
                };
                if !(0..self.structure.n_states()).any(|g| has_local_state(&g) && self.domain[g]) {
                    enabled.truncate(1);
                }
                let options: Vec<Option<ActionId>> =
                    if enabled.is_empty() { vec![None] } else { enabled.into_iter().map(Some).collect() };
                if tuples.len() * options.len() > MAX_STRATEGIES {
                    return None;
                }
                let extended = |tuple: &Vec<Strategy>| {
                    let with = |&action: &Option<ActionId>| {
                        let mut tuple = tuple.clone();
                        tuple.last_mut().into_iter().for_each(|strategy| strategy.push(action));
                        tuple
                    };
                    options.iter().map(with).collect::<Vec<_>>()
                };
                tuples = tuples.iter().flat_map(extended).collect();
            }
        }
        Some(tuples)
    }

    /// Returns the start states of `g`: those from which one strategy must win.
    fn start_states(&self, local: &[LocalStates], strategies: Strategies, g: usize) -> States {
        self.at_each(|other| {
            let mut alike = local.iter().map(|local| local.of[other] == local.of[g]);
            match strategies {
                Strategies::Perfect | Strategies::UniformObjective => other == g,
                Strategies::Uniform => alike.any(|same| same),
                Strategies::UniformJoint => alike.all(|same| same),
            }
        })
    }

    /// Returns `l_i(g)`, what an agent sees of each state `g`, indexed in the order of the states.
    fn local_states(&self, agent: AgentId) -> LocalStates {
        let sees = &self.system.agent(agent).sees;
        let mut numbers: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
        let mut of = Vec::new();
        for state in &self.structure.states {
            let n = numbers.len();
            of.push(*numbers.entry(sees.iter().map(|v| state[v.index()]).collect()).or_insert(n));
        }
        LocalStates { of, n: numbers.len() }
    }

    /// `{g ∈ D | test(g)}`, where `test` gets the index of a state.
    fn at_each(&self, test: impl Fn(usize) -> bool) -> States {
        (0..self.structure.n_states()).map(|g| self.domain[g] && test(g)).collect()
    }
}

/// Iterates a function from a set until the set does not change any more.
fn iterate(mut set: States, f: &dyn Fn(&States) -> States) -> States {
    loop {
        let next = f(&set);
        if next == set {
            return set;
        }
        set = next;
    }
}
