//! The two streams. Data goes to stdout, everything else to stderr; a reader that went away ends the program quietly.

use std::io::{ErrorKind, Write as _};

/// Writes to stdout, with colours only where they are wanted.
pub(crate) fn stdout(text: &str) {
    let mut stream = anstream::stdout().lock();
    let result = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    if let Err(error) = result {
        // `tofu-oci versions … | head -1`: nobody reads on, and that is no failure.
        let code = if error.kind() == ErrorKind::BrokenPipe { 0 } else { 3 };
        std::process::exit(code);
    }
}

/// Writes to stderr, with colours only where they are wanted; nothing can be done if that fails.
pub(crate) fn stderr(text: &str) {
    let mut stream = anstream::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}
