//! What a search costs, counted by the registry.

use std::sync::Arc;

use tofu_oci_http::HttpOptions;
use tofu_oci_layout::PackageLayout;
use tofu_oci_remote::RegistryClient;
use tofu_oci_testkit::{Behaviour, ReferrersSupport, Registry};
use tofu_oci_types::{PackageHash, Version};

use super::*;
use crate::oci::tests::answers::client;
use crate::oci::tests::{ADDRESS, offered, release};
use crate::{OciSource, Release, Source};

const PLATFORMS: [&str; 10] = [
    "darwin_amd64",
    "darwin_arm64",
    "freebsd_386",
    "freebsd_amd64",
    "linux_386",
    "linux_amd64",
    "linux_arm",
    "linux_arm64",
    "windows_386",
    "windows_amd64",
];

/// A registry with releases in repositories `p0`, `p1`, …
pub(super) struct Lab {
    pub(super) registry: Registry,
    pub(super) client: Arc<RegistryClient>,
}

impl Lab {
    pub(super) async fn new(referrers: ReferrersSupport, providers: usize, platforms: &[&str]) -> Self {
        let registry = Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }).start();
        let lab = Self { registry, client: client(HttpOptions::default()) };
        for nth in 0..providers {
            release(&lab.store(nth), PackageLayout::Artifact, platforms).await;
        }
        // What the pushes have learned is forgotten.
        Self { client: client(HttpOptions::default()), ..lab }
    }

    pub(super) fn store(&self, nth: usize) -> tofu_oci_remote::RemoteStore {
        self.client.store(format!("{}/p{nth}", self.registry.address()).parse().unwrap())
    }

    pub(super) fn index(&self, nth: usize) -> Descriptor {
        let (media_type, bytes) = self.registry.manifest(&format!("p{nth}"), "1.0.0").unwrap();
        Descriptor::of(&media_type, &bytes)
    }

    pub(super) fn put(&self, nth: usize, referrer: &Referrer) {
        self.registry.put_referrer(&format!("p{nth}"), referrer);
    }

    pub(super) fn put_tag(&self, nth: usize, referrer: &Referrer) {
        let repository = format!("p{nth}");
        let digest = self.registry.put_referrer(&repository, referrer);
        self.registry.put_tag(&repository, sig_tag(&self.index(nth)).as_str(), &digest);
    }

    /// The requests since the last time, digests cut out.
    pub(super) fn asked(&self) -> String {
        let lines: Vec<String> = self.registry.requests().iter().map(tofu_oci_testkit::LoggedRequest::line).collect();
        self.registry.clear_requests();
        let cut = |line: String| match line.split_once("sha256") {
            Some((before, rest)) => {
                format!(
                    "{before}sha256{}…{}",
                    &rest[..1],
                    rest[1..].trim_start_matches(|c: char| c.is_ascii_hexdigit())
                )
            }
            None => line,
        };
        lines.into_iter().map(cut).collect::<Vec<_>>().join("\n")
    }
}

fn asked_for() -> (tofu_oci_types::ProviderAddr, Version) {
    (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap())
}

/// A release with its evidence, and then an offer for every platform.
async fn read(source: &OciSource, search: Search) -> (Arc<dyn Release>, Vec<Evidence>) {
    let (address, version) = asked_for();
    let release = source.release(&address, &version).await.unwrap();
    let found = release.evidence(search).await.unwrap();
    (release, found)
}

