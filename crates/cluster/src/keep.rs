//! Checkpoints: what a run has found, on disk, so that another can go on from there.
//!
//! Between rounds nothing is in flight, so what all workers hold is one consistent whole. Each writes
//! its own part; when all have done so, the first worker writes the *manifest*, which names the parts
//! that belong together, and only then the old parts go. A run that is killed at any moment leaves a
//! manifest whose parts are all there.
//!
//! Each worker reads and writes its own parts in a directory of that name on its own machine; the
//! manifest is the first worker's.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use masque_explicit::parts::Bitset;
use masque_model::FormulaId;
use masque_verdict::{Stop, Why};
use serde::{Deserialize, Serialize};

use crate::explore::{Open, Space};
use crate::file::{Reader, Writer, broken, write_text};
use crate::graph::{Edges, Graph};
use crate::net::Net;
use crate::shard::{Domain, Shard};
use crate::store::Store;

/// The format of the manifest.
const FORMAT: &str = "masque.checkpoint/1";
/// Storing labels may take this share of the time: one part in so many.
const SHARE: u32 = 20;

/// Where a run keeps its checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoints {
    /// The directory, at each worker.
    pub directory: PathBuf,
    /// How often to store what is found within exploration.
    pub every: Duration,
    /// Whether to go on from what is there.
    pub resume: bool,
}

/// What belongs together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    format: String,
    /// What the model and the question are.
    model: u64,
    workers: usize,
    /// Which parts hold the states.
    states: u64,
    /// Which parts hold what is known of them.
    labels: Option<u64>,
}

/// One worker's checkpoints.
pub(crate) struct Keeper {
    plan: Checkpoints,
    model: u64,
    index: usize,
    workers: usize,
    /// The number of the parts written last.
    last: u64,
    stored: Instant,
    /// How long it took.
    took: Duration,
    manifest: Option<Manifest>,
    trouble: Option<String>,
}

impl Keeper {
    pub(crate) fn new(plan: Checkpoints, model: u64, index: usize, workers: usize) -> Keeper {
        let (stored, took) = (Instant::now(), Duration::ZERO);
        Keeper { plan, model, index, workers, last: 0, stored, took, manifest: None, trouble: None }
    }

    /// What went wrong, if something did.
    pub(crate) fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    fn fail<T>(&mut self, message: String) -> Result<T, Stop> {
        self.trouble = Some(message);
        Err(Why::Workers.into())
    }

    fn check<T>(&mut self, result: io::Result<T>, doing: &str) -> Result<T, Stop> {
        let directory = self.plan.directory.display();
        match result {
            Ok(value) => Ok(value),
            Err(error) => self.fail(format!("the checkpoint in {directory} cannot be {doing}: {error}")),
        }
    }

    fn part(&self, kind: &str, number: u64) -> PathBuf {
        self.plan.directory.join(format!("{kind}-{}-{number}.part", self.index))
    }

    fn head(&self, number: u64) -> [u64; 4] {
        [self.model, self.workers as u64, self.index as u64, number]
    }

    fn manifest_path(&self) -> PathBuf {
        self.plan.directory.join("manifest.json")
    }

    /// The states that are stored, if the run is to go on from there.
    pub(crate) fn resume_space(&mut self, net: &mut Net, width: usize) -> Result<Option<Space>, Stop> {
        let made = std::fs::create_dir_all(&self.plan.directory);
        self.check(made, "written")?;
        let found = match self.index {
            0 => self.read_manifest()?,
            _ => None,
        };
        let words = found.map_or(Vec::new(), |m| vec![m.states, m.labels.map_or(0, |n| n + 1)]);
        // The first worker has read it, and tells the others.
        let words = net.gather(words)?.into_iter().next().unwrap_or_default();
        let [states, labels] = words[..] else { return Ok(None) };
        self.last = states.max(labels);
        let (format, model, workers) = (FORMAT.to_string(), self.model, self.workers);
        let labels = labels.checked_sub(1);
        self.manifest = Some(Manifest { format, model, workers, states, labels });
        if !self.plan.resume {
            // It is there to be replaced.
            return Ok(None);
        }
        let read = read_space(&self.part("states", states), &self.head(states), width);
        self.check(read, "read").map(Some)
    }

    /// The manifest, if there is one. One that is of no use is an error if it is to be used.
    fn read_manifest(&mut self) -> Result<Option<Manifest>, Stop> {
        let text = std::fs::read_to_string(self.manifest_path());
        let directory = self.plan.directory.display().to_string();
        let manifest: Option<Manifest> = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        if !self.plan.resume {
            return Ok(manifest);
        }
        match manifest {
            None => self.fail(format!("there is no checkpoint in {directory} to resume")),
            Some(found) if found.format != FORMAT => {
                self.fail(format!("the checkpoint in {directory} is of another version of masque"))
            }
            Some(found) if found.model != self.model => {
                self.fail(format!("the checkpoint in {directory} is of another model or question"))
            }
            Some(found) if found.workers != self.workers => {
                let (made_by, we) = (found.workers, self.workers);
                self.fail(format!("the checkpoint in {directory} was made by {made_by} workers, not {we}"))
            }
            found => Ok(found),
        }
    }

    /// Stores the states found so far, if it is time.
    pub(crate) fn store_if_due(&mut self, net: &mut Net, space: &Space) -> Result<(), Stop> {
        let is_due = self.index == 0 && self.stored.elapsed() >= self.plan.every;
        if net.any(is_due)? { self.store_space(net, space) } else { Ok(()) }
    }

