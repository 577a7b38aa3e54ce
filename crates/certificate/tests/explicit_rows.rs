//! The rows of operators on explicit sets.

use masque_certificate::format::{Claim, Piece, Ref};
use masque_model::semantics::{is_green, is_true};
use masque_model::{AgentId, Formula, FormulaId, GroupId, Paths, Strategies};

use crate::explicit_table::{Check, Domain, States, Tested, test};

/// A temporal operator once negations are inside, with the sets of its operands.
enum Path {
    Next(States),
    Until(States, States),
    Globally(States),
    Weak(States, States),
    Release(States, States),
}

impl Check<'_, '_> {
    /// `W(f)`, or `W(¬f)` if `sign` is false.
    pub(crate) fn truth(
        &mut self,
        formula: FormulaId,
        sign: bool,
        index: Option<usize>,
        domain: &Domain,
    ) -> Tested<States> {
        let (table, certificate) = (self.table, self.certificate);
        let system = table.system;
        let none = Claim::default();
        let claim = index.map_or(&none, |index| &certificate.claims[index]);
        let of = |place: usize| claim.of.get(place).copied().flatten();
        let where_true =
            |condition| table.collect(|s| is_true(system, condition, &table.states[s], &[]) == sign);
        let largest = match system.formulas.get(formula) {
            Formula::Bool(value) => table.collect(|_| value == sign),
            Formula::Proposition(p) => where_true(system.propositions[p.index()].condition),
            Formula::Condition(condition) => where_true(condition),
            Formula::Green(i) => table.collect(|s| is_green(system, i, &table.states[s]) == sign),
            Formula::Red(i) => table.collect(|s| is_green(system, i, &table.states[s]) != sign),
            Formula::Not(f) => return self.truth(f, !sign, index, domain),
            Formula::And(list) | Formula::Or(list) => {
                let is_and = matches!(system.formulas.get(formula), Formula::And(_)) == sign;
                let mut sets = Vec::new();
                for (place, f) in list.iter().enumerate() {
                    sets.push(self.truth(*f, sign, of(place), domain)?);
                }
                match is_and {
                    true => table.collect(|s| sets.iter().all(|set| set[s])),
                    false => table.collect(|s| sets.iter().any(|set| set[s])),
                }
            }
            Formula::Implies(f, g) => {
                let (f, g) = (self.truth(f, !sign, of(0), domain)?, self.truth(g, sign, of(1), domain)?);
                table.collect(|s| if sign { f[s] || g[s] } else { f[s] && g[s] })
            }
            Formula::Iff(f, g) => {
                let yes = [self.truth(f, true, of(0), domain)?, self.truth(g, true, of(1), domain)?];
                let no = [self.truth(f, false, of(2), domain)?, self.truth(g, false, of(3), domain)?];
                match sign {
                    true => table.collect(|s| yes[0][s] && yes[1][s] || no[0][s] && no[1][s]),
                    false => table.collect(|s| yes[0][s] && no[1][s] || no[0][s] && yes[1][s]),
                }
            }
            Formula::Bound(z) => self.bound.get(&z.index()).ok_or("free variable")?.clone(),
            _ if index.is_none() => return Err("no claim".to_string()),
            _ => return self.modal(formula, sign, claim, domain),
        };
        let largest = table.collect(|s| largest[s] && domain.c[s]);
        let is_local = system.formulas.get(formula).is_local_operator();
        match claim.set.filter(|_| is_local) {
            None => Ok(largest),
            Some(set) => {
                let set = self.cut(set, domain);
                test(table.all(|s| !set[s] || largest[s]), "literal, and, or")?;
                Ok(set)
            }
        }
    }

