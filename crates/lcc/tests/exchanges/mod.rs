//! Random protocols whose messages contain variables, and random obligations.

use fastrand::Rng;

/// The agents of all random protocols.
const AGENTS: [&str; 3] = ["x", "y", "z"];

fn pick<'a>(rng: &mut Rng, items: &[&'a str]) -> &'a str {
    items[rng.usize(0..items.len())]
}

/// Replaces the kind of communication of a text.
pub(crate) fn with_comm(text: &str, comm: &str) -> String {
    let others = text.lines().filter(|line| !line.starts_with("option comm"));
    others.chain([format!("option comm = {comm}.").as_str()]).collect::<Vec<_>>().join("\n")
}

/// Makes a protocol whose agents send and receive terms with unbound variables, in roles with arguments, with
/// constraints that bind some of these variables.
pub(crate) fn protocol(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut lines = Vec::new();
    for (agent, id) in AGENTS.iter().enumerate() {
        let kind = pick(&mut rng, &["agent", "agent", "server"]);
        let argument = pick(&mut rng, &["V", "c", "_"]);
        lines.push(format!("{kind} a(p{agent}({argument}), {id})."));
        let steps: Vec<String> = (0..rng.usize(1..4)).map(|_| step(&mut rng, agent)).collect();
        let joined = steps.join(pick(&mut rng, &[" then ", " then ", " or ", " par "]));
        let again = if rng.u32(0..4) == 0 { format!(" then a(p{agent}(Z), I)") } else { String::new() };
        lines.push(format!("a(p{agent}(Z), I) :: ({joined}){again}."));
    }
    lines.push("common open(_).".to_string());
    lines.push("common val(2). common val(c).".to_string());
    lines.push("common both(X, X).".to_string());
    lines.push("choice w/0.".to_string());
    for (option, values) in
        [("guards", ["lcc", "fig9"]), ("roles", ["lenient", "strict"]), ("cap", ["2", "3"])]
    {
        let value = pick(&mut rng, &values);
        lines.push(format!("option {option} = {value}."));
    }
    if rng.u32(0..3) == 0 {
        let rule = pick(
            &mut rng,
            &["(A, y, +send(n(A)))", "(A, B, -send(n(B)))", "(_, _, +receive(n(2)))", "(A, A, -receive(_))"],
        );
        lines.push(format!("rule x: {rule}."));
    }
    lines.join("\n")
}

fn step(rng: &mut Rng, agent: usize) -> String {
    let other = (agent + rng.usize(1..3)) % 3;
    let message = match rng.u32(0..4) {
        0 => "m".to_string(),
        1 | 2 => format!("n({})", pick(rng, &["Z", "U", "2", "c", "f(U)", "I"])),
        _ => format!("k({}, {})", pick(rng, &["Z", "U", "2"]), pick(rng, &["U", "W", "_", "c"])),
    };
    let role = match rng.u32(0..5) {
        0 => "_".to_string(),
        1 => format!("p{other}({})", pick(rng, &["2", "U", "c"])),
        2 => format!("p{other}(_, _)"),
        _ => format!("p{other}(_)"),
    };
    let id = if rng.u32(0..3) == 0 { pick(rng, &["J", "U"]) } else { AGENTS[other] };
    let arrow = pick(rng, &["=>", "=>", "<="]);
    let guard = match rng.u32(0..6) {
        0 => " <- open(U)",
        1 => " <- val(U) and open(Z)",
        2 => " <- both(U, Z)",
        3 => " <- w",
        _ => "",
    };
    match rng.u32(0..12) {
        0 => format!("null{guard}"),
        _ => format!("{message} {arrow} a({role}, {id}){guard}"),
    }
}

/// Makes a dialogue: each message that an agent sends is awaited by another agent, in the same order. Some
/// variables of messages are unbound, and sometimes the sender may make an internal step instead.
pub(crate) fn dialogue(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut steps: [Vec<String>; 3] = Default::default();
    for turn in 0..rng.usize(2..6) {
        let from = rng.usize(0..3);
        let to = (from + rng.usize(1..3)) % 3;
        let [sent, taken] = [
            ["m0", "m0"],
            ["m1(c)", "m1(_)"],
            ["m1(U)", "m1(c)"],
            ["m1(U)", "m1(_)"],
            ["m2(c, d)", "m2(_, _)"],
            ["m2(U, U)", "m2(c, _)"],
            ["n(2)", "n(_)"],
            ["n(I)", "n(_)"],
            ["n(U)", "n(2)"],
            ["k(U, 2)", "k(_, _)"],
        ][rng.usize(0..10)]
        .map(|text| text.replace('U', &format!("U{turn}")));
        let receiver = if rng.u32(0..3) == 0 { format!("J{turn}") } else { AGENTS[to].to_string() };
        let guard = pick(&mut rng, &["", "", "", " <- open(I)", " <- w"]);
        let sending = format!("{sent} => a(p{to}(_), {receiver}){guard}");
        steps[from].push(match rng.u32(0..6) {
            0 => format!("({sending} or null <- w)"),
            _ => sending,
        });
        let guard = pick(&mut rng, &["", "", "", " <- open(I)"]);
        steps[to].push(format!("{taken} <= a(p{from}(_), {}){guard}", AGENTS[from]));
    }
    let mut lines = vec!["common open(_).".to_string(), "choice w/0.".to_string()];
    for (agent, steps) in steps.iter().enumerate() {
        let body = if steps.is_empty() { "null".to_string() } else { steps.join(" then ") };
        let again = if rng.u32(0..5) == 0 { format!(" then a(p{agent}(Z), I)") } else { String::new() };
        lines.push(format!("agent a(p{agent}(c), {}).", AGENTS[agent]));
        lines.push(format!("a(p{agent}(Z), I) :: {body}{again}."));
    }
    lines.join("\n")
}

