//! Certificates of verdicts, as text.

use std::fmt;

use masque_model::Property;

use crate::{Stop, Why};

/// A verdict for which a certificate is wanted.
#[derive(Clone, Debug)]
pub struct CertificateRequest<'p> {
    /// The property.
    pub property: &'p Property,
    /// Whether it holds.
    pub holds: bool,
    /// Digest of the texts of the model.
    pub model: &'p str,
    /// Values of parameters that were given outside the text: `NAME=VALUE`.
    pub parameters: &'p [String],
}

/// Why a verdict has no certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCertified {
    /// Certificates do not cover something in the property: a plural noun.
    Uncovered(&'static str),
    /// The engine writes no certificates.
    Engine,
    /// A limit.
    Stopped(Why),
    /// The sets of the engine do not show the verdict. This is a bug in Masque.
    NotShown,
}

impl From<Stop> for NotCertified {
    fn from(stop: Stop) -> NotCertified {
        NotCertified::Stopped(stop.why)
    }
}

impl fmt::Display for NotCertified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCertified::Uncovered(what) => write!(f, "certificates do not cover {what}"),
            NotCertified::Engine => f.write_str("the engine that decided it writes no certificates"),
            NotCertified::Stopped(why) => write!(f, "no certificate within the limits ({why})"),
            NotCertified::NotShown => {
                f.write_str("the sets of the engine do not show the verdict (a bug in Masque)")
            }
        }
    }
}
