//! States that an agent cannot distinguish, side by side.

use maud::{Markup, html};

use crate::protocol::{AgentInfo, EvidenceInfo, Values};

/// Maximum number of states with which a state is compared.
const MAX_COMPARED_STATES: usize = 6;
/// Maximum number of states of evidence that are searched for them.
const MAX_SEARCHED_STATES: usize = 400;

/// Another state of the evidence, and the agents that cannot distinguish the two.
struct Alike<'i> {
    state: usize,
    agents: Vec<&'i str>,
}

/// The selected state beside the states of the evidence that some agent cannot distinguish from it.
pub(crate) fn comparison(
    base: &str,
    index: usize,
    (info, agents): (&EvidenceInfo, &[AgentInfo]),
    selected: usize,
) -> Markup {
    let Some(here) = info.states.get(selected) else { return html! {} };
    let all = alike(info, agents, selected);
    html! {
        @if !all.is_empty() {
            h3 { "Not distinguished from" }
            @for other in &all {
                p.alike-with {
                    a href={ (base) "/evidence/" (index + 1) "?state=" (other.state) } data-inspect { "State #" (other.state) }
                    " by " b { (other.agents.join(", ")) }
                }
                @let differing = differing(here, &info.states[other.state]);
                @if differing.is_empty() { p.soft { "All variables are equal." } }
                @else {
                    div.side-by-side {
                        table {
                            thead { tr { th { "variable" } th { "#" (selected) } th { "#" (other.state) } } }
                            tbody {
                                @for (name, one, two) in differing { tr { th scope="row" { (name) } td { (one) } td { (two) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The states that some agent cannot distinguish from the selected one, except equal ones.
fn alike<'i>(info: &'i EvidenceInfo, agents: &'i [AgentInfo], selected: usize) -> Vec<Alike<'i>> {
    let here = &info.states[selected];
    let others = info.states.iter().enumerate().take(MAX_SEARCHED_STATES);
    let others = others.filter(|(state, values)| *state != selected && !values.is_empty() && *values != here);
    let found = others.filter_map(|(state, there)| {
        let blind = agents.iter().filter(|agent| !agent.variables.is_empty() || !agent.sees.is_empty());
        let blind: Vec<&str> =
            blind.filter(|agent| is_alike(agent, here, there)).map(|agent| agent.name.as_str()).collect();
        (!blind.is_empty()).then_some(Alike { state, agents: blind })
    });
    found.take(MAX_COMPARED_STATES).collect()
}

/// Whether an agent sees the same in two states.
fn is_alike(agent: &AgentInfo, here: &Values, there: &Values) -> bool {
    let sees = |full: &str| {
        let own = full.strip_prefix(&agent.name).and_then(|rest| rest.strip_prefix('.'));
        own.is_some_and(|own| agent.variables.iter().any(|(name, _)| name == own))
            || agent.sees.iter().any(|name| name == full)
    };
    let mut n_seen = 0;
    here.len() == there.len()
        && here.iter().zip(there).filter(|((name, _), _)| sees(name)).all(|(one, two)| {
            n_seen += 1;
            one == two
        })
        && n_seen > 0
}

fn differing<'i>(here: &'i Values, there: &'i Values) -> Vec<(&'i str, &'i str, &'i str)> {
    let pairs = here.iter().zip(there).filter(|(one, two)| one != two);
    pairs.map(|((name, one), (_, two))| (name.as_str(), one.as_str(), two.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_sees_its_variables_and_those_it_names() {
        let values = |texts: [(&str, &str); 3]| {
            texts.map(|(name, value)| (name.to_string(), value.to_string())).to_vec()
        };
        let one = values([("A.x", "1"), ("A2.x", "1"), ("E.y", "0")]);
        let agent = |name: &str, sees: &[&str]| AgentInfo {
            name: name.to_string(),
            variables: vec![("x".to_string(), "0..1".to_string())],
            sees: sees.iter().map(|name| name.to_string()).collect(),
            ..AgentInfo::default()
        };
        let other = values([("A.x", "1"), ("A2.x", "0"), ("E.y", "0")]);
        assert!(is_alike(&agent("A", &[]), &one, &other));
        assert!(!is_alike(&agent("A2", &[]), &one, &other));
        let other = values([("A.x", "1"), ("A2.x", "1"), ("E.y", "1")]);
        assert!(is_alike(&agent("A", &[]), &one, &other));
        assert!(!is_alike(&agent("A", &["E.y"]), &one, &other));
        assert_eq!(differing(&one, &other), [("E.y", "0", "1")]);
    }
}
