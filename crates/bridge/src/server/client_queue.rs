//! How many requests of one client are answered in a second. The others wait for their turn.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many clients are remembered before those whose turn has passed are forgotten.
const REMEMBERED: usize = 4096;

/// The turns of clients: one second's requests at once, then each after the other.
pub(super) struct ClientQueue {
    each: Duration,
    burst: Duration,
    /// When the client's requests so far would have been answered one after the other.
    next: Mutex<HashMap<String, Instant>>,
}

impl ClientQueue {
    pub(super) fn new(requests_per_second: u32) -> Self {
        let second = Duration::from_secs(1);
        Self { each: second / requests_per_second, burst: second, next: Mutex::default() }
    }

    /// Returns when it is this client's turn. A client that does not wait for it is not charged.
    pub(super) async fn turn(&self, client: &str) {
        let at = self.take(client, Instant::now());
        let charge = TurnCharge { queue: self, client };
        tokio::time::sleep_until(at).await;
        charge.stays();
    }

    fn take(&self, client: &str, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.len() >= REMEMBERED {
            next.retain(|_, until| *until > now);
        }
        let until = next.entry(client.to_owned()).or_insert(now);
        *until = (*until).max(now) + self.each;
        (*until).checked_sub(self.burst).unwrap_or(now)
    }

    fn give_back(&self, client: &str) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = next.get_mut(client) {
            *until = until.checked_sub(self.each).unwrap_or(*until);
        }
    }
}

/// What a turn costs a client. It gets that back if its request ends before.
struct TurnCharge<'a> {
    queue: &'a ClientQueue,
    client: &'a str,
}

impl TurnCharge<'_> {
    fn stays(self) {
        std::mem::forget(self);
    }
}

impl Drop for TurnCharge<'_> {
    fn drop(&mut self) {
        self.queue.give_back(self.client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_waits_for_its_turn_and_no_one_else_does() {
        let queue = ClientQueue::new(10);
        let start = Instant::now();
        for _ in 0..10 {
            queue.turn("busy").await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        queue.turn("busy").await;
        queue.turn("busy").await;
        assert_eq!(start.elapsed().as_millis(), 200);
        queue.turn("other").await;
        assert_eq!(start.elapsed().as_millis(), 200);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_a_client_cancels_while_they_wait_do_not_delay_its_next_one() {
        let queue = ClientQueue::new(10);
        for _ in 0..10 {
            queue.turn("busy").await;
        }
        {
            let waiting = futures_util::future::join_all((0..1000).map(|_| queue.turn("busy")));
            assert!(tokio::time::timeout(Duration::from_millis(250), waiting).await.is_err());
        }
        // Two of them had their turn; the next one comes 300 ms after the first.
        let start = Instant::now();
        queue.turn("busy").await;
        assert_eq!(start.elapsed().as_millis(), 50);
        queue.turn("busy").await;
        assert_eq!(start.elapsed().as_millis(), 150);
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_have_gone_are_forgotten() {
        let queue = ClientQueue::new(10);
        for client in 0..REMEMBERED {
            queue.turn(&client.to_string()).await;
        }
        tokio::time::advance(Duration::from_secs(2)).await;
        queue.turn("one more").await;
        assert_eq!(queue.next.lock().unwrap().len(), 1);
    }
}
