//! Whether a model is so small that a check of it is short and needs little memory.
//!
//! A program that has other tasks, such as the interpreter of a scripting language, checks small models itself and
//! others in a process of their own, which it can stop and whose memory it can limit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use masque_verdict::Why;

use crate::check::Limits;
use crate::explorer::explored;
use crate::helper_thread::on_large_stack;
use crate::load::{Loaded, Model};
use crate::portfolio::is_small as is_small_system;

/// Maximum number of states of a small protocol, transition system, or the worlds of a BDI file.
const MAX_SMALL_STATES: usize = 512;
/// Maximum estimated size of the texts and the data of a small model, in bytes.
const MAX_SMALL_BYTES: u64 = 16 << 20;
/// Time after which a model is not small.
const MAX_SMALL_TIME: Duration = Duration::from_millis(500);

impl Loaded {
    /// Whether the model is small. For an interpreted system: whether the explicit engine finds all states in its first
    /// turn, which is how every check with `--engine auto` begins; for other models, whether a search ends soon.
    ///
    /// ```
    /// use masque_driver::{Limits, load_text};
    /// let text = "des (0, 2, 2)\n(0, press, 1)\n(1, release, 0)\n";
    /// assert!(load_text("lamp.aut", text, &Default::default()).is_small(&Limits::default()));
    /// ```
    pub fn is_small(&self, limits: &Limits) -> bool {
        let soon = Instant::now() + MAX_SMALL_TIME;
        let deadline = Some(limits.deadline.map_or(soon, |deadline| deadline.min(soon)));
        let limits = Limits { deadline, ..limits.clone() };
        if self.bytes > MAX_SMALL_BYTES {
            return false;
        }
        match &self.model {
            None => true,
            Some(Model::Ispl(system)) => {
                let system = Arc::clone(system);
                on_large_stack(&limits, move |budget| Ok(is_small_system(&system, budget))).unwrap_or(false)
            }
            Some(_) => self.has_few_states(&limits).unwrap_or(false),
        }
    }

    fn has_few_states(&self, limits: &Limits) -> Result<bool, Why> {
        let Some(mut explorer) = self.explorer(MAX_SMALL_STATES + 1, limits)? else { return Ok(true) };
        let graph = explored(&mut *explorer, MAX_SMALL_STATES, limits)?;
        Ok(graph.cut.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, load_text};

    fn counter(last: u32) -> String {
        format!(
            "Agent A Vars: n : 0..{last}; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
             Evolution: n = n + 1 if n < {last}; end Evolution end Agent
             InitStates A.n = 0; end InitStates Formulae EF A.n = {last}; end Formulae"
        )
    }

    #[test]
    fn the_number_of_states_decides() {
        let is_small = |name: &str, text: &str| {
            let loaded = load_text(name, text, &Request::default());
            assert!(!loaded.has_errors(), "{text}");
            loaded.is_small(&Limits::default())
        };
        assert!(is_small("counter.ispl", &counter(100)));
        assert!(!is_small("counter.ispl", &counter(100_000)));
        let chain = |n: usize| {
            let steps: String = (0..n).map(|i| format!("({i}, a, {})\n", i + 1)).collect();
            format!("des (0, {n}, {})\n{steps}", n + 1)
        };
        assert!(is_small("chain.aut", &chain(100)));
        assert!(!is_small("chain.aut", &chain(1000)));
        assert!(is_small("coin.bdi", "agent a is loop p := any endloop property x: EF p;"));
    }
}
