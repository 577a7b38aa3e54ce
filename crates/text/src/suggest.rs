//! Suggestions for misspelt names.

/// Returns a help line with the candidate that is closest to `used`, if one is close enough.
///
/// Close means an edit distance (with swaps of adjacent characters) of at most a third of the length;
/// names that differ only in case are always close.
pub fn did_you_mean<S: AsRef<str>>(used: &str, candidates: impl IntoIterator<Item = S>) -> Option<String> {
    let allowed = used.chars().count().div_ceil(3).min(4);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let name = candidate.as_ref();
            let is_same = name.eq_ignore_ascii_case(used);
            let distance = if is_same { 0 } else { distance_within(used, name, allowed)? };
            (name != used).then(|| (distance, name.to_string()))
        })
        .min()
        .map(|(_, name)| format!("did you mean `{name}`?"))
}

/// The restricted edit distance of two words, if it is at most `allowed`.
fn distance_within(a: &str, b: &str, allowed: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    (last[b.len()] <= allowed).then_some(last[b.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested_and_distant_ones_are_not() {
        let names = ["sayequal", "saydifferent", "none"];
        assert_eq!(did_you_mean("sayequel", names).as_deref(), Some("did you mean `sayequal`?"));
        assert_eq!(did_you_mean("NONE", names).as_deref(), Some("did you mean `none`?"));
        assert_eq!(did_you_mean("quit", names), None);
        assert_eq!(did_you_mean("x", ["y"]).as_deref(), Some("did you mean `y`?"));
    }
}
