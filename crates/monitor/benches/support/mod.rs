//! The travel example, and logs of its runs.

use std::path::Path;

use fastrand::Rng;
use masque_lcc::{EventAction, EventText, InstanceInput, System, open};
use masque_monitor::lcc::{Bounds, LccModel, Observation};
use masque_mu::Lts;
use masque_text::Sources;

/// The files of the travel example. Its properties are in `travel.mu`.
const TRAVEL: [&str; 7] = [
    "travel.lcc",
    "travel_team.lcc",
    "rules.pol",
    "f_member.lcc",
    "f_customer.lcc",
    "f_pgp.lcc",
    "f_x509.lcc",
];

/// Opens the travel example with or without its properties.
pub(crate) fn travel(has_properties: bool) -> (System, LccModel) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/lcc");
    let mut sources = Sources::default();
    let mut add = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("a model");
        sources.add(name, text).expect("a short text")
    };
    let files = TRAVEL.map(&mut add).to_vec();
    let properties = if has_properties { vec![add("travel.mu")] } else { Vec::new() };
    let input = InstanceInput { files, properties, ..InstanceInput::default() };
    let opened = open(&mut sources, &input);
    let system = opened.system.clone().expect("a model without errors");
    let model = LccModel::new(&sources, opened, &[], Bounds::default()).expect("a model without errors");
    (system, model)
}

/// Returns the given number of messages that are sent in random runs.
pub(crate) fn logs(system: &mut System, n_events: usize) -> Vec<Vec<Observation>> {
    let mut rng = Rng::with_seed(7);
    let (mut logs, mut n) = (Vec::new(), 0);
    while n < n_events {
        let mut state = system.initial();
        let mut log = Vec::new();
        loop {
            let mut next = Vec::new();
            system.successors(state, &mut |label, to| next.push((label, to)));
            let Some((label, to)) = rng.choice(next) else { break };
            if let EventAction::Sent { by, to, message } = system.event(label).action {
                let text = EventText {
                    from: Some(by),
                    to: Some(to),
                    message: Some(message),
                    ..EventText::default()
                };
                log.push(Observation::read(text).expect("printed terms can be read"));
            }
            state = to;
        }
        n += log.len();
        logs.push(log);
    }
    logs
}