/// Makes an obligation about the actions of `random::instance`, `random::talkers` and `protocol`.
pub(crate) fn obligation(rng: &mut Rng) -> String {
    let enforcer = pick(rng, &["x", "boss"]);
    let subject = match (enforcer, rng.u32(0..8)) {
        ("x", 0) => "self",
        (_, 1) => "S",
        (_, 2) => "_",
        (_, 3) => pick(rng, &["a(p0(_), x)", "a(p0, S)", "a(R, y)"]),
        _ => pick(rng, &["x", "y"]),
    };
    let object = pick(rng, &["_", "_", "x", "y", "O", "S", "z", "a(_, y)", "a(p0(_), O)"]);
    let message = message(rng);
    let action = match rng.u32(0..5) {
        0 | 1 => format!("send({message})"),
        2 | 3 => format!("receive({message})"),
        _ => pick(rng, &["w", "open(_)", "val(X)", "p(_)", "peer(S)", "q(X, X)"]).to_string(),
    };
    let shares = rng.bool();
    let after = pattern(rng, shares);
    let until = if rng.u32(0..3) == 0 { format!(" until {}", pattern(rng, shares)) } else { String::new() };
    format!("rule {enforcer}: ({subject}, {object}, !{action}) after {after}{until}.")
}

/// Picks a message for an obligation or a pattern.
fn message(rng: &mut Rng) -> &'static str {
    pick(
        rng,
        &[
            "_", "_", "M", "m0", "m0", "m1(_)", "m1(c)", "m1(S)", "m1(O)", "m2(X, X)", "m2(X, _)", "m", "m",
            "n(_)", "n(2)", "n(c)", "n(S)", "n(f(_))", "k(X, X)", "k(_, 2)",
        ],
    )
}

/// Makes a pattern, which may share variables with obligations.
fn pattern(rng: &mut Rng, shares: bool) -> String {
    let one = |rng: &mut Rng| {
        let mut message = message(rng).to_string();
        let mut peer =
            pick(rng, &["", "", "", ", a(_, y)", ", a(p0(_), _)", ", _", ", a(_, O)", ", a(_, S)"])
                .to_string();
        let mut by = pick(rng, &["", "", "@x", "@y", "@a(p1(_), y)", "@S", "@O", "@a(R, S)"]).to_string();
        if !shares {
            let texts = [&mut message, &mut peer, &mut by];
            texts.into_iter().for_each(|text| *text = text.replace(['S', 'O', 'X', 'M', 'R'], "V"));
        }
        match rng.u32(0..10) {
            0 => "-".to_string(),
            1 => format!("#{by}"),
            2 => format!("#({}){by}", pick(rng, &["w", "p(_)", "open(_)", "val(c)", "val(X)", "q(X, _)"])),
            3 => format!("tau({message}, a(_, x), a(R, _))"),
            number if number % 2 == 0 => format!("in({message}{peer}){by}"),
            _ => format!("out({message}{peer}){by}"),
        }
    };
    match rng.u32(0..6) {
        0 => format!("{{{}, {}}}", one(rng), one(rng)),
        1 => format!("-{}", one(rng)).replace("--", "-"),
        _ => one(rng),
    }
}

