//! What a worker's parts of a checkpoint hold: states and transitions, and what is known of them.
//!
//! States and transitions are numbered as they are found, and never change. So a part holds those that
//! were found since the one before it, and all parts, one after another, are the whole. What is small
//! and does change (layers, how far exploration is) stands at the end of each; the last one counts.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use masque_explicit::parts::{Bitset, Domain, StoredStates};
use masque_model::FormulaId;

use crate::explore::{Open, Space};
use crate::file::{Reader, Writer, broken};
use crate::graph::Edges;
use crate::shard::Shard;
use crate::store::Store;

/// How much of a space some parts hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    rows: usize,
    edges: usize,
}

impl Extent {
    /// All of a space.
    pub(crate) fn of(space: &Space) -> Extent {
        Extent { rows: space.n_states(), edges: edges(space).map_or(0, |edges| edges.targets().len()) }
    }
}

fn edges(space: &Space) -> Option<&Edges> {
    space.open.as_ref().and_then(|open| open.edges.as_ref())
}

/// Writes what has been found of a space that is being explored beyond what other parts hold.
pub(crate) fn write_space(path: &Path, head: &[u64], space: &Space, held: Extent) -> io::Result<()> {
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
    let next = space.open.as_ref().map_or(space.n_states() as u32, |open| open.next);
    writer.words(&[space.n_everywhere, u64::from(next)])?;
    writer.short_list(&space.layers)?;
    writer.short_list(&space.nearest_deadlocks)?;
    writer.short_list(&space.nearest_overflows)?;
    writer.finish()
}

/// A space from all its parts, each with what it must begin with.
pub(crate) fn read_space(parts: &[(PathBuf, [u64; 4])], width: usize) -> io::Result<Space> {
    let damaged = || broken("it is damaged");
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
    let is_number = |&state: &u32| (state as usize) < n_states;
    let is_sound = space.layers.len() >= 2
        && space.layers.is_sorted()
        && space.layers[space.layers.len() - 1] as usize <= n_states
        && next as usize <= n_states
        && space.nearest_deadlocks.iter().chain(&space.nearest_overflows).all(is_number);
    if !is_sound {
        return Err(damaged());
    }
    let edges = Edges::from_parts(targets, sources, n_states).ok_or_else(damaged)?;
    space.open = Some(Open { next, edges: has_edges.then_some(edges) });
    Ok(space)
}

/// Rows that are all new.
fn read_rows(reader: &mut Reader, store: &mut Store) -> io::Result<()> {
    let mut row = vec![0; store.width()];
    for _ in 0..reader.length()? {
        for word in &mut row {
            *word = reader.word()?;
        }
        let number = store.len();
        if store.insert(&row).ok() != Some(number as u32) {
            return Err(broken("it is damaged"));
        }
    }
    Ok(())
}

/// Writes what is known of the states.
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

/// What is known of the states.
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
    let damaged = || broken("it is damaged");
    let set = |words: Vec<u64>| Bitset::from_words(words, n_states).ok_or_else(damaged);
    let states = Rc::new(set(reader.list()?)?);
    let n_constraints = reader.length()?;
    let constraints: Vec<Bitset> =
        (0..n_constraints).map(|_| reader.list().and_then(set)).collect::<io::Result<_>>()?;
    let mut domain = Domain::new(states, constraints.into());
    for _ in 0..reader.length()? {
        let position = usize::try_from(reader.word()?).map_err(|_| damaged())?;
        let formula = shard.system.formulas.ids().nth(position).ok_or_else(damaged)?;
        domain.known.insert(formula, Rc::new(set(reader.list()?)?));
    }
    Ok(domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Place;

    /// A space of so many states, found so far.
    fn grow(space: &mut Space, states: usize) {
        for number in space.n_states()..states {
            space.store.insert(&[number as u64 * 3, 7]).unwrap();
            let Some(Open { next, edges: Some(edges) }) = &mut space.open else { panic!("it is open") };
            *next = number as u32;
            edges.add(Place::new(1, 5), number as u32);
            edges.add(Place::new(0, number as u32), 0);
        }
        space.layers = vec![0, 1, states as u32 / 2, states as u32];
        space.n_everywhere = states as u64 * 2;
        space.nearest_deadlocks = vec![states as u32 - 1];
    }

    /// All that is stored of a space, as text.
    fn all(space: &Space) -> String {
        let rows: Vec<u64> = space.store.rows_from(0).flatten().copied().collect();
        let rest = (&space.layers, &space.nearest_deadlocks, space.n_everywhere, &space.open);
        format!("{rows:?} {rest:?}")
    }

    #[test]
    fn parts_together_are_the_whole_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut space = Space::empty(2);
        space.open = Some(Open { next: 0, edges: Some(Edges::default()) });
        let (mut held, mut parts) = (Extent::default(), Vec::new());
        // Nothing new is a part, too; a part may begin in any segment of the store.
        for (number, states) in (1..).zip([3, 3, 20_000, 20_001, 40_000]) {
            grow(&mut space, states);
            let (path, head) = (folder.path().join(format!("{number}.part")), [1, 2, 0, number]);
            write_space(&path, &head, &space, held).unwrap();
            held = Extent::of(&space);
            parts.push((path, head));
            assert!(all(&read_space(&parts, 2).unwrap()) == all(&space), "{number}");
        }
        assert!(read_space(&parts, 1).is_err(), "of another width");
        for lacking in 0..parts.len() - 1 {
            let mut some = parts.clone();
            some.remove(lacking);
            assert_eq!(read_space(&some, 2).is_err(), lacking != 1, "without {lacking}");
        }
        parts.swap(2, 3);
        assert!(read_space(&parts, 2).is_err(), "in another order");
    }
}
