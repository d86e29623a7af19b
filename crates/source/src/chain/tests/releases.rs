//! Which link a release is from.

use super::*;

/// The place of the release of a version and of its evidence, or the name of the error.
async fn released(chain: &Chain, version: &str) -> String {
    let release = match chain.release(&ADDRESS.parse().unwrap(), &version.parse().unwrap()).await {
        Ok(release) => release,
        Err(error) => return error.code().to_owned(),
    };
    assert_read_by(&*release).await;
    release.id().place.to_string()
}

/// The release's evidence and checksums are read by the link that has the release.
async fn assert_read_by(release: &dyn Release) {
    let place = release.id().place.to_string();
    let evidence = release.evidence(Search::Everywhere).await.unwrap();
    assert!(matches!(&evidence[..], [Evidence::Unreadable { problem, .. }] if *problem == place), "{evidence:?}");
    let own = format!("h1:{place}").parse().unwrap();
    let hashes = release.hashes().await.unwrap();
    assert!(hashes.values().all(|hashes| hashes.contains(&own)), "{hashes:?}");
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
    check("fs 1.0.0, oci 1.0.0", "1.0.0", "fs").await;
    check("oci 1.1.0, oci2 1.0.0", "1.0.0", "tag-not-found").await;
    check("net, oci 1.0.0", "1.0.0", "mirror-version-missing").await;
    check("direct !boom, oci 1.0.0", "1.0.0", "server-error").await;
    check("direct, fs", "1.0.0", "provider-not-found").await;
    check("", "1.0.0", "no-matching-release").await;
}

/// Two links serve platforms of one version: each offer has the release of its own place.
#[tokio::test]
async fn the_release_of_an_offer_is_that_of_its_place() {
    let chain = chain("oci 1.0.0@darwin_arm64, oci2 1.0.0");
    let version = "1.0.0".parse().unwrap();
    assert_eq!(released(&chain, "1.0.0").await, "oci");
    for (platform, place) in [("darwin_arm64", "oci"), (LINUX, "oci2")] {
        let offer = offer(&chain, &version, platform).await.unwrap();
        assert_eq!(offer.place().to_string(), place);
        assert_read_by(&*offer.release).await;
    }
}

#[tokio::test]
async fn an_offer_after_it_begins_with_its_link() {
    let (first, second) = (Arc::new(fake("direct 1.1.0")), Arc::new(fake("oci 1.0.0")));
    let link =
        |fake: &Arc<Fake>| Link { method: fake.kind, label: fake.place.to_string(), source: Arc::clone(fake) as _ };
    let chain = Chain::new(vec![link(&first), link(&second)]);
    let release = chain.release(&ADDRESS.parse().unwrap(), &"1.0.0".parse().unwrap()).await.unwrap();
    assert_eq!(first.asked.load(Ordering::SeqCst), 1);
    let offer = Arc::clone(&release).offer(&LINUX.parse().unwrap()).await.unwrap();
    assert_eq!(offer.place().to_string(), "oci");
    assert_eq!(first.asked.load(Ordering::SeqCst), 1, "it is known not to have the version");
    let error = release.offer(&"darwin_arm64".parse().unwrap()).await.expect_err("only linux");
    assert_snapshot!(error, @"registry.example.test/acme/widget 1.0.0 has no package for darwin_arm64");
}
