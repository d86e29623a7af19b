//! Pushes into a store that watches.

mod address;
mod attached;
mod overlap;
mod platform;
mod read_back;
mod small;

use std::sync::atomic::Ordering;

use insta::assert_snapshot;
use tofu_oci_store::{DirStore, ReadStore as _};

use tofu_oci_types::{Descriptor, Digest, Reference};

use super::*;
use crate::testing::{EventLog, Folder, Push, Watching, names, tags};
use crate::{H1Mode, PackageLayout, ReleaseParts, TagState, Transfers};

/// Two platforms as zips.
fn zips() -> Folder {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.4.0", "darwin_arm64");
    folder
}

/// Two platforms as directories.
fn directories() -> Folder {
    let folder = Folder::new();
    folder
        .file("linux_amd64/terraform-provider-zap_v1.4.0", "program for linux")
        .file("linux_amd64/docs/README.md", "text");
    folder.file("windows_amd64/terraform-provider-zap_v1.4.0.exe", "program for windows");
    folder
}

const LAYOUTS: [PackageLayout; 3] = [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both];

#[tokio::test]
async fn what_names_something_comes_after_it_and_the_tag_last() {
    for layout in LAYOUTS {
        for folder in [zips(), directories()] {
            let store = Watching::new();
            let report = Push { layout, ..Push::new(&folder, "1.4.0") }.run(&store).await.unwrap();
            assert!(!report.unchanged);
            assert_eq!(report.what.platforms.len(), 2);
            let done = store.take();
            assert_eq!(done.last().map(String::as_str), Some("tag 1.4.0"), "{done:?}");
            assert_eq!(done.iter().filter(|what| what.starts_with("tag")).count(), 1);
            assert_eq!(done.len() as u64, report.transfers.uploaded + 1);
            assert_eq!(tags(&store).await, ["1.4.0".to_owned()].into());
        }
    }
}

#[tokio::test]
async fn equal_inputs_give_equal_digests_and_equal_contents_equal_checksums() {
    for folder in [zips(), directories()] {
        let mut h1s = Vec::new();
        for layout in LAYOUTS {
            let first = Push { layout, jobs: 1, ..Push::new(&folder, "1.4.0") }.run(&Watching::new()).await.unwrap();
            let second = Push { layout, jobs: 4, ..Push::new(&folder, "1.4.0") }.run(&Watching::new()).await.unwrap();
            assert_eq!(first, second);
            h1s.push(first.what.platforms.iter().map(|platform| platform.h1.clone().unwrap()).collect::<Vec<_>>());
        }
        h1s.dedup();
        assert_eq!(h1s.len(), 1, "the layouts have equal contents");
    }
}

#[tokio::test]
async fn a_zip_is_pushed_byte_for_byte() {
    let folder = zips();
    let store = Watching::new();
    let report = Push::new(&folder, "1.4.0").run(&store).await.unwrap();
    for platform in &report.what.platforms {
        let bytes = std::fs::read(folder.path().join(&platform.filename)).unwrap();
        let digest = Digest::sha256(&bytes);
        assert_eq!(platform.zip.as_ref(), Some(&digest));
        assert!(store.inner.digests().contains(&digest));
    }
}

#[tokio::test]
async fn a_push_that_breaks_off_leaves_no_tag_and_can_be_run_again() {
    let folder = zips();
    let whole = Push::new(&folder, "1.4.0").run(&Watching::new()).await.unwrap();
    for fail_at in 0..=usize::try_from(whole.transfers.uploaded).unwrap() {
        let store = Watching { fail_at: Some(fail_at), ..Watching::new() };
        let error = Push::new(&folder, "1.4.0").run(&store).await.expect_err("told to fail");
        assert!(matches!(error, PackError::Store(_)), "{error}");
        assert!(tags(&store).await.is_empty());
        let store = Watching { inner: store.inner, ..Watching::new() };
        let again = Push::new(&folder, "1.4.0").run(&store).await.unwrap();
        assert_eq!(again.what.index, whole.what.index);
        assert_eq!(again.transfers.present + again.transfers.uploaded, whole.transfers.uploaded);
    }
}

