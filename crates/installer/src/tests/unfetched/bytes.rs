//! Bytes in a cache or in their place that are not the signed package.

use super::*;

#[tokio::test]
async fn a_cache_that_may_break_the_lock_file_does_not_get_around_a_policy() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        for annotations in [Annotations::All, Annotations::None] {
            let mut setting = Setting::new(layout, annotations).await;
            setting.may_break_lock = true;
            other_package(&setting.in_cache());
            let result = setting.run(setting.cached()).await;
            assert_compared(&result, &setting.in_cache());
            assert!(fs::symlink_metadata(setting.installed()).is_err(), "nothing is linked");
            assert!(!setting.workspace.lock_path().exists(), "nothing is recorded");
            assert!(setting.workspace.trust().pins.is_empty());
        }
    }
}

#[tokio::test]
async fn a_cache_that_may_break_the_lock_file_is_used_for_what_a_signature_covers() {
    let mut setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    setting.may_break_lock = true;
    for file in [setting.workspace.lock_path(), setting.workspace.trust().pins_path] {
        fs::remove_file(file).unwrap();
    }
    let linked = setting.run(setting.cached()).await.unwrap();
    assert_eq!((linked.outcome, standing(&linked)), (InstallOutcome::Linked, Some(Standing::Signed)));
    assert_eq!(setting.workspace.reporter.downloads(), 1, "only the first time");
    assert_eq!(setting.workspace.locked().len(), 6, "what the signature covers is recorded");
}

#[tokio::test]
async fn one_locked_h1_and_a_cache_do_not_get_around_a_policy() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        let setting = Setting::new(layout, Annotations::All).await;
        let other = other_package(&setting.in_cache());
        setting.lock_other(&other);
        let before = setting.workspace.locked();
        let result = setting.run(setting.cached()).await;
        assert_compared(&result, &setting.in_cache());
        assert!(fs::symlink_metadata(setting.installed()).is_err(), "nothing is linked");
        assert_eq!(setting.workspace.locked(), before);
    }
}

#[tokio::test]
async fn a_pin_of_the_version_does_not_vouch_for_other_bytes_in_the_cache() {
    let setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    let other = other_package(&setting.in_cache());
    setting.lock_other(&other);
    assert_compared(&setting.run(setting.cached()).await, &setting.in_cache());
    assert_eq!(setting.away(setting.cached()).await.unwrap_err().code(), "server-error");
    assert!(fs::symlink_metadata(setting.installed()).is_err(), "nothing is linked");
}

#[tokio::test]
async fn installed_bytes_that_no_signature_covers_are_not_reported_as_signed() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        let setting = Setting::new(layout, Annotations::All).await;
        let other = other_package(&setting.installed());
        setting.lock_other(&other);
        assert_compared(&setting.run(setting.bare()).await, &setting.installed());
    }
}

#[tokio::test]
async fn installed_bytes_that_no_signature_covers_are_not_used_when_the_place_is_away() {
    let setting = Setting::used(PackageLayout::Artifact, Annotations::All).await;
    let right = setting.run(setting.bare()).await.unwrap();
    assert_eq!(setting.away(setting.bare()).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);
    let other = other_package(&right.path);
    setting.lock_other(&other);
    assert_eq!(setting.away(setting.bare()).await.unwrap_err().code(), "server-error");
    // The same if a cache is set and has the right package, but another one lies in the working directory.
    assert_eq!(setting.away(setting.cached()).await.unwrap_err().code(), "server-error");
}

#[tokio::test]
async fn existing_packages_of_mirrors_do_not_get_around_a_policy() {
    let setting = Setting::new(PackageLayout::Artifact, Annotations::All).await;
    let root = setting.workspace.path().to_owned();
    for (target, folder) in [
        (InstallTarget::MirrorUnpacked(root.join("into")), root.join("into").join(FOLDER)),
        (InstallTarget::vendor(&root), root.join("terraform.d/plugins").join(FOLDER)),
    ] {
        let other = other_package(&folder);
        setting.lock_other(&other);
        assert_compared(&setting.run(setting.to(target)).await, &folder);
    }
    // An archive of the other package.
    let zip = root.join("packed/registry.example.test/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip");
    fs::create_dir_all(zip.parent().unwrap()).unwrap();
    let program = root.join("program");
    fs::write(&program, "#!/bin/sh\necho somebody else's\n").unwrap();
    let file = tofu_oci_archive::InputFile { name: PROGRAM.to_owned(), path: program, executable: true };
    let other = tofu_oci_archive::write_zip(&[file], &zip).unwrap().contents.h1();
    setting.lock_other(&other);
    assert_compared(&setting.run(setting.to(InstallTarget::MirrorPacked(root.join("packed")))).await, &zip);
}

#[tokio::test]
async fn where_unsigned_releases_are_let_in_the_cache_is_used_as_before() {
    for lines in ["", "unsigned = \"allow\""] {
        let mut setting = Setting::new(PackageLayout::Artifact, Annotations::All).await;
        let (bare, _) = store(PackageLayout::Artifact).await;
        setting.store = bare;
        setting.policy = if lines.is_empty() { Arc::default() } else { policy(lines) };
        setting.may_break_lock = true;
        let other = other_package(&setting.in_cache());
        let linked = setting.run(setting.cached()).await.unwrap();
        assert_eq!(linked.outcome, InstallOutcome::Linked);
        assert_eq!(setting.workspace.locked(), [other.to_string()]);
        assert_eq!(setting.contents(), serde_json::Value::Null);
    }
}
