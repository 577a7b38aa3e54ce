//! Standard output and error: colours, width, and pipes whose reader stops reading.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;

use crate::args::ColorChoice;

/// Minimum number of columns of a line.
const MIN_WIDTH: usize = 40;

/// Whether text on standard output is coloured, or on standard error if `is_err`. `NO_COLOR` and similar
/// environment variables are respected.
pub(crate) fn wants_color(choice: ColorChoice, is_err: bool) -> bool {
    let auto = if is_err { AutoStream::choice(&io::stderr()) } else { AutoStream::choice(&io::stdout()) };
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => auto != anstream::ColorChoice::Never,
    }
}

/// The value of `--color` for clap, which colours help and errors before it has parsed the arguments.
pub(crate) fn clap_color(args: &[OsString]) -> clap::ColorChoice {
    let given = args.iter().enumerate().find_map(|(index, arg)| {
        let arg = arg.to_str()?;
        match arg.strip_prefix("--color")? {
            "" => args.get(index + 1)?.to_str(),
            rest => rest.strip_prefix('='),
        }
    });
    match given {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// The number of columns of a line: that of the terminal, otherwise that of the environment variable `COLUMNS`,
/// otherwise the default of reports.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let width = terminal.or_else(|| std::env::var("COLUMNS").ok()?.trim().parse().ok());
    width.map_or(masque_report::WIDTH, |width| width.max(MIN_WIDTH))
}

/// Whether progress is shown: standard error is a terminal.
pub(crate) fn shows_progress() -> bool {
    io::stderr().is_terminal()
}

/// Standard output, buffered.
pub(crate) fn stdout(color: bool) -> Box<dyn Write> {
    let stdout = io::stdout();
    if color {
        Box::new(BufWriter::new(UntilClosed::new(AutoStream::always(stdout))))
    } else {
        Box::new(BufWriter::new(UntilClosed::new(stdout)))
    }
}

/// Standard output that fails if the pipe is closed, for commands that would otherwise go on without a reader.
pub(crate) fn stdout_while_open(color: bool) -> Box<dyn Write> {
    let stdout = io::stdout();
    if color {
        Box::new(BufWriter::new(AutoStream::always(stdout)))
    } else {
        Box::new(BufWriter::new(stdout))
    }
}

/// A writer that ignores a closed pipe (`masque check .. | head`): the rest is not written, and the exit code
/// is not affected.
struct UntilClosed<W> {
    inner: W,
    is_closed: bool,
}

impl<W: Write> UntilClosed<W> {
    fn new(inner: W) -> Self {
        UntilClosed { inner, is_closed: false }
    }

    fn unless_closed<T>(&mut self, closed: T, write: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.is_closed {
            return Ok(closed);
        }
        match write(&mut self.inner) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(closed)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), |inner| inner.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_option_is_read_before_parsing() {
        let color = |args: &[&str]| clap_color(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(color(&["masque", "--color=never", "--help"]), clap::ColorChoice::Never);
        assert_eq!(color(&["masque", "check", "--color", "always"]), clap::ColorChoice::Always);
        assert_eq!(color(&["masque", "--color"]), clap::ColorChoice::Auto);
        assert_eq!(color(&["masque"]), clap::ColorChoice::Auto);
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        let mut out = UntilClosed::new(Closed);
        assert!(out.write_all(b"text").is_ok());
        assert!(out.write_all(b"more").is_ok() && out.flush().is_ok() && out.is_closed);
    }
}