#[tokio::test]
async fn an_equal_release_is_not_pushed_again() {
    for layout in LAYOUTS {
        let folder = directories();
        let store = Watching::new();
        let push = Push { layout, ..Push::new(&folder, "1.4.0") };
        let first = push.run(&store).await.unwrap();
        store.take();
        let second = push.run(&store).await.unwrap();
        assert!(second.unchanged);
        assert_eq!((store.take(), second.transfers), (Vec::new(), Transfers::default()));
        assert_eq!(second.what.index, first.what.index);
    }
}

#[tokio::test]
async fn a_taken_tag_is_refused_before_anything_is_sent() {
    let folder = zips();
    let store = Watching::new();
    Push::new(&folder, "1.4.0").run(&store).await.unwrap();
    store.take();
    folder.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", b"another program")]);
    let error = Push::new(&folder, "1.4.0").run(&store).await.expect_err("taken");
    assert_snapshot!(error, @"memory has a tag 1.4.0 already: it points at a release with other packages");
    assert!(store.take().is_empty());
    let replaced = Push { replace: ReplaceTag::Replace, ..Push::new(&folder, "1.4.0") }.run(&store).await.unwrap();
    assert_eq!(replaced.transfers.present, 3, "the other platform is there");
    let now = store.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
    assert_eq!(now.digest, replaced.what.index);
}

#[tokio::test]
async fn the_same_packages_with_other_annotations_are_another_release() {
    let folder = zips();
    let store = Watching::new();
    Push::new(&folder, "1.4.0").run(&store).await.unwrap();
    store.take();
    let skip = Push { h1: H1Mode::Skip, ..Push::new(&folder, "1.4.0") };
    assert_snapshot!(skip.run(&store).await.expect_err("taken"), @"memory has a tag 1.4.0 already: it points at a release with the same packages and other annotations");
    assert!(store.take().is_empty());
    let report = skip.run(&Watching::new()).await.unwrap();
    assert!(report.what.platforms.iter().all(|platform| platform.h1.is_none() && platform.zh.is_some()));
}

#[tokio::test]
async fn the_same_packages_in_another_layout_are_not_called_other_packages() {
    let [artifact, image, both] = LAYOUTS;
    for (first, second) in [(both, artifact), (artifact, image), (image, artifact)] {
        let (folder, store) = (zips(), Watching::new());
        Push { layout: first, ..Push::new(&folder, "1.4.0") }.run(&store).await.unwrap();
        let error = Push { layout: second, ..Push::new(&folder, "1.4.0") }.run(&store).await.expect_err("taken");
        assert!(error.to_string().ends_with("the same packages in another layout, or for other platforms"), "{error}");
    }
}

/// Another release of this version, which lies in a store under no tag.
async fn rival(store: &Watching) -> (Descriptor, Tag) {
    let other = Folder::new();
    other.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", b"another program")]);
    let PushReport { what: ReleaseParts { index, .. }, tag, .. } = Push::new(&other, "1.4.0").run(store).await.unwrap();
    store.inner.untag(&tag, &index).await.unwrap();
    (store.resolve(&Reference::Digest(index)).await.unwrap(), tag)
}

#[tokio::test]
async fn a_tag_that_appears_meanwhile_is_not_moved() {
    let mut store = Watching::new();
    let (rival, tag) = rival(&store).await;
    store.rival = Some(rival.clone());
    let error = Push::new(&zips(), "1.4.0").run(&store).await.expect_err("taken");
    assert!(matches!(error, PackError::TagTaken(_)), "{error}");
    assert_eq!(store.resolve(&Reference::Tag(tag)).await.unwrap().digest, rival.digest);
}

