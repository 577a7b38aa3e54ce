//! A check that begins with small stores of nodes and is repeated with the whole memory if they are full.
//!
//! A store has a fixed size ([`in_growing_stores`]). The repetition costs the time of the first attempt, which has
//! then filled a gigabyte.

use masque_model::{FormulaId, Property, System};
use masque_verdict::{
    Budget, CertificateRequest, Early, Encoded, Extent, Facts, NotCertified, Oracle, Outcome, Stats, Stop,
    Verdict, Why,
};

use crate::engine::Symbolic;
use crate::space::in_growing_stores;

/// An explored system whose stores may have less memory than the budget allows.
pub(crate) struct Growing<'s> {
    engine: Symbolic,
    system: &'s System,
    encoded: Box<dyn Encoded + 's>,
    /// Whether the stores have all the memory that the budget allows.
    is_full_size: bool,
}

impl<'s> Growing<'s> {
    /// Explores a system, in small stores first.
    pub(crate) fn explore(
        engine: &Symbolic,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        let n_spaces = engine.parallel.as_ref().map_or(1, |parallel| parallel.jobs);
        in_growing_stores(n_spaces, budget, is_out_of_memory, |attempt| {
            let encoded = engine.explore_within(system, early, attempt)?;
            let is_full_size = attempt.memory() == budget.memory();
            let growing: Box<dyn Encoded + 's> =
                Box::new(Growing { engine: engine.clone(), system, encoded, is_full_size });
            Ok(growing)
        })
    }

    /// Returns the result of a question. If the stores are full, asks it again in stores of full size.
    fn ask<T>(
        &mut self,
        budget: &Budget,
        is_full: impl Fn(&Result<T, Stop>) -> bool,
        question: impl Fn(&mut dyn Encoded) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let result = question(self.encoded.as_mut());
        if self.is_full_size || !is_full(&result) {
            return result;
        }
        self.encoded = self.engine.explore_within(self.system, &mut Early::deaf(), budget)?;
        self.is_full_size = true;
        question(self.encoded.as_mut())
    }
}

/// Whether a question failed because the stores are full.
fn is_out_of_memory<T>(result: &Result<T, Stop>) -> bool {
    matches!(result, Err(Stop { why: Why::Memory, .. }))
}

impl Encoded for Growing<'_> {
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
        self.ask(budget, is_out_of_memory, |encoded| encoded.facts(budget))
    }

    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
        let is_full = |result: &Result<Outcome, Stop>| {
            result.as_ref().is_ok_and(|outcome| outcome.verdict == Verdict::Unknown(Why::Memory))
        };
        self.ask(budget, is_full, |encoded| Ok(encoded.decide(property, budget)))
            .unwrap_or_else(Outcome::from)
    }

    fn verdict(&mut self, property: &Property, budget: &Budget) -> Verdict {
        let is_full = |result: &Result<Verdict, Stop>| matches!(result, Ok(Verdict::Unknown(Why::Memory)));
        self.ask(budget, is_full, |encoded| Ok(encoded.verdict(property, budget)))
            .unwrap_or_else(|stop| Verdict::Unknown(stop.why))
    }

    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        self.ask(budget, is_out_of_memory, |encoded| encoded.is_true_somewhere(formula, budget))
    }

    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
        self.ask(budget, is_out_of_memory, |encoded| encoded.extent(formula, budget))
    }

    fn certificate(
        &mut self,
        request: &CertificateRequest<'_>,
        budget: &Budget,
    ) -> Result<String, NotCertified> {
        let is_full = |result: &Result<Result<String, NotCertified>, Stop>| {
            matches!(result, Ok(Err(NotCertified::Stopped(Why::Memory))))
        };
        self.ask(budget, is_full, |encoded| Ok(encoded.certificate(request, budget)))?
    }

    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        self.encoded.oracle()
    }

    fn stats(&self) -> Stats {
        self.encoded.stats()
    }
}
