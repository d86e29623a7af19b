//! Places that fetch what they lack. What is fetched when a package is opened is tested beside `PullThrough`.

use tofu_oci_archive::Limits;
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_mirror::{
    Destination, MirrorRules, OpenUpstream, PullOptions, PullThrough, Repositories, UpstreamUse, VersionRule,
};
use tofu_oci_packer::PackageLayout;
use tofu_oci_source::OciSource;
use tofu_oci_store::{MemoryStore, ReadStore as _, Store};
use tofu_oci_testkit::Registry;
use tofu_oci_types::{Platform, Reporter, Tag};

use super::scripted::Opening;
use super::*;
use crate::catalog::refused::is_judged;
use crate::counts::PullLabels;
use crate::packages::tests::{Bench, options as package_options};
use crate::{OfferedBy, Packages, ServedPackage, WithdrawnVersion};

fn options_of(rules: MirrorRules, upstream_use: UpstreamUse) -> PullOptions {
    PullOptions {
        trust: trust(Policy::default()),
        rules,
        attestations: None,
        upstream_use,
        limits: Limits::default(),
        jobs: 1,
        work_dir: std::env::temp_dir(),
    }
}

/// A destination that is one store.
fn into(store: &Arc<MemoryStore>) -> Arc<dyn Destination> {
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    let open = move |_: &Place| Ok(Arc::clone(&store));
    Arc::new(Repositories::new("oci:memory.test/${type}".parse().unwrap(), Arc::new(open)))
}

/// A catalog that pulls through from the place into memory.
fn pulling(upstream: &Arc<Scripted>, pull: PullOptions, options: CatalogOptions) -> Catalog {
    let destination = into(&Arc::new(MemoryStore::new("memory.test/x".parse().unwrap())));
    let source = Arc::clone(upstream);
    let upstream: OpenUpstream = Arc::new(move || Arc::new(Opening(Arc::clone(&source))));
    let reporter: Arc<dyn Reporter> = Arc::new(Codes::default());
    let through = PullThrough::new(upstream, destination, pull, reporter);
    let place = ServedPlace {
        include: vec![ALL.parse().unwrap()],
        exclude: Vec::new(),
        offered: OfferedBy::PullThrough(through),
        list: None,
        renamed: RenamedReleases::Refuse,
    };
    Catalog::new(vec![place], options)
}

#[tokio::test(start_paused = true)]
async fn what_is_lacking_is_served_as_its_upstream_offers_it() {
    let upstream = Scripted::new("upstream.test/x", &["1.0.0"]);
    let pull = options_of(MirrorRules::default(), UpstreamUse::Asked);
    let catalog = pulling(&upstream, pull, options().0);
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
    let many = futures_util::future::join_all((0..20).map(|_| release(&catalog, "1.0.0"))).await;
    assert!(many.iter().all(|one| one.as_ref().is_ok_and(|one| one.packages.len() == 1)));
    assert_eq!(upstream.asked(), (1, 1, 1));
    assert_eq!(release(&catalog, "2.0.0").await.unwrap_err().code(), "version-not-found");
}

/// Waits until the store has these tags.
async fn has_tags(store: &MemoryStore, want: &[&str]) {
    let comes = async {
        loop {
            let tags = store.tags().await.unwrap_or_default();
            if tags.iter().map(Tag::as_str).eq(want.iter().copied()) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), comes).await.expect("the destination does not get the release");
}

#[tokio::test]
async fn a_package_that_lies_in_the_cache_of_zips_ends_in_the_destination_too() {
    let bench = Bench::prepared(Registry::start(), PackageLayout::Artifact, |_| {}).await;
    let (address, version) = ("example.com/acme/zap".parse().unwrap(), "1.0.0".parse().unwrap());
    let platform: Platform = "linux_amd64".parse().unwrap();
    let cache = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let store = Arc::new(MemoryStore::new("memory.test/zap".parse().unwrap()));
        let upstream = Arc::new(bench.store());
        let open: OpenUpstream = Arc::new(move || Arc::new(OciSource::new(Arc::clone(&upstream) as _)));
        let pull = options_of(MirrorRules::default(), UpstreamUse::Asked);
        let through = PullThrough::new(open, into(&store), pull, Arc::new(Codes::default()));
        let release = through.offered(&address, &version).await.unwrap();
        let offer = release.offer(&platform).await.unwrap();
        let packages = Packages::new(package_options(cache.path()));
        packages.zip(&ServedPackage { offer, hashes: Vec::new() }).await.unwrap();
        has_tags(&store, &["1.0.0"]).await;
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 1, "the zip of the first one is used");
    }
}

