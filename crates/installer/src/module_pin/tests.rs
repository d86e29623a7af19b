//! Calls of modules in a store, pinned and pinned again.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::json;
use tofu_oci_fetch::Trust;
use tofu_oci_store::{MemoryStore, ReadStore, Store, StoreError};
use tofu_oci_testkit::{HookedStore, StoreHook};
use tofu_oci_types::{Descriptor, NoReporter, OciModuleSource, Reference, Tag};

use super::*;
use crate::Upgrade;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const REPOSITORY: &str = "registry.example.test/acme/network";

/// A repository of modules.
struct Modules(Arc<MemoryStore>);

/// The same, which lists no tags.
struct Unlisted(Arc<MemoryStore>);

#[async_trait]
impl StoreHook for Unlisted {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        Err(StoreError::io("list", "tags", std::io::ErrorKind::PermissionDenied.into()))
    }
}

impl Modules {
    /// With a package for each of these tags; those with an `=` name the package of the tag after it.
    async fn new(tags: &str) -> Self {
        let modules = Self(Arc::new(MemoryStore::new(REPOSITORY.parse().unwrap())));
        for tag in tags.split_whitespace() {
            let (tag, of) = tag.split_once('=').unwrap_or((tag, tag));
            modules.tag(tag, of).await;
        }
        modules
    }

    fn package(&self, content: &str) -> Descriptor {
        let layer = Descriptor::of("archive/zip", content.as_bytes());
        let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST,
            "artifactType": "application/vnd.opentofu.modulepkg", "layers": [layer] });
        let bytes = serde_json::to_vec(&manifest).unwrap();
        let manifest = Descriptor::of(MANIFEST, &bytes);
        self.0.insert_unchecked(&manifest, Bytes::from(bytes));
        manifest
    }

    async fn tag(&self, tag: &str, of: &str) {
        self.0.tag(&self.package(of), &tag.parse().unwrap()).await.unwrap();
    }

    async fn untag(&self, tag: &str) {
        let tag: Tag = tag.parse().unwrap();
        let at = self.0.resolve(&Reference::Tag(tag.clone())).await.unwrap();
        assert!(self.0.untag(&tag, &at.digest).await.unwrap());
    }

    /// What the call becomes, as `CONTENT TAG change remarks`. A source is a tag, or `@CONTENT` for the digest of a package;
    /// after it stand the tag of its comment and its constraint.
    async fn pin(&self, call: &str, upgrade: Upgrade, moved: MovedTags) -> String {
        self.pin_in(call, upgrade, moved, self.0.clone()).await
    }

    async fn pin_in(&self, call: &str, upgrade: Upgrade, moved: MovedTags, store: Arc<dyn ReadStore>) -> String {
        let mut words = call.splitn(3, ' ');
        let source = words.next().unwrap();
        let source = match source.strip_prefix('@') {
            Some(content) => format!("oci://{REPOSITORY}?digest={}", self.package(content).digest),
            None => format!("oci://{REPOSITORY}?tag={source}"),
        };
        let source: OciModuleSource = source.parse().unwrap();
        let tag = words.next().filter(|tag| *tag != "-").map(|tag| tag.parse().unwrap());
        let constraints = words.next().map(|text| text.parse().unwrap());
        let mut repositories = AskedRepositories::default();
        repositories.insert(source.repository().clone(), store);
        let trust = Trust {
            policy: Arc::default(),
            pins: tofu_oci_trust::Pins::default(),
            pins_path: PathBuf::new(),
            now: std::time::SystemTime::UNIX_EPOCH,
            renamed: tofu_oci_fetch::RenamedReleases::ByPolicy,
        };
        let options = ModulePinOptions { trust: &trust, upgrade, moved };
        let request = ModulePinRequest { source, tag, constraints };
        match pin_modules(&[request], &repositories, &options, &NoReporter).await.remove(0) {
            Ok(pin) => self.shown(&pin),
            Err(error) => error.code().to_owned(),
        }
    }

    fn shown(&self, pin: &ModulePin) -> String {
        let contents = ["1.4.0", "1.5.0", "2.0.0", "3.0.0-rc.1", "other"];
        let content = contents.into_iter().find(|content| self.package(content).digest == pin.digest);
        let mut text =
            format!("{} {} {:?}", content.unwrap_or("unknown"), pin.tag.as_ref().map_or("-", Tag::as_str), pin.change);
        for remark in &pin.remarks {
            text.push_str(match remark {
                PinRemark::Left { .. } => " left",
                PinRemark::Withdrawn(_) => " withdrawn",
                PinRemark::Deprecated { .. } => " deprecated",
                PinRemark::TagGone(_) => " gone",
                PinRemark::Behind { .. } => " behind",
                PinRemark::NoVersion => " no-version",
                PinRemark::TagsUnlisted(_) => " unlisted",
            });
        }
        text
    }

    async fn keeps(&self, call: &str, want: &str) {
        assert_eq!(self.pin(call, Upgrade::KeepLocked, MovedTags::Refuse).await, want, "{call}");
    }

    async fn accepts(&self, call: &str, want: &str) {
        assert_eq!(self.pin(call, Upgrade::KeepLocked, MovedTags::Accept).await, want, "{call}");
    }

    async fn upgrades(&self, call: &str, want: &str) {
        assert_eq!(self.pin(call, Upgrade::Newest, MovedTags::Refuse).await, want, "{call}");
    }
}

