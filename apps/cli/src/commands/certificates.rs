//! The certificates of a check: files of `--certify`, and their confirmation for `--certified`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use masque_driver::{Certified, Limits, Loaded, Run, Verdict};
use tempfile::TempDir;

use crate::args::CheckArgs;

/// Maximum number of characters of a property's title in the name of a file.
const MAX_TITLE_CHARS: usize = 40;
/// Time between two looks at a process.
const POLL: Duration = Duration::from_millis(5);

/// Where the certificates of a check go.
pub(super) struct Certificates {
    folder: PathBuf,
    /// The folder, if it is removed at the end.
    _temporary: Option<TempDir>,
    /// Whether certificates are confirmed.
    is_confirming: bool,
    /// Whether the files are kept.
    is_kept: bool,
    names: BTreeSet<String>,
}

impl Certificates {
    /// Creates the folder, if certificates are wanted.
    pub(super) fn new(args: &CheckArgs) -> anyhow::Result<Option<Certificates>> {
        let (folder, temporary) = match &args.certify {
            Some(folder) => (folder.clone(), None),
            None if args.certified => {
                let folder = TempDir::new().context("cannot create a temporary folder")?;
                (folder.path().to_path_buf(), Some(folder))
            }
            None => return Ok(None),
        };
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let is_kept = args.certify.is_some();
        let names = BTreeSet::new();
        let is_confirming = args.certified;
        Ok(Some(Certificates { folder, _temporary: temporary, is_confirming, is_kept, names }))
    }

    /// Writes and confirms the certificates of a run. A certificate that is refused is a bug in Masque.
    pub(super) fn settle(&mut self, loaded: &Loaded, run: &mut Run, limits: &Limits) -> anyhow::Result<()> {
        let Some(system) = loaded.system() else { return Ok(()) };
        let mut bugs = Vec::new();
        for (index, decision) in run.decisions.iter_mut().enumerate() {
            if !matches!(decision.verdict, Verdict::Holds | Verdict::Fails) {
                continue;
            }
            let Some(text) = decision.certified.text.take() else {
                let none = || "the check ended before the certificate was written".to_string();
                decision.certified.why_not.get_or_insert_with(none);
                continue;
            };
            let title = &system.properties[index].title;
            let name = self.name(loaded, index, title);
            let file = self.folder.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
            if self.is_confirming {
                match confirm(loaded, &file, limits)? {
                    Ok(()) => decision.certified.confirmed = true,
                    Err(Refusal { why, is_bug }) => {
                        if is_bug {
                            bugs.push(format!("the certificate of property {title} is not confirmed: {why}"));
                        }
                        decision.certified = Certified { why_not: Some(why), ..Certified::default() };
                    }
                }
            }
            if self.is_kept {
                decision.certified.file = Some(file);
            } else {
                _ = fs::remove_file(&file);
            }
        }
        run.bugs.extend(bugs);
        Ok(())
    }

    /// Returns a name for a certificate that no other one of this check has.
    fn name(&mut self, loaded: &Loaded, index: usize, title: &str) -> String {
        let name = loaded.name();
        let model = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let plain = |text: &str| text.chars().filter(is_plain).take(MAX_TITLE_CHARS).collect::<String>();
        let number = (index + 1).to_string();
        let title = if title == number { String::new() } else { format!("-{}", plain(title)) };
        let stem = format!("{}-{number}{title}", plain(&model));
        let mut name = format!("{stem}.certificate");
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{stem}.{n}.certificate");
        }
        name
    }
}

/// Why a certificate was not confirmed.
struct Refusal {
    why: String,
    /// Whether this is a bug in Masque rather than a limit or a file that cannot be read again.
    is_bug: bool,
}

/// Runs `masque certify` on a model and a certificate.
fn confirm(loaded: &Loaded, file: &Path, limits: &Limits) -> anyhow::Result<Result<(), Refusal>> {
    let no = |why: &str| Ok(Err(Refusal { why: why.to_string(), is_bug: false }));
    let Some(model) = loaded.names.first().filter(|name| Path::new(name).is_file()) else {
        return no("the model is not a file that can be read again");
    };
    let mut command = Command::new(std::env::current_exe().context("cannot locate the program")?);
    command.arg("certify").arg(model).arg(file);
    if let Some(deadline) = limits.deadline {
        let left = deadline.saturating_duration_since(Instant::now());
        command.arg("--timeout").arg(format!("{}ms", left.as_millis()));
    }
    if let Some(memory) = limits.memory {
        command.arg("--memory").arg(format!("{memory}B"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start a process")?;
    // The answer is a few lines, so it fits into the pipe.
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for a process")? {
            break status;
        }
        if limits.interrupt.load(Relaxed) {
            _ = child.kill();
            _ = child.wait();
            return no("interrupted");
        }
        std::thread::sleep(POLL);
    };
    let output = child.wait_with_output().context("cannot read the answer of a process")?;
    match status.code() {
        Some(0) => Ok(Ok(())),
        Some(3) => no("the certificate was not confirmed within the limits"),
        code => {
            let text = String::from_utf8_lossy(if code == Some(1) { &output.stdout } else { &output.stderr });
            let prefix = format!("{}: ", file.display());
            let text = text.trim().replace(&format!("error: {prefix}"), "").replace(&prefix, "");
            Ok(Err(Refusal { why: text.lines().map(str::trim).collect::<Vec<_>>().join(" "), is_bug: true }))
        }
    }
}
