//! A server on a socket of this machine, and clients that write their bytes themselves.

mod refusing;
mod running;
mod stopping;

use std::convert::Infallible;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use tofu_oci_types::{Event, Reporter};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::{AccessLogger, ServedSite, Server, ServerOptions};
use crate::counts::Counts;
use crate::{FailureReason, Refusal, RefusalCode, ServerLimits};

/// A free port of this machine.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server that runs, with some routes: `/hello`, `/panic`, those that fail, `/gated`, which waits in the middle of its body, …
struct RunningServer {
    address: SocketAddr,
    metrics: Option<SocketAddr>,
    counts: Counts,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    /// Opens the gate of `/gated`.
    gate: Arc<Notify>,
    /// Hears when the body of `/endless` is dropped.
    ended: Arc<Notify>,
    heard: Arc<HeardCodes>,
    log: WrittenLog,
}

/// The codes of what a server reports.
#[derive(Default)]
struct HeardCodes(Mutex<Vec<&'static str>>);

impl Reporter for HeardCodes {
    fn event(&self, event: &Event) {
        if let Event::Message { code, .. } = event {
            self.0.lock().unwrap().push(code);
        }
    }
}

/// An access log in memory.
#[derive(Clone, Default)]
struct WrittenLog(Arc<Mutex<Vec<u8>>>);

impl Write for WrittenLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Says when it is dropped.
struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// The answer of a route whose place fails.
fn failing() -> Response {
    let mut response = (StatusCode::BAD_GATEWAY, "no").into_response();
    let reason = "acme/zap cannot be read:\nhttps://ci:s3cret@h.example/v2/?token=t0ken answered 500 \u{1b}[1m";
    response.extensions_mut().insert(RefusalCode("server-error"));
    response.extensions_mut().insert(FailureReason(reason.to_owned()));
    response
}

fn a_bug() -> &'static str {
    panic!("a bug of a route")
}

/// The answer to a client whose place failed.
fn failed() -> axum::response::Response {
    let address = "example.com/acme/zap".parse::<tofu_oci_types::ProviderAddr>().unwrap().into();
    let detail = Some("cannot write /srv/zips: No space left on device".to_owned());
    let refusal = Refusal::Upstream { address, code: "io", reason: "it has no room".to_owned(), detail };
    let mut response = axum::response::Response::new(Body::from(refusal.to_string()));
    *response.status_mut() = http::StatusCode::BAD_GATEWAY;
    refusal.note_in(&mut response);
    response
}

fn routes(gate: &Arc<Notify>, ended: &Arc<Notify>) -> Router {
    let (gate, ended) = (Arc::clone(gate), Arc::clone(ended));
    let gated = move || async move {
        let first = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"begin "))]);
        let last = async move {
            gate.notified().await;
            Ok(Bytes::from_static(b"end"))
        };
        Body::from_stream(first.chain(stream::once(last)))
    };
    let endless = move || async move {
        let guard = OnDrop(ended);
        Body::from_stream(stream::repeat_with(move || {
            let _guard = &guard;
            Ok::<_, Infallible>(Bytes::from(vec![b'x'; 64 << 10]))
        }))
    };
    let sized = || async {
        let pieces = stream::iter(["begin ", "end"].map(|piece| Ok::<_, Infallible>(Bytes::from(piece))));
        ([(http::header::CONTENT_LENGTH, "9")], Body::from_stream(pieces))
    };
    Router::new()
        .route("/hello", get(|| async { "hello" }))
        .route("/sized", get(sized))
        .route("/panic", get(|| async { a_bug() }))
        .route("/failed", get(|| async { failed() }))
        .route("/failing", get(|| async { failing() }))
        .route("/unexplained", get(|| async { StatusCode::INSUFFICIENT_STORAGE }))
        .route("/gated", get(gated))
        .route("/endless", get(endless))
}

impl RunningServer {
    async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// With options that `change` has changed.
    async fn with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let (gate, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (heard, log) = (Arc::new(HeardCodes::default()), WrittenLog::default());
        let mut options = ServerOptions {
            listen: vec![LOOPBACK],
            listen_metrics: None,
            certificates: None,
            limits: ServerLimits::default(),
            proxies: Vec::new(),
            grace: Duration::from_secs(30),
            log: AccessLogger::to(Box::new(log.clone())),
            reporter: Arc::<HeardCodes>::clone(&heard),
        };
        change(&mut options);
        let server = Server::bind(options).await.unwrap();
        let (address, metrics) = (server.addresses()[0], server.metrics_address());
        let counts = Counts::default();
        let site = ServedSite {
            router: routes(&gate, &ended),
            base: "http://bridge.example/".parse().unwrap(),
            client: Arc::new(|_| None),
            counts: counts.clone(),
            kept_bytes: Arc::new(|| 70_000),
        };
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve(site, async { drop(stopped.await) }));
        Self { address, metrics, counts, stop, serving, gate, ended, heard, log }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Everything that the server answers to these bytes until it closes the connection.
    async fn answers(&self, bytes: &str) -> String {
        answer_of(self.address, bytes).await
    }

    /// The answer to a request for this path, with these lines in its head.
    async fn get(&self, path: &str, lines: &str) -> String {
        self.answers(&request_for(path, lines)).await
    }

    /// Stops the server, and returns the lines of its log and the codes of what it reported.
    async fn stop(self) -> (Vec<serde_json::Value>, Vec<&'static str>) {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap();
        let written = String::from_utf8(self.log.0.lock().unwrap().clone()).unwrap();
        let lines = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let heard = self.heard.0.lock().unwrap().clone();
        (lines, heard)
    }
}

/// A request for this path, with these lines in its head.
fn request_for(path: &str, lines: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{lines}\r\n")
}

/// Everything that is answered at an address to these bytes until the connection ends.
async fn answer_of(address: SocketAddr, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before it has all of them.
    let _ = stream.write_all(bytes.as_bytes()).await;
    rest_of(&mut stream).await
}

/// What comes until the connection ends, in whatever way it does.
async fn rest_of(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// Reads until the answer so far ends with this text.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut answer = String::new();
    while !answer.ends_with(end) {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.unwrap();
        assert_ne!(count, 0, "the connection ended after {answer:?}");
        answer.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    answer
}
