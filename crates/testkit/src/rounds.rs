//! Requests answered in rounds: how often a client waits, counted without a clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// How long a round may stay incomplete. Only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// What must be there before the requests of a round are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// So many requests: exactly the next ones that arrive.
    pub requests: usize,
    /// So many connections in all, since the listener was started.
    pub connections: usize,
}

impl Round {
    /// So many requests, over whatever connections.
    pub fn of(requests: usize) -> Self {
        Self { requests, connections: 0 }
    }

    /// The same when so many connections have been opened.
    #[must_use]
    pub fn with_connections(self, connections: usize) -> Self {
        Self { connections, ..self }
    }
}

/// Answers requests in rounds ([`crate::Fault::InRounds`]): a request of a round is answered when all of its requests have
/// arrived. So a client that gets through has made no more than so many round trips, whatever the machine's speed.
///
/// Requests after the last round are answered at once, and counted. Clones are the same rounds.
#[derive(Clone, Debug)]
pub struct Rounds(Arc<RoundsState>);

#[derive(Debug)]
struct RoundsState {
    rounds: Vec<Round>,
    progress: Mutex<RoundsProgress>,
    /// How many rounds have been answered.
    answered: watch::Sender<usize>,
    connections: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct RoundsProgress {
    /// The round that requests arrive for.
    current: usize,
    arrived: Vec<String>,
    surplus: Vec<String>,
    failure: Option<String>,
}

impl Rounds {
    /// These rounds.
    pub fn new(rounds: impl IntoIterator<Item = Round>) -> Self {
        Self(Arc::new(RoundsState {
            rounds: rounds.into_iter().collect(),
            progress: Mutex::default(),
            answered: watch::Sender::new(0),
            connections: watch::Sender::new(0),
        }))
    }

    /// Checks that every round was completed, and that no further request came.
    ///
    /// # Panics
    /// If that is not so; the message names what arrived.
    #[track_caller]
    pub fn check(&self) {
        let progress = self.progress();
        if let Some(failure) = &progress.failure {
            panic!("{failure}");
        }
        let (current, all) = (progress.current, self.0.rounds.len());
        assert_eq!(current, all, "rounds that were completed; the next one has {:?}", progress.arrived);
        assert_eq!(progress.surplus, Vec::<String>::new(), "requests after the last round");
    }

    /// Notes that a connection was opened.
    pub(crate) fn connected(&self) {
        self.0.connections.send_modify(|count| *count += 1);
    }

    /// Notes the arrival and waits for the round to be complete.
    pub(crate) async fn arrive(&self, request: String) {
        let Some((round, is_last)) = self.noted(request) else { return };
        if is_last {
            let needed = self.0.rounds[round].connections;
            let mut connections = self.0.connections.subscribe();
            let enough = tokio::time::timeout(PATIENCE, connections.wait_for(|count| *count >= needed)).await.is_ok();
            if !enough {
                let count = *self.0.connections.borrow();
                self.fail(format!("round {}: {count} connections instead of {needed}", round + 1));
            }
            self.0.answered.send_replace(round + 1);
            return;
        }
        let mut answered = self.0.answered.subscribe();
        let complete = tokio::time::timeout(PATIENCE, answered.wait_for(|answered| *answered > round)).await.is_ok();
        if !complete {
            let arrived = self.progress().arrived.clone();
            let needed = self.0.rounds[round].requests;
            self.fail(format!("round {}: {} requests instead of {needed}: {arrived:#?}", round + 1, arrived.len()));
        }
    }

    /// The round of a request, and whether it completes the round; `None` after the last round.
    fn noted(&self, request: String) -> Option<(usize, bool)> {
        let mut progress = self.progress();
        let round = progress.current;
        let Some(Round { requests, .. }) = self.0.rounds.get(round).filter(|_| progress.failure.is_none()) else {
            progress.surplus.push(request);
            return None;
        };
        progress.arrived.push(request);
        let is_last = progress.arrived.len() == *requests;
        if is_last {
            progress.current += 1;
            progress.arrived.clear();
        }
        Some((round, is_last))
    }

    /// From now on every request is answered at once.
    fn fail(&self, failure: String) {
        self.progress().failure.get_or_insert(failure);
        self.0.answered.send_replace(usize::MAX);
    }

    fn progress(&self) -> MutexGuard<'_, RoundsProgress> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
