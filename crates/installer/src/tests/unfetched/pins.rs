//! Contents that the pins know.

use super::*;

#[tokio::test]
async fn what_was_verified_here_is_used_again_without_the_network() {
    // An index without annotations: no signature covers an h1.
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        let setting = Setting::used(layout, Annotations::None).await;
        let linked = setting.away(setting.cached()).await.unwrap();
        assert_eq!(linked.outcome, Outcome::Linked);
        assert_eq!(setting.away(setting.cached()).await.unwrap().outcome, Outcome::AlreadyInstalled);
        setting.forget_installed();
        setting.run(setting.bare()).await.unwrap();
        assert_eq!(setting.away(setting.bare()).await.unwrap().outcome, Outcome::AlreadyInstalled);
        assert_eq!(setting.workspace.reporter.downloads(), 2);
    }
}

#[tokio::test]
async fn pins_that_know_no_contents_make_the_program_ask_the_place() {
    for (annotations, downloads) in [(Annotations::All, 1), (Annotations::None, 2)] {
        let setting = Setting::used(PackageLayout::Artifact, annotations).await;
        setting.forget_contents();
        assert_eq!(setting.away(setting.cached()).await.unwrap_err().code(), "server-error");
        let asked = setting.run(setting.cached()).await.unwrap();
        assert_eq!(standing(&asked), Some(Standing::Signed));
        assert_eq!(setting.workspace.reporter.downloads(), downloads);
        assert!(setting.away(setting.cached()).await.is_ok(), "the pin knows the contents now");
    }
}

#[tokio::test]
async fn pins_that_know_no_contents_are_no_error_in_a_read_only_folder() {
    let setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    setting.forget_contents();
    let mut options = setting.workspace.options();
    options.trust.policy = Arc::clone(&setting.policy);
    options.trust.pins_path = setting.workspace.path().join("none/.tofu-oci.pins.json");
    install(&[setting.cached()], &options, &setting.workspace.reporter).await.unwrap();
    assert_eq!(setting.workspace.reporter.codes(), ["pins-not-written"]);
}

/// Pins by which the archives of the release had been signed, as by a `SHA256SUMS`, and not its index; and its store
/// without that signature.
async fn sums() -> Setting {
    let mut setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    (setting.store, _) = store(PackageLayout::Artifact).await;
    setting.forget_contents();
    // A list names no provider, and this key is not known to speak for one namespace alone.
    setting.policy = policy("unnamed = \"allow\"");
    let path = setting.workspace.trust().pins_path;
    let mut pins: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    pins["providers"][0]["signers"][0]["statements"][0]["zips"] = json!([setting.published.zh.as_str()]);
    fs::write(path, pins.to_string()).unwrap();
    setting
}

#[tokio::test]
async fn signed_archives_vouch_for_no_h1_until_it_was_computed_here() {
    // Annotated, and signed as archives only: whoever writes the index writes the annotations.
    let setting = sums().await;
    let other = other_package(&setting.in_cache());
    setting.lock_other(&other);
    assert_compared(&setting.run(setting.cached()).await, &setting.in_cache());
    // With the release's own package it is fetched once and linked after that.
    fs::remove_dir_all(setting.in_cache()).unwrap();
    fs::remove_file(setting.workspace.lock_path()).unwrap();
    let fetched = setting.run(setting.cached()).await.unwrap();
    assert_eq!((fetched.outcome, standing(&fetched)), (Outcome::Installed, Some(Standing::Pinned)));
    let downloads = setting.workspace.reporter.downloads();
    setting.forget_installed();
    let linked = setting.run(setting.cached()).await.unwrap();
    assert_eq!((linked.outcome, standing(&linked)), (Outcome::Linked, Some(Standing::Pinned)));
    assert_eq!(setting.workspace.reporter.downloads(), downloads);
    // The other platform's h1 is a claim of the index only.
    assert_eq!(setting.contents(), json!({ PLATFORM: [setting.published.h1.as_str()] }));
}

