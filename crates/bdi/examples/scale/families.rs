//! Families of BDI files of growing size.

use std::fmt::Write;

/// `a` reads `n` variables and assigns their values to `n` beliefs about `b`, which has `n` variables: 2^n
/// sets of attitudes on one edge.
pub fn attitudes(n: usize) -> String {
    let list = |one: &dyn Fn(usize) -> String, separator: &str| -> String {
        (1..=n).map(one).collect::<Vec<_>>().join(separator)
    };
    let xs = list(&|i| format!("x{i}"), ", ");
    let ys = list(&|i| format!("y{i}"), ", ");
    let read_ys = list(&|i| format!("y{i} := any"), ", ");
    let believe = list(&|i| format!("B(b, y{i}) := x{i}"), ", ");
    let all = list(&|i| format!("y{i}"), " & ");
    let some = list(&|i| format!("y{i}"), " | ");
    let each = list(&|i| format!("B(b, y{i})"), " & ");
    format!(
        "agent a is\n  var {xs};\n  loop do read({xs}); {believe} endloop\n\
         agent b is\n  var {ys};\n  init {read_ys};\n  loop do read({ys}) endloop\n\
         property closed: B(b, {all}) <-> {each};\n\
         property weaker: B(b, y1) -> B(b, {some});\n\
         property reach initially: EF B(b, {all});\n\
         property stays: AG (B(b, y1) -> B(b, AX true));\n\
         property lacks: B(b, {some});\n"
    )
}

/// Like [`attitudes`], but each belief is about two neighbouring variables. One belief may imply another, so
/// incoherent states are removed.
pub fn entangled(n: usize) -> String {
    let ys: Vec<String> = (0..=n).map(|i| format!("y{i}")).collect();
    let any: Vec<String> = ys.iter().map(|y| format!("{y} := any")).collect();
    let mut believe = Vec::new();
    for i in 0..n {
        believe.push(format!("B(b, y{i} | y{}) := any", i + 1));
    }
    believe.push("B(b, y0) := any".to_string());
    format!(
        "agent a is\n  init {0};\n  loop {0} endloop\nagent b is\n  var {1};\n  init {2};\n  loop {2} endloop\n\
         property closed: B(b, y0) -> B(b, y0 | y1);\nproperty free initially: EF !B(b, y0);\n",
        believe.join(", "),
        ys.join(", "),
        any.join(", ")
    )
}

/// Returns a chain of `depth` worlds, each with `n` variables and `n` beliefs about the one below.
pub fn chain(depth: usize, n: usize) -> String {
    let mut text = String::new();
    for level in 0..depth {
        let xs: Vec<String> = (1..=n).map(|i| format!("x{i}")).collect();
        let mut assigns: Vec<String> = xs.iter().map(|x| format!("{x} := any")).collect();
        if level + 1 < depth {
            assigns.extend((1..=n).map(|i| format!("B(w{}, x{i}) := any", level + 1)));
        }
        let assigns = assigns.join(", ");
        _ = writeln!(text, "agent w{level} is\n  init {assigns};\n  loop {assigns} endloop");
    }
    let nested = |f: &str| (1..depth).rev().fold(f.to_string(), |f, level| format!("B(w{level}, {f})"));
    _ = writeln!(text, "property deep: {} <-> {};", nested("x1 & x2"), nested("x2 & x1"));
    _ = writeln!(text, "property strong initially: EF {};", nested("x1"));
    text
}

/// Returns three numbers up to `side - 1`, one of which changes in each step: `side`^3 states.
pub fn grid(side: usize) -> String {
    let top = side - 1;
    let go = |x: &str| format!("{{ if {x} < {top} then {x} := {x} + 1 else {x} := 0 }}");
    format!(
        "agent a is\n  var x : 0..{top}, y : 0..{top}, z : 0..{top};\n  loop {} | {} | {} endloop\n\
         property corner initially: EF (x = {top} & y = {top} & z = {top});\n\
         property back: EF (x = 0 & y = 0 & z = 0);\nproperty stuck: AF x = {top};\n",
        go("x"),
        go("y"),
        go("z")
    )
}

/// Returns a number that counts to `n - 1` and starts again: a cycle of `n` states.
pub fn counter(n: usize) -> String {
    let top = n - 1;
    format!(
        "agent a is\n  var x : 0..{top};\n  loop if x < {top} then x := x + 1 else x := 0 endloop\n\
         property again: EF x = 0;\n"
    )
}
