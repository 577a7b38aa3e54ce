//! `--only` and `--skip`: which properties a command decides.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory};
use masque_driver::{Language, Request};

use super::{Cli, Command};

/// Which properties are decided.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectArgs {
    /// Decide only these properties: names or positions as the report shows them, or patterns with `*`
    /// and `?`. The label of a formula in a `for` selects all its instances.
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Properties")]
    pub only: Vec<String>,
    /// Do not decide these properties, even if --only selects them.
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Properties")]
    pub skip: Vec<String>,
}

impl SelectArgs {
    /// The request with this selection.
    pub fn select(&self, request: Request) -> Request {
        Request { only: self.only.clone(), skip: self.skip.clone(), ..request }
    }

    /// Removes the files among the names: `check --only safe model.ispl` gives a name and a file.
    fn take_files(&mut self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for names in [&mut self.only, &mut self.skip] {
            let (paths, rest) = std::mem::take(names).into_iter().partition(|name: &String| is_path(name));
            let paths: Vec<String> = paths;
            files.extend(paths.into_iter().map(PathBuf::from));
            *names = rest;
        }
        files
    }
}

/// Whether a text is a path: no property has such a name.
fn is_path(text: &str) -> bool {
    matches!(text, "-" | "." | "..") || text.contains('/') || Language::of_path(text.as_ref()).is_some()
}

impl Command {
    /// Moves files that follow `--only` and `--skip` to the files of the command.
    ///
    /// # Errors
    ///
    /// If there is no file, or a name is missing.
    pub(crate) fn separate_files(&mut self) -> Result<(), clap::Error> {
        let (select, files, name) = match self {
            Command::Check(args) => (&mut args.select, &mut args.files, "check"),
            Command::Watch(args) => (&mut args.check.select, &mut args.check.files, "watch"),
            Command::Explore(args) => (&mut args.check.select, &mut args.check.files, "explore"),
            Command::Test(args) => (&mut args.select, &mut args.paths, "test"),
            _ => return Ok(()),
        };
        let is_given = [!select.only.is_empty(), !select.skip.is_empty()];
        files.extend(select.take_files());
        let has_names = [!select.only.is_empty(), !select.skip.is_empty()];
        let message = if files.is_empty() && name != "test" {
            "no file is given; name the model files before or after the options"
        } else if is_given[0] && !has_names[0] {
            "`--only` needs the name of a property"
        } else if is_given[1] && !has_names[1] {
            "`--skip` needs the name of a property"
        } else {
            return Ok(());
        };
        let mut command = Cli::command();
        command.build();
        let command = command.find_subcommand_mut(name).cloned().unwrap_or_default();
        Err(command.clone().error(ErrorKind::MissingRequiredArgument, message))
    }
}
