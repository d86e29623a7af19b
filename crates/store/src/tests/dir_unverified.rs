//! Manifests and tags as a client that checks nothing gets them from a folder.

use serde_json::{Value, json};
use tofu_oci_types::{Digest, Reference};

use super::text_of;
use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
use crate::{DirStore, ReadStore as _};

const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// What comes for the tag `1.0.0` of a folder with these entries, whose digest is that of `body`.
async fn check(body: &str, entries: &Value, limit: u64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let digest = Digest::sha256(body.as_bytes());
    let blobs = folder.path().join("blobs/sha256");
    std::fs::create_dir_all(&blobs).unwrap();
    std::fs::write(blobs.join(digest.encoded()), body).unwrap();
    std::fs::write(folder.path().join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    let text = json!({ "manifests": entries }).to_string().replace("DIGEST", digest.as_str());
    std::fs::write(folder.path().join("index.json"), text).unwrap();
    let store = DirStore::open(folder.path()).unwrap();
    let tags = store.tag_texts().await.unwrap().join(",");
    let reference = Reference::Tag("1.0.0".parse().unwrap());
    match store.manifest_unverified(&reference, limit).await {
        Ok(sent) => {
            assert_eq!((sent.digest, &sent.bytes[..]), (Some(digest), body.as_bytes()));
            format!("{tags}: {}", sent.media_type.unwrap())
        }
        Err(error) => {
            format!("{tags}: {}", text_of(Err::<(), _>(error), folder.path()).replace(digest.as_str(), "DIGEST"))
        }
    }
}

fn entry(tag: &str, media_type: Option<&str>) -> Value {
    let mut entry = json!({ "digest": "DIGEST", "annotations": { REF_NAME: tag } });
    if let Some(media_type) = media_type {
        entry["mediaType"] = json!(media_type);
    }
    entry
}

#[tokio::test]
async fn the_media_type_is_the_listed_one_else_its_own_else_a_manifests() {
    let own = json!({ "mediaType": OCI_INDEX }).to_string();
    let listed = json!([entry("1.0.0", Some("application/x"))]);
    insta::assert_snapshot!(check(&own, &listed, 100).await, @"1.0.0: application/x");
    let silent = json!([entry("1.0.0", None)]);
    assert_eq!(check(&own, &silent, 100).await, format!("1.0.0: {OCI_INDEX}"));
    assert_eq!(check("no json", &silent, 100).await, format!("1.0.0: {OCI_MANIFEST}"));
    let elsewhere = json!([entry("other", Some("application/y")), entry("1.0.0", Some("application/x"))]);
    insta::assert_snapshot!(check(&own, &elsewhere, 100).await, @"other,1.0.0: application/y");
}

#[tokio::test]
async fn tags_keep_their_order_and_texts_and_the_last_of_two_counts() {
    let mut old = entry("1.0.0", None);
    old["digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    let entries =
        json!([entry("b+1", None), old, entry("a", None), entry("1.0.0", Some("application/x")), { "digest": 1 }]);
    insta::assert_snapshot!(check("{}", &entries, 100).await, @"b+1,1.0.0,a: application/x");
}

#[tokio::test]
async fn what_is_not_there_or_too_large_is_told() {
    insta::assert_snapshot!(check("{}", &json!([]), 100).await, @": oci:DIR has no tag 1.0.0");
    insta::assert_snapshot!(check("{}", &json!([entry("1.0.0", None)]), 1).await, @"1.0.0: manifest DIGEST of oci:DIR is larger than 1 bytes");
    let mut absent = entry("1.0.0", None);
    absent["digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    insta::assert_snapshot!(check("{}", &json!([absent]), 100).await, @"1.0.0: oci:DIR has no manifest sha256:0000000000000000000000000000000000000000000000000000000000000000");
}