#[tokio::test]
async fn a_locked_version_costs_four_requests_where_there_is_no_api() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &PLATFORMS).await;
    lab.put(0, &Referrer::bundle(&lab.index(0), b"{}", Inline::Yes));
    lab.registry.clear_requests();
    let source = OciSource::new(Arc::new(lab.store(0)));
    let (release, found) = read(&source, Search::Likely).await;
    assert_eq!((release.platforms().await.unwrap().len(), summary(&found).as_str()), (10, "bundle {}"));
    insta::assert_snapshot!(lab.asked(), @r"
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/referrers/sha256:… -> 404
    GET /v2/p0/manifests/sha256-… -> 200
    GET /v2/p0/manifests/sha256:… -> 200
    ");
    // Everything else is known by now, so questions about the index cost no request.
    let again = source.release(&asked_for().0, &asked_for().1).await.unwrap();
    assert_eq!(again.describe().await.unwrap(), release.describe().await.unwrap());
    assert_eq!(again.platforms().await.unwrap(), release.platforms().await.unwrap());
    assert_eq!(lab.asked(), "");
}

#[tokio::test]
async fn a_locked_version_costs_three_requests_where_there_is_the_api() {
    let lab = Lab::new(ReferrersSupport::Supported, 1, &PLATFORMS).await;
    lab.put(0, &Referrer::bundle(&lab.index(0), b"{}", Inline::Yes));
    lab.registry.clear_requests();
    read(&OciSource::new(Arc::new(lab.store(0))), Search::Likely).await;
    insta::assert_snapshot!(lab.asked(), @r"
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/referrers/sha256:… -> 200
    GET /v2/p0/manifests/sha256:… -> 200
    ");
}

#[tokio::test]
async fn an_unlocked_version_costs_four_requests() {
    for referrers in [ReferrersSupport::Unsupported, ReferrersSupport::Supported] {
        let lab = Lab::new(referrers, 1, &PLATFORMS).await;
        lab.put(0, &Referrer::bundle(&lab.index(0), b"{}", Inline::Yes));
        lab.registry.clear_requests();
        let source = OciSource::new(Arc::new(lab.store(0)));
        source.versions(&asked_for().0).await.unwrap();
        let (_, found) = read(&source, Search::Likely).await;
        assert_eq!(summary(&found), "bundle {}");
        let asked = lab.asked();
        match referrers {
            ReferrersSupport::Unsupported => insta::assert_snapshot!(asked, @r"
    GET /v2/p0/tags/list -> 200
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/manifests/sha256-… -> 200
    GET /v2/p0/manifests/sha256:… -> 200
    "),
            _ => insta::assert_snapshot!(asked, @r"
    GET /v2/p0/tags/list -> 200
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/referrers/sha256:… -> 200
    GET /v2/p0/manifests/sha256:… -> 200
    "),
        }
    }
}

#[tokio::test]
async fn five_providers_of_one_registry_learn_once_that_there_is_no_api() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 5, &PLATFORMS[..2]).await;
    for nth in 0..5 {
        lab.put(nth, &Referrer::bundle(&lab.index(nth), b"{}", Inline::Yes));
    }
    lab.registry.clear_requests();
    for nth in 0..5 {
        let (_, found) = read(&OciSource::new(Arc::new(lab.store(nth))), Search::Likely).await;
        assert_eq!(summary(&found), "bundle {}");
    }
    assert_eq!(lab.registry.requests_to("GET", "/v2/*/referrers/*").len(), 1);
    assert_eq!(lab.registry.requests().len(), 5 * 3 + 1);
}

#[tokio::test]
async fn a_platform_costs_one_request_whatever_their_number() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &PLATFORMS).await;
    lab.registry.clear_requests();
    let source = OciSource::new(Arc::new(lab.store(0)));
    let (address, version) = asked_for();
    let release = source.release(&address, &version).await.unwrap();
    for platform in &release.describe().await.unwrap().platforms {
        Arc::clone(&release).offer(platform).await.unwrap();
    }
    assert_eq!(lab.registry.requests().len(), 1 + 10, "the index, and every leaf once");
    let hashes = release.hashes().await.unwrap();
    assert_eq!(lab.registry.requests().len(), 1 + 10, "the leaves are known");
    let zips = |hashes: &std::collections::BTreeSet<PackageHash>| {
        hashes.iter().filter(|hash| hash.as_str().starts_with("zh:")).count()
    };
    assert!(hashes.len() == 10 && hashes.values().all(|hashes| zips(hashes) == 1), "{hashes:?}");
}

