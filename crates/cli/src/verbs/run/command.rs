//! The command of `run`: started, sent the signals that it would not get otherwise, and waited for.
//!
//! ```text
//! a terminal    the command shares our process group: ^C reaches it without us, and ^Z and `fg` work as without us
//! no terminal   it has a process group of its own: a signal that all of our group gets reaches it once, through us
//! ```

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitStatus;

use tokio::process::Command;

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::verbs::stop::Stop;

/// Runs the command to its end, with these variables beside ours. No signal ends this program meanwhile.
/// If the command cannot be started, the exit code is that of a shell, 126 or 127.
pub(super) async fn run(
    command: &[OsString],
    variables: &[(&'static str, OsString)],
    stop: &Stop,
) -> Result<Exit, Diagnostic> {
    let (program, arguments) = command.split_first().expect("the arguments name a command");
    let mut started = Command::new(program);
    started.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    let exit = signals::passed_on(started, stop).await.map_err(|error| not_started(program, &error))?;
    Ok(exit.into())
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::OfCommand(u8::try_from(128 + signal).unwrap_or(u8::MAX));
        }
        match status.code() {
            Some(0) => Self::Done,
            // Codes of Windows are larger.
            code => Self::OfCommand(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        }
    }
}

fn not_started(program: &OsStr, error: &io::Error) -> Diagnostic {
    let name = program.to_string_lossy();
    let is_path = Path::new(program).components().count() > 1;
    if error.kind() == io::ErrorKind::NotFound {
        let diagnostic = match (is_path, Path::new(program).exists()) {
            (true, true) => Diagnostic::new(Exit::OfCommand(127), format!("{name} cannot be started"))
                .cause("the interpreter that its first line names is not there"),
            (true, false) => Diagnostic::new(Exit::OfCommand(127), format!("there is no program {name}")),
            _ => Diagnostic::new(Exit::OfCommand(127), format!("no folder of PATH has a program {name}")),
        };
        let diagnostic = diagnostic.code("command-not-found");
        return if name.contains(' ') {
            diagnostic.hint("write each argument as a word of its own: tofu-oci run -- terraform init")
        } else {
            diagnostic.hint("write the program after --, as you would without tofu-oci: tofu-oci run -- terraform init")
        };
    }
    Diagnostic::new(Exit::OfCommand(126), format!("{name} cannot be started"))
        .code("command-not-executable")
        .cause(error.to_string())
        .hint("name a program that this user may execute")
}

#[cfg(unix)]
mod signals {
    use std::fs::File;
    use std::io;
    use std::process::ExitStatus;

    use rustix::process::{Pid, Signal as Sent, getpgrp, kill_process};
    use rustix::termios::tcgetpgrp;
    use tokio::process::Command;
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use crate::verbs::stop::Stop;

    /// Starts the command, and sends it what this program is sent.
    pub(super) async fn passed_on(mut command: Command, stop: &Stop) -> io::Result<ExitStatus> {
        let terminal = File::open("/dev/tty").ok();
        if terminal.is_none() {
            command.process_group(0);
        }
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        stop.leave_to_verb();
        let mut child = command.spawn()?;
        // After the start: the command keeps ignoring what `nohup` has made us ignore.
        let mut hangup = signal(SignalKind::hangup())?;
        let mut quit = signal(SignalKind::quit())?;
        let process = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        loop {
            let (sent, by_terminal) = tokio::select! {
                status = child.wait() => return status,
                () = next(&mut interrupt) => (Sent::INT, true),
                () = next(&mut quit) => (Sent::QUIT, true),
                () = next(&mut hangup) => (Sent::HUP, true),
                () = next(&mut terminate) => (Sent::TERM, false),
            };
            if by_terminal && terminal.as_ref().is_some_and(is_ours) {
                // The terminal has sent it to the whole group. For Terraform a second one means: stop at once.
                continue;
            }
            if let Some(process) = process {
                // It may have ended just now.
                let _ = kill_process(process, sent);
            }
        }
    }

    async fn next(signal: &mut Signal) {
        if signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Whether keys of the terminal send signals to our group.
    fn is_ours(terminal: &File) -> bool {
        tcgetpgrp(terminal).is_ok_and(|foreground| foreground == getpgrp())
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;
    use std::process::ExitStatus;

    use tokio::process::Command;

    use crate::verbs::stop::Stop;

    /// Starts the command. The console sends its keys to all programs in it.
    pub(super) async fn passed_on(mut command: Command, stop: &Stop) -> io::Result<ExitStatus> {
        stop.leave_to_verb();
        command.spawn()?.wait().await
    }
}
