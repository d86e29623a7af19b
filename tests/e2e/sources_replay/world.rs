//! The servers of a case, all through one HTTPS proxy: OCI registries, origin registries, network mirrors.
//!
//! ```text
//! https://ANY.example.test/..    the program --CONNECT--> Tunnel --> one TLS listener: OCI registries
//! the hosts of WebPlaces                                         --> an upstream each
//! https://tlsbad…                                                --> one with a certificate that the program does not trust
//! https://nodns…                                                 --> 502, as a proxy says it
//! 127.0.0.1, ::1                 the program itself: a port on which nothing listens
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tofu_oci_testkit::{Answer, Certificates, Computed, Fault, LoggedRequest, RequestHead, Rule, Tunnel, WebServer};

use super::case::{Case, Offered};
use super::faults::{fault, host_of};
use super::release::Repository;
use super::web_places::WebPlace;

/// All hosts of this domain were registries in the measured world. Every other one was closed unless it was offered.
const DOMAIN: &str = ".example.test";

/// The names that the one certificate of all cases is for.
const NAMES: [&str; 5] =
    ["*.example.test", "example.test", "registry.opentofu.org", "registry.terraform.io", "docker.io"];

/// How a host is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Road {
    /// The listener of the OCI registries.
    Open,
    /// A listener of its own.
    To(String),
    /// Its certificate is of an authority that the program does not trust.
    Untrusted,
    /// The proxy does not reach it.
    Closed,
}

/// The servers of a case, running until they are dropped.
#[derive(Debug)]
pub(super) struct World {
    offers: Arc<Offers>,
    tunnel: Tunnel,
    web: WebServer,
    places: Vec<WebPlace>,
    _untrusted: Option<WebServer>,
}

/// What the hosts hold.
#[derive(Debug)]
struct Offers {
    /// By `HOST[:PORT]/NAME`, or `*` for every repository of every host.
    repositories: BTreeMap<String, (Offered, Repository)>,
    roads: BTreeMap<String, Road>,
}

/// The one authority of all cases: making keys takes longer than most cases.
pub(super) fn certificates() -> &'static Certificates {
    static MADE: OnceLock<Certificates> = OnceLock::new();
    MADE.get_or_init(|| Certificates::for_names(&NAMES))
}

impl World {
    pub(super) fn of(case: &Case) -> Self {
        let provider_type = case.provider.rsplit('/').next().unwrap_or_default();
        let (mut roads, mut repositories, mut places) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let own_host = ascii_host(&case.provider);
        for (name, offer) in &case.offers {
            let (kind, place) = name.split_once(':').unwrap_or((name, &own_host));
            match kind {
                "oci" => {
                    let held = Repository::of(place, offer, provider_type);
                    repositories.insert(place.to_owned(), (offer.clone(), held));
                    let (host, _) = place.split_once('/').unwrap_or((place, ""));
                    roads.insert(host.to_ascii_lowercase(), road(offer, Road::Open));
                }
                "direct" => places.push((offer, WebPlace::registry(case, name, place, offer))),
                "mirror" => places.push((offer, WebPlace::mirror(case, name, place, offer))),
                "fs" => {}
                other => panic!("an unknown kind of offer: {other}"),
            }
        }
        for (offer, place) in &places {
            let to = road(offer, Road::To(place.address().to_owned()));
            roads.extend(place.hosts.iter().map(|host| (host.clone(), to.clone())));
        }
        let offers = Arc::new(Offers { repositories, roads });
        let answering = Arc::clone(&offers);
        let pages = Computed::new(move |head, _| answering.answer(head));
        let web = WebServer::answering(certificates(), pages.clone());
        for rule in offers.faults() {
            web.fault(rule.clone());
            // A host may be a registry of both kinds.
            for (_, place) in &places {
                place.rule(rule.clone());
            }
        }
        for (_, place) in &places {
            place.rule(Rule::on("*", "/v2/*").then(Fault::Computed(pages.clone())));
        }

        let needs_other = offers.roads.values().any(|road| *road == Road::Untrusted);
        let untrusted = needs_other.then(|| WebServer::start(&["*.example.test"]));
        let (good, bad) = (web.address().to_owned(), untrusted.as_ref().map(|other| other.address().to_owned()));
        let routing = Arc::clone(&offers);
        let tunnel = Tunnel::by(move |target| match routing.road(target) {
            Road::Open => Some(good.clone()),
            Road::To(address) => Some(address),
            Road::Untrusted => bad.clone(),
            Road::Closed => None,
        });
        let places = places.into_iter().map(|(_, place)| place).collect();
        Self { offers, tunnel, web, places, _untrusted: untrusted }
    }

