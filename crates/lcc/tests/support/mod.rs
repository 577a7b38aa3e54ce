//! Helpers that several test files share.
#![allow(dead_code, reason = "an example uses a part of it")]

use std::path::{Path, PathBuf};

use masque_lcc::{Candidate, InstanceInput, OpenedInstance, Role, Setup, System, Text, open, open_with};
use masque_mu::{Formula, read_formula};
use masque_testkit::OpenFiles;
use masque_text::{FileId, OptionOverride, Sources, render};

/// Returns the folder of the models.
pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/lcc")
}

/// A model of `models/lcc/expected` and what it imports.
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) opened: OpenedInstance,
}

/// Opens all models of `models/lcc/expected`, sorted by name.
pub(crate) fn instances() -> Vec<Instance> {
    let entries = std::fs::read_dir(models().join("expected")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let open = |path: &PathBuf| {
        let mut sources = Sources::default();
        let text = std::fs::read_to_string(path).unwrap();
        let files = vec![sources.add(path.display().to_string(), text).unwrap()];
        let opened = open_with(
            &mut sources,
            &InstanceInput { files, ..InstanceInput::default() },
            &OpenFiles::default(),
        );
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Instance { name, opened }
    };
    paths.iter().map(open).collect()
}

/// Opens a model and what it imports, given its path from `models/lcc`.
pub(crate) fn open_model(path: &str) -> OpenedInstance {
    let path = models().join(path);
    let mut sources = Sources::default();
    let text = std::fs::read_to_string(&path).unwrap();
    let files = vec![sources.add(path.display().to_string(), text).unwrap()];
    open_with(&mut sources, &InstanceInput { files, ..InstanceInput::default() }, &OpenFiles::default())
}

/// Adds a model file to the sources.
fn add_model(sources: &mut Sources, file: &str) -> FileId {
    let text = std::fs::read_to_string(models().join(file)).unwrap();
    sources.add(file, text).unwrap()
}

/// Opens files, which must have no errors.
fn open_system(sources: &mut Sources, files: Vec<FileId>, options: &[(&str, &str)]) -> System {
    let option = |(name, value): &(&str, &str)| {
        let file = sources.add("--option", format!("{name}={value}")).unwrap();
        OptionOverride { name: name.to_string(), value: value.to_string(), span: sources.span(file) }
    };
    let options = options.iter().map(option).collect();
    let opened = open(sources, &InstanceInput { files, options, ..InstanceInput::default() });
    let drawn: String = opened.diagnostics.iter().map(|d| render(sources, d, false)).collect();
    opened.system.unwrap_or_else(|| panic!("{drawn}"))
}

/// Returns the team of the travel example with `n_airlines` airlines, and its facts.
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

/// Returns the travel example with `n_airlines` airlines and all its properties, for a session.
pub(crate) fn travel_setup(n_airlines: usize) -> Setup {
    let read = |file: &str| Text::new(file, std::fs::read_to_string(models().join(file)).unwrap());
    let mut files = vec![Text::new("team.lcc", travel_team(n_airlines))];
    files.extend(TRAVEL.map(read));
    let options = [("cap", "40"), ("depth", "60"), ("psize", "5000")];
    let options = options.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
    Setup { files, properties: vec![read("travel.mu")], options, ..Setup::default() }
}

/// The files of the travel example, without its team.
const TRAVEL: [&str; 6] =
    ["travel.lcc", "rules.pol", "f_member.lcc", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"];

/// Opens the travel example with `n_airlines` airlines; no agent is refused access.
pub(crate) fn travel(n_airlines: usize, options: &[(&str, &str)]) -> (System, Sources) {
    let mut sources = Sources::default();
    let mut files = vec![sources.add("team.lcc", travel_team(n_airlines)).unwrap()];
    files.extend(TRAVEL.map(|file| add_model(&mut sources, file)));
    (open_system(&mut sources, files, options), sources)
}

/// Returns the travel example without travel agent, hotel and credit card, and five candidates for each. One
/// of each is as in the paper; some of the others do not work.
pub(crate) fn travel_roles() -> (Setup, Vec<Role>) {
    let read = |file: &str| Text::new(file, std::fs::read_to_string(models().join(file)).unwrap());
    let team = std::fs::read_to_string(models().join("travel_team.lcc")).unwrap();
    let replaced = ["(travel_agent", "(hotel", "know ta:", "know br:", "know ritz:", "choice visa:"];
    let team: Vec<&str> =
        team.lines().filter(|line| !replaced.iter().any(|part| line.contains(part))).collect();
    let team = Text::new("team.lcc", team.join("\n"));
    let files = ["travel.lcc", "rules.pol", "f_customer.lcc", "f_pgp.lcc"].map(read);
    let files = std::iter::once(team).chain(files).collect();
    let setup = Setup { files, properties: vec![read("travel.mu")], ..Setup::default() };
    let candidate =
        |name: &str, cost: u32, statements: String| Candidate { name: name.into(), statements, cost };
    let agent = |id: &str, cost: u32, more: &str| {
        let statements = format!(
            "server a(travel_agent([ba,lh], hd, visa), {id}).  know br: candidate({id}).
             know {id}: query(hd, rome, [room(H)]) <- lodging(H).  know {id}: total(_, _, {cost}).
             know {id}: get_airline_agent(fl(A, _), A).  know {id}: get_hotel_agent(room(H), H). {more}"
        );
        candidate(id, cost, statements)
    };
    let hotel = |id: &str, cost: u32, knows: &str| {
        let statements = format!("server a(hotel, {id}).  common lodging({id}).  know {id}: {knows}.");
        candidate(id, cost, statements)
    };
    let card = |name: &str, cost: u32, more: &str| {
        candidate(name, cost, format!("server a(credit_card, visa).  {more}"))
    };
    let agents = vec![
        agent("tina", 500, ""),
        agent("tom", 450, "know hd: member(tom, syta).  rule tom: (self, _, -query(_, _, _))."),
        agent("ted", 550, "know hd: member(ted, syta)."),
        agent("tess", 480, "know hd: member(tess, syta).  know tess: busy."),
        agent("ta", 520, "know hd: member(ta, syta).  rule ta: (_, _, +room(_, _))."),
    ];
    let hotels = vec![
        hotel("shed", 10, "stars(0)"),
        hotel("ritz", 300, "room(P, rm(ritz, P))"),
        hotel("plaza", 250, "room(P, rm(plaza, P)) <- free(P)"),
        hotel("savoy", 350, "room(P, suite(P))"),
        hotel("inn", 90, "room(_, attic)"),
    ];
    let cards = vec![
        card("forged", 0, "know visa: authenticate(scribble).  choice visa: valid/1."),
        card("visa", 5, "know visa: authenticate('X.509').  choice visa: valid/1."),
        card("gold", 9, "know visa: authenticate('X.509').  know visa: valid(_)."),
        card("broke", 1, "know visa: authenticate('X.509').  know visa: valid(none)."),
        card("plain", 3, "know visa: authenticate('X.509').  know visa: valid(card1234)."),
    ];
    let role = |name: &str, candidates| Role { name: name.to_string(), candidates };
    (setup, vec![role("travel agent", agents), role("hotel", hotels), role("credit card", cards)])
}

/// Returns a protocol with `n_clients` interchangeable clients that acquire a lock once each.
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

/// Opens a text, which must have no errors, and resolves formulas about it.
pub(crate) fn read(text: &str, formulas: &[&str]) -> (System, Vec<Formula>) {
    let mut sources = Sources::default();
    let file = sources.add("text.lcc", text).unwrap();
    let mut system = open_system(&mut sources, vec![file], &[]);
    let formula = |text: &&str| {
        let file = sources.add("formula", text.to_string()).unwrap();
        read_formula(&sources, sources.span(file), &mut system).0.unwrap()
    };
    let formulas = formulas.iter().map(formula).collect();
    (system, formulas)
}
