//! Exit codes.

use std::process::ExitCode;

use masque_driver::Loaded;
use masque_report::Counts;

/// How a command ends. The most severe of several is the greatest.
///
/// ```
/// use masque_cli::Exit;
/// let mut exit = Exit::AllHold;
/// exit.raise(Exit::SomeFail);
/// exit.raise(Exit::Inconclusive);
/// assert_eq!((exit, exit.code()), (Exit::SomeFail, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Success: all properties hold.
    AllHold,
    /// Some property is unknown.
    Inconclusive,
    /// Some property fails, or for `fmt --check`, some file would change.
    SomeFail,
    /// The input has errors.
    BadInput,
    /// A command that runs until it is interrupted was interrupted.
    Interrupted,
    /// A bug in Masque other than a panic: two engines disagree, or evidence does not replay.
    Bug,
}

impl Exit {
    /// The exit for a file with these numbers of verdicts and messages.
    pub fn of(counts: Counts, deny_warnings: bool) -> Exit {
        match counts {
            Counts { bugs: 1.., .. } => Exit::Bug,
            Counts { errors: 1.., .. } => Exit::BadInput,
            Counts { warnings: 1.., .. } if deny_warnings => Exit::BadInput,
            Counts { fail: 1.., .. } => Exit::SomeFail,
            Counts { unknown: 1.., .. } => Exit::Inconclusive,
            _ => Exit::AllHold,
        }
    }

    /// The exit for a model that could not be loaded: because loading was stopped, or because of errors.
    pub(crate) fn without_model(loaded: &Loaded) -> Exit {
        if loaded.stopped.is_some() { Exit::Inconclusive } else { Exit::BadInput }
    }

    /// Keeps the more severe of two.
    pub fn raise(&mut self, other: Exit) {
        *self = (*self).max(other);
    }

    /// The code that the process returns.
    pub fn code(self) -> u8 {
        match self {
            Exit::AllHold => 0,
            Exit::SomeFail => 1,
            Exit::BadInput => 2,
            Exit::Inconclusive => 3,
            Exit::Interrupted => 130,
            Exit::Bug => 101,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        exit.code().into()
    }
}
