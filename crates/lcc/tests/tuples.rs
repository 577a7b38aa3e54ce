//! The state of an interaction as a tuple: written and read again on random states of random protocols, and
//! refused with a location if it is damaged or of another interaction or protocol.

use masque_lcc::{EventSelector, Session, Setup, Text};

fn open(text: &str) -> Option<Session> {
    Session::open(Setup { files: vec![Text::new("random.lcc", text)], ..Setup::default() }).ok()
}

/// The number of seeds, which `SEEDS=0..N` changes.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let given = std::env::var("SEEDS").ok();
    let parsed = given.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    parsed.unwrap_or(0..default)
}

fn protocol(seed: u64) -> String {
    match seed % 5 {
        0 => crate::random::talkers(seed),
        1 => crate::exchanges::protocol(seed),
        2 => crate::exchanges::parallel_parts(seed),
        _ => crate::random::instance(seed + 900_000),
    }
}

/// A tuple that is placed gives the state that it was written from, and is written as the same text.
#[test]
fn a_tuple_is_read_as_the_state_it_was_written_from() {
    let (mut n_protocols, mut n_states, mut n_messages, mut n_several) = (0, 0, 0, 0);
    for seed in seeds(1_500) {
        let text = protocol(seed);
        let Some(mut session) = open(&text) else { continue };
        let mut other = open(&text).unwrap();
        n_protocols += 1;
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..8 {
            let (state, tuple) = (session.state(), session.tuple("i1"));
            let seen = |found: &dyn std::fmt::Debug| format!("seed {seed}\n{text}\n{tuple}\n{found:#?}");
            other.place("").unwrap();
            other.place(&tuple).unwrap_or_else(|found| panic!("{}", seen(&found)));
            assert_eq!(other.state(), state, "{}", seen(&""));
            assert_eq!(other.tuple("other"), tuple, "{}", seen(&""));
            assert_eq!(other.possible_events(), session.possible_events(), "{}", seen(&""));
            n_states += 1;
            n_messages += usize::from(!tuple.starts_with("(i1, null, _, _,"));
            n_several += usize::from(tuple.contains(" mail a("));
            let n_events = session.possible_events().next.len();
            if n_events == 0 {
                break;
            }
            session.advance(&EventSelector::Index(rng.usize(0..n_events))).unwrap();
        }
    }
    println!(
        "{n_protocols} protocols, {n_states} states, {n_messages} with a message, {n_several} with several"
    );
    if std::env::var("SEEDS").is_err() {
        assert!(n_protocols > 1_000 && n_states > 4_000, "{n_protocols} protocols, {n_states} states");
        assert!(n_messages > 1_000 && n_several > 200, "{n_messages}, {n_several}");
    }
}

/// First roles of one agent may share variables after an exchange with `comm=sync`. They are then written in one
/// statement; otherwise each role has its own.
#[test]
fn shared_variables_of_first_roles_are_written() {
    let text = "a(p, I) :: k(U) => a(q, I) then null <- U = 2.
        a(q, I) :: k(V) <= a(p, I) then n(V) => a(s, J).
        a(r, I) :: l(W) => a(s, J).
        a(s, I) :: n(3) <= a(q, J).
        agent a(p, x). agent a(q, x). agent a(r, x). agent a(s, y). option comm = sync.";
    let mut session = open(text).unwrap();
    assert_eq!(session.state().len(), 4);
    let label = "tau(k(_), a(p, x), a(q, x))".to_string();
    session.advance(&EventSelector::Pattern(label)).unwrap();
    let now = "a(_, x) :: ({a(p, x) :: null <- V0 = 2} par {a(q, x) :: n(V0) => a(s, V1)}) par a(r, x).";
    assert_eq!(session.state()[0], format!("now {now}"));
    let (events, state, tuple) = (session.possible_events(), session.state(), session.tuple("i1"));
    assert!(tuple.contains(now), "{tuple}");
    for written in [state.join("\n"), tuple.clone()] {
        session.place("").unwrap();
        session.place(&written).unwrap();
        assert_eq!((session.possible_events(), session.tuple("i1")), (events.clone(), tuple.clone()));
    }
    // The constraint binds what n sends, so that n(3) cannot be received. Without the sharing it could be.
    let can_receive = |session: &mut Session| {
        session.possible_events().next.iter().any(|next| next.event.label.contains("in(n(3)"))
    };
    assert!(can_receive(&mut session));
    session.advance(&EventSelector::Pattern("#@x".to_string())).unwrap();
    assert!(!can_receive(&mut session));
}

const SHOP: &str = "a(buyer, B) :: offer(10) => a(seller, S) <- shop(S) then ok <= a(seller, S).
    a(seller, S) :: offer(P) <= a(buyer, B) then ok => a(buyer, B) <- fair(P).
    agent a(buyer, ben). agent a(seller, sue). common shop(sue). common fair(P) <- P >= 5. choice mood/1.";

