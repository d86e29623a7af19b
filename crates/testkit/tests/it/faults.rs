//! Every fault does what it says on the wire, as often as the rule says.

use crate::wire::{Reply, push_blob, send};
use tofu_oci_testkit::{
    Answer, Auth, Bearer, Behaviour, BlobHost, Fault, Gate, Length, Location, Login, Registry, Rule,
};
use tofu_oci_types::Digest;

/// The answer to a GET of the blob `0123456789` under one fault.
fn get(fault: Fault) -> Option<Reply> {
    let registry = Registry::start();
    let digest = registry.put_blob("a", "0123456789");
    registry.fault(Rule::on("GET", "/v2/a/blobs/*").then(fault));
    send(registry.address(), "GET", &format!("/v2/a/blobs/{digest}"), &[("Range", "bytes=5-")], b"")
}

#[track_caller]
fn check(fault: Fault, status: u16, body: &str, whole: bool) -> Reply {
    let reply = get(fault).unwrap();
    assert_eq!((reply.status, reply.text().as_str(), reply.whole), (status, body, whole));
    reply
}

#[test]
fn changes_answers() {
    let answer = Answer::new(503).header("Retry-After", "7").body("busy");
    assert_eq!(check(Fault::Answer(answer), 503, "busy", true).header("Retry-After"), "7");
    check(Fault::IgnoreRange, 200, "0123456789", true);
    check(Fault::CutBody(2), 206, "56", false);
    check(Fault::CutBody(0), 206, "", false);
    check(Fault::ShortenBody(2), 206, "56", true);
    check(Fault::CorruptBody(0), 206, "46789", true);
    check(Fault::CorruptBody(-1), 206, "56788", true);
    check(Fault::ReplaceBody("<html>".into()), 206, "<html>", true);
    check(Fault::SetStatus(200), 200, "56789", true);
    assert_eq!(
        check(Fault::header("Content-Range", "bytes 0-4/10"), 206, "56789", true).header("Content-Range"),
        "bytes 0-4/10"
    );
    assert!(check(Fault::wrong_digest_header(), 206, "56789", true).header("Docker-Content-Digest").ends_with("0000"));
    assert_eq!(check(Fault::DropHeader("ETag".to_owned()), 206, "56789", true).header("ETag"), "");
}

#[test]
fn floods_with_and_without_a_length() {
    let declared = get(Fault::Flood { bytes: 300_000, length: Length::Declared }).unwrap();
    assert_eq!((declared.header("Content-Length"), declared.body.len(), declared.whole), ("300000", 300_000, true));
    let chunked = get(Fault::Flood { bytes: 300_000, length: Length::Chunked }).unwrap();
    assert_eq!(chunked.header("Transfer-Encoding"), "chunked");
    assert!(chunked.body.len() > 300_000 && chunked.body.ends_with(b"0\r\n\r\n"));
}

#[test]
fn cuts_a_large_body_at_the_exact_byte() {
    let registry = Registry::start();
    let digest = registry.put_blob("a", vec![7; 3_000_000]);
    registry.fault(Rule::on("GET", "*").then(Fault::CutBody(2_345_678)));
    let reply = send(registry.address(), "GET", &format!("/v2/a/blobs/{digest}"), &[], b"").unwrap();
    assert_eq!((reply.body.len(), reply.whole, reply.header("Content-Length")), (2_345_678, false, "3000000"));
}

#[test]
fn fires_after_and_as_often_as_told() {
    let registry = Registry::start();
    registry.fault(Rule::on("GET", "/v2/").after(1).times(2).then(Fault::status(500, "UNKNOWN")));
    registry.fault(Rule::when(|head| head.query == "x").once().then(Fault::status(418, "TEAPOT")));
    let ask = |target| send(registry.address(), "GET", target, &[], b"").unwrap().status;
    assert_eq!(
        [ask("/v2/"), ask("/v2/"), ask("/v2/"), ask("/v2/"), ask("/v2/?x"), ask("/v2/?x")],
        [200, 500, 500, 200, 418, 200]
    );
}

