//! The game of a group against the other agents near some states, explored by the definition.
//!
//! At each state the group has choices, and each choice has the states to which it may lead, depending on
//! the actions of the others. Without fairness a choice that may have no successor enforces nothing. With
//! fairness a path that ends is not fair, so such a choice is allowed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use masque_model::steps::Neighbourhood;
use masque_model::{ActionId, AgentId, Strategies, System};
use masque_verdict::claims::{CoalitionGoal, GoalKind, GroupChoice, constraints_at, group_choices};
use masque_verdict::{Literal, RegionPart, State, Stop};

use crate::explain::Explainer;

/// Maximum number of positions that are explored.
const MAX_EXPLORED: usize = 2000;

/// Fixed actions, by the number of the view.
pub(crate) type Fixed = BTreeMap<u32, Vec<ActionId>>;

/// The explored part of the game. A *position* is the index of a state in the order of exploration; the
/// states from which the game starts come first.
pub(crate) struct Game<'s> {
    pub(crate) system: &'s System,
    pub(crate) goal: CoalitionGoal,
    pub(crate) members: Vec<AgentId>,
    pub(crate) nearby: Neighbourhood<'s>,
    /// Number of states from which the game starts.
    pub(crate) n_from: usize,
    /// For each position, the number of its state in `nearby`.
    pub(crate) numbers: Vec<u32>,
    /// Position of each number in `nearby`.
    positions: HashMap<u32, usize>,
    /// Whether a fair path starts at the state; without fairness always true.
    pub(crate) is_inside: Vec<bool>,
    pub(crate) is_end: Vec<bool>,
    /// Whether the state is an end, or satisfies what must be true before the end.
    pub(crate) is_good: Vec<bool>,
    /// For each fairness constraint and state, whether it is true.
    pub(crate) meets: Vec<Vec<bool>>,
    /// Choices of the group at each state; targets are positions of the game. Without fairness only those
    /// for which a step follows for all actions of the others.
    pub(crate) choices: Vec<Vec<GroupChoice>>,
    /// Views of each state, by number.
    pub(crate) views: Vec<Vec<u32>>,
}

