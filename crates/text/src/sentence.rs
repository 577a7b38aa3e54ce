//! Numbers and names in sentences.

/// A number with its noun.
///
/// ```
/// assert_eq!(masque_text::counted(1, "property", "properties"), "1 property");
/// assert_eq!(masque_text::counted(0, "property", "properties"), "0 properties");
/// ```
pub fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// The first names of a list, and `..` if there are more than `max`.
///
/// ```
/// assert_eq!(masque_text::first_names(["ann", "bob", "eve"], 2), "ann, bob, ..");
/// ```
pub fn first_names<S: AsRef<str>>(names: impl IntoIterator<Item = S>, max: usize) -> String {
    let mut text = String::new();
    for (index, name) in names.into_iter().take(max.saturating_add(1)).enumerate() {
        text += if index > 0 { ", " } else { "" };
        text += if index < max { name.as_ref() } else { ".." };
    }
    text
}

/// The first of some names, and the number of the others.
///
/// ```
/// let names = ["travel.lcc", "team.lcc", "rules.pol"].map(String::from);
/// assert_eq!(masque_text::first_and_others(&names), "travel.lcc and 2 more");
/// ```
pub fn first_and_others(names: &[String]) -> String {
    match names {
        [first, others @ ..] if !others.is_empty() => format!("{first} and {} more", others.len()),
        names => names.concat(),
    }
}

/// A message without the place at its end, as JSON readers write it, where the place is shown otherwise.
///
/// ```
/// assert_eq!(masque_text::without_place("expected value at line 3 column 7", 3, 7), "expected value");
/// ```
pub fn without_place(message: &str, line: usize, column: usize) -> &str {
    message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(message)
}
