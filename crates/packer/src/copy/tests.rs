//! Copies between stores in memory and a folder.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use tofu_oci_layout::annotation;
use tofu_oci_store::{ByteStream, DirStore, StoreError};
use tofu_oci_testkit::{HookedStore, StoreHook};
use tofu_oci_trust::{NoticeWriter, PrivateKey, ReleaseState, VersionOf};
use tofu_oci_types::{NetworkFault, Predecessors, Version};

use super::*;
use crate::testing::{EventLog, Folder, Push, Watching, key, tags};
use crate::{
    ModuleChecks, ModulePushRequest, NoticeRequest, PackedFiles, Rename, SignAddress, StateChange, StatePlan,
    StateRequest, push_module, put_notice,
};

/// A store with these versions, each of one platform.
async fn store(versions: &[&str]) -> Watching {
    let store = Watching::new();
    for version in versions {
        let folder = Folder::new();
        folder.package(version, "linux_amd64");
        Push::new(&folder, version).run(&store).await.unwrap();
    }
    store.take();
    store
}

async fn copy(
    from: &dyn ReadStore,
    to: &dyn Store,
    versions: &[&str],
    replace: ReplaceTag,
) -> Result<Vec<CopiedRelease>, PackError> {
    let versions = versions.iter().map(|version| (version.parse().unwrap(), None)).collect();
    copy_release(
        from,
        to,
        &CopyRequest {
            versions,
            withdrawn: Vec::new(),
            choice: CopyChoice::Listed,
            replace,
            rename: Rename::Refuse,
            predecessors: Predecessors::NONE,
            asked_as: None,
            jobs: 2,
            signing: None,

            files: &[],
        },
        &EventLog::default(),
    )
    .await
}

#[tokio::test]
async fn copies_byte_for_byte_with_what_refers_to_it() {
    let from = store(&["1.4.0", "1.10.0", "1.4.1+b"]).await;
    let index = from.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
    from.inner.tag(&index, &"1.4".parse().unwrap()).await.unwrap();
    let signature = format!(
        r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/x-signature","config":{{"mediaType":"application/vnd.oci.empty.v1+json","digest":"{}","size":2}},"layers":[],"subject":{{"mediaType":"{}","digest":"{}","size":{}}}}}"#,
        Digest::sha256(b"{}"),
        index.media_type,
        index.digest,
        index.size,
    );
    let signature = bytes::Bytes::from(signature);
    let described = Descriptor::of("application/vnd.oci.image.manifest.v1+json", &signature);
    from.inner.insert_unchecked(&Descriptor::of("application/vnd.oci.empty.v1+json", b"{}"), "{}".into());

    let dir = tempfile::tempdir().unwrap();
    let to = DirStore::create(dir.path().join("layout")).unwrap();
    let copied = copy(&from, &to, &["1.4.0", "1.4.1+b", "1.10.0"], ReplaceTag::Refuse).await.unwrap();
    assert_eq!(copied.iter().map(|release| release.tag.as_str()).collect::<Vec<_>>(), ["1.4.0", "1.4.1_b", "1.10.0"]);
    assert_eq!(tags(&to).await.len(), 3, "the floating tag is left behind");
    assert_eq!(to.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap().digest, index.digest);

    // Signed later: the tag is equal, the signature is not there yet.
    from.inner.insert_unchecked(&described, signature);
    let again = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.unwrap();
    assert!(!again[0].unchanged);
    assert_eq!(to.referrers(&index.digest).await.unwrap().len(), 1);
    let again = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.unwrap();
    assert!(again[0].unchanged);
    assert_eq!(again[0].transfers.bytes, 0);
}

