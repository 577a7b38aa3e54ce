//! The formatter changes white space only, and formatting twice changes nothing.

mod random;
mod support;

use masque_lcc::tree::Item;
use masque_lcc::{format, parse};
use masque_mu::parse_formula;
use masque_text::Sources;

fn formatted(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("x.lcc", text).unwrap();
    format(&sources, file).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// Everything but white space, with the signs that the formatter replaces replaced.
fn bare(text: &str) -> String {
    let text = text.replace("<--", "<-").replace('⇒', "=>").replace('⇐', "<=").replace('←', "<-");
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[track_caller]
fn check(text: &str) {
    let once = formatted(text);
    assert_eq!(bare(&once), bare(text));
    assert_eq!(formatted(&once), once, "again");
    assert_eq!(tree(&once), tree(text), "{once}");
}

/// The tree of a text without places; formulas are kept as text, so each is read as well.
#[track_caller]
fn tree(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("x.lcc", text).unwrap();
    let (read, diagnostics) = parse(&sources, file);
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.is_error()), "{text}");
    let mut debug = masque_testkit::structure(&read.items);
    for item in &read.items {
        if let Item::Property(property) = item {
            debug += &parse_formula(&sources, property.formula).0.unwrap().to_string();
        }
    }
    debug
}

#[test]
fn models_and_random_instances_keep_their_tokens() {
    let mut n_models = 0;
    for entry in std::fs::read_dir(support::models()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "lcc" || extension == "pol") {
            check(&std::fs::read_to_string(&path).unwrap());
            n_models += 1;
        }
    }
    assert!(n_models > 15);
    for seed in 0..300 {
        check(&format!("{}\nproperty p:{};", random::instance(seed), random::formula(seed)));
    }
}

#[test]
fn lines_break_where_the_tree_says() {
    let travel = std::fs::read_to_string(support::models().join("travel.lcc")).unwrap();
    let small = "r(hen,initial,1) a(hen,H)::egg⇒a(farmer,F)<--awake∧not tired(H) then /* soon */ a(hen,H)
agent a(hen,h). // one
// own line

rule h:(A,self,-cross(X))<-not X=gate,e(A);(A,_,+access). choice h:lays/0. know h:next(X,Y)<-Y is X+1*2-  3.
option cap=3.   property p:nu X. <->X
   && tt ; mail a(hen,h)->a(farmer,f):egg([X|Y],-1).";
    insta::assert_snapshot!("layout", formatted(&travel) + "----\n" + &formatted(small));
}