#[test]
fn the_parts_of_a_tuple() {
    let mut session = open(SHOP).unwrap();
    let framework = "{a(buyer, V0) :: offer(10) => a(seller, V1) <- shop(V1) then ok <= a(seller, V1). \
        a(seller, V0) :: offer(V1) <= a(buyer, V2) then ok => a(buyer, V2) <- fair(V1).}";
    let knowledge = "{shop(sue). fair(V0) <- V0 >= 5. choice mood/1.}";
    let first = "{a(buyer, ben) :: a(buyer, ben). a(seller, sue) :: a(seller, sue).}";
    assert_eq!(
        session.tuple("deal 1"),
        format!("('deal 1', null, _, _, ({framework}, {first}, {knowledge}))")
    );
    session.advance(&EventSelector::Index(0)).unwrap();
    let second = "{a(buyer, ben) :: ok <= a(seller, sue). a(seller, sue) :: a(seller, sue).}";
    let tuple = session.tuple("deal 1");
    let head = "'deal 1', offer(10) <= a(buyer, ben), sue, seller";
    assert_eq!(tuple, format!("({head}, ({framework}, {second}, {knowledge}))"));
    // Comments, line breaks, the order of statements and the names of variables do not matter.
    let free = "(deal, // the interaction
        offer(10) <= a(buyer, ben), sue, seller,
        ({a(seller, Sue) :: offer(P) <= a(buyer, B) then ok => a(buyer, B) <- fair(P).
          a(buyer, B) :: offer(10) => a(seller, S) <- shop(S) then ok <= a(seller, S).},
         {a(buyer, ben) :: ok <= a(seller, sue).},
         {choice mood/1. fair(Price) <- Price >= 5. shop(sue).})).";
    session.place(free).unwrap();
    assert_eq!(session.tuple("x"), tuple.replace("'deal 1'", "deal"));
    assert_eq!(session.interaction(), Some("deal"));
}

/// What is refused, with the code and the text that the caret marks. The state stays as it was.
#[test]
fn tuples_that_are_refused() {
    let mut session = open(SHOP).unwrap();
    session.advance(&EventSelector::Index(0)).unwrap();
    let tuple = session.tuple("deal");
    session.place(&tuple).unwrap();
    let place = |from: &str, to: &str| tuple.replacen(from, to, 1);
    #[rustfmt::skip]
    let rows = [
        (place("(deal", "(Deal"),                       "lcc/no-id",             "Deal"),
        (place("(deal", "(dael"),                       "lcc/other-interaction", "dael"),
        (place("offer(10) =>", "offer(11) =>"),         "lcc/other-protocol",    "a(buyer, V0) :: offer(11)"),
        (place("ok => a(buyer, V2) <- fair(V1).}", "null.}"), "lcc/other-protocol", "a(seller, V0) ::"),
        (place("shop(sue).", ""),                       "lcc/other-protocol",    "{ fair(V0)"),
        (place("shop(sue).", "shop(sam)."),             "lcc/other-protocol",    "shop(sam)."),
        (place("choice mood/1.", ""),                   "lcc/other-protocol",    "{shop(sue)."),
        (place("a(seller, sue) :: a(seller, sue).}", "a(seller, sam) :: nil.}"), "lcc/unknown-agent", "sam"),
        (place("<= a(buyer, ben)", ""),                 "lcc/syntax",            ","),
        (place("}))", "})"),                            "lcc/unbalanced",        "("),
        (place("}))", "})) x"),                         "lcc/syntax",            "x"),
        (place("ok <= a(seller, sue).", "ok <= a(seller, sue)"), "lcc/syntax",   "a"),
        (place("{shop", "{know ben: shop"),             "lcc/syntax",            "ben"),
        (place("{a(buyer, V0) ::", "{agent a(buyer, ben). a(buyer, V0) ::"), "lcc/syntax", "agent"),
        ("()".to_string(),                              "lcc/syntax",            ")"),
        ("(deal, null, _, _, ({}, {}, {}))".to_string(), "lcc/other-protocol",   "{}"),
    ];
    let before = (session.state(), session.tuple("x"));
    for (text, code, marked) in rows {
        let found = session.place(&text).unwrap_err();
        let span = found[0].primary.as_ref().unwrap().span;
        let slice = session.sources().slice(span).to_string();
        assert_eq!(found[0].code, code, "{text}\n{found:#?}");
        assert!(slice.starts_with(marked), "{text}\n{slice}\n{}", found[0].message);
        assert_eq!((session.state(), session.tuple("x")), before, "{text}");
    }
}

/// What damage puts into a tuple.
const SIGNS: [char; 14] = ['(', ')', '{', '}', '.', ',', ':', '_', 'a', 'X', '<', '=', '-', '\''];

/// Damaged tuples are refused or describe a state; nothing panics.
#[test]
fn damaged_tuples_do_not_panic() {
    for seed in seeds(400) {
        let Some(mut session) = open(&protocol(seed)) else { continue };
        let mut rng = fastrand::Rng::with_seed(seed);
        let n_events = session.possible_events().next.len();
        if n_events > 0 {
            session.advance(&EventSelector::Index(rng.usize(0..n_events))).unwrap();
        }
        let mut text: Vec<char> = session.tuple("i1").chars().collect();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(0..text.len());
            match rng.u32(0..3) {
                0 => _ = text.remove(at),
                1 => text[at] = SIGNS[rng.usize(0..SIGNS.len())],
                _ => text.insert(at, SIGNS[rng.usize(0..SIGNS.len())]),
            }
        }
        let text: String = text.into_iter().collect();
        if let Err(found) = session.place(&text) {
            assert!(!found.is_empty() && found.iter().all(|one| one.is_error()), "{text}");
        }
    }
}
