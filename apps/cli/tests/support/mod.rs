//! Command lines that run inside the test process: what they print, and their exit.

use std::ffi::OsString;

use masque_cli::{Context, Exit, parse, run};

/// Runs a command line, given without the program's name. Returns what it prints, standard output first, and
/// its exit.
pub(crate) fn outcome<S: AsRef<str>>(words: &[S], context: &Context) -> (String, Exit) {
    let args = std::iter::once("masque").chain(words.iter().map(AsRef::as_ref));
    let cli = parse(args.map(OsString::from)).unwrap_or_else(|error| panic!("{error}"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (message, exit) = match run(&cli.command, context, &mut out, &mut err) {
        Ok(exit) => (String::new(), exit),
        Err(error) => (format!("error: {error:#}\n"), Exit::BadInput),
    };
    (String::from_utf8([out, err, message.into_bytes()].concat()).unwrap(), exit)
}

/// A test for each command line: the snapshot of what the caller's function `masque` returns for it.
macro_rules! snapshots {
    ($($name:ident: $line:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::with_settings!({ description => concat!("masque ", $line), omit_expression => true }, {
                insta::assert_snapshot!(masque($line));
            });
        }
    )*};
}
