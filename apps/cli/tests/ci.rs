//! Reports for continuous integration: SARIF, JUnit and annotations of GitHub Actions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use serde_sarif::sarif::Sarif;

const PROGRAM: &str = env!("CARGO_BIN_EXE_masque");

/// The models of a run with a diagnostic, a failure and an unknown, in three languages.
const MODELS: [&str; 4] = ["ci/broken.ispl", "ci/lamp.ispl", "ci/counter.lcc", "ci/coin.bdi"];

/// Runs a command line in the folder of the tests.
fn masque(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir("tests").stdin(Stdio::null());
    command.env_remove("GITHUB_ACTIONS").env_remove("GITHUB_WORKSPACE");
    command
}

fn check(format: &str, more: &[&str]) -> Output {
    let args = [&["check", "--format", format][..], &MODELS, more].concat();
    masque(&args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The schema of SARIF that the crate `serde-sarif` ships.
fn sarif_schema() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = |more: &[&str]| {
        let args = [&["metadata", "--format-version", "1", "--locked"], more].concat();
        Command::new(&cargo).args(args).stderr(Stdio::null()).output().unwrap()
    };
    // Offline if possible; crates for other systems may be missing then.
    let found = [metadata(&["--offline"]), metadata(&[])].into_iter().find(|output| output.status.success());
    let metadata: Value = serde_json::from_slice(&found.expect("cargo metadata").stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
    let schema = fs::read_to_string(manifest.with_file_name("src").join("schema.json")).unwrap();
    serde_json::from_str(&schema).unwrap()
}

/// Reads a log as JSON and through the types of `serde-sarif`, and returns it with the errors of the schema.
fn validated(schema: &Value, log: &str) -> (Value, Vec<String>) {
    let value: Value = serde_json::from_str(log).unwrap();
    let sarif: Sarif = serde_json::from_str(log).unwrap();
    assert_eq!(sarif.runs.len(), 1);
    let errors = crate::json_schema::errors(schema, &value);
    (value, errors)
}

#[test]
fn sarif_is_valid_and_complete() {
    let sarif_schema = sarif_schema();
    let output = check("sarif", &[]);
    assert_eq!(output.status.code(), Some(2));
    let log = text(&output.stdout);
    let (value, errors) = validated(&sarif_schema, &log);
    assert_eq!(errors, [""; 0]);
    let run = &value["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], 2);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let results = run["results"].as_array().unwrap();
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize], result["ruleId"]);
    }
    let used: BTreeSet<&str> = results.iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    assert_eq!(rules, used.into_iter().collect::<Vec<_>>());
    for code in ["check/property-fails", "check/property-unknown", "ispl/unknown-proposition"] {
        assert!(rules.contains(&code), "{code} of {rules:?}");
    }
    insta::assert_snapshot!(log.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    // The validator refuses logs that are damaged in one place.
    let damage: [(&str, Value); 8] = [
        ("/version", "3.0.0".into()),
        ("/runs/0/tool/driver/name", Value::Null),
        ("/runs/0/results/0/level", "fatal".into()),
        ("/runs/0/results/0/ruleIndex", (-2).into()),
        ("/runs/0/results/0/message", Value::Object(Default::default())),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0.into()),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a b".into()),
        ("/runs/0/columnKind", "bytes".into()),
    ];
    for (place, wrong) in damage {
        let mut damaged = value.clone();
        *damaged.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = wrong;
        assert_ne!(crate::json_schema::errors(&sarif_schema, &damaged), [""; 0], "{place}");
    }
    let mut damaged = value.clone();
    damaged["runs"][0]["results"][0]["colour"] = "red".into();
    assert_ne!(crate::json_schema::errors(&sarif_schema, &damaged), [""; 0]);
}

