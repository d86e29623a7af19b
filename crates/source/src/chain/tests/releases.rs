//! Which link a release is from.

use super::*;

/// The place of the release of a version and of its evidence, or the name of the error.
async fn released(chain: &Chain, version: &str) -> String {
    let release = match chain.release(&ADDRESS.parse().unwrap(), &version.parse().unwrap()).await {
        Ok(release) => release,
        Err(error) => return error.code().to_owned(),
    };
    let evidence = chain.evidence(&release, Search::Everywhere).await.unwrap();
    assert!(
        matches!(&evidence[..], [Evidence::Unreadable { problem, .. }] if *problem == release.place),
        "read by the one who has the release: {evidence:?}"
    );
    let hashes = chain.release_hashes(&release).await.unwrap();
    let own = format!("h1:{}", release.place).parse().unwrap();
    assert!(hashes.values().all(|hashes| hashes.contains(&own)), "{hashes:?}");
    release.place
}

async fn check(links: &str, version: &str, want: &str) {
    assert_eq!(released(&chain(links), version).await, want, "{links}");
}

#[tokio::test]
async fn it_is_that_of_the_first_link_that_has_the_version() {
    check("oci 1.0.0, oci2 1.0.0", "1.0.0", "oci").await;
    check("direct, oci 1.0.0", "1.0.0", "oci").await;
    check("direct 1.1.0, oci 1.0.0", "1.0.0", "oci").await;
    check("fs, direct, oci 1.0.0", "1.0.0", "oci").await;
    check("oci 1.1.0, oci2 1.0.0", "1.0.0", "tag-not-found").await;
    check("net, oci 1.0.0", "1.0.0", "mirror-version-missing").await;
    check("direct !boom, oci 1.0.0", "1.0.0", "server-error").await;
    check("direct, fs", "1.0.0", "provider-not-found").await;
    check("", "1.0.0", "no-matching-release").await;
    // A folder has the version and no index of it: nobody else is asked for one.
    check("fs 1.0.0, oci 1.0.0", "1.0.0", "no-index").await;
}

/// Two links serve platforms of one version: each offer has the release of its own place.
#[tokio::test]
async fn the_release_of_an_offer_is_that_of_its_place() {
    let chain = chain("oci 1.0.0@darwin_arm64, oci2 1.0.0");
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    assert_eq!(released(&chain, "1.0.0").await, "oci");
    for (platform, place) in [("darwin_arm64", "oci"), (LINUX, "oci2")] {
        let offer = chain.offer(&address, &version, &platform.parse().unwrap()).await.unwrap();
        let release = chain.release_of(&offer).await.unwrap();
        assert_eq!((offer.place.as_str(), release.place.as_str()), (place, place));
        let evidence = chain.evidence(&release, Search::Likely).await.unwrap();
        assert!(matches!(&evidence[..], [Evidence::Unreadable { problem, .. }] if problem == place), "{evidence:?}");
    }
}

#[tokio::test]
async fn an_offer_after_it_begins_with_its_link() {
    let (first, second) = (Arc::new(fake("direct 1.1.0")), Arc::new(fake("oci 1.0.0")));
    let link = |fake: &Arc<Fake>| Link { method: fake.kind, label: fake.name.clone(), source: Arc::clone(fake) as _ };
    let chain = Chain::new(vec![link(&first), link(&second)]);
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    chain.release(&address, &version).await.unwrap();
    assert_eq!(first.asked.load(Ordering::SeqCst), 1);
    assert_eq!(chain.offer(&address, &version, &LINUX.parse().unwrap()).await.unwrap().place, "oci");
    assert_eq!(first.asked.load(Ordering::SeqCst), 1, "it is known not to have the version");
    let error = chain.offer(&address, &version, &"darwin_arm64".parse().unwrap()).await.expect_err("only linux");
    assert_snapshot!(error, @"registry.example.test/acme/widget 1.0.0 has no package for darwin_arm64");
}