    /// The variables that lead the program here.
    pub(super) fn environment(&self) -> [(&'static str, String); 3] {
        [
            ("HTTPS_PROXY", self.tunnel.url()),
            ("HTTP_PROXY", self.tunnel.url()),
            ("NO_PROXY", "127.0.0.1,::1".to_owned()),
        ]
    }

    /// How often the program wanted to reach a host.
    pub(super) fn connections(&self) -> usize {
        self.tunnel.asked().len()
    }

    /// The places that sent packages: `HOST/REPOSITORY`, or what the case calls the offer.
    pub(super) fn served(&self) -> Vec<String> {
        let sent = |request: &LoggedRequest| {
            let (name, _) = request.path.strip_prefix("/v2/")?.split_once("/blobs/")?;
            let good = request.method == "GET" && request.status == Some(200);
            good.then(|| format!("{}/{name}", request.header("host").unwrap_or_default()))
        };
        let requests = self.places.iter().flat_map(WebPlace::requests).chain(self.web.requests());
        let repositories: Vec<String> = requests.filter_map(|request| sent(&request)).collect();
        repositories.into_iter().chain(self.places.iter().flat_map(WebPlace::served)).collect()
    }

    /// What an offer is called among [`World::served`], and as a place by the program.
    pub(super) fn sender(&self, offer: &str) -> (String, String) {
        let sent_by = |repository: &str| {
            let (host, name) = repository.split_once('/').unwrap_or((repository, ""));
            (format!("{}/{name}", host.to_ascii_lowercase()), repository.to_owned())
        };
        match self.places.iter().find(|place| place.offer == offer) {
            Some(place) => (place.offer.clone(), place.shown.clone()),
            None => sent_by(offer.trim_start_matches("oci:")),
        }
    }

    /// Whether a `ch:` line names the manifest of a package in one of the repositories.
    pub(super) fn knows(&self, line: &str) -> bool {
        let digest = line.strip_prefix("ch:").unwrap_or_default();
        self.offers.repositories.values().any(|(_, held)| held.manifests.contains_key(digest))
    }

    /// The digest of the manifest of a package in a repository.
    pub(super) fn leaf(&self, repository: &str, version: &str, platform: &str) -> Option<&str> {
        let (host, name) = repository.split_once('/')?;
        self.offers.repository(host, name)?.1.leaf(version, platform)
    }
}

/// The host of an address in ASCII, as it is asked for. Only one international name is measured.
pub(super) fn ascii_host(address: &str) -> String {
    let host = address.split('/').next().unwrap_or_default();
    host.replace("испытание", "xn--80akhbyknj4f").to_ascii_lowercase()
}

fn road(offer: &Offered, good: Road) -> Road {
    match offer.fails.as_deref() {
        Some("tls") => Road::Untrusted,
        Some("dns" | "refused") => Road::Closed,
        _ => good,
    }
}

impl Offers {
    fn road(&self, target: &str) -> Road {
        let (host, port) = target.rsplit_once(':').unwrap_or((target, ""));
        let (host, full) = (host.to_ascii_lowercase(), target.to_ascii_lowercase());
        let offered = self.roads.get(&full).or_else(|| self.roads.get(&host).filter(|_| port == "443"));
        match offered {
            Some(road) => road.clone(),
            None if host.ends_with(DOMAIN) || host.starts_with("registry.") => Road::Open,
            None => Road::Closed,
        }
    }

    /// What a host has under a name.
    fn repository(&self, host: &str, name: &str) -> Option<&(Offered, Repository)> {
        let own = self.repositories.get(&format!("{}/{name}", host.trim_end_matches(":443")));
        own.or_else(|| self.repositories.get("*").filter(|_| !name.is_empty()))
    }

