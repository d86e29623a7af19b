//! The in-process registry speaks the distribution protocol as registry:2 does, and otherwise where told.

use crate::wire::{INDEX, push_blob, send, send_tls};
use tofu_oci_testkit::{
    Behaviour, ClientCertificate, Deletion, Location, Mounting, Paging, ReferrersSupport, Registry, Switch,
};
use tofu_oci_types::Digest;

const EMPTY_INDEX: &[u8] = br#"{"schemaVersion":2,"manifests":[]}"#;

#[test]
fn pushes_and_pulls() {
    let registry = Registry::start();
    let address = registry.address();
    assert_eq!(push_blob(address, "acme/widget", b"hello", &[]), 201);
    let digest = Digest::sha256(b"hello");
    let blob = format!("/v2/acme/widget/blobs/{digest}");
    assert_eq!(send(address, "GET", &blob, &[], b"").unwrap().body, b"hello");
    let part = send(address, "GET", &blob, &[("Range", "bytes=1-2")], b"").unwrap();
    assert_eq!((part.status, part.header("Content-Range"), part.text().as_str()), (206, "bytes 1-2/5", "el"));
    assert_eq!(send(address, "GET", &blob, &[("Range", "bytes=9-")], b"").unwrap().status, 416);
    assert_eq!(send(address, "HEAD", &blob, &[], b"").unwrap().header("Content-Length"), "5");

    let manifest = "/v2/acme/widget/manifests/1.0.0";
    let put = send(address, "PUT", manifest, &[("Content-Type", INDEX)], EMPTY_INDEX).unwrap();
    assert_eq!((put.status, put.header("Location").is_empty()), (201, false));
    assert_eq!(send(address, "GET", manifest, &[], b"").unwrap().status, 404, "no Accept");
    let got = send(address, "GET", manifest, &[("Accept", INDEX)], b"").unwrap();
    assert_eq!((got.status, got.body.as_slice()), (200, EMPTY_INDEX));
    assert_eq!(got.header("Docker-Content-Digest"), Digest::sha256(EMPTY_INDEX).as_str());
    assert_eq!(send(address, "GET", "/v2/acme/widget/tags/list", &[], b"").unwrap().json()["tags"][0], "1.0.0");

    let uploads = registry.requests_to("*", "/v2/acme/widget/blobs/uploads/*");
    assert_eq!(
        uploads.iter().map(|one| (one.method.as_str(), one.body_len)).collect::<Vec<_>>(),
        [("POST", 0), ("PUT", 5)]
    );
    assert_eq!(registry.requests()[0].line(), "POST /v2/acme/widget/blobs/uploads/ -> 202");
}

