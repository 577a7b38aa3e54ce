//! The journal on the disk: torn and damaged files, snapshots, rewriting.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use masque_lcc::{Session, Setup, Snapshot, Text, Update};
use masque_text::{MemoryPool, MemoryShare};
use masque_verdict::Budget;

use super::frames::{frame, header, read};
use super::start::{journal_path, start};
use super::{Entry, Journal, NewEntry};
use crate::interact::{self, Happened};
use crate::limits::Limits;
use crate::log::Log;
use crate::protocol::Advance;
use crate::sessions::Sessions;

const FARM: &str = "a(hen, H) :: egg(N) => a(farmer, F) <- has(N) then a(hen, H).
    a(farmer, F) :: egg(N) <= a(hen, H) then a(farmer, F).
    agent a(hen, h). agent a(farmer, f). know h: has(0).";

/// A journal and its sessions. Sessions are read through the journal, as a restart would.
struct Opened {
    journal: Journal,
    sessions: Sessions,
}

/// No sessions, within limits.
fn sessions(limits: &Limits) -> Sessions {
    Sessions::new(limits.clone(), MemoryPool::new(limits.total_memory))
}

fn open(folder: &Path) -> io::Result<Opened> {
    let sessions = sessions(&Limits::default());
    // The thread of an earlier journal of this process may still hold the lock.
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match start(folder, &sessions, &Limits::default(), Log::silent()) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(1));
            }
            journal => return journal.map(|journal| Opened { journal, sessions }),
        }
    }
}

impl Opened {
    fn add(&self) -> (String, Session) {
        let mut setup = Setup { files: vec![Text::new("farm.lcc", FARM)], ..Setup::default() };
        let entry = NewEntry::new(Some(&self.journal), &mut setup);
        let open = |setup: &Setup| Session::open(setup.clone()).unwrap();
        let memory = Arc::new(MemoryShare::new(&MemoryPool::new(u64::MAX)));
        let name = self.sessions.add(open(&setup), memory, |name| entry.save(name)).unwrap();
        (name, open(&setup))
    }

    fn update(&self, name: &str, session: &mut Session, add: &[String], remove: &[String]) {
        let update = Update { add: add.to_vec(), remove: remove.to_vec() };
        interact::update(session, &update, &Entry::new(Some(&self.journal), name), &Budget::unlimited())
            .unwrap();
    }

    fn advance(&self, name: &str, session: &mut Session, number: usize) {
        let session_name = name.to_string();
        let params =
            Advance { session: session_name, number: Some(number), label: None, pattern: None, event: None };
        let happened = Happened::new(params).unwrap();
        interact::advance(session, &happened, &Entry::new(Some(&self.journal), name), &Budget::unlimited())
            .unwrap();
    }

    /// What is saved of a session; none if it is not open.
    fn saved(&self, name: &str) -> Option<Snapshot> {
        self.sessions.get(name).ok()?;
        Some(self.journal.reload(name).unwrap().snapshot().unwrap())
    }
}

fn has(number: usize) -> Vec<String> {
    vec![format!("know h: has({number}).")]
}

/// A journal with three changes of a session. Returns the file and what is saved after each change.
fn example(folder: &Path) -> (Vec<u8>, Vec<Snapshot>) {
    let opened = open(folder).unwrap();
    let (name, mut session) = opened.add();
    let mut after = vec![session.snapshot().unwrap()];
    opened.update(&name, &mut session, &has(1), &has(0));
    after.push(session.snapshot().unwrap());
    opened.advance(&name, &mut session, 0);
    after.push(session.snapshot().unwrap());
    opened.update(&name, &mut session, &has(7), &[]);
    after.push(session.snapshot().unwrap());
    (fs::read(journal_path(folder)).unwrap(), after)
}

/// Starts with a file; the folder has no other.
fn open_with(bytes: &[u8]) -> io::Result<(tempfile::TempDir, Opened)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(journal_path(folder.path()), bytes).unwrap();
    let opened = open(folder.path())?;
    Ok((folder, opened))
}

