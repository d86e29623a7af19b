//! How many connections one address has. One too many takes the place of one without a request, or waits.
//!
//! ```text
//! a place is free                    taken
//! one of its connections is idle     the one that has been so for longest ends
//! all have requests                  the new one waits until one has none; half as many wait as have places
//! ```
//!
//! If all connections together reach their limit, the idlest of all ends in the same way.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::client_address::network_of;
use super::watch::ConnectionWatch;
use crate::AddressRange;

/// How often a connection that waits looks for one without a request.
const AGAIN: Duration = Duration::from_millis(250);

/// No one closes a semaphore here.
const OPEN: &str = "no one closes the semaphore";

/// The connections of all addresses.
pub(super) struct ConnectionsByAddress {
    most: usize,
    proxies: Vec<AddressRange>,
    known: Mutex<HashMap<String, Weak<AddressConnections>>>,
}

/// The connections of one address.
struct AddressConnections {
    places: Arc<Semaphore>,
    waiting: Semaphore,
    open: Mutex<Vec<Weak<ConnectionWatch>>>,
}

/// The right to a connection, as long as it is held.
pub(super) struct ConnectionPlace {
    _place: Option<OwnedSemaphorePermit>,
    _of: Option<Arc<AddressConnections>>,
}

impl ConnectionsByAddress {
    /// So many for each address, except for these proxies: many clients are behind them.
    pub(super) fn new(most: usize, proxies: Vec<AddressRange>) -> Self {
        Self { most: most.clamp(1, Semaphore::MAX_PERMITS), proxies, known: Mutex::default() }
    }

    /// A place for a connection from this address; `None` if it has too many and none of them ends in time.
    pub(super) async fn place(
        &self,
        address: IpAddr,
        watch: &Arc<ConnectionWatch>,
        patience: Duration,
    ) -> Option<ConnectionPlace> {
        if self.proxies.iter().any(|range| range.contains(address)) {
            return Some(ConnectionPlace { _place: None, _of: None });
        }
        let of = self.of(address.to_canonical());
        let place = if let Ok(place) = Arc::clone(&of.places).try_acquire_owned() {
            place
        } else {
            let _waits = of.waiting.try_acquire().ok()?;
            let end_idlest = || {
                let ends = end_idlest(&of.open());
                if !ends {
                    watch.spare();
                }
                ends
            };
            timeout(patience, next_place(&of.places, end_idlest)).await.ok()?
        };
        let mut open = of.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|watch| watch.strong_count() > 0);
        open.push(Arc::downgrade(watch));
        drop(open);
        Some(ConnectionPlace { _place: Some(place), _of: Some(of) })
    }

    /// Ends the connection that has been idle for longest, whatever its address; false if all are busy.
    pub(super) fn end_idlest(&self) -> bool {
        let known: Vec<_> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.values().filter_map(Weak::upgrade).collect()
        };
        end_idlest(&known.iter().flat_map(|of| of.open()).collect::<Vec<_>>())
    }

    fn of(&self, address: IpAddr) -> Arc<AddressConnections> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let network = network_of(address);
        if let Some(of) = known.get(&network).and_then(Weak::upgrade) {
            return of;
        }
        known.retain(|_, of| of.strong_count() > 0);
        let of = Arc::new(AddressConnections {
            places: Arc::new(Semaphore::new(self.most)),
            waiting: Semaphore::new((self.most / 2).max(1)),
            open: Mutex::default(),
        });
        known.insert(network, Arc::downgrade(&of));
        of
    }
}

impl AddressConnections {
    fn open(&self) -> Vec<Arc<ConnectionWatch>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().filter_map(Weak::upgrade).collect()
    }
}

/// The next place; until `end_idlest` is true, it is called again and again to make one.
pub(super) async fn next_place(places: &Arc<Semaphore>, end_idlest: impl Fn() -> bool) -> OwnedSemaphorePermit {
    let mut place = std::pin::pin!(Arc::clone(places).acquire_owned());
    // It queues first, so that the place of the connection that ends becomes its own.
    let mut found = place.as_mut().now_or_never();
    while found.is_none() && !end_idlest() {
        found = timeout(AGAIN, place.as_mut()).await.ok();
    }
    match found {
        Some(place) => place.expect(OPEN),
        None => place.await.expect(OPEN),
    }
}

/// Ends the connection that has had no request for longest. False if each has a request, or ends already.
fn end_idlest(open: &[Arc<ConnectionWatch>]) -> bool {
    let mut idle: Vec<_> = open.iter().filter_map(|watch| Some((watch.idle_since()?, watch))).collect();
    idle.sort_by_key(|(since, _)| *since);
    // A request may have begun meanwhile.
    idle.into_iter().any(|(_, watch)| watch.end_if_idle())
}

#[cfg(test)]
mod tests {
    use http::Version;

    use super::super::watch::WatchLimits;
    use super::*;

    fn watch() -> Arc<ConnectionWatch> {
        let minute = Duration::from_mins(1);
        ConnectionWatch::new(WatchLimits { head: minute, idle: minute, write: minute })
    }

    async fn place(all: &ConnectionsByAddress, address: &str, watch: &Arc<ConnectionWatch>) -> Option<ConnectionPlace> {
        all.place(address.parse().unwrap(), watch, Duration::from_secs(10)).await
    }

    #[tokio::test(start_paused = true)]
    async fn the_one_that_has_been_idle_for_longest_ends_and_a_busy_one_does_not() {
        let all = ConnectionsByAddress::new(3, vec!["10.0.0.0/8".parse().unwrap()]);
        let (watches, mut places) = ([watch(), watch(), watch(), watch()], Vec::new());
        let _busy = watches[0].begin(Version::HTTP_11);
        for watch in &watches[..3] {
            tokio::time::advance(Duration::from_secs(1)).await;
            places.push(place(&all, "192.0.2.1", watch).await.unwrap());
        }
        drop(watches[1].begin(Version::HTTP_11));
        let ended = async {
            watches[2].has_stopped().await;
            drop(places.pop());
        };
        let (new, ()) = tokio::join!(place(&all, "::ffff:192.0.2.1", &watches[3]), ended);
        assert!(new.is_some());
        // Others do not wait, and a proxy has no limit.
        assert!(place(&all, "192.0.2.2", &watch()).await.is_some());
        for _ in 0..9 {
            places.push(place(&all, "10.1.1.1", &watch()).await.unwrap());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn if_all_are_busy_few_wait_and_the_others_get_no_place() {
        let all = ConnectionsByAddress::new(2, Vec::new());
        let watches = [watch(), watch()];
        let mut requests: Vec<_> = watches.iter().map(|watch| watch.begin(Version::HTTP_11)).collect();
        let mut places = Vec::new();
        for watch in &watches {
            // Addresses of IPv6 with the same first half are one client.
            places.push(place(&all, "2001:db8::1", watch).await.unwrap());
        }
        let (third, fourth) = (watch(), watch());
        let (waiting, refused, ()) =
            tokio::join!(place(&all, "2001:db8::2", &third), place(&all, "2001:db8::3", &fourth), async {
                tokio::time::sleep(Duration::from_secs(9)).await;
                requests.pop();
                watches[1].has_stopped().await;
                places.pop();
            });
        assert!(waiting.is_some() && refused.is_none());
        // Its request may be on its way.
        assert!(third.idle_since().is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(third.idle_since().is_some());
        assert_eq!(all.known.lock().unwrap().len(), 1);
    }
}
