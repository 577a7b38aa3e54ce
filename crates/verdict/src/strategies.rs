//! Strategies that show what a group can enforce, found and confirmed near the states in question.
//!
//! The game is explored by the definition, from the states in question on, and not beyond states
//! where nothing is left to do. Then the actions of views are fixed one after the other, as they are
//! needed: a *view* is what decides an action, the whole state with perfect information, a member and
//! what it sees with uniform strategies. With the actions fixed so far the game is solved as if all
//! were seen; a walk along winning moves either needs no two actions of one view, and is a strategy,
//! or names the view to be fixed next. Everything is taken in order, so the strategy is canonical.
//! The search is limited by counts; with fairness constraints there is none.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use masque_model::{ActionId, AgentId, Formula, FormulaId, GroupId, Strategies, System, VarId};

use crate::explain::Explainer;
use crate::nearby::{Nearby, Step};
use crate::{JointAction, Literal, Part, State, Stop};

/// So many states are looked at, and so many may occur in a strategy.
const MOST_EXPLORED: usize = 2000;
pub(crate) const MOST_VISITED: usize = 200;
/// So many games are solved.
const MOST_SOLVED: usize = 300;

/// What a strategy must do: what is so before the end, and at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aim {
    pub(crate) group: GroupId,
    pub(crate) strategies: Strategies,
    pub(crate) kind: Kind,
    /// So at every state before the end.
    pub(crate) before: Vec<Literal>,
    /// So at the end; none if there is no end.
    pub(crate) end: Option<Vec<Literal>>,
}

/// When the end must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// After one step.
    Next,
    /// At some time.
    Reach,
    /// It need not.
    Stay,
}

impl Aim {
    /// The aim of a coalition's formula; none for any other formula.
    pub(crate) fn of(system: &System, formula: FormulaId) -> Option<Aim> {
        let Formula::Enforces(group, strategies, path) = system.formulas.get(formula) else { return None };
        let is = |list: &[FormulaId]| list.iter().map(|&formula| Literal { formula, holds: true }).collect();
        let (kind, before, end) = match system.formulas.get(path) {
            Formula::Next(f) => (Kind::Next, is(&[]), Some(is(&[f]))),
            Formula::Finally(f) => (Kind::Reach, is(&[]), Some(is(&[f]))),
            Formula::Until(f, g) => (Kind::Reach, is(&[f]), Some(is(&[g]))),
            Formula::Globally(f) => (Kind::Stay, is(&[f]), None),
            Formula::WeakUntil(f, g) => (Kind::Stay, is(&[f]), Some(is(&[g]))),
            Formula::Release(f, g) => (Kind::Stay, is(&[g]), Some(is(&[f, g]))),
            _ => return None,
        };
        Some(Aim { group, strategies, kind, before, end })
    }

    pub(crate) fn members(&self, system: &System) -> Vec<AgentId> {
        system.groups[self.group.index()].agents.clone()
    }

    /// What the agents of one view see.
    pub(crate) fn sees(&self, system: &System, agents: &[AgentId]) -> Vec<VarId> {
        match (self.strategies, agents) {
            (Strategies::Perfect, _) => system.variable_ids().collect(),
            (_, agents) => agents.iter().flat_map(|&i| system.agent(i).sees.iter().copied()).collect(),
        }
    }

    /// What decides the actions at a state: the members that decide together, and what they see.
    pub(crate) fn views(&self, system: &System, state: &State) -> Vec<(Vec<AgentId>, Vec<i64>)> {
        let members = self.members(system);
        match self.strategies {
            Strategies::Perfect => vec![(members, state.clone())],
            _ => members.into_iter().map(|i| (vec![i], seen(system, i, state))).collect(),
        }
    }
}

/// What an agent sees of a state.
pub(crate) fn seen(system: &System, agent: AgentId, state: &[i64]) -> Vec<i64> {
    system.agent(agent).sees.iter().map(|v| state[v.index()]).collect()
}

/// What a group does, and what may come of it.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// One per member; none for the loop of a dead end.
    pub(crate) actions: Option<Vec<ActionId>>,
    /// In the order of states' numbers, each once.
    pub(crate) targets: Vec<u32>,
    /// Whatever the others do, a step follows.
    pub(crate) is_total: bool,
}

