//! What the tests share: certificates of random systems.

use masque_certificate::{Certificate, Failure, Limits, confirm};
use masque_explicit::Explicit;
use masque_model::semantics::explore;
use masque_model::{
    AgentId, At, Deadlock, Formula, FormulaId, GroupId, Overflow, Paths, Property, PropositionId, Strategies,
    System,
};
use masque_symbolic::Symbolic;
use masque_testkit::encode;
use masque_verdict::{Budget, CertificateRequest, Encoded, NotCertified, Show, Verdict};

/// The name of an engine, and a system in its form.
pub(crate) type NamedEncoding<'s> = (&'static str, Box<dyn Encoded + 's>);

/// The engines that write certificates.
pub(crate) fn engines(system: &System) -> Result<Vec<NamedEncoding<'_>>, String> {
    let symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
    let explicit = Explicit { evidence: Show::None, jobs: None };
    Ok(vec![("symbolic", encode(&symbolic, system)?), ("explicit", encode(&explicit, system)?)])
}

/// The verdict of an engine, and the certificate that it writes.
pub(crate) fn certificate(
    engine: &mut dyn Encoded,
    property: &Property,
) -> Option<(bool, Result<String, NotCertified>)> {
    let budget = Budget::unlimited();
    let holds = match engine.verdict(property, &budget) {
        Verdict::Holds => true,
        Verdict::Fails => false,
        Verdict::Unknown(_) => return None,
    };
    let request = CertificateRequest { property, holds, model: "0", parameters: &[] };
    Some((holds, engine.certificate(&request, &budget)))
}

/// Reads a certificate and checks it against a system and a property.
pub(crate) fn check(system: &System, property: &Property, text: &str) -> Result<(), Failure> {
    let certificate = Certificate::parse(text).map_err(|mistake| Failure::Input(format!("{mistake:?}")))?;
    confirm(system, (property.formula, property.at), &certificate, Limits::default())
}

/// Maximum number of states of a system that is searched for errors.
const MAX_STATES: usize = 1000;

/// Makes dead ends errors, or overflows, or both, depending on the seed; returns whether there is such an error, and
/// nothing if the system is large.
pub(crate) fn with_errors(mut system: System, seed: u64) -> Option<(System, bool)> {
    let (dead_ends, overflows) = [(true, false), (false, true), (true, true)][(seed % 3) as usize];
    let meaning = &mut system.meaning;
    meaning.deadlock = if dead_ends { Deadlock::Error } else { Deadlock::Finite };
    meaning.overflow = if overflows { Overflow::Error } else { Overflow::Drop };
    let structure = explore(&system, MAX_STATES)?;
    let is_violated = dead_ends && structure.deadlocked.contains(&true)
        || overflows && structure.overflowing.contains(&true);
    Some((system, is_violated))
}

/// Adds properties with uniform strategies, half of them below other operators, if there are groups.
pub(crate) fn add_uniform_properties(system: &mut System, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    if system.groups.is_empty() || system.propositions.is_empty() || system.properties.is_empty() {
        return;
    }
    for number in 0..N_UNIFORM {
        let formula = uniform_formula(system, &mut random);
        let at = if random.u8(0..3) == 0 { At::Reachable } else { At::Initial };
        let span = system.properties[0].span;
        system.properties.push(Property::new(format!("uniform {number}"), formula, at, span));
    }
}

/// Number of properties with uniform strategies that are added to a system.
const N_UNIFORM: usize = 12;

fn uniform_formula(system: &mut System, random: &mut fastrand::Rng) -> FormulaId {
    let (f, g, h) = (literal(system, random), literal(system, random), literal(system, random));
    let inner = strategy(system, random, f, g);
    let formulas = &mut system.formulas;
    let wrapped = match random.u8(0..12) {
        0 => formulas.add(Formula::Finally(inner)),
        1 => formulas.add(Formula::Globally(inner)),
        2 => formulas.add(Formula::Next(inner)),
        3 => return formulas.add(Formula::Knows(AgentId(0), inner)),
        4 => return formulas.add(Formula::Implies(h, inner)),
        5 => return formulas.add(Formula::Or(&[h, inner])),
        6 => return strategy(system, random, inner, h),
        7 => {
            let either = formulas.add(Formula::Implies(h, inner));
            let always = formulas.add(Formula::Globally(either));
            return formulas.add(Formula::Forall(Paths::Ctl, always));
        }
        _ => return inner,
    };
    let quantified = if random.bool() {
        Formula::Exists(Paths::Ctl, wrapped)
    } else {
        Formula::Forall(Paths::Ctl, wrapped)
    };
    system.formulas.add(quantified)
}

fn literal(system: &mut System, random: &mut fastrand::Rng) -> FormulaId {
    let number = random.usize(0..system.propositions.len());
    let atom = system.formulas.add(Formula::Proposition(PropositionId(number as u32)));
    if random.bool() { atom } else { system.formulas.add(Formula::Not(atom)) }
}

fn strategy(system: &mut System, random: &mut fastrand::Rng, f: FormulaId, g: FormulaId) -> FormulaId {
    let group = GroupId(random.u32(0..system.groups.len() as u32));
    let path = match random.u8(0..7) {
        0 | 1 => Formula::Next(f),
        2 => Formula::Finally(f),
        3 => Formula::Globally(f),
        4 => Formula::Until(f, g),
        5 => Formula::WeakUntil(f, g),
        _ => Formula::Release(f, g),
    };
    let path = system.formulas.add(path);
    let kinds = [Strategies::Uniform, Strategies::UniformJoint, Strategies::UniformObjective];
    system.formulas.add(Formula::Enforces(group, kinds[random.usize(0..3)], path))
}
