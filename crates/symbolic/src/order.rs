//! The order of the variables, which decides the size of all diagrams.
//!
//! Variables that are read or written together should be neighbours. Each line of the model adds to the
//! attraction between its variables. The strongest attractions are considered first and join variables
//! into chains end to end (as Kruskal's algorithm joins trees), until one chain is left for each
//! connected component. Variables that attract very many others cannot be near all of them and are placed
//! at the top. In the declared order, more than 12 dining cryptographers are infeasible; in this order more
//! than 1000 are feasible. FORCE, even from a good seed, was far worse.

use masque_model::{AgentId, Expr, ExprId, Formula, FormulaId, Protocol, System, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::layout::{Item, actions_read, may_choose, support};

/// Maximum number of items that attract each other as one group; larger expressions attract by their
/// operands.
const MAX_GROUP_ITEMS: usize = 8;
/// Weight of what a step reads and writes.
const STEP_WEIGHT: f64 = 1.0;
/// Weight of what a formula relates.
const FORMULA_WEIGHT: f64 = 0.05;
/// Weight of what names suggest.
const NAME_WEIGHT: f64 = 0.02;
/// Maximum distance, in items, from the end of a chain at which an item counts as being at its end.
const MAX_DISTANCE_TO_END: usize = 6;
/// Minimum weight of two items that are used together in a step.
const MIN_STRONG_WEIGHT: f64 = 0.25;
/// Maximum number of families tried below the data.
const MAX_LOWEST_FAMILIES: usize = 4;
/// An item with at most this many partners is never a hub.
const MIN_HUB_DEGREE: u32 = 6;

/// Returns all items in the order of declaration: an agent's action, then its variables.
pub(crate) fn declared(system: &System) -> Vec<Item> {
    let has_action = |agent: AgentId, read: &[Vec<masque_model::ActionId>]| {
        !read[agent.index()].is_empty() && may_choose(system, agent)
    };
    let read = actions_read(system);
    let mut items = Vec::new();
    for agent in system.agent_ids() {
        if has_action(agent, &read) {
            items.push(Item::Action(agent));
        }
        items.extend(system.agent(agent).variables.iter().map(|&v| Item::Variable(v)));
    }
    items
}

/// Returns the given variables first, each agent's action before the first of its variables; then the
/// rest.
pub(crate) fn given(system: &System, variables: &[VarId]) -> Vec<Item> {
    let mut order: Vec<Item> = Vec::new();
    let rest = declared(system);
    let actions: FxHashSet<Item> = rest.iter().copied().filter(|i| matches!(i, Item::Action(_))).collect();
    let mut placed: FxHashSet<Item> = FxHashSet::default();
    for &v in variables {
        let action = Item::Action(system.variable(v).owner);
        for item in [action, Item::Variable(v)] {
            let is_item = matches!(item, Item::Variable(_)) || actions.contains(&item);
            if is_item && placed.insert(item) {
                order.push(item);
            }
        }
    }
    order.extend(rest.into_iter().filter(|item| !placed.contains(item)));
    order
}

/// Returns an order in which items that attract each other are neighbours.
pub(crate) fn by_affinity(system: &System) -> Vec<Item> {
    let affinity = Affinity::of(system);
    affinity.order(3 * affinity.usual_degree())
}

/// Returns orders worth a trial when the usual one leads to large diagrams.
///
/// They differ in what counts as a hub, to which some models are very sensitive, and in the levels of
/// the data. Namesakes, such as `value1 .. value5` of a sender and `recv1 .. recv5` of a receiver, are
/// data that the rest of the system selects from, as a multiplexer's control does from its inputs:
/// they are interleaved number by number, below the variables that select. Messages in transit, copies
/// of such data, belong below them; dependencies do not show which family that is, so several are tried.
pub(crate) fn alternatives(system: &System) -> Vec<Vec<Item>> {
    let affinity = Affinity::of(system);
    let usual = affinity.usual_degree();
    let mut orders: Vec<Vec<Item>> = Vec::new();
    for max_degree in [3 * usual, 2 * usual, usual + usual / 2, usual + usual / 4, u32::MAX] {
        let order = affinity.order(max_degree);
        let (data, families) = (namesakes(system, &order), families(system, &order));
        let with_data_below = |last: &[Item]| {
            let is_above = |item: &Item| !data.contains(item) && !last.contains(item);
            let above = order.iter().copied().filter(is_above);
            above.chain(data.iter().copied()).chain(last.iter().copied()).collect::<Vec<Item>>()
        };
        let mut arranged = vec![order.clone()];
        if !data.is_empty() {
            arranged.push(with_data_below(&[]));
            let others =
                families.iter().filter(|family| !data.contains(&family[0].1)).take(MAX_LOWEST_FAMILIES);
            arranged.extend(
                others.map(|family| {
                    with_data_below(&family.iter().map(|(_, item)| *item).collect::<Vec<Item>>())
                }),
            );
        }
        for order in arranged {
            if !orders.contains(&order) {
                orders.push(order);
            }
        }
    }
    orders
}

/// Variables of one agent whose names differ in a number only, sorted by this number.
type Family = Vec<(u64, Item)>;

/// Returns the families with more than one member among these items, in the order of their first members.
fn families(system: &System, items: &[Item]) -> Vec<Family> {
    let mut families: FxHashMap<(String, AgentId), Family> = FxHashMap::default();
    for &item in items {
        if let Item::Variable(v) = item {
            let variable = system.variable(v);
            if let Some((stem, number)) = numbered(&variable.name) {
                families.entry((stem, variable.owner)).or_default().push((number, item));
            }
        }
    }
    let mut families: Vec<Family> = families.into_values().filter(|family| family.len() > 1).collect();
    families.iter_mut().for_each(|family| family.sort_unstable());
    families.sort_unstable_by_key(|family| family[0].1);
    families
}

/// Returns the families of different agents that have the same numbers, interleaved number by number.
fn namesakes(system: &System, items: &[Item]) -> Vec<Item> {
    let mut alike: Vec<(Vec<u64>, Vec<Family>)> = Vec::new();
    for family in families(system, items) {
        let numbers: Vec<u64> = family.iter().map(|(number, _)| *number).collect();
        match alike.iter_mut().find(|(others, _)| *others == numbers) {
            Some((_, families)) => families.push(family),
            None => alike.push((numbers, vec![family])),
        }
    }
    let owner = |family: &Family| match family[0].1 {
        Item::Variable(v) => system.variable(v).owner,
        Item::Action(agent) => agent,
    };
    let mut namesakes = Vec::new();
    for (numbers, mut families) in alike {
        // Within one agent, its lines show what belongs together.
        families.dedup_by_key(|family| owner(family));
        if families.len() > 1 {
            let by_number = (0..numbers.len()).flat_map(|k| families.iter().map(move |family| family[k].1));
            namesakes.extend(by_number);
        }
    }
    namesakes
}

/// How strongly items attract each other.
struct Affinity<'s> {
    system: &'s System,
    items: Vec<Item>,
    /// Index of each item in `items`.
    index: FxHashMap<Item, u32>,
    /// Attraction between two items, the smaller index first.
    weights: FxHashMap<(u32, u32), f64>,
    /// For each agent, the variables its action depends on; `None` if they are more than
    /// [`MAX_GROUP_ITEMS`].
    behind_action: Vec<Option<Vec<Item>>>,
    seen: FxHashSet<ExprId>,
    /// Groups that have been counted; a repetition does not make the attraction stronger.
    groups: FxHashSet<Vec<u32>>,
}

