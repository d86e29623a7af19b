//! Files of any host on their way down: sizes, breaks, redirects and secrets.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tofu_oci_http::{
    BodySize, Downloaded, HttpClient, HttpLimits, HttpOptions, Protection, Proxies, RetryPolicy, WebClient,
    WebDownload, WebError, WebRequest,
};
use tofu_oci_testkit::{Answer, Certificates, Computed, Fault, Gate, Length, LoggedRequest, Rule, WebServer};
use tofu_oci_types::NoReporter;
use url::Url;

const FILE: &str = "/files/a.zip";
const SIZE: usize = 300_000;

const AT_ONCE: RetryPolicy = RetryPolicy { attempts: 5, base: Duration::ZERO, cap: Duration::ZERO };

fn options(server: &WebServer) -> HttpOptions {
    HttpOptions {
        ca_certificates: server.ca_pem().map(|pem| pem.as_bytes().to_vec()).into_iter().collect(),
        proxies: Proxies::Direct,
        retry: AT_ONCE,
        ..HttpOptions::default()
    }
}

fn client(options: HttpOptions) -> WebClient {
    WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap())
}

fn noise() -> Bytes {
    (0..SIZE).map(|nth| u8::try_from(nth * 7 % 251).unwrap()).collect::<Vec<u8>>().into()
}

type Headers = &'static [(&'static str, &'static str)];

const V1: Headers = &[("etag", "\"v1\"")];

/// Serves the noise with these headers, whole or from the start that is asked for.
fn serving(headers: Headers) -> WebServer {
    let server = WebServer::start(&[]);
    server.fault(Rule::on("*", FILE).then(noise_from(headers)));
    server
}

/// Serves it once, and breaks after 70 kB.
fn breaking(headers: Headers) -> WebServer {
    let server = WebServer::start(&[]);
    server.fault(Rule::on("*", FILE).once().then(noise_from(headers)).then(Fault::CutBody(70_000)));
    server
}

fn noise_from(headers: Headers) -> Fault {
    Fault::Computed(Computed::new(move |head, _| {
        let range = head.headers.get("range").and_then(|range| range.to_str().ok());
        let start = range.and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse::<usize>().ok());
        let answer = start.map_or_else(
            || Answer::new(200),
            |start| Answer::new(206).header("content-range", format!("bytes {start}-{}/{SIZE}", SIZE - 1)),
        );
        let answer = answer.body(noise().slice(start.unwrap_or_default()..));
        headers.iter().fold(answer, |answer, (name, value)| answer.header(name, *value))
    }))
}

fn file(server: &WebServer, size: BodySize) -> WebDownload {
    let url = Url::parse(&format!("{}{FILE}", server.origin())).unwrap();
    WebDownload { url, protection: Protection::Tls, size }
}

fn request_for(server: &WebServer, limit: u64) -> WebRequest<'static> {
    let url = file(server, UNKNOWN).url;
    WebRequest { url, accept: "*/*", token: None, timeout: Duration::from_secs(10), limit }
}

const UNKNOWN: BodySize = BodySize::AtMost(1 << 20);

/// The announced size and the bytes.
async fn read(client: &WebClient, file: &WebDownload) -> Result<(Option<u64>, Vec<u8>), WebError> {
    let Downloaded { size, stream } = client.download(file).await?;
    let pieces: Vec<Bytes> = stream.try_collect().await?;
    Ok((size, pieces.concat()))
}

async fn fault(client: &WebClient, file: &WebDownload) -> String {
    read(client, file).await.unwrap_err().fault.to_string()
}

fn ranges(requests: &[LoggedRequest]) -> Vec<(Option<&str>, Option<&str>)> {
    requests.iter().map(|request| (request.header("range"), request.header("if-range"))).collect()
}

