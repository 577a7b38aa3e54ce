//! From the lines of a log to observations in the order in which they are used.
//!
//! Every line is counted as exactly one of: used, ignored, bad. Nothing is lost silently: what arrives too late to be
//! put in order is returned as late.

use crate::map::{Map, Observed, ObservedEvent, Order, RecordForm, plain_record};
use crate::order::InOrder;
use crate::record::{Json, Line, LineContent};

/// Maximum length of the key of a session in bytes. Keys of closed sessions are remembered.
const MAX_KEY_BYTES: usize = 256;

/// Reads records, and puts their observations in order.
#[derive(Debug)]
pub struct Intake {
    map: Option<Map>,
    form: RecordForm,
    /// Maximum number of events in a line.
    max_events: usize,
    in_order: Option<InOrder<Item>>,
    /// Numbers of records so far.
    pub counts: IntakeCounts,
    /// Time of the previous observation, to notice those that are out of order.
    previous: Option<crate::record::Time>,
}

/// Numbers of records and observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntakeCounts {
    /// Lines with text.
    pub lines: u64,
    /// Observations of events.
    pub observed: u64,
    /// Records that say that a session ends.
    pub ends: u64,
    /// Records of which the map makes no observation.
    pub ignored: u64,
    /// Lines that could not be used.
    pub bad: u64,
    /// Observations that arrived too late to be put in order.
    pub late: u64,
    /// Observations with an earlier time than the one before, if they are used as they arrive.
    pub out_of_order: u64,
}

/// How records are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntakeOptions {
    /// The log does not end, so observations do not wait for its end.
    pub is_followed: bool,
    /// Each record gets one decision, so it has at most one event.
    pub decides: bool,
    /// Maximum size in bytes of the observations that wait for earlier ones.
    pub max_waiting_bytes: usize,
}

impl Default for IntakeOptions {
    fn default() -> IntakeOptions {
        IntakeOptions { is_followed: false, decides: false, max_waiting_bytes: 256 << 20 }
    }
}

/// Something that a log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intaken {
    /// An observation, to be used now.
    Item(Item),
    /// An observation that arrived after a later one was used.
    Late {
        /// The observation.
        item: Item,
        /// Whether later ones were used early, because too many waited.
        is_cut: bool,
    },
    /// A line that cannot be used.
    Bad(BadLine),
}

/// An observation and the line that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Number of the line.
    pub line: u64,
    /// What was observed.
    pub observed: Observed,
}

/// A line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Number of the line.
    pub line: u64,
    /// Column of the mistake in characters, if it has one.
    pub column: Option<usize>,
    /// What is wrong, and what would be accepted.
    pub message: String,
}

impl Item {
    fn bytes(&self) -> usize {
        let key = self.observed.session.as_ref().map_or(0, String::len);
        size_of::<Item>() + key + self.observed.event.as_ref().map_or(0, ObservedEvent::bytes)
    }
}

impl Intake {
    /// Reads records with a map, or as they are.
    pub fn new(map: Option<Map>, form: RecordForm, options: IntakeOptions) -> Intake {
        /// Nanoseconds that observations wait for earlier ones if a log is followed and the map has no window.
        const FOLLOWED_WINDOW: i128 = 30_000_000_000;
        let in_order = match map.as_ref().map(|map| map.order) {
            Some(Order::Time { window }) => {
                let window = window.or(options.is_followed.then_some(FOLLOWED_WINDOW));
                Some(InOrder::new(window, options.max_waiting_bytes))
            }
            _ => None,
        };
        let max_events = if options.decides { 1 } else { usize::MAX };
        Intake { map, form, max_events, in_order, counts: IntakeCounts::default(), previous: None }
    }

