//! Random protocols and formulas as text, and shrinking of failing cases.

use fastrand::Rng;

const AGENTS: [&str; 3] = ["x", "y", "z"];

/// Writes random statements and formulas.
pub(crate) struct Writer {
    rng: Rng,
    n_agents: usize,
    lines: Vec<String>,
}

/// Makes a random instance, one statement per line.
pub(crate) fn instance(seed: u64) -> String {
    let mut writer = Writer { rng: Rng::with_seed(seed), n_agents: 2, lines: Vec::new() };
    writer.n_agents = 2 + usize::from(writer.chance(30));
    writer.options();
    let n_agents = writer.n_agents;
    for (agent, id) in AGENTS.into_iter().enumerate().take(n_agents) {
        let kind = if writer.chance(25) { "server" } else { "agent" };
        let role = writer.start_role(agent, true);
        writer.lines.push(format!("{kind} a({role}, {id})."));
        let clauses = 1 + usize::from(writer.chance(15));
        for _ in 0..clauses {
            let role = writer.start_role(agent, false);
            let body = writer.process(3, agent);
            writer.lines.push(format!("a({role}, I) :: {body}."));
        }
    }
    for role in ["q0", "q1(X)"] {
        let body = writer.process(2, 0);
        writer.lines.push(format!("a({role}, I) :: {body}."));
    }
    writer.knowledge();
    writer.policies();
    writer.lines.join("\n")
}

/// Makes a random instance of three agents that exchange many messages with little data, so that there are
/// many interleavings. An agent may enter the role `q`, and `w` is a choice.
pub(crate) fn talkers(seed: u64) -> String {
    let mut writer = Writer { rng: Rng::with_seed(seed), n_agents: 3, lines: Vec::new() };
    for (agent, id) in AGENTS.into_iter().enumerate() {
        let kind = if writer.chance(25) { "server" } else { "agent" };
        writer.lines.push(format!("{kind} a(p{agent}, {id})."));
        let end = match writer.rng.u32(0..4) {
            0 => format!(" then a(p{agent}, I)"),
            1 => " then a(q, I)".to_string(),
            _ => String::new(),
        };
        let body = writer.talk(2, AGENTS[(agent + 1) % 3], AGENTS[(agent + 2) % 3]);
        writer.lines.push(format!("a(p{agent}, I) :: {body}{end}."));
    }
    let body = writer.talk(1, "x", "y");
    writer.lines.push(format!("a(q, I) :: {body}."));
    writer.lines.push("choice w/0.".to_string());
    writer.lines.join("\n")
}

/// Ids of interchangeable agents.
const TWINS: [&str; 3] = ["k1", "k2", "k3"];

/// Makes a random instance with two or three agents that are interchangeable, sometimes except for one
/// statement.
pub(crate) fn twins(seed: u64) -> String {
    let mut writer = Writer { rng: Rng::with_seed(seed), n_agents: 2, lines: Vec::new() };
    let twins = &TWINS[..writer.rng.usize(2..4)];
    let kind = writer.pick(&["agent", "server"]);
    for twin in twins {
        writer.lines.push(format!("{kind} a(k, {twin})."));
        writer.lines.push(format!("know {twin}: me({twin})."));
        writer.lines.push(format!("common peer({twin})."));
    }
    let (body, end) = (writer.talk(2, "x", "J"), writer.pick(&["", " then null <- lucky", " then a(q, I)"]));
    writer.lines.push(format!("a(k, I) :: {body}{end}."));
    let kind = writer.pick(&["agent", "server"]);
    writer.lines.push(format!("{kind} a(p0, x)."));
    let (body, end) = (writer.talk(2, "J", "J"), writer.pick(&["", " then a(q, I)", " then a(p0, I)"]));
    writer.lines.push(format!("a(p0, I) :: {body}{end}."));
    let body = writer.talk(1, "x", "J");
    writer.lines.push(format!("a(q, I) :: {body}."));
    writer.lines.push("choice w/0.".to_string());
    if writer.chance(60) {
        let line = writer.pick(&[
            "know k1: lucky.",
            "know k2: lucky.",
            "common lucky.",
            "rule boss: (k1, _, -send(m0)).",
            "rule boss: (_, k2, -send(m1(_))).",
            "choice k2: lucky/0.",
            "mail a(p0, x) -> a(k, k1) : m0.",
            "now a(k, k2) :: m0 => a(p0, x).",
            "common peer(x).",
        ]);
        writer.lines.push(line.to_string());
    }
    writer.lines.join("\n")
}

