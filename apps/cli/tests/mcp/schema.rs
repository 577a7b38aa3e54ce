//! The schemas of the tools.

use serde_json::{Value, json};

use super::client::{Client, file, gallery};
use crate::json_schema;

/// Structured answers are as their schemas say, and parameters with errors are not.
#[test]
fn answers_fit_their_schemas() {
    let mut client = Client::new();
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "check",
            "why",
            "explain",
            "fmt",
            "simulate",
            "replay",
            "teams",
            "monitor_open",
            "observe",
            "may",
            "monitor_close"
        ]
    );
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let game = file("m.ispl", &gallery("ispl/card_game.ispl"));
    let team = file("m.lcc", &gallery("lcc/llm_team.lcc"));
    let robot = file("m.bdi", &gallery("bdi/robot.bdi"));
    let broken = file("m.lcc", "a(hen, H) :: nul. agent");
    let report = client.call("check", json!({"files": [game], "evidence": "all"})).data["report"].clone();
    let roles = json!([{"name": "hen", "candidates": [{"name": "h", "statements": "agent a(hen, h)."}]}]);
    #[rustfmt::skip]
    let calls = [
        ("check", json!({"files": [game], "evidence": "all"})),
        ("check", json!({"files": [team], "evidence": "all", "limits": {"seconds": 20}})),
        ("check", json!({"files": [robot]})),
        ("check", json!({"files": [broken]})),
        ("why", json!({"files": [game], "only": ["1"]})),
        ("explain", json!({"code": "lcc/no-team"})),
        ("fmt", json!({"files": [game, broken]})),
        ("simulate", json!({"files": [team], "steps": [1], "random": 3, "seed": 4})),
        ("simulate", json!({"files": [game], "settings": {"deadlock": "stutter"}})),
        ("replay", json!({"files": [game], "trace": report})),
        ("teams", json!({"files": [file("m.lcc", "a(hen, H) :: null. property ends : AF final ;")], "roles": roles})),
    ];
    for (name, arguments) in calls {
        let tool = tool(name);
        let input = json_schema::errors(&tool["inputSchema"], &arguments);
        assert!(input.is_empty(), "{name}: {input:?}");
        let called = client.call(name, arguments);
        let output = json_schema::errors(&tool["outputSchema"], &called.data);
        assert!(output.is_empty(), "{name}: {output:?}\n{}", called.data);
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    let wrong: Value = json!({"files": "m.ispl"});
    assert!(!json_schema::errors(&tool("check")["inputSchema"], &wrong).is_empty());
    client.end();
}