impl<'s> Game<'s> {
    /// Explores the game from these states. It continues after the end and after a violation of the goal
    /// only if `goes_on`, which matters with fairness: a path must be unfair there. Returns `None` if the game
    /// is too large.
    pub(crate) fn new(
        explainer: &mut Explainer<'s>,
        goal: &CoalitionGoal,
        from: &[State],
        goes_on: bool,
    ) -> Result<Option<Game<'s>>, Stop> {
        let system = explainer.system;
        let mut game = Game {
            system,
            goal: goal.clone(),
            members: goal.members(system),
            nearby: Neighbourhood::new(system),
            n_from: from.len(),
            numbers: Vec::new(),
            positions: HashMap::new(),
            is_inside: Vec::new(),
            is_end: Vec::new(),
            is_good: Vec::new(),
            meets: vec![Vec::new(); system.fairness.len()],
            choices: Vec::new(),
            views: Vec::new(),
        };
        for state in from {
            let number = game.nearby.number(state.clone());
            game.add_position(number);
        }
        let mut view_numbers: HashMap<(Vec<AgentId>, Vec<i64>), u32> = HashMap::new();
        let mut at = 0;
        while at < game.numbers.len() {
            if at >= MAX_EXPLORED {
                return Ok(None);
            }
            explainer.budget.check()?;
            let state = game.nearby.state(game.numbers[at]).clone();
            let Some(met) = constraints_at(system, &state) else { return Ok(None) };
            game.meets.iter_mut().zip(met).for_each(|(meets, is_met)| meets.push(is_met));
            let is_inside = !game.is_fair() || explainer.is_inside(&state)?;
            let is_end = match &goal.end {
                Some(end) => is_inside && explainer.are_true(end, &state)?,
                None => false,
            };
            let is_good = is_end || is_inside && explainer.are_true(&goal.before, &state)?;
            let views = goal.views(system, &state).into_iter().map(|view| {
                let next = view_numbers.len() as u32;
                *view_numbers.entry(view).or_insert(next)
            });
            let views = views.collect();
            game.views.push(views);
            game.is_inside.push(is_inside);
            game.is_end.push(is_end);
            game.is_good.push(is_good);
            let is_open = goes_on || is_good && !game.is_done(at);
            let found = if is_inside && is_open { game.expand(at) } else { Some(Vec::new()) };
            let Some(found) = found else { return Ok(None) };
            game.choices.push(found);
            at += 1;
        }
        Ok(Some(game))
    }

    /// The choices of the group at a position; `None` if there are too many steps.
    fn expand(&mut self, at: usize) -> Option<Vec<GroupChoice>> {
        let steps = self.nearby.steps(self.numbers[at])?;
        let is_fair = self.is_fair();
        let mut found = Vec::new();
        for mut choice in group_choices(&self.members, &steps).into_iter().filter(|c| is_fair || c.is_total) {
            choice.targets = choice.targets.iter().map(|&target| self.add_position(target) as u32).collect();
            found.push(choice);
        }
        Some(found)
    }

    /// Whether there are fairness constraints.
    pub(crate) fn is_fair(&self) -> bool {
        !self.system.fairness.is_empty()
    }

    pub(crate) fn n_states(&self) -> usize {
        self.numbers.len()
    }

    /// The state at a position.
    pub(crate) fn state(&self, at: usize) -> &State {
        self.nearby.state(self.numbers[at])
    }

    /// The position of a state, by its number in `nearby`, if it is explored.
    pub(crate) fn position_of(&self, number: u32) -> Option<usize> {
        self.positions.get(&number).copied()
    }

    /// The position of a state, which is added if it is new.
    fn add_position(&mut self, number: u32) -> usize {
        let next = self.numbers.len();
        *self.positions.entry(number).or_insert_with(|| {
            self.numbers.push(number);
            next
        })
    }

    /// Whether the group has nothing left to do at a position where the goal is not violated.
    pub(crate) fn is_done(&self, at: usize) -> bool {
        match self.goal.kind {
            GoalKind::Next => at >= self.n_from,
            GoalKind::Reach | GoalKind::Stay => self.is_end[at],
        }
    }

    /// Whether a choice agrees with the fixed actions.
    pub(crate) fn agrees(&self, at: usize, choice: &GroupChoice, fixed: &Fixed) -> bool {
        let Some(actions) = &choice.actions else { return true };
        self.views[at].iter().enumerate().all(|(position, view)| {
            fixed.get(view).is_none_or(|fixed| *fixed == self.part(actions, position))
        })
    }

    /// The part of a choice that one of the views decides.
    pub(crate) fn part(&self, actions: &[ActionId], position: usize) -> Vec<ActionId> {
        match self.goal.strategies {
            Strategies::Perfect => actions.to_vec(),
            _ => vec![actions[position]],
        }
    }

    /// All choices of actions of a view, in increasing order.
    pub(crate) fn options(&self, view: u32) -> Vec<Vec<ActionId>> {
        let mut options = BTreeSet::new();
        for at in 0..self.n_states() {
            for (position, _) in self.views[at].iter().enumerate().filter(|(_, v)| **v == view) {
                let actions = self.choices[at].iter().filter_map(|choice| choice.actions.as_ref());
                options.extend(actions.map(|actions| self.part(actions, position)));
            }
        }
        options.into_iter().collect()
    }
}

impl Explainer<'_> {
    /// Whether a state belongs to the domain: with fairness, whether a fair path starts there.
    pub(crate) fn is_inside(&mut self, state: &State) -> Result<bool, Stop> {
        Ok(self.oracle.least(&[RegionPart::Is(state.clone())], self.budget)?.is_some())
    }

    fn are_true(&mut self, literals: &[Literal], state: &State) -> Result<bool, Stop> {
        for &literal in literals {
            if !self.is_true(literal, state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
