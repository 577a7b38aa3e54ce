//! The table of conditions on explicit sets: the slow transcription that the checker is compared with.
//!
//! A state is any valuation of the variables, a set a vector of booleans, and a condition is tested state by state.
//! Nothing here uses the diagrams or the encoding of the checker; steps are those of `model::semantics`.

use std::collections::BTreeMap;

use masque_certificate::Certificate;
use masque_certificate::format::{Claim, Ref};
use masque_model::semantics::{State, is_true, joint_actions, step};
use masque_model::{ActionId, AgentId, At, Deadlock, ExprId, FormulaId, Overflow, System};

/// A set of states: for each state whether it is in the set.
pub(crate) type States = Vec<bool>;

/// A condition that is violated.
pub(crate) type Tested<T> = Result<T, String>;

/// All valuations of the variables of a system, and the steps between them.
pub(crate) struct Table<'s> {
    pub(crate) system: &'s System,
    pub(crate) states: Vec<State>,
    /// For each state its joint actions, each with its successors.
    pub(crate) moves: Vec<Vec<(Vec<ActionId>, Vec<usize>)>>,
    pub(crate) initial: States,
    overflowing: States,
}

impl<'s> Table<'s> {
    /// Lists the valuations of a system; `None` if there are more than `max`.
    pub(crate) fn new(system: &'s System, max: usize) -> Option<Table<'s>> {
        let mut states = vec![State::new()];
        for variable in &system.variables {
            if states.len() as u128 * variable.domain.size() > max as u128 {
                return None;
            }
            let values: Vec<i64> =
                (0..variable.domain.size() as u64).map(|code| variable.domain.value(code)).collect();
            let longer =
                |state: &State| values.iter().map(|v| [&state[..], &[*v]].concat()).collect::<Vec<_>>();
            states = states.iter().flat_map(longer).collect();
        }
        let index: BTreeMap<&State, usize> = states.iter().enumerate().map(|(i, state)| (state, i)).collect();
        let (mut moves, mut overflowing) = (Vec::new(), Vec::new());
        for state in &states {
            let mut own = Vec::new();
            let mut overflows = false;
            for joint in joint_actions(system, state) {
                let outcome = step(system, state, &joint);
                overflows |= outcome.overflow;
                own.push((joint, outcome.successors.iter().map(|next| index[next]).collect()));
            }
            moves.push(own);
            overflowing.push(overflows);
        }
        let initial = states.iter().map(|state| is_true(system, system.initial, state, &[])).collect();
        Some(Table { system, states, moves, initial, overflowing })
    }

    pub(crate) fn all(&self, test: impl Fn(usize) -> bool) -> bool {
        (0..self.states.len()).all(test)
    }

    pub(crate) fn any(&self, test: impl Fn(usize) -> bool) -> bool {
        (0..self.states.len()).any(test)
    }

    pub(crate) fn collect(&self, test: impl Fn(usize) -> bool) -> States {
        (0..self.states.len()).map(test).collect()
    }

    pub(crate) fn is_dead(&self, s: usize) -> bool {
        self.moves[s].iter().all(|(_, next)| next.is_empty())
    }

    /// Successors by joint actions.
    fn steps(&self, s: usize) -> impl Iterator<Item = usize> + '_ {
        self.moves[s].iter().flat_map(|(_, next)| next.iter().copied())
    }

    /// Successors as ex and ax see them.
    pub(crate) fn successors(&self, s: usize) -> Vec<usize> {
        if self.system.meaning.deadlock == Deadlock::Stutter && self.is_dead(s) {
            return vec![s];
        }
        self.steps(s).collect()
    }

    pub(crate) fn steps_by(&self, s: usize, condition: ExprId) -> Vec<usize> {
        let may = |joint: &[ActionId]| is_true(self.system, condition, &self.states[s], joint);
        self.moves[s].iter().filter(|(joint, _)| may(joint)).flat_map(|(_, next)| next.clone()).collect()
    }