    /// The rules for the faults of the repositories.
    fn faults(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (place, (offer, _)) in &self.repositories {
            for stage in ["list", "tag", "manifest", "blob", "ping"] {
                let Some(word) = offer.failure(stage, "list") else { continue };
                if ["dns", "tls", "refused"].contains(&word) {
                    continue;
                }
                let (host, name) = place.split_once('/').unwrap_or(("*", "*"));
                let (host, name) = (host.to_owned(), name.to_owned());
                let rule = Rule::when(move |head| {
                    (host == "*" || host == host_of(head)) && is_stage(stage, &name, &head.path)
                });
                rules.push(rule.then(registry_fault(word)));
                if word == "401-bearer" {
                    // A refused caller gets no token either.
                    let refused = Answer::error(401, "UNAUTHORIZED", "no token");
                    rules.push(Rule::on("*", "/token").then(Fault::Answer(refused)));
                }
            }
        }
        rules
    }

    /// What a registry answers that has no fault.
    fn answer(&self, head: &RequestHead) -> Answer {
        let host = host_of(head);
        let Some(path) = head.path.strip_prefix("/v2/") else { return Answer::text(404, "404 page not found\n") };
        if path.is_empty() {
            return Answer::json(&json!({}));
        }
        if let Some(name) = path.strip_suffix("/tags/list") {
            let found = self
                .repository(&host, name)
                .filter(|(offer, _)| !offer.versions.is_empty() || !offer.extra_tags.is_empty());
            let Some((_, found)) = found else {
                return Answer::error(404, "NAME_UNKNOWN", "repository name not known to registry");
            };
            let tags: Vec<&str> = found.tags.iter().map(|(tag, _)| tag.as_str()).collect();
            return Answer::json(&json!({"name": name, "tags": tags}));
        }
        if let Some((name, reference)) = path.rsplit_once("/manifests/") {
            let own = self.repository(&host, name);
            let found = own.and_then(|(offer, found)| Some((offer, found.manifest(reference)?)));
            let Some((offer, (digest, media_type, bytes))) = found else {
                return Answer::error(404, "MANIFEST_UNKNOWN", "manifest unknown");
            };
            let answer = Answer::new(200).header("Content-Type", media_type).body(bytes.to_vec());
            let silent = offer.broken.as_deref() == Some("no-digest-header");
            return if silent { answer } else { answer.header("Docker-Content-Digest", digest) };
        }
        let blob = path
            .rsplit_once("/blobs/")
            .and_then(|(name, digest)| self.repository(&host, name).and_then(|(_, found)| found.blobs.get(digest)));
        match blob {
            Some(bytes) => Answer::new(200).header("Content-Type", "application/octet-stream").body(bytes.clone()),
            None => Answer::error(404, "BLOB_UNKNOWN", "blob unknown"),
        }
    }
}

fn is_stage(stage: &str, name: &str, path: &str) -> bool {
    if stage == "ping" {
        return ["/v2/", "/v2"].contains(&path);
    }
    let Some(path) = path.strip_prefix("/v2/") else { return false };
    let of = |found: &str| name == "*" || found == name;
    let manifest = path.rsplit_once("/manifests/").filter(|(found, _)| of(found)).map(|(_, reference)| reference);
    match stage {
        "list" => path.strip_suffix("/tags/list").is_some_and(of),
        "tag" => manifest.is_some_and(|reference| !reference.contains(':')),
        "manifest" => manifest.is_some_and(|reference| reference.contains(':')),
        _ => path.rsplit_once("/blobs/").is_some_and(|(found, _)| of(found)),
    }
}

/// What a word of the cases means that is about an OCI registry.
fn registry_fault(word: &str) -> Fault {
    match word {
        "empty" => Fault::Answer(Answer::json(&json!({"name": "x", "tags": []}))),
        "null-tags" => Fault::Answer(Answer::json(&json!({"name": "x", "tags": null}))),
        "302" => Fault::Answer(Answer::new(302).header("Location", "/elsewhere")),
        "401-bearer" => {
            let challenge = r#"Bearer realm="https://oci.example.test/token",service="registry""#;
            Fault::Answer(Answer::new(401).header("WWW-Authenticate", challenge))
        }
        word => fault(word),
    }
}