    fn modal(&mut self, formula: FormulaId, sign: bool, claim: &Claim, domain: &Domain) -> Tested<States> {
        let table = self.table;
        let system = table.system;
        let first = claim.of.first().copied().flatten();
        let members = |group: GroupId| system.groups[group.index()].agents.clone();
        let green = |agents: &[AgentId]| {
            table.collect(|s| agents.iter().all(|i| is_green(system, *i, &table.states[s])))
        };
        let kind = system.formulas.get(formula);
        match kind {
            Formula::Exists(Paths::Ctl, path) | Formula::Forall(Paths::Ctl, path) => {
                let exists = matches!(kind, Formula::Exists(..)) == sign;
                let path = self.path(path, sign, claim, domain)?;
                if exists {
                    self.on_some_path(path, claim, domain)
                } else {
                    self.on_all_paths(path, claim, domain)
                }
            }
            Formula::Knows(i, f) => self.knows(&[vec![i]], None, (f, sign, first), claim, domain),
            Formula::EveryoneKnows(g, f) => {
                let views: Vec<Vec<AgentId>> = members(g).into_iter().map(|i| vec![i]).collect();
                self.knows(&views, None, (f, sign, first), claim, domain)
            }
            Formula::DistributedKnowledge(g, f) => {
                self.knows(&[members(g)], None, (f, sign, first), claim, domain)
            }
            Formula::KnowsUnder(i, g, f) => {
                self.knows(&[vec![i]], Some(green(&members(g))), (f, sign, first), claim, domain)
            }
            Formula::CommonKnowledge(g, f) => {
                let f = self.truth(f, sign, first, domain)?;
                let confused = |s: usize, t: usize| members(g).iter().any(|i| table.look_alike(*i, s, t));
                if !sign {
                    return self.layers(&claim.layers, domain, "not GCK", |before, s| {
                        table.any(|t| domain.n[t] && (f[t] || before[t]) && confused(s, t))
                    });
                }
                let w = self.cut(claim.set.ok_or("GCK: no set")?, domain);
                let is_met = |s: usize, t: usize| !domain.c[t] || !confused(s, t) || w[t] && f[t];
                test(table.all(|s| !w[s] || table.all(|t| is_met(s, t))), "GCK")?;
                Ok(w)
            }
            Formula::Correct(i, f) => {
                let f = self.truth(f, sign, first, domain)?;
                let w = self.cut(claim.set.ok_or("O: no set")?, domain);
                let green = green(&[i]);
                let is_met = match sign {
                    true => table.all(|t| !(green[t] && domain.c[t]) || f[t]),
                    false => table.any(|t| green[t] && domain.n[t] && f[t]),
                };
                test(is_met || !w.contains(&true), "O")?;
                Ok(w)
            }
            Formula::ExistsStep(c, f) | Formula::ForallStep(c, f) => {
                let exists = matches!(kind, Formula::ExistsStep(..)) == sign;
                let f = self.truth(f, sign, first, domain)?;
                let w = self.cut(claim.set.ok_or("EX{c}: no set")?, domain);
                let is_met = |s: usize| match exists {
                    true => table.steps_by(s, c).into_iter().any(|t| f[t] && domain.d_minus[t]),
                    false => table.steps_by(s, c).into_iter().all(|t| !domain.c[t] || f[t]),
                };
                test(table.all(|s| !w[s] || is_met(s)), "EX{c}, AX{c}")?;
                Ok(w)
            }
            Formula::Least(z, f) | Formula::Greatest(z, f) => {
                let is_least = matches!(kind, Formula::Least(..)) == sign;
                let refs = if is_least { claim.layers.clone() } else { vec![claim.set.ok_or("nu: no set")?] };
                let mut before = table.collect(|_| false);
                for (place, set) in refs.into_iter().enumerate() {
                    let set = self.cut(set, domain);
                    self.bound.insert(z.index(), if is_least { before.clone() } else { set.clone() });
                    let of = claim.of.get(place).copied().flatten();
                    let body = self.truth(f, sign, of, domain);
                    self.bound.remove(&z.index());
                    let body = body?;
                    test(table.all(|s| !set[s] || body[s]), "mu, nu")?;
                    before = table.collect(|s| before[s] || set[s]);
                }
                Ok(before)
            }
            Formula::Enforces(g, strategies, path) if !domain.is_fair => {
                let path = self.path(path, sign, claim, domain)?;
                self.coalition(&members(g), strategies, (path, sign), claim, domain)
            }
            _ => Err("not covered".to_string()),
        }
    }

    fn path(&mut self, path: FormulaId, sign: bool, claim: &Claim, domain: &Domain) -> Tested<Path> {
        let of = |place: usize| claim.of.get(place).copied().flatten();
        let all = self.table.collect(|_| true);
        let formula = self.table.system.formulas.get(path);
        let (f, g) = match formula {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => {
                let f = self.truth(f, sign, of(0), domain)?;
                (f.clone(), f)
            }
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => {
                (self.truth(f, sign, of(0), domain)?, self.truth(g, sign, of(1), domain)?)
            }
            _ => return Err("not covered".to_string()),
        };
        let both = self.table.collect(|s| f[s] && g[s]);
        Ok(match (formula, sign) {
            (Formula::Next(_), _) => Path::Next(f),
            (Formula::Finally(_), true) | (Formula::Globally(_), false) => Path::Until(all, f),
            (Formula::Globally(_), true) | (Formula::Finally(_), false) => Path::Globally(f),
            (Formula::Until(..), true) | (Formula::Release(..), false) => Path::Until(f, g),
            (Formula::Release(..), true) | (Formula::Until(..), false) => Path::Release(f, g),
            (_, true) => Path::Weak(f, g),
            (_, false) => Path::Until(g, both),
        })
    }

