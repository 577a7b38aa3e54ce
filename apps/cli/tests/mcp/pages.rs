//! Resources and prompts.

use serde_json::json;

use super::client::{Client, file};

/// Every resource can be read, and every model among them is accepted by `check`.
#[test]
fn resources() {
    let mut client = Client::new();
    let listed = client.request("resources/list", json!({}));
    let listed = listed["result"]["resources"].as_array().unwrap().clone();
    assert!(listed.len() > 40, "{}", listed.len());
    for resource in &listed {
        let uri = resource["uri"].as_str().unwrap();
        let read = client.request("resources/read", json!({"uri": uri}));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        assert_eq!(resource["size"], text.len(), "{uri}");
    }
    for wrong in ["masque://docs/lccc", "file:///etc/passwd", "", "masque://models/../docs/lcc"] {
        let read = client.request("resources/read", json!({"uri": wrong}));
        assert!(
            read["error"]["message"].as_str().is_some_and(|text| text.contains("there is no resource")),
            "{read}"
        );
    }
    client.end();
}

/// The examples of the cheat sheet are models with the verdicts in their comments.
#[test]
fn the_cheat_sheet_is_checked() {
    let mut client = Client::new();
    let read = client.request("resources/read", json!({"uri": "masque://docs/cheat-sheet"}));
    let page = read["result"]["contents"][0]["text"].as_str().unwrap().to_string();
    let mut languages = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        languages.push(language.to_string());
        let called = client.call("check", json!({"files": [file(&format!("m.{language}"), text)]}));
        let found: Vec<String> =
            called.verdicts().iter().map(|line| line.split(": ").last().unwrap().to_string()).collect();
        let expected: Vec<&str> =
            text.split("expect: ").skip(1).map(|rest| rest.split([',', '\n', ' ']).next().unwrap()).collect();
        assert_eq!(found, expected, "{language}: {}", called.text);
        let warnings = called.data["diagnostics"].as_array().unwrap();
        assert!(warnings.iter().all(|found| found["severity"] == "note"), "{language}: {}", called.text);
    }
    assert_eq!(languages, ["lcc", "ispl", "bdi"]);
    client.end();
}

#[test]
fn prompts() {
    let mut client = Client::new();
    let listed = client.request("prompts/list", json!({}));
    let prompts = listed["result"]["prompts"].as_array().unwrap().clone();
    assert_eq!(prompts.len(), 3, "{listed}");
    for prompt in &prompts {
        let arguments: serde_json::Map<_, _> = prompt["arguments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|argument| (argument["name"].as_str().unwrap().to_string(), json!("SOME {system} TEXT")))
            .collect();
        let got = client.request("prompts/get", json!({"name": prompt["name"], "arguments": arguments}));
        let text =
            got["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{got}"));
        assert!(text.contains("SOME {system} TEXT") && text.contains("check"), "{text}");
    }
    #[rustfmt::skip]
    let rows = [
        (json!({"name": "model-this-system"}),                                       "the argument `system` is missing"),
        (json!({"name": "model-this-system", "arguments": {"system": 1}}),           "must be a text"),
        (json!({"name": "model-this-system", "arguments": {"system": "", "x": ""}}), "has no argument `x`"),
        (json!({"name": "sing"}),                                                    "the prompts are model-this-system"),
    ];
    for (params, expected) in rows {
        let got = client.request("prompts/get", params);
        assert!(got["error"]["message"].as_str().unwrap().contains(expected), "{got}");
    }
    client.end();
}