#[tokio::test]
async fn a_call_with_a_tag_is_pinned_to_what_the_tag_names() {
    let modules = Modules::new("1.4.0 1.5.0 2.0.0 latest=1.5.0 3.0.0-rc.1").await;
    modules.keeps("1.4.0", "1.4.0 1.4.0 Pinned").await;
    modules.keeps("latest", "1.5.0 latest Pinned").await;
    modules.keeps("latest - ~> 1.4.0", "1.4.0 1.4.0 Pinned").await;
    modules.keeps("latest - >= 1.4", "2.0.0 2.0.0 Pinned").await;
    modules.keeps("latest - 3.0.0-rc.1", "3.0.0-rc.1 3.0.0-rc.1 Pinned").await;
    modules.keeps("latest - > 9", "no-matching-version").await;
    modules.keeps("1.4.0 - ~> 2.0", "module-constraint-unmet").await;
    modules.keeps("9.0.0", "tag-not-found").await;
    // The tag of a comment does not count as long as the source has one.
    modules.keeps("1.4.0 1.5.0", "1.4.0 1.4.0 Pinned").await;
    modules.upgrades("1.4.0", "2.0.0 2.0.0 Pinned").await;
    modules.upgrades("latest", "1.5.0 latest Pinned").await;
}

#[tokio::test]
async fn a_pin_holds_as_long_as_its_tag_names_it() {
    let modules = Modules::new("1.4.0 1.5.0 main=1.4.0").await;
    modules.keeps("@1.4.0 1.4.0", "1.4.0 1.4.0 Kept").await;
    modules.keeps("@1.4.0 main", "1.4.0 main Kept").await;
    modules.keeps("@1.4.0 1.4.0 ~> 1.5", "module-constraint-unmet").await;
    modules.tag("1.4.0", "other").await;
    modules.tag("main", "1.5.0").await;
    modules.keeps("@1.4.0 1.4.0", "module-tag-moved").await;
    modules.accepts("@1.4.0 1.4.0", "other 1.4.0 Moved").await;
    modules.keeps("@1.4.0 main", "1.4.0 main Kept behind").await;
    modules.accepts("@1.4.0 main", "1.5.0 main Moved").await;
    modules.upgrades("@1.4.0 main", "1.5.0 main Upgraded { from: Some(main) }").await;
    // A newer version is no reason to overlook that a release was replaced.
    modules.tag("1.5.0", "other").await;
    modules.upgrades("@1.5.0 1.5.0", "module-tag-moved").await;
}

