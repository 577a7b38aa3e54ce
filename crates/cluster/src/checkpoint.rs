//! Checkpoints: what a run has found, on disk, so that a later run can resume from it.
//!
//! Between rounds no message is in flight, so the data of all workers is consistent. Each worker writes
//! what it has found since the last checkpoint as a new file, a *part*; when all have done so, the first
//! worker writes the *manifest*, which lists the parts that belong together. Only then are parts that it
//! does not list removed. A run that is killed at any moment leaves a manifest whose parts all exist.
//!
//! Each worker reads and writes its own parts in the given directory on its own machine; the first worker
//! writes the manifest.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use masque_verdict::{Stop, Why};
use serde::{Deserialize, Serialize};

use crate::checkpoint_parts::{StoredCounts, read_labels, read_space, write_labels, write_space};
use crate::explore::Space;
use crate::net::Net;
use crate::shard::Shard;
use crate::word_file::write_text;

/// The format of the manifest.
const FORMAT: &str = "masque.checkpoint/2";
/// Maximum number of parts that hold the states. The next part then holds all states again: each layer may
/// become a part, and there may be millions of layers.
const MAX_PARTS: usize = 64;
/// Labels are stored again after this many times the duration of the last store.
const LABEL_STORE_INTERVAL: u32 = 20;

/// Settings for checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoints {
    /// Directory at each worker.
    pub directory: PathBuf,
    /// Time between two checkpoints during exploration.
    pub every: Duration,
    /// Whether to resume from the checkpoint in the directory.
    pub resume: bool,
}

/// The list of the parts that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    format: String,
    /// Hash of the model and the properties.
    model: u64,
    workers: usize,
    /// Numbers of the parts that hold the states, in order.
    states: Vec<u64>,
    /// Whether these are all reachable states.
    whole: bool,
    /// Number of the parts that hold the labels.
    labels: Option<u64>,
}

/// Writes and reads the checkpoints of one worker.
pub(crate) struct CheckpointStore {
    settings: Checkpoints,
    model: u64,
    index: usize,
    workers: usize,
    /// Number of the last part written.
    last: u64,
    /// Time of the last store.
    stored: Instant,
    /// Duration of the last store.
    took: Duration,
    manifest: Option<Manifest>,
    /// Numbers of the parts that hold the states of this run.
    parts: Vec<u64>,
    /// Number of states and transitions in these parts.
    held: StoredCounts,
    failure: Option<String>,
}

impl CheckpointStore {
    pub(crate) fn new(settings: Checkpoints, model: u64, index: usize, workers: usize) -> CheckpointStore {
        let (stored, took) = (Instant::now(), Duration::ZERO);
        CheckpointStore {
            settings,
            model,
            index,
            workers,
            last: 0,
            stored,
            took,
            manifest: None,
            parts: Vec::new(),
            held: StoredCounts::default(),
            failure: None,
        }
    }