    /// Reads a line. `use_it` receives what can be used now.
    pub fn line(&mut self, line: &Line, use_it: &mut dyn FnMut(Intaken)) {
        self.counts.lines += 1;
        match self.observations(line) {
            Ok((all, n_ignored)) => {
                self.counts.ignored += n_ignored;
                all.into_iter().for_each(|item| self.arrive(item, use_it));
            }
            Err(bad) => {
                self.counts.bad += 1;
                use_it(Intaken::Bad(bad));
            }
        }
    }

    /// Uses what waits for earlier observations: the log ends, or nothing has come for a while.
    pub fn flush(&mut self, use_it: &mut dyn FnMut(Intaken)) {
        while let Some(item) = self.in_order.as_mut().and_then(InOrder::next_waiting) {
            use_it(Intaken::Item(item));
        }
    }

    /// Whether observations wait for earlier ones.
    pub fn is_ordering(&self) -> bool {
        self.in_order.is_some()
    }

    /// Time in nanoseconds for which observations wait for earlier ones, if they do.
    pub fn window(&self) -> Option<i128> {
        self.in_order.as_ref().and_then(InOrder::window)
    }

    /// Number of observations that wait for earlier ones.
    pub fn n_waiting(&self) -> usize {
        self.in_order.as_ref().map_or(0, InOrder::n_waiting)
    }

    fn arrive(&mut self, item: Item, use_it: &mut dyn FnMut(Intaken)) {
        match item.observed.event {
            Some(_) => self.counts.observed += 1,
            None => self.counts.ends += 1,
        }
        match (&mut self.in_order, item.observed.time) {
            (Some(in_order), Some(time)) => {
                let bytes = item.bytes();
                if let Some(late) = in_order.push(time, item, bytes) {
                    self.counts.late += 1;
                    use_it(Intaken::Late { item: late, is_cut: in_order.is_cut() });
                }
                while let Some(item) = in_order.next_ready() {
                    use_it(Intaken::Item(item));
                }
            }
            (_, time) => {
                self.counts.out_of_order += u64::from(time.is_some() && time < self.previous);
                self.previous = time.or(self.previous);
                use_it(Intaken::Item(item));
            }
        }
    }

    /// The observations of a line, and the number of its records that the map ignores. Nothing is counted.
    ///
    /// # Errors
    ///
    /// If the line cannot be used.
    pub fn observations(&self, line: &Line) -> Result<(Vec<Item>, u64), BadLine> {
        let bad = |column: Option<usize>, message: String| BadLine { line: line.number, column, message };
        let text = match &line.content {
            LineContent::Text(text) => text,
            LineContent::NotText => {
                return Err(bad(None, "the line is not UTF-8; expected JSON".to_string()));
            }
            LineContent::TooLong(max) => {
                return Err(bad(None, format!("the line has more than {max} bytes, the limit of `--line`")));
            }
        };
        let record = Json::parse(text).map_err(|error| {
            let column = Some(error.column).filter(|column| *column > 0);
            bad(
                column,
                format!("the line is not JSON: {}; expected one JSON object in each line", error.message),
            )
        })?;
        let (observed, n_ignored) = match &self.map {
            Some(map) => {
                let mapped = map.apply(&record).map_err(|error| bad(None, error.message))?;
                (mapped.observed, mapped.n_ignored)
            }
            None => (vec![plain_record(&record, self.form).map_err(|error| bad(None, error.message))?], 0),
        };
        let is_long =
            |observed: &Observed| observed.session.as_ref().is_some_and(|key| key.len() > MAX_KEY_BYTES);
        if observed.iter().any(is_long) {
            return Err(bad(None, format!("the key of the session has more than {MAX_KEY_BYTES} bytes")));
        }
        let n_events = observed.iter().filter(|observed| observed.event.is_some()).count();
        if n_events > self.max_events {
            return Err(bad(
                None,
                format!(
                    "the map makes {n_events} events of this record; `--enforce` decides records with one event"
                ),
            ));
        }
        let item = |observed| Item { line: line.number, observed };
        Ok((observed.into_iter().map(item).collect(), n_ignored))
    }
}
