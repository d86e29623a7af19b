//! The access log, if it is a file: opened at the start, and again after a program has moved it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_bridge::{AccessLog, AccessLogger};
use tofu_oci_types::{Event, Reporter};

use super::settings::Settings;
use crate::diagnostic::Diagnostic;
use crate::printer;

/// The logger, and the file that it writes to.
pub(super) fn open(settings: &Settings) -> Result<(AccessLogger, Option<PathBuf>), Diagnostic> {
    Ok(match path(settings) {
        Some(path) => {
            let file = append(&path).map_err(|error| unwritable(&path, &error))?;
            (AccessLogger::to(Box::new(file)), Some(path))
        }
        None if settings.config.access_log == AccessLog::Off => (AccessLogger::off(), None),
        None => (AccessLogger::to(printer::log_lines()), None),
    })
}

/// Whether the file can be written. A file that is missing stays missing.
pub(super) fn check(settings: &Settings) -> Result<(), Diagnostic> {
    let Some(path) = path(settings) else { return Ok(()) };
    let checked = match OpenOptions::new().create_new(true).append(true).open(&path) {
        Ok(_) => fs::remove_file(&path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => append(&path).map(drop),
        Err(error) => Err(error),
    };
    checked.map_err(|error| unwritable(&path, &error))
}

/// Opens the file anew at each SIGHUP, as programs that rotate logs want it. Without a file SIGHUP stops the program, as the end
/// of a terminal does.
#[cfg(unix)]
pub(super) fn reopen_at_hangup(path: PathBuf, log: AccessLogger, reporter: std::sync::Arc<dyn Reporter>) {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let (path, log) = (path.clone(), log.clone());
            let reopened = tokio::task::spawn_blocking(move || reopen(&path, &log)).await;
            if let Ok(event) = reopened {
                reporter.event(&event);
            }
        }
    });
}

/// No signal asks for it.
#[cfg(not(unix))]
pub(super) fn reopen_at_hangup(_: PathBuf, _: AccessLogger, _: std::sync::Arc<dyn Reporter>) {}

#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has the signal"))]
fn reopen(path: &Path, log: &AccessLogger) -> Event {
    match append(path) {
        Ok(file) => {
            log.turn_to(Box::new(file));
            Event::note("access-log-reopened", format!("the access log {} was opened anew", path.display()))
        }
        Err(error) => {
            let text = format!("the access log {} cannot be opened anew: {error}", path.display());
            let hint = "lines go to the file from before; make the path writable, and send SIGHUP again";
            Event::warning("access-log-not-reopened", text).with_hint(hint)
        }
    }
}

fn path(settings: &Settings) -> Option<PathBuf> {
    match &settings.config.access_log {
        AccessLog::File(path) => Some(settings.dir.join(path)),
        AccessLog::Stdout | AccessLog::Off => None,
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::usage(format!("the access log {} cannot be written", path.display()))
        .io_hint("write", path, error)
        .cause(error.to_string())
}