    fn on_some_path(&self, path: Path, claim: &Claim, domain: &Domain) -> Tested<States> {
        let (table, d) = (self.table, &domain.d_minus);
        let until = |f: &States, g: &States| {
            self.layers(&claim.layers, domain, "E(f U g)", |before, s| {
                g[s] && d[s] || f[s] && self.ex(before, s)
            })
        };
        let globally = |f: &States| match domain.is_fair {
            true => self.fair_globally(claim, f, domain),
            false => {
                let w = self.cut(claim.set.ok_or("EG: no set")?, domain);
                test(table.all(|s| !w[s] || f[s] && self.ex(&w, s)), "EG")?;
                Ok(w)
            }
        };
        match path {
            Path::Next(f) => {
                let w = self.cut(claim.set.ok_or("EX: no set")?, domain);
                let targets = table.collect(|s| f[s] && d[s]);
                test(table.all(|s| !w[s] || self.ex(&targets, s)), "EX")?;
                Ok(w)
            }
            Path::Until(f, g) => until(&f, &g),
            Path::Globally(f) => globally(&f),
            Path::Weak(f, g) => {
                let (l, g) = (until(&f, &g)?, globally(&f)?);
                Ok(table.collect(|s| l[s] || g[s]))
            }
            Path::Release(f, g) => {
                let both = table.collect(|s| f[s] && g[s]);
                let (l, g) = (until(&g, &both)?, globally(&g)?);
                Ok(table.collect(|s| l[s] || g[s]))
            }
        }
    }

    fn on_all_paths(&self, path: Path, claim: &Claim, domain: &Domain) -> Tested<States> {
        let table = self.table;
        let own = || Ok::<_, String>(self.cut(claim.set.ok_or("A: no set")?, domain));
        let weak = |f: &States, g: &States| {
            let w = own()?;
            test(table.all(|s| !w[s] || g[s] || f[s] && self.ax(&w, s, domain)), "A(f W g)")?;
            Ok(w)
        };
        match path {
            Path::Next(f) => {
                let w = own()?;
                test(table.all(|s| !w[s] || self.ax(&f, s, domain)), "AX")?;
                Ok(w)
            }
            Path::Until(f, g) if domain.is_fair => {
                let (w, v) = (weak(&f, &g)?, self.stages(claim, &g, domain)?);
                Ok(table.collect(|s| w[s] && v[s]))
            }
            Path::Until(f, g) => self.layers(&claim.layers, domain, "A(f U g)", |before, s| {
                g[s] || f[s] && self.ax(before, s, domain)
            }),
            Path::Globally(f) => weak(&f, &table.collect(|_| false)),
            Path::Weak(f, g) => weak(&f, &g),
            Path::Release(f, g) => {
                let w = own()?;
                test(table.all(|s| !w[s] || g[s] && (f[s] || self.ax(&w, s, domain))), "A(f R g)")?;
                Ok(w)
            }
        }
    }

    fn knows(
        &mut self,
        views: &[Vec<AgentId>],
        green: Option<States>,
        (f, sign, of): (FormulaId, bool, Option<usize>),
        claim: &Claim,
        domain: &Domain,
    ) -> Tested<States> {
        let f = self.truth(f, sign, of, domain)?;
        let table = self.table;
        let w = self.cut(claim.set.ok_or("K: no set")?, domain);
        let confused =
            |s: usize, t: usize| views.iter().any(|view| view.iter().all(|i| table.look_alike(*i, s, t)));
        let counts = |t: usize| green.as_ref().is_none_or(|green| green[t]);
        let is_met = |s: usize| match sign {
            true => table.all(|t| !(domain.c[t] && counts(t) && confused(s, t)) || f[t]),
            false => table.any(|t| domain.n[t] && counts(t) && confused(s, t) && f[t]),
        };
        test(table.all(|s| !w[s] || is_met(s)), "K, GK, DK, KH")?;
        Ok(w)
    }

