//! The maps that are part of the program, on records of the real SDKs; and messages about bad maps.

use masque_monitor::map::{Map, READY_MAPS, RecordForm, read_map};
use masque_monitor::record::{Json, Lines};
use masque_monitor::{Intake, IntakeOptions, Intaken, Item};
use masque_text::{Diagnostic, Sources};

/// Reads a map that has no errors.
fn map(text: &str) -> Map {
    let mut sources = Sources::default();
    let file = sources.add("map.toml", text).unwrap();
    let (map, diagnostics) = read_map(&sources, file);
    assert!(diagnostics.is_empty(), "{}", shown(&sources, &diagnostics));
    map
}

fn ready(name: &str) -> Map {
    map(READY_MAPS.iter().find(|map| map.name == name).unwrap().text)
}

fn shown(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| masque_text::render(sources, diagnostic, false) + "\n").collect()
}

/// An observation in one line.
fn line(Item { line, observed }: &Item) -> String {
    let part = |text: &Option<String>| text.clone().unwrap_or("?".to_string());
    let session = observed.session.as_deref().unwrap_or("-");
    match &observed.event {
        Some(event) => {
            format!(
                "{line} {session}: {} -> {}: {}",
                part(&event.from),
                part(&event.to),
                part(&event.message)
            )
        }
        None => format!("{line} {session}: end"),
    }
}

/// The observations of a log, and the numbers of records.
fn observed(map: Map, log: &str) -> String {
    let mut intake = Intake::new(Some(map), RecordForm::Event, IntakeOptions::default());
    let mut all = Vec::new();
    let mut lines = Lines::new(1 << 20);
    lines.push(log.as_bytes());
    while let Some(line) = lines.next_line() {
        intake.line(&line, &mut |intaken| all.push(intaken));
    }
    intake.flush(&mut |intaken| all.push(intaken));
    let text = |intaken: &Intaken| match intaken {
        Intaken::Item(item) => line(item),
        other => format!("{other:?}"),
    };
    let lines: Vec<String> = all.iter().map(text).collect();
    let counts = intake.counts;
    format!("{}\n{} ignored, {} bad\n", lines.join("\n"), counts.ignored, counts.bad)
}

macro_rules! records {
    ($file:literal) => {
        include_str!(concat!("../maps/records/", $file))
    };
}

#[test]
fn spans_of_the_opentelemetry_sdk() {
    let plain = observed(ready("otel-genai"), records!("otel-genai.jsonl"));
    insta::assert_snapshot!(plain);
    // The same spans as export requests give the same events, but for lines and the session of ids.
    let otlp = observed(ready("otel-genai"), records!("otel-genai-otlp.jsonl"));
    assert_eq!(otlp, plain);
}