#[tokio::test(start_paused = true)]
async fn versions_that_are_held_back_or_denied_are_absent() {
    let upstream = Scripted::new("upstream.test/x", &["1.0.0", "1.1.0"]);
    let named = VersionRule { pattern: ALL.parse().unwrap(), versions: "= 1.1.0".parse().unwrap() };
    let week = MirrorRules { min_age: "7d".parse().unwrap(), ..MirrorRules::default() };
    for (rules, seen) in [
        (MirrorRules { deny: vec![named.clone().into()], ..MirrorRules::default() }, vec!["1.0.0"]),
        (MirrorRules { allow: vec![named], ..MirrorRules::default() }, vec!["1.1.0"]),
        (week, vec![]),
    ] {
        let catalog = pulling(&upstream, options_of(rules, UpstreamUse::Asked), options().0);
        assert_eq!(versions(&catalog, WIDGET).await.unwrap(), seen);
        for version in ["1.0.0", "1.1.0"] {
            assert_eq!(release(&catalog, version).await.is_ok(), seen.contains(&version), "{version}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sealed_mirror_asks_no_upstream_and_says_so() {
    let upstream = Scripted::new("upstream.test/x", &["1.0.0"]);
    let catalog = pulling(&upstream, options_of(MirrorRules::default(), UpstreamUse::Sealed), options().0);
    let refusal = release(&catalog, "1.0.0").await.unwrap_err();
    assert!(refusal.to_string().ends_with("is sealed, so its upstream is not asked"), "{refusal}");
    assert!(versions(&catalog, WIDGET).await.unwrap_or_default().is_empty());
    assert_eq!(upstream.asked(), (0, 0, 0));
}

#[test]
fn a_version_that_a_sealed_mirror_lacked_stayed_unlisted_after_it_was_published() {
    let absent = |absence| {
        is_judged(&Refusal::UnknownVersion {
            address: WIDGET.parse::<ProviderAddr>().unwrap().into(),
            version: "1.0.0".parse().unwrap(),
            absence,
        })
    };
    assert!(!absent(VersionAbsence::Sealed));
    assert!(absent(VersionAbsence::Withdrawn(WithdrawnVersion::default())));
}

#[tokio::test(start_paused = true)]
async fn what_the_policy_refuses_is_not_served_from_the_upstream_either() {
    let upstream = Scripted::new("upstream.test/x", &["1.0.0"]);
    let options = CatalogOptions { trust: trust(signed_only()), ..options().0 };
    let catalog = pulling(&upstream, options_of(MirrorRules::default(), UpstreamUse::Asked), options);
    let refusal = release(&catalog, "1.0.0").await.unwrap_err();
    assert!(matches!(refusal, Refusal::Untrusted { .. }), "{refusal:?}");
    assert_eq!(upstream.asked().2, 0, "no package is looked at");
    let label = PullLabels { kind: "provider", outcome: "refused" };
    assert_eq!(catalog.counts().pulls.get_or_create(&label).get(), 1);
}

#[tokio::test(start_paused = true)]
async fn versions_of_the_upstream_stay_listed_while_it_fails() {
    let upstream = Scripted::new("upstream.test/x", &["1.0.0"]);
    let catalog = pulling(&upstream, options_of(MirrorRules::default(), UpstreamUse::Asked), options().0);
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
    upstream.does(Script::Fails(unavailable()));
    pass(61).await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
    assert!(release(&catalog, "2.0.0").await.unwrap_err().code() == "server-error");
}
