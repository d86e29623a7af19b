//! `check` where the network, the registry or the machine fails: what could not be asked for is not judged.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, ClientCertificate, Deletion, Fault, Registry, Rule, Validity};

use crate::json;
use crate::setup::{Said, Scene, WIDGET};

const CHECK: &str = "check REGISTRY/acme/widget --deep --attempts 1";

/// Rule and level of each finding.
fn rules(said: &Said) -> BTreeSet<String> {
    let lines = said.json();
    let findings = lines.iter().filter(|line| line["event"] == "finding");
    findings.map(|line| format!("{} {}", line["level"], line["rule"])).collect()
}

fn not_judged(said: &Said) -> u64 {
    let lines = said.json();
    let count = lines.iter().filter(|line| line["event"] == "not-judged").count() as u64;
    let checked = lines.iter().find(|line| line["event"] == "checked");
    assert_eq!(checked.map(|line| line["not_judged"].as_u64()), Some(Some(count)), "{}", said.text);
    count
}

/// A signed release in both layouts.
fn signed() -> Scene {
    let scene = Scene::with_dist();
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout both")).success();
    scene.key("p256.pem");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format both").success();
    scene.registry.clear_requests();
    scene
}

fn faults() -> Vec<(&'static str, Fault)> {
    let status = |status: u16| Fault::status(status, "UNKNOWN");
    vec![
        ("400", status(400)),
        ("401", status(401)),
        ("403", status(403)),
        ("408", status(408)),
        ("429", status(429)),
        ("500", status(500)),
        ("502", status(502)),
        ("503", status(503)),
        ("504", status(504)),
        ("a closed connection", Fault::Disconnect),
        ("a body that is cut", Fault::CutBody(1)),
        ("a redirect to a closed port", Fault::Redirect { status: 307, prefix: "http://127.0.0.1:9".to_owned() }),
    ]
}

/// The requests of a check, by what they are for: every kind of path that it asks.
fn places(scene: &Scene) -> Vec<(String, &'static str)> {
    let asked = scene.registry.requests();
    let paths: BTreeSet<String> = asked.iter().map(|request| request.path.clone()).collect();
    let kind = |path: &str| match path {
        _ if path.ends_with("/tags/list") => "tags",
        _ if path.strip_suffix(".sig").is_some() => "cosign tag",
        _ if path.contains("/manifests/sha256-") => "tag of referrers",
        _ if path.contains("/referrers/") => "referrers",
        _ if path.ends_with("/manifests/1.4.0") => "index",
        _ if path.contains("/manifests/") => "manifest",
        _ if path.contains("/blobs/") => "blob",
        _ => "other",
    };
    let found: Vec<(String, &str)> = paths.into_iter().map(|path| (path.clone(), kind(&path))).collect();
    for wanted in ["tags", "cosign tag", "tag of referrers", "index", "manifest", "blob"] {
        assert!(found.iter().any(|(_, kind)| *kind == wanted), "{wanted} was not asked for: {found:?}");
    }
    found.into_iter().filter(|(_, kind)| *kind != "other").collect()
}

#[test]
fn a_blob_that_only_a_get_shows_was_called_missing() {
    let scene = Scene::published();
    for (method, is_missing) in [("HEAD", false), ("GET", true)] {
        scene.registry.fault(Rule::on(method, "/v2/acme/widget/blobs/*").then(Fault::status(404, "BLOB_UNKNOWN")));
        let said = scene.run("check REGISTRY/acme/widget");
        assert_eq!(said.stdout.contains("blob-missing"), is_missing, "{}", said.text);
    }
}

#[test]
fn no_fault_of_the_network_becomes_a_finding() {
    let scene = signed();
    let line = format!("{CHECK} --json");
    let good = rules(&scene.run(&line).success());
    let (places, mut seen) = (places(&scene), BTreeSet::new());
    for (path, kind) in places {
        // Every fault at one path of each kind, and some of them at the others.
        let some = if seen.insert(kind) { usize::MAX } else { 2 };
        for (name, fault) in faults().into_iter().rev().take(some) {
            // A registry without the referrers API answers 400, too; and the body of its 404 is of no use to anybody.
            if kind == "referrers" && ["400", "a body that is cut", "a redirect to a closed port"].contains(&name) {
                continue;
            }
            scene.registry.clear_faults();
            scene.registry.fault(Rule::on("*", &path).then(fault));
            let said = scene.run(&line);
            assert_eq!(said.code, Some(3), "{name} at {kind} {path}: {}", said.text);
            let more: Vec<String> = rules(&said).difference(&good).cloned().collect();
            assert!(more.is_empty(), "{name} at {kind} {path}: {more:?}: {}", said.text);
            if kind != "tags" {
                assert!(not_judged(&said) > 0, "{name} at {kind} {path}: {}", said.text);
            }
            assert!(!said.text.contains("push the release again"), "{name} at {kind} {path}: {}", said.text);
        }
    }
    scene.registry.clear_faults();
    assert_eq!(rules(&scene.run(&line).success()), good);
}

