//! `masque certify`: confirms certificates.

use std::io::Write;

use masque_certificate::Limits;
use masque_certify::Answer;

use crate::Exit;
use crate::args::CertifyArgs;

/// `certify MODEL.. CERTIFICATE..`: says of each certificate whether it is confirmed.
pub fn certify(args: &CertifyArgs, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.memory.unwrap_or(Limits::default().bytes);
    let limits = Limits { time: args.timeout, bytes };
    Ok(match masque_certify::certify(&args.files, limits, out, err)? {
        Answer::Confirmed => Exit::AllHold,
        Answer::Limit => Exit::Inconclusive,
        Answer::Refused => Exit::SomeFail,
        Answer::Input => Exit::BadInput,
        Answer::Bug => Exit::Bug,
    })
}
