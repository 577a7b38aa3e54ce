//! Options: their names and values, in the file and from the command line.

use masque_text::{Diagnostic, Span, did_you_mean};

use crate::model::{Condition2, Delay, Options, Totality};

/// Deeper nesting than this is refused: each level is a world of its own.
pub const DEEPEST_NESTING: u32 = 1000;

const NAMES: [&str; 5] = ["totality", "condition2", "consistency", "delay", "nesting"];

/// An option given outside the file; it takes the place of the file's own.
#[derive(Clone, Debug)]
pub struct Override {
    /// The option.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it was written, in a source of its own.
    pub span: Span,
}

/// Sets one option, or says what is wrong.
pub(super) fn set(options: &mut Options, name: &str, value: &str, span: Span) -> Result<(), Diagnostic> {
    let allowed = match (name, value) {
        ("totality", "trim") => return Ok(options.totality = Totality::Trim),
        ("totality", "strict") => return Ok(options.totality = Totality::Strict),
        ("condition2", "remove") => return Ok(options.condition2 = Condition2::Remove),
        ("condition2", "infer") => return Ok(options.condition2 = Condition2::Infer),
        ("consistency", "off" | "on") => return Ok(options.consistency = value == "on"),
        ("delay", "none") => return Ok(options.delay = Delay::None),
        ("delay", "all") => return Ok(options.delay = Delay::All),
        ("delay", functor) if functor.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
            return Ok(options.delay = Delay::Functor(functor.to_string()));
        }
        ("nesting", number) => match number.parse() {
            Ok(bound) if bound <= DEEPEST_NESTING => return Ok(options.nesting = Some(bound)),
            _ => "a number from 0 to 1000",
        },
        ("totality", _) => "`trim` or `strict`",
        ("condition2", _) => "`remove` or `infer`",
        ("consistency", _) => "`on` or `off`",
        ("delay", _) => "`none`, `all` or the name of an action",
        _ => {
            let message = format!("there is no option `{name}`");
            let help = did_you_mean(name, NAMES)
                .unwrap_or_else(|| format!("the options are `{}`", NAMES.join("`, `")));
            return Err(Diagnostic::error("bdi/unknown-option", span, message).hint(help));
        }
    };
    let message = format!("option `{name}` cannot be `{value}`");
    Err(Diagnostic::error("bdi/bad-option", span, message).hint(format!("it is {allowed}")))
}
