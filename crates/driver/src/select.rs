//! Properties and agents by the names that a user gives them.

use std::collections::BTreeSet;
use std::sync::Arc;

use masque_model::{AgentId, System};
use masque_text::{Diagnostic, Severity, did_you_mean};

use crate::load::{Loaded, Model};
use crate::property::PropertyText;

/// Maximum number of names listed in a message.
const MAX_LISTED_NAMES: usize = 12;

/// A name that selects no property of a model, and the error about it.
pub type Unmatched = (String, Diagnostic);

/// The properties that `--only` and `--skip` select.
pub(crate) struct Selection {
    /// For each property, whether it is selected.
    pub(crate) is_kept: Vec<bool>,
    /// Names that select no property.
    pub(crate) unmatched: Vec<Unmatched>,
}

impl Selection {
    /// Selects the properties that one of the names in `only` selects, or all if there are none, and then removes
    /// those that a name in `skip` selects.
    pub(crate) fn new(properties: &[PropertyText], only: &[String], skip: &[String]) -> Selection {
        let mut unmatched = Vec::new();
        let mut all_of = |texts: &[String]| {
            let mut indices = BTreeSet::new();
            for name in texts.iter().flat_map(|text| names_in(text)) {
                let found = matching(properties, name);
                if found.is_empty() {
                    unmatched.push((name.to_string(), unknown_property(properties, name)));
                }
                indices.extend(found);
            }
            indices
        };
        let (wanted, unwanted) = (all_of(only), all_of(skip));
        let is_kept = |index| (only.is_empty() || wanted.contains(&index)) && !unwanted.contains(&index);
        Selection { is_kept: (0..properties.len()).map(is_kept).collect(), unmatched }
    }
}

impl Loaded {
    /// Keeps the properties that the request selects. A name that selects none is an error, unless the request is
    /// for several models.
    pub(crate) fn select(&mut self) {
        let (only, skip) = (&self.request.only, &self.request.skip);
        if only.is_empty() && skip.is_empty() {
            return;
        }
        let Some(model) = &mut self.model else { return };
        let Selection { is_kept, unmatched } = Selection::new(&model.properties(), only, skip);
        model.retain(&is_kept);
        if self.request.is_for_several {
            self.unmatched = unmatched;
        } else {
            self.refuse(unmatched.into_iter().map(|(_, diagnostic)| diagnostic));
        }
    }

    /// The same model with only the properties that `masque check --only .. --skip ..` decides.
    ///
    /// # Errors
    ///
    /// If a name selects no property.
    pub fn selected(&self, only: &[String], skip: &[String]) -> Result<Loaded, Vec<Diagnostic>> {
        let mut loaded = self.clone();
        (loaded.request.only, loaded.request.skip) = (only.to_vec(), skip.to_vec());
        loaded.request.is_for_several = false;
        let n_before = loaded.diagnostics.len();
        loaded.select();
        if loaded.model.is_some() { Ok(loaded) } else { Err(loaded.diagnostics.split_off(n_before)) }
    }
}

impl Model {
    /// Keeps the properties that are marked.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        fn keep<T>(items: &mut Vec<T>, is_kept: &[bool]) {
            let mut marks = is_kept.iter();
            items.retain(|_| marks.next().copied().unwrap_or(false));
        }
        match self {
            Model::Ispl(system) => keep(&mut Arc::make_mut(system).properties, is_kept),
            Model::Bdi(worlds) => {
                let worlds = Arc::make_mut(worlds);
                keep(&mut worlds.programs.properties, is_kept);
                keep(&mut worlds.plan.properties, is_kept);
                keep(&mut worlds.plan.outer_worlds, is_kept);
            }
            Model::Lcc(instance) => keep(&mut instance.properties, is_kept),
            Model::Aut(instance) => keep(&mut instance.properties, is_kept),
        }
    }
}

/// Errors about names that select no property in any of several models. Each list has the names that one model
/// does not have.
pub fn unmatched_everywhere(models: &[Vec<Unmatched>]) -> Vec<Diagnostic> {
    let Some((first, others)) = models.split_first() else { return Vec::new() };
    let in_all = |name: &String| others.iter().all(|names| names.iter().any(|(other, _)| other == name));
    let of_name = |name: &String| {
        let mut all = models.iter().flatten().filter(|(other, _)| other == name).map(|(_, found)| found);
        let is_guess =
            |found: &&Diagnostic| found.help.as_ref().is_some_and(|help| help.starts_with("did you"));
        all.clone().find(is_guess).or_else(|| all.next()).cloned()
    };
    first.iter().map(|(name, _)| name).filter(|name| in_all(name)).filter_map(of_name).collect()
}

/// The names in a text: it is split at commas, but not inside brackets, as in `safe[i=1,j=2]`.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    let split = text.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let is_single = !text.contains(',');
    split.map(str::trim).filter(move |name| is_single || !name.is_empty())
}

