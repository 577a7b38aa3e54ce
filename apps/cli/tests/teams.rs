//! `masque teams`: candidates in files, text and JSON, exit codes.

use crate::support::outcome;
use masque_cli::{Context, Exit};

const SHOP: &str = "a(buyer, B) :: ask => a(seller, S) then (yes <= a(seller, S) or no <= a(seller, S)).
a(seller, S) :: ask <= a(buyer, B) then (yes => a(buyer, B) <- willing or no => a(buyer, B) <- not willing).
agent a(buyer, ben).
property sold : inev(in(yes)) ;
property ends : AF final ;";

/// Files for the tests below, which run the command in their folder.
struct Shop(tempfile::TempDir);

impl Shop {
    fn new() -> Shop {
        let shop = Shop(tempfile::tempdir().unwrap());
        shop.write("shop.lcc", SHOP);
        shop.write("sam.lcc", "agent a(seller, sam).");
        shop.write("sue.lcc", "agent a(seller, sue). know sue: willing.");
        shop.write("una.lcc", "agent a(seller, una). know una: willing. rule guild: (una, _, -send(yes)).");
        shop.write("bad.lcc", "agent a(seller");
        shop
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    /// Runs `masque teams shop.lcc --role seller=..` with further words.
    fn teams(&self, candidates: &[&str], words: &[&str]) -> (String, Exit) {
        let path = |name: &str| self.0.path().join(name).display().to_string();
        let role = candidates.iter().map(|name| path(name)).collect::<Vec<_>>().join(",");
        let all = ["teams", &path("shop.lcc"), "--role", &format!("seller={role}")];
        let words: Vec<&str> = all.into_iter().chain(words.iter().copied()).collect();
        let (text, exit) = outcome(&words, &Context::default());
        (text.replace(&path(""), ""), exit)
    }
}

#[test]
fn the_first_team_that_works_is_chosen() {
    let (text, exit) = Shop::new().teams(&["sam.lcc", "sue.lcc", "una.lcc"], &[]);
    assert_eq!(text, "fails  sam\n  fails: sold\nworks  sue\nchosen: sue\n");
    assert_eq!(exit, Exit::AllHold);
}

#[test]
fn a_team_that_fails_says_who_is_stuck() {
    let (text, exit) = Shop::new().teams(&["una.lcc"], &["--only", "ends"]);
    assert!(text.starts_with("fails  una\n  fails: ends\n  stuck: "), "{text}");
    assert!(text.contains("rule 1 of guild forbids it"), "{text}");
    assert!(text.ends_with("no team satisfies all properties\n"), "{text}");
    assert_eq!(exit, Exit::SomeFail);
}

#[test]
fn the_best_team_is_the_cheapest_of_equals() {
    let shop = Shop::new();
    shop.write("sid.lcc", "agent a(seller, sid). know sid: willing.");
    let (text, exit) = shop.teams(&["sue.lcc:5", "sid.lcc:3", "sam.lcc"], &["--want", "best"]);
    assert!(text.ends_with("chosen: sid\n"), "{text}");
    assert_eq!(exit, Exit::AllHold);
    let (text, exit) = shop.teams(&["sam.lcc"], &["--want", "best"]);
    assert!(text.ends_with("best: sam; no team satisfies all properties\n"), "{text}");
    assert_eq!(exit, Exit::SomeFail);
}

#[test]
fn limits_and_bounds_leave_it_open() {
    let words = ["--property", "[-* . out(zz(_))]ff", "--option", "states=1"];
    let (text, exit) = Shop::new().teams(&["sue.lcc"], &words);
    assert!(text.contains("\nunknown  sue\n"), "{text}");
    assert_eq!(exit, Exit::Inconclusive);
    let (_, exit) = Shop::new().teams(&["sue.lcc"], &["--timeout", "0s"]);
    assert_eq!(exit, Exit::Inconclusive);
}

#[test]
fn bad_input_is_reported() {
    let shop = Shop::new();
    let (text, exit) = shop.teams(&["bad.lcc"], &[]);
    assert!(text.contains("error[lcc/"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    let (text, exit) = shop.teams(&["missing.lcc"], &[]);
    assert!(text.contains("missing.lcc"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    let (text, exit) = shop.teams(&["sue.lcc"], &["--only", "solt"]);
    assert!(text.contains("solt"), "{text}");
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn json_has_the_fields_of_the_broker() {
    let (text, _) = Shop::new().teams(&["sam.lcc", "sue.lcc"], &["--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["schema"], "masque.teams/1");
    assert_eq!(found["chosen"], 1);
    assert_eq!(found["teams"][0]["works"], false);
    assert_eq!(found["teams"][0]["weakness"]["property"], "sold");
    assert_eq!(found["teams"][1]["verdicts"][0]["verdict"], "holds");
}
