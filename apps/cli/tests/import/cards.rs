//! Agent cards that the a2a-sdk package has written (`data/write_cards.py`).

use masque_import::{Refused, a2a};

use super::graphs::verdicts;

fn card(name: &str) -> (String, String) {
    let path = format!("{}/tests/import/data/card_{name}.json", env!("CARGO_MANIFEST_DIR"));
    (format!("{name}.json"), std::fs::read_to_string(path).unwrap())
}

#[test]
fn a_task_may_need_input_forever() {
    let skeleton = a2a(&[card("currency"), card("travel")]).unwrap();
    assert_eq!(skeleton.summary(), "6 roles, 4 choices, 6 assumptions");
    let all = verdicts(&skeleton);
    let expected = [
        "ends: fails",
        "can_end: holds",
        "never_stuck: holds",
        "completes_currency_agent: holds",
        "completes_currency_agent_2: holds",
    ];
    assert_eq!(all, expected, "{}", skeleton.text());
    let text = skeleton.text();
    assert!(
        text.contains("// plan_trip_2 of currency_agent_2 is \"Plan Trip (Plan a trip, again)\""),
        "{text}"
    );
}

#[test]
fn one_card_is_enough() {
    let skeleton = a2a(&[card("currency")]).unwrap();
    assert_eq!(verdicts(&skeleton).len(), 4);
}

#[test]
fn what_is_no_card_is_refused() {
    #[rustfmt::skip]
    let rows = [
        ("{}",                                "c.json:1:2: missing field `name`; expected an agent card"),
        (r#"{"name": "x", "skills": []}"#,    "c.json: the agent `x` has no skills"),
        (r#"{"name": "x", "skills": [{}]}"#,  "missing field `id`"),
        ("[1",                                "expected an agent card"),
    ];
    for (text, expected) in rows {
        let Refused(message) = a2a(&[("c.json".to_string(), text.to_string())]).unwrap_err();
        assert!(message.contains(expected), "{text}: {message}");
    }
    assert!(a2a(&[]).unwrap_err().0.contains("expected at least one card"));
}