impl Writer {
    /// Makes a process that sends and receives at most 2^`depth` messages.
    fn talk(&mut self, depth: u32, one: &str, two: &str) -> String {
        if depth > 0 && self.chance(85) {
            let op = self.pick(&["then", "then", "then", "or", "par"]);
            return format!("({} {op} {})", self.talk(depth - 1, one, two), self.talk(depth - 1, one, two));
        }
        let other = if self.chance(60) { one } else { two };
        let message = self.pick(&["m0", "m0", "m1(I)", "m1(J)"]);
        match self.rng.u32(0..12) {
            0..=4 => format!("{message} => a(_, {other})"),
            5..=8 => format!("{message} <= a(_, {})", self.pick(&["J", "_"])),
            9 => "null".to_string(),
            10 => format!("null <- {}", self.pick(&["w", "w", "lucky", "not lucky"])),
            _ => format!("{message} => a(_, J) <- {}", self.pick(&["peer(J)", "me(J)", "peer(J) and w"])),
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.rng.usize(0..items.len())]
    }

    fn options(&mut self) {
        for (name, values, percent) in [
            ("comm", &["sync"][..], 20),
            ("guards", &["fig9"], 25),
            ("conflict", &["permit", "report"], 30),
            ("roles", &["strict"], 25),
            ("cap", &["1", "2", "3"], 80),
            ("depth", &["1", "2"], 20),
            ("psize", &["20", "40"], 60),
        ] {
            if self.chance(percent) {
                let value = self.pick(values);
                self.lines.push(format!("option {name} = {value}."));
            }
        }
    }

    fn start_role(&mut self, agent: usize, is_ground: bool) -> String {
        match agent {
            1 if is_ground => "p1(c)".to_string(),
            1 => self.pick(&["p1(X)", "p1(c)", "p1(_)"]).to_string(),
            agent => format!("p{agent}"),
        }
    }

    /// Makes a role to which a message for an agent is addressed.
    fn address(&mut self, agent: usize) -> String {
        match self.rng.u32(0..10) {
            0 => "q0".to_string(),
            1 => "q1(_)".to_string(),
            2 => "_".to_string(),
            3 if agent == 1 => self.pick(&["p1", "p1(X)", "p1(_, _)"]).to_string(),
            _ if agent == 1 => "p1(_)".to_string(),
            _ => format!("p{agent}"),
        }
    }

    fn term(&mut self) -> String {
        match self.rng.u32(0..12) {
            0..=2 => "c".to_string(),
            3 => "d".to_string(),
            4 => "1".to_string(),
            5..=7 => "X".to_string(),
            8 => "Y".to_string(),
            9 => "_".to_string(),
            10 => format!("f({})", self.pick(&["X", "Y", "c"])),
            _ => self.pick(&["[X|Y]", "[]", "[c, X]"]).to_string(),
        }
    }

    fn message(&mut self) -> String {
        match self.rng.u32(0..3) {
            0 => "m0".to_string(),
            1 => format!("m1({})", self.term()),
            _ => format!("m2({}, {})", self.term(), self.term()),
        }
    }