#[tokio::test]
async fn contents_that_a_signed_index_named_do_not_count_by_signed_archives() {
    // The pin knows both: the index was signed, by a key that counts no more, and by one that counts the archives.
    let setting = sums().await;
    let path = setting.workspace.trust().pins_path;
    let mut pins: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let pin = &mut pins["providers"][0];
    let other = other_package(&setting.in_cache());
    pin["contents"] = json!({ PLATFORM: [other.as_str()] });
    let index = json!({ "predicate_type": "https://example.test/once-asked-for" });
    pin["signers"][0]["statements"].as_array_mut().unwrap().push(index);
    fs::write(path, pins.to_string()).unwrap();
    setting.lock_other(&other);
    assert_compared(&setting.run(setting.cached()).await, &setting.in_cache());
}

#[tokio::test]
async fn other_bytes_are_not_what_somebody_accepted_by_hand() {
    let mut setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    setting.policy = Arc::default();
    let published = publish(&*setting.store, "1.1.0", PackageLayout::Artifact, Annotations::All).await;
    let own = &published[PLATFORM];
    let path = setting.workspace.trust().pins_path;
    let mut pins: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let index = index(&setting.store, "1.1.0").await;
    pins["providers"].as_array_mut().unwrap().push(json!({
        "address": ADDRESS, "version": "1.1.0", "place": "memory", "index": index.as_str(),
        "accepted": "unsigned", "signers": [],
    }));
    fs::write(path, pins.to_string()).unwrap();
    let cached = setting.in_cache().parent().unwrap().with_file_name("1.1.0").join(PLATFORM);
    let other = other_package(&cached);
    setting.workspace.lock("1.1.0", &[&other, &own.zh]);
    assert_compared(&setting.run(setting.cached()).await, &cached);
    // The accepted package itself is fetched once and used again.
    fs::remove_dir_all(&cached).unwrap();
    setting.workspace.lock("1.1.0", &[&own.h1, &own.zh]);
    let downloads = setting.workspace.reporter.downloads();
    for outcome in [Outcome::Installed, Outcome::Linked] {
        setting.forget_installed();
        assert_eq!(setting.run(setting.cached()).await.unwrap().outcome, outcome);
    }
    assert_eq!(setting.workspace.reporter.downloads(), downloads + 1);
}

/// Locks both platforms; how each one's checksums became known.
async fn lock_all(setting: &Setting) -> Vec<Basis> {
    let mut trust = setting.workspace.trust();
    trust.policy = Arc::clone(&setting.policy);
    let (path, scratch) = (setting.workspace.lock_path(), setting.workspace.path().to_owned());
    let options = LockOptions::new(path, LockWrite::Write, scratch, trust);
    let job = LockRequest {
        address: address(),
        constraints: Constraints::any(),
        source: Arc::new(OciSource::new(setting.store.clone())),
        platforms: Wanted::Named(vec![PLATFORM.parse().unwrap()]),
        upgrade: Upgrade::KeepLocked,
    };
    let report = lock(vec![job], &options, &setting.workspace.reporter).await.unwrap();
    report.providers[0].platforms.iter().map(|platform| platform.basis).collect()
}

#[tokio::test]
async fn lock_computes_an_h1_that_only_annotations_name_before_it_calls_it_signed() {
    let setting = sums().await;
    // The lock file has the h1 and the zh, and the annotations say the same; only the zh is signed.
    setting.workspace.lock("1.0.0", &[&setting.published.h1, &setting.published.zh]);
    assert_eq!(lock_all(&setting).await, [Basis::Downloaded]);
    assert_eq!(lock_all(&setting).await, [Basis::Kept], "the pin knows it now");
    assert_eq!(setting.contents(), json!({ PLATFORM: [setting.published.h1.as_str()] }));
}

#[tokio::test]
async fn what_lock_recorded_from_a_signed_index_is_used_without_the_network() {
    let setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    for file in [setting.workspace.lock_path(), setting.workspace.trust().pins_path] {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(lock_all(&setting).await, [Basis::Signed, Basis::Signed]);
    assert_eq!(setting.away(setting.cached()).await.unwrap().outcome, Outcome::Linked);
    assert_eq!(setting.contents().as_object().unwrap().len(), 2, "every platform's");
}
