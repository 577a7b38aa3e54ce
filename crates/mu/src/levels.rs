//! Levels of a formula, and priorities of its fixpoints.
//!
//! A *level* is a strongly connected component of the graph of nodes. A play can stay in a level forever
//! only if the level has equations; if these are all least or all greatest fixpoints, their sign decides
//! the play. So a formula is alternation free iff no level is mixed.
//!
//! Priorities follow the nesting of fixpoints within a level: the priority of an equation is at least that
//! of the equations inside it that depend on it, and greater if their sign differs [EJS01, Niwinski86].
//! They are computed by removing the outermost equation of a strongly connected component and
//! decomposing the rest into components again.

use masque_graph::Components;

use crate::formula::{Equation, FormulaNode, operands};
use crate::tree::Sign;

/// The signs of the equations of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// There are no equations on a cycle: no play stays on this level.
    Acyclic,
    /// All equations have this sign, which decides a play that stays.
    Uniform(Sign),
    /// Both signs occur: priorities decide a play that stays.
    Mixed,
}

/// Returns the level of each node, and the levels, lowest first.
pub(crate) fn levels(nodes: &[FormulaNode], equations: &[Equation]) -> (Vec<u32>, Vec<Level>) {
    let edges = edges(nodes, equations);
    let all: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut level_of = vec![0; nodes.len()];
    let mut levels = Vec::new();
    for part in Components::new(edges.len()).of(&edges, &all) {
        let mut level = Level::Acyclic;
        for &node in &part {
            level_of[node as usize] = levels.len() as u32;
            let FormulaNode::Variable(equation) = &nodes[node as usize] else { continue };
            let sign = equations[equation.0 as usize].sign;
            // A variable that is not on a cycle: no play returns to it.
            if part.len() == 1 && !edges[node as usize].contains(&node) {
                continue;
            }
            level = match level {
                Level::Acyclic => Level::Uniform(sign),
                Level::Uniform(other) if other == sign => level,
                _ => Level::Mixed,
            };
        }
        levels.push(level);
    }
    (level_of, levels)
}

/// Returns the priority of each equation: odd for `mu`, even for `nu`.
pub(crate) fn priorities(nodes: &[FormulaNode], equations: &[Equation]) -> Vec<u32> {
    let edges = edges(nodes, equations);
    // Outer equations have smaller numbers. `Raise` runs after all tasks for the equations inside.
    enum Task {
        Split(Vec<u32>),
        Raise { node: u32, inner: Vec<u32> },
    }
    let mut priority: Vec<u32> = equations.iter().map(|e| u32::from(e.sign == Sign::Mu)).collect();
    let mut components = Components::new(edges.len());
    let mut tasks = vec![Task::Split((0..nodes.len() as u32).collect())];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Split(part) => {
                for component in components.of(&edges, &part) {
                    let variable = |&node: &u32| match &nodes[node as usize] {
                        FormulaNode::Variable(equation) => Some((equation.0, node)),
                        _ => None,
                    };
                    let variables: Vec<(u32, u32)> = component.iter().filter_map(variable).collect();
                    let Some(&(_, outermost)) = variables.iter().min() else { continue };
                    let inner = variables.iter().map(|&(e, _)| e).collect();
                    tasks.push(Task::Raise { node: outermost, inner });
                    tasks.push(Task::Split(component.into_iter().filter(|&n| n != outermost).collect()));
                }
            }
            Task::Raise { node, inner } => {
                let FormulaNode::Variable(equation) = &nodes[node as usize] else { continue };
                let own = equation.0 as usize;
                let highest = inner.iter().map(|&e| priority[e as usize]).max().unwrap_or(0);
                priority[own] = highest + (highest + priority[own]) % 2;
            }
        }
    }
    priority
}

fn edges(nodes: &[FormulaNode], equations: &[Equation]) -> Vec<Vec<u32>> {
    let of = |node: &FormulaNode| {
        let mut targets = Vec::new();
        operands(node, equations, |target| targets.push(target.0));
        targets
    };
    nodes.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::formula;

    /// Priorities of the equations of each formula, outer equations first, and whether it is alternation free.
    #[test]
    fn priorities_follow_alternation() {
        let table: [(&str, &[u32], bool); 9] = [
            ("mu X. <->X", &[1], true),
            ("nu X. <->X && mu Y. <->Y", &[0, 1], true),
            ("nu X. mu Y. <a>X || <b>Y", &[2, 1], false),
            ("mu X. nu Y. mu Z. <a>X || <b>Y || <c>Z", &[3, 2, 1], false),
            ("mu X. nu Y. ([a]Y && mu Z. <b>Z) || <c>X", &[1, 0, 1], false),
            ("nu X. nu Y. mu Z. <a>X || <b>Y || <c>Z", &[2, 2, 1], false),
            ("nu X. (mu Y. <b>Y || <a>X) && (mu Z. <c>Z)", &[2, 1, 1], false),
            ("AG EF <a>tt", &[0, 1], true),
            ("mu X. nu Y. <a>Y", &[1, 0], true),
        ];
        for (text, expected, alternation_free) in table {
            let formula = formula(text);
            let found: Vec<u32> = formula.equations().iter().map(|e| e.priority).collect();
            assert_eq!(found, expected, "{text}");
            assert_eq!(formula.is_alternation_free(), alternation_free, "{text}");
        }
    }
}
