//! Profiles do what their data says.

use tofu_oci_testkit::{Profile, Registry, profiles};
use tofu_oci_types::Digest;

use crate::wire::{INDEX, Reply, send};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY: &str = r#"{"schemaVersion":2,"manifests":[]}"#;

struct Running {
    profile: Profile,
    registry: Registry,
    authorization: String,
}

/// The profile of a name, without its token server: whoever shows the password may do everything.
fn start(name: &str) -> Running {
    let profile = profiles().into_iter().find(|profile| profile.name == name).expect("a profile of this name");
    let registry = Registry::builder().behaviour(profile.behaviour.clone()).start();
    profile.prepare(&registry);
    let authorization = profile.login().basic_header();
    Running { profile, registry, authorization }
}

impl Running {
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let path = path.replace("NAME", self.profile.repository);
        let mut all = vec![("Authorization", self.authorization.as_str()), ("Accept", INDEX)];
        all.extend(headers);
        send(self.registry.address(), method, &path, &all, body).expect("an answer")
    }

    fn put(&self, reference: &str, media_type: &str, document: &str) -> Reply {
        let path = format!("/v2/NAME/manifests/{reference}");
        self.ask("PUT", &path, &[("Content-Type", media_type)], document.as_bytes())
    }

    /// Opens a session; gives its path.
    fn session(&self) -> String {
        let opened = self.ask("POST", "/v2/NAME/blobs/uploads/", &[], b"");
        assert_eq!(opened.status, 202, "{}", opened.text());
        path_of(opened.header("Location"))
    }

    /// Sends chunks of these sizes, each to where the one before led; the statuses and the last `Range`.
    fn chunks(&self, sizes: &[usize]) -> (Vec<u16>, String) {
        let (mut path, mut start, mut statuses, mut range) = (self.session(), 0, Vec::new(), String::new());
        for size in sizes {
            let content_range = format!("{start}-{}", start + size - 1);
            let reply = self.ask("PATCH", &path, &[("Content-Range", &content_range)], &vec![b'x'; *size]);
            statuses.push(reply.status);
            if !reply.header("Location").is_empty() {
                path = path_of(reply.header("Location"));
                reply.header("Range").clone_into(&mut range);
            }
            start += size;
        }
        (statuses, range)
    }
}

fn path_of(location: &str) -> String {
    let rest = location.split_once("://").map_or(location, |(_, rest)| &rest[rest.find('/').unwrap_or(0)..]);
    rest.to_owned()
}

#[test]
fn names_are_unique_and_repositories_take_pushes() {
    let mut names: Vec<&str> = profiles().iter().map(|profile| profile.name).collect();
    for name in names.clone() {
        let running = start(name);
        running.session();
        if let Some(missing) = running.profile.missing {
            let path = format!("/v2/{missing}/blobs/uploads/");
            assert!(running.ask("POST", &path, &[], b"").status >= 400, "{name} takes a push to {missing}");
        }
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), count), (19, 19));
}

#[test]
fn chunks_are_taken_dropped_or_refused() {
    const MIB: usize = 1024 * 1024;
    assert_eq!(start("registry:2").chunks(&[10, 10]), (vec![202, 202], "0-19".to_owned()));
    assert_eq!(start("ECR").chunks(&[10, 10]), (vec![201, 201], "0-9".to_owned()));
    assert_eq!(start("Gitea").chunks(&[10, 10]).0, [202, 400]);
    assert_eq!(start("ghcr.io").chunks(&[4 * MIB]).0, [202]);
    assert_eq!(start("ghcr.io").chunks(&[4 * MIB + 1]).0, [416]);
    assert_eq!(start("distribution 3").chunks(&[10]).0, [202]);
}

#[test]
fn tags_are_written_as_often_as_the_registry_lets() {
    let other = EMPTY.replace("[]", "[ ]");
    for (name, same, moved) in [
        ("registry:2", 201, 201),
        ("ECR", 201, 201),
        ("ECR, immutable tags", 400, 400),
        ("Artifact Registry, immutable tags", 201, 400),
        ("Harbor, immutable tags", 201, 412),
    ] {
        let running = start(name);
        let statuses = [EMPTY, EMPTY, &other].map(|document| running.put("1.0.0", INDEX, document).status);
        assert_eq!(statuses, [201, same, moved], "{name}");
        // A digest is no tag.
        let digest = Digest::sha256(EMPTY.as_bytes()).to_string();
        assert_eq!(running.put(&digest, INDEX, EMPTY).status, 201, "{name}");
    }
}

