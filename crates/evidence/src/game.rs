//! The game of a group against the others near some states, explored by the definition.
//!
//! A state has the group's choices, and each choice the states to which it may lead, whatever the
//! others do. Without fairness a choice that may leave the system without a step enforces nothing;
//! with fairness a run that ends is not fair, so that the group need not mind.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use masque_model::steps::Neighbourhood;
use masque_model::{ActionId, AgentId, Strategies, System};
use masque_verdict::claims::{CoalitionGoal, GoalKind, GroupChoice, constraints_at, group_choices};
use masque_verdict::{Literal, Part, State, Stop};

use crate::explain::Explainer;

/// So many states are looked at.
const MOST_EXPLORED: usize = 2000;

/// What is fixed: for some views a choice of actions.
pub(crate) type Fixed = BTreeMap<u32, Vec<ActionId>>;

/// The game, as far as it is explored. States are spoken of by their *place*, in the order of
/// exploration; the states in question come first.
pub(crate) struct Game<'s> {
    pub(crate) system: &'s System,
    pub(crate) goal: CoalitionGoal,
    pub(crate) members: Vec<AgentId>,
    pub(crate) nearby: Neighbourhood<'s>,
    pub(crate) n_from: usize,
    /// Numbers in `nearby`.
    pub(crate) numbers: Vec<u32>,
    places: HashMap<u32, usize>,
    /// Whether a fair run starts; without fairness always.
    pub(crate) is_inside: Vec<bool>,
    pub(crate) is_end: Vec<bool>,
    /// Whether it is an end, or what must be so before the end is.
    pub(crate) is_good: Vec<bool>,
    /// For each fairness constraint, whether it is met.
    pub(crate) meets: Vec<Vec<bool>>,
    /// What the group may choose, targets as places. Without fairness those choices only for which a
    /// step follows whatever the others do.
    pub(crate) choices: Vec<Vec<GroupChoice>>,
    /// For each state its views.
    pub(crate) views: Vec<Vec<u32>>,
}

impl<'s> Game<'s> {
    /// Explores from these states. The game goes on behind the end and where the goal is violated
    /// only if `goes_on`, which matters with fairness: a run must be unfair there. None if it is too
    /// much.
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
            places: HashMap::new(),
            is_inside: Vec::new(),
            is_end: Vec::new(),
            is_good: Vec::new(),
            meets: vec![Vec::new(); system.fairness.len()],
            choices: Vec::new(),
            views: Vec::new(),
        };
        for state in from {
            let number = game.nearby.number(state.clone());
            game.place(number);
        }
        let mut view_numbers: HashMap<(Vec<AgentId>, Vec<i64>), u32> = HashMap::new();
        let mut at = 0;
        while at < game.numbers.len() {
            if at >= MOST_EXPLORED {
                return Ok(None);
            }
            explainer.budget.check()?;
            let state = game.nearby.state(game.numbers[at]).clone();
            let Some(met) = constraints_at(system, &state) else { return Ok(None) };
            game.meets.iter_mut().zip(met).for_each(|(meets, is_met)| meets.push(is_met));
            let is_inside = !game.is_fair() || explainer.is_inside(&state)?;
            let is_end = match &goal.end {
                Some(end) => is_inside && explainer.are_so(end, &state)?,
                None => false,
            };
            let is_good = is_end || is_inside && explainer.are_so(&goal.before, &state)?;
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

    /// What the group may choose at a state; none if it is too much.
    fn expand(&mut self, at: usize) -> Option<Vec<GroupChoice>> {
        let steps = self.nearby.steps(self.numbers[at])?;
        let is_fair = self.is_fair();
        let mut found = Vec::new();
        for mut choice in group_choices(&self.members, &steps).into_iter().filter(|c| is_fair || c.is_total) {
            choice.targets = choice.targets.iter().map(|&target| self.place(target) as u32).collect();
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

    /// The state at a place.
    pub(crate) fn state(&self, at: usize) -> &State {
        self.nearby.state(self.numbers[at])
    }

    /// The place of a state that is explored.
    pub(crate) fn place_of(&self, number: u32) -> Option<usize> {
        self.places.get(&number).copied()
    }

    fn place(&mut self, number: u32) -> usize {
        let next = self.numbers.len();
        *self.places.entry(number).or_insert_with(|| {
            self.numbers.push(number);
            next
        })
    }

    /// Whether nothing is left to do at a state where the goal is not violated.
    pub(crate) fn is_done(&self, at: usize) -> bool {
        match self.goal.kind {
            GoalKind::Next => at >= self.n_from,
            GoalKind::Reach | GoalKind::Stay => self.is_end[at],
        }
    }

    /// Whether a choice at a state agrees with what is fixed.
    pub(crate) fn agrees(&self, at: usize, choice: &GroupChoice, fixed: &Fixed) -> bool {
        let Some(actions) = &choice.actions else { return true };
        self.views[at].iter().enumerate().all(|(position, view)| {
            fixed.get(view).is_none_or(|fixed| *fixed == self.part(actions, position))
        })
    }

    /// The actions that one of the views at a state decides.
    pub(crate) fn part(&self, actions: &[ActionId], position: usize) -> Vec<ActionId> {
        match self.goal.strategies {
            Strategies::Perfect => actions.to_vec(),
            _ => vec![actions[position]],
        }
    }

    /// All that a view may decide.
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
    /// Whether a state belongs to the domain: with fairness, whether a fair run starts there.
    pub(crate) fn is_inside(&mut self, state: &State) -> Result<bool, Stop> {
        Ok(self.oracle.least(&[Part::Is(state.clone())], self.budget)?.is_some())
    }

    fn are_so(&mut self, literals: &[Literal], state: &State) -> Result<bool, Stop> {
        for &literal in literals {
            if !self.is_so(literal, state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
