//! Releases of a folder, carried into trees of files and bundles.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tempfile::TempDir;
use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_packer::{Rename, ReplaceTag};
use tofu_oci_source::{BundleSource, FolderSource, Source};
use tofu_oci_store::BundleArchive;
use tofu_oci_testkit::ReleaseFolder;
use tofu_oci_types::{NoReporter, Platform, Predecessors, ProviderAddr, Version};

use super::{BundleFile, Destination, ExistingReleases, StaticTree};
use crate::{MirrorError, TransferRequest, Transferred, bundled_providers, contents_of};

struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another release in the folder that is carried from.
    fn release(&self, version: &str, platforms: &[&str]) {
        let packages = self.path("from/example.com/acme/widget");
        std::fs::create_dir_all(&packages).expect("a new folder");
        ReleaseFolder::new("widget", version, platforms).write_zips(&packages);
    }

    async fn carry(&self, to: &dyn Destination, version: &str, platforms: &[&str]) -> Result<Transferred, MirrorError> {
        self.carry_with(ReplaceTag::Refuse, to, version, platforms).await
    }

    async fn carry_with(
        &self,
        replace: ReplaceTag,
        to: &dyn Destination,
        version: &str,
        platforms: &[&str],
    ) -> Result<Transferred, MirrorError> {
        let version: Version = version.parse().expect("a version");
        let from = FolderSource::new(self.path("from"));
        let release = from.release(&address(), &version).await.expect("a release");
        let platforms: Vec<Platform> = platforms.iter().map(|text| text.parse().expect("a platform")).collect();
        let request = TransferRequest {
            platforms,
            signing: None,
            files: &[],
            replace,
            rename: Rename::Refuse,
            predecessors: Predecessors::NONE,
            limits: &Limits::default(),
            jobs: 2,
            listed: None,
            work_dir: self.folder.path(),
        };
        to.receive(&request, release, &NoReporter).await
    }

    fn tree(&self) -> StaticTree {
        StaticTree::new(self.path("tree"), Waiter::default())
    }

    fn bundle(&self, existing: ExistingReleases) -> BundleFile {
        BundleFile::new(self.path("b.tar"), u64::MAX, existing, Waiter::default())
            .expect("the folder can be written to")
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file of the tree")
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("a folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

const TREE: &str = "tree/example.com/acme/widget";

fn address() -> ProviderAddr {
    "example.com/acme/widget".parse().expect("an address")
}

#[tokio::test]
async fn a_tree_has_the_files_of_a_network_mirror() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64", "darwin_arm64"]);
    fixture.release("1.1.0", &["linux_amd64"]);
    let tree = fixture.tree();
    let carried = fixture.carry(&tree, "1.0.0", &["linux_amd64", "darwin_arm64"]).await.expect("carried");
    assert_eq!((carried.transfers.uploaded, carried.unchanged), (2, false));
    fixture.carry(&tree, "1.1.0", &["linux_amd64"]).await.expect("carried");
    assert_eq!(
        fixture.names(TREE),
        [
            ".tofu-oci-lock",
            "1.0.0.json",
            "1.1.0.json",
            "index.json",
            "terraform-provider-widget_1.0.0_darwin_arm64.zip",
            "terraform-provider-widget_1.0.0_linux_amd64.zip",
            "terraform-provider-widget_1.1.0_linux_amd64.zip"
        ]
    );
    assert_snapshot!(fixture.read(&format!("{TREE}/index.json")), @r#"
    {
      "versions": {
        "1.0.0": {},
        "1.1.0": {}
      }
    }
    "#);
    assert_snapshot!(fixture.read(&format!("{TREE}/1.0.0.json")), @r#"
    {
      "archives": {
        "darwin_arm64": {
          "hashes": [
            "zh:76e0a21549075d9139b52013ebcf0882445e1b271d4292b4807acad37dfde558",
            "h1:mQ8mV8GAEbPlvpDcqUUKT1PBPbY8xeVaiGhceCG64LM="
          ],
          "url": "terraform-provider-widget_1.0.0_darwin_arm64.zip"
        },
        "linux_amd64": {
          "hashes": [
            "zh:524073b6cfc37ced1a4de2405bf1f4bbdbfafdfad54f1e41a458d75fead78e19",
            "h1:YQdGLsiy1/Yi7egAsSHs1elS7FOYVASgkU9/NNy7piw="
          ],
          "url": "terraform-provider-widget_1.0.0_linux_amd64.zip"
        }
      }
    }
    "#);
    let zip = |root: &str| {
        std::fs::read(
            fixture.path(&format!("{root}/example.com/acme/widget/terraform-provider-widget_1.1.0_linux_amd64.zip")),
        )
    };
    assert_eq!(zip("tree").expect("a zip"), zip("from").expect("a zip"));
    let listed = tree.source(&address()).expect("a folder").versions(&address()).await.expect("the tree can be read");
    assert_eq!(listed.versions.len(), 2);
}

#[tokio::test]
async fn a_second_run_writes_nothing_into_a_tree() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect("carried");
    let document = fixture.path(&format!("{TREE}/1.0.0.json"));
    let time = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).expect("a file");
    let before = time(&document);
    let carried = fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect("carried");
    assert_eq!((carried.transfers.present, carried.transfers.uploaded, carried.unchanged), (1, 0, true));
    assert_eq!(time(&document), before);
}

#[tokio::test]
async fn all_files_of_a_tree_were_looked_through_with_every_version() {
    let fixture = Fixture::new();
    let leftover = fixture.path(&format!("{TREE}/.tofu-oci-Ab12Cd"));
    let tree = fixture.tree();
    std::fs::create_dir_all(fixture.path(TREE)).expect("a new folder");
    // The second one comes while the run goes on: the folder is looked through once.
    for (version, stays) in [("1.0.0", false), ("1.1.0", true)] {
        fixture.release(version, &["linux_amd64"]);
        std::fs::write(&leftover, "of a killed run").expect("written");
        fixture.carry(&tree, version, &["linux_amd64"]).await.expect("carried");
        assert_eq!(leftover.exists(), stays, "{version}");
    }
}

#[tokio::test]
async fn a_platform_is_added_to_what_another_tool_listed() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    std::fs::create_dir_all(fixture.path(TREE)).expect("a new folder");
    let other = r#"{"archives":{"windows_386":{"hashes":["h1:abc="],"url":"elsewhere.zip","note":1}}}"#;
    std::fs::write(fixture.path(&format!("{TREE}/1.0.0.json")), other).expect("written");
    std::fs::write(fixture.path(&format!("{TREE}/index.json")), r#"{"versions":{"0.9.0":{}}}"#).expect("written");
    let carried = fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect("carried");
    assert_eq!(carried.platforms.iter().map(ToString::to_string).collect::<Vec<_>>(), ["linux_amd64", "windows_386"]);
    let document = fixture.read(&format!("{TREE}/1.0.0.json"));
    assert!(document.contains("elsewhere.zip") && document.contains("\"note\": 1"), "{document}");
    assert!(fixture.read(&format!("{TREE}/index.json")).contains("0.9.0"));
}

#[tokio::test]
async fn a_version_of_which_an_interrupted_run_left_only_zips_is_not_there() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64", "darwin_arm64"]);
    fixture.release("1.1.0", &["linux_amd64"]);
    fixture.carry(&fixture.tree(), "1.1.0", &["linux_amd64"]).await.expect("carried");
    fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64", "darwin_arm64"]).await.expect("carried");
    let there = async || {
        let source = fixture.tree().source(&address()).expect("a folder");
        let listed = source.versions(&address()).await.map(|listing| listing.versions).unwrap_or_default();
        listed.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(there().await, ["1.0.0", "1.1.0"]);
    let complete = fixture.read(&format!("{TREE}/index.json"));
    std::fs::remove_file(fixture.path(&format!("{TREE}/1.0.0.json"))).expect("removed");
    assert_eq!(there().await, ["1.1.0"]);
    std::fs::write(fixture.path(&format!("{TREE}/index.json")), r#"{"versions":{"1.0.0":{}}}"#).expect("written");
    assert_eq!(there().await, Vec::<String>::new());
    for (version, platforms) in [("1.0.0", &["linux_amd64", "darwin_arm64"][..]), ("1.1.0", &["linux_amd64"])] {
        fixture.carry(&fixture.tree(), version, platforms).await.expect("carried");
    }
    assert_eq!(there().await, ["1.0.0", "1.1.0"]);
    assert_eq!(fixture.read(&format!("{TREE}/index.json")), complete);
}

#[tokio::test]
async fn a_document_that_is_something_else_is_left_alone() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    std::fs::create_dir_all(fixture.path(TREE)).expect("a new folder");
    std::fs::write(fixture.path(&format!("{TREE}/1.0.0.json")), "[]").expect("written");
    let error = fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect_err("refused");
    assert!(matches!(error, MirrorError::NotAMirror { .. }), "{error:?}");
    assert_eq!(fixture.read(&format!("{TREE}/1.0.0.json")), "[]");
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_or_read_through_a_link_out_of_a_static_tree() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    std::fs::create_dir_all(fixture.path("elsewhere")).expect("a new folder");
    let (host, _) = TREE.rsplit_once("/acme").expect("below a host");
    std::fs::create_dir_all(fixture.path(host).parent().expect("a tree")).expect("a new folder");
    symlink(fixture.path("elsewhere"), fixture.path(host)).expect("a link");
    let error = fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect_err("refused");
    assert_eq!(error.code(), "link-out-of-tree");
    assert!(fixture.tree().place(&address()).is_err(), "nor are sightings kept there");
    assert_eq!(std::fs::read_dir(fixture.path("elsewhere")).expect("a folder").count(), 0);
    // A document that is a link would take over what it leads to.
    std::fs::remove_file(fixture.path(host)).expect("a link");
    std::fs::create_dir_all(fixture.path(TREE)).expect("a new folder");
    std::fs::write(fixture.path("secret.json"), r#"{"versions": {"secret": {}}}"#).expect("written");
    symlink(fixture.path("secret.json"), fixture.path(&format!("{TREE}/index.json"))).expect("a link");
    let error = fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect_err("refused");
    assert!(std::error::Error::source(&error).is_some(), "{error}");
    assert!(fixture.path(&format!("{TREE}/index.json")).is_symlink());
}

#[tokio::test]
async fn another_package_under_the_same_version_is_refused() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    fixture.carry(&fixture.tree(), "1.0.0", &["linux_amd64"]).await.expect("carried");
    let other = tofu_oci_testkit::ProviderZip::new("widget", "1.0.0", "linux_amd64").executable("something else");
    let name = format!("from/example.com/acme/widget/{}", other.file_name());
    std::fs::write(fixture.path(&name), other.build()).expect("written");
    for replace in [ReplaceTag::Refuse, ReplaceTag::Replace] {
        let carried = fixture.carry_with(replace, &fixture.tree(), "1.0.0", &["linux_amd64"]).await;
        let error = carried.expect_err("refused");
        assert!(matches!(error, MirrorError::UpstreamChanged { .. }), "{replace:?}: {error:?}");
    }
}

#[tokio::test]
async fn two_writers_of_one_tree_lose_nothing() {
    let fixture = Fixture::new();
    let versions: Vec<String> = (0..8).map(|minor| format!("1.{minor}.0")).collect();
    for version in &versions {
        fixture.release(version, &["linux_amd64"]);
    }
    let work = versions.iter().map(async |version| {
        let tree = fixture.tree();
        fixture.carry(&tree, version, &["linux_amd64"]).await.expect("carried");
    });
    futures_util::future::join_all(work).await;
    let index = fixture.read(&format!("{TREE}/index.json"));
    assert!(versions.iter().all(|version| index.contains(version)), "{index}");
}

#[tokio::test]
async fn a_bundle_is_written_at_the_end() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64", "darwin_arm64"]);
    let bundle = fixture.bundle(ExistingReleases::Keep);
    fixture.carry(&bundle, "1.0.0", &["linux_amd64", "darwin_arm64"]).await.expect("carried");
    assert!(!fixture.path("b.tar").exists());
    bundle.finish(&NoReporter).await.expect("written");
    drop(bundle);
    assert_eq!(fixture.names(""), ["b.tar", "from"]);
    let bundle = BundleArchive::open(fixture.path("b.tar")).await.expect("a bundle");
    assert_eq!(bundle.notes().collect::<Vec<_>>(), ["releases.json", "tofurc"]);
    let contents = contents_of(&bundle).await.expect("readable");
    let providers = bundled_providers(&contents).await.expect("readable");
    assert_eq!(providers[0].versions[0].platforms.len(), 2);
    let listed = BundleSource::new(fixture.path("b.tar")).versions(&address()).await.expect("readable");
    assert_eq!(listed.versions.len(), 1);
}

