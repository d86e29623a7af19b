//! Symbolic links in an image layout that lead out of it.
#![cfg(unix)]

use bytes::Bytes;
use tofu_oci_types::Descriptor;

use super::dir_writing::new_store;
use super::text_of;
use crate::{Store as _, fetch_bytes};

#[tokio::test]
async fn nothing_is_written_through_a_link_out_of_the_layout() {
    for part in ["blobs", "blobs/sha256"] {
        let (folder, store) = new_store();
        let outside = folder.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::remove_dir_all(store.path().join(part)).unwrap();
        std::os::unix::fs::symlink(&outside, store.path().join(part)).unwrap();
        let descriptor = Descriptor::of("archive/zip", b"package");
        let bytes = Bytes::from_static(b"package");
        let text = text_of(store.push(&descriptor, &bytes).await, folder.path());
        assert!(text.starts_with("oci:DIR/layout is not usable: "), "{text}");
        assert!(text.ends_with(" is a link out of the layout"), "{text}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{part}");
        // A link that stays inside the layout is followed.
        std::fs::remove_file(store.path().join(part)).unwrap();
        std::fs::create_dir_all(store.path().join("pool")).unwrap();
        std::os::unix::fs::symlink(store.path().join("pool"), store.path().join(part)).unwrap();
        store.push(&descriptor, &bytes).await.unwrap();
        assert_eq!(fetch_bytes(&store, &descriptor, 1 << 20).await.unwrap(), "package");
    }
}
