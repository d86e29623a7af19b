//! A repository is kept for one provider.

use insta::assert_snapshot;
use tofu_oci_types::Descriptor;

use super::*;
use crate::testing::{EventLog, Folder, Push, Watching};
use crate::{PackError, Rename, ReplaceTag, TagState};

const OTHER: &str = "ghcr.io.oci.opentofu.org/acme/zap";

fn folder(version: &str) -> Folder {
    let folder = Folder::new();
    folder.package(version, "linux_amd64");
    folder
}

async fn pushed(store: &Watching, version: &str, address: &str, rename: Rename) -> Result<(), PackError> {
    let folder = folder(version);
    let push = Push { address: address.parse().unwrap(), rename, ..Push::new(&folder, version) };
    push.run(store).await.map(drop)
}

/// A store with these versions, in this order.
async fn store(releases: &[(&str, &str)]) -> Watching {
    let store = Watching::new();
    for (version, address) in releases {
        pushed(&store, version, address, Rename::Allow).await.unwrap();
    }
    store.take();
    store
}

const OWN: &str = "example.com/acme/zap";

#[tokio::test]
async fn a_forgotten_address_is_refused_before_anything_is_sent() {
    let store = store(&[("1.4.0", OWN), ("1.3.0", OWN)]).await;
    let error = pushed(&store, "1.5.0", OTHER, Rename::Refuse).await.expect_err("another address");
    assert_snapshot!(error, @"memory holds example.com/acme/zap (its version 1.4.0 says so), but this release is of ghcr.io.oci.opentofu.org/acme/zap");
    assert!(store.take().is_empty());
    let folder = folder("1.5.0");
    let push = Push { address: OTHER.parse().unwrap(), ..Push::new(&folder, "1.5.0") };
    let error = plan(&push.request(), &store, &EventLog::default()).await.expect_err("a plan tells it too");
    assert!(matches!(error, PackError::OtherAddress(_)), "{error}");
    pushed(&store, "1.5.0", OTHER, Rename::Allow).await.unwrap();
}

#[tokio::test]
async fn the_newest_other_version_decides() {
    // After a renaming the new name is the repository's.
    let renamed = store(&[("1.4.0", OWN), ("1.5.0", OTHER), ("1.6.0-rc.1", OTHER)]).await;
    pushed(&renamed, "1.6.0", OTHER, Rename::Refuse).await.unwrap();
    assert!(pushed(&renamed, "1.4.1", OWN, Rename::Refuse).await.is_err());
    // Versions of the old name that are there may be pushed again, and nothing is sent.
    renamed.take();
    pushed(&renamed, "1.4.0", OWN, Rename::Refuse).await.unwrap();
    assert!(renamed.take().is_empty());
}

#[tokio::test]
async fn no_more_than_two_releases_are_read_to_find_the_address() {
    let store = store(&[("1.0.0", OWN)]).await;
    let foreign = bytes::Bytes::from_static(b"{}");
    let described = Descriptor::of("application/vnd.oci.image.index.v1+json", &foreign);
    store.inner.insert_unchecked(&described, foreign);
    for tag in ["1.1.0", "latest", "7"] {
        store.inner.tag(&described, &tag.parse().unwrap()).await.unwrap();
    }
    assert!(pushed(&store, "1.5.0", OTHER, Rename::Refuse).await.is_err(), "the second newest tells it");
    store.inner.tag(&described, &"1.2.0".parse().unwrap()).await.unwrap();
    pushed(&store, "1.5.0", OTHER, Rename::Refuse).await.unwrap();
}

#[tokio::test]
async fn a_release_under_a_wrong_address_is_replaced_by_one_under_the_right_address() {
    let store = store(&[("1.3.0", OWN), ("1.4.0", OTHER)]).await;
    let folder = folder("1.4.0");
    let right = || Push::new(&folder, "1.4.0");
    let error = right().run(&store).await.expect_err("the tag is taken");
    let PackError::TagTaken(taken) = &error else { panic!("{error}") };
    assert_eq!(taken.of.as_ref().map(ToString::to_string).as_deref(), Some(OTHER));
    let planned = plan(&right().request(), &store, &EventLog::default()).await.unwrap();
    assert!(matches!(planned.tag_state, TagState::Taken { of: Some(of), .. } if of.to_string() == OTHER));
    let replaced = Push { replace: ReplaceTag::Replace, ..right() }.run(&store).await.unwrap();
    assert!(!replaced.unchanged);
    // And not the other way round.
    let wrong = Push { replace: ReplaceTag::Replace, address: OTHER.parse().unwrap(), ..right() };
    assert!(matches!(wrong.run(&store).await, Err(PackError::OtherAddress(_))));
}

#[tokio::test]
async fn the_same_version_under_another_address_is_refused_with_that_address() {
    let store = store(&[("1.4.0", OWN)]).await;
    let error = pushed(&store, "1.4.0", OTHER, Rename::Refuse).await.expect_err("another address");
    assert!(matches!(&error, PackError::OtherAddress(found) if found.kept.to_string() == OWN), "{error}");
    let error = pushed(&store, "1.4.0", OTHER, Rename::Allow).await.expect_err("the tag is taken");
    assert!(matches!(&error, PackError::TagTaken(_)), "{error}");
}

#[tokio::test]
async fn replaces_a_release_that_it_may_not_read() {
    let mut store = store(&[("1.4.0", OWN)]).await;
    let tag = Reference::Tag("1.4.0".parse().unwrap());
    let old = store.resolve(&tag).await.unwrap();
    store.denied = Some(old.digest.clone());
    let folder = Folder::new();
    folder.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", b"other")]);
    let push = Push { replace: ReplaceTag::Replace, rename: Rename::Allow, ..Push::new(&folder, "1.4.0") };
    push.run(&store).await.unwrap();
    assert_ne!(store.resolve(&tag).await.unwrap().digest, old.digest);
}
