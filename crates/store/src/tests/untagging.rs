//! Tags that go, in memory and in a folder.

use tofu_oci_types::Reference;

use super::dir_writing::new_store;
use super::{by_tag, push_referrer, push_release, tag};
use crate::{MemoryStore, ReadStore as _, Store};

#[tokio::test]
async fn a_tag_goes_and_its_manifest_stays() {
    let (_folder, dir) = new_store();
    let memory = MemoryStore::new("memory".parse().unwrap());
    for store in [&dir as &dyn Store, &memory] {
        let release = push_release(store).await;
        let signature = push_referrer(store, &release.index, "a signature").await;
        let name = tag("1.0.0");
        assert!(store.untag(&name, &release.index.digest).await.unwrap(), "a tag that does not exist is gone");
        store.tag(&release.index, &name).await.unwrap();
        store.tag(&release.index, &tag("latest")).await.unwrap();
        assert!(!store.untag(&name, &release.leaves[0].digest).await.unwrap(), "it points at something else");
        assert_eq!(store.resolve(&by_tag("1.0.0")).await.unwrap().digest, release.index.digest);
        assert!(store.untag(&name, &release.index.digest).await.unwrap());
        assert_eq!(store.tags().await.unwrap(), [tag("latest")]);
        // Also when no other tag names it.
        assert!(store.untag(&tag("latest"), &release.index.digest).await.unwrap());
        assert_eq!(store.tags().await.unwrap(), []);
        let index = Reference::Digest(release.index.digest.clone());
        assert_eq!(store.resolve(&index).await.unwrap().digest, release.index.digest);
        assert_eq!(store.referrers(&release.index.digest).await.unwrap()[0].digest, signature.digest);
        store.tag(&release.index, &name).await.unwrap();
        assert_eq!(store.tags().await.unwrap(), [name]);
    }
}

#[tokio::test]
async fn a_tag_that_many_take_away_at_once_is_gone_for_all_of_them() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let untagged = (0..20).map(|_| {
        let (store, index) = (store.clone(), release.index.digest.clone());
        tokio::spawn(async move { store.untag(&tag("1.0.0"), &index).await.unwrap() })
    });
    for gone in futures_util::future::join_all(untagged).await {
        assert!(gone.unwrap());
    }
    assert_eq!(store.tags().await.unwrap(), []);
}
