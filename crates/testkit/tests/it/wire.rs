//! A plain HTTP/1.1 client with nothing clever in it, so that the tests see what is on the wire.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// An answer; `whole` is false when the connection ended early.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) whole: bool,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// One request on a connection of its own. The target may be a path or a whole URL. `None`: no answer came.
pub(crate) fn send(address: &str, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Reply> {
    let (address, target) = split(address, target);
    converse(TcpStream::connect(&address).unwrap(), &address, method, &target, headers, body)
}

/// The same over TLS.
pub(crate) fn send_tls(
    address: &str,
    ca: &str,
    identity: Option<&str>,
    target: &str,
    headers: &[(&str, &str)],
) -> Option<Reply> {
    let (address, target) = split(address, target);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let chain = vec![CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()];
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap()
        }
    };
    let connection = ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let stream = StreamOwned::new(connection, TcpStream::connect(&address).unwrap());
    converse(stream, &address, "GET", &target, headers, b"")
}

fn split(address: &str, target: &str) -> (String, String) {
    match target.split_once("://") {
        None => (address.to_owned(), target.to_owned()),
        Some((_, rest)) => {
            let slash = rest.find('/').unwrap();
            (rest[..slash].to_owned(), rest[slash..].to_owned())
        }
    }
}

fn converse(
    mut stream: impl Read + Write,
    address: &str,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Reply> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.extend(["Content-Length: ", &body.len().to_string(), "\r\n\r\n"]);
    stream.write_all(head.as_bytes()).ok()?;
    // A server may refuse before it has read everything; its answer counts.
    let _ = stream.write_all(body).and_then(|()| stream.flush());
    let mut bytes = Vec::new();
    let clean = stream.read_to_end(&mut bytes).is_ok();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut reply = Reply { status, headers, body: bytes[end + 4..].to_vec(), whole: clean };
    let length: Option<usize> = reply.header("Content-Length").parse().ok();
    reply.whole &= method == "HEAD" || length.is_none_or(|length| length == reply.body.len());
    Some(reply)
}

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// POST and PUT of one blob with these headers on both; gives the status of the PUT.
pub(crate) fn push_blob(address: &str, repository: &str, bytes: &[u8], headers: &[(&str, &str)]) -> u16 {
    let begun = send(address, "POST", &format!("/v2/{repository}/blobs/uploads/"), headers, b"").unwrap();
    assert_eq!(begun.status, 202, "{}", begun.text());
    let digest = tofu_oci_types::Digest::sha256(bytes);
    let location = format!("{}&digest={digest}", begun.header("Location"));
    send(address, "PUT", &location, headers, bytes).unwrap().status
}
