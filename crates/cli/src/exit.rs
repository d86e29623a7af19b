//! Exit codes.

use crate::printer;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: the user can fix it: not found, refused, does not match.
    Fixable,
    /// 2: wrong usage or configuration.
    Usage,
    /// 3: unexpected: the network, the machine, or a bug.
    Unexpected,
    /// 130: interrupted by the user; nothing half-done is left.
    Interrupted,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Fixable => 1,
            Exit::Usage => 2,
            Exit::Unexpected => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// Prints what clap has to say, help and version on stdout, mistakes on stderr.
pub(crate) fn from_clap(error: &clap::Error) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        printer::stderr(&text.ansi().to_string());
        Exit::Usage
    } else {
        printer::stdout(&text.ansi().to_string());
        Exit::Done
    }
}
