//! Counted nouns and shortened texts, for all reports.

/// `1 state`, `2 states`.
pub(crate) fn plural(n: impl ToString, one: &str, many: &str) -> String {
    let n = n.to_string();
    format!("{n} {}", if n == "1" { one } else { many })
}

/// `1 error`, `2 warnings`: the counts that are not zero.
pub(crate) fn nonzero(counts: &[(u64, &str, &str)]) -> Vec<String> {
    counts.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| plural(n, one, many)).collect()
}

/// Returns the text, or its first `max_chars` characters and `..` if it is longer.
pub(crate) fn shortened(mut text: String, max_chars: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max_chars) {
        text.truncate(end);
        text.push_str("..");
    }
    text
}

/// `Alice, Bob and Carol`.
pub(crate) fn enumeration<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => items.concat(),
    }
}
