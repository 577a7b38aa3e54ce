//! The words of all pages are in `docs/words.txt`, which is our own list.
//!
//! The list has one word per line, in lower case and sorted; names keep their capital letters. An ending that the list
//! explains (`-s`, `-ed`, `-ing`, ..) needs no entry of its own. With `WORDS=add` the test adds the missing words. Do
//! that only after you have read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use masque_testkit::MarkdownPage;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/words.txt");

/// Endings that a word may have beyond its entry, with what stands for them in the entry.
const ENDINGS: [(&str, &str); 13] = [
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("'s", ""),
    ("s'", "s"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
    ("er", ""),
    ("er", "e"),
    ("ness", ""),
];

/// Whether a stem may double its last letter before `-ed`, `-ing` and `-er`, as in `occurred`: consonant, vowel,
/// consonant. Whether it does depends on the word, so each such form is an entry of its own.
fn may_double(stem: &str) -> bool {
    let is_vowel = |c: &char| "aeiou".contains(*c);
    let last: Vec<char> = stem.chars().rev().take(3).collect();
    matches!(&last[..], [a, b, c] if !is_vowel(a) && !"wxy".contains(*a) && is_vowel(b) && !is_vowel(c))
}

/// Whether the list explains a word: as it is, in lower case, or without an ending.
fn is_known(word: &str, list: &BTreeSet<String>) -> bool {
    let has = |word: &str| list.contains(word) || list.contains(&word.to_lowercase());
    let without = |(ending, instead): &(&str, &str)| {
        let stem = word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 3);
        let is_fixed =
            |stem: &&str| !(["ed", "ing", "er"].contains(ending) && instead.is_empty() && may_double(stem));
        stem.filter(is_fixed).is_some_and(|stem| has(&format!("{stem}{instead}")))
    };
    has(word) || ENDINGS.iter().any(without)
}

/// Whether a word is left out: single letters, and words in capital letters with or without a plural.
fn is_left_out(word: &str) -> bool {
    let letters = word.strip_suffix("'s").or_else(|| word.strip_suffix('s')).unwrap_or(word);
    word.chars().count() == 1 || letters.chars().all(|c| !c.is_lowercase())
}

#[test]
fn words_are_spelt_as_in_the_list() {
    let text = fs::read_to_string(LIST).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "the list is sorted, without repetitions");
    let mut list: BTreeSet<String> = lines.iter().map(ToString::to_string).collect();
    let mut unknown: BTreeMap<String, String> = BTreeMap::new();
    let mut n_words = 0;
    for path in crate::documents::pages() {
        let page = fs::read_to_string(&path).unwrap();
        for (line, word) in MarkdownPage::new(&page).words() {
            n_words += 1;
            if !is_left_out(&word) && !is_known(&word, &list) {
                unknown.entry(word).or_insert_with(|| format!("{}:{line}", path.display()));
            }
        }
    }
    if std::env::var_os("WORDS").is_some_and(|value| value == "add") {
        list.extend(unknown.keys().cloned());
        let lines: String = list.iter().map(|word| format!("{word}\n")).collect();
        fs::write(Path::new(LIST), lines).unwrap();
        return;
    }
    let shown: Vec<_> = unknown.iter().map(|(word, place)| format!("{word} ({place})")).collect();
    assert!(unknown.is_empty(), "neither spelt right nor in docs/words.txt:\n{}", shown.join("\n"));
    assert!(n_words >= 60_000, "the words are found: {n_words}");
}

/// The list does not explain everything: misspelt words stay unknown.
#[test]
fn misspelt_words_are_unknown() {
    let text = fs::read_to_string(LIST).unwrap();
    let list: BTreeSet<String> = text.lines().map(String::from).collect();
    for right in ["property", "properties", "Agents", "checked", "agent's"] {
        assert!(is_known(right, &list), "{right}");
    }
    for wrong in ["proprety", "agnets", "checkked", "seperate", "teh", "occured"] {
        assert!(!is_known(wrong, &list), "{wrong}");
    }
}
