//! Imperfect information: uniform strategies, found by search. [Schobbens04]
//!
//! A uniform strategy chooses an action for each *view*: a member of the group and what it sees. For a
//! state, one strategy must win from all its *start states*: depending on the semantics the state itself,
//! or also the states that members confuse with it. The states that the group wins with perfect
//! information are an upper bound. If few states inside this bound are reachable from the start states,
//! they are listed in an [arena](crate::arena), in which a
//! [search](masque_verdict::find_uniform_strategy) learns from its conflicts.
//!
//! Otherwise, and with fairness, the search is on diagrams and without learning. It fixes the action of
//! one view after the other, among the views reachable from the start states. After each choice, the game
//! is solved with perfect information and the actions fixed so far, and the search backtracks if the
//! group loses. When no reachable view has a choice left, the fixed actions are a winning strategy.

use masque_model::{ActionId, AgentId, Deadlock, Formula, Strategies, VarId};
use masque_proof::GroupStrategy;
use masque_verdict::{FixedActions, Stop, UniformAim, Why};

use crate::arena::{Arena, Board};
use crate::arena_search::ArenaSearch;
use crate::check::Checker;
use crate::fixpoint::reach;
use crate::moves::Coalition;
use crate::reach::least_and_singleton;
use crate::space::{Bit, Cube, Limited, Set, Table};
use crate::stages::Event;
use crate::strategic::Goal;

/// A group, and the kind of strategies that count.
#[derive(Clone, Copy)]
pub(crate) struct UniformGroup<'a> {
    pub(crate) members: &'a [AgentId],
    pub(crate) strategies: Strategies,
}

/// The transition relation with the actions of a group.
struct OwnSteps {
    relation: Event,
    /// Bits of the members' actions.
    own: Cube,
}

/// The states for which the truth is needed.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// All states.
    All,
    /// These states; others may be missing from the result.
    Among(&'a Set),
    /// Whether the formula is true in all of these states; if not, any of them may be missing from the
    /// result.
    Every(&'a Set),
}

/// What a search for uniform strategies returns.
pub(crate) struct Requested<'a> {
    /// The states for which the truth is needed.
    pub(crate) states: Wanted<'a>,
    /// Gets the strategies that were found, if they are needed.
    pub(crate) strategies: Option<&'a mut Vec<GroupStrategy<Set>>>,
}

/// A strategy that the search has found.
enum Found<'a> {
    /// The action of each view of the arena.
    InArena(FixedActions),
    /// The group with the choices of the strategy only.
    OnDiagrams(Coalition<'a>),
}

/// A view whose action the search has fixed.
struct FixedView {
    /// The members' choices before.
    choices: Vec<Option<Set>>,
    /// Index of the member.
    member: usize,
    /// The states in the view.
    view: Set,
    /// The actions still to try, the next one last.
    options: Vec<ActionId>,
}