    fn step(&mut self, agent: usize) -> String {
        let step = match self.rng.u32(0..10) {
            0 => "null".to_string(),
            1 => format!("a({}, I)", self.pick(&["q0", "q1(X)", "q1(c)", "q1(f(X))"])),
            number => {
                let others: Vec<usize> = (0..self.n_agents).filter(|other| *other != agent).collect();
                let other = others[self.rng.usize(0..others.len())];
                let role = self.address(other);
                let id = match self.rng.u32(0..4) {
                    0 => "J".to_string(),
                    _ => AGENTS[other].to_string(),
                };
                let arrow = if number % 2 == 0 { "=>" } else { "<=" };
                format!("{} {arrow} a({role}, {id})", self.message())
            }
        };
        if self.chance(45) { format!("{step} <- {}", self.guard()) } else { step }
    }

    fn process(&mut self, depth: u32, agent: usize) -> String {
        if depth == 0 || self.chance(15) {
            return self.step(agent);
        }
        let op = self.pick(&["then", "then", "then", "or", "or", "par"]);
        let (left, right) = (self.process(depth - 1, agent), self.process(depth - 1, agent));
        format!("({left} {op} {right})")
    }

    fn literal(&mut self) -> String {
        match self.rng.u32(0..14) {
            0..=3 => format!("p({})", self.term()),
            4 | 5 => format!("q({}, {})", self.term(), self.term()),
            6 => "w".to_string(),
            7 => format!("X = {}", self.term()),
            8 => format!("X {} {}", self.pick(&["\\=", "==", "\\==", "<", ">="]), self.term()),
            9 => format!("Y is {} + 1", self.pick(&["X", "1", "2 * 3"])),
            10 => format!(
                "({}, {}, +act({}))",
                self.pick(&["x", "A", "y"]),
                self.pick(&["_", "x"]),
                self.term()
            ),
            11 => format!("({}, _, -act({}))", self.pick(&["x", "A"]), self.term()),
            12 => format!("act({})", self.term()),
            _ => format!("v({})", self.term()),
        }
    }

    fn guard(&mut self) -> String {
        let literal = self.literal();
        match self.rng.u32(0..10) {
            0 => format!("not {literal}"),
            1 | 2 => format!("{literal} and {}", self.literal()),
            3 => format!("({literal} or {})", self.literal()),
            4 => format!("{literal} and not ({} and {})", self.literal(), self.literal()),
            _ => literal,
        }
    }

    fn owner(&mut self) -> String {
        match self.rng.u32(0..3) {
            0 => "common".to_string(),
            _ => format!("know {}:", AGENTS[self.rng.usize(0..self.n_agents)]),
        }
    }

    /// Writes facts without recursion: `q` depends on `e`, and `p` on both.
    fn knowledge(&mut self) {
        for _ in 0..self.rng.usize(1..4) {
            let owner = self.owner();
            let value = self.pick(&["x", "y", "c", "d", "1"]);
            self.lines.push(format!("{owner} e({value})."));
        }
        for _ in 0..self.rng.usize(0..4) {
            let owner = self.owner();
            let fact =
                self.pick(&["q(c, d)", "q(X, X) <- e(X)", "q(1, f(X))", "q(X, Y) <- e(X) and not e(Y)"]);
            self.lines.push(format!("{owner} {fact}."));
        }
        for _ in 0..self.rng.usize(0..4) {
            let owner = self.owner();
            let fact = self.pick(&[
                "p(c)",
                "p(X) <- q(X, _)",
                "p(f(X)) <- e(X) or q(X, X)",
                "p(X) <- w, e(X)",
                "p([X|_])",
                "p(X) <- (X, _, +act(c))",
            ]);
            self.lines.push(format!("{owner} {fact}."));
        }
        if self.chance(60) {
            let line = self.pick(&["choice w/0.", "choice x: w/0.", "choice v/1.", "choice y: act/1."]);
            self.lines.push(line.to_string());
        }
    }