#[tokio::test]
async fn two_pushes_of_different_releases_under_one_new_version_both_said_that_they_had_published_it() {
    let store = Watching::new();
    *store.meanwhile.lock().unwrap() = Some(rival(&store).await);
    let error = Push::new(&zips(), "1.4.0").run(&store).await.expect_err("the other one came last");
    assert_snapshot!(error, @"memory has a tag 1.4.0 already: it points at a release with other packages");
}

#[tokio::test]
async fn a_tag_moves_to_other_annotations_only_when_told_to() {
    let folder = zips();
    let store = Watching::new();
    let first = Push::new(&folder, "1.4.0").run(&store).await.unwrap();
    store.take();
    let replace = |h1| Push { h1, replace: ReplaceTag::Replace, ..Push::new(&folder, "1.4.0") };
    assert!(replace(H1Mode::Compute).run(&store).await.unwrap().unchanged);
    assert!(store.take().is_empty());
    let second = replace(H1Mode::Skip).run(&store).await.unwrap();
    assert_ne!(second.what.index, first.what.index);
    assert_eq!(second.transfers.uploaded, 1, "the index alone is new");
}

#[tokio::test]
async fn a_tag_that_names_something_else_is_refused() {
    let store = Watching::new();
    let manifest = bytes::Bytes::from_static(b"{\"schemaVersion\":2,\"config\":{},\"layers\":[]}");
    let descriptor = Descriptor::of("application/vnd.oci.image.manifest.v1+json", &manifest);
    store.inner.insert_unchecked(&descriptor, manifest);
    store.inner.tag(&descriptor, &"1.4.0".parse().unwrap()).await.unwrap();
    assert_snapshot!(Push::new(&zips(), "1.4.0").run(&store).await.expect_err("taken"), @"memory has a tag 1.4.0 already: it points at something that is not a provider release");
}

#[tokio::test]
async fn so_many_platforms_are_sent_at_a_time() {
    let folder = Folder::new();
    for platform in ["linux_amd64", "linux_arm64", "linux_arm", "linux_386", "darwin_arm64", "darwin_amd64"] {
        folder.package("1.4.0", platform);
    }
    for jobs in [1, 3] {
        let store = Watching::new();
        Push { jobs, ..Push::new(&folder, "1.4.0") }.run(&store).await.unwrap();
        let most = store.most_running.load(Ordering::SeqCst);
        assert!(most <= jobs && (jobs == 1 || most > 1), "{most} of {jobs}");
    }
}

#[tokio::test]
async fn a_known_checksum_is_not_computed_again() {
    let folder = zips();
    let memo = tempfile::tempdir().unwrap();
    let push = Push { memo_dir: Some(memo.path().join("h1")), ..Push::new(&folder, "1.4.0") };
    let first = push.run(&Watching::new()).await.unwrap();
    assert_eq!(push.run(&Watching::new()).await.unwrap(), first);
    // Marked memos show that nothing was read through.
    let marked = tofu_oci_types::PackageHash::h1(&[1; 32]);
    let remembered = names(&memo.path().join("h1"));
    assert_eq!(remembered.len(), 2);
    for name in remembered {
        std::fs::write(memo.path().join("h1").join(name), marked.to_string()).unwrap();
    }
    let second = push.run(&Watching::new()).await.unwrap();
    assert!(second.what.platforms.iter().all(|platform| platform.h1.as_ref() == Some(&marked)));
}

#[tokio::test]
async fn a_plan_tells_what_a_push_then_does() {
    let folder = directories();
    for layout in LAYOUTS {
        let push = Push { layout, ..Push::new(&folder, "1.4.0") };
        let store = Watching::new();
        let before = plan(&push.request(), &store, &EventLog::default()).await.unwrap();
        assert_eq!((store.take(), store.inner.digests(), &before.tag_state), (Vec::new(), Vec::new(), &TagState::Free));
        let report = push.run(&store).await.unwrap();
        assert_eq!(
            (&before.what.release.index, &before.what.release.platforms),
            (&report.what.index, &report.what.platforms)
        );
        assert_eq!(
            (before.what.items.len() as u64, before.bytes_to_send),
            (report.transfers.uploaded, report.transfers.bytes)
        );
        let after = plan(&push.request(), &store, &EventLog::default()).await.unwrap();
        assert_eq!((after.tag_state, after.bytes_to_send), (TagState::Equal, 0));
        serde_json::to_string(&after.what.items).unwrap();
    }
}

