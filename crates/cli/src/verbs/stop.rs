//! Interruptions, and verbs that clean up before they end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Asks a verb to stop that has to clean up first. The program drops every other verb at once.
#[derive(Default)]
pub(crate) struct Stop {
    wanted: AtomicBool,
    interrupted: Notify,
}

impl Stop {
    /// Returns at the first interruption. The verb then ends by itself; a second interruption ends the program at once.
    pub(crate) async fn asked(&self) {
        self.wanted.store(true, Ordering::SeqCst);
        self.interrupted.notified().await;
    }
}

/// Returns when the program has to stop at once, with the hint for the user.
pub(super) async fn interrupted(stop: &Stop) -> &'static str {
    let mut signals = Signals::new();
    signals.next().await;
    if !stop.wanted.load(Ordering::SeqCst) {
        return "nothing is half-done; run the same command again to go on";
    }
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
    async fn next(&mut self) {
        let Some((interrupt, terminate)) = &mut self.signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
