//! Annotations in the log of GitHub Actions.

use std::env;
use std::io::{self, Write};
use std::path::Path;

use masque_report::{Annotation, CiRun};

/// Whether the process runs in GitHub Actions.
pub(crate) fn is_active() -> bool {
    env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// Writes an annotation for each problem of a run.
pub(crate) fn annotate(err: &mut dyn Write, run: &CiRun) -> io::Result<()> {
    run.problems().iter().try_for_each(|problem| Annotation::new(problem, file_name).write(err))
}

/// The name of a file relative to the root of the repository, which GitHub expects, if it lies there.
pub(crate) fn file_name(name: &str) -> String {
    let root = env::var_os("GITHUB_WORKSPACE").map(std::path::PathBuf::from);
    let path = Path::new(name).canonicalize().ok();
    let inside = root.zip(path).and_then(|(root, path)| {
        let root = root.canonicalize().unwrap_or(root);
        path.strip_prefix(root).ok().map(|inside| inside.display().to_string())
    });
    inside.unwrap_or_else(|| name.to_string())
}
