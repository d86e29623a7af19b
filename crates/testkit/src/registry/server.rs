//! The listener: sockets, TLS, one thread with its own runtime, and connections that can be cut.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request, State};
use axum::serve::{IncomingStream, Listener};
use rustls::ServerConfig;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio_rustls::TlsAcceptor;

use super::connection::{Connection, Stream, Wire};
use super::conversation::converse;
use super::endpoint::Endpoint;

/// A stopped-on-drop server thread with any number of listeners.
#[derive(Debug)]
pub(crate) struct ServerThread {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A socket on 127.0.0.1 with a free port.
pub(crate) fn bind() -> (std::net::TcpListener, SocketAddr) {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    (listener, address)
}

impl ServerThread {
    /// Serves each endpoint on its socket until dropped.
    pub(crate) fn start(
        listeners: Vec<(std::net::TcpListener, Arc<Endpoint>)>,
        tls: Option<&Arc<ServerConfig>>,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let tls = tls.cloned();
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("the system has room for a runtime");
            runtime.block_on(async move {
                for (socket, endpoint) in listeners {
                    tokio::spawn(serve(socket, endpoint, tls.clone()));
                }
                // An error means that the handle is gone: the server stops as well.
                let _ = stopped.await;
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("testkit".to_owned()).spawn(run).expect("a thread can start");
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic in the server thread has been printed by the thread itself.
            let _ = thread.join();
        }
    }
}

async fn serve(socket: std::net::TcpListener, endpoint: Arc<Endpoint>, tls: Option<Arc<ServerConfig>>) {
    socket.set_nonblocking(true).expect("a socket can be made non-blocking");
    let socket = TcpListener::from_std(socket).expect("the socket is non-blocking");
    let (ready, accepted) = mpsc::channel(64);
    tokio::spawn(accept(socket, tls.map(TlsAcceptor::from), ready, Arc::clone(&endpoint)));
    let app = Router::new()
        .fallback(
            |State(endpoint): State<Arc<Endpoint>>,
             ConnectInfo(connection): ConnectInfo<Connection>,
             request: Request| { converse(endpoint, connection, request) },
        )
        .with_state(endpoint);
    let service = app.into_make_service_with_connect_info::<Connection>();
    axum::serve(AcceptedWires(accepted), service).await.expect("serving ends only with its runtime");
}

/// Takes connections; handshakes run side by side, so that a slow peer delays no other.
async fn accept(socket: TcpListener, tls: Option<TlsAcceptor>, ready: mpsc::Sender<Wire>, endpoint: Arc<Endpoint>) {
    loop {
        let Ok((stream, _)) = socket.accept().await else { continue };
        endpoint.rules.connected();
        // Without it small answers wait for the peer's delayed acknowledgement.
        let _ = stream.set_nodelay(true);
        let (tls, ready) = (tls.clone(), ready.clone());
        tokio::spawn(async move {
            let stream: Option<Box<dyn Stream>> = match tls {
                None => Some(Box::new(stream)),
                Some(tls) => handshake(&tls, stream).await,
            };
            if let Some(inner) = stream {
                // The receiver is gone only when the server stops.
                let _ = ready.send(Wire { inner, connection: Connection::default() }).await;
            }
        });
    }
}

async fn handshake(tls: &TlsAcceptor, mut stream: TcpStream) -> Option<Box<dyn Stream>> {
    const HANDSHAKE: u8 = 0x16;
    let mut first = [0];
    if stream.peek(&mut first).await.ok()? == 1 && first != [HANDSHAKE] {
        let refusal = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
        // The peer may be gone already; then the refusal has no reader.
        let _ = stream.write_all(refusal).await;
        return None;
    }
    Some(Box::new(tls.accept(stream).await.ok()?))
}

struct AcceptedWires(mpsc::Receiver<Wire>);

impl Listener for AcceptedWires {
    type Io = Wire;
    type Addr = Connection;

    async fn accept(&mut self) -> (Wire, Connection) {
        match self.0.recv().await {
            Some(wire) => {
                let connection = wire.connection.clone();
                (wire, connection)
            }
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Connection> {
        Ok(Connection::default())
    }
}

impl Connected<IncomingStream<'_, AcceptedWires>> for Connection {
    fn connect_info(stream: IncomingStream<'_, AcceptedWires>) -> Self {
        stream.remote_addr().clone()
    }
}
