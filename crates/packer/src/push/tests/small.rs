//! Small layers: the package once more, in fewer bytes.

use tofu_oci_archive::{Limits, ReadSource, read_tar_zst};
use tofu_oci_layout::{Leaf, ReleaseIndex, annotation, media_type};
use tofu_oci_store::fetch_bytes;

use super::*;
use crate::SmallLayers;

fn small(folder: &Folder) -> Push {
    Push { small: SmallLayers::Make, ..Push::new(folder, "1.4.0") }
}

#[tokio::test]
async fn each_zip_has_a_small_layer_with_its_files_beside_it() {
    for (layout, folder) in
        [(PackageLayout::Artifact, zips()), (PackageLayout::Artifact, directories()), (PackageLayout::Both, zips())]
    {
        let store = Watching::new();
        // Without an `h1:` in the index no installer could take them.
        let report = Push { layout, h1: H1Mode::Skip, ..small(&folder) }.run(&store).await.unwrap();
        let index = store.resolve(&Reference::Tag(report.tag)).await.unwrap();
        let release = ReleaseIndex::parse(&index, &fetch_bytes(&store, &index, 1 << 20).await.unwrap()).unwrap();
        for found in &report.what.platforms {
            let (h1, layer) = (found.h1.clone().unwrap(), found.small.clone().unwrap());
            assert_eq!(release.claims().platforms[&found.platform].h1.as_ref(), Some(&h1));
            let candidates = release.candidates(&found.platform);
            let (artifact, images) = candidates.split_first().unwrap();
            assert!(images.iter().all(|entry| !entry.annotations.contains_key(annotation::SMALL)));
            assert_eq!(artifact.annotations[annotation::SMALL], layer.digest.to_string());
            let leaf = Leaf::parse(artifact, &fetch_bytes(&store, artifact, 1 << 20).await.unwrap()).unwrap();
            let [zip, small] = leaf.layers() else { panic!("{:?}", leaf.layers()) };
            assert_eq!((Some(&zip.digest), &zip.media_type[..]), (found.zip.as_ref(), media_type::ARCHIVE_ZIP));
            assert_eq!((&small.digest, small.size), (&layer.digest, layer.size));
            let bytes = fetch_bytes(&store, small, 1 << 20).await.unwrap();
            let mut source = ReadSource::new(std::io::Cursor::new(bytes));
            assert_eq!(read_tar_zst(&mut source, &Limits::default()).unwrap().h1(), h1);
        }
    }
}

#[tokio::test]
async fn an_equal_release_with_small_layers_is_not_pushed_again() {
    let (folder, store) = (zips(), Watching::new());
    let first = small(&folder).run(&store).await.unwrap();
    store.take();
    let second = Push { jobs: 1, ..small(&folder) }.run(&store).await.unwrap();
    assert!(second.unchanged);
    assert_eq!(
        (store.take(), second.transfers, second.what.platforms),
        (Vec::new(), Transfers::default(), first.what.platforms)
    );
}

#[tokio::test]
async fn a_release_without_them_is_another_one_and_only_what_it_lacks_is_sent() {
    let (folder, store) = (zips(), Watching::new());
    let first = Push::new(&folder, "1.4.0").run(&store).await.unwrap();
    store.take();
    let error = small(&folder).run(&store).await.expect_err("taken");
    assert_snapshot!(error, @"memory has a tag 1.4.0 already: it points at a release with the same zips and other layers beside them");
    assert!(store.take().is_empty());
    let second = Push { replace: ReplaceTag::Replace, ..small(&folder) }.run(&store).await.unwrap();
    assert_eq!(second.replaced.unwrap().index, first.what.index);
    assert_eq!(second.transfers.present, 2, "the zips are there");
    let back = Push::new(&folder, "1.4.0").run(&store).await.expect_err("taken");
    assert_snapshot!(back, @"memory has a tag 1.4.0 already: it points at a release with the same zips and other layers beside them");
}

#[tokio::test]
async fn a_plan_names_them_and_a_push_says_how_far_they_are() {
    let folder = zips();
    let (store, heard) = (Watching::new(), EventLog::default());
    let push = small(&folder);
    let before = plan(&push.request(), &store, &EventLog::default()).await.unwrap();
    let roles: Vec<&str> = before.what.items.iter().map(|item| item.role).collect();
    assert_eq!(roles[..5], ["package", "small", "config", "manifest", "package"]);
    let report = crate::push(&push.request(), &store, &heard).await.unwrap();
    assert_eq!(
        (&before.what.release.index, &before.what.release.platforms),
        (&report.what.index, &report.what.platforms)
    );
    assert_eq!(
        (before.what.items.len() as u64, before.bytes_to_send),
        (report.transfers.uploaded, report.transfers.bytes)
    );
    let size = report.what.platforms[1].small.as_ref().unwrap().size;
    let told = heard.of("zap 1.4.0 linux_amd64 small layer");
    assert_eq!(told, [format!("started {size}"), format!("progress {size}"), "pushed".to_owned()]);
}

#[tokio::test]
async fn a_release_of_images_alone_has_none() {
    let folder = directories();
    let push = Push { layout: PackageLayout::Image, ..small(&folder) };
    let report = push.run(&Watching::new()).await.unwrap();
    assert!(report.what.platforms.iter().all(|platform| platform.small.is_none() && platform.layer.is_some()));
}

/// What installers would not unpack is not published: more than 200 bytes of every one that is stored.
#[tokio::test]
async fn a_small_layer_that_no_installer_would_unpack_ends_the_push() {
    let folder = Folder::new();
    let line = b"the same line again and again, so that it is found again ".repeat(1 << 16);
    folder.file("linux_amd64/terraform-provider-zap", "x").file("linux_amd64/text", line);
    let store = Watching::new();
    let error = small(&folder).run(&store).await.expect_err("too dense");
    assert_eq!(error.code(), "small-layer-too-dense");
    assert_snapshot!(folder.told(&error), @r"
    the small layer of linux_amd64 could not be installed
      cause: the archive expands to more than 200 times its size
    ");
    assert!(tags(&store).await.is_empty());
}
