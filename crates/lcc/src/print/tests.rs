//! Random terms and constraints are printed and parsed again; the result must be the same term.

use fastrand::Rng;

use crate::lower::Scope;
use crate::parser::parse_action;
use crate::symbol::Symbol;
use crate::term::{Head, TermId, Terms};

/// A word that is too long for a name without quotes.
const LONG_WORD: &str = match str::from_utf8(&[b'a'; masque_text::LONGEST_NAME + 1]) {
    Ok(word) => word,
    Err(_) => panic!(),
};
/// Names that need quotes: keywords, variables, numbers, quotes and comment signs. The first two do not.
const NAMES: [&str; 21] = [
    "a", "p", "null", "nil", "then", "or", "not", "and", "par", "mod", "is", "until", "X", "_x", "", "it's",
    "a \"b\"", "7", "-1", "% // /*", LONG_WORD,
];
const INTEGERS: [i64; 6] = [0, 1, -1, 42, i64::MIN, i64::MAX];
const DECIMALS: [f64; 9] = [0.0, -0.0, 0.5, -1.25, 1e21, 1e-9, 1e300, 0.1, 123456789.125];

fn pick<T: Copy>(random: &mut Rng, items: &[T]) -> T {
    items[random.usize(..items.len())]
}

fn term(random: &mut Rng, terms: &mut Terms, depth: u32) -> TermId {
    if depth == 0 {
        return match random.u8(..4) {
            0 => terms.var(random.u32(..3)),
            1 => terms.int(pick(random, &INTEGERS)),
            2 => terms.make(Head::Decimal(pick(random, &DECIMALS)), &[]),
            _ => terms.constant(pick(random, &NAMES)),
        };
    }
    let mut part = |random: &mut Rng| term(random, terms, depth - 1);
    match random.u8(..8) {
        0 => part(random),
        1 | 2 => {
            let args: Vec<TermId> = (0..random.usize(1..4)).map(|_| part(random)).collect();
            let name = terms.symbols.intern(pick(random, &NAMES));
            terms.app(name, &args)
        }
        3 => {
            let items: Vec<TermId> = (0..random.usize(..4)).map(|_| part(random)).collect();
            let tail = part(random);
            let tail = if random.bool() { tail } else { terms.app(Symbol::EMPTY, &[]) };
            if items.is_empty() { tail } else { terms.list(&items, tail) }
        }
        4 => {
            let inner = part(random);
            terms.app(Symbol::NEGATIVE, &[inner])
        }
        _ => {
            let args = [part(random), part(random)];
            let all = [Symbol::PLUS, Symbol::MINUS, Symbol::TIMES, Symbol::DIVIDE, Symbol::MOD];
            terms.app(pick(random, &all), &args)
        }
    }
}

fn constraint(random: &mut Rng, terms: &mut Terms, depth: u32) -> TermId {
    if depth == 0 {
        let [first, second] = [1, 1].map(|depth| term(random, terms, depth));
        return match random.u8(..3) {
            0 => {
                let name = terms.symbols.intern(pick(random, &NAMES));
                terms.app(name, &[first, second])
            }
            1 => {
                let action = pick(random, &["go", "then", "X"]);
                let action = terms.symbols.intern(action);
                let action = terms.app(action, &[first]);
                terms.app(pick(random, &[Symbol::PERMIT, Symbol::FORBID]), &[first, second, action])
            }
            _ => {
                let all = [
                    Symbol::UNIFY,
                    Symbol::DIFFER,
                    Symbol::SAME,
                    Symbol::NOT_SAME,
                    Symbol::LESS,
                    Symbol::GREATER,
                    Symbol::AT_MOST,
                    Symbol::AT_LEAST,
                    Symbol::IS,
                ];
                terms.app(pick(random, &all), &[first, second])
            }
        };
    }
    let mut part = |random: &mut Rng| constraint(random, terms, depth - 1);
    match random.u8(..4) {
        0 => part(random),
        1 => {
            let inner = part(random);
            terms.app(Symbol::NOT, &[inner])
        }
        _ => {
            let args = [part(random), part(random)];
            terms.app(pick(random, &[Symbol::AND, Symbol::OR]), &args)
        }
    }
}

/// Parses a message or a constraint inside an action pattern.
fn read(terms: &mut Terms, text: &str, is_constraint: bool) -> TermId {
    let pattern = if is_constraint { format!("#({text})") } else { format!("in({text})") };
    let action = parse_action(&pattern, 0).unwrap_or_else(|e| panic!("{}: {pattern}", e.message));
    let mut scope = Scope::default();
    match &action.literal {
        Some(literal) => scope.constraint(terms, literal),
        None => scope.term(terms, &action.terms[0]),
    }
}

/// 100 terms per seed: `SEEDS=0..1000 cargo test --release -p masque-lcc print::tests`.
#[test]
fn printed_terms_and_constraints_parse_as_the_same_term() {
    for seed in masque_testkit::seeds("0..20") {
        let mut random = Rng::with_seed(seed);
        let mut terms = Terms::default();
        for n in 0..100 {
            let (depth, is_constraint) = (random.u32(..3), n % 2 == 0);
            let made = if is_constraint {
                constraint(&mut random, &mut terms, depth)
            } else {
                term(&mut random, &mut terms, depth)
            };
            let made = terms.canonical(made);
            let mut texts = vec![terms.text(made)];
            // A message is also printed in a `mail` statement.
            if !is_constraint {
                let parts = [terms.constant("r"), terms.constant("i")];
                let mail = terms.app(Symbol::MESSAGE, &[parts[0], parts[1], parts[0], parts[1], made]);
                let text = terms.mail(mail);
                texts
                    .extend(text.strip_prefix("mail a(r, i) -> a(r, i) : ").map(|t| t[..t.len() - 1].into()));
                assert_eq!(texts.len(), 2, "{text}");
            }
            for text in texts {
                let again = read(&mut terms, &text, is_constraint);
                let canonical = terms.canonical(again);
                assert_eq!(canonical, made, "{text}\nread as {}", terms.text(canonical));
            }
        }
    }
}
