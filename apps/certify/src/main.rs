//! `masque-certify MODEL.. CERTIFICATE..`: confirms certificates.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    masque_certify::main(std::env::args_os().skip(1))
}