#[test]
fn nobody_listens_or_the_name_is_unknown() {
    let scene = Scene::new();
    for place in ["127.0.0.1:9/acme/widget", "no-such-host.invalid/acme/widget"] {
        for options in ["", "--registry", "--json", "--format junit", "--format sarif"] {
            let said = scene.run(&format!("check {place} --attempts 1 {options}"));
            assert_eq!(said.code, Some(3), "{place} {options}: {}", said.text);
        }
    }
}

#[test]
fn a_partial_report_says_what_was_not_judged() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(Fault::status(503, "UNAVAILABLE")));
    let (_, index) = scene.registry.tags("acme/widget").into_iter().next().expect("a tag");
    let leaf = |text: &[u8]| -> serde_json::Value { serde_json::from_slice(text).expect("a manifest") };
    let (_, bytes) = scene.registry.manifest("acme/widget", &index).expect("the index");
    let first = leaf(&bytes)["manifests"][0]["digest"].as_str().expect("a digest").to_owned();
    let (_, bytes) = scene.registry.manifest("acme/widget", &first).expect("the leaf");
    let layer = leaf(&bytes)["layers"][0]["digest"].as_str().expect("a digest").to_owned();
    scene.registry.clear_faults();
    let path = format!("/v2/acme/widget/blobs/{layer}");
    scene.registry.fault(Rule::on("GET", &path).then(Fault::status(503, "UNAVAILABLE")));
    assert_snapshot!(scene.run(&format!("{CHECK} --platform darwin_arm64 --quiet")).text, @"
    exit code: 3
    ----- stdout -----
    warning[plain-http-loopback] [REGISTRY]/acme/widget
      what      it answers plain HTTP, and OpenTofu speaks with registries over TLS alone
      why       No release of OpenTofu speaks plain HTTP with a registry, not even on this machine, so
                none installs from here.
      fix       serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu
      spec      OpenTofu 1.10 to 1.13, the client for OCI registries never sets PlainHTTP of oras-go;
                measured

    not judged blob sha256:[DIGEST] (1.4.0, darwin_arm64)
      cause     [REGISTRY]/acme/widget answered 503 to GET
                /v2/acme/widget/blobs/sha256:[DIGEST]:
                injected (UNAVAILABLE)

    checked as registry.example.com/acme/widget, as its newest index says
      darwin_arm64  OpenTofu 1.10 to 1.13  not known for 1.4.0: not all of it could be read

    [REGISTRY]/acme/widget: 1 warning, 1 note; 1 not judged; 1 version looked at

    ----- stderr -----
    error: [REGISTRY]/acme/widget: blob sha256:[DIGEST] was not judged
      cause: [REGISTRY]/acme/widget answered 503 to GET /v2/acme/widget/blobs/sha256:[DIGEST]: injected (UNAVAILABLE)

    hint: the registry has a problem of its own; run the same command again later
    ");
    let json = scene.run(&format!("{CHECK} --json"));
    assert_eq!(json.code, Some(3));
    assert!(json::check(&json).contains(&"not-judged".to_owned()), "{}", json.text);
    let junit = scene.run(&format!("{CHECK} --format junit"));
    assert_eq!(junit.code, Some(3));
    assert!(junit.stdout.contains("<error type=\"not-judged\""), "{}", junit.text);
    assert!(!junit.stdout.contains("errors=\"0\"") && junit.stdout.contains("failures=\"0\""), "{}", junit.text);
    let sarif = scene.run(&format!("{CHECK} --format sarif"));
    assert_eq!(sarif.code, Some(3));
    let document: serde_json::Value = serde_json::from_str(&sarif.stdout).expect("a document");
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert!(!invocation["toolExecutionNotifications"].as_array().expect("a list").is_empty());
}