#[tokio::test]
async fn an_upgrade_goes_to_the_newest_release_that_is_admitted_and_never_back() {
    let modules = Modules::new("1.4.0 1.5.0 2.0.0 3.0.0-rc.1").await;
    let from = |tag: &str| format!("Upgraded {{ from: Some({tag}) }}");
    modules.upgrades("@1.4.0 1.4.0", &format!("2.0.0 2.0.0 {}", from("1.4.0"))).await;
    modules.upgrades("@1.4.0 1.4.0 ~> 1.4", &format!("1.5.0 1.5.0 {}", from("1.4.0"))).await;
    modules.upgrades("@2.0.0 2.0.0", "2.0.0 2.0.0 Kept").await;
    modules.upgrades("@3.0.0-rc.1 3.0.0-rc.1", "3.0.0-rc.1 3.0.0-rc.1 Kept").await;
    // Its user has asked for less.
    modules.upgrades("@2.0.0 2.0.0 ~> 1.4", &format!("1.5.0 1.5.0 {}", from("2.0.0"))).await;
    modules.upgrades("@1.4.0 main ~> 1.4", &format!("1.5.0 1.5.0 {}", from("main"))).await;
}

#[tokio::test]
async fn a_version_that_was_withdrawn_stays_until_an_upgrade() {
    let modules = Modules::new("1.4.0 1.5.0 withdrawn-1.5.0=1.5.0 deprecated-1.4.0=other").await;
    modules.untag("1.5.0").await;
    modules.keeps("@1.5.0 1.5.0", "1.5.0 1.5.0 Kept withdrawn").await;
    modules.upgrades("@1.5.0 1.5.0", "1.4.0 1.4.0 Upgraded { from: Some(1.5.0) } left").await;
    // A tag alone says nothing: `deprecate --undo` leaves it.
    modules.keeps("1.4.0", "1.4.0 1.4.0 Pinned").await;
    modules.untag("withdrawn-1.5.0").await;
    modules.keeps("@1.5.0 1.5.0", "1.5.0 1.5.0 Kept gone").await;
}

#[tokio::test]
async fn a_digest_whose_version_is_not_known_is_looked_up() {
    let modules = Modules::new("1.4.0 1.5.0 again=1.4.0").await;
    modules.keeps("@1.4.0", "1.4.0 1.4.0 Noted").await;
    modules.keeps("@1.4.0 - ~> 1.5", "module-constraint-unmet").await;
    modules.upgrades("@1.4.0 - ~> 1.4", "1.5.0 1.5.0 Upgraded { from: Some(1.4.0) }").await;
    modules.keeps("@other", "other - Kept no-version").await;
    modules.upgrades("@other", "other - Kept no-version").await;
}

#[tokio::test]
async fn a_repository_that_lists_no_tags_serves_for_what_is_named() {
    let modules = Modules::new("1.4.0 main=1.4.0").await;
    let store = || -> Arc<dyn ReadStore> { Arc::new(HookedStore(Unlisted(Arc::clone(&modules.0)))) };
    let (keep, refuse) = (Upgrade::KeepLocked, MovedTags::Refuse);
    let pin = async |call: &str, upgrade| modules.pin_in(call, upgrade, refuse, store()).await;
    assert_eq!(pin("1.4.0", keep).await, "1.4.0 1.4.0 Pinned unlisted");
    assert_eq!(pin("main", keep).await, "1.4.0 main Pinned");
    assert_eq!(pin("@1.4.0 1.4.0", keep).await, "1.4.0 1.4.0 Kept unlisted");
    assert_eq!(pin("latest - ~> 1.4", keep).await, "io");
    assert_eq!(pin("@1.4.0 1.4.0", Upgrade::Newest).await, "io");
    assert_eq!(pin("9.0.0", keep).await, "tag-not-found");
}

#[tokio::test]
async fn what_is_not_a_module_is_refused() {
    let modules = Modules::new("1.4.0").await;
    let bytes = br#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}"#;
    let index = Descriptor::of("application/vnd.oci.image.index.v1+json", bytes);
    modules.0.insert_unchecked(&index, Bytes::from_static(bytes));
    modules.0.tag(&index, &"1.5.0".parse().unwrap()).await.unwrap();
    modules.keeps("1.5.0", "not-an-image-manifest").await;
    modules.upgrades("@1.4.0 1.4.0", "not-an-image-manifest").await;
}
