//! Which records of the journal are live: those that the open sessions are restored from.

use std::collections::BTreeMap;

use super::frames::{Extent, HEAD_BYTES};
use super::record::{Kind, number};

/// Bytes of changes of a session, beyond the length of its last snapshot, after which a new snapshot is made.
const MIN_SNAPSHOT_BYTES: u64 = 64 << 10;

/// The live records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// Number of sessions that were opened.
    pub(super) opened: u64,
    sessions: BTreeMap<String, LiveRecords>,
    /// Length of all live records.
    pub(super) bytes: u64,
}

/// The records of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LiveRecords {
    open: Extent,
    /// A snapshot, if there is one, then changes.
    changes: Vec<Extent>,
    /// Length of the changes.
    bytes: u64,
    /// Length of the changes at which the next snapshot is made.
    snapshot_at: u64,
}

impl Index {
    /// Whether a record can be added: its session is open, or not yet opened.
    pub(super) fn accepts(&self, session: &str, kind: Kind) -> bool {
        match kind {
            Kind::Count(_) => true,
            Kind::Open => !self.sessions.contains_key(session),
            Kind::Change | Kind::Snapshot | Kind::Close => self.sessions.contains_key(session),
        }
    }

    /// Adds an accepted record. Returns whether the changes of the session are long enough for a snapshot.
    pub(super) fn add(&mut self, session: &str, kind: Kind, extent: Extent) -> bool {
        let length = u64::from(extent.length);
        match kind {
            Kind::Count(opened) => self.opened = self.opened.max(opened),
            Kind::Open => {
                let live = LiveRecords {
                    open: extent,
                    changes: Vec::new(),
                    bytes: 0,
                    snapshot_at: MIN_SNAPSHOT_BYTES,
                };
                self.sessions.insert(session.to_string(), live);
                self.opened = self.opened.max(number(session));
                self.bytes += length;
            }
            Kind::Close => {
                if let Some(live) = self.sessions.remove(session) {
                    self.bytes -= live.bytes + u64::from(live.open.length);
                }
            }
            Kind::Change | Kind::Snapshot => return self.change(session, kind, extent),
        }
        false
    }

    fn change(&mut self, session: &str, kind: Kind, extent: Extent) -> bool {
        let Some(live) = self.sessions.get_mut(session) else { return false };
        let length = u64::from(extent.length);
        if kind == Kind::Snapshot {
            self.bytes -= live.bytes;
            live.changes.clear();
            (live.bytes, live.snapshot_at) = (0, 2 * length + MIN_SNAPSHOT_BYTES);
        }
        live.changes.push(extent);
        live.bytes += length;
        self.bytes += length;
        let is_long = live.bytes > live.snapshot_at;
        if is_long {
            // If there is no snapshot now, the next attempt is made when the changes are twice as long.
            live.snapshot_at = 2 * live.bytes;
        }
        is_long
    }

    /// Length of a file that has only the live records, a frame for each.
    pub(super) fn rewritten_bytes(&self) -> u64 {
        let n_records: usize = self.sessions.values().map(|live| live.changes.len() + 1).sum();
        self.bytes + HEAD_BYTES * n_records as u64
    }

    /// The open sessions.
    pub(super) fn sessions(&self) -> impl ExactSizeIterator<Item = &String> {
        self.sessions.keys()
    }

    /// The records of a session, in their order.
    pub(super) fn records(&self, session: &str) -> Option<impl Iterator<Item = Extent> + '_> {
        self.sessions.get(session).map(|live| std::iter::once(live.open).chain(live.changes.iter().copied()))
    }

    /// Replaces the records of a session by copies of them.
    pub(super) fn move_records(&mut self, session: &str, mut copies: impl Iterator<Item = Extent>) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        let extents = std::iter::once(&mut live.open).chain(&mut live.changes);
        extents.zip(&mut copies).for_each(|(extent, copy)| *extent = copy);
    }
}
