//! Documents of any kind, and names for the servers that have them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use tofu_oci_testkit::{Answer, Fault, Rule, Tunnel, WebServer};

use crate::wire::send;

#[test]
fn pages_are_served_and_everything_else_is_404() {
    let server = WebServer::plain();
    server.page("/a", Answer::text(200, "first"));
    server.page("/a", Answer::text(200, "never reached"));
    server.fault(Rule::on("GET", "/b*").then(Fault::status(503, "UNAVAILABLE")));
    let get = |path| send(server.address(), "GET", path, &[], b"").unwrap();
    assert_eq!((get("/a").text(), get("/b/c").status, get("/c").status), ("first".to_owned(), 503, 404));
    server.clear();
    assert_eq!(get("/a").status, 404);
    let lines: Vec<String> = server.requests().iter().map(tofu_oci_testkit::LoggedRequest::line).collect();
    assert_eq!(lines, ["GET /a -> 200", "GET /b/c -> 503", "GET /c -> 404", "GET /a -> 404"]);
    assert_eq!((server.ca_pem(), server.origin()), (None, &*format!("http://{}", server.address())));
}

/// The status line of the proxy's answer, and what comes behind its head.
fn connect(tunnel: &Tunnel, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(tunnel.url().trim_start_matches("http://")).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let status = head.lines().next().unwrap().to_owned();
    let mut rest = String::new();
    if status.contains(" 200 ") {
        stream.write_all(b"GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n").unwrap();
        reader.read_to_string(&mut rest).unwrap();
    }
    (status, rest)
}

#[test]
fn a_tunnel_leads_to_named_servers_and_nowhere_else() {
    let server = WebServer::plain();
    server.page("/a", Answer::text(200, "through"));
    let tunnel = Tunnel::start([("a.test:443", server.address())]);
    let (status, answer) = connect(&tunnel, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
    assert!(status.contains(" 200 ") && answer.ends_with("through"), "{status} {answer}");
    assert_eq!(server.requests()[0].header("host"), Some("a.test"));
    assert!(connect(&tunnel, "CONNECT b.test:443 HTTP/1.1\r\n\r\n").0.contains(" 502 "));
    assert!(connect(&tunnel, "GET http://a.test/ HTTP/1.1\r\n\r\n").0.contains(" 405 "));
    assert_eq!(tunnel.asked(), ["a.test:443", "b.test:443", "http://a.test/"]);
}
