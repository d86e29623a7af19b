//! Versions that rules hold back or deny, and addresses that someone made up.

use super::*;
use tofu_oci_store::Store as _;

use crate::Sightings;

fn week() -> MirrorRules {
    MirrorRules { min_age: "7d".parse().unwrap(), ..MirrorRules::default() }
}

#[tokio::test]
async fn a_version_that_is_held_back_is_neither_listed_nor_fetched() {
    let pulling = Pulling::new();
    let through = pulling.through_with(Arc::default(), week());
    pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap();
    pulling.upstream.release("acme/zap", "1.5.0", &["linux_amd64"]);
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0"]);
    assert_eq!(pulled(&through, "1.5.0", "linux_amd64").await, Err("tag-not-found"));
    assert_eq!(pulling.asked("/v1/providers/acme/zap/1.5.0/*"), 0);
    assert_eq!(pulling.tags(), ["1.4.0", "first-seen"], "the first look is remembered");
    // Once it is there, it is offered.
    pulled(&pulling.through(), "1.5.0", "linux_amd64").await.unwrap();
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0", "1.5.0"]);
    pulled(&through, "1.5.0", "linux_amd64").await.unwrap();
}

#[tokio::test]
async fn a_version_that_was_seen_long_ago_is_offered() {
    let pulling = Pulling::new();
    let through = pulling.through_with(Arc::default(), week());
    let mut sightings = Sightings::default();
    sightings.see(&"1.4.0".parse().unwrap(), "2020-01-01T00:00:00Z".parse().unwrap());
    let seen = FirstSeen::of(&pulling.destination(), &ZAP.parse().unwrap()).unwrap();
    seen.add(&sightings).await.unwrap();
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0"]);
    assert_eq!(pulled(&through, "1.4.0", "linux_amd64").await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_version_that_is_denied_is_not_offered_although_it_is_there() {
    let pulling = Pulling::new();
    pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap();
    pulling.upstream.release("acme/zap", "1.5.0", &["linux_amd64"]);
    let named = |text: &str| VersionRule { pattern: ZAP.parse().unwrap(), versions: text.parse().unwrap() };
    let rules = MirrorRules { deny: vec![named("= 1.4.0").into()], ..MirrorRules::default() };
    let through = pulling.through_with(Arc::default(), rules);
    assert_eq!(versions(&through).await.unwrap(), ["1.5.0"]);
    assert_eq!(pulled(&through, "1.4.0", "linux_amd64").await, Err("tag-not-found"));
    let rules = MirrorRules { allow: vec![named("= 1.4.0")], ..MirrorRules::default() };
    assert_eq!(versions(&pulling.through_with(Arc::default(), rules)).await.unwrap(), ["1.4.0"]);
}

#[tokio::test]
async fn a_prerelease_or_build_metadata_of_a_denied_version_was_pulled_through() {
    let pulling = Pulling::new();
    for version in ["1.4.0+evil", "1.5.0-rc1", "2.0.0-rc1", "2.0.0"] {
        pulling.upstream.release("acme/zap", version, &["linux_amd64"]);
    }
    for (text, left) in [("1.4.0", &["1.5.0-rc1", "2.0.0-rc1", "2.0.0"][..]), ("< 2.0.0", &["2.0.0"])] {
        let named = VersionRule { pattern: ZAP.parse().unwrap(), versions: text.parse().unwrap() };
        let rules = MirrorRules { deny: vec![named.into()], ..MirrorRules::default() };
        let through = pulling.through_with(Arc::default(), rules);
        assert_eq!(versions(&through).await.unwrap(), left, "{text}");
        for version in
            ["1.4.0", "1.4.0+evil", "1.5.0-rc1", "2.0.0-rc1"].iter().filter(|version| !left.contains(version))
        {
            assert_eq!(pulled(&through, version, "linux_amd64").await, Err("tag-not-found"), "{text} {version}");
        }
    }
}

#[tokio::test]
async fn every_made_up_address_was_remembered_for_ever() {
    const ASKED: usize = 3000;
    const MOST: usize = 1024;
    let opened: Arc<Mutex<Vec<Weak<dyn tofu_oci_store::Store>>>> = Arc::default();
    let opening = Arc::clone(&opened);
    let open = move |place: &Place| {
        let store: Arc<dyn tofu_oci_store::Store> = Arc::new(MemoryStore::new(place.clone()));
        opening.lock().unwrap().push(Arc::downgrade(&store));
        Ok(store)
    };
    let template =
        RepositoryTemplate::check("reg.example/${namespace}/${type}", &["registry.example.test/*/*".to_owned()])
            .unwrap();
    let destination = Repositories::new(TemplateRepositories::Registry(template), Arc::new(open));
    let options = PullOptions {
        trust: Trust {
            policy: Arc::default(),
            pins: Pins::default(),
            pins_path: PathBuf::new(),
            now: SystemTime::now(),
            renamed: RenamedReleases::Refuse,
        },
        rules: MirrorRules::default(),
        attestations: None,
        upstream_use: UpstreamUse::Asked,
        limits: Limits::default(),
        jobs: 1,
        work_dir: PathBuf::new(),
    };
    let upstream: OpenUpstream = Arc::new(|| Arc::new(Chain::unmatched()));
    let through = PullThrough::new(upstream, Arc::new(destination), options, Arc::new(EventLog::default()));
    for number in 0..ASKED {
        let address = format!("registry.example.test/made/up{number}").parse().unwrap();
        assert!(through.versions(&address).await.is_err());
        assert!(through.offered(&address, &"1.0.0".parse().unwrap()).await.is_err());
        assert!(through.release(&address, &"1.0.0".parse().unwrap(), None).await.is_err());
    }
    let opened = opened.lock().unwrap();
    assert!(opened.len() >= ASKED);
    let kept = opened.iter().filter(|store| store.strong_count() > 0).count();
    assert!(kept <= MOST, "{kept} repositories are open");
}

/// An index of another provider under this tag, and its digest.
async fn index_of_other(pulling: &Pulling, tag: &str) -> Digest {
    let text = format!(
        r#"{{"schemaVersion":2,"mediaType":"{}","artifactType":"{}","manifests":[],"annotations":{{"{}":"{OTHER}"}}}}"#,
        tofu_oci_layout::media_type::OCI_INDEX,
        tofu_oci_layout::artifact_type::PROVIDER,
        tofu_oci_layout::annotation::ADDRESS,
    );
    let index = tofu_oci_types::Descriptor::of(tofu_oci_layout::media_type::OCI_INDEX, text.as_bytes());
    let store = pulling.carried.store();
    store.push(&index, &bytes::Bytes::from(text)).await.unwrap();
    store.tag(&index, &tag.parse().unwrap()).await.unwrap();
    index.digest
}

const OTHER: &str = "registry.example.test/acme-google/zap";

#[tokio::test]
async fn a_version_that_is_marked_for_another_provider_was_listed_and_hid_ones_own() {
    let pulling = Pulling::new();
    let (destination, long_ago) = (pulling.destination(), "2020-01-01T00:00:00Z".parse().unwrap());
    let (own, other) = (ZAP.parse().unwrap(), OTHER.parse().unwrap());
    let (mut seen, mut marked) = (Sightings::default(), Sightings::default());
    seen.see(&"1.4.0".parse().unwrap(), long_ago);
    let there = index_of_other(&pulling, "9.9.0").await;
    let withdrawn = index_of_other(&pulling, "withdrawn-1.4.0").await;
    marked.set_mark(&"9.9.0".parse().unwrap(), crate::VersionMark::Whole(there), long_ago);
    marked.set_mark(&"1.4.0".parse().unwrap(), crate::VersionMark::Withdrawn(withdrawn), long_ago);
    FirstSeen::of(&destination, &own).unwrap().add(&seen).await.unwrap();
    FirstSeen::of(&destination, &other).unwrap().add(&marked).await.unwrap();
    let through = pulling.through_with(Arc::default(), week());
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0"]);
    let version = "1.4.0".parse().unwrap();
    assert!(through.offered(&own, &version).await.is_ok(), "the withdrawal is not that of this provider");
}

#[tokio::test]
async fn a_version_that_has_said_another_provider_was_listed_again() {
    let pulling = Pulling::new();
    let through = pulling.through();
    index_of_other(&pulling, "9.9.0").await;
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0", "9.9.0"], "nothing is asked for a list");
    assert_eq!(pulled(&through, "9.9.0", "linux_amd64").await, Err("tag-not-found"));
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0"]);
}
