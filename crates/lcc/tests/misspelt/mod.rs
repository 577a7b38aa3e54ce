//! Random protocols with long, dissimilar names. Each name that can be misspelt is marked: `‹kind:name›`.

use fastrand::Rng;

/// Minimum edit distance between names, so that after two edits the intended name is still the nearest.
const MIN_DISTANCE: usize = 5;
/// Words of the language, from which names must be dissimilar.
const RESERVED: [&str; 12] = [
    "send", "receive", "self", "final", "deadlock", "common", "choice", "option", "member", "server",
    "agent", "property",
];

/// A predicate, a message or a role: its name and number of arguments.
#[derive(Clone)]
struct Symbol {
    name: String,
    arity: usize,
}

impl Symbol {
    /// Writes the symbol with arguments, with its name marked.
    fn marked(&self, kind: &str, args: &[&str]) -> String {
        format!("‹{kind}:{}›{}", self.name, brackets(&args[..self.arity]))
    }

    fn plain(&self, args: &[&str]) -> String {
        format!("{}{}", self.name, brackets(&args[..self.arity]))
    }
}

fn brackets(args: &[&str]) -> String {
    if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) }
}

const WILD: [&str; 3] = ["_", "_", "_"];

pub(crate) struct Generator {
    rng: Rng,
    taken: Vec<String>,
    /// Roles, each with the steps of its clause so far.
    roles: Vec<(Symbol, Vec<String>)>,
    ids: Vec<String>,
    enforcers: Vec<String>,
    messages: Vec<Symbol>,
    /// Literals of guards, and whether each is below `not`.
    literals: Vec<(Symbol, bool)>,
    lines: Vec<String>,
}

/// Makes a random protocol, one statement per line.
pub(crate) fn protocol(seed: u64) -> String {
    let mut generator = Generator {
        rng: Rng::with_seed(seed),
        taken: Vec::new(),
        roles: Vec::new(),
        ids: Vec::new(),
        enforcers: Vec::new(),
        messages: Vec::new(),
        literals: Vec::new(),
        lines: Vec::new(),
    };
    generator.clauses();
    generator.knowledge();
    generator.rules();
    generator.properties();
    generator.lines.join("\n")
}

/// Removes the marks from a text.
pub(crate) fn plain(text: &str) -> String {
    pieces(text).into_iter().map(|piece| piece.text).collect()
}

/// A part of a text: a marked name, or the text between two marks.
struct Piece<'t> {
    kind: Option<&'t str>,
    text: &'t str,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for part in text.split('‹') {
        match part.split_once('›').and_then(|(mark, rest)| Some((mark.split_once(':')?, rest))) {
            Some(((kind, name), rest)) => {
                pieces.push(Piece { kind: Some(kind), text: name });
                pieces.push(Piece { kind: None, text: rest });
            }
            None => pieces.push(Piece { kind: None, text: part }),
        }
    }
    pieces
}

/// A protocol in which one name is wrong.
pub(crate) struct Misspelt {
    pub(crate) text: String,
    /// Kind of the name, as in its mark.
    pub(crate) kind: String,
    pub(crate) intended: String,
    pub(crate) written: String,
    /// Whether the number of arguments is wrong, rather than the name.
    pub(crate) is_arity: bool,
}

/// Changes one marked name: one or two wrong letters, or another number of arguments.
pub(crate) fn misspell_one(marked: &str, seed: u64) -> Misspelt {
    let mut rng = Rng::with_seed(seed ^ 0x5eed);
    let all = pieces(marked);
    let marked_indices: Vec<usize> = (0..all.len()).filter(|index| all[*index].kind.is_some()).collect();
    let index = marked_indices[rng.usize(0..marked_indices.len())];
    let (kind, intended) = (all[index].kind.unwrap().to_string(), all[index].text.to_string());
    let has_arity = !["id", "owner", "by", "choice"].contains(&kind.as_str());
    let is_arity = has_arity && rng.u32(0..5) == 0;
    let mut texts: Vec<String> = all.iter().map(|piece| piece.text.to_string()).collect();
    if is_arity {
        let rest = &mut texts[index + 1];
        if rest.starts_with('(') { rest.insert_str(1, "_, ") } else { rest.insert_str(0, "(_)") }
    } else {
        texts[index] = misspell(&mut rng, &intended);
    }
    let written = texts[index].clone();
    Misspelt { text: texts.concat(), kind, intended, written, is_arity }
}

