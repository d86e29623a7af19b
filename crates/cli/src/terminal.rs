//! How wide the terminal is.

/// The widest line of an explanation.
pub(crate) const WIDEST: usize = 100;

/// How many columns a page may take: those of the terminal, at least 40 and at most [`WIDEST`].
pub(crate) fn page_columns() -> usize {
    const NARROWEST: usize = 40;
    stdout_columns().map_or(WIDEST, |columns| columns.clamp(NARROWEST, WIDEST))
}

/// The columns of the terminal that stdout is; `None` if it is something else, or if the system does not say.
fn stdout_columns() -> Option<usize> {
    columns(std::io::stdout())
}

pub(crate) fn stderr_columns() -> Option<usize> {
    columns(std::io::stderr())
}

#[cfg(unix)]
fn columns(output: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(output).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn columns<O>(_: O) -> Option<usize> {
    None
}
