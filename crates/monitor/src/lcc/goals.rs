//! Goals: properties that say that something can or must be reached.
//!
//! | form | reached when | certain | possible |
//! |---|---|---|---|
//! | `EF f`, `<-*>f`, `mu Z. f \|\| <->Z` | f is true | `EF f` | `EF f` |
//! | `<-* . P>tt` | P happens | `<-* . P>tt` | `<-* . P>tt` |
//! | `AF f`, `mu Z. f \|\| <->tt && [-]Z` | f is true | `AF f` | `EF f` |
//! | `inev(P)`, `mu Z. <->tt && [-P]Z` | P happens | `inev(P)` | `<-* . P>tt` |

use masque_mu::Property;
use masque_mu::tree::{FormulaKind, Modality, PathOperator, Pattern, Phi, Regular, Sign};
use masque_text::Span;

/// What a goal wants to reach.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A state in which a formula is true.
    State(Phi),
    /// A step.
    Step(Pattern),
}

/// A property that is a goal.
#[derive(Clone, Debug)]
pub(super) struct GoalForm {
    pub(super) target: Target,
    /// Whether every run must reach the target, so that being possible is less than being certain.
    pub(super) is_inevitable: bool,
}

/// Returns the names of the properties that are goals.
///
/// ```
/// use masque_mu::{Graph, read_properties};
///
/// let mut sources = masque_text::Sources::default();
/// let text = "ends : AF final ; safe : AG !deadlock ; paid : inev(pay) ; sold : <-* . pay>tt ;";
/// let file = sources.add("shop.mu", text).unwrap();
/// let mut graph = Graph::new();
/// graph.state();
/// let (properties, _) = read_properties(&sources, sources.span(file), &mut graph);
/// assert_eq!(masque_monitor::lcc::goals(&properties), ["ends", "paid", "sold"]);
/// ```
pub fn goals(properties: &[Property]) -> Vec<&str> {
    let is_goal = |property: &&Property| GoalForm::of(&property.source.phi).is_some();
    properties.iter().filter(is_goal).map(|property| property.source.name.text.as_str()).collect()
}

impl GoalForm {
    /// Recognises a goal.
    pub(super) fn of(phi: &Phi) -> Option<GoalForm> {
        let goal = |target, is_inevitable| Some(GoalForm { target, is_inevitable });
        match &phi.kind {
            FormulaKind::Path(PathOperator::EF, inner) => goal(Target::State((**inner).clone()), false),
            FormulaKind::Path(PathOperator::AF, inner) => goal(Target::State((**inner).clone()), true),
            FormulaKind::Inevitable(pattern) => goal(Target::Step(pattern.clone()), true),
            FormulaKind::Modal(Modality::Diamond, regular, inner) => match (regular, &inner.kind) {
                (Regular::Star(any), _) if is_any(any) => goal(Target::State((**inner).clone()), false),
                (Regular::Sequence(parts), FormulaKind::True) => match parts.as_slice() {
                    [Regular::Star(any), Regular::Step(pattern)] if is_any(any) => {
                        goal(Target::Step(pattern.clone()), false)
                    }
                    _ => None,
                },
                _ => None,
            },
            FormulaKind::Fixpoint(Sign::Mu, name, body) => fixpoint(&name.text, body),
            _ => None,
        }
    }

    /// The formula that says that the target can be reached.
    pub(super) fn possible(&self, span: Span) -> Phi {
        let any = || Regular::Star(Box::new(Regular::Step(Pattern::Any)));
        let kind = match &self.target {
            Target::State(phi) => FormulaKind::Path(PathOperator::EF, Box::new(phi.clone())),
            Target::Step(pattern) => {
                let path = Regular::Sequence(vec![any(), Regular::Step(pattern.clone())]);
                let end = Phi { kind: FormulaKind::True, span };
                FormulaKind::Modal(Modality::Diamond, path, Box::new(end))
            }
        };
        Phi { kind, span }
    }
}

fn is_any(regular: &Regular) -> bool {
    matches!(regular, Regular::Step(Pattern::Any))
}

/// Recognises the fixpoints that abbreviations stand for.
fn fixpoint(name: &str, body: &Phi) -> Option<GoalForm> {
    match &body.kind {
        // inev(P)
        FormulaKind::And(parts) => match parts.as_slice() {
            [can, next] if is_some_step(can) => {
                let FormulaKind::Modal(Modality::Box, Regular::Step(pattern), inner) = &next.kind else {
                    return None;
                };
                let target = match pattern {
                    Pattern::Not(target) => Target::Step((**target).clone()),
                    _ => return None,
                };
                is_variable(inner, name).then_some(GoalForm { target, is_inevitable: true })
            }
            _ => None,
        },
        // EF f and AF f
        FormulaKind::Or(parts) => {
            let (next, targets) = parts.split_last()?;
            let is_inevitable = match &next.kind {
                FormulaKind::And(both) => match both.as_slice() {
                    [can, all] => is_some_step(can) && is_next(all, Modality::Box, name),
                    _ => false,
                },
                _ => false,
            };
            let is_form = is_inevitable || is_next(next, Modality::Diamond, name);
            if !is_form || targets.iter().any(|target| mentions(target, name)) {
                return None;
            }
            let target = match targets {
                [target] => target.clone(),
                targets => Phi { kind: FormulaKind::Or(targets.to_vec()), span: body.span },
            };
            Some(GoalForm { target: Target::State(target), is_inevitable })
        }
        _ => None,
    }
}

/// Whether a formula is `<->tt`.
fn is_some_step(phi: &Phi) -> bool {
    matches!(&phi.kind, FormulaKind::Modal(Modality::Diamond, regular, inner)
        if is_any(regular) && matches!(inner.kind, FormulaKind::True))
}

/// Whether a formula is `<->X` or `[-]X`.
fn is_next(phi: &Phi, modality: Modality, name: &str) -> bool {
    matches!(&phi.kind, FormulaKind::Modal(kind, regular, inner)
        if *kind == modality && is_any(regular) && is_variable(inner, name))
}

fn is_variable(phi: &Phi, name: &str) -> bool {
    matches!(&phi.kind, FormulaKind::Variable(other) if other == name)
}

/// Whether a variable occurs in a formula.
fn mentions(phi: &Phi, name: &str) -> bool {
    match &phi.kind {
        FormulaKind::Variable(other) => other == name,
        FormulaKind::Not(inner)
        | FormulaKind::Modal(_, _, inner)
        | FormulaKind::Fixpoint(_, _, inner)
        | FormulaKind::Path(_, inner) => mentions(inner, name),
        FormulaKind::And(parts) | FormulaKind::Or(parts) | FormulaKind::Implies(parts) => {
            parts.iter().any(|part| mentions(part, name))
        }
        _ => false,
    }
}