#[tokio::test]
async fn warns_of_tags_that_break_init() {
    let folder = zips();
    let store = Watching::new();
    let report = Push::new(&folder, "1.4.0").run(&store).await.unwrap();
    let index = store.resolve(&Reference::Digest(report.what.index)).await.unwrap();
    for tag in ["2", "latest", "1.4.0_b", "v1.4.0"] {
        store.inner.tag(&index, &tag.parse().unwrap()).await.unwrap();
    }
    let heard = EventLog::default();
    push(&Push::new(&folder, "1.4.0").request(), &store, &heard).await.unwrap();
    assert_eq!(heard.codes(), ["several-builds", "floating-tag", "ignored-tag"]);
}

#[tokio::test]
async fn build_metadata_is_written_with_an_underscore() {
    let folder = Folder::new();
    folder.package("1.4.0+linux.5", "linux_amd64");
    let store = Watching::new();
    let report = Push::new(&folder, "1.4.0+linux.5").run(&store).await.unwrap();
    assert_eq!(report.tag.as_str(), "1.4.0_linux.5");
}

#[tokio::test]
async fn tells_how_far_it_is() {
    let folder = zips();
    let name = "terraform-provider-zap_1.4.0_linux_amd64.zip";
    let size = std::fs::metadata(folder.path().join(name)).unwrap().len();
    let (store, heard) = (Watching::new(), EventLog::default());
    let push = Push::new(&folder, "1.4.0");
    crate::push(&push.request(), &store, &heard).await.unwrap();
    let told = heard.of("zap 1.4.0 linux_amd64");
    assert_eq!(told, [format!("started {size}"), format!("progress {size}"), "pushed".to_owned()]);
}

#[tokio::test]
async fn writes_to_a_folder_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let store = DirStore::create(dir.path().join("layout")).unwrap();
    let report = Push { layout: PackageLayout::Both, ..Push::new(&directories(), "1.4.0") }.run(&store).await.unwrap();
    assert_eq!(store.resolve(&Reference::Tag(report.tag)).await.unwrap().digest, report.what.index);
}

/// Pushes what must be refused: says why, and demands that the store stays as it was.
async fn refused(folder: &Folder, change: impl FnOnce(&mut Push)) -> String {
    let mut push = Push::new(folder, "1.4.0");
    change(&mut push);
    let store = Watching::new();
    let error = push.run(&store).await.expect_err("must be refused");
    assert!(store.inner.digests().is_empty(), "nothing is sent");
    folder.told(&error)
}

#[tokio::test]
async fn the_version_that_stands_for_none_is_not_published() {
    let folder = Folder::new();
    folder.package("0.0.0", "linux_amd64");
    let store = Watching::new();
    let error = Push::new(&folder, "0.0.0").run(&store).await.unwrap_err();
    assert_snapshot!(error, @"version 0.0.0 cannot be a tag: OpenTofu takes it for no version and does not install it");
}

#[tokio::test]
async fn refuses_what_was_not_asked_for() {
    let other = |push: &mut Push| push.address = "example.com/acme/zip".parse().unwrap();
    assert_snapshot!(refused(&zips(), other).await, @"the address names the provider `zip`, but DIST holds `zap`");
    let other = |push: &mut Push| push.version = "1.5.0".parse().unwrap();
    assert_snapshot!(refused(&zips(), other).await, @"version 1.5.0 was asked for, but DIST holds 1.4.0");
}

