//! Bundles: the first byte says if the checksums of headers are set right before the rest is read as a file.

use std::fs;

use crate::input::with_folder;
use crate::tar_archive;

/// Reads a bundle.
pub fn run(bytes: &[u8]) {
    let Some((kind, archive)) = bytes.split_first() else { return };
    let mut archive = archive.to_vec();
    if kind % 2 == 0 {
        tar_archive::set_checksums(&mut archive);
    }
    with_folder("bundle", |folder| {
        let path = folder.join("bundle");
        fs::write(&path, archive).expect("a file is written");
        tofu_oci_store::fuzzing::bundle(&path);
    });
}

/// A bundle with a repository, one with notes alone, and one with two members of one name.
pub fn seeds() -> Vec<Vec<u8>> {
    let manifest = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","subject":{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}"#;
    let digest = tofu_oci_types::Digest::sha256(manifest.as_bytes());
    let blob = format!("blobs/sha256/{}", digest.encoded());
    let index = format!(
        r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{digest}","size":{},"annotations":{{"org.opencontainers.image.ref.name":"example.com/acme/widget:1.0.0"}}}}]}}"#,
        manifest.len()
    );
    let layout = ("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#);
    let empty = ("index.json", r#"{"schemaVersion":2,"manifests":[]}"#);
    let archives: [&[(&str, &str)]; 3] = [
        &[layout, ("index.json", &index), (&blob, manifest)],
        &[layout, empty, ("tofu-oci/releases.json", "{}")],
        &[layout, layout],
    ];
    archives.iter().map(|members| [&[0][..], &tar_archive::of(members)].concat()).collect()
}