#[test]
fn a_finding_beside_what_was_not_judged_is_still_printed() {
    let scene = Scene::published();
    let (_, digest) = scene.registry.tags("acme/widget").into_iter().next().expect("a tag");
    scene.registry.put_tag("acme/widget", "2", &digest.parse().expect("a digest"));
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/manifests/sha256:*").then(Fault::status(500, "UNKNOWN")));
    let said = scene.run(&format!("{CHECK} --json"));
    assert_eq!(said.code, Some(3), "{}", said.text);
    assert!(rules(&said).contains("\"error\" \"stray-version-tag\""), "{}", said.text);
}

#[test]
fn a_second_repository_that_fails_is_no_drift() {
    let scene = Scene::published();
    scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget --all").success();
    for path in
        ["/v2/mirror/widget/manifests/1.4.0", "/v2/mirror/widget/manifests/sha256:*", "/v2/mirror/widget/tags/list"]
    {
        for (name, fault) in faults() {
            scene.registry.clear_faults();
            scene.registry.fault(Rule::on("*", path).then(fault));
            let said = scene.run(&format!("{CHECK} --against REGISTRY/mirror/widget --json"));
            assert_eq!(said.code, Some(3), "{name} at {path}: {}", said.text);
            assert!(!said.stdout.contains("\"drift-"), "{name} at {path}: {}", said.text);
        }
    }
}

#[test]
fn a_lock_file_is_not_judged_by_a_registry_that_fails() {
    let scene = Scene::published();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    for (name, fault) in faults() {
        scene.registry.clear_faults();
        scene.registry.fault(Rule::on("*", "/v2/acme/widget/*").then(fault));
        let said = scene.run("check . --platform linux_amd64 --from REGISTRY/acme/widget --attempts 1 --json");
        assert_eq!(said.code, Some(3), "{name}: {}", said.text);
        assert!(!said.stdout.contains("lock-not-asked"), "{name}: {}", said.text);
        assert_eq!(not_judged(&said), 1, "{name}: {}", said.text);
    }
}

#[test]
fn a_probe_of_a_registry_in_trouble_says_nothing_about_what_it_can_do() {
    let deletes = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
    let scene = Scene::with(Registry::builder().behaviour(deletes));
    let line = "check REGISTRY/scratch/probe --registry --attempts 1 --json";
    let good = rules(&scene.run(line).success());
    let paths = [
        "PATCH /v2/*/blobs/uploads/*",
        "POST /v2/*/blobs/uploads/*",
        "GET /v2/*/blobs/*",
        "PUT /v2/*/manifests/*",
        "HEAD /v2/*/manifests/*",
        "GET /v2/*/referrers/*",
        "GET /v2/*/tags/list",
    ];
    for (method, path) in paths.iter().map(|text| text.split_once(' ').expect("a method and a path")) {
        for status in [429, 500, 502, 503, 504] {
            scene.registry.clear_faults();
            scene.registry.fault(Rule::on(method, path).then(Fault::status(status, "UNKNOWN")));
            let said = scene.run(line);
            assert_eq!(said.code, Some(3), "{status} at {method} {path}: {}", said.text);
            let more: Vec<String> = rules(&said).difference(&good).cloned().collect();
            assert!(more.is_empty(), "{status} at {method} {path}: {more:?}: {}", said.text);
        }
    }
}

/// Root reads everything: these need a user whom permissions bind, and pass over otherwise to what holds for root too.
#[test]
#[cfg(unix)]
fn a_layout_that_the_machine_cannot_read_is_not_judged() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    // A link in a circle cannot be opened by anybody.
    let blobs = scene.path("layout/blobs/sha256");
    let good = rules(&scene.run("check oci:layout --json").success());
    let names: Vec<_> = std::fs::read_dir(&blobs).expect("blobs").map(|entry| entry.expect("a blob").path()).collect();
    for path in names {
        let bytes = std::fs::read(&path).expect("a blob");
        std::fs::remove_file(&path).expect("a blob");
        std::os::unix::fs::symlink(&path, &path).expect("a link");
        let said = scene.run("check oci:layout --json");
        assert_eq!(said.code, Some(3), "{}: {}", path.display(), said.text);
        let more: Vec<String> = rules(&said).difference(&good).cloned().collect();
        assert!(more.is_empty(), "{}: {more:?}: {}", path.display(), said.text);
        std::fs::remove_file(&path).expect("a link");
        std::fs::write(&path, bytes).expect("a blob");
    }
}