    /// Stores the states.
    pub(crate) fn store_space(&mut self, net: &mut Net, space: &Space) -> Result<(), Stop> {
        let (start, number) = (Instant::now(), self.last + 1);
        let written = write_space(&self.part("states", number), &self.head(number), space);
        self.check(written, "written")?;
        let (format, model, workers) = (FORMAT.to_string(), self.model, self.workers);
        let manifest = Manifest { format, model, workers, states: number, labels: None };
        self.publish(net, manifest, start)
    }

    /// Stores what is known of the states, if that has not been done lately.
    pub(crate) fn store_labels(&mut self, shard: &mut Shard<'_>) -> Result<(), Stop> {
        let is_due = self.index == 0 && self.stored.elapsed() >= self.took * SHARE;
        if !shard.net.any(is_due)? {
            return Ok(());
        }
        let Some(manifest) = self.manifest.clone() else { return Ok(()) };
        let (start, number) = (Instant::now(), self.last + 1);
        let written = write_labels(&self.part("labels", number), &self.head(number), shard);
        self.check(written, "written")?;
        self.publish(&mut shard.net, Manifest { labels: Some(number), ..manifest }, start)
    }

    /// All parts of a manifest are written, when all workers are here.
    fn publish(&mut self, net: &mut Net, manifest: Manifest, start: Instant) -> Result<(), Stop> {
        net.gather(Vec::new())?;
        self.last += 1;
        if self.index == 0 {
            let text = serde_json::to_string(&manifest).map_err(io::Error::other);
            let written = text.and_then(|text| write_text(&self.manifest_path(), &text));
            self.check(written, "written")?;
        }
        net.gather(Vec::new())?;
        if let Some(old) = self.manifest.replace(manifest.clone()) {
            // What cannot be removed is in nobody's way.
            if old.states != manifest.states {
                _ = std::fs::remove_file(self.part("states", old.states));
            }
            if let Some(labels) = old.labels {
                _ = std::fs::remove_file(self.part("labels", labels));
            }
        }
        (self.stored, self.took) = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// What is known of the states, as far as it is stored.
    pub(crate) fn resume_labels(&mut self, shard: &mut Shard<'_>) -> Result<(), Stop> {
        let labels = self.manifest.as_ref().and_then(|manifest| manifest.labels);
        let Some(number) = labels.filter(|_| self.plan.resume) else { return Ok(()) };
        let read = read_labels(&self.part("labels", number), &self.head(number), shard);
        (shard.plain, shard.fair) = self.check(read, "read")?;
        Ok(())
    }
}

fn write_space(path: &Path, head: &[u64], space: &Space) -> io::Result<()> {
    let mut writer = Writer::new(path, head)?;
    writer.words(&[space.store.width() as u64, space.n_everywhere, space.n_states() as u64])?;
    for segment in space.store.segments() {
        writer.words(segment)?;
    }
    writer.short_list(&space.layers)?;
    writer.short_list(&space.nearest_deadlocks)?;
    writer.short_list(&space.nearest_overflows)?;
    match (&space.open, &space.graph) {
        (None, None) => writer.words(&[0])?,
        (None, Some(graph)) => {
            writer.words(&[1])?;
            writer.short_list(&graph.begins)?;
            writer.list(&graph.sources)?;
        }
        (Some(open), _) => {
            writer.words(&[if open.edges.is_some() { 3 } else { 2 }, u64::from(open.next)])?;
            if let Some(edges) = &open.edges {
                writer.short_list(edges.targets())?;
                writer.list(edges.sources())?;
            }
        }
    }
    writer.finish()
}

fn read_space(path: &Path, head: &[u64], width: usize) -> io::Result<Space> {
    let damaged = || broken("it is damaged");
    let mut reader = Reader::new(path, head)?;
    let (found_width, n_everywhere, n_states) = (reader.word()?, reader.word()?, reader.length()?);
    if found_width != width as u64 {
        return Err(damaged());
    }
    let mut store = Store::new(width);
    let mut row = vec![0; width];
    for number in 0..n_states {
        for word in &mut row {
            *word = reader.word()?;
        }
        if store.insert(&row).map_err(|_| damaged())? as usize != number {
            return Err(damaged());
        }
    }
    let (layers, nearest_deadlocks, nearest_overflows) =
        (reader.short_list()?, reader.short_list()?, reader.short_list()?);
    let is_number = |&state: &u32| (state as usize) < n_states;
    let is_sound = layers.len() >= 2
        && layers.is_sorted()
        && layers[layers.len() - 1] as usize <= n_states
        && nearest_deadlocks.iter().chain(&nearest_overflows).all(is_number);
    if !is_sound {
        return Err(damaged());
    }
    let (graph, open) = match reader.word()? {
        0 => (None, None),
        1 => {
            let (begins, sources) = (reader.short_list()?, reader.list()?);
            (Some(Graph::from_parts(begins, sources, n_states).ok_or_else(damaged)?), None)
        }
        kind @ (2 | 3) => {
            let next = u32::try_from(reader.word()?).map_err(|_| damaged())?;
            let edges = match kind {
                2 => None,
                _ => Some(
                    Edges::from_parts(reader.short_list()?, reader.list()?, n_states).ok_or_else(damaged)?,
                ),
            };
            (None, Some(Open { next, edges }))
        }
        _ => return Err(damaged()),
    };
    reader.finish()?;
    Ok(Space { store, layers, nearest_deadlocks, nearest_overflows, graph, n_everywhere, open })
}

fn write_labels(path: &Path, head: &[u64], shard: &Shard<'_>) -> io::Result<()> {
    let mut writer = Writer::new(path, head)?;
    write_domain(&mut writer, &shard.plain)?;
    writer.words(&[u64::from(shard.fair.is_some())])?;
    if let Some(fair) = &shard.fair {
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

fn read_labels(path: &Path, head: &[u64], shard: &Shard<'_>) -> io::Result<(Domain, Option<Domain>)> {
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