/// A span without `error.type` has failed if its status is an error, in each of the ways to write that.
#[test]
fn spans_that_failed_without_a_type() {
    let of_sdk = r#"{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "cody"}"#;
    let exported = r#"[{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}, {"key": "gen_ai.tool.name", "value": {"stringValue": "edit"}}]"#;
    let exception = r#"[{"name": "exception", "attributes": {"exception.type": "ValueError"}}]"#;
    for (attributes, status, events, last) in [
        (of_sdk, r#"{"status_code": "UNSET"}"#, "[]", "cody -> user: done"),
        (of_sdk, r#"{"status_code": "OK"}"#, exception, "cody -> user: done"),
        (of_sdk, r#"{"status_code": "ERROR"}"#, "[]", "cody -> user: failed('_OTHER')"),
        (of_sdk, r#"{"status_code": "ERROR"}"#, exception, "cody -> user: failed('ValueError')"),
        (exported, "{}", "[]", "tools -> ?: result(edit)"),
        (exported, r#"{"code": 1}"#, "[]", "tools -> ?: result(edit)"),
        (exported, r#"{"code": 2}"#, "[]", "tools -> ?: failed(edit, '_OTHER')"),
        (exported, r#"{"code": "STATUS_CODE_ERROR"}"#, "[]", "tools -> ?: failed(edit, '_OTHER')"),
    ] {
        let span = format!(
            r#"{{"start_time": 1, "end_time": 2, "traceId": "t", "attributes": {attributes}, "status": {status}, "events": {events}}}"#
        );
        let text = observed(ready("otel-genai"), &format!("{span}\n"));
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.lines().nth(1).unwrap().ends_with(last), "{text}");
    }
}

#[test]
fn messages_of_the_mcp_sdk() {
    insta::assert_snapshot!(observed(ready("mcp"), records!("mcp.jsonl")));
}

#[test]
fn bare_messages_of_mcp() {
    let log = r#"{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "X", "arguments": {}}}
{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602, "message": "no"}}
"#;
    let expected =
        "1 -: client -> server: call(a, 'X', object([]))\n2 -: server -> client: error(a, -32602)\n";
    assert_eq!(observed(ready("mcp"), log), format!("{expected}0 ignored, 0 bad\n"));
}

/// Results of sampling and elicitation also have `content`. A null is no error and no result.
#[test]
fn other_messages_of_mcp() {
    let ignored = r#"{"id": 1, "result": {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"}}
{"id": 2, "result": {"action": "accept", "content": {"name": "x"}}}
{"id": 3, "result": {"tools": []}}
{"method": "notifications/initialized"}
"#;
    assert_eq!(observed(ready("mcp"), ignored), "\n4 ignored, 0 bad\n");
    let log = r#"{"id": 1, "result": {"content": [], "isError": null}, "error": null}
{"id": 2, "result": null, "error": {"code": -32600}}
{"id": null, "error": {"code": -32700}}
"#;
    let expected = "1 -: server -> client: result(1)\n2 -: server -> client: error(2, -32600)\n\
        3 -: server -> client: error(_, -32700)\n0 ignored, 0 bad\n";
    assert_eq!(observed(ready("mcp"), log), expected);
}

#[test]
fn messages_of_the_a2a_sdk() {
    insta::assert_snapshot!(observed(ready("a2a"), records!("a2a.jsonl")));
}

/// The encoding of version 0.3, by its specification.
#[test]
fn messages_of_a2a_0_3() {
    let log = r#"{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"kind": "message", "role": "user", "contextId": "c", "parts": []}}}
{"jsonrpc": "2.0", "id": 1, "result": {"kind": "status-update", "taskId": "t", "contextId": "c", "final": false, "status": {"state": "input-required"}}}
{"jsonrpc": "2.0", "id": 1, "result": {"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": {"parts": []}}}
{"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "role": "agent", "contextId": "c", "parts": []}}
"#;
    let in_responses = observed(ready("a2a"), log);
    insta::assert_snapshot!(in_responses);
    // The message of the user and the results alone are the same events.
    let bare = r#"{"kind": "message", "role": "user", "contextId": "c", "parts": []}
{"kind": "status-update", "taskId": "t", "contextId": "c", "final": false, "status": {"state": "input-required"}}
{"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": {"parts": []}}
{"kind": "message", "role": "agent", "contextId": "c", "parts": []}
"#;
    assert_eq!(observed(ready("a2a"), bare), in_responses);
}

#[test]
fn hooks_of_a_coding_agent() {
    insta::assert_snapshot!(observed(ready("coding-agent-hooks"), records!("coding-agent-hooks.jsonl")));
}

#[test]
fn a_record_is_several_observations() {
    let map = map(r#"
session = "{run}"
[[event]]
when = { kind = "batch" }
each = "calls[*]"
from = "{agent}"
message = "'call-{item.tool}'({item.args}, {run})"
[[event]]
when = { kind = "batch" }
from = "{agent}"
message = "batch"
"#);
    let log = r#"{"run": 7, "kind": "batch", "agent": "Ann", "calls": [{"tool": "ls", "args": []}, {"tool": "f(X)", "args": [true]}]}
{"run": 7, "kind": "other"}
{"run": 8, "kind": "batch", "agent": {}, "calls": []}
{"run": 8, "kind": "batch", "agent": "Bob", "calls": [{"tool": "ls"}]}
"#;
    insta::assert_snapshot!(observed(map, log));
}

/// A null is no value; inside a list or an object it is the constant `null`.
#[test]
fn nulls_are_no_values() {
    let map = map(r#"
session = "{s?}"
[values]
n = { paths = ["x", "y"], otherwise = "other" }
[[event]]
when = { a = { exists = true } }
from = "{from?}"
message = "p({m?}, {n})"
[[event]]
when = { a = { exists = false } }
message = "none({item})"
each = "items[*]"
"#);
    let log = r#"{"a": 1, "s": null, "from": null, "m": null, "x": null, "y": "second"}
{"a": 1, "s": "c", "m": [null, {"k": null}], "x": null}
{"a": null, "items": [{"x": null}]}
{"a": null, "items": null}
{"a": null, "items": [null]}
"#;
    let expected = "1 -: ? -> ?: p(_, second)\n\
        2 c: ? -> ?: p([null, object([field(k, null)])], other)\n\
        3 -: ? -> ?: none(object([field(x, null)]))\n";
    let all = observed(map, log);
    let missing = "the record has no value at `item`, which the map needs here";
    assert!(all.starts_with(expected) && all.contains(missing), "{all}");
    // A record with an empty list makes no observation.
    assert!(all.ends_with("\n1 ignored, 1 bad\n"), "{all}");
}

/// A string of a record is one constant in every place of a map: it never becomes a variable or another term.
#[test]
fn records_cannot_inject_terms() {
    let map = map(
        "[[event]]\nfrom = \"{a}\"\nmessage = \"p({a}, '{a}', \\\"x-{a}\\\")\"\nconstraint = \"q({a})\"\n",
    );
    for text in
        ["X", "_", "f(X)", "a), b(", "'), q('", "\"", "'\"", "\\", "\\n", "\n", "% x", "{a}", "then", "7", ""]
    {
        let record = Json::Object(vec![("a".to_string(), Json::Text(text.to_string()))]);
        let mapped = map.apply(&record).unwrap();
        let event = mapped.observed[0].event.clone().unwrap();
        let part = masque_monitor::record::text_constant(text);
        let prefixed = masque_monitor::record::text_constant(&format!("x-{text}"));
        assert_eq!(event.from.as_deref(), Some(text));
        assert_eq!(event.message, Some(format!("p({part}, {part}, {prefixed})")), "{text:?}");
        assert_eq!(event.constraint, Some(format!("q({part})")), "{text:?}");
    }
}

#[test]
fn bad_maps() {
    let mut all = String::new();
    for text in [
        "session = \n",
        "order = \"time\"\n[[event]]\nmessage = \"m\"\n",
        "order = \"tiem\"\nsesion = \"x\"\n[[event]]\nmessage = \"m\"\n",
        "session = \"{a\"\n",
        "[[event]]\nmessage = 7\nform = \"{a}\"\n",
        "[[event]]\nwhen = { a = { exist = true }, 'b..c' = 1 }\nmessage = \"f({a}\\u007d)\"\n",
        "[[event]]\nwhen = { a = 1 }\n",
        "[[event]]\nend = true\nfrom = \"x\"\n",
        "window_seconds = 5\n[[event]]\nfrom = \"a\"\neach = \"x[\"\nkind = \"send\"\n",
        "event = 5\n[values]\nx = [1]\n",
        "[[event]]\nfrom = \"a\"\n[values]\nx = { path = \"x\", otherwise = 1.5 }\n",
        // `[*]` where it is not possible, and where it is missing.
        "records = \"runs\"\ntime = \"a[*].at\"\n[values]\nx = \"a[*]\"\n[[event]]\nfrom = \"a\"\neach = \"items\"\ntime = \"b[*]\"\n",
        "[[event]]\nwhen = { 'a[*]' = 1 }\nfrom = \"{a[*]}\"\n",
        // Mistakes at characters of several bytes, with and without escapes.
        "session = \"{a€}\"\ntime = 'a€b'\nrecords = '€'\n[[event]]\nmessage = \"p({a€})\"\n",
        "session = \"€}\\n\\n\\n\\n\"\ntime = '''a€b'''\n[[event]]\nfrom = \"{€\\n\\n\\n\\n\"\nto = \"\"\"{a€}\"\"\"\n",
    ] {
        let mut sources = Sources::default();
        let file = sources.add("map.toml", text).unwrap();
        let (_, diagnostics) = read_map(&sources, file);
        assert!(diagnostics.iter().any(Diagnostic::is_error), "{text}");
        all += &shown(&sources, &diagnostics);
    }
    insta::assert_snapshot!(all);
}

/// The blocks of a page in TOML.
fn toml_blocks(page: &str) -> Vec<&str> {
    page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn maps_of_the_documentation() {
    let page = include_str!("../../../docs/monitor.md");
    let blocks = toml_blocks(page);
    assert!(!blocks.is_empty());
    blocks.into_iter().for_each(|text| _ = map(text));
    map(include_str!("../../../examples/monitor/team.toml"));
    for ready in READY_MAPS {
        assert!(page.contains(&format!("| `{}` |", ready.name)), "{}", ready.name);
    }
}

/// The examples of the pages of diagnostics have the messages that they are about.
#[test]
fn bad_maps_of_the_documentation() {
    let page = include_str!("../../../docs/diagnostics-monitor.md");
    let mut n_examples = 0;
    for section in page.split("\n## ").skip(1) {
        let code = section.lines().next().unwrap();
        for text in toml_blocks(section) {
            let mut sources = Sources::default();
            let file = sources.add("map.toml", text).unwrap();
            let (_, diagnostics) = read_map(&sources, file);
            assert!(diagnostics.iter().any(|found| found.code == code), "{code}: {diagnostics:?}");
            n_examples += 1;
        }
    }
    assert!(n_examples >= 3);
}
