//! Whether a program on this machine speaks TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long a program on this machine may take to answer a greeting.
const PATIENCE: Duration = Duration::from_secs(3);

/// The first byte of a TLS record: an alert or a handshake message.
///
/// Spec: RFC 8446, section 5.1.
const TLS_RECORDS: [u8; 2] = [21, 22];

/// Greets as a TLS client and looks at the first byte of the answer. Certificates play no part in it, so a
/// certificate that is not trusted never makes us speak plain HTTP.
///
/// # Errors
/// If no connection comes about.
pub async fn speaks_tls(host: &str, port: u16) -> io::Result<bool> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut stream = tokio::time::timeout(PATIENCE, TcpStream::connect((host, port)))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let mut greeting = client_hello(host)?;
    // A server that reads lines would wait for the end of the line.
    greeting.extend_from_slice(b"\r\n\r\n");
    let mut first = [0_u8; 1];
    let asked = async {
        stream.write_all(&greeting).await?;
        stream.read(&mut first).await
    };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(1)) => Ok(TLS_RECORDS.contains(&first[0])),
        _ => Ok(false),
    }
}

fn client_hello(host: &str) -> io::Result<Vec<u8>> {
    let config = ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut greeting = Vec::new();
    connection.write_tls(&mut greeting)?;
    Ok(greeting)
}