    /// Returns the message of the last failure, if there was one, and forgets it.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    fn fail<T>(&mut self, message: String) -> Result<T, Stop> {
        self.failure = Some(message);
        Err(Why::Workers.into())
    }

    fn check<T>(&mut self, result: io::Result<T>, doing: &str) -> Result<T, Stop> {
        let directory = self.settings.directory.display();
        match result {
            Ok(value) => Ok(value),
            Err(error) => {
                let text = error.to_string();
                // The system's message without its error number.
                let why = text.split(" (os error").next().unwrap_or(&text);
                self.fail(format!("the checkpoint in {directory} cannot be {doing}: {why}"))
            }
        }
    }

    fn part(&self, kind: &str, number: u64) -> PathBuf {
        self.settings.directory.join(format!("{kind}-{}-{number}.part", self.index))
    }

    fn head(&self, number: u64) -> [u64; 4] {
        [self.model, self.workers as u64, self.index as u64, number]
    }

    fn manifest_path(&self) -> PathBuf {
        self.settings.directory.join("manifest.json")
    }

    /// Reads the stored states, if the run is to resume from them.
    pub(crate) fn resume_space(&mut self, net: &mut Net, width: usize) -> Result<Option<Space>, Stop> {
        let made = std::fs::create_dir_all(&self.settings.directory);
        self.check(made, "written")?;
        let found = if self.index == 0 { self.read_manifest()? } else { None };
        let words = found.map_or(Vec::new(), |m| {
            let head = [u64::from(m.whole), m.labels.map_or(0, |n| n + 1)];
            head.into_iter().chain(m.states).collect()
        });
        // The first worker has read the manifest and sends it to the others.
        let words = net.gather(words)?.into_iter().next().unwrap_or_default();
        if let [whole, labels, states @ ..] = &words[..] {
            let (states, whole, labels) = (states.to_vec(), *whole == 1, labels.checked_sub(1));
            self.last = states.iter().copied().chain(labels).max().unwrap_or(0);
            self.manifest = Some(self.new_manifest(states, whole, labels));
        }
        self.remove_unlisted_parts();
        if !self.settings.resume {
            // An existing manifest will be replaced.
            return Ok(None);
        }
        let Some(manifest) = &self.manifest else { return Ok(None) };
        self.parts = manifest.states.clone();
        let parts: Vec<_> = self.parts.iter().map(|&n| (self.part("states", n), self.head(n))).collect();
        let read = read_space(&parts, width);
        let space = self.check(read, "read")?;
        self.held = StoredCounts::of(&space);
        Ok(Some(space))
    }

    fn new_manifest(&self, states: Vec<u64>, whole: bool, labels: Option<u64>) -> Manifest {
        let (format, model, workers) = (FORMAT.to_string(), self.model, self.workers);
        Manifest { format, model, workers, states, whole, labels }
    }

    /// Removes this worker's parts that the manifest does not list: a run that was killed leaves some.
    fn remove_unlisted_parts(&self) {
        let is_own = |name: &str| {
            ["states", "labels"].iter().any(|kind| {
                name.strip_prefix(kind).is_some_and(|rest| rest.starts_with(&format!("-{}-", self.index)))
            })
        };
        let mut listed: Vec<PathBuf> = Vec::new();
        if let Some(manifest) = &self.manifest {
            listed.extend(manifest.states.iter().map(|&number| self.part("states", number)));
            listed.extend(manifest.labels.map(|number| self.part("labels", number)));
        }
        let files = std::fs::read_dir(&self.settings.directory).into_iter().flatten().flatten();
        for file in files.filter(|file| file.file_name().to_str().is_some_and(is_own)) {
            if !listed.contains(&file.path()) {
                _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Reads the manifest, if there is one. If the run is to resume, an unusable manifest is an error.
    fn read_manifest(&mut self) -> Result<Option<Manifest>, Stop> {
        let text = std::fs::read_to_string(self.manifest_path());
        let directory = self.settings.directory.display().to_string();
        let found = text.ok().and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        let is_other = found.as_ref().is_some_and(|found| found["format"] != FORMAT);
        let manifest: Option<Manifest> = found.and_then(|found| serde_json::from_value(found).ok());
        if !self.settings.resume {
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
                let (made_by, now) = (found.workers, self.workers);
                self.fail(format!("the checkpoint in {directory} was made by {made_by} workers, not {now}"))
            }
            found => Ok(found),
        }
    }

    /// Stores the states found so far, if the interval has passed.
    pub(crate) fn store_if_due(&mut self, net: &mut Net, space: &Space) -> Result<(), Stop> {
        let is_due = self.index == 0 && self.stored.elapsed() >= self.settings.every;
        if net.any(is_due)? { self.store_space(net, space, false) } else { Ok(()) }
    }

    /// Stores all states, unless they are stored already.
    pub(crate) fn store_whole(&mut self, net: &mut Net, space: &Space) -> Result<(), Stop> {
        let is_done = self.settings.resume && self.manifest.as_ref().is_some_and(|manifest| manifest.whole);
        if is_done { Ok(()) } else { self.store_space(net, space, true) }
    }

    /// Stores the states that were found since the last checkpoint.
    fn store_space(&mut self, net: &mut Net, space: &Space, whole: bool) -> Result<(), Stop> {
        let (start, number) = (Instant::now(), self.last + 1);
        if self.parts.len() >= MAX_PARTS {
            (self.parts, self.held) = (Vec::new(), StoredCounts::default());
        }
        let part = self.part("states", number);
        let written = write_space(&part, &self.head(number), space, self.held);
        self.check(written, "written")?;
        self.parts.push(number);
        self.held = StoredCounts::of(space);
        let manifest = self.new_manifest(self.parts.clone(), whole, None);
        self.publish(net, &part, manifest, start)
    }

    /// Stores the labels of the states, if the interval since the last store has passed.
    pub(crate) fn store_labels(&mut self, shard: &mut Shard<'_>) -> Result<(), Stop> {
        let is_due = self.index == 0 && self.stored.elapsed() >= self.took * LABEL_STORE_INTERVAL;
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

    /// Waits until all workers have written their part, then replaces the manifest and removes parts that
    /// the new one does not list.
    fn publish(
        &mut self,
        net: &mut Net,
        part: &Path,
        manifest: Manifest,
        start: Instant,
    ) -> Result<(), Stop> {
        if let Err(stop) = net.gather(Vec::new()) {
            // Another worker could not write, and no manifest will list this part.
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
            // A file that cannot be removed does no harm.
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

    /// Reads the stored labels, if the run is to resume from them.
    pub(crate) fn resume_labels(&mut self, shard: &mut Shard<'_>) -> Result<(), Stop> {
        if !self.settings.resume {
            return Ok(());
        }
        let labels = self.manifest.as_ref().and_then(|manifest| manifest.labels);
        let Some(number) = labels else { return Ok(()) };
        let read = read_labels(&self.part("labels", number), &self.head(number), shard);
        (shard.labels.plain, shard.labels.fair) = self.check(read, "read")?;
        Ok(())
    }
}