impl<'s> Affinity<'s> {
    /// Collects the attractions from all lines, views, formulas and names of a system.
    fn of(system: &'s System) -> Self {
        let mut affinity = Affinity::new(system, &declared(system));
        affinity.add_lines();
        affinity.add_views();
        affinity.add_formulas();
        affinity.add_names();
        affinity
    }

    fn new(system: &'s System, items: &[Item]) -> Self {
        let index = items.iter().enumerate().map(|(i, &item)| (item, i as u32)).collect();
        let behind_action = system
            .agents
            .iter()
            .map(|agent| match &agent.protocol {
                Protocol::Unconstrained => Some(Vec::new()),
                Protocol::Lines { lines, .. } => {
                    let conditions: Vec<ExprId> = lines.iter().map(|line| line.condition).collect();
                    support(system, &conditions, MAX_GROUP_ITEMS)
                }
            })
            .collect();
        Affinity {
            system,
            items: items.to_vec(),
            index,
            weights: FxHashMap::default(),
            behind_action,
            seen: FxHashSet::default(),
            groups: FxHashSet::default(),
        }
    }

    /// Makes the items of a group attract each other, each pair less the more items there are.
    fn attract(&mut self, group: &[Item], weight: f64) {
        let mut indices: Vec<u32> = group.iter().filter_map(|item| self.index.get(item).copied()).collect();
        indices.sort_unstable();
        indices.dedup();
        if indices.len() < 2 || !self.groups.insert(indices.clone()) {
            return;
        }
        let each = weight / (indices.len() - 1) as f64;
        for (i, &a) in indices.iter().enumerate() {
            for &b in &indices[i + 1..] {
                *self.weights.entry((a, b)).or_default() += each;
            }
        }
    }