/// Puts a manifest with these layers under a tag, as cosign does.
async fn image(store: &Watching, tag: &str, layers: &[&str]) {
    let blob = |text: &str| {
        let descriptor = Descriptor::of("application/vnd.dev.cosign.simplesigning.v1+json", text.as_bytes());
        store.inner.insert_unchecked(&descriptor, bytes::Bytes::copy_from_slice(text.as_bytes()));
        serde_json::to_value(descriptor).unwrap()
    };
    let manifest = serde_json::json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("{}"), "layers": layers.iter().map(|text| blob(text)).collect::<Vec<_>>(),
    });
    let manifest = bytes::Bytes::from(manifest.to_string());
    let descriptor = Descriptor::of("application/vnd.oci.image.manifest.v1+json", &manifest);
    store.inner.insert_unchecked(&descriptor, manifest);
    store.inner.tag(&descriptor, &tag.parse().unwrap()).await.unwrap();
}

async fn layers(store: &dyn ReadStore, tag: &str) -> Vec<String> {
    let found = store.resolve(&Reference::Tag(tag.parse().unwrap())).await.unwrap();
    let bytes = tofu_oci_store::fetch_bytes(store, &found, 1 << 20).await.unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let mut texts = Vec::new();
    for layer in manifest["layers"].as_array().unwrap() {
        let layer: Descriptor = serde_json::from_value(layer.clone()).unwrap();
        let bytes = tofu_oci_store::fetch_bytes(store, &layer, 1 << 20).await.unwrap();
        texts.push(String::from_utf8(bytes.to_vec()).unwrap());
    }
    texts
}

#[tokio::test]
async fn the_tags_of_cosign_come_along_and_lose_nothing() {
    let from = store(&["1.4.0", "1.5.0"]).await;
    let index = from.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
    let [leaf] =
        leaves_of(&from, &index).await.unwrap().unwrap().digests.into_iter().collect::<Vec<_>>().try_into().unwrap();
    let tag = |digest: &Digest, suffix: &str| format!("sha256-{}.{suffix}", digest.encoded());
    let (sig, att, sbom, of_leaf) =
        (tag(&index.digest, "sig"), tag(&index.digest, "att"), tag(&index.digest, "sbom"), tag(&leaf, "sig"));
    image(&from, &sig, &["first", "second"]).await;
    image(&from, &att, &["statement"]).await;
    image(&from, &sbom, &["parts"]).await;
    image(&from, &of_leaf, &["recursive"]).await;
    image(&from, &tag(&Digest::sha256(b"other"), "sig"), &["of another image"]).await;

    let to = Watching::new();
    image(&to, &sig, &["own", "second"]).await;
    image(&to, &sbom, &["other parts"]).await;
    let copied = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.unwrap();
    let carried: Vec<String> = copied[0].tags.iter().map(ToString::to_string).collect();
    assert_eq!(carried, [sig.clone(), att.clone(), of_leaf.clone()], "another bill of materials stays");
    assert_eq!(to.take().last().map(String::as_str), Some("tag 1.4.0"));
    assert_eq!(layers(&to, &sig).await, ["own", "second", "first"]);
    assert_eq!(layers(&to, &att).await, ["statement"]);
    assert_eq!(layers(&to, &sbom).await, ["other parts"]);
    assert_eq!(layers(&to, &of_leaf).await, ["recursive"]);
    assert_eq!(tags(&to).await.len(), 5);
    let again = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.unwrap();
    assert!(again[0].unchanged);
    assert!(to.take().iter().all(|what| what.starts_with("push")), "nothing is tagged again");
}

#[tokio::test]
async fn signatures_that_nobody_would_read_are_not_merged() {
    let from = store(&["1.4.0"]).await;
    let index = from.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
    let sig = format!("sha256-{}.sig", index.digest.encoded());
    image(&from, &sig, &["first", "second"]).await;
    let to = Watching::new();
    let own: Vec<String> = (0..99).map(|nth| nth.to_string()).collect();
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    image(&to, &sig, &own).await;
    let error = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.expect_err("101 of them");
    let error = error.to_string().replace(index.digest.encoded(), "HEX");
    assert_snapshot!(error, @"the tag sha256-HEX.sig in memory holds 99 signatures; with 2 more it would have more than 100, and no more are read");
    assert!(to.take().iter().all(|what| what.starts_with("push")), "no tag is written");
    assert_eq!(layers(&to, &sig).await.len(), 99);
    image(&to, &sig, &own[1..]).await;
    copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.unwrap();
    assert_eq!(layers(&to, &sig).await.len(), 100);
}

