//! What the tests share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};

use masque_lcc::{Given, Parts, System, open};
use masque_mu::{Formula, read_formula};
use masque_text::{Sources, render};

/// The folder of the models.
pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/lcc")
}

/// One file of expected answers.
pub(crate) struct Expectation {
    pub(crate) name: String,
    pub(crate) files: Vec<String>,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) json: serde_json::Value,
}

/// All files of expected answers, by name.
pub(crate) fn expectations() -> Vec<Expectation> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(models())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".expected.json"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let options = json["options"].as_object().unwrap();
        let options = options.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_string()));
        Expectation {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            files: serde_json::from_value(json["files"].clone()).unwrap(),
            options: options.collect(),
            json,
        }
    };
    paths.iter().map(read).collect()
}

/// The system of some model files; they must have no errors.
pub(crate) fn load(files: &[String], options: &[(String, String)]) -> (System, Sources) {
    let mut sources = Sources::default();
    let texts =
        files.iter().map(|file| (file.clone(), std::fs::read_to_string(models().join(file)).unwrap()));
    let ids: Vec<_> = texts.map(|(file, text)| sources.add(file, text).unwrap()).collect();
    let given: Vec<Given> = options
        .iter()
        .map(|(name, value)| {
            let file = sources.add("--option", format!("{name}={value}")).unwrap();
            Given { name: name.clone(), value: value.clone(), span: sources.span(file) }
        })
        .collect();
    let opened = open(&mut sources, &Parts { files: ids, options: given, ..Parts::default() });
    let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    let system = opened.system.unwrap_or_else(|| panic!("{drawn}"));
    (system, sources)
}

/// The team of the travel example with so many airlines, and what it knows.
pub(crate) fn travel_team(n_airlines: usize) -> String {
    let airlines: Vec<String> = (1..=n_airlines).map(|number| format!("air{number}")).collect();
    let team = std::fs::read_to_string(models().join("travel_team.lcc")).unwrap();
    let mut text: String = team
        .lines()
        .filter(|line| !line.contains("a(airline,") && !line.contains("fl(ba") && !line.contains("fl(lh"))
        .map(|line| format!("{}\n", line.replace("[ba,lh]", &format!("[{}]", airlines.join(",")))))
        .collect();
    for (number, airline) in airlines.iter().enumerate() {
        text += &format!("server a(airline, {airline}).\n");
        text += &format!("know {airline}: flight(_, _, rome, fl({airline}, {number})).\n");
        text += &format!("know {airline}: ticket(P, tk({airline}, P)).\n");
    }
    text
}

/// The travel example with so many airlines, nobody refused.
pub(crate) fn travel(n_airlines: usize, options: &[(&str, &str)]) -> (System, Sources) {
    let mut sources = Sources::default();
    let mut ids = vec![sources.add("team.lcc", travel_team(n_airlines)).unwrap()];
    for file in ["travel.lcc", "rules.pol", "f_member.lcc", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"] {
        let text = std::fs::read_to_string(models().join(file)).unwrap();
        ids.push(sources.add(file, text).unwrap());
    }
    let given: Vec<Given> = options
        .iter()
        .map(|(name, value)| {
            let file = sources.add("--option", format!("{name}={value}")).unwrap();
            Given { name: name.to_string(), value: value.to_string(), span: sources.span(file) }
        })
        .collect();
    let opened = open(&mut sources, &Parts { files: ids, options: given, ..Parts::default() });
    let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    (opened.system.unwrap_or_else(|| panic!("{drawn}")), sources)
}

/// Clients that are all alike and need a lock each, once.
pub(crate) fn lock(n_clients: usize) -> String {
    let clients: String = (1..=n_clients).map(|number| format!("agent a(client, c{number}). ")).collect();
    format!(
        "a(client, C) :: request => a(lock, l) then granted <= a(lock, l) then null <- work then
           release => a(lock, l).
         a(lock, L) :: request <= a(client, C) then granted => a(client, C) then
           release <= a(client, C) then a(lock, L).
         {clients} server a(lock, l). common work. option cap = 100."
    )
}

/// The system of a text, and formulas about it.
pub(crate) fn read(text: &str, formulas: &[&str]) -> (System, Vec<Formula>) {
    let mut sources = Sources::default();
    let file = sources.add("text.lcc", text).unwrap();
    let opened = open(&mut sources, &Parts { files: vec![file], ..Parts::default() });
    let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    let mut system = opened.system.unwrap_or_else(|| panic!("{drawn}"));
    let formula = |text: &&str| {
        let file = sources.add("formula", text.to_string()).unwrap();
        read_formula(&sources, sources.span(file), &mut system).0.unwrap()
    };
    let formulas = formulas.iter().map(formula).collect();
    (system, formulas)
}

/// What is said of some model files.
pub(crate) fn diagnose(files: &[String]) -> Vec<masque_text::Diagnostic> {
    let mut sources = Sources::default();
    let texts =
        files.iter().map(|file| (file.clone(), std::fs::read_to_string(models().join(file)).unwrap()));
    let ids: Vec<_> = texts.map(|(file, text)| sources.add(file, text).unwrap()).collect();
    open(&mut sources, &Parts { files: ids, ..Parts::default() }).diagnostics
}
