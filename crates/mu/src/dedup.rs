//! Removes duplicates from lists that are short in most cases.

use std::hash::Hash;

use rustc_hash::FxHashSet;

/// Maximum length up to which comparing all pairs is faster than hashing.
const MAX_QUADRATIC_LEN: usize = 16;

/// Removes the duplicates among the items from index `begin` on; the first of equal items stays.
pub(crate) fn remove_duplicates<T: Copy + Eq + Hash>(items: &mut Vec<T>, begin: usize) {
    let mut end = begin;
    let mut seen = FxHashSet::default();
    let is_long = items.len() - begin > MAX_QUADRATIC_LEN;
    for i in begin..items.len() {
        let item = items[i];
        let is_new = if is_long { seen.insert(item) } else { !items[begin..end].contains(&item) };
        if is_new {
            items[end] = item;
            end += 1;
        }
    }
    items.truncate(end);
}
