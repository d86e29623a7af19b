//! What happens to requests when a server stops.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::{RunningServer, read_until, rest_of};

const GATED: &[u8] = b"GET /gated HTTP/1.1\r\nHost: x\r\n\r\n";

#[tokio::test]
async fn a_download_under_way_ends_before_the_server_does() {
    let server = RunningServer::new().await;
    let mut stream = server.connect().await;
    stream.write_all(GATED).await.unwrap();
    read_until(&mut stream, "begin \r\n").await;
    let (gate, address) = (server.gate.clone(), server.address);
    let stopped = tokio::spawn(server.stop());
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    gate.notify_one();
    assert!(rest_of(&mut stream).await.contains("end"));
    let (lines, heard) = stopped.await.unwrap();
    assert_eq!((heard, lines.len()), (vec!["stopping"], 1), "{lines:?}");
    assert_eq!((&lines[0]["bytes"], lines[0].get("broken")), (&9.into(), None));
}

#[tokio::test]
async fn a_download_that_outlasts_the_grace_is_cut_off_and_reported() {
    let server = RunningServer::with(|options| options.grace = Duration::from_millis(50)).await;
    let mut stream = server.connect().await;
    stream.write_all(GATED).await.unwrap();
    read_until(&mut stream, "begin \r\n").await;
    let (lines, heard) = server.stop().await;
    assert_eq!(heard, ["stopping", "requests-cut-off"]);
    assert_eq!(lines[0]["broken"], true, "{lines:?}");
    assert!(!rest_of(&mut stream).await.contains("end"));
}
