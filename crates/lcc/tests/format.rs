//! The formatter changes white space only, and formatting twice changes nothing.

use masque_lcc::tree::Item;
use masque_lcc::{format, parse};
use masque_mu::parse_formula;
use masque_testkit::{LanguageUnderTest, files_below, without_white_space};
use masque_text::Sources;

const LCC: LanguageUnderTest = LanguageUnderTest { prefix: "lcc/", format };

/// The text without white space, in the signs that the formatter writes.
fn signs(text: &str) -> String {
    let text =
        text.replace("<--", "<-").replace('−', "-").replace('⇒', "=>").replace('⇐', "<=").replace('←', "<-");
    without_white_space(&text)
}

#[track_caller]
fn check(text: &str) {
    LCC.formats_well(text, |text| (signs(text), tree(text)));
}

/// The tree of a text without spans. The tree keeps formulas as text, so each one is parsed as well.
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
    let files = files_below(&crate::support::models(), &["lcc", "pol"]);
    assert!(files.len() > 15);
    for path in files {
        check(&std::fs::read_to_string(&path).unwrap());
    }
    for seed in 0..300 {
        check(&format!("{}\nproperty p:{};", crate::random::instance(seed), crate::random::formula(seed)));
    }
}

/// Headings of rules begin a line, and the rules below are indented. Rules keep the form they have.
#[test]
fn rules_keep_their_form() {
    let text = "agent a(hen,h).enforced   by h:(A,self,+access)←member(A,syta). h:(A,_,−use(X . 5)).
        rule h:(A,_,!act(X.509))after in(m). (A,B,-go).  common awake.";
    let text = text.replace("X . 5", "X.5");
    check(&text);
    let expected = "agent a(hen, h).\nenforced by h:\n  (A, self, +access) <- member(A, syta).\n\
        h: (A, _, -use(X.5)).\nrule h: (A, _, !act(X.509)) after in(m).\n  (A, B, -go).\ncommon awake.\n";
    assert_eq!(LCC.formatted(&text), expected);
}

#[test]
fn lines_break_where_the_tree_says() {
    let travel = std::fs::read_to_string(crate::support::models().join("travel.lcc")).unwrap();
    let small = "r(hen,initial,1) a(hen,H)::egg⇒a(farmer,F)<--awake∧not tired(H) then /* soon */ a(hen,H)
agent a(hen,h). // one
// own line

rule h:(A,self,-cross(X))<-not X=gate,e(A);(A,_,+access). choice h:lays/0. know h:next(X,Y)<-Y is X+1*2-  3.
option cap=3.   property p:nu X. <->X
   && tt ; mail a(hen,h)->a(farmer,f):egg([X|Y],-1).";
    insta::assert_snapshot!("layout", LCC.formatted(&travel) + "----\n" + &LCC.formatted(small));
}
