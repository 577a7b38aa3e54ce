//! Content of a worker's parts of a checkpoint: states and transitions, and the labels of states.
//!
//! States and transitions are appended when they are found, and never change. So a part holds those that
//! were found since the previous part, and all parts together hold everything. The data that changes
//! (layers, position of the exploration) is short; each part ends with it, and the last part counts.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use masque_explicit::parts::{Bitset, Domain, StoredStates};
use masque_model::FormulaId;

use crate::explore::{Frontier, Space};
use crate::graph::Edges;
use crate::shard::Shard;
use crate::store::Store;
use crate::word_file::{Reader, Writer, damaged};

/// Words that identify a part: the digest of the model, the number of workers, the index of the worker and
/// the number of the part.
pub(crate) type Head = [u64; 7];

/// Number of rows and transitions that are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredCounts {
    rows: usize,
    edges: usize,
}

impl StoredCounts {
    /// Counts the rows and transitions of a space.
    pub(crate) fn of(space: &Space) -> StoredCounts {
        StoredCounts { rows: space.n_states(), edges: edges(space).map_or(0, |edges| edges.targets().len()) }
    }
}

fn edges(space: &Space) -> Option<&Edges> {
    space.frontier.as_ref().and_then(|frontier| frontier.edges.as_ref())
}

/// Writes the states and transitions of a space that earlier parts do not hold.
pub(crate) fn write_space(path: &Path, head: &[u64], space: &Space, held: StoredCounts) -> io::Result<()> {
    let mut writer = Writer::new(path, head)?;
    let n_rows = (space.n_states() - held.rows) as u64;
    writer.words(&[space.store.width() as u64, held.rows as u64, held.edges as u64, n_rows])?;
    for rows in space.store.rows_from(held.rows) {
        writer.words(rows)?;
    }
    writer.words(&[u64::from(edges(space).is_some())])?;
    if let Some(edges) = edges(space) {
        writer.short_list(&edges.targets()[held.edges..])?;
        writer.list(&edges.sources()[held.edges..])?;
    }
    let next = space.frontier.as_ref().map_or(space.n_states() as u32, |frontier| frontier.next);
    writer.words(&[space.n_everywhere, u64::from(next)])?;
    writer.short_list(&space.layers)?;
    writer.short_list(&space.nearest_deadlocks)?;
    writer.short_list(&space.nearest_overflows)?;
    writer.finish()
}

/// Reads a space from all its parts; each path comes with the head that the file must have.
pub(crate) fn read_space(parts: &[(PathBuf, Head)], width: usize) -> io::Result<Space> {
    let mut space = Space::empty(width);
    let (mut targets, mut sources, mut next, mut has_edges) = (Vec::new(), Vec::new(), 0, false);
    for (path, head) in parts {
        let mut reader = Reader::new(path, head)?;
        let begin = [reader.word()?, reader.word()?, reader.word()?];
        if begin != [width as u64, space.n_states() as u64, targets.len() as u64] {
            return Err(damaged());
        }
        read_rows(&mut reader, &mut space.store)?;
        has_edges = reader.word()? == 1;
        if has_edges {
            targets.extend(reader.short_list()?);
            sources.extend(reader.list()?);
        }
        space.n_everywhere = reader.word()?;
        next = u32::try_from(reader.word()?).map_err(|_| damaged())?;
        space.layers = reader.short_list()?;
        space.nearest_deadlocks = reader.short_list()?;
        space.nearest_overflows = reader.short_list()?;
        reader.finish()?;
    }
    let n_states = space.n_states();
    let is_state = |&state: &u32| (state as usize) < n_states;
    let is_sound = space.layers.len() >= 2
        && space.layers.is_sorted()
        && space.layers[space.layers.len() - 1] as usize <= n_states
        && next as usize <= n_states
        && space.nearest_deadlocks.iter().chain(&space.nearest_overflows).all(is_state);
    if !is_sound {
        return Err(damaged());
    }
    let edges = Edges::from_parts(targets, sources, n_states).ok_or_else(damaged)?;
    space.frontier = Some(Frontier { next, edges: has_edges.then_some(edges) });
    Ok(space)
}

/// Reads rows, which must be new.
fn read_rows(reader: &mut Reader, store: &mut Store) -> io::Result<()> {
    let mut row = vec![0; store.width()];
    for _ in 0..reader.length()? {
        for word in &mut row {
            *word = reader.word()?;
        }
        let index = store.len();
        if store.insert(&row).ok() != Some(index as u32) {
            return Err(damaged());
        }
    }
    Ok(())
}