#[tokio::test]
async fn refuses_bad_packages_before_anything_is_sent() {
    let with = |bytes: Vec<u8>| {
        let folder = zips();
        folder.file("terraform-provider-zap_1.4.0_windows_386.zip", bytes);
        folder
    };
    let named = |name: &str| with(crate::testing::zip(&[("terraform-provider-zap", b"x"), (name, b"x")]));
    assert_snapshot!(refused(&with(b"no zip".to_vec()), |_| {}).await, @r"
    DIST/terraform-provider-zap_1.4.0_windows_386.zip cannot be published
      cause: this is not a zip archive
    ");
    assert_snapshot!(refused(&with(Vec::new()), |_| {}).await, @r"
    DIST/terraform-provider-zap_1.4.0_windows_386.zip cannot be published
      cause: this is not a zip archive
    ");
    assert_snapshot!(refused(&with(crate::testing::zip(&[("README.md", b"x")])), |_| {}).await, @"DIST/terraform-provider-zap_1.4.0_windows_386.zip holds no `terraform-provider-zap` executable");
    assert_snapshot!(refused(&named("../evil"), |_| {}).await, @r"
    DIST/terraform-provider-zap_1.4.0_windows_386.zip cannot be published
      cause: the archive has an entry with an unsafe name, `../evil`: it has a `..` part
    ");
    assert_snapshot!(refused(&named("/evil"), |_| {}).await, @r"
    DIST/terraform-provider-zap_1.4.0_windows_386.zip cannot be published
      cause: the archive has an entry with an unsafe name, `/evil`: it is absolute
    ");
    assert_snapshot!(refused(&named("docs\\evil"), |_| {}).await, @r"
    DIST/terraform-provider-zap_1.4.0_windows_386.zip cannot be published
      cause: the archive has an entry with an unsafe name, `docs//evil`: it has a backslash, which Windows takes for a slash
    ");
    let folder = Folder::new();
    folder.file("linux_amd64/terraform-provider-zap", "x").file("linux_arm64/README.md", "x");
    assert_snapshot!(refused(&folder, |_| {}).await, @"DIST/linux_arm64 holds no `terraform-provider-zap` executable");
}

#[tokio::test]
async fn refuses_a_wrong_checksum_before_anything_is_sent() {
    let folder = zips();
    folder.sums("SHA256SUMS");
    folder.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", b"changed")]);
    let wrong = refused(&folder, |_| {}).await;
    let wrong = wrong.split(": expected").next().unwrap_or_default();
    assert_snapshot!(wrong, @"DIST/terraform-provider-zap_1.4.0_linux_amd64.zip does not match line 2 of DIST/SHA256SUMS");
}

#[cfg(unix)]
#[tokio::test]
async fn refuses_a_symlink_in_a_directory() {
    let folder = Folder::new();
    folder.file("linux_amd64/terraform-provider-zap", "x");
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("linux_amd64/link")).unwrap();
    assert_snapshot!(refused(&folder, |_| {}).await, @r"
    DIST/linux_amd64 cannot be published
      cause: `link` is a symbolic link, which a package must not contain
    ");
}

#[tokio::test]
async fn a_damaged_zip_gets_no_tag() {
    let folder = zips();
    folder.damage("terraform-provider-zap_1.4.0_linux_amd64.zip");
    let store = Watching::new();
    let error = Push::new(&folder, "1.4.0").run(&store).await.expect_err("damaged");
    assert!(matches!(error, PackError::Archive { .. }), "{error}");
    assert!(tags(&store).await.is_empty());
}

#[tokio::test]
async fn a_missing_work_folder_is_told() {
    let folder = zips();
    let push = Push::new(&folder, "1.4.0");
    let request = crate::PushRequest { work_dir: "/nowhere/at/all".into(), ..push.request() };
    let error = crate::push(&request, &Watching::new(), &EventLog::default()).await.expect_err("no folder");
    assert_snapshot!(error, @"cannot create a folder in /nowhere/at/all");
}