#[tokio::test]
async fn releases_of_an_existing_bundle_stay_or_go() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    fixture.release("2.0.0", &["linux_amd64"]);
    for (version, existing, want) in [
        ("1.0.0", ExistingReleases::Keep, vec!["1.0.0"]),
        ("2.0.0", ExistingReleases::Keep, vec!["1.0.0", "2.0.0"]),
        ("2.0.0", ExistingReleases::Drop, vec!["2.0.0"]),
    ] {
        let bundle = fixture.bundle(existing);
        fixture.carry(&bundle, version, &["linux_amd64"]).await.expect("carried");
        bundle.finish(&NoReporter).await.expect("written");
        let listed = BundleSource::new(fixture.path("b.tar")).versions(&address()).await.expect("readable");
        assert_eq!(listed.versions.iter().map(ToString::to_string).collect::<Vec<_>>(), want);
    }
}

#[tokio::test]
async fn a_bundle_that_is_widened_keeps_its_packages_and_refuses_others() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64", "darwin_arm64"]);
    let bundle = fixture.bundle(ExistingReleases::Keep);
    fixture.carry(&bundle, "1.0.0", &["linux_amd64"]).await.expect("carried");
    bundle.finish(&NoReporter).await.expect("written");
    let bundle = fixture.bundle(ExistingReleases::Keep);
    let both = ["linux_amd64", "darwin_arm64"];
    let carried = fixture.carry_with(ReplaceTag::Replace, &bundle, "1.0.0", &both).await.expect("carried");
    assert_eq!(carried.platforms.len(), 2);
    bundle.finish(&NoReporter).await.expect("written");
    let before = std::fs::read(fixture.path("b.tar")).expect("the bundle");

    let other = tofu_oci_testkit::ProviderZip::new("widget", "1.0.0", "linux_amd64").executable("something else");
    let name = format!("from/example.com/acme/widget/{}", other.file_name());
    std::fs::write(fixture.path(&name), other.build()).expect("written");
    let bundle = fixture.bundle(ExistingReleases::Keep);
    let error = fixture.carry_with(ReplaceTag::Replace, &bundle, "1.0.0", &both).await.expect_err("refused");
    assert!(matches!(error, MirrorError::UpstreamChanged { .. }), "{error:?}");
    assert_eq!(std::fs::read(fixture.path("b.tar")).expect("the bundle"), before);
}

#[tokio::test]
async fn the_order_in_which_releases_come_does_not_show_in_the_bytes() {
    let fixture = Fixture::new();
    fixture.release("1.0.0", &["linux_amd64"]);
    fixture.release("2.0.0", &["linux_amd64"]);
    let mut bytes = Vec::new();
    for order in [["1.0.0", "2.0.0"], ["2.0.0", "1.0.0"]] {
        let bundle = fixture.bundle(ExistingReleases::Drop);
        for version in order {
            fixture.carry(&bundle, version, &["linux_amd64"]).await.expect("carried");
        }
        bundle.finish(&NoReporter).await.expect("written");
        bytes.push(std::fs::read(fixture.path("b.tar")).expect("the bundle"));
    }
    assert_eq!(bytes[0], bytes[1]);
}

#[tokio::test]
async fn a_bundle_that_gets_nothing_is_not_written_again() {
    let fixture = Fixture::new();
    let bundle = fixture.bundle(ExistingReleases::Keep);
    bundle.finish(&NoReporter).await.expect("nothing to do");
    drop(bundle);
    assert_eq!(fixture.names(""), Vec::<String>::new());
}
