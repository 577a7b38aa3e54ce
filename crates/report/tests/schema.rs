//! The published schemas: their text, and whether reports conform to them.

use masque_driver::{Limits, Request, Show, TestRequest, Work, check, load_text, test_loaded};
use masque_monitor::map::{ObservedEvent, ObservedKind};
use masque_monitor::{
    CloseReason, Closing, EventVerdict, FactChange, GoalChange, GoalStatus, InstanceChange, InstanceStatus,
    Judgement, ObligationInstance, Reason, Status, Truth, Violation,
};
use masque_report::{
    BenchRow, ModelTestReport, MonitorEvent, MonitorLine, MonitorProblem, MonitorSession, MonitorStart,
    MonitorSummary, Subject, TestReport, bench_json, bench_schema, graph_schema, json, monitor_schema,
    run_report, schema, test_schema, why_schema,
};
use serde_json::Value;

const MODEL: &str = "
    param N = 3;
    Agent Counter
      Vars: n : 0..N; end Vars
      Actions = {tick};
      Protocol: Other : {tick}; end Protocol
      Evolution: n = n + 1 if Action = tick; end Evolution
    end Agent
    Evaluation full if Counter.n = N; end Evaluation
    InitStates Counter.n = 0; end InitStates
    Formulae AF full; AG !full; <Counter> F full; end Formulae";

/// Returns the report on a model as JSON.
fn report(name: &str, text: &str, request: &Request, is_checked: bool) -> Value {
    let loaded = load_text(name, text, request);
    let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap().filter(|_| is_checked);
    let report = run_report(Subject { loaded: &loaded, run: run.as_ref() }, true);
    let mut out = Vec::new();
    json(&mut out, vec![report]).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn schema_text() {
    insta::assert_snapshot!(schema());
    insta::assert_snapshot!("bench_schema_text", bench_schema());
    insta::assert_snapshot!("why_schema_text", why_schema());
    insta::assert_snapshot!("graph_schema_text", graph_schema());
    insta::assert_snapshot!("test_schema_text", test_schema());
    insta::assert_snapshot!("monitor_schema_text", monitor_schema());
}

/// Tests with all kinds of results, and one with errors.
#[test]
fn tests_follow_the_schema() {
    let schema: Value = serde_json::from_str(&test_schema()).unwrap();
    let with = |formulas: &str| MODEL.replace("AF full; AG !full;", formulas);
    let good = with(
        "AF full; -- expect: holds, so\n for i in 1..2 { EF full; -- expect: fails\n }\n -- expect states: 4\n -- expect warning: ispl/overflow\n",
    );
    let mut report = TestReport::new(&[]);
    for text in [good, with("AF full; -- expect: hold\n"), "Agent".to_string()] {
        let loaded = load_text("m.ispl", &text, &Request::default());
        let tested = test_loaded(loaded, &TestRequest::default(), &Limits::default()).unwrap();
        report.add(ModelTestReport::new(&tested));
    }
    report.add_not_tested();
    let mut out = Vec::new();
    report.json(&mut out).unwrap();
    let mut data: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(mistakes(&schema, &schema, &data, "$"), Vec::<String>::new());
    let statuses = |data: &Value| [0, 1, 2].map(|model: usize| data["models"][model]["status"].to_string());
    assert_eq!(statuses(&data), ["\"differs\"", "\"broken\"", "\"broken\""]);
    assert_eq!(data["models"][0]["results"].as_array().unwrap().len(), 5);
    assert_eq!((&data["summary"]["models"], &data["summary"]["not_tested"]), (&4.into(), &1.into()));
    data["models"][0]["status"] = "fine".into();
    assert_eq!(mistakes(&schema, &schema, &data, "$").len(), 1);
}

#[test]
fn tables_follow_the_schema() {
    let schema: Value = serde_json::from_str(&bench_schema()).unwrap();
    let mut out = Vec::new();
    bench_json(&mut out, &[BenchRow::stopped("m.ispl", "auto", "timeout")], &[]).unwrap();
    let table: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(mistakes(&schema, &schema, &table, "$"), Vec::<String>::new());
}

#[test]
fn reports_follow_the_schema() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let request = Request { at: Some(masque_driver::At::Reachable), ..Request::default() };
    for (text, is_checked) in [(MODEL, true), (MODEL, false), ("Agent", true), ("", true)] {
        let report = report("m.ispl", text, &request, is_checked);
        assert_eq!(mistakes(&schema, &schema, &report, "$"), Vec::<String>::new());
    }
    let mut wrong = report("m.ispl", MODEL, &request, true);
    wrong["runs"][0]["properties"][0]["verdict"] = "maybe".into();
    wrong["runs"][0]["surprise"] = 1.into();
    assert_eq!(mistakes(&schema, &schema, &wrong, "$").len(), 1, "a field may be added");
}

