//! The origin registries and network mirrors of a case: each is an upstream with the case's packages and faults.

use serde_json::{Value, json};
use tofu_oci_testkit::{Answer, Fault, LoggedRequest, MirrorHashes, RequestHead, Rule, ScratchOpenPgpKey, Upstream};

use super::case::{Case, Offered};
use super::faults::{fault, host_of};
use super::packages::{maker, provider_zip};
use super::world::certificates;

/// An origin registry or a network mirror.
#[derive(Debug)]
pub(super) struct WebPlace {
    /// What the case calls it.
    pub(super) offer: String,
    /// What the program calls it.
    pub(super) shown: String,
    /// The names of the server.
    pub(super) hosts: [String; 2],
    upstream: Upstream,
}

impl WebPlace {
    /// The origin registry of a host.
    pub(super) fn registry(case: &Case, name: &str, host: &str, offer: &Offered) -> Self {
        let stages = ["discovery", "versions", "download", "archive", "all"];
        offer.assert_known(name, &stages, &["shasum", "signature"], &[]);
        let place = Self::with_packages(case, name, host, offer);
        place.fail(offer, "discovery", "versions", |path| path == "/.well-known/terraform.json");
        place.fail(offer, "versions", "versions", |path| path.ends_with("/versions"));
        place.fail(offer, "download", "versions", |path| path.contains("/download/"));
        place.fail(offer, "archive", "versions", is_archive);
        match offer.broken.as_deref() {
            Some("shasum") => place.lie_about_checksums(case, offer),
            // The documents go on to name the key of number 1.
            Some(_) => place.upstream.sign_with(&ScratchOpenPgpKey::of(2)),
            None => {}
        }
        place
    }

    /// The network mirror at a URL.
    pub(super) fn mirror(case: &Case, name: &str, url: &str, offer: &Offered) -> Self {
        let hashes = ["none", "zh", "h1", "wrong", "unknown"];
        offer.assert_known(name, &["index", "version", "archive", "all"], &["shasum"], &hashes);
        let (host, path) = url.trim_start_matches("https://").split_once('/').unwrap_or((url, ""));
        let mut place = Self::with_packages(case, name, host, offer);
        place.shown = format!("the network mirror {url}");
        place.upstream.mirror_at(&format!("/{path}"));
        let wrong = &["zh:0000000000000000000000000000000000000000000000000000000000000000"];
        let hashes = offer.hashes.as_deref().or(offer.broken.as_deref().map(|_| "wrong"));
        place.upstream.list_hashes(match hashes {
            None => MirrorHashes::Both,
            Some("none") => MirrorHashes::Absent,
            Some("zh") => MirrorHashes::Zh,
            Some("h1") => MirrorHashes::H1,
            Some("wrong") => MirrorHashes::These(wrong),
            Some(_) => MirrorHashes::These(&["h2:AAAA"]),
        });
        place.fail(offer, "index", "index", |path| path.ends_with("/index.json"));
        place.fail(offer, "version", "index", |path| {
            std::path::Path::new(path).extension().is_some_and(|kind| kind == "json") && !path.ends_with("/index.json")
        });
        place.fail(offer, "archive", "index", is_archive);
        place
    }

    fn with_packages(case: &Case, name: &str, host: &str, offer: &Offered) -> Self {
        let upstream = Upstream::with_certificates(certificates());
        let provider = provider(case);
        upstream.provider(&provider.0);
        for version in &offer.versions {
            for platform in offer.platforms(version) {
                let maker = maker(name, offer.content.as_deref());
                let zip = provider_zip(&maker, provider.1, version, platform);
                upstream.package(&provider.0, version, &zip);
            }
        }
        // Where redirects lead.
        let moved = format!("moved-{}", host.to_ascii_lowercase());
        Self { offer: name.to_owned(), shown: host.to_owned(), hosts: [host.to_ascii_lowercase(), moved], upstream }
    }

    /// Adds the fault of a stage, if the offer has one there.
    fn fail(&self, offer: &Offered, stage: &str, listing: &str, matches: fn(&str) -> bool) {
        let Some(word) = offer.failure(stage, listing) else { return };
        let moved = self.hosts[1].clone();
        let is_moved = move |head: &RequestHead| host_of(head) == moved;
        let rule = Rule::when(move |head| matches(&head.path) && !is_moved(head));
        let json = |document: Value| Fault::Answer(Answer::json(&document));
        self.upstream.fault(rule.then(match word {
            // The server is not reached.
            "dns" | "tls" | "refused" => return,
            "302" => Fault::Redirect { status: 302, prefix: format!("https://{}", self.hosts[1]) },
            "no-service" => json(json!({"modules.v1": "/v1/modules/"})),
            "bad-version" => json(json!({"versions": [{"version": "1.0.0"}, {"version": "not-a-version"}]})),
            "empty" if stage == "version" => json(json!({"archives": {}})),
            "empty" if stage == "versions" => json(json!({"versions": []})),
            "empty" => json(json!({})),
            word => fault(word),
        }));
    }

    /// Download documents whose checksum is not in `SHA256SUMS`.
    fn lie_about_checksums(&self, case: &Case, offer: &Offered) {
        let provider = provider(case).0;
        for version in &offer.versions {
            for platform in offer.platforms(version) {
                let path = format!("/v1/providers/{provider}/{version}/download/{}", platform.replacen('_', "/", 1));
                let mut document: Value = serde_json::from_slice(&self.upstream.page(&path).body).unwrap();
                document["shasum"] = json!("0".repeat(64));
                self.upstream.fault(Rule::on("GET", &path).then(Fault::Answer(Answer::json(&document))));
            }
        }
    }

    /// Adds a rule after those of the case's own faults.
    pub(super) fn rule(&self, rule: Rule) {
        self.upstream.fault(rule);
    }

    /// Everything that has arrived.
    pub(super) fn requests(&self) -> Vec<LoggedRequest> {
        self.upstream.requests()
    }

    /// `127.0.0.1:PORT`.
    pub(super) fn address(&self) -> &str {
        self.upstream.address()
    }

    /// What the case calls it, once for each package that it sent.
    pub(super) fn served(&self) -> Vec<String> {
        let sent = |request: &&LoggedRequest| {
            request.method == "GET" && is_archive(&request.path) && matches!(request.status, Some(200 | 206))
        };
        self.upstream.requests().iter().filter(sent).map(|_| self.offer.clone()).collect()
    }
}

/// `NAMESPACE/TYPE` of the case's provider, and its type.
fn provider(case: &Case) -> (String, &str) {
    let mut parts = case.provider.rsplitn(3, '/');
    let (name, namespace) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (format!("{namespace}/{name}"), name)
}

fn is_archive(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|kind| kind == "zip")
}
