//! Random systems of three agents that use all constructs of the language.

use fastrand::Rng;

/// Returns a random system as text, and options from outside.
pub(crate) fn system(seed: u64) -> (String, Vec<(String, String)>) {
    let mut dice = Dice { rng: Rng::with_seed(seed), with_cycles: false, with_self: false };
    dice.with_cycles = dice.one_in(4);
    let mut text = String::new();
    for agent in ["a", "b", "c"] {
        text += &format!("agent {agent} is\n{}", dice.body(agent));
    }
    if dice.one_in(3) {
        let (pictured, observer) = if dice.one_in(2) { ("b", "a") } else { ("c", "b") };
        let pictured_as = if dice.one_in(2) { pictured.to_string() } else { format!("B({pictured})") };
        text += &format!("view {pictured_as} in {observer} is\n{}", dice.body(pictured));
    }
    for index in 0..4 {
        let (world, agent) =
            dice.pick(&[("a", "a"), ("b", "b"), ("a.B(b)", "b"), ("a.I(c)", "c"), ("top", "a")]);
        let initially = if dice.one_in(2) { " initially" } else { "" };
        let formula = dice.formula(agent, 3, true);
        text += &format!("property f{index}{initially} in {world}: {formula};\n");
    }
    text += &format!("check serial {}({}) in a;\n", dice.op(), dice.pick(&["b", "c"]));
    if !text.contains("view ") {
        text += &format!("check realism {} b in a;\n", dice.pick(&["strong", "plain", "weak"]));
    }
    let mut options = Vec::new();
    let mut option = |name: &str, value: &str| options.push((name.to_string(), value.to_string()));
    if dice.one_in(4) {
        option("totality", "strict");
    }
    if dice.one_in(4) {
        option("condition2", "infer");
    }
    if dice.one_in(4) {
        option("consistency", "on");
    }
    if dice.one_in(4) {
        option("delay", dice.pick(&["all", "go", "read"]));
    }
    if dice.with_cycles || dice.one_in(8) {
        option("nesting", dice.pick(&["2", "3", "4"]));
    }
    (text, options)
}

/// Returns a random system in which agents also have attitudes about themselves, as text, and options from outside.
pub(crate) fn self_system(seed: u64) -> (String, Vec<(String, String)>) {
    let mut dice = Dice { rng: Rng::with_seed(seed), with_cycles: false, with_self: true };
    let mut text = String::new();
    for agent in ["a", "b"] {
        text += &format!("agent {agent} is\n{}", dice.body(agent));
    }
    text += &format!("agent c is\n{}", Dice { with_self: false, ..dice.clone() }.body("c"));
    for index in 0..4 {
        let agent = dice.pick(&["a", "b"]);
        let initially = if dice.one_in(2) { " initially" } else { "" };
        let formula = dice.formula(agent, 3, true);
        text += &format!("property f{index}{initially} in {agent}: {formula};\n");
    }
    text += &format!("check serial {}(a) in a;\n", dice.op());
    let mut options = Vec::new();
    for (name, value) in
        [("totality", "strict"), ("condition2", "infer"), ("consistency", "on"), ("delay", "all")]
    {
        if dice.one_in(5) {
            options.push((name.to_string(), value.to_string()));
        }
    }
    (text, options)
}

/// Returns a system of [`self_system`] under `option self = paper`, with questions about the relations of `a` to itself
/// and about a view of `a`: a copy of its program, or another one.
pub(crate) fn paper_self_system(seed: u64) -> (String, Vec<(String, String)>) {
    let (mut text, mut options) = self_system(seed);
    let rng = Rng::with_seed(seed + 1_000_000);
    let mut dice = Dice { rng, with_cycles: false, with_self: true };
    let end = text.find("agent b is").unwrap_or_default();
    let own = text["agent a is\n".len()..end].to_string();
    let body = if dice.one_in(3) { dice.body("a") } else { own };
    text += &format!("view a in c is\n{body}");
    for index in 4..7 {
        let formula = dice.formula("a", 1, true);
        text += &format!("property f{index} in a: {}(a, {formula});\n", dice.op());
    }
    text += &format!("check realism {} a in a;\n", dice.pick(&["strong", "plain", "weak"]));
    text += "property less: subworld(c.B(a), a);\nproperty more: subworld(a, c.B(a));\n";
    options.push(("self".to_string(), "paper".to_string()));
    (text, options)
}

#[derive(Clone)]
struct Dice {
    rng: Rng,
    /// Whether agents may have attitudes about those before them and about themselves.
    with_cycles: bool,
    /// Whether agents may have attitudes about themselves.
    with_self: bool,
}