    /// Adds evolution and protocol lines. A determined action is replaced by the variables it depends on.
    fn add_lines(&mut self) {
        let system = self.system;
        for agent in &system.agents {
            if let Protocol::Lines { lines, .. } = &agent.protocol {
                for line in lines {
                    self.expression(line.condition, &[], STEP_WEIGHT);
                }
            }
            for line in &agent.evolution {
                let mut roots: Vec<ExprId> = line.assignments.iter().map(|(_, value)| *value).collect();
                roots.push(line.condition);
                let targets: Vec<Item> = line.assignments.iter().map(|(v, _)| Item::Variable(*v)).collect();
                match self.traced(&roots) {
                    Some(mut group) => {
                        group.extend(&targets);
                        self.attract(&group, STEP_WEIGHT);
                    }
                    None => {
                        for root in roots {
                            self.expression(root, &targets, STEP_WEIGHT);
                        }
                    }
                }
            }
        }
        for proposition in &system.propositions {
            self.expression(proposition.condition, &[], FORMULA_WEIGHT);
        }
        self.expression(system.initial, &[], FORMULA_WEIGHT);
    }

    /// Returns the items that expressions read, determined actions replaced by the variables they depend
    /// on; `None` if there are more than [`MAX_GROUP_ITEMS`].
    fn traced(&self, roots: &[ExprId]) -> Option<Vec<Item>> {
        let mut group = support(self.system, roots, MAX_GROUP_ITEMS)?;
        for item in group.clone() {
            if let Item::Action(agent) = item
                && follows_state(self.system, agent)
                && let Some(behind) = &self.behind_action[agent.index()]
            {
                group.retain(|other| *other != item);
                group.extend(behind);
            }
        }
        group.sort_unstable();
        group.dedup();
        (group.len() <= MAX_GROUP_ITEMS).then_some(group)
    }

    /// Adds an expression as one group if it reads few items, else its operands one by one.
    fn expression(&mut self, root: ExprId, with: &[Item], weight: f64) {
        let mut open = vec![root];
        let with = if with.len() <= 2 { with } else { &[] };
        while let Some(id) = open.pop() {
            match self.traced(&[id]) {
                Some(mut group) => {
                    group.extend(with);
                    self.attract(&group, weight);
                }
                // A long sum is skipped: it relates all of its terms equally.
                None if self.seen.insert(id) && !matches!(self.system.exprs.get(id), Expr::Sum(_)) => {
                    self.system.exprs.each_operand(id, |a| open.push(a));
                }
                None => {}
            }
        }
    }

    /// Adds the views: an agent that sees all but one to three of the environment's variables attracts
    /// those that it does not see.
    fn add_views(&mut self) {
        let system = self.system;
        let n_variables = system.variables.len();
        let Some(environment) = system.environment else { return };
        let shared = &system.agent(environment).variables;
        for agent in &system.agents {
            if agent.sees.len() < 8 || shared.len() * 2 > n_variables * 3 || agent.variables.is_empty() {
                continue;
            }
            let hidden: Vec<VarId> =
                shared.iter().copied().filter(|v| agent.sees.binary_search(v).is_err()).take(4).collect();
            if (1..=3).contains(&hidden.len()) && hidden.len() * 3 < shared.len() {
                let mut group: Vec<Item> = agent.variables.iter().map(|&v| Item::Variable(v)).collect();
                group.truncate(MAX_GROUP_ITEMS);
                group.extend(hidden.iter().map(|&v| Item::Variable(v)));
                self.attract(&group, FORMULA_WEIGHT * 4.0);
            }
        }
    }