/// Offsets of the frames of a file.
fn offsets(folder: &Path) -> Vec<usize> {
    let path = journal_path(folder);
    let mut offsets = Vec::new();
    let file = fs::File::open(&path).unwrap();
    read(&path, &file, |offset, _| {
        offsets.push(offset as usize);
        Ok(())
    })
    .unwrap();
    offsets
}

/// Wherever a process is killed while it writes, all earlier records are there, and the rest of the last is cut
/// off.
#[test]
fn a_torn_record_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, after) = example(folder.path());
    let last = *offsets(folder.path()).last().unwrap();
    for length in last..bytes.len() {
        let (folder, opened) = open_with(&bytes[..length]).unwrap();
        assert_eq!(opened.saved("s1").as_ref(), Some(&after[2]), "{length}");
        assert_eq!(fs::metadata(journal_path(folder.path())).unwrap().len(), last as u64, "{length}");
    }
    let (_folder, opened) = open_with(&bytes).unwrap();
    assert_eq!(opened.saved("s1").as_ref(), Some(&after[3]));
}

/// After a power failure, sectors of the last frame may never have been written.
#[test]
fn unwritten_sectors_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, after) = example(folder.path());
    let last = *offsets(folder.path()).last().unwrap();
    let records = [b"{\"close\":{\"session\":\"s1\"}}".as_slice(), &[b' '; 2000]].concat();
    let long = [&bytes[..], &frame(&records).unwrap()].concat();
    let sector = bytes.len().next_multiple_of(512);
    let mut damaged = long.clone();
    damaged[sector..sector + 512].fill(0);
    assert_eq!(open_with(&damaged).unwrap().1.saved("s1").as_ref(), Some(&after[3]));
    let mut damaged = bytes.clone();
    damaged[last..].fill(0);
    assert_eq!(open_with(&damaged).unwrap().1.saved("s1").as_ref(), Some(&after[2]));
}

/// No changed byte is overlooked: the start is refused, and the message names the file and the byte.
#[test]
fn damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, _) = example(folder.path());
    let offsets = offsets(folder.path());
    for index in 0..bytes.len() {
        for flip in [0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[index] ^= flip;
            let folder = tempfile::tempdir().unwrap();
            let path = journal_path(folder.path());
            fs::write(&path, &damaged).unwrap();
            let error = open(folder.path())
                .err()
                .unwrap_or_else(|| panic!("byte {index} is not noticed"))
                .to_string();
            let offset = offsets.iter().rev().find(|offset| **offset <= index);
            let expected = match offset {
                Some(offset) => format!("{} is damaged at byte {offset}. ", path.display()),
                None => path.display().to_string(),
            };
            assert!(error.starts_with(&expected), "{index}: {error}");
            assert!(error.contains("truncate --size") || offset.is_none(), "{error}");
            assert_eq!(fs::read(&path).unwrap(), damaged, "the file is not changed");
        }
    }
    // A torn end does not hide damage before it.
    let mut damaged = bytes.clone();
    damaged[offsets[2] + 20] ^= 1;
    damaged.truncate(bytes.len() - 3);
    assert!(open_with(&damaged).is_err());
}

#[test]
fn other_files_and_versions_are_refused() {
    let message = |bytes: &[u8]| open_with(bytes).err().unwrap().to_string();
    let other = message(b"masque broker journal 2\nand so on");
    assert!(other.contains("has version 2 of the format, but this program reads version 1"), "{other}");
    for bytes in [&b""[..], b"masque broker jour", b"masque broker journal 1", b"{}\n"] {
        assert!(message(bytes).contains("is not a journal"), "{}", message(bytes));
    }
    let unknown = [header(), frame(b"{\"merge\":{}}").unwrap()].concat();
    assert!(
        message(&unknown).contains("has a record at byte 36 that this program cannot use"),
        "{}",
        message(&unknown)
    );
}

#[test]
fn a_folder_has_one_service() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(folder.path()).unwrap();
    let sessions = sessions(&Limits::default());
    let error = start(folder.path(), &sessions, &Limits::default(), Log::silent()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    assert!(error.to_string().contains("another `masque broker` uses the folder"), "{error}");
}