/// Several packages of one release at once ask for its index once.
#[tokio::test]
async fn who_comes_while_it_is_read_waits() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &PLATFORMS).await;
    lab.registry.clear_requests();
    let source = OciSource::new(Arc::new(lab.store(0)));
    let offers = PLATFORMS.iter().map(|platform| offered(&source, "1.0.0", platform));
    let offers = futures_util::future::try_join_all(offers).await.unwrap();
    assert_eq!((offers.len(), lab.registry.requests().len()), (10, 1 + 10));
}

#[tokio::test]
async fn cosigns_tag_costs_as_much() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &PLATFORMS[..1]).await;
    lab.put_tag(0, &Referrer::cosign_tag(b"payload", "c2ln", Inline::No));
    lab.registry.clear_requests();
    let (_, found) = read(&OciSource::new(Arc::new(lab.store(0))), Search::Likely).await;
    assert_eq!(summary(&found), "cosign payload by c2ln");
    insta::assert_snapshot!(lab.asked(), @r"
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/referrers/sha256:… -> 404
    GET /v2/p0/manifests/sha256-… -> 404
    GET /v2/p0/manifests/sha256-….sig -> 200
    GET /v2/p0/blobs/sha256:… -> 200
    ");
    // With a list of tags, the tag that is not in it is not asked for.
    let source = OciSource::new(Arc::new(lab.store(0)));
    source.versions(&asked_for().0).await.unwrap();
    let (_, found) = read(&source, Search::Likely).await;
    assert_eq!(summary(&found), "cosign payload by c2ln");
    insta::assert_snapshot!(lab.asked(), @r"
    GET /v2/p0/tags/list -> 200
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/manifests/sha256-….sig -> 200
    GET /v2/p0/blobs/sha256:… -> 200
    ");
}

#[tokio::test]
async fn nothing_is_found_with_few_requests_and_everywhere_is_asked_when_it_must_be() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &PLATFORMS[..1]).await;
    lab.registry.clear_requests();
    let source = OciSource::new(Arc::new(lab.store(0)));
    source.versions(&asked_for().0).await.unwrap();
    let (release, found) = read(&source, Search::Likely).await;
    assert_eq!(summary(&found), "");
    insta::assert_snapshot!(lab.asked(), @r"
    GET /v2/p0/tags/list -> 200
    GET /v2/p0/manifests/1.0.0 -> 200
    GET /v2/p0/referrers/sha256:… -> 404
    ");
    assert_eq!(summary(&release.evidence(Search::Everywhere).await.unwrap()), "");
    insta::assert_snapshot!(lab.asked(), @r"
    GET /v2/p0/manifests/sha256-… -> 404
    GET /v2/p0/manifests/sha256-….sig -> 404
    ");
}

/// A registry got the API after signatures had been listed under the tag, and does not list the old ones; the tag is
/// listed.
#[tokio::test]
async fn a_stale_tag_beside_the_api_hides_nothing() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &PLATFORMS[..1]).await;
    lab.put(0, &Referrer::bundle(&lab.index(0), b"old", Inline::Yes));
    lab.registry.set_behaviour(Behaviour { referrers: ReferrersSupport::Supported, ..Behaviour::default() });
    lab.put(0, &Referrer::bundle(&lab.index(0), b"new", Inline::Yes));
    lab.registry.clear_requests();
    let source = OciSource::new(Arc::new(lab.store(0)));
    source.versions(&asked_for().0).await.unwrap();
    let (release, found) = read(&source, Search::Likely).await;
    assert_eq!(summary(&found), "bundle old");
    let mut all: Vec<String> =
        summary(&release.evidence(Search::Everywhere).await.unwrap()).lines().map(ToOwned::to_owned).collect();
    all.sort();
    assert_eq!(all, ["bundle new", "bundle old"]);
}
