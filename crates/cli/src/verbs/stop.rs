//! Interruptions, and verbs that clean up before they end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Who stops the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoppedBy {
    /// The user, at the terminal.
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
}

/// Returns when the program has to stop at once, with the hint for the user.
pub(super) async fn interrupted(stop: &Stop) -> &'static str {
    let mut signals = Signals::new();
    let by = signals.next().await;
    if stop.left_to_verb.load(Ordering::SeqCst) {
        return std::future::pending().await;
    }
    if !stop.wanted.load(Ordering::SeqCst) {
        return "nothing is half-done; run the same command again to go on";
    }
    stop.was_termination.store(by == StoppedBy::Termination, Ordering::SeqCst);
    stop.interrupted.notify_one();
    signals.next().await;
    "interrupted again while it was cleaning up: some of what it had written is left"
}

/// The signals by which the user or the system stops the program.
struct Signals {
    #[cfg(unix)]
    signals: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let both = signal(SignalKind::interrupt()).and_then(|first| Ok((first, signal(SignalKind::terminate())?)));
        Self { signals: both.ok() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn next(&mut self) -> StoppedBy {
        let Some((interrupt, terminate)) = &mut self.signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => StoppedBy::Interrupt,
            _ = terminate.recv() => StoppedBy::Termination,
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> StoppedBy {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        StoppedBy::Interrupt
    }
}