/// What a group may choose at a state.
pub(crate) fn choices(members: &[AgentId], steps: &[Step]) -> Vec<Choice> {
    let mut found: BTreeMap<Option<Vec<ActionId>>, (BTreeSet<u32>, bool)> = BTreeMap::new();
    for Step { joint, targets } in steps {
        let actions = joint.as_ref().map(|joint| members.iter().map(|i| joint[i.index()]).collect());
        let entry = found.entry(actions).or_insert((BTreeSet::new(), true));
        entry.0.extend(targets);
        entry.1 &= !targets.is_empty();
    }
    let choice = |(actions, (targets, is_total)): (_, (BTreeSet<u32>, bool))| Choice {
        actions,
        targets: targets.into_iter().collect(),
        is_total,
    };
    found.into_iter().map(choice).collect()
}

/// The states and joint actions of a play, and where it goes on for ever.
type Play = (Vec<State>, Vec<Option<JointAction>>, Option<usize>);

/// A strategy that was found.
pub(crate) struct Plan {
    /// For each view with what it sees, a state seen so and the actions of its members.
    pub(crate) rows: Vec<(Vec<AgentId>, State, Vec<ActionId>)>,
    /// The states that it may lead to, those in question first, and whether each is an end.
    pub(crate) visited: Vec<(State, bool)>,
    /// A play against the worst opponents.
    pub(crate) play: Play,
}