    fn policies(&mut self) {
        for _ in 0..self.rng.usize(0..4) {
            let enforcer = self.pick(&["x", "y", "boss"]);
            let rule = self.pick(&[
                "(A, _, +act(X)) <- e(X)",
                "(self, B, +act(c))",
                "(A, _, -act(X)) <- e(A)",
                "(x, _, -act(d))",
                "(_, _, +p(X)) <- (x, _, +act(X))",
                "(A, A, -p(c)) <- e(A)",
                "(_, _, -q(X, X)) <- not X = d",
                "(A, y, -send(m0))",
                "(x, _, +send(m1(c)))",
                "(_, B, +send(_)) <- not e(B)",
                "(y, _, -receive(m1(X))) <- e(X)",
                "(A, _, +v(X)) <- e(X) or X = c",
            ]);
            self.lines.push(format!("rule {enforcer}: {rule}."));
        }
    }

    /// Makes a formula with alternating fixpoints over the variables `vars`.
    fn formula(&mut self, depth: u32, vars: &mut Vec<String>) -> String {
        if depth == 0 {
            return match self.rng.u32(0..6) {
                0 => "tt".to_string(),
                1 => self.pick(&["final", "deadlock", "!final"]).to_string(),
                2 => self.pick(&["done(x)", "idle(y)", "at(x, q0)", "at(y, p1(_))"]).to_string(),
                _ if !vars.is_empty() => vars[self.rng.usize(0..vars.len())].clone(),
                _ => format!("<{}>tt", self.pattern()),
            };
        }
        match self.rng.u32(0..10) {
            0 => format!("({} && {})", self.formula(depth - 1, vars), self.formula(depth - 1, vars)),
            1 => format!("({} || {})", self.formula(depth - 1, vars), self.formula(depth - 1, vars)),
            2 => format!("<{}>{}", self.pattern(), self.formula(depth - 1, vars)),
            3 => format!("[{}]{}", self.pattern(), self.formula(depth - 1, vars)),
            4 if vars.is_empty() => format!("inev({})", self.pattern()),
            5 => format!("{} ({})", self.pick(&["AG", "EF", "AF", "EG"]), self.formula(depth - 1, vars)),
            _ => {
                let name = format!("V{}", vars.len());
                let sign = self.pick(&["mu", "nu"]);
                vars.push(name.clone());
                let (pattern, body) = (self.pattern(), self.formula(depth - 1, vars));
                let text = match self.rng.u32(0..3) {
                    0 => format!("({sign} {name}. {body} || <{pattern}>{name})"),
                    1 => format!("({sign} {name}. {body} && [{pattern}]{name})"),
                    _ => format!("({sign} {name}. <{pattern}>{name} || [-]({body}))"),
                };
                vars.pop();
                text
            }
        }
    }

    /// Makes a formula about talkers and twins, of the shapes that reductions accept, and some others.
    fn insensitive(&mut self, depth: u32) -> String {
        if depth == 0 {
            let leaves = [
                "final",
                "!deadlock",
                "deadlock",
                "done(x)",
                "at(x, q)",
                "!at(x, q)",
                "idle(x)",
                // These can be true only because a step is still pending.
                "(at(x, q) && <->tt)",
                "(!at(x, q) || [-]ff)",
                "(done(x) && <->tt)",
                "(!done(x) || [-]ff)",
                "(at(x, q) && mu Y. <->tt && [in(_)]Y)",
                "(!done(x) || nu Y. [-]ff || <in(m0)>Y)",
                // Actions that are offered.
                "<#(w)>tt",
                "[#(w)]ff",
                "<out(m0)@x>tt",
                "<in(m0)>tt",
                "<#(lucky)>tt",
                "[in(_)@x]ff",
            ];
            return self.pick(&leaves).to_string();
        }
        let (inner, one, two) = (self.insensitive(depth - 1), self.event(), self.event());
        let receipt = self.pick(&["in(m0)", "in(m1(_))@x", "in(_)"]);
        match self.rng.u32(0..20) {
            0 | 17 => format!("AG ({inner})"),
            1 | 18 => format!("EF ({inner})"),
            2 | 19 => format!("AF ({inner})"),
            3 => format!("EG ({inner})"),
            4 => format!("inev({one})"),
            5 => format!("resp({one}, {two})"),
            6 => format!("<({one})* . {two}>({inner})"),
            7 => format!("[(-{one})* . {two}]({inner})"),
            8 => format!("<{one}>({inner})"),
            9 => format!("[{one}]({inner})"),
            10 => format!("(nu X. mu Y. <{one}>X || <-{one}>Y || {inner})"),
            11 => format!("(mu X. nu Y. <{one}>X || <-{one}>Y)"),
            12 => format!("(nu X. mu Y. [{one}]X && [-{one}]Y)"),
            13 => format!("(mu Y. <->tt && [{receipt}]Y)"),
            14 => format!("(nu Y. [-]ff || <{receipt}>Y)"),
            _ => format!("({inner} {} {})", self.pick(&["&&", "||"]), self.insensitive(depth - 1)),
        }
    }

