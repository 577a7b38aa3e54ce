//! The same model with its declarations in another order.

use fastrand::Rng;

/// Shuffles what may stand in any order: agents (a leading Environment stays first), variables, the
/// lines of protocols (Other stays last) and of evolutions. A seed determines the order, on every machine.
///
/// The text must have one statement per line or per several lines, and headings (`Agent NAME`,
/// `Vars:`) on lines of their own, as generators print them.
///
/// ```
/// let text = "Agent A\n  Vars:\n    x : boolean;\n    y : 0..3;\n  end Vars\nend Agent\n";
/// let shuffled: std::collections::BTreeSet<String> =
///     (0..9).map(|seed| masque_testkit::shuffle(text, seed)).collect();
/// assert_eq!(shuffled.len(), 2);
/// assert!(shuffled.contains(text));
/// ```
pub fn shuffle(text: &str, seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut agents: Vec<String> = Vec::new();
    let (mut head, mut rest) = (String::new(), String::new());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !line.starts_with("Agent ") {
            // Lines between two agents belong to the second.
            rest += line;
            continue;
        }
        let before = std::mem::take(&mut rest);
        let agent = agent(line, &mut lines, &mut rng);
        if agents.is_empty() {
            (head, agents) = (before, vec![agent]);
        } else {
            agents.push(before + &agent);
        }
    }
    let first = usize::from(agents.first().is_some_and(|agent| agent.starts_with("Agent Environment")));
    rng.shuffle(&mut agents[first..]);
    head + &agents.concat() + &rest
}

/// Returns an agent with its sections shuffled, from its first line to `end Agent`.
fn agent<'t>(first: &str, lines: &mut impl Iterator<Item = &'t str>, rng: &mut Rng) -> String {
    let mut text = first.to_string();
    while let Some(line) = lines.next() {
        text += line;
        match line.trim() {
            "end Agent" => break,
            "Obsvars:" | "Vars:" | "Protocol:" | "Evolution:" => text += &section(lines, rng),
            _ => {}
        }
    }
    text
}

/// Returns the statements of a section in another order, and the line that ends it.
fn section<'t>(lines: &mut impl Iterator<Item = &'t str>, rng: &mut Rng) -> String {
    let mut statements: Vec<String> = Vec::new();
    let mut statement = String::new();
    for line in lines {
        statement += line;
        if line.trim_start().starts_with("end ") {
            break;
        }
        if line.trim_end().ends_with(';') {
            statements.push(std::mem::take(&mut statement));
        }
    }
    rng.shuffle(&mut statements);
    statements.sort_by_key(|statement| statement.trim_start().starts_with("Other"));
    statements.concat() + &statement
}

#[cfg(test)]
mod tests {
    use masque_model::Deadlock;

    use super::*;
    use crate::load;

    const TEXT: &str = "-- Two walkers.
Agent Environment
  Obsvars:
    light : boolean;
    day : 0..3;
  end Obsvars
  Actions = {on, off};
  Protocol:
    day=0 : {on};
    day=1 : {on, off};
    Other : {off};
  end Protocol
  Evolution:
    light=true if
      Action=on;
    light=false if Action=off;
    day=1 if day=0;
  end Evolution
end Agent
Agent A
  Vars:
    x : boolean;
  end Vars
  Actions = {go};
  Protocol:
    Other : {go};
  end Protocol
  Evolution:
    x=true if Action=go;
  end Evolution
end Agent
-- B is like A.
Agent B
  Vars:
    x : boolean;
  end Vars
  Actions = {go};
  Protocol:
    Other : {go};
  end Protocol
  Evolution:
    x=true if Action=go;
  end Evolution
end Agent
Evaluation
  lit if Environment.light=true;
end Evaluation
InitStates
  Environment.day=0 and A.x=false and B.x=false;
end InitStates
Formulae
  AG lit;
end Formulae
";

    #[test]
    fn lines_are_kept_and_some_stay_in_place() {
        let sorted = |text: &str| {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            lines.join("\n")
        };
        let mut is_agent_moved = false;
        for seed in 0..50 {
            let text = shuffle(TEXT, seed);
            assert_eq!(text, shuffle(TEXT, seed), "a seed determines the order");
            assert_eq!(sorted(&text), sorted(TEXT), "seed {seed}");
            assert!(load(&text, Deadlock::Finite).is_some(), "seed {seed} is not valid:\n{text}");
            assert!(text.starts_with("-- Two walkers.\nAgent Environment\n"), "{text}");
            assert!(text.contains("    Other : {off};\n  end Protocol"), "{text}");
            assert!(text.contains("    light=true if\n      Action=on;\n"), "{text}");
            assert!(text.ends_with(&TEXT[TEXT.find("Evaluation").unwrap()..]), "{text}");
            is_agent_moved |= text.find("Agent B") < text.find("Agent A");
        }
        assert!(is_agent_moved);
    }

    #[test]
    fn texts_without_agents_do_not_change() {
        for text in ["", "Formulae\n  AG p;\nend Formulae\n", "Agent"] {
            assert_eq!(shuffle(text, 1), text);
        }
    }
}
