//! What was pushed, read as an installer reads it.

use std::collections::BTreeMap;

use tofu_oci_archive::{LayerCompression, LayerTree, Limits, ReadSource, unpack_zip};
use tofu_oci_layout::{Leaf, LeafKind, ReleaseIndex};
use tofu_oci_store::{ReadStore as _, fetch_bytes};
use tofu_oci_types::Reference;

use crate::PackageLayout;
use crate::testing::{Folder, Push, Watching};

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 12, ..Default::default() })]

    /// What an installer reads back has the contents that were pushed, from the image as from the artifact.
    #[test]
    fn both_layouts_read_back_with_the_checksum_of_the_input(
        files in proptest::collection::btree_map("[a-z]{1,8}(/[a-z]{1,8}){0,2}\\.txt", proptest::collection::vec(proptest::num::u8::ANY, 0..3000), 0..6),
        program in proptest::collection::vec(proptest::num::u8::ANY, 1..3000),
        as_zip in proptest::bool::ANY,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(read_back(&files, &program, as_zip));
    }
}

async fn read_back(files: &BTreeMap<String, Vec<u8>>, program: &[u8], as_zip: bool) {
    let folder = Folder::new();
    let mut all: Vec<(&str, &[u8])> =
        files.iter().map(|(name, contents)| (name.as_str(), contents.as_slice())).collect();
    all.push(("terraform-provider-zap", program));
    let input = Folder::new();
    for (name, contents) in &all {
        input.file(name, contents);
        if !as_zip {
            folder.file(&format!("linux_amd64/{name}"), contents);
        }
    }
    if as_zip {
        folder.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &all);
    }
    let want = tofu_oci_archive::read_directory(&input.path(), &tofu_oci_archive::Limits::default()).unwrap().h1();
    let store = Watching::new();
    let push = Push { layout: PackageLayout::Both, ..Push::new(&folder, "1.4.0") };
    let report = push.run(&store).await.unwrap();
    assert_eq!(report.what.platforms[0].h1.as_ref(), Some(&want));
    let platform = "linux_amd64".parse().unwrap();
    let index = store.resolve(&Reference::Tag(report.tag)).await.unwrap();
    let bytes = fetch_bytes(&store, &index, 1 << 20).await.unwrap();
    let release = ReleaseIndex::parse(&index, &bytes).unwrap();
    assert_eq!(release.claims().platforms[&platform].h1.as_ref(), Some(&want));
    let leaves = release.candidates(&platform);
    assert_eq!(leaves.len(), 2);
    for entry in leaves {
        let leaf = Leaf::parse(&entry, &fetch_bytes(&store, &entry, 1 << 20).await.unwrap()).unwrap();
        let into = Folder::new();
        let layer = fetch_bytes(&store, &leaf.layers()[0], 1 << 20).await.unwrap();
        let mut source = ReadSource::new(std::io::Cursor::new(layer));
        let found = match release.kind(&entry) {
            LeafKind::Artifact => unpack_zip(&mut source, &into.path(), &Limits::default()).unwrap(),
            LeafKind::Image => {
                let spool = Folder::new();
                let mut tree = LayerTree::new(&spool.path(), Limits::default()).unwrap();
                tree.apply(&mut source, LayerCompression::Gzip, None).unwrap();
                tree.materialise(&into.path()).unwrap()
            }
        };
        assert_eq!(found.h1(), want);
    }
}