/// Writes the labels of the states.
pub(crate) fn write_labels(path: &Path, head: &[u64], shard: &Shard<'_>) -> io::Result<()> {
    let mut writer = Writer::new(path, head)?;
    write_domain(&mut writer, &shard.labels.plain)?;
    writer.words(&[u64::from(shard.labels.fair.is_some())])?;
    if let Some(fair) = &shard.labels.fair {
        write_domain(&mut writer, fair)?;
    }
    writer.finish()
}

fn write_domain(writer: &mut Writer, domain: &Domain) -> io::Result<()> {
    writer.list(domain.states.words())?;
    writer.words(&[domain.constraints.len() as u64])?;
    domain.constraints.iter().try_for_each(|constraint| writer.list(constraint.words()))?;
    let mut known: Vec<(&FormulaId, &Rc<Bitset>)> = domain.known.iter().collect();
    known.sort_unstable_by_key(|(formula, _)| **formula);
    writer.words(&[known.len() as u64])?;
    for (formula, states) in known {
        writer.words(&[formula.index() as u64])?;
        writer.list(states.words())?;
    }
    Ok(())
}

/// Reads the labels of the states, without and with fairness.
pub(crate) fn read_labels(
    path: &Path,
    head: &[u64],
    shard: &Shard<'_>,
) -> io::Result<(Domain, Option<Domain>)> {
    let mut reader = Reader::new(path, head)?;
    let plain = read_domain(&mut reader, shard)?;
    let fair = match reader.word()? {
        0 => None,
        _ => Some(read_domain(&mut reader, shard)?),
    };
    reader.finish()?;
    Ok((plain, fair))
}

fn read_domain(reader: &mut Reader, shard: &Shard<'_>) -> io::Result<Domain> {
    let n_states = shard.n_states();
    let set = |words: Vec<u64>| Bitset::from_words(words, n_states).ok_or_else(damaged);
    let states = Rc::new(set(reader.list()?)?);
    let n_constraints = reader.length()?;
    let constraints: Vec<Bitset> =
        (0..n_constraints).map(|_| reader.list().and_then(set)).collect::<io::Result<_>>()?;
    let mut domain = Domain::new(states, constraints.into());
    for _ in 0..reader.length()? {
        let index = usize::try_from(reader.word()?).map_err(|_| damaged())?;
        let formula = shard.system.formulas.ids().nth(index).ok_or_else(damaged)?;
        domain.known.insert(formula, Rc::new(set(reader.list()?)?));
    }
    Ok(domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::StateRef;

    /// Adds states until the space has `n_states`.
    fn grow(space: &mut Space, n_states: usize) {
        for state in space.n_states()..n_states {
            space.store.insert(&[state as u64 * 3, 7]).unwrap();
            let Some(Frontier { next, edges: Some(edges) }) = &mut space.frontier else {
                panic!("the exploration is complete")
            };
            *next = state as u32;
            edges.add(StateRef::new(1, 5), state as u32);
            edges.add(StateRef::new(0, state as u32), 0);
        }
        space.layers = vec![0, 1, n_states as u32 / 2, n_states as u32];
        space.n_everywhere = n_states as u64 * 2;
        space.nearest_deadlocks = vec![n_states as u32 - 1];
    }

    /// Formats everything that is stored of a space.
    fn text(space: &Space) -> String {
        let rows: Vec<u64> = space.store.rows_from(0).flatten().copied().collect();
        let rest = (&space.layers, &space.nearest_deadlocks, space.n_everywhere, &space.frontier);
        format!("{rows:?} {rest:?}")
    }

    #[test]
    fn all_parts_in_order_restore_the_space() {
        let folder = tempfile::tempdir().unwrap();
        let mut space = Space::empty(2);
        space.frontier = Some(Frontier { next: 0, edges: Some(Edges::default()) });
        let (mut held, mut parts) = (StoredCounts::default(), Vec::new());
        // A part may hold nothing new, and may begin in any segment of the store.
        for (number, states) in (1..).zip([3, 3, 20_000, 20_001, 40_000]) {
            grow(&mut space, states);
            let (path, head) = (folder.path().join(format!("{number}.part")), [1, 2, 3, 4, 2, 0, number]);
            write_space(&path, &head, &space, held).unwrap();
            held = StoredCounts::of(&space);
            parts.push((path, head));
            assert!(text(&read_space(&parts, 2).unwrap()) == text(&space), "{number}");
        }
        assert!(read_space(&parts, 1).is_err(), "of another width");
        for missing in 0..parts.len() - 1 {
            let mut some = parts.clone();
            some.remove(missing);
            assert_eq!(read_space(&some, 2).is_err(), missing != 1, "without {missing}");
        }
        parts.swap(2, 3);
        assert!(read_space(&parts, 2).is_err(), "in another order");
    }
}
