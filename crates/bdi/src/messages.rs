//! Diagnostics about worlds: removed worlds, trimmed states, inconsistent attitudes. Each message begins
//! with the path of its world.

use masque_text::Diagnostic;

use crate::model::{Model, VarId};
use crate::outcome::{Failure, PropertyResult, Status, WorldResult};
use crate::plan::{Plan, WorldId};
use crate::symbolic::FixedAttitude;

/// Returns warnings about worlds, in the order of their paths, and notes about properties.
pub fn findings(
    model: &Model,
    plan: &Plan,
    worlds: &[WorldResult],
    properties: &[PropertyResult],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for world in plan.worlds_by_path() {
        world_findings(model, plan, world, &worlds[world.index()], &mut found);
    }
    for (property, result) in model.properties.iter().zip(properties) {
        if result.is_vacuous {
            let message = format!("property {} holds because its antecedent is never true", property.name);
            let diagnostic = Diagnostic::note("bdi/vacuous", property.span, message)
                .hint("check `EF` of the antecedent to see whether it can become true");
            found.push(diagnostic);
        }
    }
    found
}

fn world_findings(
    model: &Model,
    plan: &Plan,
    world: WorldId,
    result: &WorldResult,
    found: &mut Vec<Diagnostic>,
) {
    let name = plan.name(world);
    let span = model.program(plan.program(world)).span;
    let mut warn = |code, message: String, help: &str| {
        found.push(Diagnostic::warning(code, span, format!("{name}: {message}")).hint(help));
    };
    match result.status {
        Status::Ok => {}
        Status::NoInitialState => warn(
            "bdi/world-removed",
            "world removed, no initial state is left".to_string(),
            "run `masque worlds` to see which attitudes the removed states lack",
        ),
        Status::NotTotal => warn(
            "bdi/world-removed",
            "world removed, it is not total: a state is left without a successor".to_string(),
            "with `option totality = trim` only such states are removed",
        ),
    }
    if result.status == Status::Ok {
        if result.lost_initial {
            let message = format!("initial states removed, {} left", result.initial);
            warn("bdi/initial-removed", message, "run `masque worlds` to see which attitudes they lack");
        }
        if !result.dead.is_zero() {
            let message = format!("{} state(s) without a future trimmed", result.dead);
            let help = "all their successors are incoherent; run `masque worlds` to see why";
            warn("bdi/trimmed", message, help);
        }
    }
    for (edge, count) in &result.inconsistent {
        let (op, agent) = (edge.op.name(), &model.agents[edge.agent.index()].name);
        let message = format!("inconsistent {op}-attitudes about {agent} in {count} state(s)");
        warn("bdi/inconsistent", message, "nothing is accessible there, so every attitude is true");
    }
    if result.is_opaque {
        let message = "nesting bound reached, its attitudes are labels only".to_string();
        warn("bdi/opaque", message, "verdicts may depend on the bound; try a larger `option nesting`");
    }
    if result.is_unfair {
        let message = "no initial state starts a fair path".to_string();
        warn("bdi/no-fair-path", message, "no path satisfies every `fair` condition infinitely often");
    }
}

/// Returns the error for a reachable assignment that leaves the range of its variable; `None` for a limit.
pub(crate) fn out_of_range(model: &Model, plan: &Plan, failure: &Failure) -> Option<Diagnostic> {
    let Failure::OutOfRange { world, var, span } = failure else { return None };
    let var = model.var(*var);
    let (low, high) = var.domain.bounds();
    let message = format!("{}: `{}` leaves its range {low}..{high} here", plan.name(*world), var.name);
    let diagnostic = Diagnostic::error("bdi/out-of-range", *span, message)
        .label("some reachable state makes this too small or too large")
        .also(var.span, "the range is declared here");
    Some(diagnostic.hint("widen the range, or test the value first"))
}

/// Returns the note on an explicit attitude that never changes.
pub(crate) fn fixed_attitude(model: &Model, world: &str, var: VarId, fixed: FixedAttitude) -> Diagnostic {
    let var = model.var(var);
    let name = &var.name;
    match fixed {
        FixedAttitude::Forced => {
            let message = format!("{world}: {name} cannot be false");
            Diagnostic::note("bdi/forced-attitude", var.span, message)
                .label("its argument holds in all states of the picture")
                .hint("a state in which it is false is incoherent; start with it true")
        }
        FixedAttitude::Always => {
            Diagnostic::note("bdi/constant-attitude", var.span, format!("{world}: {name} is always true"))
        }
        FixedAttitude::Never => {
            Diagnostic::note("bdi/constant-attitude", var.span, format!("{world}: {name} is never true"))
        }
    }
}