#[test]
#[cfg(unix)]
fn a_temporary_folder_that_cannot_be_written_to_is_no_finding() {
    let scene = Scene::published();
    for temp in ["no/such/folder", "/proc"] {
        let said = scene.output(scene.command(&format!("{CHECK} --json")).env("TMPDIR", temp));
        assert_eq!(said.code, Some(3), "{temp}: {}", said.text);
        assert!(not_judged(&said) > 0, "{temp}: {}", said.text);
        assert!(!said.stdout.contains("\"level\":\"error\""), "{temp}: {}", said.text);
    }
}

#[test]
fn an_expired_certificate_is_told_with_its_date_and_the_clock() {
    for (validity, want) in [
        (
            Validity::Expired,
            "its certificate was valid until Tue, 01 Jan 2002 00:00:00 GMT, and this machine's clock says ",
        ),
        (
            Validity::NotYet,
            "its certificate is valid from Sat, 01 Jan 2101 00:00:00 GMT on, and this machine's clock says ",
        ),
    ] {
        let scene = Scene::with(Registry::builder().tls(ClientCertificate::NotAsked).validity(validity));
        scene.context.write("ca.pem", scene.registry.ca_pem().expect("it speaks TLS"));
        for verb in ["check REGISTRY/acme/widget", "copy REGISTRY/acme/widget oci:layout"] {
            let said = scene.run(&format!("{verb} --ca-file ca.pem --attempts 1"));
            assert_eq!(said.code, Some(3), "{verb}: {}", said.text);
            assert!(said.stderr.contains(want), "{verb}: {}", said.text);
            assert!(!said.stderr.contains("--plain-http") && !said.stderr.contains("--ca-file"), "{}", said.text);
        }
    }
}

#[test]
fn plain_http_is_not_advised_to_whoever_answers_in_another_language() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        use std::io::Write as _;
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            if stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").is_err() {
                break;
            }
        }
    });
    let scene = Scene::new();
    let said = scene.run(&format!("check 127.0.0.1:{port}/acme/widget --attempts 1"));
    assert_eq!(said.code, Some(3), "{}", said.text);
    assert!(!said.stderr.contains("--plain-http"), "{}", said.text);
    drop(server);
}

#[test]
fn prereleases_alone_match_no_constraint() {
    let scene = Scene::new();
    scene.publish("1.0.0-rc.1");
    let said = scene.run("check REGISTRY/acme/widget --json --platform linux_amd64");
    let lines = said.json();
    let predictions = lines.last().expect("a line")["predictions"].clone();
    assert_eq!(predictions[0]["because"], "no-matching-version", "{}", said.text);
}

#[test]
fn a_damaged_blob_is_damaged_and_nobody_refused_access() {
    let scene = Scene::published();
    for fault in [Fault::CorruptBody(0), Fault::ShortenBody(1)] {
        scene.registry.clear_faults();
        scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(fault));
        let said = scene.run(CHECK);
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert!(!said.text.contains("ccess was refused"), "{}", said.text);
        assert!(said.text.contains("blob-digest") || said.text.contains("blob-size"), "{}", said.text);
    }
}

#[test]
fn notes_that_say_the_same_are_shown_once_with_their_places() {
    let scene = Scene::new();
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        scene.publish(version);
    }
    let said = scene.run(CHECK).success();
    assert_eq!(said.stdout.matches("[unsigned]").count(), 1, "{}", said.text);
    assert!(said.stdout.contains("note[unsigned] 3 times") && said.stdout.contains("(1.1.0)"), "{}", said.text);
    assert!(said.stdout.contains("3 notes"), "{}", said.text);
    let json = scene.run(&format!("{CHECK} --json"));
    assert_eq!(json.json().iter().filter(|line| line["rule"] == "unsigned").count(), 3, "one line a finding");
}

#[test]
fn a_version_beside_the_asked_one_that_cannot_be_read_is_not_judged() {
    let scene = Scene::published();
    scene.dist("next", "1.5.0");
    scene.run(&format!("push next REGISTRY/acme/widget --address {WIDGET}")).success();
    let line = "check REGISTRY/acme/widget:1.4.0 --attempts 1 --json";
    let good = rules(&scene.run(line).success());
    for (name, fault) in faults() {
        scene.registry.clear_faults();
        scene.registry.fault(Rule::on("*", "/v2/acme/widget/manifests/1.5.0").then(fault));
        let said = scene.run(line);
        assert_eq!((said.code, not_judged(&said)), (Some(3), 1), "{name}: {}", said.text);
        assert_eq!(rules(&said), good, "{name}");
    }
}