impl Dice {
    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(..n) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(..items.len())]
    }

    fn op(&mut self) -> &'static str {
        self.pick(&["B", "B", "D", "I"])
    }

    /// Returns the body of an agent or of a view of it. All have the same variables: `x`, `y`, a number and
    /// an enumeration.
    fn body(&mut self, agent: &str) -> String {
        let mut text = "  var x, y, n : 0..2, m : {lo, hi};\n".to_string();
        let mut explicit: Vec<String> = Vec::new();
        let mut assignable: Vec<String> = ["x", "y"].map(String::from).to_vec();
        let n_attitudes = if self.below(agent).is_empty() { 0 } else { self.rng.usize(..4) };
        for _ in 0..n_attitudes {
            let is_temporal = self.rng.bool();
            let atom = self.attitude(agent, 1, is_temporal);
            if !explicit.contains(&atom) {
                explicit.push(atom);
            }
        }
        for (index, atom) in explicit.iter().enumerate() {
            if index == 0 && self.one_in(6) {
                text += &format!("  bdi {atom} = x & n < 2;\n");
            } else {
                text += &format!("  bdi {atom};\n");
                assignable.push(atom.clone());
            }
        }
        if self.one_in(6) {
            text += &format!("  fair {};\n", self.pick(&["x", "!x | y", "n = 1", "true"]));
        }
        if self.one_in(2) {
            text += &format!("  init {};\n", self.assigns(agent, &assignable, true));
        }
        text + &self.program(agent, &assignable, 2) + "\n"
    }

    /// Returns the agents that an agent may have attitudes about.
    fn below(&mut self, agent: &str) -> Vec<&'static str> {
        match (agent, self.with_cycles) {
            (_, true) => vec!["a", "b", "c"],
            ("a", _) if self.with_self => vec!["a", "a", "b", "c"],
            ("b", _) if self.with_self => vec!["b", "c"],
            ("a", _) => vec!["b", "c"],
            ("b", _) => vec!["c"],
            _ => vec![],
        }
    }

    /// Whether a formula may have an attitude; with cycles only near its root, or most systems would exceed
    /// the nesting bound.
    fn may_nest(&mut self, agent: &str, depth: u32) -> bool {
        let is_deep_enough = depth >= 2 || !self.with_cycles;
        is_deep_enough && !self.below(agent).is_empty()
    }

    fn attitude(&mut self, agent: &str, depth: u32, is_temporal: bool) -> String {
        let below = self.below(agent);
        let about = self.pick(&below);
        format!("{}({about}, {})", self.op(), self.formula(about, depth, is_temporal))
    }

    fn program(&mut self, agent: &str, assignable: &[String], depth: u32) -> String {
        let body: Vec<String> =
            (0..1 + self.rng.usize(..3)).map(|_| self.choice(agent, assignable, depth)).collect();
        let body = body.join(";\n    ");
        if self.one_in(4) { format!("  {body}") } else { format!("  loop\n    {body}\n  endloop") }
    }

    fn choice(&mut self, agent: &str, assignable: &[String], depth: u32) -> String {
        let units: Vec<String> =
            (0..1 + self.rng.usize(..2)).map(|_| self.unit(agent, assignable, depth)).collect();
        units.join(" | ")
    }

    fn unit(&mut self, agent: &str, assignable: &[String], depth: u32) -> String {
        match self.rng.u32(..if depth == 0 { 6 } else { 10 }) {
            0 => "skip".to_string(),
            1 => format!("do {}", self.pick(&["go", "stop", "read(x)", "read(n)"])),
            2 if self.one_in(2) => "forall z in AP : z := !z".to_string(),
            2..=5 => self.assigns(agent, assignable, false),
            6..=7 => {
                let condition = self.formula(agent, 2, false);
                let then = self.unit(agent, assignable, 0);
                if self.one_in(2) {
                    format!("if {condition} then {{ {then} }}")
                } else {
                    let otherwise = self.unit(agent, assignable, depth - 1);
                    format!("if {condition} then {{ {then} }} else {{ {otherwise} }}")
                }
            }
            8 => {
                let inner: Vec<String> =
                    (0..self.rng.usize(..3)).map(|_| self.choice(agent, assignable, depth - 1)).collect();
                format!("{{ {} }}", inner.join("; "))
            }
            _ => format!("loop {} endloop", self.choice(agent, assignable, depth - 1)),
        }
    }

    fn assigns(&mut self, agent: &str, assignable: &[String], is_initial: bool) -> String {
        let one = |dice: &mut Dice| match dice.rng.u32(..8) {
            0 => format!("n := {}", dice.pick(&["0", "1", "any", "2 - n", "n"])),
            1 => format!("m := {}", dice.pick(&["lo", "hi", "any", "m"])),
            // Rarely an assignment that may leave the range.
            2 if dice.one_in(20) => "n := n + 1".to_string(),
            _ => {
                let target = assignable[dice.rng.usize(..assignable.len())].clone();
                let value = match dice.rng.u32(..8) {
                    0 | 1 => "any".to_string(),
                    2 if !is_initial => format!("({})", dice.formula(agent, 1, false)),
                    3..=5 => "true".to_string(),
                    _ => "false".to_string(),
                };
                format!("{target} := {value}")
            }
        };
        let assigns: Vec<String> = (0..1 + self.rng.usize(..2)).map(|_| one(self)).collect();
        assigns.join(", ")
    }

    /// Returns a formula of the world of an agent.
    fn formula(&mut self, agent: &str, depth: u32, is_temporal: bool) -> String {
        if depth == 0 {
            let atoms = ["x", "y", "x", "!y", "n > 0", "m = hi", "do go", "do read(x)", "true", "n + 1 = 2"];
            return self.pick(&atoms).to_string();
        }
        match self.rng.u32(..12) {
            0 => format!("!({})", self.formula(agent, depth - 1, is_temporal)),
            1..=3 => {
                let (f, g) = (
                    self.formula(agent, depth - 1, is_temporal),
                    self.formula(agent, depth - 1, is_temporal),
                );
                format!("(({f}) {} ({g}))", self.pick(&["&", "|", "->", "<->"]))
            }
            4 | 5 if is_temporal => {
                let op = self.pick(&["EX", "EF", "EG", "AX", "AF", "AG"]);
                format!("{op} ({})", self.formula(agent, depth - 1, true))
            }
            6 if is_temporal => {
                let (f, g) = (self.formula(agent, depth - 1, true), self.formula(agent, depth - 1, true));
                format!("{}[{f} {} {g}]", self.pick(&["E", "A"]), self.pick(&["U", "R", "W"]))
            }
            7..=9 if self.may_nest(agent, depth) => self.attitude(agent, depth - 1, true),
            _ => self.formula(agent, 0, is_temporal),
        }
    }
}
