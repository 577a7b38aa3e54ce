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

use crate::checkpoint_directory::{CheckpointDirectory, DirectoryError};
use crate::checkpoint_parts::{Head, StoredCounts, read_labels, read_space, write_labels, write_space};
use crate::explore::Space;
use crate::manifest::{MAX_PARTS, Manifest, ManifestError};
use crate::net::Net;
use crate::shard::Shard;

pub(crate) use crate::manifest::RunId;

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

/// Writes and reads the checkpoints of one worker.
pub(crate) struct CheckpointStore {
    settings: Checkpoints,
    run: RunId,
    index: usize,
    workers: usize,
    /// The directory, once it is locked.
    directory: Option<CheckpointDirectory>,
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
    pub(crate) fn new(settings: Checkpoints, run: RunId, index: usize, workers: usize) -> CheckpointStore {
        let (stored, took) = (Instant::now(), Duration::ZERO);
        CheckpointStore {
            settings,
            run,
            index,
            workers,
            directory: None,
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

    fn head(&self, number: u64) -> Head {
        let [a, b, c, d] = self.run.model.words();
        [a, b, c, d, self.workers as u64, self.index as u64, number]
    }

    /// Locks the directory, unless that was done before.
    fn claim_directory(&mut self) -> Result<(), Stop> {
        if self.directory.is_some() {
            return Ok(());
        }
        let name = self.settings.directory.display().to_string();
        match CheckpointDirectory::claim(&self.settings.directory, self.index) {
            Ok(directory) => {
                self.directory = Some(directory);
                Ok(())
            }
            Err(DirectoryError::Io(error)) => self.check(Err(error), "written"),
            Err(DirectoryError::InUse) => {
                self.fail(format!("the checkpoint directory {name} is used by another check"))
            }
            Err(DirectoryError::Foreign) => self.fail(format!(
                "the directory {name} contains other files and no checkpoint; name a new or empty directory"
            )),
        }
    }

    fn directory(&self) -> &CheckpointDirectory {
        self.directory.as_ref().expect("the directory is locked before anything is read or written")
    }

    fn part(&self, kind: &str, number: u64) -> PathBuf {
        self.directory().part(kind, number)
    }

    /// Reads the stored states, if the run is to resume from them. Parts that the manifest does not list are
    /// removed after all workers have read those that it does.
    pub(crate) fn resume_space(&mut self, net: &mut Net, width: usize) -> Result<Option<Space>, Stop> {
        self.claim_directory()?;
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
        // Without `--resume`, an existing manifest will be replaced.
        let space = if self.settings.resume { self.read_listed_space(width)? } else { None };
        net.gather(Vec::new())?;
        self.remove_unlisted_parts();
        Ok(space)
    }

    /// Reads the states of the parts that the manifest lists.
    fn read_listed_space(&mut self, width: usize) -> Result<Option<Space>, Stop> {
        let Some(manifest) = &self.manifest else { return Ok(None) };
        self.parts = manifest.states.clone();
        let parts: Vec<_> = self.parts.iter().map(|&n| (self.part("states", n), self.head(n))).collect();
        let read = read_space(&parts, width);
        let space = self.check(read, "read")?;
        self.held = StoredCounts::of(&space);
        Ok(Some(space))
    }

    fn new_manifest(&self, states: Vec<u64>, whole: bool, labels: Option<u64>) -> Manifest {
        Manifest::new(&self.run, self.workers, states, whole, labels)
    }

    /// Removes this worker's parts that the manifest does not list: a run that was killed leaves some.
    fn remove_unlisted_parts(&self) {
        let mut listed: Vec<PathBuf> = Vec::new();
        if let Some(manifest) = &self.manifest {
            listed.extend(manifest.states.iter().map(|&number| self.part("states", number)));
            listed.extend(manifest.labels.map(|number| self.part("labels", number)));
        }
        self.directory().remove_parts_except(&listed);
    }

    /// Reads the manifest, if there is one. A manifest that cannot be read is an error; one that does not
    /// match the run is an error if the run is to resume from it.
    fn read_manifest(&mut self) -> Result<Option<Manifest>, Stop> {
        let directory = self.settings.directory.display().to_string();
        let manifest = match Manifest::read(&self.directory().manifest()) {
            Ok(manifest) => manifest,
            Err(ManifestError::Unreadable(error)) => return self.check(Err(error), "read"),
            Err(ManifestError::OtherVersion) => {
                return self.fail(format!(
                    "the checkpoint in {directory} is of another version of masque; use another directory"
                ));
            }
            Err(ManifestError::Damaged) => {
                return self.fail(format!(
                    "the checkpoint in {directory} cannot be read: its manifest is damaged; use another directory"
                ));
            }
        };
        if !self.settings.resume {
            return Ok(manifest);
        }
        match manifest {
            None => self.fail(format!("there is no checkpoint in {directory} to resume")),
            Some(found) if found.build != self.run.build => {
                let (made_by, now) = (found.build, self.run.build.clone());
                self.fail(format!("the checkpoint in {directory} was made by build {made_by}, not {now}"))
            }
            Some(found) if found.model != self.run.model => {
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
        let Some(mut manifest) = self.manifest.clone() else { return Ok(()) };
        let (start, number) = (Instant::now(), self.last + 1);
        let part = self.part("labels", number);
        let written = write_labels(&part, &self.head(number), shard);
        self.check(written, "written")?;
        manifest.labels = Some(number);
        self.publish(&mut shard.net, &part, manifest, start)
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
            let written = manifest.write(&self.directory().manifest());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Digest;

    /// A manifest of another build, model or number of workers is refused, and nothing is removed.
    #[test]
    fn a_checkpoint_of_another_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let run = |build: &str, model: &str| RunId { build: build.to_string(), model: Digest::of(model) };
        let part = folder.path().join("states-0-7.part");
        //   build      model    workers   said
        let cases = [
            ("1.0-a", "model", 2, None),
            ("1.0-b", "model", 2, Some("was made by build 1.0-b, not 1.0-a")),
            ("1.0-a", "other", 2, Some("is of another model or question")),
            ("1.0-a", "model", 3, Some("was made by 3 workers, not 2")),
        ];
        for (build, model, workers, expected) in cases {
            let (directory, every) = (folder.path().to_path_buf(), Duration::ZERO);
            let settings = Checkpoints { directory, every, resume: true };
            let mut store = CheckpointStore::new(settings, run("1.0-a", "model"), 0, 2);
            store.claim_directory().unwrap();
            std::fs::write(&part, "states").unwrap();
            let written = Manifest::new(&run(build, model), workers, vec![7], true, None);
            written.write(&store.directory().manifest()).unwrap();
            let is_found = store.read_manifest().is_ok_and(|found| found.is_some());
            assert_eq!(is_found, expected.is_none(), "{build} {model} {workers}");
            let said = store.take_failure().unwrap_or_default();
            assert!(said.contains(expected.unwrap_or_default()), "{said}");
            assert!(part.exists());
        }
    }
}