    pub(crate) fn look_alike(&self, i: AgentId, s: usize, t: usize) -> bool {
        let sees = &self.system.agent(i).sees;
        sees.iter().all(|v| self.states[s][v.index()] == self.states[t][v.index()])
    }
}

/// A certificate with its sets as vectors.
pub(crate) struct Sets {
    nodes: Vec<States>,
}

impl Sets {
    pub(crate) fn new(table: &Table<'_>, certificate: &Certificate) -> Sets {
        let mut sets = Sets { nodes: vec![vec![true; table.states.len()]] };
        let system = table.system;
        for node in &certificate.nodes {
            let place = &certificate.order[node.bit as usize];
            let v = system.variable_ids().find(|v| system.full_name(*v) == place.name).expect("a variable");
            let domain = &system.variable(v).domain;
            let (low, high) = (sets.get(node.low), sets.get(node.high));
            let set = table.collect(|s| {
                let code = domain.code(table.states[s][v.index()]).expect("a value of the domain");
                if code >> place.power & 1 == 1 { high[s] } else { low[s] }
            });
            sets.nodes.push(set);
        }
        sets
    }

    pub(crate) fn get(&self, set: Ref) -> States {
        self.nodes[set.0 as usize >> 1].iter().map(|member| *member != (set.0 & 1 == 1)).collect()
    }
}

/// The domain of the property, or of the fairness constraints.
#[derive(Clone)]
pub(crate) struct Domain {
    pub(crate) c: States,
    pub(crate) n: States,
    pub(crate) d_minus: States,
    pub(crate) is_fair: bool,
}

/// A check of one certificate.
pub(crate) struct Check<'t, 's> {
    pub(crate) table: &'t Table<'s>,
    pub(crate) certificate: &'t Certificate,
    pub(crate) sets: Sets,
    /// For each fairness constraint where it is shown to be true, and false.
    pub(crate) constraints: Vec<[States; 2]>,
    pub(crate) bound: BTreeMap<usize, States>,
}

/// Whether a certificate proves what it claims about a formula.
pub(crate) fn proves(
    table: &Table<'_>,
    certificate: &Certificate,
    (formula, at): (FormulaId, At),
) -> Tested<()> {
    let sets = Sets::new(table, certificate);
    let mut check = Check { table, certificate, sets, constraints: Vec::new(), bound: BTreeMap::new() };
    let inv = check.sets.get(certificate.inv.unwrap_or(Ref::ALL));
    test(table.all(|s| !table.initial[s] || inv[s]), "Init ⊆ Inv")?;
    test(table.all(|s| !inv[s] || table.steps(s).all(|t| inv[t])), "post(Inv) ⊆ Inv")?;
    let meaning = table.system.meaning;
    if meaning.deadlock == Deadlock::Error {
        test(!table.any(|s| inv[s] && table.is_dead(s)), "no dead end")?;
    }
    if meaning.overflow == Overflow::Error {
        test(!table.any(|s| inv[s] && table.overflowing[s]), "no overflow")?;
    }
    let mut r = table.collect(|_| false);
    for (index, layer) in certificate.reached.iter().enumerate() {
        let layer = check.sets.get(*layer);
        let shown = |t: usize| match index {
            0 => table.initial[t],
            _ => table.any(|s| r[s] && table.steps(s).any(|next| next == t)),
        };
        test(table.all(|t| !layer[t] || shown(t)), "R")?;
        r = table.collect(|s| r[s] || layer[s]);
    }
    let everywhere = table.collect(|_| true);
    let mut domain = Domain { c: inv, n: r, d_minus: everywhere, is_fair: false };
    if !table.system.fairness.is_empty() {
        domain = check.fair(&domain)?;
        test(table.any(|s| table.initial[s] && domain.d_minus[s]), "Init ∩ D⁻ ≠ ∅")?;
    }
    let w = check.truth(formula, certificate.holds, certificate.root, &domain)?;
    let Domain { c, n, d_minus, .. } = &domain;
    let is_shown = match (certificate.holds, at) {
        (true, At::Initial) => table.all(|s| !(table.initial[s] && c[s]) || w[s]),
        (true, At::Reachable) => table.all(|s| !c[s] || w[s]),
        (false, At::Initial) => table.any(|s| table.initial[s] && d_minus[s] && w[s]),
        (false, At::Reachable) => table.any(|s| n[s] && w[s]),
    };
    test(is_shown, "the verdict")
}