#[tokio::test]
async fn the_first_answer_says_the_size() {
    let server = serving(&[]);
    let (size, bytes) = read(&client(options(&server)), &file(&server, UNKNOWN)).await.unwrap();
    assert_eq!((size, bytes), (Some(SIZE as u64), noise().to_vec()));
    let chunked = WebServer::start(&[]);
    let flood = Fault::Flood { bytes: 100_000, length: Length::Chunked };
    chunked.fault(Rule::on("*", FILE).then(Fault::Answer(Answer::new(200))).then(flood));
    let (size, bytes) = read(&client(options(&chunked)), &file(&chunked, UNKNOWN)).await.unwrap();
    assert_eq!((size, bytes.len()), (None, 100_000));
}

#[tokio::test]
async fn a_broken_download_goes_on_where_it_broke() {
    let server = breaking(V1);
    server.fault(Rule::on("*", FILE).then(noise_from(V1)));
    assert_eq!(read(&client(options(&server)), &file(&server, UNKNOWN)).await.unwrap().1, noise());
    assert_eq!(ranges(&server.requests()), [(None, None), (Some("bytes=70000-"), Some("\"v1\""))]);
}

#[tokio::test]
async fn a_file_that_was_labelled_as_compressed_was_loaded_from_its_start_again_after_a_break() {
    let server = breaking(&[("content-encoding", "gzip")]);
    server.fault(Rule::on("*", FILE).then(noise_from(&[("content-encoding", "gzip")])));
    let known = file(&server, BodySize::Known(SIZE as u64));
    assert_eq!(read(&client(options(&server)), &known).await.unwrap().1, noise());
    assert_eq!(ranges(&server.requests()), [(None, None), (Some("bytes=70000-"), None)]);
}

#[tokio::test]
async fn a_file_whose_connection_broke_every_20_kb_was_given_up_after_five_attempts() {
    let server = WebServer::start(&[]);
    server.fault(Rule::on("*", FILE).then(noise_from(V1)).then(Fault::CutBody(20_000)));
    assert_eq!(read(&client(options(&server)), &file(&server, UNKNOWN)).await.unwrap().1, noise());
    assert_eq!(server.requests().len(), SIZE / 20_000);
    // Fewer bytes than that would be slower than a body may drip.
    let server = WebServer::start(&[]);
    server.fault(Rule::on("*", FILE).then(noise_from(V1)).then(Fault::CutBody(1_000)));
    let said = fault(&client(options(&server)), &file(&server, UNKNOWN)).await;
    assert_eq!(said, "connection closed before the end of the answer (after 5000 of 300000 bytes)");
}

#[tokio::test]
async fn a_document_whose_first_answer_stalled_was_not_asked_for_again() {
    let server = WebServer::start(&[]);
    server.fault(Rule::on("*", FILE).times(2).then(Fault::Hang));
    server.fault(Rule::on("*", FILE).then(noise_from(&[])));
    let hasty = HttpOptions { limits: HttpLimits::within(Duration::from_secs(2)), ..options(&server) };
    let answer = client(hasty).get(&request_for(&server, 1 << 20), |_| true).await.unwrap();
    assert_eq!((answer.body(), server.requests().len()), (&noise()[..], 3));
}

#[tokio::test]
async fn a_file_that_changes_after_a_break_is_not_joined() {
    let other = || Answer::new(200).header("etag", "\"v2\"").body(noise());
    let server = breaking(V1);
    server.page(FILE, other());
    assert_eq!(fault(&client(options(&server)), &file(&server, UNKNOWN)).await, "it changes while it is read");
    // A digest finds out by itself.
    let server = breaking(V1);
    server.page(FILE, other());
    let known = WebDownload { protection: Protection::Digest, ..file(&server, UNKNOWN) };
    assert_eq!(read(&client(options(&server)), &known).await.unwrap().1, noise());
}

/// A server that gives one of these answers, byte for byte, on each connection, and then closes it. Returns its address.
fn raw(answers: Vec<Vec<u8>>) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}{FILE}", listener.local_addr().unwrap())).unwrap();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut connection, _) = listener.accept().unwrap();
            let mut head = BufReader::new(&connection).lines().map(Result::unwrap);
            while head.next().is_some_and(|line| !line.is_empty()) {}
            connection.write_all(&answer).unwrap();
        }
    });
    url
}

