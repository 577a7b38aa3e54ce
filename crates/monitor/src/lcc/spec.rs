//! What is monitored: goals, other properties, obligations, and which steps are observable.

use masque_lcc::tree::Obligation;
use masque_lcc::{FollowedObligation, System};
use masque_mu::tree::{Pattern, Phi};
use masque_mu::{Formula, LabelSet, Property, Vocabulary, parse_pattern, resolve};
use masque_text::{Diagnostic, Sources, Span};

use super::goals::{GoalForm, Target};
use super::truths::Question;

/// Limits on what a monitor follows. What lies beyond them is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of possible runs, as far as they differ.
    pub runs: usize,
    /// Maximum number of obligation instances per run.
    pub instances: usize,
    /// Size, in bytes, of the shared states and results above which those are discarded that no session needs.
    pub cache: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { runs: 10_000, instances: 1_000, cache: 64 << 20 }
    }
}

/// A goal.
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) name: String,
    pub(super) target: GoalTarget,
    /// Index of the question whether it is certain, and of the one whether it is possible.
    pub(super) certain: usize,
    pub(super) possible: usize,
}

/// What a goal wants to reach.
#[derive(Debug)]
pub(super) enum GoalTarget {
    /// A state in which the formula of this question is true.
    State(usize),
    Step(LabelSet),
}

/// What is monitored.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) goals: Vec<Goal>,
    /// Name and question of each property that is not a goal.
    pub(super) facts: Vec<(String, usize)>,
    pub(super) obligations: Vec<FollowedObligation>,
    pub(super) observable: LabelSet,
    pub(super) bounds: Bounds,
}

/// Reads what is monitored.
pub(super) struct Reader<'s> {
    pub(super) sources: &'s Sources,
    pub(super) system: &'s mut System,
    pub(super) questions: Vec<Question>,
}

impl Reader<'_> {
    pub(super) fn spec(
        &mut self,
        properties: &[Property],
        obligations: &[Obligation],
        observable: &[Span],
        bounds: Bounds,
    ) -> Result<Spec, Vec<Diagnostic>> {
        let observable = self.observable(observable)?;
        let (mut goals, mut facts) = (Vec::new(), Vec::new());
        // The obligations are followed by instance, and their properties have no text.
        for property in properties.iter().filter(|property| property.source.written.is_some()) {
            match GoalForm::of(&property.source.phi) {
                Some(form) => goals.push(self.goal(property, &form)?),
                None => {
                    facts.push((property.source.name.text.clone(), self.question(property.formula.clone())));
                }
            }
        }
        let obligations = FollowedObligation::read_all(obligations, self.sources, self.system);
        Ok(Spec { goals, facts, obligations, observable, bounds })
    }

    fn goal(&mut self, property: &Property, form: &GoalForm) -> Result<Goal, Vec<Diagnostic>> {
        let possible = form.possible(property.source.phi.span);
        let possible = self.formula(&possible)?;
        let possible = self.question(possible);
        let certain = if form.is_inevitable { self.question(property.formula.clone()) } else { possible };
        let target = match &form.target {
            Target::State(phi) => {
                let formula = self.formula(phi)?;
                GoalTarget::State(self.question(formula))
            }
            Target::Step(pattern) => GoalTarget::Step(self.label_set(pattern)?),
        };
        Ok(Goal { name: property.source.name.text.clone(), target, certain, possible })
    }

    fn question(&mut self, formula: Formula) -> usize {
        self.questions.push(Question::new(formula));
        self.questions.len() - 1
    }

    fn formula(&mut self, phi: &Phi) -> Result<Formula, Vec<Diagnostic>> {
        let (formula, diagnostics) = resolve(phi, self.system);
        formula.ok_or(diagnostics)
    }

    fn label_set(&mut self, pattern: &Pattern) -> Result<LabelSet, Vec<Diagnostic>> {
        LabelSet::read(pattern, self.system).map_err(|diagnostic| vec![diagnostic])
    }

    /// Reads the patterns of observable steps. Without any, the observable steps are the messages that are sent.
    fn observable(&mut self, patterns: &[Span]) -> Result<LabelSet, Vec<Diagnostic>> {
        if patterns.is_empty() {
            let sent = self.system.pattern("out(_)", Span { start: 0, end: 0 });
            return Ok(LabelSet::Is(sent.map_err(|diagnostic| vec![diagnostic])?));
        }
        let mut sets = Vec::new();
        for span in patterns {
            let (pattern, diagnostics) = parse_pattern(self.sources, *span);
            match pattern {
                Some(pattern) if !diagnostics.iter().any(Diagnostic::is_error) => {
                    sets.push(self.label_set(&pattern)?);
                }
                _ => return Err(diagnostics),
            }
        }
        Ok(LabelSet::Either(sets))
    }
}
