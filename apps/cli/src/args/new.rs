//! Arguments of `new`.

use clap::Args;
use masque_driver::Language;

use crate::values::word;

/// Arguments of `new`.
#[derive(Clone, Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub struct NewArgs {
    /// Name of the file, with or without its extension (.ispl, .bdi or .lcc). A file that exists is not
    /// changed.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Language of the model [default: the one of the extension, or ispl].
    #[arg(long, value_name = "LANGUAGE", value_parser = word(LANGUAGES))]
    pub language: Option<Language>,
}

const LANGUAGES: super::options::Words<Language> = &[
    ("ispl", Language::Ispl, "Agents that act and observe: knowledge, time, strategies"),
    ("bdi", Language::Bdi, "Programs of agents with beliefs, desires and intentions"),
    ("lcc", Language::Lcc, "Protocols of agents that send messages under rules"),
];

const NEW_EXAMPLES: &str = "\
Examples:
  masque new lamp                      writes lamp.ispl
  masque new market.lcc                the extension gives the language
  masque new robot --language bdi      writes robot.bdi";
