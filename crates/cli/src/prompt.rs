//! A question to the person at the terminal.

use std::io;

use tofu_oci_types::Secret;

use crate::page::{Line, Page};

/// Whether somebody can be asked: standard input is a terminal whose echo can be turned off.
pub(crate) fn can_ask() -> bool {
    use std::io::IsTerminal as _;
    cfg!(unix) && io::stdin().is_terminal()
}

/// Asks for a line that may be seen. It comes without its end; empty at the end of input.
pub(crate) async fn line(question: &str) -> io::Result<String> {
    answer(question).await
}

/// Asks, and waits for a line. After an interruption or the end of input it leaves the line of the question.
async fn answer(question: &str) -> io::Result<String> {
    crate::printer::question(&Line::of(question));
    let unanswered = Unanswered;
    let mut line = aside(read_line).await??;
    if line.ends_with('\n') {
        std::mem::forget(unanswered);
    }
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(line)
}

/// A question whose line has no end yet.
struct Unanswered;

impl Drop for Unanswered {
    fn drop(&mut self) {
        crate::printer::stderr(&Page::of(""));
    }
}

fn read_line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map(|_| line)
}

/// Asks for a secret, and shows nothing of what is typed. The line comes without its end; empty at the end of input.
///
/// An interruption meanwhile gives the terminal back as it was.
#[cfg(unix)]
pub(crate) async fn secret(question: &str) -> io::Result<Secret> {
    let _no_echo = NoEcho::begin()?;
    answer(question).await.map(Secret::new)
}

/// Nobody is asked here; see [`can_ask`].
#[cfg(not(unix))]
pub(crate) async fn secret(_question: &str) -> io::Result<Secret> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads what may never come, in a thread of its own: neither an interruption nor the end of the runtime waits for it.
pub(crate) async fn aside<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (tell, answer) = tokio::sync::oneshot::channel();
    // Nobody hears it after an interruption.
    std::thread::spawn(move || drop(tell.send(read())));
    answer.await.map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

/// The terminal of standard input, showing nothing that is typed but the end of a line, until this is dropped.
#[cfg(unix)]
struct NoEcho(rustix::termios::Termios);

#[cfg(unix)]
impl NoEcho {
    fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON);
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for NoEcho {
    fn drop(&mut self) {
        // A terminal that went away needs nothing back.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.0);
    }
}