/// The indices of the properties that a name selects. In this order, the first that selects any:
///
/// 1. the property with this name or title, such as `safe[i=2]`; instances of one formula share a name;
/// 2. all instances of a formula in a `for` whose label is this: `safe` or `safe[i]` for `safe[1]`, `safe[2]`, ..;
/// 3. if the text contains `*` or `?`, all properties whose name or title it matches;
/// 4. if the text is a number, the property at this position, counted from 1.
pub(crate) fn matching(properties: &[PropertyText], name: &str) -> Vec<usize> {
    let all = |is_meant: &dyn Fn(&PropertyText) -> bool| -> Vec<usize> {
        let meant = properties.iter().enumerate().filter(|(_, property)| is_meant(property));
        meant.map(|(index, _)| index).collect()
    };
    // `safe[i=1, j=2]` may have spaces.
    let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let wanted = dense(name);
    let by_name = all(&|property| property.name == name || dense(&property.title) == wanted);
    if !by_name.is_empty() {
        return by_name;
    }
    let by_template = all(&|property| is_template(property, name));
    if !by_template.is_empty() {
        return by_template;
    }
    if is_glob(name) {
        return all(&|property| glob(name, &property.name) || glob(name, &property.title));
    }
    let index = name.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
    index.filter(|index| *index < properties.len()).into_iter().collect()
}

/// Whether a text is a pattern with `*` or `?`.
pub(crate) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether a text is the label of the formula in a `for` that a property is an instance of: `first` or `first[i]`
/// for `first[1]`.
fn is_template(property: &PropertyText, text: &str) -> bool {
    let Some((label, _)) = property.name.split_once('[') else { return false };
    if property.index.is_empty() {
        return false;
    }
    let Some((base, subscripts)) = text.split_once('[') else { return text == label };
    let mut variables =
        subscripts.trim_end_matches(']').split(['[', ',']).map(|part| part.trim_matches([' ', ']']));
    base == label && variables.all(|variable| property.index.iter().any(|(name, _)| name == variable))
}

/// Whether a pattern matches a whole text: `*` stands for any characters, `?` for one. Goes back only to the last
/// `*`, so the time is at most the product of the two lengths.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut retry) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match retry {
                None => return false,
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    (p, t) = (star + 1, from + 1);
                }
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The error about a name that selects no property: a similar name if there is one, and the names that exist.
pub(crate) fn unknown_property(properties: &[PropertyText], name: &str) -> Diagnostic {
    let message = if is_glob(name) {
        format!("no property matches `{name}`")
    } else {
        format!("there is no property `{name}`")
    };
    let titles = properties.iter().map(|property| property.title.as_str());
    let labels = properties.iter().map(|property| property.name.split('[').next().unwrap_or_default());
    // A position is no misspelt name.
    let is_name = |candidate: &&str| !candidate.bytes().all(|byte| byte.is_ascii_digit());
    let guess = did_you_mean(name, titles.clone().chain(labels).filter(is_name));
    let exist = if properties.is_empty() {
        "the file has no formulas; add one with `--property 'AG p'`".to_string()
    } else {
        format!("the properties are {}", list(titles))
    };
    let help = guess.map_or(exist.clone(), |guess| format!("{guess} {exist}"));
    Diagnostic::nowhere(Severity::Error, "cli/unknown-property", message).hint(help)
}

/// Finds the agent with this name.
///
/// # Errors
///
/// If there is no such agent; the diagnostic lists the agents or suggests one.
pub fn agent(system: &System, name: &str) -> Result<AgentId, Box<Diagnostic>> {
    let found = system.agent_ids().find(|&agent| system.agent(agent).name == name);
    found.ok_or_else(|| {
        let names = system.agents.iter().map(|agent| agent.name.as_str());
        let guess = did_you_mean(name, names.clone());
        let help = guess.unwrap_or_else(|| format!("the agents are {}", list(names)));
        let message = format!("there is no agent `{name}`");
        Box::new(Diagnostic::nowhere(Severity::Error, "cli/unknown-agent", message).hint(help))
    })
}

/// The first [`MAX_LISTED_NAMES`] names, and the number of the others.
pub(crate) fn list<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    let n_names = names.clone().count();
    let mut text = names.take(MAX_LISTED_NAMES).collect::<Vec<_>>().join(", ");
    if n_names > MAX_LISTED_NAMES {
        text += &format!(" and {} more", n_names - MAX_LISTED_NAMES);
    }
    text
}

#[cfg(test)]
mod tests {
    use masque_model::At;

    use super::*;

    fn property(name: &str, title: &str, index: &[(&str, i64)]) -> PropertyText {
        let index = index.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let (name, title, formula) = (name.to_string(), title.to_string(), "tt".to_string());
        let text = formula.clone();
        PropertyText { name, title, index, formula, text, at: At::Initial, world: None, mode: None }
    }

