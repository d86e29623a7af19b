//! Interruptions, and verbs that clean up before they end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Who stops the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoppedBy {
    /// The user, at the terminal, or the end of the terminal.
    Interrupt,
    /// The system, or a program that has started this one.
    Termination,
}

/// Asks a verb to stop that has to clean up first. The program drops every other verb at once.
#[derive(Default)]
pub(crate) struct Stop {
    wanted: AtomicBool,
    was_termination: AtomicBool,
    interrupted: Notify,
    left_to_verb: AtomicBool,
    ignores_hangups: AtomicBool,
}

impl Stop {
    /// Returns at the first interruption. The verb then ends by itself; a second interruption ends the program at once.
    pub(crate) async fn asked(&self) -> StoppedBy {
        self.wanted.store(true, Ordering::SeqCst);
        self.interrupted.notified().await;
        if self.was_termination.load(Ordering::SeqCst) { StoppedBy::Termination } else { StoppedBy::Interrupt }
    }

    /// From now on no signal ends the program: the verb passes them on to another one, and ends after it.
    pub(crate) fn leave_to_verb(&self) {
        self.left_to_verb.store(true, Ordering::SeqCst);
    }

    /// From now on SIGHUP does not stop the program.
    pub(crate) fn ignore_hangups(&self) {
        self.ignores_hangups.store(true, Ordering::SeqCst);
    }
}

/// Returns when the program has to stop at once, with the hint for the user.
pub(super) async fn interrupted(stop: &Stop) -> &'static str {
    let mut signals = Signals::new();
    let by = signals.next(stop).await;
    if stop.left_to_verb.load(Ordering::SeqCst) {
        return std::future::pending().await;
    }
    if !stop.wanted.load(Ordering::SeqCst) {
        return "nothing is half-done; run the same command again to go on";
    }
    stop.was_termination.store(by == StoppedBy::Termination, Ordering::SeqCst);
    stop.interrupted.notify_one();
    // At the end of a terminal both the system and the shell send SIGHUP.
    stop.ignore_hangups();
    signals.next(stop).await;
    "interrupted again while it was cleaning up: some of what it had written is left"
}

/// The signals by which the user or the system stops the program.
struct Signals {
    #[cfg(unix)]
    signals: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
    /// `None` if whoever has started the program has made it ignore the signal.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let both = signal(SignalKind::interrupt()).and_then(|first| Ok((first, signal(SignalKind::terminate())?)));
        let hangup = (!ignores_hangup()).then(|| signal(SignalKind::hangup()).ok()).flatten();
        Self { signals: both.ok(), hangup }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn next(&mut self, stop: &Stop) -> StoppedBy {
        let Some((interrupt, terminate)) = &mut self.signals else {
            return std::future::pending().await;
        };
        loop {
            let hangup = async {
                match &mut self.hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = interrupt.recv() => return StoppedBy::Interrupt,
                _ = terminate.recv() => return StoppedBy::Termination,
                _ = hangup => if !stop.ignores_hangups.load(Ordering::SeqCst) {
                    return StoppedBy::Interrupt;
                },
            }
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self, _: &Stop) -> StoppedBy {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        StoppedBy::Interrupt
    }
}

/// Whether the program was started so that it ignores SIGHUP, as by `nohup`: then it goes on, and so does what it starts. Where
/// the system does not say it, the signal keeps its effect, which is to end the program at once.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    // SIGHUP is the first signal.
    ignored.is_none_or(|signals| signals & 1 == 1)
}
