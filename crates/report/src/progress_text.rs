//! How far a check has come, in words.

use std::time::Duration;

use masque_driver::{DiagramPhase, DiagramProgress, Found, Progress, Reached};

/// Time after which the number of states per second is meaningful.
const RATE_DELAY: Duration = Duration::from_secs(1);

/// How far a check has come. `span` is the time for which states have been counted, and the number of new states in
/// that time.
pub fn progress_text(progress: Progress, span: (Duration, u64)) -> String {
    let Progress { decided, total, is_explored, reached } = progress;
    match (is_explored, reached) {
        (true, Some(Reached::Diagrams(diagrams))) => {
            format!("{decided} of {total} properties decided, {}", store(diagrams))
        }
        (true, _) => format!("{decided} of {total} properties decided"),
        (false, reached) => {
            let exploring = match reached {
                None => "finding the reachable states".to_string(),
                Some(Reached::States(found)) => counting(found, span),
                Some(Reached::Diagrams(diagrams)) => with_diagrams(diagrams),
            };
            early_verdicts(decided, total) + &exploring
        }
    }
}

/// The verdicts found while states are still being explored.
fn early_verdicts(decided: usize, total: usize) -> String {
    match decided {
        0 => String::new(),
        _ if decided == total => "all properties decided, ".to_string(),
        _ => format!("{decided} of {total} properties decided, "),
    }
}

fn counting(Found { states, layer, workers }: Found, (time, more): (Duration, u64)) -> String {
    let mut text = format!("{} states found", grouped(states));
    if time >= RATE_DELAY {
        let rate = u128::from(more) * 1000 / time.as_millis();
        text += &format!(", {} a second", grouped(rate as u64));
    }
    if layer > 0 {
        text += &format!(", layer {layer}");
    }
    if workers > 1 {
        text += &format!(", {workers} workers");
    }
    text
}

/// The phase of an engine on decision diagrams.
fn with_diagrams(diagrams: DiagramProgress) -> String {
    let doing = match diagrams.phase {
        DiagramPhase::Encoding => "encoding the model".to_string(),
        DiagramPhase::Ordering => "trying variable orders".to_string(),
        DiagramPhase::Exploring if diagrams.rounds > 0 => {
            format!("finding the reachable states, round {}", grouped(diagrams.rounds))
        }
        DiagramPhase::Exploring => "finding the reachable states".to_string(),
        DiagramPhase::Deciding => "deciding properties".to_string(),
    };
    format!("{doing}, {}", store(diagrams))
}

/// The size of the store of diagrams.
fn store(diagrams: DiagramProgress) -> String {
    format!("{} nodes, {} MB", grouped(diagrams.nodes), grouped(diagrams.bytes / 1_000_000))
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_digits() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (12_345_678, "12 345 678")] {
            assert_eq!(grouped(number), text);
        }
    }
}
