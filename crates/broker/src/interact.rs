//! Following an interaction: rules change, events happen, the state is read or set.

use masque_lcc::{CannotAdvance, EventDescription, EventSelector, Refused, Session};
use masque_report::EventReport;
use masque_verdict::Budget;

use crate::ask::reports;
use crate::fault::{Fault, Move};
use crate::journal::{Change, Entry};
use crate::protocol::{Advance, Advanced, EventKind, EventLike, Moves, State, Updated};
use crate::service::{Outcome, result};

/// Changes rules, facts, clauses and the team, and saves that.
pub(crate) fn update(
    session: &mut Session,
    update: &masque_lcc::Update,
    entry: &Entry,
    budget: &Budget,
) -> Outcome {
    match session.update_within(update, budget) {
        Ok(done) => {
            let (added, removed, situations) = (done.added, done.removed, done.situations);
            let diagnostics = reports(session.sources(), &done.warnings);
            if added + removed > 0 {
                entry.save(session, || Change::updated(update, added, removed))?;
            }
            result(&Updated { added, removed, situations, diagnostics })
        }
        Err(refused) => Err(refusal(session, refused)),
    }
}

fn refusal(session: &Session, refused: Refused) -> Fault {
    match refused {
        Refused::Invalid(diagnostics) => Fault::text(reports(session.sources(), &diagnostics)),
        Refused::Stopped(stop) => Fault::stopped(stop),
    }
}

/// Lists what can happen now.
pub(crate) fn moves(session: &mut Session, budget: &Budget) -> Outcome {
    let found = session.possible_events_within(budget).map_err(Fault::stopped)?;
    let moves = found.next.iter().map(Move::from).collect();
    result(&Moves { moves, cut: found.cut.map(str::to_string) })
}

/// The event that happened, given in one of four ways.
pub(crate) struct Happened {
    params: Advance,
    /// The event in the form of the library.
    pub(crate) selector: EventSelector,
}

impl Happened {
    /// The event that parameters describe.
    pub(crate) fn new(params: Advance) -> Result<Happened, Fault> {
        let selector = match (params.number, &params.label, &params.pattern, &params.event) {
            (Some(number), None, None, None) => EventSelector::Index(number),
            (None, Some(label), None, None) => EventSelector::Label(label.clone()),
            (None, None, Some(pattern), None) => EventSelector::Pattern(pattern.clone()),
            (None, None, None, Some(event)) => EventSelector::Description(like(event.clone())),
            _ => {
                let message = "expected exactly one of `number`, `label`, `pattern` and `event`";
                return Err(Fault::params(message));
            }
        };
        Ok(Happened { params, selector })
    }
}

impl From<EventKind> for masque_lcc::EventKind {
    fn from(kind: EventKind) -> masque_lcc::EventKind {
        match kind {
            EventKind::Internal => masque_lcc::EventKind::Internal,
            EventKind::Sent => masque_lcc::EventKind::Sent,
            EventKind::Taken => masque_lcc::EventKind::Taken,
            EventKind::Exchanged => masque_lcc::EventKind::Exchanged,
        }
    }
}

fn like(event: EventLike) -> EventDescription {
    let kind = event.kind.map(masque_lcc::EventKind::from);
    EventDescription { kind, message: event.message, from: event.from, to: event.to }
}

/// Advances the session by the event that happened, and saves that.
pub(crate) fn advance(session: &mut Session, happened: &Happened, entry: &Entry, budget: &Budget) -> Outcome {
    match session.advance_within(&happened.selector, budget) {
        Err(CannotAdvance::Stopped(stop)) => Err(Fault::stopped(stop)),
        Ok(event) => {
            entry.save(session, || Change::Advance {
                event: happened.params.clone(),
                label: event.label.clone(),
            })?;
            result(&Advanced { event: EventReport::from(&event), is_final: session.is_final() })
        }
        Err(CannotAdvance::Unreadable(diagnostics)) => {
            Err(Fault::text(reports(session.sources(), &diagnostics)))
        }
        Err(CannotAdvance::Impossible(moves)) => {
            let message = match moves.next.len() {
                0 => "this event is not possible now; no event is".to_string(),
                1 => "this event is not possible now; one other event is".to_string(),
                n => format!("this event is not possible now; {n} other events are"),
            };
            Err(Fault::moves(Fault::CANNOT, message, moves.next.iter().map(Move::from).collect()))
        }
        Err(CannotAdvance::Ambiguous(next)) => {
            let message = format!("{} possible events match; give the `number` of one", next.len());
            Err(Fault::moves(Fault::AMBIGUOUS, message, next.iter().map(Move::from).collect()))
        }
    }
}

/// Sets the state of the interaction, and saves that. `tuple_of` is the name of the session if a tuple is placed.
pub(crate) fn place(
    session: &mut Session,
    statements: &str,
    tuple_of: Option<&str>,
    entry: &Entry,
    budget: &Budget,
) -> Outcome {
    match session.place_within(statements, budget) {
        // The state is set, so the response is not an error if the time is over now.
        Ok(()) => {
            entry.save(session, || Change::Place { statements: statements.to_string() })?;
            let blame = session.blame_within(budget).unwrap_or_default();
            described(session, tuple_of, blame)
        }
        Err(refused) => Err(refusal(session, refused)),
    }
}

/// Returns the state of the interaction. `tuple_of` is the name of the session if a tuple is wanted: the id of the
/// interaction, unless a tuple has given another.
pub(crate) fn state(session: &mut Session, tuple_of: Option<&str>, budget: &Budget) -> Outcome {
    let blame = session.blame_within(budget).map_err(Fault::stopped)?;
    described(session, tuple_of, blame)
}

fn described(session: &mut Session, tuple_of: Option<&str>, blame: Vec<String>) -> Outcome {
    let (statements, is_final) = (session.state(), session.is_final());
    let tuple = tuple_of.map(|name| session.tuple(name));
    result(&State { statements, is_final, blame, tuple })
}
