//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch as channel;

use super::certificates::ServerCertificates;
use super::line_ends::StrictLines;
use super::options::ListenerKind;
use super::site::Reception;
use super::watch::{ConnectionWatch, WatchLimits, WatchedIo};

/// What a TLS connection begins with.
const TLS_HANDSHAKE: u8 = 22;

/// The answer to a request in clear text where TLS is spoken.
const CLEAR_TEXT: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\
                          content-length: 67\r\n\r\nthis port speaks TLS: write https:// where the URL now has http://\n";

/// How often a connection of HTTP/2 is asked whether it is alive, and how long it may take to answer.
const PING: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));

/// A connection that was accepted.
pub(super) struct ClientConnection {
    pub(super) peer: SocketAddr,
    pub(super) kind: ListenerKind,
    pub(super) reception: Arc<Reception>,
    pub(super) stopped: channel::Receiver<bool>,
}

impl ClientConnection {
    /// Serves its requests. A fault of the client ends the connection and is not reported.
    pub(super) async fn run(self, mut stream: TcpStream, certificates: Option<&ServerCertificates>) {
        let _ = stream.set_nodelay(true);
        let limits = &self.reception.limits;
        let times = WatchLimits { head: limits.header_timeout, idle: limits.idle_timeout, write: limits.write_timeout };
        let (watch, patience) = (ConnectionWatch::new(times), limits.header_timeout);
        let Some(_place) = self.reception.addresses.place(self.peer.ip(), &watch, patience).await else { return };
        watch.opened();
        let Some(certificates) = certificates else { return self.serve(stream, watch).await };
        let handshake = async {
            let mut first = [0];
            if stream.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
                stream.write_all(CLEAR_TEXT.as_bytes()).await?;
                stream.shutdown().await?;
                return Ok(None);
            }
            certificates.acceptor().accept(stream).await.map(Some)
        };
        let shaken = tokio::select! {
            shaken = tokio::time::timeout(patience, handshake) => shaken,
            () = watch.makes_room() => return,
        };
        if let Ok(Ok::<_, std::io::Error>(Some(stream))) = shaken {
            watch.opened();
            self.serve(stream, watch).await;
        }
    }

    async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self, stream: S, watch: Arc<ConnectionWatch>) {
        let Self { peer, kind, reception, mut stopped } = self;
        let builder = builder(&reception);
        let io = TokioIo::new(StrictLines::new(WatchedIo { stream, watch: Arc::clone(&watch) }));
        let _open = reception.metrics.connection();
        let service = service_fn(|request| {
            let (reception, in_flight) = (Arc::clone(&reception), watch.begin(request.version()));
            async move { Ok::<_, Infallible>(reception.answer(request, peer, kind, in_flight).await) }
        });
        let mut connection = std::pin::pin!(builder.serve_connection(io, service));
        tokio::select! {
            _ = connection.as_mut() => return,
            () = watch.has_stopped() => return,
            _ = stopped.wait_for(|stopped| *stopped) => connection.as_mut().graceful_shutdown(),
        }
        tokio::select! {
            _ = connection => {}
            () = watch.has_stopped() => {}
        }
    }
}

fn builder(reception: &Reception) -> Builder<TokioExecutor> {
    let limits = &reception.limits;
    let header_bytes = u32::try_from(limits.header_bytes).unwrap_or(u32::MAX);
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(limits.header_bytes);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(header_bytes)
        .keep_alive_interval(PING.0)
        .keep_alive_timeout(PING.1);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_in_clear_text_has_the_length_that_it_says() {
        let (head, body) = CLEAR_TEXT.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
