//! Memory of a loaded model: what an engine finds already in use when it starts.

use masque_model::{Expr, Protocol, System};

use crate::check::Limits;
use crate::load::{Loaded, Model};

/// Bytes of a loaded model that no limit counts, so that limits mean the same for all small models.
const FREE_BYTES: u64 = 1 << 20;
/// Bytes of an expression or formula, with its entry in the table of known ones.
const NODE_BYTES: usize = 40;
/// Bytes of an operand in a list of operands.
const OPERAND_BYTES: usize = 4;
/// Bytes of a name with its allocation.
const NAME_BYTES: usize = 48;

impl Limits {
    /// The limits that remain for an engine once a model is loaded: the model counts against the memory limit.
    pub fn after_loading(&self, loaded: &Loaded) -> Limits {
        let used = loaded.bytes.saturating_sub(FREE_BYTES);
        Limits { model_bytes: used, ..self.clone() }
    }
}

/// Estimate of the memory of a loaded model and its texts. For an interpreted system its parts are counted,
/// because loops in the text may expand to much more than the text. For other models it is the estimate that was
/// charged while they were read.
pub(crate) fn of(loaded: &Loaded) -> u64 {
    match &loaded.model {
        Some(Model::Ispl(system)) => loaded.sources.bytes() + of_system(system) as u64,
        _ => loaded.sources.limits().bytes(),
    }
}

fn of_system(system: &System) -> usize {
    let operands = |id| match system.exprs.get(id) {
        Expr::And(list) | Expr::Or(list) | Expr::Xor(list) | Expr::Sum(list) | Expr::Product(list) => {
            list.len()
        }
        _ => 0,
    };
    let n_operands: usize = system.exprs.ids().map(operands).sum();
    let n_nodes = system.exprs.len() + system.formulas.len();
    let n_names = system.variables.len() + system.propositions.len() + 2 * system.properties.len();
    let agents: usize = system.agents.iter().map(of_agent).sum();
    n_nodes * NODE_BYTES + n_operands * OPERAND_BYTES + n_names * (NAME_BYTES + 64) + agents
}

fn of_agent(agent: &masque_model::Agent) -> usize {
    let lines: usize = agent.evolution.iter().map(|line| 48 + 8 * line.assignments.len()).sum();
    let protocol = match &agent.protocol {
        Protocol::Unconstrained => 0,
        Protocol::Lines { lines, .. } => lines.iter().map(|line| 48 + 4 * line.actions.len()).sum(),
    };
    let ids = agent.variables.len() + agent.sees.len();
    size_of_val(agent) + lines + protocol + agent.actions.len() * NAME_BYTES + 4 * ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, load_text};

    /// A model counts against the memory limit, except for its first mebibyte.
    #[test]
    fn a_large_model_leaves_less_memory() {
        let text = "Agent A Vars: x : boolean; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
            Evolution: x = !x if x; end Evolution end Agent Evaluation p if A.x; end Evaluation
            InitStates A.x; end InitStates Formulae AG p; end Formulae";
        let limits = Limits { memory: Some(10 << 20), ..Limits::default() };
        let small = load_text("m.ispl", text, &Request::default());
        assert!(small.bytes > text.len() as u64 && small.bytes < 4096, "{}", small.bytes);
        assert_eq!(limits.after_loading(&small).model_bytes, 0);
        let comment = format!("-- {}\n", "x".repeat(4 << 20));
        let large = load_text("m.ispl", &(text.to_string() + &comment), &Request::default());
        let left = limits.after_loading(&large).allowed_memory().unwrap();
        assert!((6 << 20..7 << 20).contains(&left), "{left}");
        let tight = Limits { memory: Some(2 << 20), ..Limits::default() };
        assert_eq!(tight.after_loading(&large).allowed_memory(), Some(0));
    }

    /// Loops count with what they expand to.
    #[test]
    fn loops_count_as_expanded() {
        let bytes = |n: u32| {
            let text = format!(
                "Agent A Vars: x[i in 1..{n}] : boolean; end Vars Actions = {{a}};
                 Protocol: Other : {{a}}; end Protocol
                 Evolution: for i in 1..{n} {{ x[i] = !x[i] if x[i]; }} end Evolution end Agent
                 Evaluation p if A.x[1]; end Evaluation
                 InitStates forall(i in 1..{n} : A.x[i]); end InitStates Formulae AG p; end Formulae"
            );
            let loaded = load_text("m.ispl", &text, &Request::default());
            assert!(loaded.model.is_some(), "{:?}", loaded.diagnostics);
            loaded.bytes
        };
        let (small, large) = (bytes(1000), bytes(10_000));
        assert!(large > 9 * small && large < 11 * small, "{small} {large}");
    }
}