/// 200 with the first so many bytes as one chunk, and no end.
fn cut_chunk(etag: &str, bytes: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{etag}\r\n{bytes:x}\r\n");
    [head.as_bytes(), &noise()[..bytes], b"\r\n"].concat()
}

/// 206 with the bytes from this one on.
fn rest(etag: &str, from: usize) -> Vec<u8> {
    let (length, last) = (SIZE - from, SIZE - 1);
    let head = format!(
        "HTTP/1.1 206 P\r\ncontent-length: {length}\r\ncontent-range: bytes {from}-{last}/{SIZE}\r\n{etag}\r\n"
    );
    [head.as_bytes(), &noise()[from..]].concat()
}

#[tokio::test]
async fn a_body_without_size_goes_on_after_a_break_only_if_its_validator_is_the_same() {
    let (one, other) = ("etag: \"v1\"\r\n", "etag: \"v2\"\r\n");
    let cut = "connection closed before the end of the answer (after 70000 bytes)";
    let check = async |answers: Vec<Vec<u8>>, want: Result<(), &str>| {
        let options = HttpOptions { proxies: Proxies::Direct, retry: AT_ONCE, ..HttpOptions::default() };
        let file = WebDownload { url: raw(answers), protection: Protection::Tls, size: UNKNOWN };
        match (read(&client(options), &file).await, want) {
            (Ok((size, bytes)), Ok(())) => assert!((size, bytes) == (None, noise().to_vec())),
            (Err(error), Err(want)) => assert_eq!(error.fault.to_string(), want),
            (got, want) => panic!("got {:?}, want {want:?}", got.map(|(size, _)| size)),
        }
    };
    check(vec![cut_chunk(one, 70_000), rest(one, 70_000)], Ok(())).await;
    check(vec![cut_chunk(one, 70_000), rest("", 70_000)], Ok(())).await;
    check(vec![cut_chunk("", 70_000)], Err(cut)).await;
    check(vec![cut_chunk("", 70_000), rest("", 70_000)], Err(cut)).await;
    let changed = vec![cut_chunk(one, 70_000), rest(other, 70_000), cut_chunk(other, SIZE)];
    check(changed, Err("it changes while it is read")).await;
}

#[tokio::test]
async fn a_body_that_never_ends_ends_at_the_limit() {
    for length in [Length::Declared, Length::Chunked] {
        let server = WebServer::start(&[]);
        let rule = Rule::on("*", FILE).then(Fault::Answer(Answer::new(200)));
        server.fault(rule.then(Fault::Flood { bytes: 1 << 40, length }));
        let said = fault(&client(options(&server)), &file(&server, UNKNOWN)).await;
        assert_eq!(said, "its answer is larger than 1048576 bytes", "{length:?}");
    }
}

#[tokio::test]
async fn a_size_that_lies_is_found() {
    let server = serving(&[]);
    for wrong in [SIZE as u64 - 1, SIZE as u64 + 1] {
        let said = fault(&client(options(&server)), &file(&server, BodySize::Known(wrong))).await;
        assert_eq!(said, format!("it has 300000 bytes, and should have {wrong}"));
    }
    server.clear();
    // More is promised than ever comes.
    server.fault(Rule::on("*", FILE).then(Fault::Answer(Answer::new(200).body(noise()))).then(Fault::CutBody(1000)));
    let said = fault(&client(options(&server)), &file(&server, UNKNOWN)).await;
    assert_eq!(said, "connection closed before the end of the answer (after 1000 of 300000 bytes)");
}

#[tokio::test]
async fn a_body_that_trickles_is_given_up() {
    let server = WebServer::start(&[]);
    let rule = Rule::on("*", FILE).then(Fault::Answer(Answer::new(200).body(noise())));
    server.fault(rule.then(Fault::HoldBody { bytes: 1000, gate: Gate::closed() }));
    let hasty = HttpOptions { limits: HttpLimits::within(Duration::from_millis(600)), ..options(&server) };
    let said = fault(&client(hasty).with_attempts(1), &file(&server, UNKNOWN)).await;
    assert!(said.starts_with("timed out: only 1000 bytes came"), "{said}");
}

