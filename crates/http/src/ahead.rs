//! Connections that are made before a request needs them.
//!
//! ```text
//! make ----> a call without a request: its connection goes to the shelf, and the call ends
//! request -> an idle connection of the pool, else one from the shelf (perhaps still on its way), else a new one
//! ```
//!
//! A request over a new connection costs one more round trip, and two more with TLS. Several requests that go out at
//! once each take a connection of their own (HTTP/1.1), so a job that knows that they will come has them made meanwhile.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use reqwest::{Client, Method, Request, Response, Version};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tower::{BoxError, Layer, Service};
use url::Url;

/// How long a connection may wait for its first request. Servers close those that stay silent.
const FRESH: Duration = Duration::from_secs(5);

/// Most connections to one origin that wait for a request.
const MOST: usize = 64;

tokio::task_local! {
    /// What the connection is for that the client makes in this task.
    static PURPOSE: ConnectionPurpose;
}

/// Scheme, host and port.
type ConnectionOrigin = (String, String, u16);

/// A connection of the client, whose type has no name outside it.
type AnyConnection = Box<dyn Any + Send>;

#[derive(Clone)]
enum ConnectionPurpose {
    Request(ConnectionOrigin),
    Shelf(Arc<Mutex<Option<ShelfSender>>>),
}

/// The connections that wait for a request, by origin. Clones are the same shelf.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<HashMap<ConnectionOrigin, VecDeque<Preconnect>>>>);

/// Where a connection for the shelf goes.
type ShelfSender = oneshot::Sender<(AnyConnection, Instant)>;

/// A connection that is there, or on its way.
type Preconnect = oneshot::Receiver<(AnyConnection, Instant)>;

fn origin(url: &Url) -> Option<ConnectionOrigin> {
    Some((url.scheme().to_owned(), url.host_str()?.to_owned(), url.port_or_known_default()?))
}

impl Shelf {
    /// Makes connections for requests to an address that will come soon. It does not wait for them, and a connection that
    /// cannot be made is no error here: the request makes its own, and fails with its own error.
    pub(crate) fn make(&self, client: &Client, url: &Url, count: usize) {
        let (Some(origin), Ok(runtime)) = (origin(url), tokio::runtime::Handle::try_current()) else { return };
        let room = MOST.saturating_sub(self.all().get(&origin).map_or(0, VecDeque::len));
        for _ in 0..count.min(room) {
            let (made, awaited) = oneshot::channel();
            self.all().entry(origin.clone()).or_default().push_back(awaited);
            let purpose = ConnectionPurpose::Shelf(Arc::new(Mutex::new(Some(made))));
            // Nothing is ever sent: the call for the shelf ends with an error, and a pooled connection of HTTP/1.1 takes
            // no request of HTTP/2.
            let mut never_sent = Request::new(Method::GET, url.clone());
            *never_sent.version_mut() = Version::HTTP_2;
            let client = client.clone();
            runtime.spawn(PURPOSE.scope(purpose, async move { drop(client.execute(never_sent).await) }));
        }
    }

    /// Forgets the connections to an origin: no request will need them.
    pub(crate) fn clear(&self, url: &Url) {
        if let Some(origin) = origin(url) {
            self.all().remove(&origin);
        }
    }

    /// Sends a request, over a connection from the shelf if the pool has none.
    pub(crate) async fn execute(client: &Client, request: Request) -> Result<Response, reqwest::Error> {
        match origin(request.url()) {
            Some(origin) => PURPOSE.scope(ConnectionPurpose::Request(origin), client.execute(request)).await,
            None => client.execute(request).await,
        }
    }

    fn take(&self, origin: &ConnectionOrigin) -> Option<Preconnect> {
        self.all().get_mut(origin)?.pop_front()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<ConnectionOrigin, VecDeque<Preconnect>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Layer<S> for Shelf {
    type Service = ShelfConnector<S>;

    fn layer(&self, inner: S) -> ShelfConnector<S> {
        ShelfConnector { inner, shelf: self.clone() }
    }
}

/// The client's connector, with the shelf beside it.
#[derive(Clone)]
pub(crate) struct ShelfConnector<S> {
    inner: S,
    shelf: Shelf,
}

impl<S, Target> Service<Target> for ShelfConnector<S>
where
    S: Service<Target, Error = BoxError> + Clone + Send + 'static,
    S::Response: Send + 'static,
    S::Future: Send + 'static,
    Target: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        // The one that was polled is ready, its clone need not be.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let waiting = self.shelf.clone();
        match PURPOSE.try_with(Clone::clone) {
            Ok(ConnectionPurpose::Request(origin)) => Box::pin(async move {
                while let Some(awaited) = waiting.take(&origin) {
                    if let Ok((connection, since)) = awaited.await
                        && since.elapsed() < FRESH
                        && let Ok(connection) = connection.downcast::<S::Response>()
                    {
                        return Ok(*connection);
                    }
                }
                inner.call(target).await
            }),
            Ok(ConnectionPurpose::Shelf(made)) => Box::pin(async move {
                let connection = inner.call(target).await?;
                let made = made.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(made) = made {
                    // The shelf may have been cleared; then the connection ends.
                    let _ = made.send((Box::new(connection), Instant::now()));
                }
                Err("the connection was made ahead of its request".into())
            }),
            Err(_) => Box::pin(inner.call(target)),
        }
    }
}
