//! The manifest of a checkpoint: the list of the parts that belong together, with a checksum.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::token::Digest;
use crate::word_file::write_text;

/// Name of the file.
pub(crate) const MANIFEST_NAME: &str = "manifest.json";
/// The format, with its version.
const FORMAT: &str = "masque.checkpoint/3";
/// What the format begins with in all versions.
const FORMAT_NAME: &str = "masque.checkpoint/";
/// Maximum number of parts that hold the states. The next part then holds all states again: each layer may
/// become a part, and there may be millions of layers.
pub(crate) const MAX_PARTS: usize = 64;
/// Maximum number of a part.
const MAX_PART_NUMBER: u64 = 1 << 53;
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 1 << 16;

/// What a checkpoint must have in common with the run that continues from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    /// Identifies the program.
    pub(crate) build: String,
    /// Digest of the model and the properties.
    pub(crate) model: Digest,
}

/// The list of the parts that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    format: String,
    /// Identifies the program that has written the checkpoint.
    pub(crate) build: String,
    /// Digest of the model and the properties.
    pub(crate) model: Digest,
    pub(crate) workers: usize,
    /// Numbers of the parts that hold the states, in order.
    pub(crate) states: Vec<u64>,
    /// Whether these are all reachable states.
    pub(crate) whole: bool,
    /// Number of the parts that hold the labels.
    pub(crate) labels: Option<u64>,
    /// Digest of all other fields.
    checksum: Digest,
}

/// Why a manifest cannot be used.
#[derive(Debug)]
pub(crate) enum ManifestError {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is not what was written.
    Damaged,
    /// It has another format.
    OtherVersion,
}

impl Manifest {
    /// Creates a manifest.
    pub(crate) fn new(
        run: &RunId,
        workers: usize,
        states: Vec<u64>,
        whole: bool,
        labels: Option<u64>,
    ) -> Self {
        let (format, build, model) = (FORMAT.to_string(), run.build.clone(), run.model);
        let checksum = Digest::ZERO;
        Manifest { format, build, model, workers, states, whole, labels, checksum }
    }

    /// Returns the JSON text of a manifest with this checksum.
    fn text(&self, checksum: Digest) -> io::Result<String> {
        serde_json::to_string(&Manifest { checksum, ..self.clone() }).map_err(io::Error::other)
    }

    /// Writes the file with its checksum.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let checksum = Digest::of(&self.text(Digest::ZERO)?);
        write_text(path, &self.text(checksum)?)
    }

    /// Reads the file, if it exists, and verifies the checksum.
    pub(crate) fn read(path: &Path) -> Result<Option<Manifest>, ManifestError> {
        let mut text = String::new();
        match File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(ManifestError::Damaged),
            Err(error) => return Err(ManifestError::Unreadable(error)),
        }
        match format_of(&text) {
            Some(format) if format == FORMAT => {}
            Some(format) if format.starts_with(FORMAT_NAME) => return Err(ManifestError::OtherVersion),
            _ => return Err(ManifestError::Damaged),
        }
        let manifest: Manifest = serde_json::from_str(&text).map_err(|_| ManifestError::Damaged)?;
        let expected = manifest.text(Digest::ZERO).map(|text| Digest::of(&text));
        let is_whole = expected.is_ok_and(|sum| sum == manifest.checksum);
        if is_whole && manifest.is_sound() { Ok(Some(manifest)) } else { Err(ManifestError::Damaged) }
    }

    /// Whether the numbers are possible.
    fn is_sound(&self) -> bool {
        (1..=MAX_PARTS).contains(&self.states.len())
            && self.states.iter().chain(&self.labels).all(|number| (1..MAX_PART_NUMBER).contains(number))
            && self.states.is_sorted_by(|one, next| one < next)
    }
}

fn format_of(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value["format"].as_str().map(str::to_string)
}

/// Whether a file is a manifest of any version.
pub(crate) fn is_manifest(path: &Path) -> bool {
    match Manifest::read(path) {
        Ok(found) => found.is_some(),
        Err(ManifestError::OtherVersion) => true,
        Err(ManifestError::Damaged | ManifestError::Unreadable(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn damage_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST_NAME);
        assert!(Manifest::read(&path).unwrap().is_none());
        let run = RunId { build: "1.0-test".to_string(), model: Digest::of("model") };
        let written = Manifest::new(&run, 3, vec![1, 2, 5], false, Some(6));
        written.write(&path).unwrap();
        let found = Manifest::read(&path).unwrap().unwrap();
        assert!(found == Manifest { checksum: found.checksum, ..written.clone() } && is_manifest(&path));
        let text = fs::read_to_string(&path).unwrap();
        for (old, new) in [
            ("[1,2,5]", "[]"),
            ("\"labels\":6", "\"labels\":null"),
            ("\"workers\":3", "\"workers\":2"),
            ("false", "true"),
            ("1.0-test", "1.1-test"),
            ("{", "{\"more\":1,"),
        ] {
            assert!(text.contains(old), "{text}");
            fs::write(&path, text.replacen(old, new, 1)).unwrap();
            assert!(matches!(Manifest::read(&path), Err(ManifestError::Damaged)), "{new}");
        }
        for index in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[index] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert!(!matches!(Manifest::read(&path), Ok(Some(other)) if other != found), "byte {index}");
        }
        fs::write(&path, text.replace("checkpoint/3", "checkpoint/2")).unwrap();
        assert!(matches!(Manifest::read(&path), Err(ManifestError::OtherVersion)));
    }

    /// A manifest with the right checksum, but with numbers that no run writes.
    #[test]
    fn impossible_numbers_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST_NAME);
        let run = RunId { build: "1.0-test".to_string(), model: Digest::of("model") };
        let many: Vec<u64> = (1..=MAX_PARTS as u64 + 1).collect();
        for states in [vec![], vec![0], vec![2, 2], vec![3, 1], vec![u64::MAX], many] {
            Manifest::new(&run, 3, states.clone(), false, None).write(&path).unwrap();
            assert!(matches!(Manifest::read(&path), Err(ManifestError::Damaged)), "{states:?}");
        }
    }
}