#[tokio::test]
async fn passing_refusals_are_tried_again_and_lasting_ones_are_not() {
    let tried = async |status: u16, attempts: u32| {
        let server = WebServer::start(&[]);
        server.page(FILE, Answer::text(status, "no"));
        let said = fault(&client(options(&server)).with_attempts(attempts), &file(&server, UNKNOWN)).await;
        (said, server.requests().len())
    };
    for status in [500, 502, 503, 429] {
        assert_eq!(tried(status, 5).await, (format!("it answered {status}"), 5));
        assert_eq!(tried(status, 1).await, (format!("it answered {status}"), 1));
    }
    for status in [400, 401, 403, 404, 410, 501, 206, 204] {
        assert_eq!(tried(status, 5).await, (format!("it answered {status}"), 1));
    }
    for fault in [Fault::Disconnect, Fault::Answer(Answer::text(429, "later").header("retry-after", "0"))] {
        let server = WebServer::start(&[]);
        server.fault(Rule::on("*", FILE).times(2).then(fault));
        server.fault(Rule::on("*", FILE).then(noise_from(&[])));
        assert_eq!(read(&client(options(&server)), &file(&server, UNKNOWN)).await.unwrap().1, noise());
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn what_came_in_an_encoding_that_is_not_known_was_called_no_json() {
    let server = serving(&[("content-encoding", "br")]);
    let said = fault(&client(options(&server)), &file(&server, UNKNOWN)).await;
    assert_eq!(said, "it comes with the content encoding br");
    assert_eq!(document(&server, 1 << 20).await.unwrap_err(), said);
}

/// The bytes of a document of at most this size, or what is wrong with it.
async fn document(server: &WebServer, limit: u64) -> Result<Vec<u8>, String> {
    let got = client(options(server)).get(&request_for(server, limit), |_| true).await;
    got.map(|answer| answer.body().to_vec()).map_err(|error| error.fault.to_string())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn what_came_gzipped_unasked_was_refused_or_not_understood() {
    let server = WebServer::start(&[]);
    let gzipped = |bytes: &[u8]| Answer::new(200).header("content-encoding", "gzip").body(gzip(bytes));
    server.page(FILE, gzipped(&noise()));
    assert_eq!(document(&server, SIZE as u64).await.unwrap(), noise());
    for size in [UNKNOWN, BodySize::Known(SIZE as u64)] {
        assert_eq!(read(&client(options(&server)), &file(&server, size)).await.unwrap().1, noise(), "{size:?}");
    }
    // Nobody asked for it, and nobody asks for it now.
    assert!(server.requests().iter().all(|request| request.header("accept-encoding").is_none()));
    // The limits are for what was asked for.
    server.clear();
    server.page(FILE, gzipped(&vec![b' '; 64 << 20]));
    assert_eq!(document(&server, 1 << 20).await.unwrap_err(), "its answer is larger than 1048576 bytes");
    assert_eq!(
        fault(&client(options(&server)), &file(&server, UNKNOWN)).await,
        "its answer is larger than 1048576 bytes"
    );
}

#[tokio::test]
async fn a_gzipped_body_that_breaks_is_not_joined_to_a_part_of_another_form() {
    let whole =
        |_: &_, _: &_| Answer::new(200).header("content-encoding", "gzip").header("etag", "\"1\"").body(gzip(&noise()));
    let server = WebServer::answering(&Certificates::generate(), Computed::new(whole));
    server.fault(Rule::on("*", FILE).times(1).then(Fault::CutBody(500)));
    assert_eq!(read(&client(options(&server)), &file(&server, UNKNOWN)).await.unwrap().1, noise());
    assert_eq!(server.requests().len(), 2);
    assert!(server.requests().iter().all(|request| request.header("range").is_none()));
}

#[tokio::test]
async fn an_archive_that_was_labelled_by_its_name_was_refused() {
    let archive = gzip(&noise());
    for label in ["gzip", "x-gzip"] {
        let server = WebServer::start(&[]);
        let page = |body: Vec<u8>| Answer::new(200).header("content-encoding", label).body(body);
        server.page("/m.tar.gz", page(archive.clone()));
        server.page("/n.tgz", page(gzip(&archive)));
        // Its size is known: it is the file.
        server.page(FILE, page(archive.clone()));
        for (path, size) in [("/m.tar.gz", UNKNOWN), ("/n.tgz", UNKNOWN), (FILE, BodySize::Known(archive.len() as u64))]
        {
            let url = Url::parse(&format!("{}{path}", server.origin())).unwrap();
            let download = WebDownload { url, ..file(&server, size) };
            assert_eq!(read(&client(options(&server)), &download).await.unwrap().1, archive, "{path}");
        }
    }
}

#[tokio::test]
async fn the_size_is_asked_by_head_or_by_the_first_byte() {
    let server = serving(&[]);
    let ask = async || client(options(&server)).size(&file(&server, UNKNOWN)).await;
    assert_eq!(ask().await.unwrap(), Some(SIZE as u64));
    assert_eq!(server.requests()[0].line(), format!("HEAD {FILE} -> 200"));
    for refusal in [400, 403, 405, 501] {
        server.clear();
        server.fault(Rule::on("HEAD", FILE).then(Fault::Answer(Answer::new(refusal))));
        server.fault(Rule::on("*", FILE).then(noise_from(&[])));
        assert_eq!(ask().await.unwrap(), Some(SIZE as u64), "{refusal}");
    }
    assert_eq!(server.requests().last().unwrap().header("range"), Some("bytes=0-0"));
    server.clear();
    assert_eq!(ask().await.unwrap_err().fault.to_string(), "it answered 404");
}

#[tokio::test]
async fn the_user_info_goes_to_its_origin_alone() {
    let (server, other) = (WebServer::plain(), WebServer::plain());
    other.page(FILE, Answer::new(200).body(noise()));
    server.fault(Rule::on("*", FILE).then(Fault::Redirect { status: 302, prefix: other.origin().to_owned() }));
    let mut download = file(&server, UNKNOWN);
    download.url.set_username("ada").unwrap();
    download.url.set_password(Some("hunter%2 2")).unwrap();
    assert_eq!(read(&client(options(&server)), &download).await.unwrap().1, noise());
    // ada:hunter%2 2
    assert_eq!(server.requests()[0].header("authorization"), Some("Basic YWRhOmh1bnRlciUyIDI="));
    assert_eq!(other.requests()[0].header("authorization"), None);
    other.clear();
    let error = read(&client(options(&server)), &download).await.unwrap_err().to_string();
    assert_eq!(error, format!("{}{FILE}: it answered 404", other.origin()));
}

#[tokio::test]
async fn a_redirect_to_plain_http_needs_a_digest_and_a_named_host() {
    let (server, plain) = (WebServer::start(&[]), WebServer::plain());
    plain.page(FILE, Answer::new(200).body(noise()));
    server.fault(Rule::on("*", FILE).then(Fault::Redirect { status: 302, prefix: plain.origin().to_owned() }));
    let named = || HttpOptions { plain_http: vec!["127.0.0.1".to_owned()], ..options(&server) };
    let protected = || WebDownload { protection: Protection::Digest, ..file(&server, UNKNOWN) };
    let refused = "its redirect is not followed: it leads from HTTPS to plain HTTP on";
    assert!(fault(&client(named()), &file(&server, UNKNOWN)).await.starts_with(refused));
    assert!(fault(&client(options(&server)), &protected()).await.starts_with(refused));
    assert_eq!(plain.requests().len(), 0);
    assert_eq!(read(&client(named()), &protected()).await.unwrap().1, noise());
}

#[tokio::test]
async fn redirects_end() {
    let server = WebServer::start(&[]);
    server.fault(Rule::on("*", "*").then(Fault::Redirect { status: 307, prefix: server.origin().to_owned() }));
    assert_eq!(fault(&client(options(&server)), &file(&server, UNKNOWN)).await, "it redirects more than 10 times");
    assert_eq!(server.requests().len(), 11);
}