    /// `pre(Z)`, where a choice of the group is one that `may` allows.
    fn pre(
        &self,
        group: &[AgentId],
        z: &States,
        s: usize,
        may: &dyn Fn(usize, AgentId, u32) -> bool,
    ) -> bool {
        let table = self.table;
        if table.is_dead(s) && table.system.meaning.deadlock == masque_model::Deadlock::Stutter {
            return z[s];
        }
        let chosen =
            |joint: &[masque_model::ActionId]| group.iter().map(|i| joint[i.index()].0).collect::<Vec<u32>>();
        table.moves[s].iter().map(|(joint, _)| chosen(joint)).any(|choice| {
            let is_allowed = group.iter().zip(&choice).all(|(i, action)| may(s, *i, *action));
            let mut completions = table.moves[s].iter().filter(|(joint, _)| chosen(joint) == choice);
            is_allowed && completions.all(|(_, next)| !next.is_empty() && next.iter().all(|t| z[*t]))
        })
    }

    fn coalition(
        &mut self,
        group: &[AgentId],
        strategies: Strategies,
        (path, sign): (Path, bool),
        claim: &Claim,
        domain: &Domain,
    ) -> Tested<States> {
        let table = self.table;
        let any = |_: usize, _: AgentId, _: u32| true;
        let sets = (claim.set, &claim.layers[..]);
        if strategies == Strategies::Perfect {
            return match sign {
                true => self.wins(&path, sets, domain, &|z, s| self.pre(group, z, s, &any)),
                false => self.wins(&path, sets, domain, &|z, s| {
                    let outside = table.collect(|t| !z[t]);
                    !self.pre(group, &outside, s, &any)
                }),
            };
        }
        test(sign, "failing uniform strategies are not covered")?;
        let mut w = table.collect(|_| false);
        for piece in &claim.pieces {
            let part = self.piece(group, strategies, &path, piece, domain)?;
            w = table.collect(|s| w[s] || part[s]);
        }
        Ok(w)
    }

    fn piece(
        &self,
        group: &[AgentId],
        strategies: Strategies,
        path: &Path,
        piece: &Piece,
        domain: &Domain,
    ) -> Tested<States> {
        let table = self.table;
        let choices: Vec<(usize, u32, States)> = (piece.choices.iter())
            .filter(|(member, ..)| *member < group.len())
            .map(|(member, action, states)| (*member, *action, self.sets.get(*states)))
            .collect();
        for (index, (member, action, states)) in choices.iter().enumerate() {
            let agent = group[*member];
            test((*action as usize) < table.system.agent(agent).actions.len(), "an action")?;
            let own = |s: usize, t: usize| !table.look_alike(agent, s, t) || states[s] == states[t];
            test(table.all(|s| table.all(|t| own(s, t))), "a choice depends on the view")?;
            let others = choices[..index].iter().filter(|(m, ..)| m == member);
            let is_one = |s: usize| !states[s] || others.clone().all(|(.., other)| !other[s]);
            test(table.all(is_one), "one action for each view")?;
        }
        let may = |s: usize, i: AgentId, action: u32| {
            choices.iter().any(|(member, a, states)| group[*member] == i && *a == action && states[s])
        };
        let won = self.wins(path, (piece.set, &piece.layers), domain, &|z, s| self.pre(group, z, s, &may))?;
        let part = self.cut(piece.part.unwrap_or(Ref::NONE), domain);
        let starts = |s: usize, t: usize| match strategies {
            Strategies::Uniform => group.iter().any(|i| table.look_alike(*i, s, t)),
            Strategies::UniformJoint => group.iter().all(|i| table.look_alike(*i, s, t)),
            _ => s == t,
        };
        let is_met = |s: usize| table.all(|t| !(domain.c[t] && starts(s, t)) || won[t]);
        test(table.all(|s| !part[s] || is_met(s)), "starts of a uniform strategy")?;
        Ok(part)
    }

    fn wins(
        &self,
        path: &Path,
        (set, layers): (Option<Ref>, &[Ref]),
        domain: &Domain,
        pre: &dyn Fn(&States, usize) -> bool,
    ) -> Tested<States> {
        let table = self.table;
        if let Path::Until(f, g) = path {
            return self.layers(layers, domain, "<g> U", |before, s| g[s] || f[s] && pre(before, s));
        }
        let w = self.cut(set.ok_or("<g>: no set")?, domain);
        let is_met = |s: usize| match path {
            Path::Next(f) => pre(f, s),
            Path::Globally(f) => f[s] && pre(&w, s),
            Path::Weak(f, g) => g[s] || f[s] && pre(&w, s),
            Path::Release(f, g) => g[s] && (f[s] || pre(&w, s)),
            Path::Until(..) => false,
        };
        test(table.all(|s| !w[s] || is_met(s)), "<g>")?;
        Ok(w)
    }
}
