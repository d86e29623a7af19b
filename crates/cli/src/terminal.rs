//! How wide the terminal is.

/// The widest line of an explanation.
pub(crate) const WIDEST: usize = 100;

/// How many columns a page may take: those of the terminal, at least 40 and at most [`WIDEST`].
pub(crate) fn page_columns() -> usize {
    const NARROWEST: usize = 40;
    stdout_columns().map_or(WIDEST, |columns| columns.clamp(NARROWEST, WIDEST))
}

/// The rows of the terminal that stdout is; `None` as for its columns.
pub(crate) fn stdout_rows() -> Option<usize> {
    size(std::io::stdout()).map(|(rows, _)| rows).filter(|rows| *rows > 0)
}

/// The columns of the terminal that stdout is; `None` if it is something else, or if the system does not say.
pub(crate) fn stdout_columns() -> Option<usize> {
    size(std::io::stdout()).map(|(_, columns)| columns).filter(|columns| *columns > 0)
}

pub(crate) fn stderr_columns() -> Option<usize> {
    size(std::io::stderr()).map(|(_, columns)| columns).filter(|columns| *columns > 0)
}

/// Rows and columns.
#[cfg(unix)]
fn size(output: impl std::os::fd::AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(output).ok()?;
    Some((usize::from(size.ws_row), usize::from(size.ws_col)))
}

#[cfg(not(unix))]
fn size<O>(_: O) -> Option<(usize, usize)> {
    None
}