    /// Adds the formulas: `K(i, phi)` relates the variables of `i` to those of phi.
    fn add_formulas(&mut self) {
        let system = self.system;
        for id in system.property_formulas() {
            let (agents, phi) = match system.formulas.get(id) {
                Formula::Knows(agent, f) | Formula::KnowsUnder(agent, _, f) => (vec![agent], f),
                Formula::EveryoneKnows(group, f) | Formula::DistributedKnowledge(group, f) => {
                    (system.groups[group.index()].agents.clone(), f)
                }
                _ => continue,
            };
            let conditions = self.conditions(phi);
            let Some(about) = support(system, &conditions, 4) else { continue };
            for agent in agents {
                let own = &system.agent(agent).variables;
                if own.len() <= 4 && !own.is_empty() {
                    let mut group: Vec<Item> = own.iter().map(|&v| Item::Variable(v)).collect();
                    group.extend(&about);
                    self.attract(&group, FORMULA_WEIGHT);
                }
            }
        }
    }

    /// Returns the conditions in a formula, at most nine of them.
    fn conditions(&self, root: FormulaId) -> Vec<ExprId> {
        let mut conditions = Vec::new();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            match self.system.formulas.get(id) {
                Formula::Proposition(p) => conditions.push(self.system.propositions[p.index()].condition),
                Formula::Condition(condition) => conditions.push(condition),
                _ => self.system.formulas.each_operand(id, |f| open.push(f)),
            }
            if conditions.len() > 8 {
                break;
            }
        }
        conditions
    }

    /// Adds the names: variables with equal numbers, as `say7` and `Crypt7.payer`, attract each other.
    fn add_names(&mut self) {
        let mut groups: FxHashMap<u64, Vec<Item>> = FxHashMap::default();
        for &item in &self.items {
            if let Item::Variable(v) = item {
                let variable = self.system.variable(v);
                let owner = &self.system.agent(variable.owner).name;
                if let Some(number) =
                    numbered(&variable.name).or_else(|| numbered(owner)).map(|(_, number)| number)
                {
                    groups.entry(number).or_default().push(item);
                }
            }
        }
        let mut groups: Vec<(u64, Vec<Item>)> = groups.into_iter().collect();
        groups.sort_unstable_by_key(|(number, _)| *number);
        for (_, group) in groups {
            for pair in group.windows(2) {
                self.attract(pair, NAME_WEIGHT);
            }
        }
    }

    /// Returns for each item the number of its partners: items with an attraction of at least
    /// [`FORMULA_WEIGHT`].
    fn degrees(&self) -> Vec<u32> {
        let mut degree = vec![0u32; self.items.len()];
        for (&(a, b), &weight) in &self.weights {
            if weight >= FORMULA_WEIGHT {
                degree[a as usize] += 1;
                degree[b as usize] += 1;
            }
        }
        degree
    }

    /// Returns the median degree.
    fn usual_degree(&self) -> u32 {
        let mut degrees = self.degrees();
        degrees.sort_unstable();
        degrees.get(degrees.len() / 2).copied().unwrap_or(0)
    }

    /// Computes the order in which items with more than `max_degree` partners are hubs: a hub cannot be
    /// near all of its partners at any level, so it is placed at the top.
    fn order(&self, max_degree: u32) -> Vec<Item> {
        let n = self.items.len();
        let max_degree = max_degree.max(MIN_HUB_DEGREE);
        let degree = self.degrees();
        let mut hubs: Vec<u32> = (0..n as u32).filter(|&i| degree[i as usize] > max_degree).collect();
        hubs.sort_by_key(|&i| (std::cmp::Reverse(degree[i as usize]), i));
        let is_hub: Vec<bool> = (0..n).map(|i| degree[i] > max_degree).collect();
        let mut edges: Vec<(f64, u32, u32)> = self
            .weights
            .iter()
            .filter(|((a, b), _)| !is_hub[*a as usize] && !is_hub[*b as usize])
            .map(|(&(a, b), &weight)| (weight, a, b))
            .collect();
        edges.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let weight = |x: u32, y: u32| self.weights.get(&(x.min(y), x.max(y))).copied().unwrap_or(0.0);
        let mut chains = Chains::new(n);
        // Ends of chains that a step uses together are joined first: long chains that are joined in the
        // middle would fold up.
        for &(_, a, b) in edges.iter().filter(|(weight, _, _)| *weight >= MIN_STRONG_WEIGHT) {
            if chains.distance_to_end(a).max(chains.distance_to_end(b)) <= MAX_DISTANCE_TO_END {
                chains.join(a, b, weight);
            }
        }
        for &(_, a, b) in &edges {
            chains.join(a, b, weight);
        }
        let rest = chains.into_sequence(|i| !is_hub[i as usize]);
        hubs.into_iter().chain(rest).map(|i| self.items[i as usize]).collect()
    }
}

