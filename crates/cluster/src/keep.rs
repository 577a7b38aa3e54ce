//! Checkpoints: what a run has found, on disk, so that another can go on from there.
//!
//! Between rounds nothing is in flight, so what all workers hold is one consistent whole. Each writes
//! what it has found since the last time as a part of its own; when all have done so, the first worker
//! writes the *manifest*, which names the parts that belong together, and only then parts that it does
//! not name go. A run that is killed at any moment leaves a manifest whose parts are all there.
//!
//! Each worker reads and writes its own parts in a directory of that name on its own machine; the
//! manifest is the first worker's.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use masque_verdict::{Stop, Why};
use serde::{Deserialize, Serialize};

use crate::explore::Space;
use crate::file::write_text;
use crate::net::Net;
use crate::shard::Shard;
use crate::stored::{Extent, read_labels, read_space, write_labels, write_space};

/// The format of the manifest.
const FORMAT: &str = "masque.checkpoint/2";
/// When there are so many parts, the next one is the whole again: a layer may be a part, and there may
/// be millions of layers.
const MOST_PARTS: usize = 64;
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
    /// Which parts hold the states, in this order.
    states: Vec<u64>,
    /// Whether these are all reachable states.
    whole: bool,
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
    /// The parts that hold the states of this run, and how much of them.
    parts: Vec<u64>,
    held: Extent,
    trouble: Option<String>,
}

impl Keeper {
    pub(crate) fn new(plan: Checkpoints, model: u64, index: usize, workers: usize) -> Keeper {
        let (stored, took) = (Instant::now(), Duration::ZERO);
        Keeper {
            plan,
            model,
            index,
            workers,
            last: 0,
            stored,
            took,
            manifest: None,
            parts: Vec::new(),
            held: Extent::default(),
            trouble: None,
        }
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
            Err(error) => {
                let text = error.to_string();
                // The system's words, without its number for them.
                let why = text.split(" (os error").next().unwrap_or(&text);
                self.fail(format!("the checkpoint in {directory} cannot be {doing}: {why}"))
            }
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
        let words = found.map_or(Vec::new(), |m| {
            let head = [u64::from(m.whole), m.labels.map_or(0, |n| n + 1)];
            head.into_iter().chain(m.states).collect()
        });
        // The first worker has read it, and tells the others.
        let words = net.gather(words)?.into_iter().next().unwrap_or_default();
        if let [whole, labels, states @ ..] = &words[..] {
            let (states, whole, labels) = (states.to_vec(), *whole == 1, labels.checked_sub(1));
            self.last = states.iter().copied().chain(labels).max().unwrap_or(0);
            self.manifest = Some(self.new_manifest(states, whole, labels));
        }
        self.sweep();
        let Some(manifest) = self.manifest.as_ref().filter(|_| self.plan.resume) else {
            // If there is one, it is there to be replaced.
            return Ok(None);
        };
        self.parts = manifest.states.clone();
        let parts: Vec<_> = self.parts.iter().map(|&n| (self.part("states", n), self.head(n))).collect();
        let read = read_space(&parts, width);
        let space = self.check(read, "read")?;
        self.held = Extent::of(&space);
        Ok(Some(space))
    }

    fn new_manifest(&self, states: Vec<u64>, whole: bool, labels: Option<u64>) -> Manifest {
        let (format, model, workers) = (FORMAT.to_string(), self.model, self.workers);
        Manifest { format, model, workers, states, whole, labels }
    }