    /// Makes a pattern for the actions of talkers and twins.
    fn event(&mut self) -> String {
        self.pick(&[
            "-",
            "in(m0)",
            "in(m1(_))",
            "in(_)@x",
            "out(m0)",
            "out(_)@x",
            "out(m1(x))",
            "#(w)",
            "#(not w)",
            "#(lucky)",
            "#",
            "#@x",
            "in(_, a(_, x))",
            "{in(m0), out(m1(_))}",
        ])
        .to_string()
    }

    fn pattern(&mut self) -> String {
        let one = match self.rng.u32(0..9) {
            0 | 1 => "-".to_string(),
            2 => "#".to_string(),
            3 => format!("#({})", self.pick(&["p(_)", "not p(X)", "w", "X = c", "q(X, X)"])),
            4 => "tau".to_string(),
            number => {
                let kind = if number % 2 == 0 { "in" } else { "out" };
                let message = self.pick(&["m0", "m1(_)", "m1(c)", "m2(X, X)", "_"]);
                let peer = self.pick(&["", "", ", a(_, y)", ", a(p1(_), _)", ", _"]);
                let by = self.pick(&["", "", "@x", "@a(p1(_), y)", "@W"]);
                format!("{kind}({message}{peer}){by}")
            }
        };
        if one != "-" && self.chance(20) { format!("-{one}") } else { one }
    }
}

/// Makes random statements that an update of a random instance may add.
pub(crate) fn statements(seed: u64, n_agents: usize) -> Vec<String> {
    let mut writer = Writer { rng: Rng::with_seed(seed), n_agents, lines: Vec::new() };
    writer.knowledge();
    writer.policies();
    let n = writer.rng.usize(1..4);
    writer.rng.shuffle(&mut writer.lines);
    writer.lines.truncate(n);
    writer.lines
}

/// Makes a random formula about random instances.
pub(crate) fn formula(seed: u64) -> String {
    let mut writer = Writer { rng: Rng::with_seed(seed), n_agents: 2, lines: Vec::new() };
    let depth = writer.rng.u32(1..5);
    writer.formula(depth, &mut Vec::new())
}

/// Makes a random formula about talkers and twins. Apart from its patterns, it does not depend on the number
/// of steps.
pub(crate) fn insensitive(seed: u64) -> String {
    let mut writer = Writer { rng: Rng::with_seed(seed), n_agents: 2, lines: Vec::new() };
    let depth = writer.rng.u32(2..8) / 2;
    writer.insensitive(depth)
}

/// Removes lines from a failing text as long as it still fails.
pub(crate) fn shrink(text: &str, fails: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let mut index = 0;
    while index < lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(index);
        if fails(&fewer.join("\n")) {
            lines = fewer;
            index = 0;
        } else {
            index += 1;
        }
    }
    lines.join("\n")
}
