//! Confirms certificates of verdicts.
//!
//! This program reads models with the parser of Masque and checks certificates with the crate
//! `masque-certificate`. It contains no engine. `masque certify` runs the same code.
#![forbid(unsafe_code)]

mod read;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use masque_certificate::format::{FORMAT, OPTIONS};
use masque_certificate::{Failure, Limits, confirm};

use read::{Read, read_certificate, read_model};

/// Size of the stack of a check, in bytes. Diagrams are walked by recursion, one call per level.
const STACK_BYTES: usize = 1 << 30;
/// Part of the memory limit that the text of a certificate may take.
const TEXT_SHARE: u64 = 8;

const USAGE: &str = "\
Usage: masque-certify [--timeout SECONDS] [--memory MIB] MODEL.. CERTIFICATE..

Confirms certificates that `masque check --certify DIR` has written. Each certificate is checked against the
model for which it was written. A model that imports files is given by its first file.

Exit codes: 0 all confirmed, 1 some refused, 2 bad input, 3 a limit was reached.";

/// The answer to one certificate, and the exit code of the program if it is the most severe one: the last in this
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// Every condition is met.
    Confirmed,
    /// A limit was reached.
    Limit,
    /// A condition is violated.
    Refused,
    /// The certificate or the model cannot be read, or they do not fit.
    Input,
    /// A bug in the checker.
    Bug,
}

impl Answer {
    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Answer::Confirmed => 0,
            Answer::Refused => 1,
            Answer::Input => 2,
            Answer::Limit => 3,
            Answer::Bug => 101,
        }
    }
}

/// The program, given its arguments without the name.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let (mut files, mut limits) = (Vec::new(), Limits::default());
    let mut args = args;
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.to_str()?.parse::<u64>().ok());
        let is_known = match arg.to_str() {
            Some("--help" | "-h") => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            Some("--timeout") => number().map(|seconds| limits.time = Some(Duration::from_secs(seconds))),
            Some("--memory") => number().map(|mib| limits.bytes = mib.saturating_mul(1 << 20)),
            Some(option) if option.starts_with("--") => None,
            _ => {
                files.push(PathBuf::from(arg.clone()));
                Some(())
            }
        };
        if is_known.is_none() {
            eprintln!("error: `{}` is no option with a valid value\n\n{USAGE}", arg.display());
            return Answer::Input.code().into();
        }
    }
    let answer = certify(&files, limits, &mut io::stdout(), &mut io::stderr());
    answer.map_or(Answer::Input.code(), Answer::code).into()
}

/// Checks all certificates among some files against the models among them, and returns the most severe answer.
/// Answers go to `out`, errors to `err`.
///
/// # Errors
///
/// If `out` or `err` cannot be written to.
pub fn certify(
    files: &[PathBuf],
    limits: Limits,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Answer> {
    let (certificates, models): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|path| is_certificate(path));
    if certificates.is_empty() || models.is_empty() {
        writeln!(err, "error: at least one model and one certificate are needed\n\n{USAGE}")?;
        return Ok(Answer::Input);
    }
    let mut worst = Answer::Confirmed;
    for path in certificates {
        let (answer, text) = on_large_stack(path, &models, limits)?;
        match answer {
            Answer::Input | Answer::Bug => writeln!(err, "error: {}: {text}", path.display())?,
            _ => writeln!(out, "{}: {text}", path.display())?,
        }
        worst = worst.max(answer);
    }
    Ok(worst)
}

/// Whether a file begins as a certificate.
fn is_certificate(path: &Path) -> bool {
    let mut start = vec![0; FORMAT.len()];
    std::fs::File::open(path)
        .and_then(|mut file| io::Read::read_exact(&mut file, &mut start))
        .is_ok_and(|()| start == FORMAT.as_bytes())
}

fn on_large_stack(path: &Path, models: &[&PathBuf], limits: Limits) -> io::Result<(Answer, String)> {
    let answer = std::thread::scope(|scope| -> io::Result<_> {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || check(path, models, limits))?;
        Ok(thread.join())
    })?;
    Ok(answer.unwrap_or((Answer::Bug, "the checker failed; this is a bug, please report it".to_string())))
}

fn check(path: &Path, models: &[&PathBuf], limits: Limits) -> (Answer, String) {
    let start = Instant::now();
    let read = read_certificate(path, limits.bytes / TEXT_SHARE)
        .and_then(|certificate| Ok((read_model(models, &certificate)?, certificate)));
    let (Read { system, model, property, title }, certificate) = match read {
        Ok(read) => read,
        Err(what) => return (Answer::Input, what),
    };
    // Time that was spent on reading counts.
    let limits = Limits { time: limits.time.map(|time| time.saturating_sub(start.elapsed())), ..limits };
    let name = format!("{}, {title}", model.display());
    match confirm(&system, property, &certificate, limits) {
        Ok(()) => {
            let verdict = if certificate.holds { "holds" } else { "fails" };
            let formula = system.formula_text(property.0);
            let options = OPTIONS.iter().zip(&certificate.options);
            let mut options: Vec<String> = options.map(|(name, value)| format!("{name}={value}")).collect();
            options.extend(certificate.parameters);
            (Answer::Confirmed, format!("confirmed: {name} {verdict}: {formula} ({})", options.join(" ")))
        }
        Err(Failure::Limit(limit)) => (Answer::Limit, Failure::Limit(limit).to_string()),
        Err(Failure::Input(what)) => (Answer::Input, what),
        Err(refused) => (Answer::Refused, format!("refused: {name}: {refused}")),
    }
}