    /// Six properties; the third and the last have no name of their own.
    fn properties() -> Vec<PropertyText> {
        vec![
            property("safe", "safe[i=1,j=2]", &[("i", 1), ("j", 2)]),
            property("first[1]", "first[1]", &[("i", 1)]),
            property("3", "3", &[]),
            property("safe", "safe[i=2,j=2]", &[("i", 2), ("j", 2)]),
            property("first[2]", "first[2]", &[("i", 2)]),
            property("6", "6", &[]),
        ]
    }

    #[rustfmt::skip]
    #[test]
    fn names_select_properties() {
        let check = |name: &str, expected: &[usize]| {
            let found: Vec<usize> = matching(&properties(), name).iter().map(|index| index + 1).collect();
            assert_eq!(found, expected, "{name}");
        };
        check("safe",          &[1, 4]);
        check("safe[i=2,j=2]", &[4]);
        check("first",         &[2, 5]);
        check("first[i]",      &[2, 5]);
        check("first[k]",      &[]);
        check("first[2]",      &[5]);
        check("f*",            &[2, 5]);
        check("*[?]",          &[2, 5]);
        check("*2*",           &[1, 4, 5]);
        check("*",             &[1, 2, 3, 4, 5, 6]);
        check("?",             &[3, 6]);
        check("3",             &[3]);
        check("2",             &[2]);
        check("0",             &[]);
        check("7",             &[]);
        check("Safe",          &[]);
        check("",              &[]);
    }

    /// A name that looks like a number comes before the position.
    #[test]
    fn a_name_comes_before_a_position() {
        let all = [property("2", "2", &[]), property("a", "a", &[])];
        assert_eq!(matching(&all, "2"), [0]);
        assert_eq!(matching(&all, "1"), [0]);
    }

    #[test]
    fn only_comes_first_then_skip() {
        let kept = |only: &[&str], skip: &[&str]| {
            let [only, skip] =
                [only, skip].map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
            let Selection { is_kept, unmatched } = Selection::new(&properties(), &only, &skip);
            let kept: String = is_kept.iter().map(|kept| if *kept { 'x' } else { '-' }).collect();
            (kept, unmatched.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" "))
        };
        let pair = |kept: &str, unmatched: &str| (kept.to_string(), unmatched.to_string());
        assert_eq!(kept(&[], &[]), pair("xxxxxx", ""));
        assert_eq!(kept(&["safe", "3"], &[]), pair("x-xx--", ""));
        assert_eq!(kept(&["safe,3"], &["safe[i=1,j=2]"]), pair("--xx--", ""));
        assert_eq!(kept(&[], &["first", "6"]), pair("x-xx--", ""));
        assert_eq!(kept(&["sfae,6"], &["no*"]), pair("-----x", "sfae no*"));
        assert_eq!(kept(&["*"], &["*"]), pair("------", ""));
    }

    #[test]
    fn an_unknown_name_gets_a_suggestion_and_the_list() {
        let message = |name| unknown_property(&properties(), name).help.unwrap();
        assert!(
            message("sfae").starts_with("did you mean `safe`? the properties are safe[i=1,j=2], first[1]")
        );
        assert!(message("frist[1]").starts_with("did you mean `first[1]`?"));
        assert!(message("quite else").starts_with("the properties are "));
    }

    /// The glob agrees with the definition by recursion on all short patterns and texts.
    #[test]
    fn globs_match_as_defined() {
        fn slow(pattern: &[char], text: &[char]) -> bool {
            match (pattern.split_first(), text.split_first()) {
                (None, _) => text.is_empty(),
                (Some(('*', rest)), _) => (0..=text.len()).any(|from| slow(rest, &text[from..])),
                (Some(('?', rest)), Some((_, after))) => slow(rest, after),
                (Some((c, rest)), Some((d, after))) => c == d && slow(rest, after),
                (Some(_), None) => false,
            }
        }
        let words = |letters: &[char], length: u32| -> Vec<String> {
            let word = |mut number: usize| {
                (0..length)
                    .map(|_| {
                        let letter = letters[number % letters.len()];
                        number /= letters.len();
                        letter
                    })
                    .collect()
            };
            (0..letters.len().pow(length)).map(word).collect()
        };
        let mut n_matches = 0;
        for pattern in (0..5).flat_map(|length| words(&['a', 'b', '*', '?'], length)) {
            for text in (0..5).flat_map(|length| words(&['a', 'b'], length)) {
                let [p, t]: [Vec<char>; 2] = [&pattern, &text].map(|word| word.chars().collect());
                assert_eq!(glob(&pattern, &text), slow(&p, &t), "{pattern} {text}");
                n_matches += usize::from(glob(&pattern, &text));
            }
        }
        assert!(n_matches > 1000, "{n_matches}");
    }
}
