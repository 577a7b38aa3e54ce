//! The order in which the checker applies the parts of the transition relation, and an order of the variables.
//!
//! An image is computed part by part, and a bit is quantified once no later part mentions it. Next comes the part
//! that eliminates the most variables compared with those that it adds [RAPBB95], judged by the variables that
//! occur in the text of the part. The order changes the time of a check, never its result.

use masque_model::{AgentId, Assignment, Expr, ExprId, Protocol, System, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of parts that are sorted; more keep the order of the text.
const MAX_SORTED_PARTS: usize = 4000;

/// A current value, a next value, or an action, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Item {
    Current(u32),
    Next(u32),
    Action(u32),
}

struct Part {
    name: String,
    items: Vec<Item>,
}

/// Returns the names of the parts in the orders for successors and for predecessors.
pub(crate) fn part_orders(system: &System) -> (Vec<String>, Vec<String>) {
    let parts = parts(system);
    if parts.len() > MAX_SORTED_PARTS {
        return (Vec::new(), Vec::new());
    }
    let changing: FxHashSet<Item> = parts.iter().flat_map(|part| part.items.iter().copied()).collect();
    let is_gone = |forward: bool| {
        let changing = &changing;
        move |item: Item| match item {
            Item::Current(v) => forward && changing.contains(&Item::Next(v)),
            Item::Next(_) => !forward,
            Item::Action(_) => true,
        }
    };
    let names = |order: Vec<usize>| order.into_iter().map(|part| parts[part].name.clone()).collect();
    (names(schedule(&parts, is_gone(true))), names(schedule(&parts, is_gone(false))))
}

/// A variable or the action of an agent, whose bits are neighbours in the order of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// A variable.
    Variable(VarId),
    /// The action of an agent.
    Action(AgentId),
}

/// Returns an order of all variables and actions, for an engine that has none of its own: that of declaration, each
/// action before the variables of its agent, or that in which the parts of the transition relation mention them.
/// The better one has the smaller distance between the first and the last item of a part, in the sum.
pub fn item_order(system: &System) -> Vec<Placed> {
    let declared: Vec<Placed> = system
        .agent_ids()
        .flat_map(|agent| {
            let variables = system.agent(agent).variables.iter().map(|v| Placed::Variable(*v));
            std::iter::once(Placed::Action(agent)).chain(variables)
        })
        .collect();
    let parts = parts(system);
    if parts.len() > MAX_SORTED_PARTS {
        return declared;
    }
    let placed = |item: &Item| match item {
        Item::Current(v) | Item::Next(v) => Placed::Variable(VarId(*v)),
        Item::Action(agent) => Placed::Action(AgentId(*agent)),
    };
    let mut seen = FxHashSet::default();
    let mentioned = schedule(&parts, |item| !matches!(item, Item::Next(_)));
    let mentioned = mentioned.into_iter().flat_map(|part| &parts[part].items).map(placed);
    let scheduled: Vec<Placed> =
        mentioned.chain(declared.iter().copied()).filter(|item| seen.insert(*item)).collect();
    let total_span = |order: &[Placed]| -> usize {
        let place: FxHashMap<Placed, usize> = order.iter().copied().zip(0..).collect();
        let span = |part: &Part| {
            let places = || part.items.iter().filter_map(|item| place.get(&placed(item)));
            places().max().zip(places().min()).map_or(0, |(max, min)| max - min)
        };
        parts.iter().map(span).sum()
    };
    if total_span(&scheduled) < total_span(&declared) { scheduled } else { declared }
}

fn parts(system: &System) -> Vec<Part> {
    let mut parts = Vec::new();
    for (index, agent) in system.agents.iter().enumerate() {
        let mut items = vec![Item::Action(index as u32)];
        if let Protocol::Lines { lines, .. } = &agent.protocol {
            items.extend(read(system, lines.iter().map(|line| line.condition)));
        }
        parts.push(Part { name: format!("protocol {}", agent.name), items: distinct(items) });
    }
    for agent in &system.agents {
        let lines = agent.evolution.iter().flat_map(|l| l.assignments.iter().map(|a| (l.condition, *a)));
        let mut reads: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
        lines.for_each(|(condition, (v, expr))| reads.entry(v).or_default().extend([condition, expr]));
        let assigned: Vec<VarId> =
            agent.variables.iter().copied().filter(|v| reads.contains_key(v)).collect();
        let own = |v: &VarId| [Item::Current(v.0), Item::Next(v.0)];
        match system.meaning.assignment {
            _ if assigned.is_empty() => {}
            Assignment::Multi => {
                let mut items: Vec<Item> = assigned.iter().flat_map(own).collect();
                let exprs = assigned.iter().flat_map(|v| reads[v].iter().copied());
                // Lines without assignments matter, too.
                let conditions = agent.evolution.iter().map(|line| line.condition);
                items.extend(read(system, exprs.chain(conditions)));
                parts.push(Part { name: format!("update {}", agent.name), items: distinct(items) });
            }
            Assignment::Single => parts.extend(assigned.iter().map(|v| {
                let items = own(v).into_iter().chain(read(system, reads[v].iter().copied())).collect();
                Part { name: format!("update {}", system.full_name(*v)), items: distinct(items) }
            })),
        }
    }
    parts
}

fn distinct(items: Vec<Item>) -> Vec<Item> {
    let mut seen = FxHashSet::default();
    items.into_iter().filter(|item| seen.insert(*item)).collect()
}

/// Returns what expressions read.
fn read(system: &System, roots: impl Iterator<Item = ExprId>) -> Vec<Item> {
    let mut open: Vec<ExprId> = roots.collect();
    let mut seen: FxHashSet<ExprId> = open.iter().copied().collect();
    let mut items = Vec::new();
    while let Some(expr) = open.pop() {
        match system.exprs.get(expr) {
            Expr::Variable(v) => items.push(Item::Current(v.0)),
            Expr::ActionIs(agent, _) => items.push(Item::Action(agent.0)),
            _ => system.exprs.each_operand(expr, |operand| {
                if seen.insert(operand) {
                    open.push(operand);
                }
            }),
        }
    }
    items
}

/// Returns the parts in the order in which they are applied, by index.
fn schedule(parts: &[Part], is_gone: impl Fn(Item) -> bool) -> Vec<usize> {
    let mut uses: FxHashMap<Item, i64> = FxHashMap::default();
    parts.iter().flat_map(|part| &part.items).for_each(|item| *uses.entry(*item).or_default() += 1);
    let mut is_here: FxHashSet<Item> = FxHashSet::default();
    let mut left: Vec<usize> = (0..parts.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let score = |part: usize| -> i64 {
            let of = |item: &Item| {
                let goes = is_gone(*item) && uses[item] == 1;
                2 * i64::from(goes) - i64::from(!goes && !is_here.contains(item))
            };
            parts[part].items.iter().map(of).sum()
        };
        let best = (0..left.len()).rev().max_by_key(|&place| score(left[place])).unwrap_or(0);
        let part = left.remove(best);
        for item in &parts[part].items {
            *uses.entry(*item).or_default() -= 1;
            is_here.insert(*item);
        }
        order.push(part);
    }
    order
}
