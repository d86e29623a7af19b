//! A server that answers what a closure says, over plain HTTP or TLS, and writes down what it was asked.

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use tofu_oci_types::{Digest, DigestHasher};

use crate::support::pieces;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// What came instead, where the reply wanted it weighed and not kept.
    pub(crate) weighed: Option<Weighed>,
}

/// A body that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Weighed {
    pub(crate) size: u64,
    pub(crate) digest: Digest,
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn host(&self) -> &str {
        self.header("host").unwrap_or_default()
    }
}

/// What is answered.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// After so many bytes of the body the connection is closed.
    cut: Option<usize>,
    /// The connection is closed before anything is answered.
    silent: bool,
    /// Nothing is answered, and the connection stays.
    stalled: bool,
    /// The answer says nothing of its length, has no end, and the connection stays.
    endless: bool,
    /// The request's body is not read.
    unread: bool,
    /// So much of the request's body is read and not kept; less than all of it ends the connection.
    weigh: Option<u64>,
    /// The body is this part of what `generated` gives.
    generated: Option<Range<u64>>,
}

pub(crate) fn reply(status: u16) -> Reply {
    Reply { status, ..Reply::default() }
}

/// No answer at all: the connection is closed.
pub(crate) fn hang_up() -> Reply {
    Reply { silent: true, ..Reply::default() }
}

/// Nobody answers, and nobody hangs up.
pub(crate) fn stall() -> Reply {
    Reply { stalled: true, ..Reply::default() }
}

impl Reply {
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Only the first bytes of the body, as if they were all.
    pub(crate) fn shortened(mut self, length: usize) -> Self {
        self.body.truncate(length);
        self
    }

    pub(crate) fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    /// The body, and behind it neither an end nor the end of the connection.
    pub(crate) fn endless(mut self) -> Self {
        self.endless = true;
        self
    }

    /// Whether it is settled what becomes of the request's body.
    pub(crate) fn takes_body(&self) -> bool {
        self.unread || self.weigh.is_some()
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Takes the request's body in without keeping it. The handler is not asked a second time then.
    pub(crate) fn weigh(mut self, most: u64) -> Self {
        self.weigh = Some(most);
        self
    }

    pub(crate) fn generated(mut self, range: Range<u64>) -> Self {
        self.generated = Some(range);
        self
    }

    pub(crate) fn unread(mut self) -> Self {
        self.unread = true;
        self
    }

    /// An error as registries write it.
    pub(crate) fn error(self, code: &str, message: &str) -> Self {
        self.header("content-type", "application/json")
            .body(format!(r#"{{"errors":[{{"code":"{code}","message":"{message}"}}]}}"#))
    }
}

type Handler = dyn Fn(&Request, usize) -> Reply + Send + Sync;

/// Lives until the process ends; each connection has a thread.
pub(crate) struct Server {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `handler` gets the request and how many of the same method and path there were before it.
    pub(crate) fn start(handler: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_tls(None, handler)
    }

    pub(crate) fn with_tls(
        tls: Option<Arc<rustls::ServerConfig>>,
        handler: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let server = Self { address, log: Arc::clone(&log) };
        let handler: Arc<Handler> = Arc::new(handler);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Without it the second part of an answer waits for the client's delayed acknowledgement.
                let _ = stream.set_nodelay(true);
                let (handler, log, tls) = (Arc::clone(&handler), Arc::clone(&log), tls.clone());
                std::thread::spawn(move || connection(stream, tls, &handler, &log));
            }
        });
        server
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }

    /// Method and target of each request.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().iter().map(Request::line).collect()
    }

    /// Forgets what was asked until now.
    pub(crate) fn forget(&self) {
        self.log.lock().unwrap().clear();
    }
}

fn connection(
    stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    handler: &Arc<Handler>,
    log: &Mutex<Vec<Request>>,
) {
    match tls {
        None => serve(stream, handler, log),
        Some(config) => {
            let connection = rustls::ServerConnection::new(config).unwrap();
            serve(rustls::StreamOwned::new(connection, stream), handler, log);
        }
    }
}

fn serve(stream: impl Read + Write, handler: &Arc<Handler>, log: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    while let Some(mut request) = head(&mut reader) {
        let length: usize = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let before = {
            let log = log.lock().unwrap();
            log.iter().filter(|known| known.method == request.method && known.path() == request.path()).count()
        };
        let early = handler(&request, before);
        let mut broken_off = early.unread;
        if let Some(most) = early.weigh {
            request.weighed = Some(weigh(&mut reader, most.min(length as u64)));
            broken_off = most < length as u64;
        } else if !early.unread {
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_err() {
                log.lock().unwrap().push(request);
                return;
            }
            request.body = body;
        }
        let reply = if length > 0 && !broken_off && early.weigh.is_none() { handler(&request, before) } else { early };
        let head_only = request.method == "HEAD";
        log.lock().unwrap().push(request);
        if reply.stalled {
            // Ends when the client has enough of it.
            let _ = reader.read_to_end(&mut Vec::new());
            return;
        }
        if reply.endless {
            let _ = answer(reader.get_mut(), &reply, head_only);
            let _ = reader.read_to_end(&mut Vec::new());
            return;
        }
        if reply.silent || answer(reader.get_mut(), &reply, head_only).is_err() || reply.cut.is_some() || broken_off {
            return;
        }
    }
}

fn weigh(reader: &mut impl Read, size: u64) -> Weighed {
    let (mut hasher, mut left) = (DigestHasher::sha256(), reader.take(size));
    let (mut buffer, mut size) = (vec![0; 256 * 1024], 0);
    while let Ok(count @ 1..) = left.read(&mut buffer) {
        hasher.update(&buffer[..count]);
        size += count as u64;
    }
    Weighed { size, digest: hasher.finish() }
}

fn head(reader: &mut impl std::io::BufRead) -> Option<Request> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1") {
        return None;
    }
    let mut request = Request {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: HashMap::new(),
        body: Vec::new(),
        weighed: None,
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Some(request) };
        request.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

fn answer(stream: &mut impl Write, reply: &Reply, head_only: bool) -> std::io::Result<()> {
    let mut head = Vec::new();
    write!(head, "HTTP/1.1 {} x\r\n", reply.status)?;
    let length = reply.generated.as_ref().map_or(reply.body.len() as u64, |range| range.end - range.start);
    let has_length = reply.headers.iter().any(|(name, _)| name == "content-length" || name == "transfer-encoding");
    if !has_length && reply.status != 204 && !reply.endless {
        write!(head, "content-length: {length}\r\n")?;
    }
    for (name, value) in &reply.headers {
        write!(head, "{name}: {value}\r\n")?;
    }
    head.extend_from_slice(b"\r\n");
    stream.write_all(&head)?;
    if let Some(range) = reply.generated.clone().filter(|_| !head_only) {
        let end = reply.cut.map_or(range.end, |cut| range.start + cut as u64);
        pieces(range.start..end).try_for_each(|piece| stream.write_all(piece))?;
    } else if !head_only {
        let end = reply.cut.unwrap_or(reply.body.len()).min(reply.body.len());
        stream.write_all(&reply.body[..end])?;
    }
    stream.flush()
}
