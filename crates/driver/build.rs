//! Sets `MASQUE_BUILD`: the version, and a hash of the sources that give a checkpoint of the distributed
//! engine its meaning. Two builds with the same value read and write the same checkpoints.

use std::path::{Path, PathBuf};

/// Crates that define how a model is read, how its states are numbered, and how they are stored.
const CRATES: [&str; 7] = ["text", "model", "ispl", "verdict", "explicit", "cluster", "driver"];

fn main() {
    let crates = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let mut hash = Fnv::default();
    for name in CRATES {
        let folder = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        for file in files {
            let path = file.strip_prefix(&crates).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            hash.add(path.as_bytes());
            hash.add(&std::fs::read(&file).unwrap_or_default());
        }
    }
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo::rustc-env=MASQUE_BUILD={version}-{:016x}", hash.0);
}

/// Adds all files below a folder. A folder that does not exist has none: a published crate is alone.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// FNV-1a with 64 bits: it distinguishes builds. It is no protection against forgery.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds bytes and their number.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().copied().chain((bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
