//! Lines of HTTP/1 that end without a carriage return.
//!
//! The parser takes them, and some proxies do not: two programs would see two requests. No route takes a body, so that every
//! byte of HTTP/1 belongs to the head of a request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What HTTP/2 begins with. It has no lines.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What the parser refuses wherever it stands.
const REFUSED: u8 = 0;

/// A stream in which a bare line feed becomes a byte that no request may have.
pub(super) struct StrictLines<S> {
    stream: S,
    /// How many bytes of HTTP/2's preface have come; `None` once another byte has.
    preface: Option<usize>,
    last: u8,
}

impl<S> StrictLines<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, preface: Some(0), last: 0 }
    }

    fn read(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if let Some(at) = self.preface {
                if at == HTTP2_PREFACE.len() {
                    return;
                }
                self.preface = (HTTP2_PREFACE[at] == *byte).then_some(at + 1);
            }
            if *byte == b'\n' && self.last != b'\r' {
                *byte = REFUSED;
            }
            self.last = *byte;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictLines<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.read(&mut buf.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StrictLines<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], want: &str) {
        let mut lines = StrictLines::new(());
        let mut got = Vec::new();
        for piece in pieces {
            let mut bytes = piece.as_bytes().to_vec();
            lines.read(&mut bytes);
            got.extend(bytes);
        }
        assert_eq!(String::from_utf8(got).unwrap(), want);
    }

    #[test]
    fn a_line_feed_needs_a_carriage_return_before_it() {
        check(&["GET / HTTP/1.1\r\nA: b\r\n\r\n"], "GET / HTTP/1.1\r\nA: b\r\n\r\n");
        check(&["GET / HTTP/1.1\r", "\nA: b\r\n\r\n"], "GET / HTTP/1.1\r\nA: b\r\n\r\n");
        check(&["GET / HTTP/1.1\nA: b\r\n"], "GET / HTTP/1.1\0A: b\r\n");
        check(&["\nGET /"], "\0GET /");
        check(&["PRI * HTTP/2.0\n"], "PRI * HTTP/2.0\0");
    }

    #[test]
    fn http_2_has_no_lines() {
        check(&["PRI * HTTP/2.0\r\n\r\nSM", "\r\n\r\n\n\n\n"], "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n\n\n");
    }
}