/// For a property that holds, the evidence has the fields of its language.
#[test]
fn reports_on_protocols_and_transition_systems_follow_the_schema() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let protocol = "a(hen, H) :: null. agent a(hen, h). property p : AF final ; property q : EF ff ;";
    let cases = [("m.lcc", protocol, "events"), ("m.aut", "des (0, 1, 2)\n(0, a, 1)\n", "labels")];
    for (name, text, field) in cases {
        let properties = if name == "m.aut" { vec!["[a]<a>tt".to_string()] } else { Vec::new() };
        let work = Work { evidence: Show::All, ..Work::default() };
        let report = report(name, text, &Request { properties, work, ..Request::default() }, true);
        assert_eq!(mistakes(&schema, &schema, &report, "$"), Vec::<String>::new());
        assert!(report["runs"][0]["properties"][0]["evidence"][field].is_array(), "{report}");
    }
}

#[test]
fn bdi_reports_follow_the_schema() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let text = "
        agent a is init forall x in AP : x := false; { B(b, p) := true } | { B(b, p | q) := true }
        agent b is loop p := any, q := any endloop
        property f: AG !B(b, p | q) & B(b, !q);
        property g initially: AF B(b, p & q);";
    for text in [text, "agent", "agent a is init B(b, p) := true"] {
        let report = report("m.bdi", text, &Request::default(), true);
        assert_eq!(mistakes(&schema, &schema, &report, "$"), Vec::<String>::new());
        let has_evidence = report["runs"][0]["properties"][0]["evidence"]["next"].is_array();
        let was_checked = report["runs"][0]["worlds"].is_object();
        assert_eq!(has_evidence, was_checked);
    }
}

/// A line of each type, with all its parts.
#[test]
fn lines_of_a_monitor_follow_the_schema() {
    let schema: Value = serde_json::from_str(&monitor_schema()).unwrap();
    let instance = ObligationInstance {
        obligation: "obligation_1".to_string(),
        owes: "w owes send(report(5)) to bo".to_string(),
        bindings: vec![("X".to_string(), "5".to_string())],
    };
    let goal = |status| GoalChange { goal: "told".to_string(), status };
    let goals = vec![goal(GoalStatus::Lost), goal(GoalStatus::Unknown("bound".to_string()))];
    let reason = Reason { text: "w waits".to_string(), rules: Vec::new() };
    let violation = Violation { instead: vec!["w -> bo: report(5)".to_string()], because: vec![reason] };
    let judgement = Judgement {
        event: EventVerdict::Violated(violation),
        goals: goals.clone(),
        facts: vec![FactChange { property: "safe".to_string(), truth: Truth::Possible }],
        obligations: vec![InstanceChange { instance: instance.clone(), status: InstanceStatus::NeverDue }],
        n_states: 3,
    };
    let event = ObservedEvent {
        kind: Some(ObservedKind::Sent),
        from: Some("w".to_string()),
        columns: vec![("Lamp.on".to_string(), "true".to_string())],
        ..ObservedEvent::default()
    };
    let status = Status { goals, facts: judgement.facts.clone(), ..Status::default() };
    let closing =
        Closing { open: vec![instance.clone()], perhaps_open: vec![instance], ..Closing::default() };
    let key = Some("s".to_string());
    let problem =
        MonitorProblem { problem: "late_record", line: Some(7), column: None, message: "late".to_string() };
    for line in [
        MonitorLine::Start(MonitorStart::default().with_status(&status)),
        MonitorLine::Event(Box::new(MonitorEvent::judged(3, &key, &event, &judgement, &Default::default()))),
        MonitorLine::Problem(problem),
        MonitorLine::Session(MonitorSession::new(&key, CloseReason::LogEnd, 3).with_closing(&closing)),
        MonitorLine::Summary(MonitorSummary::default()),
    ] {
        let mut out = Vec::new();
        line.write_json(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1);
        let mut data: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(mistakes(&schema, &schema, &data, "$"), Vec::<String>::new(), "{text}");
        let members = data.as_object_mut().unwrap();
        members.retain(|name, _| name == "type");
        assert_eq!(mistakes(&schema, &schema, &data, "$").len(), 1, "{text}");
    }
}

/// Returns the violations of a schema by a value. Supports the part of JSON Schema that our schemas use.
fn mistakes(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect("a definition");
        return mistakes(root, target, value, path);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let fits = choices.iter().any(|s| mistakes(root, s, value, path).is_empty());
            return if fits { Vec::new() } else { vec![format!("{path} fits no choice")] };
        }
    }
    let mut found = Vec::new();
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is_number = types.contains(&"number") && value.is_number();
    if !(types.is_empty() || types.contains(&type_of(value)) || is_number) {
        found.push(format!("{path} is not {types:?}"));
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        found.push(format!("{path} is not the constant"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        found.push(format!("{path} is none of the words"));
    }
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.is_object() && value.get(required).is_none() {
            found.push(format!("{path}.{required} is missing"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let expected = schema["properties"].get(name).or(schema.get("additionalProperties"));
        found.extend(expected.into_iter().flat_map(|s| mistakes(root, s, inner, &format!("{path}.{name}"))));
    }
    if let Some(items) = schema.get("items") {
        for (position, inner) in value.as_array().into_iter().flatten().enumerate() {
            found.extend(mistakes(root, items, inner, &format!("{path}[{position}]")));
        }
    }
    found
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