/// Breaks off one answer.
struct Flaky(Watching, std::sync::atomic::AtomicIsize);

#[async_trait::async_trait]
impl StoreHook for Flaky {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        if self.1.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            let (fault, problem) = (NetworkFault::Lost, "told to fail".to_owned());
            return Err(StoreError::Unreachable { place: self.0.place(), fault, problem });
        }
        self.0.fetch_unverified(descriptor).await
    }
}

#[tokio::test]
async fn a_source_that_breaks_off_leaves_no_signature_behind_in_silence() {
    for fail_at in 0.. {
        let from = store(&["1.4.0"]).await;
        let index = from.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
        let leaf = leaves_of(&from, &index).await.unwrap().unwrap().digests.pop_first().unwrap();
        image(&from, &format!("sha256-{}.sig", leaf.encoded()), &["recursive"]).await;
        let from = HookedStore(Flaky(from, fail_at.into()));
        let copied = copy(&from, &Watching::new(), &["1.4.0"], ReplaceTag::Refuse).await;
        if from.0.1.into_inner() >= 0 {
            assert_eq!(copied.unwrap()[0].tags.len(), 1);
            assert!(fail_at > 3, "the copy reads more than that");
            break;
        }
        assert!(copied.is_err(), "answer {fail_at} was lost");
    }
}

#[tokio::test]
async fn a_taken_tag_is_refused_before_anything_is_sent() {
    let from = store(&["1.4.0", "1.5.0"]).await;
    let folder = Folder::new();
    folder.zip("terraform-provider-zap_1.5.0_linux_amd64.zip", &[("terraform-provider-zap", b"other")]);
    let to = Watching::new();
    Push::new(&folder, "1.5.0").run(&to).await.unwrap();
    to.take();
    let both = ["1.4.0", "1.5.0"];
    let error = copy(&from, &to, &both, ReplaceTag::Refuse).await.expect_err("taken");
    assert_snapshot!(error, @"memory has a tag 1.5.0 already: it points at a release with other packages");
    assert!(to.take().is_empty());
    let PackError::TagTaken(taken) = error else { panic!("{error}") };
    assert_eq!(taken.of.map(|address| address.to_string()).as_deref(), Some("example.com/acme/zap"));
    copy(&from, &to, &both, ReplaceTag::Replace).await.unwrap();
    let index = |store| async move {
        ReadStore::resolve(store, &Reference::Tag("1.5.0".parse().unwrap())).await.unwrap().digest
    };
    assert_eq!(index(&to).await, index(&from).await);
}

#[tokio::test]
async fn a_taken_tag_is_refused_although_the_source_may_not_be_read() {
    let mut from = store(&["1.4.0"]).await;
    let index = from.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
    from.denied = Some(index.digest);
    let folder = Folder::new();
    folder.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", b"other")]);
    let to = Watching::new();
    Push::new(&folder, "1.4.0").run(&to).await.unwrap();
    let error = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.expect_err("taken");
    assert_snapshot!(error, @"memory has a tag 1.4.0 already: it points at a release with other packages");
}

#[tokio::test]
async fn tells_what_there_is_instead() {
    let from = store(&["1.4.0"]).await;
    let error = copy(&from, &Watching::new(), &["1.5.0"], ReplaceTag::Refuse).await;
    let error = error.expect_err("not there");
    assert_snapshot!(error, @"memory has no version 1.5.0");
    let PackError::NoRelease { offered, .. } = error else { panic!("{error}") };
    assert_eq!(offered.iter().map(Version::to_string).collect::<Vec<_>>(), ["1.4.0"]);
    let error = copy(&Watching::new(), &Watching::new(), &[], ReplaceTag::Refuse).await;
    assert_snapshot!(error.expect_err("empty"), @"memory has no releases");
}