#[test]
fn refuses_what_registry_2_refuses() {
    #[track_caller]
    fn check(method: &str, path: &str, content_type: &str, body: &str, want: (u16, &str)) {
        let registry = Registry::start();
        registry.put_blob("a/b", "x");
        let headers = [("Content-Type", content_type), ("Accept", INDEX)];
        let reply = send(registry.address(), method, path, &headers, body.as_bytes()).unwrap();
        assert!(reply.status == want.0 && reply.text().contains(want.1), "{} {}", reply.status, reply.text());
    }
    let missing = format!(r#"{{"manifests":[{{"digest":"sha256:{}"}}]}}"#, "0".repeat(64));
    check("PUT", "/v2/a/b/manifests/1", INDEX, &missing, (400, "MANIFEST_BLOB_UNKNOWN"));
    check("PUT", "/v2/a/b/manifests/1", "application/json", "{}", (400, "MANIFEST_INVALID"));
    check("PUT", "/v2/a/b/manifests/1", INDEX, r#"{"mediaType":"x/y"}"#, (400, "MANIFEST_INVALID"));
    check("PUT", "/v2/a/b/manifests/1+2", INDEX, "{}", (404, "404 page not found"));
    check("GET", "/v2/A/b/tags/list", "", "", (404, "404 page not found"));
    check("GET", "/v2/none/tags/list", "", "", (404, "NAME_UNKNOWN"));
    check("GET", "/v2/a/b/manifests/1", "", "", (404, "MANIFEST_UNKNOWN"));
    check("DELETE", "/v2/a/b/manifests/1", "", "", (405, "UNSUPPORTED"));
    check("PATCH", "/v2/a/b/blobs/uploads/none?_state=1", "", "", (404, "BLOB_UPLOAD_UNKNOWN"));
}

#[test]
fn uploads_in_chunks_with_fresh_locations() {
    let behaviour = Behaviour { location: Location::Relative, content_range: Switch::On, ..Behaviour::default() };
    let registry = Registry::builder().behaviour(behaviour).start();
    let address = registry.address();
    let begun = send(address, "POST", "/v2/a/blobs/uploads/", &[], b"").unwrap();
    let first = begun.header("Location").to_owned();
    assert!(first.starts_with("/v2/a/blobs/uploads/"), "{first}");
    let disorder = send(address, "PATCH", &first, &[("Content-Range", "7-8")], b"he").unwrap();
    assert_eq!(disorder.status, 416);
    let chunk = send(address, "PATCH", &first, &[("Content-Range", "0-1")], b"he").unwrap();
    assert_eq!((chunk.status, chunk.header("Range")), (202, "0-1"));
    assert_eq!(send(address, "PATCH", &first, &[], b"xx").unwrap().status, 404, "an old location is refused");
    let status = send(address, "GET", chunk.header("Location"), &[], b"").unwrap();
    assert_eq!((status.status, status.header("Range")), (204, "0-1"));
    let end = format!("{}&digest={}", chunk.header("Location"), Digest::sha256(b"hello"));
    assert_eq!(send(address, "PUT", &end, &[], b"llo").unwrap().status, 201);
    assert_eq!(registry.blob("a", &Digest::sha256(b"hello")).unwrap(), "hello");
}

#[test]
fn mounts_or_starts_an_upload() {
    #[track_caller]
    fn check(mounting: Mounting, from: &str, want: u16) {
        let registry = Registry::builder().behaviour(Behaviour { mounting, ..Behaviour::default() }).start();
        let digest = registry.put_blob("from", "x");
        let path = format!("/v2/to/blobs/uploads/?mount={digest}&from={from}");
        assert_eq!(send(registry.address(), "POST", &path, &[], b"").unwrap().status, want);
        assert_eq!(registry.blob("to", &digest).is_some(), want == 201);
    }
    check(Mounting::Supported, "from", 201);
    check(Mounting::Supported, "elsewhere", 202);
    check(Mounting::StartsUpload, "from", 202);
}

#[test]
fn pages_tags_with_links() {
    #[track_caller]
    fn check(paging: Paging, want: &[&str]) {
        let registry = Registry::builder().behaviour(Behaviour { paging, ..Behaviour::default() }).start();
        for tag in ["1.0.0", "1.1.0", "2.0.0"] {
            registry.put_tag("a", tag, &Digest::sha256(b""));
        }
        let mut next = "/v2/a/tags/list?n=100".to_owned();
        let mut pages = Vec::new();
        while !next.is_empty() {
            let page = send(registry.address(), "GET", &next, &[], b"").unwrap();
            pages.push(page.json()["tags"].to_string());
            next = page.header("Link").split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        }
        assert_eq!(pages, want);
    }
    check(Paging::Ignored, &[r#"["1.0.0","2.0.0","1.1.0"]"#]);
    check(Paging::Relative(2), &[r#"["1.0.0","1.1.0"]"#, r#"["2.0.0"]"#]);
    check(Paging::Absolute(2), &[r#"["1.0.0","1.1.0"]"#, r#"["2.0.0"]"#]);
}

#[test]
fn lists_referrers_when_told() {
    #[track_caller]
    fn check(referrers: ReferrersSupport, want_header: bool, want_status: u16) {
        let registry = Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }).start();
        let subject = Digest::sha256(EMPTY_INDEX);
        let body = format!(r#"{{"artifactType":"a/b","subject":{{"digest":"{subject}"}},"annotations":{{"k":"v"}}}}"#);
        let path = "/v2/a/manifests/1";
        let put = send(registry.address(), "PUT", path, &[("Content-Type", INDEX)], body.as_bytes()).unwrap();
        assert_eq!(put.header("OCI-Subject") == subject.as_str(), want_header);
        let list = send(registry.address(), "GET", &format!("/v2/a/referrers/{subject}"), &[], b"").unwrap();
        assert_eq!(list.status, want_status);
        if want_status == 200 {
            let lists = !matches!(referrers, ReferrersSupport::EmptyList | ReferrersSupport::Losing);
            assert_eq!(list.json()["manifests"][0]["artifactType"].as_str(), lists.then_some("a/b"));
        }
    }
    check(ReferrersSupport::Unsupported, false, 404);
    check(ReferrersSupport::Supported, true, 200);
    check(ReferrersSupport::WithoutSubjectHeader, false, 200);
    check(ReferrersSupport::SubjectHeaderOnly, true, 404);
    check(ReferrersSupport::EmptyList, false, 200);
    check(ReferrersSupport::Losing, true, 200);
}

#[test]
fn deletes_when_enabled() {
    let behaviour = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
    let registry = Registry::builder().behaviour(behaviour).start();
    let digest = registry.put_manifest("a", INDEX, EMPTY_INDEX);
    registry.put_tag("a", "1", &digest);
    let path = format!("/v2/a/manifests/{digest}");
    assert_eq!(send(registry.address(), "DELETE", &path, &[], b"").unwrap().status, 202);
    assert!(registry.tags("a").is_empty());
}

#[test]
fn speaks_tls_and_asks_for_client_certificates() {
    let registry = Registry::builder().tls(ClientCertificate::Required).start();
    let (address, ca) = (registry.address(), registry.ca_pem().unwrap());
    let identity = registry.client_identity_pem();
    assert_eq!(send_tls(address, ca, identity, "/v2/", &[]).unwrap().status, 200);
    assert!(send_tls(address, ca, None, "/v2/", &[]).is_none());
    let plain = send(address, "GET", "/v2/", &[], b"").unwrap();
    assert_eq!((plain.status, plain.text().trim()), (400, "Client sent an HTTP request to an HTTPS server."));
}

#[test]
fn takes_in_a_broken_layout() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let (index, damaged) = ("1".repeat(64), "2".repeat(64));
    let tag = r#""annotations":{"org.opencontainers.image.ref.name":"1.0.0"}"#;
    write("index.json", &format!(r#"{{"manifests":[{{"mediaType":"{INDEX}","digest":"sha256:{index}",{tag}}}]}}"#));
    write(&format!("blobs/sha256/{index}"), "not json");
    write(&format!("blobs/sha256/{damaged}"), "other bytes");
    let registry = Registry::start();
    registry.put_layout("a", folder.path());
    let ask = |path: &str| send(registry.address(), "GET", path, &[("Accept", INDEX)], b"").unwrap();
    let manifest = ask("/v2/a/manifests/1.0.0");
    assert_eq!((manifest.text().as_str(), manifest.header("Content-Type")), ("not json", INDEX));
    assert_eq!(ask(&format!("/v2/a/blobs/sha256:{damaged}")).text(), "other bytes");
}
