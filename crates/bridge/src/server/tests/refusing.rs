//! Requests that a careful server does not take.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use super::{RunningServer, read_until, rest_of};

/// A request that must not be seen behind another one.
const SMUGGLED: &str = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";

#[track_caller]
fn check(answer: &str, status: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
}

#[tokio::test]
async fn a_request_of_two_readings_is_refused_and_ends_its_connection() {
    let server = RunningServer::new().await;
    let of = |lines: &str| format!("GET /hello HTTP/1.1\r\nHost: x\r\n{lines}\r\n{SMUGGLED}");
    check(&server.answers(&of("Content-Length: 5\r\n")).await, 413);
    check(&server.answers(&of("Transfer-Encoding: chunked\r\n")).await, 413);
    check(&server.answers(&of("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")).await, 413);
    check(&server.answers(&of("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")).await, 413);
    check(&server.answers(&of("Content-Length: 5\r\nContent-Length: 6\r\n")).await, 400);
    check(&server.answers(&of("Content-Length: +5\r\n")).await, 400);
    check(&server.answers(&of("Transfer-Encoding: identity\r\n")).await, 400);
    check(&server.answers(&of("A: b\r\n c\r\n")).await, 400);
    check(&server.answers(&of("A : b\r\n")).await, 400);
    check(&server.answers(&of("A: b\nC: d\r\n")).await, 400);
    check(&server.answers(&of("A: b\0\r\n")).await, 400);
}

#[tokio::test]
async fn a_header_of_a_megabyte_is_refused_and_the_server_lives() {
    let server = RunningServer::new().await;
    let mut stream = server.connect().await;
    let (mut reading, mut writing) = stream.split();
    // The server does not read all of it.
    let head = format!("GET /hello HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(1 << 20));
    let write = async { drop(writing.write_all(head.as_bytes()).await) };
    let mut first = [0; 12];
    let read = tokio::io::AsyncReadExt::read(&mut reading, &mut first);
    let (read, ()) = tokio::join!(read, write);
    if read.is_ok_and(|count| count == first.len()) {
        assert_eq!(std::str::from_utf8(&first).unwrap(), "HTTP/1.1 431");
    }
    assert!(server.get("/hello", "").await.ends_with("\r\n\r\nhello"));
}

#[tokio::test]
async fn a_client_that_does_not_go_on_loses_its_connection() {
    let short = Duration::from_millis(50);
    let server = RunningServer::with(|options| options.limits.header_timeout = short).await;
    assert_eq!(server.answers("GET /hel").await, "");

    let server = RunningServer::with(|options| options.limits.idle_timeout = short).await;
    assert_eq!(server.answers("").await, "");
    let answer = server.answers(SMUGGLED).await;
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");

    let server = RunningServer::with(|options| options.limits.write_timeout = short).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    server.ended.notified().await;
    let (lines, _) = server.stop().await;
    assert_eq!(lines[0]["broken"], true, "{lines:?}");
}

#[tokio::test]
async fn a_connection_too_many_waits_until_another_has_ended() {
    let server = RunningServer::with(|options| options.limits.connections = 1).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /gated HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut second = server.connect().await;
    second.write_all(SMUGGLED.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(Duration::from_millis(100), second.peek(&mut byte)).await;
    assert!(early.is_err(), "the second connection was answered beside the first");
    server.gate.notify_one();
    assert!(rest_of(&mut second).await.ends_with("\r\n\r\nhello"));
}

/// A client at another address of this machine.
#[cfg(target_os = "linux")]
async fn connect_from(server: &RunningServer, address: &str) -> tokio::net::TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(format!("{address}:0").parse().unwrap()).unwrap();
    socket.connect(server.address).await.unwrap()
}

#[cfg(target_os = "linux")]
async fn another_client(server: &RunningServer, bytes: &str) -> String {
    let mut stream = connect_from(server, "127.0.0.2").await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    rest_of(&mut stream).await
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn idle_connections_of_several_addresses_delayed_everyone() {
    let server = RunningServer::with(|options| options.limits.connections = 4).await;
    let mut idle = Vec::new();
    for address in ["127.0.0.3", "127.0.0.4", "127.0.0.5"] {
        for _ in 0..4 {
            idle.push(connect_from(&server, address).await);
        }
    }
    let once = SMUGGLED.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let answer = tokio::time::timeout(Duration::from_secs(20), another_client(&server, &once)).await;
    assert!(answer.unwrap().ends_with("\r\n\r\nhello"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn idle_connections_of_one_address_delayed_everyone() {
    let server = RunningServer::with(|options| {
        options.limits.connections = 8;
        options.limits.connections_per_address = 4;
    });
    let server = server.await;
    let once = SMUGGLED.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(server.connect().await);
    }
    assert!(another_client(&server, &once).await.ends_with("\r\n\r\nhello"));
    // Nor do they delay a client at that address.
    assert!(server.answers(&once).await.ends_with("\r\n\r\nhello"));
    let mut open = 0;
    for stream in &mut idle {
        let _ = stream.write_all(once.as_bytes()).await;
        open += usize::from(rest_of(stream).await.ends_with("hello"));
    }
    assert!((1..=4).contains(&open), "{open}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_proxy_has_as_many_connections_as_its_clients_need() {
    let server = RunningServer::with(|options| {
        options.limits.connections_per_address = 1;
        options.proxies = vec!["127.0.0.1".parse().unwrap()];
    });
    let server = server.await;
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(server.connect().await);
    }
    for stream in &mut open {
        stream.write_all(SMUGGLED.as_bytes()).await.unwrap();
        read_until(stream, "hello").await;
    }
}

#[tokio::test]
async fn requests_above_the_rate_of_a_client_wait() {
    let server = RunningServer::with(|options| options.limits.requests_per_second = Some(50)).await;
    let begun = std::time::Instant::now();
    let mut stream = server.connect().await;
    for _ in 0..60 {
        stream.write_all(SMUGGLED.as_bytes()).await.unwrap();
        read_until(&mut stream, "hello").await;
    }
    assert!(begun.elapsed() >= Duration::from_millis(180), "{:?}", begun.elapsed());
}
