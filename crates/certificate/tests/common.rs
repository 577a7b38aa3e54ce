//! What the tests share: certificates of random systems.

use masque_certificate::{Certificate, Failure, Limits, confirm};
use masque_explicit::Explicit;
use masque_model::{Property, System};
use masque_symbolic::Symbolic;
use masque_testkit::encode;
use masque_verdict::{Budget, CertificateRequest, Encoded, NotCertified, Show, Verdict};

/// The name of an engine, and a system in its form.
pub(crate) type NamedEncoding<'s> = (&'static str, Box<dyn Encoded + 's>);

/// The engines that write certificates.
pub(crate) fn engines(system: &System) -> Result<Vec<NamedEncoding<'_>>, String> {
    let symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
    let explicit = Explicit { evidence: Show::None, jobs: None };
    Ok(vec![("symbolic", encode(&symbolic, system)?), ("explicit", encode(&explicit, system)?)])
}

/// The verdict of an engine, and the certificate that it writes.
pub(crate) fn certificate(
    engine: &mut dyn Encoded,
    property: &Property,
) -> Option<(bool, Result<String, NotCertified>)> {
    let budget = Budget::unlimited();
    let holds = match engine.verdict(property, &budget) {
        Verdict::Holds => true,
        Verdict::Fails => false,
        Verdict::Unknown(_) => return None,
    };
    let request = CertificateRequest { property, holds, model: "0", parameters: &[] };
    Some((holds, engine.certificate(&request, &budget)))
}

/// Reads a certificate and checks it against a system and a property.
pub(crate) fn check(system: &System, property: &Property, text: &str) -> Result<(), Failure> {
    let certificate = Certificate::parse(text).map_err(|mistake| Failure::Input(format!("{mistake:?}")))?;
    confirm(system, (property.formula, property.at), &certificate, Limits::default())
}