/// Makes a protocol of one to three agents whose processes have nested parallel parts, which may exchange
/// messages with each other and with other agents.
pub(crate) fn parallel_parts(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let n_agents = rng.usize(1..4);
    let mut lines = vec!["option comm = sync.".to_string()];
    for (agent, id) in AGENTS.iter().enumerate().take(n_agents) {
        let kind = pick(&mut rng, &["agent", "agent", "server"]);
        lines.push(format!("{kind} a(p{agent}({}), {id}).", pick(&mut rng, &["V", "c"])));
        if rng.u32(0..4) == 0 {
            lines.push(format!("{kind} a(q(c), {id})."));
        }
        let depth = rng.u32(1..4);
        let again = if rng.u32(0..5) == 0 { format!(" then a(p{agent}(Z), I)") } else { String::new() };
        lines.push(format!("a(p{agent}(Z), I) :: {}{again}.", parts(&mut rng, depth, agent, n_agents)));
    }
    let body = parts(&mut rng, 1, 0, n_agents);
    lines.push(format!("a(q(Z), I) :: {body}."));
    for line in ["common open(_).", "common val(2). common val(c).", "common both(X, X).", "choice w/0."] {
        lines.push(line.to_string());
    }
    for (option, values) in [
        ("guards", ["lcc", "fig9"]),
        ("roles", ["lenient", "strict"]),
        ("depth", ["2", "12"]),
        ("psize", ["60", "600"]),
        ("conflict", ["deny", "permit"]),
    ] {
        let value = pick(&mut rng, &values);
        lines.push(format!("option {option} = {value}."));
    }
    for _ in 0..rng.u32(0..3) {
        let rule = pick(
            &mut rng,
            &[
                "(A, A, +send(n(A)))",
                "(A, A, -send(n(2)))",
                "(x, x, +receive(n(2)))",
                "(A, A, -receive(n(c)))",
                "(A, _, -receive(k(_, X))) <- val(X)",
                "(A, _, +open(2))",
                "(A, B, +send(_)) <- val(B) or B = x",
            ],
        );
        lines.push(format!("rule boss: {rule}."));
    }
    lines.join("\n")
}

/// Makes a process with nested operators.
fn parts(rng: &mut Rng, depth: u32, agent: usize, n_agents: usize) -> String {
    if depth == 0 || rng.u32(0..8) == 0 {
        return part(rng, agent, n_agents);
    }
    if rng.u32(0..3) == 0 {
        return matching_parts(rng);
    }
    let op = pick(rng, &["par", "par", "par", "then", "then", "or"]);
    format!("({} {op} {})", parts(rng, depth - 1, agent, n_agents), parts(rng, depth - 1, agent, n_agents))
}

/// Makes a `par` whose parts can exchange a message, unless a constraint, a rule or a variable prevents it.
fn matching_parts(rng: &mut Rng) -> String {
    let [sent, taken] = [
        ["m", "m"],
        ["n(U)", "n(2)"],
        ["n(f(W))", "n(U)"],
        ["n(Z)", "n(Z)"],
        ["k(U, W)", "k(W, f(U))"],
        ["k(2, U)", "k(U, W)"],
        ["n(I)", "n(J)"],
    ][rng.usize(0..7)];
    let mut side = |message: &str, arrow: &str| {
        let id = pick(rng, &["I", "I", "J", "K"]);
        let guard = pick(rng, &["", "", "", " <- val(U)", " <- w", " <- both(U, W)", " <- open(W)"]);
        let after = pick(rng, &["", "", " then null <- open(U)", " then n(U) => a(_, I)"]);
        format!("{message} {arrow} a(_, {id}){guard}{after}")
    };
    let (sending, receipt) = (side(sent, "=>"), side(taken, "<="));
    if rng.bool() {
        format!("(({sending}) par ({receipt}))")
    } else {
        format!("(({receipt}) par ({sending}))")
    }
}

/// Makes one step, most often a message from the agent to itself or back.
fn part(rng: &mut Rng, agent: usize, n_agents: usize) -> String {
    let guard = match rng.u32(0..8) {
        0 => " <- open(U)",
        1 => " <- val(U) and open(Z)",
        2 => " <- both(U, Z)",
        3 => " <- w",
        _ => "",
    };
    let message = match rng.u32(0..4) {
        0 => "m".to_string(),
        1 | 2 => format!("n({})", pick(rng, &["Z", "U", "W", "2", "c", "f(U)", "I"])),
        _ => format!("k({}, {})", pick(rng, &["Z", "U", "2"]), pick(rng, &["U", "W", "_", "f(W)"])),
    };
    let other = if rng.u32(0..4) == 0 { rng.usize(0..n_agents) } else { agent };
    let role = match rng.u32(0..6) {
        0 | 1 => "_".to_string(),
        2 => pick(rng, &["q(_)", "q(W)", "q(2)", "q"]).to_string(),
        3 => format!("p{other}({})", pick(rng, &["2", "U", "c"])),
        _ => format!("p{other}(_)"),
    };
    let id = if rng.u32(0..3) == 0 { pick(rng, &["J", "U", "I"]) } else { AGENTS[other] };
    match rng.u32(0..14) {
        0 => format!("null{guard}"),
        1 | 2 => format!("a({}, I){guard}", pick(rng, &["q(U)", "q(2)", "q(Z)"])),
        number if number % 2 == 0 => format!("{message} => a({role}, {id}){guard}"),
        _ => format!("{message} <= a({role}, {id}){guard}"),
    }
}