/// A transition system, whose properties are in another file.
#[test]
fn transition_systems_are_reported() {
    let args = |format| ["check", "models/lamp.aut", "models/lamp.mu", "--format", format];
    let output = masque(&args("sarif")).output().unwrap();
    let (log, errors) = validated(&sarif_schema(), &text(&output.stdout));
    assert_eq!((errors, output.status.code()), (Vec::new(), Some(1)));
    let result = &log["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "models/lamp.mu");
    assert_eq!(place["region"]["startColumn"], 1);
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(steps[0]["location"]["message"]["text"], "0 --press--> 1");
    let schema = crate::xsd::Schema::read(&fs::read_to_string("tests/schemas/junit-10.xsd").unwrap());
    let report = text(&masque(&args("junit")).output().unwrap().stdout);
    assert_eq!(schema.errors(&report), [""; 0]);
    assert!(report.contains("tests=\"4\" failures=\"2\" errors=\"0\""), "{report}");
}

/// Every model of the gallery and of the regression tests, as SARIF and as JUnit.
#[test]
fn the_gallery_gives_valid_reports() {
    let sarif_schema = sarif_schema();
    let schema = crate::xsd::Schema::read(&fs::read_to_string("tests/schemas/junit-10.xsd").unwrap());
    let mut files = Vec::new();
    for folder in ["ispl", "bdi", "lcc", "regress"] {
        for entry in fs::read_dir(Path::new("../../models").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if ["ispl", "bdi", "lcc", "aut"].contains(&ending) {
                files.push(format!("../{}", path.display()));
            }
        }
    }
    files.sort();
    assert!(files.len() > 50, "{files:?}");
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let args =
        |format| [&["check", "--each", "--timeout", "200ms", "--format", format, "--"][..], &names].concat();
    let output = masque(&args("sarif")).output().unwrap();
    let (_, errors) = validated(&sarif_schema, &text(&output.stdout));
    assert_eq!(errors, [""; 0]);
    let output = masque(&args("junit")).output().unwrap();
    assert_eq!(schema.errors(&text(&output.stdout)), [""; 0]);
}

#[test]
fn junit_is_valid_and_complete() {
    let schema = crate::xsd::Schema::read(&fs::read_to_string("tests/schemas/junit-10.xsd").unwrap());
    let output = check("junit", &[]);
    assert_eq!(output.status.code(), Some(2));
    let report = text(&output.stdout);
    assert_eq!(schema.errors(&report), [""; 0]);
    let document = roxmltree::Document::parse(&report).unwrap();
    let root = document.root_element();
    let count = |name: &str| root.descendants().filter(|node| node.has_tag_name(name)).count().to_string();
    assert_eq!(root.attribute("tests"), Some(count("testcase").as_str()));
    assert_eq!(root.attribute("failures"), Some(count("failure").as_str()));
    assert_eq!(root.attribute("errors"), Some(count("error").as_str()));
    assert_eq!(root.children().filter(|node| node.has_tag_name("testsuite")).count(), MODELS.len());
    insta::assert_snapshot!(report);
    // With times, which the report has only on request.
    let timed = text(&check("junit", &["--stats"]).stdout);
    assert!(timed.contains(" time=\"") && !report.contains(" time=\""));
    assert_eq!(schema.errors(&timed), [""; 0]);
}

/// The check of the schema finds what the schema forbids.
#[test]
fn the_schema_of_junit_is_checked() {
    let schema = crate::xsd::Schema::read(&fs::read_to_string("tests/schemas/junit-10.xsd").unwrap());
    let suite = |content: &str| {
        format!("<testsuite name='a' tests='1' failures='0' errors='0'>{content}</testsuite>")
    };
    for good in [
        "",
        "<testcase name='x'/>",
        "<properties><property name='a' value='b'/></properties>",
        "<testcase name='x'><failure type='t' message='m'>text</failure><system-out>o</system-out></testcase>",
    ] {
        assert_eq!(schema.errors(&suite(good)), [""; 0], "{good}");
    }
    for bad in [
        "<testcase/>",
        "<testcase name='x' line='3'/>",
        "<test name='x'/>",
        "text",
        "<testcase name='x'>text</testcase>",
        "<properties><testcase name='x'/></properties>",
        "<properties><property name='a'/></properties>",
        "<testcase name='x'><property name='a' value='b'/></testcase>",
    ] {
        assert_ne!(schema.errors(&suite(bad)), [""; 0], "{bad}");
    }
    assert_ne!(
        schema.errors("<testsuite name='a' tests='1' failures='0' errors='0' time='1.2345'/>"),
        [""; 0]
    );
    assert_ne!(schema.errors("<suite/>"), [""; 0]);
}

/// Names of files and of properties may have any characters; the reports stay valid.
#[cfg(unix)]
#[test]
fn strange_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let name = "ü b#%&<\">\u{1b}\u{202e}.aut";
    let label = "\"a\u{1b}\u{9b}\u{202e}<&>]]>\u{ffff}\"";
    fs::write(folder.path().join(name), format!("des (0,1,2)\n(0,{label},1)\n")).unwrap();
    let run = |format: &str, more: &[&str]| {
        let args = [&["check", name, "--property", "[-]ff", "--format", format], more].concat();
        let output = masque(&args).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = text(&output.stdout);
        let is_plain = |c: char| c == '\n' || (!c.is_control() && c != '\u{202e}');
        assert!(text.chars().all(is_plain), "{text:?}");
        text
    };
    let schema = crate::xsd::Schema::read(&fs::read_to_string("tests/schemas/junit-10.xsd").unwrap());
    assert_eq!(schema.errors(&run("junit", &[])), [""; 0]);
    let log: Value = serde_json::from_str(&run("sarif", &[])).unwrap();
    let location = &log["runs"][0]["results"][0]["locations"][0];
    let uri = location["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.starts_with("%C3%BC%20b%23%25%26%3C%22%3E") && uri.ends_with(".aut"), "{uri}");
    assert_eq!(location["logicalLocations"][0]["name"], "<--property>");
    let _: Value = serde_json::from_str(&run("json", &[])).unwrap();
}

#[test]
fn standard_input_has_no_file() {
    let mut command = masque(&["check", "-", "--format", "sarif"]);
    let model = fs::File::open("tests/ci/lamp.ispl").unwrap();
    let output = command.stdin(model).output().unwrap();
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let location = &log["runs"][0]["results"][0]["locations"][0];
    assert_eq!(location["physicalLocation"], Value::Null);
    assert_eq!(location["logicalLocations"][0]["name"], "<stdin>");
    assert_eq!(log["runs"][0]["artifacts"], Value::Array(Vec::new()));
}

#[test]
fn warnings_are_errors_if_they_are_denied() {
    let suite = |more: &[&str]| {
        let args = [&["check", "models/stop.ispl", "--format", "junit"], more].concat();
        text(&masque(&args).output().unwrap().stdout)
    };
    assert!(suite(&[]).contains("errors=\"0\"") && suite(&[]).contains("<system-out>warning[ispl/deadlock]"));
    assert!(suite(&["--deny", "warnings"]).contains("<error type=\"ispl/deadlock\""));
}

#[test]
fn annotations_go_to_standard_error() {
    let annotated = |format: &str, workspace: &Path| {
        let args = [&["check", "--format", format][..], &MODELS].concat();
        let mut command = masque(&args);
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", workspace);
        let output = command.output().unwrap();
        (text(&output.stdout), text(&output.stderr))
    };
    let root = fs::canonicalize("../..").unwrap();
    let (report, annotations) = annotated("text", &root);
    assert_eq!(report, text(&check("text", &[]).stdout));
    let expected = "::error file=apps/cli/tests/ci/broken.ispl,line=10,endLine=10,col=13,endColumn=16,\
                    title=ispl/unknown-proposition::";
    assert!(annotations.starts_with(expected), "{annotations}");
    assert!(annotations.lines().all(|line| line.starts_with("::")), "{annotations}");
    insta::assert_snapshot!(annotations);
    // The same in other formats; without a root, paths stay as they are.
    let (_, elsewhere) = annotated("sarif", Path::new("/no/such/folder"));
    assert_eq!(elsewhere.replace("file=", "file=apps/cli/tests/"), annotations);
    // Only `true` counts.
    let args = [&["check"][..], &MODELS].concat();
    let output = masque(&args).env("GITHUB_ACTIONS", "false").output().unwrap();
    assert_eq!(text(&output.stderr), "");
}

/// The step of the composite action that checks models, run by a shell as GitHub runs it. Without `bash`, a note is
/// printed and nothing is tested.
#[cfg(unix)]
#[test]
fn the_action_checks_models() {
    let action = fs::read_to_string("../../.github/actions/masque/action.yml").unwrap();
    let step = action.split("- name: ").find(|step| step.starts_with("Check models")).unwrap();
    let (_, script) = step.split_once("run: |\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let outputs = folder.path().join("outputs");
    let run = |format: &str, args: &str| {
        fs::write(&outputs, "").unwrap();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir("tests");
        bash.envs([("FILES", "ci/la*.ispl ci/coin.bdi"), ("ARGS", args), ("FORMAT", format), ("OUTPUT", "")]);
        bash.envs([("PROGRAM", PROGRAM), ("SOURCE", ""), ("ACTION_PATH", "/no/such")])
            .env("GITHUB_OUTPUT", &outputs);
        bash.env_remove("GITHUB_ACTIONS").env("OUTPUT", folder.path().join(format)).stdin(Stdio::null());
        let output = bash.output().ok()?;
        Some((output.status.code(), fs::read_to_string(&outputs).unwrap()))
    };
    let Some((code, written)) = run("junit", "") else {
        println!("there is no `bash` here: the action was not tested");
        return;
    };
    let report = folder.path().join("junit");
    assert_eq!((code, written), (Some(0), format!("report={}\nexit-code=1\n", report.display())));
    let schema = crate::xsd::Schema::read(&fs::read_to_string("tests/schemas/junit-10.xsd").unwrap());
    let report = fs::read_to_string(report).unwrap();
    assert_eq!(schema.errors(&report), [""; 0]);
    assert!(report.starts_with("<?xml") && report.contains("tests=\"4\" failures=\"2\""), "{report}");
    assert!(run("sarif", "--timeout 0s").unwrap().1.ends_with("exit-code=3\n"));
    assert_eq!(run("yaml", "").unwrap().0, Some(2));
    let workflow = fs::read_to_string("../../.github/workflows/models.yml").unwrap();
    assert!(workflow.contains("uses: ./.github/actions/masque"));
}