/// Misspells a name: one or two wrong letters, or two adjacent letters swapped.
fn misspell(rng: &mut Rng, name: &str) -> String {
    loop {
        let mut letters: Vec<char> = name.chars().collect();
        let n_edits = rng.usize(1..3);
        for _ in 0..n_edits {
            let index = rng.usize(0..letters.len() - 1);
            // A swap beside another edit would make three wrong letters.
            match rng.u32(0..if n_edits == 1 { 4 } else { 3 }) {
                0 => letters[index] = rng.lowercase(),
                1 => letters.insert(index, rng.lowercase()),
                2 => drop(letters.remove(index)),
                _ => letters.swap(index, index + 1),
            }
        }
        let text: String = letters.into_iter().collect();
        if text != name {
            return text;
        }
    }
}

/// Computes the edit distance of two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut corner = std::mem::replace(&mut row[0], i);
        for j in 1..=b.len() {
            let replaced = corner + usize::from(a[i - 1] != b[j - 1]);
            let least = replaced.min(row[j] + 1).min(row[j - 1] + 1);
            corner = std::mem::replace(&mut row[j], least);
        }
    }
    row[b.len()]
}

impl Generator {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(0..items.len())].clone()
    }

    /// Makes a new name that is dissimilar from all others.
    fn name(&mut self) -> String {
        loop {
            let n = self.rng.usize(6..11);
            let word: String = (0..n).map(|_| self.rng.lowercase()).collect();
            let is_dissimilar = |other: &str| distance(other, &word) >= MIN_DISTANCE;
            if self.taken.iter().map(String::as_str).chain(RESERVED).all(is_dissimilar) {
                self.taken.push(word.clone());
                return word;
            }
        }
    }

    fn symbol(&mut self) -> Symbol {
        Symbol { name: self.name(), arity: self.rng.usize(0..4) }
    }

    /// Writes the team, and clauses in which every message that is sent is received.
    fn clauses(&mut self) {
        for (option, value, percent) in [
            ("comm", "sync", 25),
            ("guards", "fig9", 25),
            ("roles", "strict", 25),
            ("conflict", "permit", 20),
        ] {
            if self.chance(percent) {
                self.lines.push(format!("option {option} = {value}."));
            }
        }
        let n_roles = self.rng.usize(2..4);
        for _ in 0..n_roles {
            let role = self.symbol();
            let id = self.name();
            self.lines.push(format!("agent a({}, {id}).", role.plain(&["zero", "zero", "zero"])));
            self.ids.push(id);
            self.roles.push((role, Vec::new()));
        }
        for _ in 0..self.rng.usize(2..6) {
            let from = self.rng.usize(0..n_roles);
            let to = (from + self.rng.usize(1..n_roles)) % n_roles;
            let message = self.symbol();
            let text = message.plain(&["one", "Two", "Three"]);
            let [sender, receiver] = [from, to].map(|index| self.roles[index].0.plain(&WILD));
            let peer = if self.chance(50) { self.ids[to].clone() } else { "Peer".to_string() };
            let (sends, takes) = (self.guarded(format!("{text} => a({receiver}, {peer})")), {
                let text = message.plain(&WILD);
                self.guarded(format!("{text} <= a({sender}, Other)"))
            });
            self.roles[from].1.push(sends);
            self.roles[to].1.push(takes);
            self.messages.push(message);
        }
        // A role that an agent enters later.
        if self.chance(40) {
            let index = self.rng.usize(0..n_roles);
            let role = self.symbol();
            let call = self.guarded(format!("a({}, Me)", role.plain(&WILD)));
            self.roles[index].1.push(call);
            let own = self.guarded("null".to_string());
            self.roles.push((role, vec![own]));
        }
        for index in 0..self.roles.len() {
            let (role, steps) = self.roles[index].clone();
            let head = role.plain(&["One", "Two", "Three"]);
            let body = if steps.is_empty() { self.guarded("null".to_string()) } else { steps.join(" then ") };
            self.lines.push(format!("a({head}, Me) :: {body}."));
        }
    }

    /// Writes a step, with a guard or without.
    fn guarded(&mut self, step: String) -> String {
        if self.chance(35) {
            return step;
        }
        let mut literals = Vec::new();
        for _ in 0..self.rng.usize(1..3) {
            let known: Vec<Symbol> = self.literals.iter().map(|(literal, _)| literal.clone()).collect();
            let literal =
                if self.chance(30) && !known.is_empty() { self.pick(&known) } else { self.symbol() };
            let is_negated = self.chance(25);
            self.literals.push((literal.clone(), is_negated));
            let not = if is_negated { "not " } else { "" };
            literals.push(format!("{not}{}", literal.plain(&["One", "Two", "_"])));
        }
        if self.chance(20) {
            literals.push(self.pick(&["One = zero".to_string(), "Two is 1 + 2".to_string()]));
        }
        format!("{step} <- {}", literals.join(" and "))
    }

    /// Picks the owner of a fact or choice; empty for common ones.
    fn owner(&mut self) -> String {
        if self.chance(35) {
            return String::new();
        }
        let ids = self.ids.clone();
        format!("‹owner:{}›: ", self.pick(&ids))
    }

    /// Writes facts and choices about the literals of guards.
    fn knowledge(&mut self) {
        for (literal, _) in self.literals.clone() {
            match self.rng.u32(0..10) {
                0 | 1 => {
                    let owner = self.owner();
                    self.lines.push(format!("choice {owner}‹choice:{}›/{}.", literal.name, literal.arity));
                }
                2 => {}
                _ => {
                    let owner = self.owner();
                    self.fact(&owner, &literal, 2);
                }
            }
        }
    }

    /// Writes a fact, with a condition or without, and facts about the predicates of the condition.
    fn fact(&mut self, owner: &str, predicate: &Symbol, depth: u32) {
        let word = if owner.is_empty() { "common" } else { "know" };
        let head = predicate.marked("fact", &["One", "two", "_"]);
        let body = self.body(owner, depth);
        let space = if owner.is_empty() { " " } else { "" };
        let owner = if owner.is_empty() { String::new() } else { format!(" {owner}") };
        self.lines.push(format!("{word}{owner}{space}{head}{body}."));
    }

    fn body(&mut self, owner: &str, depth: u32) -> String {
        if depth == 0 || self.chance(50) {
            return String::new();
        }
        let mut goals = Vec::new();
        for _ in 0..self.rng.usize(1..3) {
            let predicate = self.symbol();
            let not = if self.chance(20) { "not " } else { "" };
            goals.push(format!("{not}{}", predicate.marked("goal", &["One", "_", "_"])));
            for _ in 0..self.rng.usize(1..3) {
                self.fact(owner, &predicate, depth - 1);
            }
        }
        format!(" <- {}", goals.join(" and "))
    }

    fn rules(&mut self) {
        self.enforcers = self.ids.clone();
        for _ in 0..self.rng.usize(1..3) {
            let enforcer = self.name();
            self.enforcers.push(enforcer);
        }
        for _ in 0..self.rng.usize(1..6) {
            let enforcers = self.enforcers.clone();
            let enforcer = self.pick(&enforcers);
            let action = self.action();
            let (subject, object) = (self.party(), self.party());
            let sign = self.pick(&["+", "-"]);
            let owner = format!("‹owner:{enforcer}›: ");
            let mut body = self.body(&owner, 2);
            if self.chance(25) {
                body = self.question(&enforcer, &body);
            }
            self.lines.push(format!("rule {enforcer}: ({subject}, {object}, {sign}{action}){body}."));
        }
        if self.chance(40) {
            let enforcer = self.pick(&self.enforcers.clone());
            let ids = self.ids.clone();
            let subject = if self.chance(50) { self.pick(&ids) } else { "_".to_string() };
            let Some((literal, _)) = self.literals.iter().find(|(_, is_negated)| !is_negated).cloned() else {
                return;
            };
            let (action, after) = (literal.marked("obligation", &WILD), self.pattern());
            self.lines.push(format!("rule {enforcer}: ({subject}, _, !{action}) after {after}."));
        }
    }

    fn action(&mut self) -> String {
        let messages = self.messages.clone();
        let literals = self.literals.clone();
        if literals.is_empty() || self.chance(40) {
            let message = self.pick(&messages);
            let word = self.pick(&["send", "receive"]);
            return format!("{word}({})", message.marked("message", &WILD));
        }
        self.pick(&literals).0.marked("action", &WILD)
    }

    fn party(&mut self) -> String {
        let ids = self.ids.clone();
        match self.rng.u32(0..3) {
            0 => format!("‹id:{}›", self.pick(&ids)),
            1 => "self".to_string(),
            _ => "Anyone".to_string(),
        }
    }

    /// Adds a condition that asks for the rules about another action, and such rules.
    fn question(&mut self, enforcer: &str, body: &str) -> String {
        let action = self.symbol();
        for _ in 0..self.rng.usize(1..3) {
            let head = action.marked("asked", &WILD);
            let sign = self.pick(&["+", "-"]);
            self.lines.push(format!("rule {enforcer}: (_, _, {sign}{head})."));
        }
        let question = format!("(Anyone, self, +{})", action.marked("question", &WILD));
        if body.is_empty() { format!(" <- {question}") } else { format!("{body} and {question}") }
    }

    fn properties(&mut self) {
        for index in 0..self.rng.usize(1..5) {
            let (one, two) = (self.pattern(), self.pattern());
            let formula = match self.rng.u32(0..6) {
                0 => format!("[-* . {one}]ff"),
                1 => format!("<(-{one})* . {two}>tt"),
                2 => format!("inev({{{one}, {two}}})"),
                3 => format!("resp({one}, {two})"),
                4 => format!("AG !{}", self.atom()),
                _ => format!("nu X. mu Y. <{one}>X || <-{two}>Y || {}", self.atom()),
            };
            self.lines.push(format!("property case_{index} : {formula} ;"));
        }
    }

    fn atom(&mut self) -> String {
        let ids = self.ids.clone();
        let id = self.pick(&ids);
        let role = self.pick(&self.roles.clone()).0;
        match self.rng.u32(0..3) {
            0 => format!("done(‹by:{id}›)"),
            _ => format!("at(‹by:{id}›, {})", role.marked("role", &WILD)),
        }
    }

    fn pattern(&mut self) -> String {
        let (ids, roles, messages) = (self.ids.clone(), self.roles.clone(), self.messages.clone());
        let by = match self.rng.u32(0..4) {
            0 => format!("@‹by:{}›", self.pick(&ids)),
            1 => format!("@a({}, _)", self.pick(&roles).0.marked("role", &WILD)),
            _ => String::new(),
        };
        let literals = self.literals.clone();
        if !literals.is_empty() && self.chance(40) {
            let (literal, is_negated) = self.pick(&literals);
            let not = if is_negated { "not " } else { "" };
            return format!("#({not}{}){by}", literal.marked("literal", &WILD));
        }
        let message = self.pick(&messages).marked("message", &WILD);
        let peer = match self.rng.u32(0..4) {
            0 => format!(", a(_, ‹id:{}›)", self.pick(&ids)),
            1 => format!(", a({}, _)", self.pick(&roles).0.marked("role", &WILD)),
            _ => String::new(),
        };
        format!("{}({message}{peer}){by}", self.pick(&["in", "out"]))
    }
}