#[test]
fn drops_connections_before_and_after_the_effect() {
    let registry = Registry::start();
    registry.fault(Rule::on("PUT", "*").once().then(Fault::Disconnect));
    registry.fault(Rule::on("PUT", "*").once().then(Fault::LoseAnswer));
    let put = |tag: &str| {
        let path = format!("/v2/a/manifests/{tag}");
        send(registry.address(), "PUT", &path, &[("Content-Type", crate::wire::INDEX)], br#"{"manifests":[]}"#)
    };
    assert!(put("1").is_none() && registry.tags("a").is_empty());
    assert!(put("2").is_none() && registry.tags("a").len() == 1);
    assert_eq!(registry.requests()[0].status, None);
    assert_eq!(put("3").unwrap().status, 201);
}

#[test]
fn refuses_an_upload_half_way() {
    let registry = Registry::start();
    let answer = Some(Answer::error(403, "DENIED", "quota exceeded"));
    registry.fault(Rule::on("PUT", "*").then(Fault::RefuseUploadAfter { bytes: 1000, answer }));
    let body = vec![0; 4_000_000];
    let begun = send(registry.address(), "POST", "/v2/a/blobs/uploads/", &[], b"").unwrap();
    let reply = send(registry.address(), "PUT", begun.header("Location"), &[], &body);
    // The refusal may be lost with the connection; what counts is that the server stopped reading.
    assert!(reply.is_none_or(|reply| reply.status == 403));
    let read = registry.requests_to("PUT", "*")[0].body_len;
    assert!((1000..4_000_000).contains(&read), "{read}");
}

#[test]
fn keeps_a_part_of_a_chunk() {
    let registry = Registry::start();
    registry.fault(Rule::on("PATCH", "*").once().then(Fault::KeepOnly(3)));
    let begun = send(registry.address(), "POST", "/v2/a/blobs/uploads/", &[], b"").unwrap();
    let chunk = send(registry.address(), "PATCH", begun.header("Location"), &[], b"hello").unwrap();
    assert_eq!(chunk.header("Range"), "0-2");
}

#[test]
fn holds_until_the_gate_opens() {
    let registry = Registry::start();
    let gate = Gate::closed();
    registry.fault(Rule::on("GET", "/v2/").then(Fault::Hold(gate.clone())));
    let address = registry.address().to_owned();
    let asking = std::thread::spawn(move || send(&address, "GET", "/v2/", &[], b"").unwrap().status);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(gate.arrived(1));
    assert!(!asking.is_finished() && gate.arrivals() == 1);
    gate.open();
    assert_eq!(asking.join().unwrap(), 200);
}

#[test]
fn holds_a_body_in_the_middle() {
    let registry = Registry::start();
    let digest = registry.put_blob("a", "0123456789");
    let gate = Gate::closed();
    registry.fault(Rule::on("GET", "*").then(Fault::HoldBody { bytes: 4, gate: gate.clone() }));
    let address = registry.address().to_owned();
    let asking = std::thread::spawn(move || send(&address, "GET", &format!("/v2/a/blobs/{digest}"), &[], b"").unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(gate.arrived(1));
    assert!(!asking.is_finished());
    gate.open();
    assert_eq!(asking.join().unwrap().text(), "0123456789");
}

#[test]
fn hangs_until_dropped() {
    let registry = Registry::start();
    let gate = Gate::closed();
    registry.fault(Rule::on("GET", "/v2/").then(Fault::Hold(gate.clone())).then(Fault::Hang));
    gate.open();
    let address = registry.address().to_owned();
    let asking = std::thread::spawn(move || send(&address, "GET", "/v2/", &[], b"").is_none());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(gate.arrived(1));
    drop(registry);
    assert!(asking.join().unwrap());
}

#[test]
fn redirects_to_a_blob_host_that_refuses_credentials() {
    let registry = Registry::start();
    let other = BlobHost::start(&registry);
    let digest = registry.put_blob("a", "blob");
    registry
        .fault(Rule::on("GET", "/v2/*/blobs/*").then(Fault::Redirect { status: 307, prefix: other.signed_prefix() }));
    let reply = send(registry.address(), "GET", &format!("/v2/a/blobs/{digest}?x=1"), &[], b"").unwrap();
    let target = reply.header("Location");
    assert_eq!(target, format!("http://{}/signed/v2/a/blobs/{digest}?x=1", other.address()));
    assert_eq!(send("", "GET", target, &[], b"").unwrap().text(), "blob");
    assert_eq!(send("", "GET", target, &[("Authorization", "Bearer x")], b"").unwrap().status, 400);
    assert_eq!(other.requests()[1].header("authorization"), Some("Bearer x"));
}

#[test]
fn uploads_through_another_origin() {
    let registry = Registry::start();
    let other = BlobHost::start(&registry);
    let location = Location::Elsewhere(other.signed_prefix());
    registry.set_behaviour(Behaviour { location, ..Behaviour::default() });
    assert_eq!(push_blob(registry.address(), "a", b"hello", &[]), 201);
    assert_eq!(other.requests().len(), 1);
    assert!(registry.blob("a", &Digest::sha256(b"hello")).is_some());
}

#[test]
fn expires_tokens_in_the_middle() {
    let registry = Registry::builder().auth(Auth::Bearer(Bearer::new(Login::new("u", "p")))).start();
    let token = format!("Bearer {}", registry.issue_token(&["repository:a:pull,push"]));
    registry.fault(Rule::on("PUT", "*").once().then(Fault::ExpireTokens));
    assert_eq!(push_blob(registry.address(), "a", b"hello", &[("Authorization", &token)]), 401);
}