/// Returns whether an agent's protocol seems to leave it no choice: it has one action in each line.
fn follows_state(system: &System, agent: AgentId) -> bool {
    match &system.agent(agent).protocol {
        Protocol::Unconstrained => false,
        Protocol::Lines { lines, other } => {
            lines.iter().all(|line| line.actions.len() == 1) && other.as_ref().is_none_or(|o| o.len() == 1)
        }
    }
}

/// Returns a name with its last number replaced by `#`, and that number.
fn numbered(name: &str) -> Option<(String, u64)> {
    let end = name.rfind(|c: char| c.is_ascii_digit())?;
    let start = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |i| i + 1);
    let number = name[start..=end].parse().ok()?;
    Some((format!("{}#{}", &name[..start], &name[end + 1..]), number))
}

/// Disjoint sequences that are joined end to end.
struct Chains {
    chain_of: Vec<u32>,
    position: Vec<u32>,
    chains: Vec<Vec<u32>>,
}

impl Chains {
    fn new(n: usize) -> Self {
        Chains {
            chain_of: (0..n as u32).collect(),
            position: vec![0; n],
            chains: (0..n as u32).map(|i| vec![i]).collect(),
        }
    }

    /// Returns the distance of an item from the nearer end of its chain, in items.
    fn distance_to_end(&self, item: u32) -> usize {
        let length = self.chains[self.chain_of[item as usize] as usize].len();
        let position = self.position[item as usize] as usize;
        position.min(length - 1 - position)
    }

    /// Joins the chains of `a` and `b` so that the two come near each other: end to end, or the
    /// shorter chain inside the longer one if the item there is far from both ends.
    fn join(&mut self, a: u32, b: u32, weight: impl Fn(u32, u32) -> f64) {
        let (ca, cb) = (self.chain_of[a as usize], self.chain_of[b as usize]);
        if ca == cb {
            return;
        }
        // The longer chain stays, and the shorter one is added to it.
        let (keep, add, a, b) = if self.chains[ca as usize].len() >= self.chains[cb as usize].len() {
            (ca, cb, a, b)
        } else {
            (cb, ca, b, a)
        };
        let mut added = std::mem::take(&mut self.chains[add as usize]);
        let mut kept = std::mem::take(&mut self.chains[keep as usize]);
        let (at_a, at_b) = (self.position[a as usize] as usize, self.position[b as usize] as usize);
        let (to_left, to_right) = (at_a, kept.len() - 1 - at_a);
        let is_inside = to_left.min(to_right) > added.len();
        // Whether the added chain goes to the right of `a`.
        let after = if is_inside {
            weight(a, kept[at_a + 1]) <= weight(kept[at_a - 1], a)
        } else {
            to_right <= to_left
        };
        let from_left = at_b <= added.len() - 1 - at_b;
        if after != from_left {
            added.reverse();
        }
        let begin = match (is_inside, after) {
            (true, true) => at_a + 1,
            (true, false) => at_a,
            (false, true) => kept.len(),
            (false, false) => 0,
        };
        kept.splice(begin..begin, added);
        for (i, &item) in kept.iter().enumerate().skip(begin) {
            self.chain_of[item as usize] = keep;
            self.position[item as usize] = i as u32;
        }
        self.chains[keep as usize] = kept;
    }

    /// Concatenates the chains, sorted by their least members.
    fn into_sequence(self, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut chains: Vec<Vec<u32>> = self.chains.into_iter().filter(|c| !c.is_empty()).collect();
        chains.sort_by_key(|chain| chain.iter().min().copied());
        chains.into_iter().flatten().filter(|&i| wanted(i)).collect()
    }
}