/// A store with a package that says it is this module.
async fn module(address: &str, version: &str) -> Watching {
    let (folder, store) = (Folder::new(), Watching::new());
    folder.file("main.tf", "");
    let request = ModulePushRequest {
        dir: &folder.path(),
        version: &version.parse().unwrap(),
        annotations: BTreeMap::from([(annotation::MODULE_ADDRESS.to_owned(), address.to_owned())]),
        replace: ReplaceTag::Refuse,
        checks: ModuleChecks::Skip,
        files: PackedFiles::All,
        signer: None,
        work_dir: std::env::temp_dir(),
    };
    push_module(&request, &store, &EventLog::default()).await.unwrap();
    store
}

#[tokio::test]
async fn a_module_went_into_the_repository_of_another_module() {
    let (from, to) = (module("evil.test/acme/net/aws", "9.9.0").await, module("acme/net/aws", "1.0.0").await);
    let error = copy(&from, &to, &["9.9.0"], ReplaceTag::Refuse).await.unwrap_err();
    assert_snapshot!(format!("{}: {error}", error.code()), @"kept-for-another: memory holds registry.opentofu.org/acme/net/aws (its version 1.0.0 says so), but this module is evil.test/acme/net/aws");
    assert_eq!(tags(&to).await.into_iter().collect::<Vec<_>>(), ["1.0.0"]);
    let same = module("registry.opentofu.org/acme/net/aws", "1.1.0").await;
    copy(&same, &to, &["1.1.0"], ReplaceTag::Refuse).await.unwrap();
}

/// Withdraws 1.4.0; the same notice for the same key.
async fn withdraw(store: &Watching, key: Option<&PrivateKey>) {
    let (version, address) = ("1.4.0".parse().unwrap(), SignAddress::Annotated { otherwise: None });
    let reason = "it deletes state".parse().unwrap();
    let (change, writer) = (StateChange::Withdraw, NoticeWriter::Publisher);
    let request = StateRequest { change, version: &version, address, reason, writer, key, signed: None };
    StatePlan::look(store, request, &EventLog::default()).await.unwrap().carry_out(store).await.unwrap();
}

#[tokio::test]
async fn an_unsigned_notice_of_the_source_undid_a_signed_withdrawal() {
    let signer = key(1);
    for (first, back, want) in
        [(Some(&signer), None, Some("withdrawn")), (Some(&signer), Some(&signer), None), (None, None, None)]
    {
        let (from, to) = (store(&["1.4.0"]).await, store(&["1.4.0"]).await);
        let index = from.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
        withdraw(&to, first).await;
        withdraw(&from, first).await;
        let version: Version = "1.4.0".parse().unwrap();
        let of = VersionOf::Provider { address: "example.com/acme/zap".parse().unwrap() };
        let notice = NoticeRequest {
            index: &index,
            subject: of.content(&index.digest, &version),
            state: ReleaseState::Available,
            ends: ReleaseState::Withdrawn,
            reason: "fixed".parse().unwrap(),
            writer: NoticeWriter::Publisher,
            replaced_by: None,
            key: back,
            signed: None,
        };
        put_notice(&from, &notice).await.unwrap();
        from.tag(&index, &"1.4.0".parse().unwrap()).await.unwrap();
        let refused = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.err();
        assert_eq!(refused.as_ref().map(PackError::code), want, "{refused:?}");
    }
}

#[tokio::test]
async fn a_copy_brought_a_withdrawn_version_back_where_tags_cannot_be_listed() {
    let (from, mut to) = (store(&["1.4.0"]).await, store(&["1.4.0"]).await);
    withdraw(&to, None).await;
    to.lists_tags = false;
    let refused = copy(&from, &to, &["1.4.0"], ReplaceTag::Refuse).await.unwrap_err();
    assert_eq!(refused.code(), "withdrawn", "{refused}");
}