#[test]
fn gitlab_takes_the_types_of_its_list_and_subjects_that_are_there() {
    let running = start("GitLab");
    let typed = EMPTY.replace("\"manifests\"", "\"artifactType\":\"application/x\",\"manifests\"");
    let refused = running.put("1.0.0", INDEX, &typed);
    assert_eq!(
        (refused.status, refused.json()["errors"][0]["detail"].as_str()),
        (400, Some("unknown media type: application/x"))
    );
    assert_eq!(running.put("1.0.0", INDEX, EMPTY).status, 201);
    let digest = Digest::sha256(EMPTY.as_bytes());
    // The tag that stands in for the referrers API is read as the digest itself.
    let alias = format!("/v2/NAME/manifests/{}", digest.as_str().replace(':', "-"));
    assert_eq!(running.ask("GET", &alias, &[], b"").text(), EMPTY);
    let subject = |digest: &str| format!(r#"{{"schemaVersion":2,"layers":[],"subject":{{"digest":"{digest}"}}}}"#);
    let missing = format!("sha256:{}", "0".repeat(64));
    assert_eq!(running.put("a", MANIFEST, &subject(&missing)).status, 404);
    assert_eq!(running.put("a", MANIFEST, &subject(digest.as_str())).status, 201);
}

#[test]
fn lists_and_headers_differ() {
    let running = start("ECR");
    assert_eq!(running.ask("GET", "/v2/NAME/tags/list?n=1000", &[], b"").status, 200, "made, and empty");
    assert_eq!(running.ask("GET", "/v2/NAME/tags/list?n=1001", &[], b"").status, 400);
    let running = start("specification, the least of it");
    assert_eq!(running.put("1.0.0", INDEX, EMPTY).header("Docker-Content-Digest"), "");
    assert_eq!(running.ask("GET", "/v2/NAME/manifests/1.0.0", &[], b"").header("Docker-Content-Digest"), "");
    for (name, kind) in
        [("ACR", Some("application/x")), ("ACR, customer's key", None), ("Harbor, old", Some("application/y"))]
    {
        let running = start(name);
        running.registry.put_manifest(
            running.profile.repository,
            MANIFEST,
            format!(
                r#"{{"artifactType":"application/x","config":{{"mediaType":"application/y"}},"subject":{{"digest":"sha256:{}"}}}}"#,
                "0".repeat(64)
            ),
        );
        let path = format!("/v2/NAME/referrers/sha256:{}", "0".repeat(64));
        let list = running.ask("GET", &path, &[], b"").json();
        assert_eq!(list["manifests"][0]["artifactType"].as_str(), kind, "{name}: {list}");
    }
}

#[test]
fn each_registry_names_its_own_token_server() {
    for (name, path, scope) in [
        ("ACR", "/oauth2/token", "pull,metadata_read"),
        ("GitLab", "/jwt/auth", "pull"),
        ("Harbor, old", "/service/token", "pull"),
    ] {
        let profile = profiles().into_iter().find(|profile| profile.name == name).expect("a profile of this name");
        let registry = profile.builder().start();
        let asked = send(registry.address(), "GET", "/v2/a/b/tags/list", &[], b"").expect("an answer");
        let challenge = asked.header("WWW-Authenticate").to_owned();
        assert!(challenge.contains(&format!("{path}\"")) && challenge.contains(&format!(":{scope}\"")), "{challenge}");
        let login = profile.login().basic_header();
        let token = format!("{path}?scope=repository:a/b:{scope}");
        let token = send(registry.address(), "GET", &token, &[("Authorization", &login)], b"").expect("an answer");
        assert_eq!(token.status, 200, "{name}");
        assert_eq!(registry.token_requests().len(), 1, "{name}");
    }
}
