//! Random formulas for the tests of printing and layout.

use fastrand::Rng;

/// Returns an expression of any form, well typed or not, with brackets around all operands.
pub(crate) fn expression(random: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        let leaves = ["p", "U", "A", "B", "blind", "unless", "in", "true", "false", "7", "f()", "f(p, 0)"];
        return leaves[random.usize(..leaves.len())].to_string();
    }
    let part = |random: &mut Rng| format!("({})", expression(random, depth - 1));
    let chain = |random: &mut Rng, sign: &str| {
        let parts: Vec<String> = (0..random.usize(2..4)).map(|_| part(random)).collect();
        parts.join(sign)
    };
    match random.u32(..17) {
        0 => expression(random, 0),
        1 | 2 => format!("!{}", part(random)),
        3 => chain(random, " & "),
        4 => chain(random, " | "),
        5 => chain(random, " -> "),
        6 => chain(random, " <-> "),
        7 | 8 => {
            let sign = ["=", "!=", "<", "<=", ">", ">="][random.usize(..6)];
            format!("{} {sign} {}", part(random), part(random))
        }
        9 => format!("-{}", part(random)),
        10 => {
            let (a, b) = (part(random), part(random));
            format!("{}{a} {} {b}", ["", "-"][random.usize(..2)], ["+", "-"][random.usize(..2)])
        }
        11 => format!("{} {}", ["EX", "EF", "EG", "AX", "AF", "AG"][random.usize(..6)], part(random)),
        12 => {
            let op = ["U", "R", "W"][random.usize(..3)];
            format!("{}[{} {op} {}]", ["E", "A"][random.usize(..2)], part(random), part(random))
        }
        13 => {
            let op = ["B", "D", "I", "PB", "PD", "PI"][random.usize(..6)];
            format!("{op}(a, {})", expression(random, depth - 1))
        }
        14 => format!("do act({})", expression(random, depth - 1)),
        15 => {
            let word = ["blind", "single_minded", "open_minded"][random.usize(..3)];
            format!("{word} I(a, {})", expression(random, depth - 1))
        }
        _ => format!("persistent I(a, {}) unless {}", expression(random, depth - 1), part(random)),
    }
}
