//! Broken, hostile and random files: a message, no panic, bounded memory.

use std::time::Duration;

use masque_certificate::{Certificate, Limits, confirm};
use masque_model::System;
use masque_testkit::{Tally, random_fixpoint_model, random_game_model, random_model, seeds};

use crate::common::{certificate, engines};

/// Memory of a check, in bytes.
const MEMORY: u64 = 16 << 20;

#[test]
fn broken_files_are_refused() {
    let mut tally = Tally::default();
    for seed in seeds("0..40") {
        let make = [random_model, random_game_model, random_fixpoint_model][(seed % 3) as usize];
        let Some(system) = masque_testkit::load(&make(seed), masque_model::Deadlock::Finite) else {
            continue;
        };
        broken(&system, seed, &mut tally);
    }
    println!("{tally:?}");
    tally.assert_at_least(&[("unreadable", 500), ("not confirmed", 200)]);
}

/// Number of broken files made of each certificate.
const N_BROKEN: usize = 20;

fn broken(system: &System, seed: u64, tally: &mut Tally) {
    let mut random = fastrand::Rng::with_seed(seed);
    for (_, mut engine) in engines(system).expect("a small system") {
        for property in system.properties.iter().take(3) {
            let Some((holds, Ok(text))) = certificate(&mut *engine, property) else { continue };
            for _ in 0..N_BROKEN {
                let broken = damage(&text, &mut random);
                let Ok(read) = Certificate::parse(&broken) else {
                    tally.count("unreadable");
                    continue;
                };
                let limits = Limits { time: Some(Duration::from_secs(20)), bytes: MEMORY };
                match confirm(system, (property.formula, property.at), &read, limits) {
                    Ok(()) => {
                        assert_eq!(read.holds, holds, "the opposite verdict is confirmed:\n{broken}");
                        tally.count("still confirmed");
                    }
                    Err(_) => tally.count("not confirmed"),
                }
            }
        }
    }
}

/// Truncates a text, or replaces, repeats, swaps or removes a piece of it.
fn damage(text: &str, random: &mut fastrand::Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let line = random.usize(0..lines.len());
    match random.u8(0..9) {
        0 => return text[..random.usize(0..text.len())].to_string(),
        1 => _ = lines.remove(line),
        2 => lines.insert(line, lines[line].clone()),
        3 => {
            let other = random.usize(0..lines.len());
            lines.swap(line, other);
        }
        4 => lines[line] = (0..random.usize(0..40)).map(|_| random.char('\0'..'\u{2000}')).collect(),
        5 => {
            const WORDS: [&str; 8] = [
                "18446744073709551616",
                "4294967295",
                "-1",
                "1073741823",
                "-",
                "t",
                "0",
                "99999999999999999999",
            ];
            let mut words: Vec<&str> = lines[line].split(' ').collect();
            let word = random.usize(0..words.len());
            words[word] = WORDS[random.usize(0..WORDS.len())];
            lines[line] = words.join(" ");
        }
        6 => lines[line] += " of=0,0,0,0 set=t layers=t,t,t,f recur=t stage=0,t,t piece choice=0,0,t part=t",
        7 => {
            let digit =
                |c: char, random: &mut fastrand::Rng| if c.is_ascii_digit() { random.digit(10) } else { c };
            lines[line] = lines[line].chars().map(|c| digit(c, random)).collect();
        }
        _ => lines[line] = lines[line].repeat(random.usize(2..2000)),
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_certificate_that_needs_much_memory_reaches_the_limit() {
    // The next value of each variable depends on another one, in an order that makes the relation large.
    let n = 40;
    let variables: String = (0..n).map(|i| format!("a{i} : boolean; b{i} : boolean; ")).collect();
    let same: Vec<String> = (0..n).map(|i| format!("A.a{i} = A.b{i}")).collect();
    let initial = same.join(" and ");
    let text =
        masque_testkit::one_agent("MultiAssignment", &variables, "", "a0 = b0 if Action = a;", &initial);
    let system = masque_testkit::system(&text);
    let place = |name: String| masque_certificate::format::Place { is_action: false, name, power: 0 };
    let mut order: Vec<_> = (0..n).map(|i| place(format!("A.a{i}"))).collect();
    order.extend((0..n).map(|i| place(format!("A.b{i}"))));
    order.push(masque_certificate::format::Place { is_action: true, name: "A".to_string(), power: 0 });
    let certificate = Certificate { order, holds: true, ..Certificate::default() };
    let mut system = system;
    let formula = system.formulas.add(masque_model::Formula::Bool(true));
    let limits = Limits { time: Some(Duration::from_secs(60)), bytes: MEMORY };
    let answer = confirm(&system, (formula, masque_model::At::Initial), &certificate, limits);
    assert_eq!(answer, Err(masque_certificate::Failure::Limit(masque_certificate::Limit::Memory)));
}
