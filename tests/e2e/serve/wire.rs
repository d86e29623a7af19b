//! A plain HTTP/1.1 client with nothing clever in it: what is sent is what a test wrote.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Whether the body is as long as the answer had promised.
    pub(super) is_whole: bool,
}

impl Got {
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// One request on a connection of its own, and its answer.
#[track_caller]
pub(super) fn send(port: u16, method: &str, path: &str, headers: &[(&str, &str)]) -> Got {
    read(begin(port, method, path, headers), method)
}

/// The request alone; the answer is still to be read.
#[track_caller]
pub(super) fn begin(port: u16, method: &str, path: &str, headers: &[(&str, &str)]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the bridge listens");
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Host")) {
        head += &format!("Host: 127.0.0.1:{port}\r\n");
    }
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all((head + "\r\n").as_bytes()).expect("the bridge reads");
    stream
}

/// The answer to a request.
#[track_caller]
pub(super) fn read(mut stream: TcpStream, method: &str) -> Got {
    let mut bytes = Vec::new();
    let ended_well = stream.read_to_end(&mut bytes).is_ok();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer, but {:?}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|text| text.parse().ok());
    let headers = lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.into(), value.into()));
    let mut got = Got {
        status: status.expect("a status line"),
        headers: headers.collect(),
        body: bytes[end + 4..].to_vec(),
        is_whole: ended_well,
    };
    let length: Option<usize> = got.header("Content-Length").parse().ok();
    got.is_whole &= method == "HEAD" || length.is_some_and(|length| length == got.body.len());
    got
}