    /// Removes this worker's files that no manifest names: a run that was killed leaves some.
    fn sweep(&self) {
        let is_ours = |name: &str| {
            ["states", "labels"].iter().any(|kind| {
                name.strip_prefix(kind).is_some_and(|rest| rest.starts_with(&format!("-{}-", self.index)))
            })
        };
        let mut named: Vec<PathBuf> = Vec::new();
        if let Some(manifest) = &self.manifest {
            named.extend(manifest.states.iter().map(|&number| self.part("states", number)));
            named.extend(manifest.labels.map(|number| self.part("labels", number)));
        }
        let files = std::fs::read_dir(&self.plan.directory).into_iter().flatten().flatten();
        for file in files.filter(|file| file.file_name().to_str().is_some_and(is_ours)) {
            if !named.contains(&file.path()) {
                _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// The manifest, if there is one. One that is of no use is an error if it is to be used.
    fn read_manifest(&mut self) -> Result<Option<Manifest>, Stop> {
        let text = std::fs::read_to_string(self.manifest_path());
        let directory = self.plan.directory.display().to_string();
        let found = text.ok().and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        let is_other = found.as_ref().is_some_and(|found| found["format"] != FORMAT);
        let manifest: Option<Manifest> = found.and_then(|found| serde_json::from_value(found).ok());
        if !self.plan.resume {
            return Ok(manifest);
        }
        match manifest {
            _ if is_other => {
                self.fail(format!("the checkpoint in {directory} is of another version of masque"))
            }
            None => self.fail(format!("there is no checkpoint in {directory} to resume")),
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
        if net.any(is_due)? { self.store_space(net, space, false) } else { Ok(()) }
    }

    /// Stores all states, unless that has been done.
    pub(crate) fn store_whole(&mut self, net: &mut Net, space: &Space) -> Result<(), Stop> {
        let is_done = self.plan.resume && self.manifest.as_ref().is_some_and(|manifest| manifest.whole);
        if is_done { Ok(()) } else { self.store_space(net, space, true) }
    }

    /// Stores the states that have been found since the last time.
    fn store_space(&mut self, net: &mut Net, space: &Space, whole: bool) -> Result<(), Stop> {
        let (start, number) = (Instant::now(), self.last + 1);
        if self.parts.len() >= MOST_PARTS {
            (self.parts, self.held) = (Vec::new(), Extent::default());
        }
        let part = self.part("states", number);
        let written = write_space(&part, &self.head(number), space, self.held);
        self.check(written, "written")?;
        self.parts.push(number);
        self.held = Extent::of(space);
        let manifest = self.new_manifest(self.parts.clone(), whole, None);
        self.publish(net, &part, manifest, start)
    }

    /// Stores what is known of the states, if that has not been done lately.
    pub(crate) fn store_labels(&mut self, shard: &mut Shard<'_>) -> Result<(), Stop> {
        let is_due = self.index == 0 && self.stored.elapsed() >= self.took * SHARE;
        if !shard.net.any(is_due)? {
            return Ok(());
        }
        let Some(manifest) = self.manifest.clone() else { return Ok(()) };
        let (start, number) = (Instant::now(), self.last + 1);
        let part = self.part("labels", number);
        let written = write_labels(&part, &self.head(number), shard);
        self.check(written, "written")?;
        self.publish(&mut shard.net, &part, Manifest { labels: Some(number), ..manifest }, start)
    }

    /// All parts of a manifest are written, when all workers are here.
    fn publish(
        &mut self,
        net: &mut Net,
        part: &Path,
        manifest: Manifest,
        start: Instant,
    ) -> Result<(), Stop> {
        if let Err(stop) = net.gather(Vec::new()) {
            // Somebody could not write, and no manifest will name this part.
            _ = std::fs::remove_file(part);
            return Err(stop);
        }
        self.last += 1;
        if self.index == 0 {
            let text = serde_json::to_string(&manifest).map_err(io::Error::other);
            let written = text.and_then(|text| write_text(&self.manifest_path(), &text));
            self.check(written, "written")?;
        }
        net.gather(Vec::new())?;
        if let Some(old) = self.manifest.replace(manifest.clone()) {
            // What cannot be removed is in nobody's way.
            for states in old.states.into_iter().filter(|states| !manifest.states.contains(states)) {
                _ = std::fs::remove_file(self.part("states", states));
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
        (shard.labels.plain, shard.labels.fair) = self.check(read, "read")?;
        Ok(())
    }
}