pub(crate) fn test(is_met: bool, what: &str) -> Tested<()> {
    if is_met { Ok(()) } else { Err(what.to_string()) }
}

impl Check<'_, '_> {
    /// D⁻ and D⁺.
    fn fair(&mut self, plain: &Domain) -> Tested<Domain> {
        let fair = self.certificate.fair.as_ref().ok_or("no sets for fairness")?;
        for (index, &formula) in self.table.system.fairness.iter().enumerate() {
            let claim = |place: usize| fair.of.get(2 * index + place).copied().flatten();
            let met = self.truth(formula, true, claim(0), plain)?;
            let unmet = self.truth(formula, false, claim(1), plain)?;
            self.constraints.push([met, unmet]);
        }
        let everywhere = self.table.collect(|_| true);
        let d_minus = self.fair_globally(fair, &everywhere, plain)?;
        let unfair = self.stages(fair, &self.table.collect(|_| false), plain)?;
        let c = self.table.collect(|s| plain.c[s] && !unfair[s]);
        let n = self.table.collect(|s| plain.n[s] && d_minus[s]);
        Ok(Domain { c, n, d_minus, is_fair: true })
    }

    pub(crate) fn cut(&self, set: Ref, domain: &Domain) -> States {
        let set = self.sets.get(set);
        self.table.collect(|s| set[s] && domain.c[s])
    }

    pub(crate) fn ex(&self, z: &States, s: usize) -> bool {
        self.table.successors(s).into_iter().any(|t| z[t])
    }

    pub(crate) fn ax(&self, z: &States, s: usize, domain: &Domain) -> bool {
        self.table.successors(s).into_iter().all(|t| !domain.c[t] || z[t])
    }

    /// The row EG with fairness.
    pub(crate) fn fair_globally(&self, claim: &Claim, f: &States, domain: &Domain) -> Tested<States> {
        let w = self.cut(claim.set.ok_or("EG: no set")?, domain);
        for (index, [met, _]) in self.constraints.iter().enumerate() {
            let layers = claim.recur.get(index).cloned().unwrap_or_default();
            let m = self
                .layers(&layers, domain, "M", |before, s| f[s] && (w[s] && met[s] || self.ex(before, s)))?;
            test(self.table.all(|s| !w[s] || f[s] && self.ex(&m, s)), "fair EG")?;
        }
        Ok(w)
    }

    /// Layers, each state of which meets a condition on the union of the earlier ones.
    pub(crate) fn layers(
        &self,
        layers: &[Ref],
        domain: &Domain,
        row: &str,
        meets: impl Fn(&States, usize) -> bool,
    ) -> Tested<States> {
        let mut before = self.table.collect(|_| false);
        for layer in layers {
            let layer = self.cut(*layer, domain);
            test(self.table.all(|s| !layer[s] || meets(&before, s)), row)?;
            before = self.table.collect(|s| before[s] || layer[s]);
        }
        Ok(before)
    }

    /// Stages (c, P, V); returns the last V, which contains all earlier ones.
    pub(crate) fn stages(&self, claim: &Claim, g: &States, domain: &Domain) -> Tested<States> {
        let mut v = g.clone();
        for (constraint, p, next) in &claim.stages {
            let [_, unmet] = self.constraints.get(*constraint).ok_or("no such constraint")?;
            let (p, next) = (self.cut(*p, domain), self.cut(*next, domain));
            let is_met = |s: usize| !p[s] || v[s] || unmet[s] && self.ax(&p, s, domain);
            test(self.table.all(is_met), "P of a stage")?;
            test(self.table.all(|s| !next[s] || v[s] || self.ax(&p, s, domain)), "V of a stage")?;
            v = self.table.collect(|s| v[s] || next[s]);
        }
        Ok(v)
    }
}
