//! Interruptions, and verbs that clean up before they end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// How a verb is told to stop that has to clean up first. All others are dropped where they are.
#[derive(Default)]
pub(crate) struct Stop {
    wanted: AtomicBool,
    told: Notify,
}

impl Stop {
    /// Comes back at the first interruption. Whoever asks ends by itself then; only the second one is not waited for.
    pub(crate) async fn asked(&self) {
        self.wanted.store(true, Ordering::SeqCst);
        self.told.notified().await;
    }
}

/// Comes back when the program has to stop at once, with what there is to say about that.
pub(super) async fn interrupted(stop: &Stop) -> &'static str {
    let mut signals = Signals::new();
    signals.next().await;
    if !stop.wanted.load(Ordering::SeqCst) {
        return "nothing is half-done; run the same command again to go on";
    }
    stop.told.notify_one();
    signals.next().await;
    "interrupted again while it was cleaning up: some of what it had written is left"
}

/// What the user or the system asks the program to stop with.
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