impl Checker<'_> {
    /// Computes the states for which one tuple of uniform strategies enforces the goal from all start
    /// states. `upper` has the states in which it is enforced with perfect information.
    pub(crate) fn enforces_uniformly(
        &mut self,
        uniform_group: UniformGroup<'_>,
        goal: &Goal<'_>,
        upper: &Set,
        requested: Requested<'_>,
    ) -> Limited<Set> {
        let Requested { states: wanted, mut strategies } = requested;
        let kept = &mut strategies;
        let UniformGroup { members, strategies } = uniform_group;
        let group = self.coalition(members)?;
        let mut truth = self.encoder.space.none();
        let mut open = self.states_won_by(uniform_group, upper)?;
        match wanted {
            Wanted::All => {}
            Wanted::Among(states) => open = self.encoder.space.and(&open, states)?,
            Wanted::Every(states) if self.encoder.space.is_subset(states, &open)? => open = states.clone(),
            Wanted::Every(_) => return Ok(truth),
        }
        if open.is_empty() {
            return Ok(truth);
        }
        let steps = self.steps_keeping(members)?;
        let board = if self.constraints().is_empty() {
            Some(self.board(&group, goal, &steps.relation, upper)?)
        } else {
            None
        };
        // One arena for all states, or one for each state if that would be too large.
        let all = self.start_states(uniform_group, &open)?;
        let arena = match &board {
            Some(board) => Arena::new(&self.encoder, board, &all)?,
            None => None,
        };
        while !open.is_empty() {
            let (_, state) = least_and_singleton(&self.encoder, &open)?;
            let start_states = self.start_states(uniform_group, &state)?;
            // States that no member distinguishes have the same start states.
            let alike = match strategies {
                Strategies::UniformObjective => state,
                _ => self.confused(members, &state)?,
            };
            let rest = self.encoder.space.minus(&open, &alike)?;
            let own_arena = match (&arena, &board) {
                (None, Some(board)) => Arena::new(&self.encoder, board, &start_states)?,
                _ => None,
            };
            let in_arena = arena.as_ref().or(own_arena.as_ref());
            let found = match in_arena {
                Some(arena) => self.strategy_in_arena(arena, goal, &start_states, !rest.is_empty())?,
                None => self.strategy_on_diagrams(&group, goal, &steps, &start_states)?,
            };
            open = match found {
                None if matches!(wanted, Wanted::Every(_)) => return Ok(truth),
                None => rest,
                Some((found, win)) => {
                    if let Some(kept) = kept {
                        kept.push(match (&found, in_arena) {
                            (Found::InArena(fixed), Some(arena)) => {
                                self.strategy_of_arena(&group, arena, fixed)?
                            }
                            (Found::InArena(_), None) => return Err(Stop::from(Why::Unsupported)),
                            (Found::OnDiagrams(whole), _) => self.strategy_of_choices(whole)?,
                        });
                    }
                    let won = self.states_won_by(uniform_group, &win)?;
                    let space = &self.encoder.space;
                    truth = space.or(&truth, &space.or(&won, &alike)?)?;
                    space.minus(&rest, &won)?
                }
            };
        }
        Ok(truth)
    }

    /// Makes the tables of a group's game.
    fn board(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        steps: &Event,
        upper: &Set,
    ) -> Limited<Board> {
        let is_one_step = matches!(goal.path, Formula::Next(_));
        let done = match goal.path {
            Formula::Next(_) => goal.phi.clone(),
            _ => self.done(goal)?,
        };
        let good = if is_one_step { done.clone() } else { self.encoder.space.or(upper, &done)? };
        let spoiled = self.spoiled_choices(group, &good)?;
        let space = &self.encoder.space;
        let looping = match self.system.meaning.deadlock {
            Deadlock::Stutter => space.minus(self.domain(), &self.live)?,
            Deadlock::Finite | Deadlock::Error => space.none(),
        };
        let may = self.encoder.balanced(group.choices.iter().flatten().cloned().collect(), true)?;
        let bits = |(agent, may): (&AgentId, &Option<Set>)| match may {
            Some(_) => self.encoder.layout.actions[agent.index()].clone(),
            None => Vec::new(),
        };
        Ok(Board {
            relation: Table::new(&steps.relation(&self.encoder)?),
            may: Table::new(&may),
            spoiled: Table::new(&spoiled),
            done: Table::new(&done),
            looping: Table::new(&looping),
            is_one_step,
            members: group.members.to_vec(),
            action_bits: group.members.iter().zip(&group.choices).map(bits).collect(),
        })
    }

    /// Searches an arena for a uniform strategy that wins from all start states. Returns the states from
    /// which it wins: all of them if `needs_all`, else possibly only the start states.
    fn strategy_in_arena<'a>(
        &mut self,
        arena: &Arena,
        goal: &Goal<'_>,
        start_states: &Set,
        needs_all: bool,
    ) -> Limited<Option<(Found<'a>, Set)>> {
        let aim = match goal.path {
            Formula::Globally(_) | Formula::WeakUntil(..) | Formula::Release(..) => UniformAim::Stay,
            _ => UniformAim::Reach,
        };
        let from = arena.start_indices(&self.encoder, start_states).ok_or(Stop::from(Why::Unsupported))?;
        let mut search = ArenaSearch { arena, aim, space: &self.encoder.space };
        let Some((strategy, wins)) = search.run(&from)? else { return Ok(None) };
        let found = Found::InArena(strategy);
        if !needs_all {
            return Ok(Some((found, start_states.clone())));
        }
        // With `X`, only the start states were played.
        let n_played = match goal.path {
            Formula::Next(_) => 1 + arena.n_from,
            _ => arena.states.len(),
        };
        let won = (1..n_played).filter(|&state| wins[state]).map(|state| &arena.states[state][..]);
        Ok(Some((found, self.set_of_rows(won)?)))
    }

    /// Returns the set of some states, each given by its bits from the top of the order down.
    pub(crate) fn set_of_rows<'r>(&self, rows: impl Iterator<Item = &'r [bool]>) -> Limited<Set> {
        let space = &self.encoder.space;
        let mut bits: Vec<Bit> = self.encoder.layout.current_bits().collect();
        bits.sort_unstable_by_key(|&bit| space.level(bit));
        let state = |row: &[bool]| {
            let literals = bits.iter().zip(row).rev();
            literals
                .into_iter()
                .try_fold(space.all(), |set, (&bit, &value)| space.and(&space.bit(bit, value)?, &set))
        };
        let states = rows.map(state).collect::<Limited<Vec<_>>>()?;
        self.encoder.balanced(states, false)
    }

    /// Returns the states in which a goal is met on every continuation, without fairness; not for `X`.
    fn done(&self, goal: &Goal<'_>) -> Limited<Set> {
        let space = &self.encoder.space;
        Ok(match goal.path {
            Formula::Finally(_) => goal.phi.clone(),
            Formula::Until(..) | Formula::WeakUntil(..) => goal.psi.clone(),
            Formula::Release(..) => space.and(&goal.phi, &goal.psi)?,
            _ => space.none(),
        })
    }

    /// Returns the start states of some states: those from which one strategy must win.
    fn start_states(&mut self, uniform_group: UniformGroup<'_>, states: &Set) -> Limited<Set> {
        let members = uniform_group.members;
        match uniform_group.strategies {
            Strategies::Perfect | Strategies::UniformObjective => Ok(states.clone()),
            Strategies::UniformJoint => self.confused(members, states),
            Strategies::Uniform => {
                let confused = members.iter().map(|&i| self.confused(&[i], states));
                let confused = confused.collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(confused, false)
            }
        }
    }

    /// Returns the states all of whose start states are inside `win`.
    fn states_won_by(&mut self, uniform_group: UniformGroup<'_>, win: &Set) -> Limited<Set> {
        let lost = self.outside(win)?;
        let lost = self.start_states(uniform_group, &lost)?;
        self.outside(&lost)
    }

    /// Computes the transition relation with the actions of some agents.
    fn steps_keeping(&mut self, members: &[AgentId]) -> Limited<OwnSteps> {
        let encoder = &mut self.encoder;
        let parts = encoder.parts()?;
        let relation = encoder.merge_keeping(parts, members)?;
        let relation = encoder.space.and(&relation, &self.relation.alive)?;
        let changing: Vec<VarId> =
            encoder.system.variable_ids().filter(|&v| !encoder.layout.is_frozen(v)).collect();
        let bits = members.iter().flat_map(|agent| encoder.layout.actions[agent.index()].iter().copied());
        let own = encoder.space.cube(bits)?;
        Ok(OwnSteps { relation: Event::new(encoder, relation, &changing)?, own })
    }

    /// Searches on diagrams for a uniform strategy that wins from all states in `from`. Returns the states
    /// from which it wins.
    fn strategy_on_diagrams<'a>(
        &mut self,
        group: &Coalition<'a>,
        goal: &Goal<'_>,
        steps: &OwnSteps,
        from: &Set,
    ) -> Limited<Option<(Found<'a>, Set)>> {
        let mut group = group.clone();
        let mut fixed_views: Vec<FixedView> = Vec::new();
        loop {
            let win = self.enforced(&group, goal)?;
            if self.encoder.space.is_subset(from, &win)? {
                match self.undecided_view(&group, goal, steps, from)? {
                    None => {
                        let whole = self.with_first_actions(&group)?;
                        let win = self.enforced(&whole, goal)?;
                        return Ok(Some((Found::OnDiagrams(whole), win)));
                    }
                    Some((member, view, options)) => {
                        fixed_views.push(FixedView { choices: group.choices.clone(), member, view, options });
                    }
                }
            }
            // Try the next action of the last view that has one left.
            loop {
                let Some(fixed) = fixed_views.last_mut() else { return Ok(None) };
                group.choices.clone_from(&fixed.choices);
                let Some(action) = fixed.options.pop() else {
                    fixed_views.pop();
                    continue;
                };
                let (member, view) = (fixed.member, fixed.view.clone());
                let agent = group.members[member];
                let space = &self.encoder.space;
                let is_action = self
                    .encoder
                    .space
                    .has_code(&self.encoder.layout.actions[agent.index()], action.0.into())?;
                let follows = space.or(&space.not(&view)?, &is_action)?;
                if let Some(may) = &mut group.choices[member] {
                    *may = space.and(may, &follows)?;
                }
                break;
            }
        }
    }

    /// Restricts the members to the fixed actions, and to their first action at all other views.
    fn with_first_actions<'a>(&self, group: &Coalition<'a>) -> Limited<Coalition<'a>> {
        let mut whole = group.clone();
        for (&agent, may) in group.members.iter().zip(&mut whole.choices) {
            let Some(may) = may else { continue };
            let space = &self.encoder.space;
            let bits = self.encoder.layout.actions[agent.index()].clone();
            let cube = space.cube(bits.iter().copied())?;
            let (mut decided, mut first) = (space.none(), space.none());
            for action in 0..self.system.agent(agent).actions.len() {
                let is_action = self.encoder.space.has_code(&bits, action as u64)?;
                let here = space.and(may, &is_action)?;
                first = space.or(&first, &space.minus(&here, &decided)?)?;
                decided = space.or(&decided, &space.exists(&here, &cube)?)?;
            }
            *may = first;
        }
        Ok(whole)
    }

    /// Returns the index of a member, a reachable view of it with a choice left, and its actions there in
    /// reverse order.
    fn undecided_view(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        steps: &OwnSteps,
        from: &Set,
    ) -> Limited<Option<(usize, Set, Vec<ActionId>)>> {
        let visited = self.visited(group, goal, steps, from)?;
        for (member, (&agent, may)) in group.members.iter().zip(&group.choices).enumerate() {
            let Some(may) = may else { continue };
            let space = &self.encoder.space;
            let bits = &self.encoder.layout.actions[agent.index()];
            let cube = space.cube(bits.iter().copied())?;
            let (mut once, mut twice) = (space.none(), space.none());
            let mut enabled = Vec::new();
            for action in 0..self.system.agent(agent).actions.len() as u32 {
                let here = self.encoder.space.has_code(bits, action.into())?;
                let here = space.and_exists(may, &here, &cube)?;
                twice = space.or(&twice, &space.and(&once, &here)?)?;
                once = space.or(&once, &here)?;
                enabled.push((ActionId(action), here));
            }
            let open = space.and(&visited, &twice)?;
            if !open.is_empty() {
                let (_, state) = least_and_singleton(&self.encoder, &open)?;
                let mut options = Vec::new();
                for (action, here) in enabled.into_iter().rev() {
                    if self.encoder.space.intersects(&state, &here)? {
                        options.push(action);
                    }
                }
                return Ok(Some((member, self.confused(&[agent], &state)?, options)));
            }
        }
        Ok(None)
    }

    /// Computes the states that are reachable from some states with the actions that the members may
    /// choose, as long as the goal is not met.
    fn visited(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        own_steps: &OwnSteps,
        from: &Set,
    ) -> Limited<Set> {
        let OwnSteps { relation: steps, own } = own_steps;
        let encoder = &self.encoder;
        let space = &encoder.space;
        let one_step = self.constraints().is_empty() && matches!(goal.path, Formula::Next(_));
        let done = if self.constraints().is_empty() { self.done(goal)? } else { space.none() };
        let unfinished_from = space.minus(from, &done)?;
        if one_step {
            return Ok(unfinished_from);
        }
        let may = encoder.balanced(group.choices.iter().flatten().cloned().collect(), true)?;
        let unfinished = space.minus(self.domain(), &done)?;
        reach(space, &unfinished_from, &unfinished, |frontier| {
            let chosen = space.and(frontier, &may)?;
            space.exists(&steps.post(encoder, &chosen)?, own)
        })
    }
}
