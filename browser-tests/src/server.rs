//! A running `masque explore`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// The program under test, and the folder with the models of the repository.
#[derive(Clone)]
pub struct Setup {
    pub program: PathBuf,
    pub models: PathBuf,
}

impl Setup {
    /// Explores models of the repository.
    pub fn explore(&self, names: &[&str], options: &[&str]) -> Result<Server> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.models.join(name)).collect();
        self.start(&paths, options, None)
    }

    /// Explores texts in files of their own.
    pub fn explore_texts(&self, texts: &[(&str, &str)], options: &[&str]) -> Result<Server> {
        let folder = tempfile::tempdir()?;
        let paths: Vec<PathBuf> = texts.iter().map(|(name, _)| folder.path().join(name)).collect();
        for (path, (_, text)) in paths.iter().zip(texts) {
            fs::write(path, text)?;
        }
        self.start(&paths, options, Some(folder))
    }

    fn start(&self, paths: &[PathBuf], options: &[&str], folder: Option<TempDir>) -> Result<Server> {
        let mut command = Command::new(&self.program);
        command.arg("explore").args(paths).args(options).arg("--no-open").stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start masque")?;
        let output = child.stdout.take().context("masque has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().strip_prefix("open ").with_context(|| format!("masque printed: {line}"))?;
        let address = address.to_string();
        Ok(Server { child, address, folder })
    }
}

/// The server, which ends with this value.
pub struct Server {
    child: Child,
    /// Address of the first page, with a slash at its end.
    pub address: String,
    folder: Option<TempDir>,
}

impl Server {
    /// The address of a page in the first tab, which is opened by [`Server::address`].
    pub fn page(&self, path: &str) -> String {
        format!("{}1/{path}", self.address)
    }

    /// Replaces the text of a file.
    pub fn save(&self, name: &str, text: &str) -> Result<()> {
        let folder = self.folder.as_ref().context("the model is not a text")?;
        Ok(fs::write(Path::new(folder.path()).join(name), text)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