/// Names of sessions are not used again after a restart, and closed sessions stay closed.
#[test]
fn sessions_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    {
        let opened = open(folder.path()).unwrap();
        let names: Vec<String> = (0..4).map(|_| opened.add().0).collect();
        assert_eq!(names, ["s1", "s2", "s3", "s4"]);
        Entry::new(Some(&opened.journal), "s4").close().unwrap();
        opened.journal.forget("s2");
        // A change that comes after the end of its session is refused.
        let mut session = opened.journal.reload("s1").unwrap();
        let update = Update { add: has(3), remove: Vec::new() };
        let late = interact::update(
            &mut session,
            &update,
            &Entry::new(Some(&opened.journal), "s2"),
            &Budget::unlimited(),
        );
        assert_eq!(late.unwrap_err().code, crate::fault::Fault::SESSION);
    }
    for _ in 0..2 {
        let opened = open(folder.path()).unwrap();
        let is_open = ["s1", "s2", "s3", "s4"].map(|name| opened.saved(name).is_some());
        assert_eq!(is_open, [true, false, true, false]);
    }
    assert_eq!(open(folder.path()).unwrap().add().0, "s5");
}

/// Why the service does not start on a folder. The folder may still be in use for a moment.
fn start_error(folder: &Path, limits: &Limits) -> String {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let error = start(folder, &sessions(limits), limits, Log::silent()).unwrap_err();
        if error.kind() != io::ErrorKind::ResourceBusy || Instant::now() > end {
            return error.to_string();
        }
    }
}

/// The limits of the service apply to saved sessions. None is dropped.
#[test]
fn too_many_sessions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    {
        let opened = open(folder.path()).unwrap();
        (0..3).for_each(|_| _ = opened.add());
    }
    drop(open(folder.path()).unwrap());
    let limits = Limits { sessions: 2, ..Limits::default() };
    let error = start_error(folder.path(), &limits);
    assert!(
        error.contains("session s3 cannot be restored") && error.contains("the maximum number"),
        "{error}"
    );
    assert!(open(folder.path()).unwrap().saved("s3").is_some());
}

/// Restoring has a time limit, and nothing is lost when it is exceeded.
#[test]
fn restoring_obeys_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    {
        let opened = open(folder.path()).unwrap();
        _ = opened.add();
    }
    drop(open(folder.path()).unwrap());
    let limits = Limits { time: Duration::ZERO, ..Limits::default() };
    let error = start_error(folder.path(), &limits);
    assert!(
        error.contains("session s1 cannot be restored") && error.contains("raise `--timeout`"),
        "{error}"
    );
    assert!(open(folder.path()).unwrap().saved("s1").is_some());
}

/// After many changes the file is short, and the sessions are those of a replay of every change.
#[test]
fn the_file_stays_short() {
    let folder = tempfile::tempdir().unwrap();
    let padding = " ".repeat(8_000);
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut expected, mut longest, mut written) = (Vec::new(), 0, 0);
    {
        let opened = open(folder.path()).unwrap();
        let mut sessions = [opened.add(), opened.add()];
        for n in 0..500 {
            let (name, session) = &mut sessions[rng.usize(0..2)];
            match rng.u32(0..4) {
                0 if !session.possible_events().next.is_empty() => opened.advance(name, session, 0),
                1 => {
                    // Statements that exist are not added again, and then nothing is removed either.
                    let old = has(n % 10);
                    if session.update(&Update { add: Vec::new(), remove: old.clone() }).is_ok() {
                        session.update(&Update { add: old.clone(), remove: Vec::new() }).unwrap();
                        *session = opened.journal.reload(name).unwrap().into_session();
                        opened.update(name, session, &[], &old);
                    }
                }
                _ => opened.update(name, session, &[format!("{padding}know h: has({}).", n % 10)], &[]),
            }
            written += padding.len() as u64;
            longest = fs::metadata(journal_path(folder.path())).unwrap().len().max(longest);
        }
        for (name, session) in &mut sessions {
            expected.push((name.clone(), session.snapshot().unwrap()));
        }
    }
    assert!(longest < 1_700_000 && longest < written / 2, "{longest} of {written}");
    for _ in 0..2 {
        let opened = open(folder.path()).unwrap();
        for (name, snapshot) in &expected {
            assert_eq!(opened.saved(name).as_ref(), Some(snapshot), "{name}");
        }
    }
}
