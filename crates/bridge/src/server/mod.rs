//! Sockets, and what every request has in common: its number, its client, its limits, its line in the log.
//!
//! ```text
//! accept --TLS--> ClientConnection --hyper--> request --ServedSite--> /healthz, /readyz, /metrics
//!          limits of time and bytes               --ClientQueue--> router --CountedBody--> client
//! ```

mod access_log;
mod addresses;
mod certificates;
mod client_address;
mod client_queue;
mod connection;
mod counted_body;
mod error;
mod line_ends;
mod metrics;
mod options;
mod own_route;
mod request_record;
mod site;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tofu_oci_types::{Event, Reporter};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch as channel};
use tokio::task::JoinSet;

pub use access_log::AccessLogger;
pub use certificates::ServerCertificates;
pub use error::{CertificateFault, ServeError};
pub use options::ServerOptions;
pub use site::ServedSite;

use addresses::next_place;
use connection::ClientConnection;
use options::ListenerKind;
use site::Reception;

/// How long the loop rests after the system refuses a connection, for want of file handles as a rule.
const REST: Duration = Duration::from_millis(100);

/// A server whose sockets are open. It accepts once it serves.
pub struct Server {
    listeners: Vec<(TcpListener, ListenerKind)>,
    options: ServerOptions,
}

impl Server {
    /// Opens the sockets.
    ///
    /// # Errors
    /// If an address cannot be listened at.
    pub async fn bind(options: ServerOptions) -> Result<Self, ServeError> {
        let mut listeners = Vec::new();
        let sites = options.listen.iter().map(|address| (*address, ListenerKind::Site));
        for (address, kind) in sites.chain(options.listen_metrics.map(|address| (address, ListenerKind::Metrics))) {
            let listener = TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })?;
            listeners.push((listener, kind));
        }
        Ok(Self { listeners, options })
    }

    /// Where clients are accepted, with the ports that the system chose.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.bound(ListenerKind::Site)
    }

    /// Where `/metrics` is answered.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.bound(ListenerKind::Metrics).first().copied()
    }

    fn bound(&self, wanted: ListenerKind) -> Vec<SocketAddr> {
        let listeners = self.listeners.iter().filter(|(_, kind)| *kind == wanted);
        listeners.filter_map(|(listener, _)| listener.local_addr().ok()).collect()
    }

    /// Serves until it is stopped. Then no connection is accepted, and the requests under way may finish within `grace`.
    pub async fn serve(self, site: ServedSite, stop: impl Future<Output = ()>) {
        let Self { listeners, options } = self;
        let (stopping, stopped) = channel::channel(false);
        let limits = options.limits.clone();
        let reception = Arc::new(Reception::new(site, &options));
        let reload = options.certificates.clone().map(|certificates| {
            let reporter = Arc::clone(&options.reporter);
            tokio::spawn(async move { certificates.watch(&*reporter).await })
        });
        let free = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
        let mut accepting = JoinSet::new();
        for (listener, kind) in listeners {
            let accepted = Accepting {
                listener,
                kind,
                certificates: options.certificates.clone().filter(|_| kind == ListenerKind::Site),
                reception: Arc::clone(&reception),
                free: Arc::clone(&free),
                stopped: stopped.clone(),
                reporter: Arc::clone(&options.reporter),
            };
            accepting.spawn(accepted.run());
        }
        stop.await;
        let under_way = format!("stopping: {} requests are under way", reception.in_flight());
        options.reporter.event(&Event::note("stopping", under_way));
        reception.stop();
        stopping.send_replace(true);
        if tokio::time::timeout(options.grace, async { while accepting.join_next().await.is_some() {} }).await.is_err()
        {
            let left = reception.in_flight();
            let text =
                format!("{left} requests were cut off, since they did not end within {} s", options.grace.as_secs());
            options.reporter.event(&Event::warning("requests-cut-off", text));
        }
        accepting.shutdown().await;
        if let Some(reload) = reload {
            reload.abort();
        }
        options.log.flush();
    }
}

/// One socket that accepts.
struct Accepting {
    listener: TcpListener,
    kind: ListenerKind,
    certificates: Option<Arc<ServerCertificates>>,
    reception: Arc<Reception>,
    free: Arc<Semaphore>,
    stopped: channel::Receiver<bool>,
    reporter: Arc<dyn Reporter>,
}

impl Accepting {
    /// Accepts until the server stops, and ends when the last connection has.
    async fn run(mut self) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = self.stopped.wait_for(|stopped| *stopped) => break,
                Some(_) = connections.join_next() => continue,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    self.reporter.event(&Event::warning("accept-failed", format!("a connection was lost: {error}")));
                    tokio::time::sleep(REST).await;
                    continue;
                }
            };
            // `/metrics` needs no place, so it answers when all are taken.
            let place = match self.kind {
                ListenerKind::Site => tokio::select! {
                    place = next_place(&self.free, || self.reception.addresses.end_idlest()) => Some(place),
                    _ = self.stopped.wait_for(|stopped| *stopped) => break,
                },
                ListenerKind::Metrics => None,
            };
            let connection = ClientConnection {
                peer,
                kind: self.kind,
                reception: Arc::clone(&self.reception),
                stopped: self.stopped.clone(),
            };
            let certificates = self.certificates.clone();
            connections.spawn(async move {
                connection.run(stream, certificates.as_deref()).await;
                drop(place);
            });
        }
        // The port is free for the next process before the last request has ended.
        drop(self.listener);
        while connections.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests;