impl Explainer<'_> {
    /// The states from which one strategy must do, if it is to do for a state, which comes first;
    /// none if there are too many.
    pub(crate) fn in_question(&mut self, aim: &Aim, state: &State) -> Result<Option<Vec<State>>, Stop> {
        let members = aim.members(self.system);
        let regions: Vec<Vec<AgentId>> = match aim.strategies {
            Strategies::Perfect | Strategies::UniformObjective => Vec::new(),
            Strategies::UniformJoint => vec![members],
            Strategies::Uniform => members.into_iter().map(|i| vec![i]).collect(),
        };
        let mut all = vec![state.clone()];
        for agents in regions {
            let region = [Part::Alike(agents, state.clone())];
            let (states, _) = self.oracle.first(&region, MOST_VISITED + 1, self.budget)?;
            for other in states {
                if !all.contains(&other) {
                    all.push(other);
                }
            }
            if all.len() > MOST_VISITED {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// A strategy for all of these states; none if it is too much to look for, or too long.
    pub(crate) fn strategy(&mut self, aim: &Aim, from: &[State]) -> Result<Option<Plan>, Stop> {
        let Some(mut table) = Table::new(self, aim, from)? else { return Ok(None) };
        Ok(table.search().and_then(|fixed| table.plan(&fixed)))
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

/// What is fixed: for some views a choice of actions.
type Fixed = BTreeMap<u32, Vec<ActionId>>;

/// The game, as far as it is explored.
struct Table<'s> {
    system: &'s System,
    aim: Aim,
    members: Vec<AgentId>,
    nearby: Nearby<'s>,
    n_from: usize,
    /// Numbers in `nearby`, in the order of exploration.
    states: Vec<u32>,
    places: HashMap<u32, usize>,
    is_end: Vec<bool>,
    is_good: Vec<bool>,
    /// Choices that lead on whatever the others do, targets as places.
    choices: Vec<Vec<Choice>>,
    /// For each state its views.
    views: Vec<Vec<u32>>,
}

impl<'s> Table<'s> {
    fn new(explainer: &mut Explainer<'s>, aim: &Aim, from: &[State]) -> Result<Option<Table<'s>>, Stop> {
        let system = explainer.system;
        let mut table = Table {
            system,
            aim: aim.clone(),
            members: aim.members(system),
            nearby: Nearby::new(system),
            n_from: from.len(),
            states: Vec::new(),
            places: HashMap::new(),
            is_end: Vec::new(),
            is_good: Vec::new(),
            choices: Vec::new(),
            views: Vec::new(),
        };
        for state in from {
            let number = table.nearby.number(state.clone());
            table.place(number);
        }
        let mut view_numbers: HashMap<(Vec<AgentId>, Vec<i64>), u32> = HashMap::new();
        let mut at = 0;
        while at < table.states.len() {
            if at >= MOST_EXPLORED {
                return Ok(None);
            }
            explainer.budget.check()?;
            let state = table.nearby.state(table.states[at]).clone();
            let is_end = match &aim.end {
                Some(end) => explainer.are_so(end, &state)?,
                None => false,
            };
            let is_good = is_end || explainer.are_so(&aim.before, &state)?;
            let views = aim.views(system, &state).into_iter().map(|view| {
                let next = view_numbers.len() as u32;
                *view_numbers.entry(view).or_insert(next)
            });
            let views = views.collect();
            table.views.push(views);
            table.is_end.push(is_end);
            table.is_good.push(is_good);
            let mut found = Vec::new();
            if is_good && !table.is_done(at) {
                let Some(steps) = table.nearby.steps(table.states[at]) else { return Ok(None) };
                for mut choice in choices(&table.members, &steps).into_iter().filter(|c| c.is_total) {
                    let targets = choice.targets.iter().map(|&target| table.place(target) as u32);
                    choice.targets = targets.collect();
                    found.push(choice);
                }
            }
            table.choices.push(found);
            at += 1;
        }
        Ok(Some(table))
    }

    /// Whether nothing is left to do at a state.
    fn is_done(&self, at: usize) -> bool {
        match self.aim.kind {
            Kind::Next => at >= self.n_from,
            Kind::Reach | Kind::Stay => self.is_end[at],
        }
    }

    fn place(&mut self, number: u32) -> usize {
        let next = self.states.len();
        *self.places.entry(number).or_insert_with(|| {
            self.states.push(number);
            next
        })
    }

    /// Whether a choice at a state agrees with what is fixed.
    fn agrees(&self, at: usize, choice: &Choice, fixed: &Fixed) -> bool {
        let Some(actions) = &choice.actions else { return true };
        self.views[at].iter().enumerate().all(|(position, view)| {
            fixed.get(view).is_none_or(|fixed| *fixed == self.part(actions, position))
        })
    }

    /// The actions that one of the views at a state decides.
    fn part(&self, actions: &[ActionId], position: usize) -> Vec<ActionId> {
        match self.aim.strategies {
            Strategies::Perfect => actions.to_vec(),
            _ => vec![actions[position]],
        }
    }

    /// With what is fixed, in how many rounds each state is won: 0 is not at all. If the end need not
    /// come, all that is won is won in round 1. If it must come at once, that is asked of the states
    /// in question only.
    fn solve(&self, fixed: &Fixed) -> Vec<usize> {
        let n = self.states.len();
        let ends = |at: usize| self.is_end[at];
        if self.aim.kind == Kind::Next {
            return (0..n).map(|at| usize::from(self.winning(at, &[], fixed).is_some())).collect();
        }
        let leads = |at: usize, won: &[usize]| {
            self.choices[at].iter().any(|choice| {
                choice.targets.iter().all(|&target| won[target as usize] > 0)
                    && self.agrees(at, choice, fixed)
            })
        };
        if self.aim.kind == Kind::Stay {
            let mut won: Vec<usize> = self.is_good.iter().map(|&is_good| usize::from(is_good)).collect();
            loop {
                let lost: Vec<usize> =
                    (0..n).filter(|&at| won[at] > 0 && !ends(at) && !leads(at, &won)).collect();
                if lost.is_empty() {
                    return won;
                }
                lost.into_iter().for_each(|at| won[at] = 0);
            }
        }
        let mut won: Vec<usize> = (0..n).map(|at| usize::from(ends(at))).collect();
        for round in 2.. {
            let new: Vec<usize> =
                (0..n).filter(|&at| won[at] == 0 && self.is_good[at] && leads(at, &won)).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|at| won[at] = round);
        }
        won
    }

    /// The first choice that keeps winning and agrees with what is fixed.
    fn winning(&self, at: usize, won: &[usize], fixed: &Fixed) -> Option<&Choice> {
        let keeps = |target: u32| match self.aim.kind {
            Kind::Next => self.is_end[target as usize],
            Kind::Reach => (1..won[at]).contains(&won[target as usize]),
            Kind::Stay => won[target as usize] > 0,
        };
        self.choices[at]
            .iter()
            .find(|choice| choice.targets.iter().all(|&t| keeps(t)) && self.agrees(at, choice, fixed))
    }

    /// What to fix so that all states in question are won.
    fn search(&mut self) -> Option<Fixed> {
        // Each level has a view and the choices still to be tried for it.
        let mut levels: Vec<(u32, Vec<Vec<ActionId>>)> = Vec::new();
        let mut fixed = Fixed::new();
        for _ in 0..MOST_SOLVED {
            let won = self.solve(&fixed);
            if (0..self.n_from).all(|at| won[at] > 0) {
                match self.walk(&won, &fixed) {
                    Ok(strategy) => return Some(strategy),
                    Err(view) => levels.push((view, self.options(view))),
                }
            }
            loop {
                let (view, options) = levels.last_mut()?;
                if options.is_empty() {
                    fixed.remove(view);
                    levels.pop();
                    continue;
                }
                fixed.insert(*view, options.remove(0));
                break;
            }
        }
        None
    }

    /// All that a view may decide.
    fn options(&self, view: u32) -> Vec<Vec<ActionId>> {
        let mut options = BTreeSet::new();
        for at in 0..self.states.len() {
            for (position, _) in self.views[at].iter().enumerate().filter(|(_, v)| **v == view) {
                let actions = self.choices[at].iter().filter_map(|choice| choice.actions.as_ref());
                options.extend(actions.map(|actions| self.part(actions, position)));
            }
        }
        options.into_iter().collect()
    }

    /// Follows winning choices from the states in question; the view that would need two choices if
    /// there is one.
    fn walk(&self, won: &[usize], fixed: &Fixed) -> Result<Fixed, u32> {
        let mut chosen = fixed.clone();
        let mut seen: Vec<usize> = (0..self.n_from).collect();
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            if self.is_done(at) {
                continue;
            }
            let Some(choice) = self.winning(at, won, &chosen) else {
                let first = self.winning(at, won, fixed).and_then(|choice| choice.actions.as_ref());
                let clashes = |(position, view): &(usize, &u32)| {
                    let part = first.map(|actions| self.part(actions, *position));
                    chosen.get(view).is_some_and(|chosen| Some(chosen) != part.as_ref())
                };
                let clash = self.views[at].iter().enumerate().find(clashes);
                return Err(clash.map_or(self.views[at][0], |(_, view)| *view));
            };
            if let Some(actions) = &choice.actions {
                for (position, &view) in self.views[at].iter().enumerate() {
                    chosen.insert(view, self.part(actions, position));
                }
            }
            for &target in &choice.targets {
                if !seen.contains(&(target as usize)) {
                    seen.push(target as usize);
                }
            }
        }
        Ok(chosen)
    }

    /// What a strategy does where it leads, and how it is played; none if that is too long.
    fn plan(&mut self, fixed: &Fixed) -> Option<Plan> {
        let won = self.solve(fixed);
        let mut rows: Vec<(u32, Vec<AgentId>, State, Vec<ActionId>)> = Vec::new();
        let mut seen: Vec<usize> = (0..self.n_from).collect();
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            if self.is_done(at) {
                continue;
            }
            let state = self.nearby.state(self.states[at]).clone();
            let choice = self.winning(at, &won, fixed)?;
            if let Some(actions) = &choice.actions {
                let agents = self.aim.views(self.system, &state);
                for (position, (&view, (agents, _))) in self.views[at].iter().zip(agents).enumerate() {
                    if rows.iter().all(|row| row.0 != view) {
                        rows.push((view, agents, state.clone(), self.part(actions, position)));
                    }
                }
            }
            for &target in &choice.targets {
                if !seen.contains(&(target as usize)) {
                    seen.push(target as usize);
                }
            }
            if seen.len() > MOST_VISITED {
                return None;
            }
        }
        let visited = seen.iter().map(|&at| (self.nearby.state(self.states[at]).clone(), self.is_end[at]));
        let visited = visited.collect();
        let rows = rows.into_iter().map(|(_, agents, state, actions)| (agents, state, actions)).collect();
        let play = self.play(fixed, &won)?;
        Some(Plan { rows, visited, play })
    }

    fn states_of(&self, places: &[usize]) -> Vec<State> {
        places.iter().map(|&at| self.nearby.state(self.states[at]).clone()).collect()
    }

    /// The play from the first state in question in which the others put off the end as long as they
    /// can; of several ways the least.
    fn play(&mut self, fixed: &Fixed, won: &[usize]) -> Option<Play> {
        let mut places = vec![0_usize];
        let mut joints = Vec::new();
        loop {
            let at = places[places.len() - 1];
            let is_done = match self.aim.kind {
                Kind::Next => places.len() == 2,
                Kind::Reach | Kind::Stay => self.is_end[at],
            };
            if is_done {
                return Some((self.states_of(&places), joints, None));
            }
            let choice = self.winning(at, won, fixed)?.clone();
            let later = |target: &&u32| std::cmp::Reverse(won[**target as usize]);
            let worst = match self.aim.kind {
                Kind::Reach => *choice.targets.iter().min_by_key(later)?,
                Kind::Next | Kind::Stay => *choice.targets.first()?,
            };
            let number = self.states[worst as usize];
            let steps = self.nearby.steps(self.states[at])?;
            let plays = |step: &&Step| {
                let actions =
                    step.joint.as_ref().map(|joint| self.members.iter().map(|i| joint[i.index()]).collect());
                actions == choice.actions && step.targets.contains(&number)
            };
            joints.push(steps.iter().find(plays)?.joint.clone());
            let back_to = places.iter().position(|&place| place == worst as usize);
            if let (Some(_), Kind::Stay) = (back_to, self.aim.kind) {
                return Some((self.states_of(&places), joints, back_to));
            }
            places.push(worst as usize);
        }
    }
}
