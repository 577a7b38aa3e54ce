//! Files with the runs of evidence, for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use masque_report::TraceFiles;

use crate::Exit;

/// Refuses a file in a folder that does not exist, before a long check.
pub(super) fn refuse_folder(path: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || path.file_name().is_none() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    match folder {
        Some(folder) if !folder.is_dir() => {
            bail!("cannot write {}: there is no folder {}", path.display(), folder.display())
        }
        _ => Ok(()),
    }
}

/// Writes the runs to standard output or to files. Notes about what is left out go to standard error.
pub(super) fn write(
    traces: &TraceFiles,
    path: Option<&Path>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    for note in &traces.notes {
        writeln!(err, "{note}")?;
    }
    let names = traces.names();
    if traces.n_runs() == 0 {
        writeln!(err, "there is no run to write: no evidence has one")?;
        return Ok(Exit::AllHold);
    }
    match path {
        None if names.len() > 1 => {
            let n_runs = names.len();
            writeln!(err, "error: there are {n_runs} runs, and this format has one run per file")?;
            writeln!(err, "help: give `--evidence-out FILE` for several files, or check one property only")?;
            return Ok(Exit::BadInput);
        }
        None => traces.write(out, 0)?,
        Some(path) => {
            for (index, name) in names.iter().enumerate() {
                let path = if name.is_empty() { path.to_path_buf() } else { numbered(path, name) };
                let cannot = || format!("cannot write {}", path.display());
                let mut file = BufWriter::new(File::create(&path).with_context(cannot)?);
                traces.write(&mut file, index).and_then(|()| file.flush()).with_context(cannot)?;
                if names.len() > 1 {
                    writeln!(err, "wrote {}", path.display())?;
                }
            }
        }
    }
    Ok(Exit::AllHold)
}

/// The file for one of several runs: `out.itf.json` becomes `out.NAME.itf.json`.
fn numbered(path: &Path, name: &str) -> PathBuf {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let file = match file.trim_start_matches('.').split_once('.') {
        Some((stem, extensions)) => {
            let dots = &file[..file.len() - stem.len() - extensions.len() - 1];
            format!("{dots}{stem}.{name}.{extensions}")
        }
        None => format!("{file}.{name}"),
    };
    path.with_file_name(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn names_of_several_files() {
        let check = |path: &str, expected: &str| assert_eq!(numbered(Path::new(path), "p-1"), Path::new(expected));
        check("out.itf.json",   "out.p-1.itf.json");
        check("a.b/out",        "a.b/out.p-1");
        check("./.x.mmd",       "./.x.p-1.mmd");
        check("trace.mmd",      "trace.p-1.mmd");
    }
}
