//! What people call a copied blob or manifest: the parts of a release.

use tofu_oci_types::Descriptor;

/// What a blob is called in events, by what it is and by the manifest that names it, with its digest, so that no two have
/// the same name: `zip of linux_amd64 (sha256:…)`.
pub(super) fn subject(blob: &Descriptor, manifest: Option<&Descriptor>) -> String {
    let kind = small_layer(blob, manifest).or_else(|| kind(blob)).or_else(|| manifest.and_then(kind_of_manifest));
    let title = blob.annotations.get("org.opencontainers.image.title").map(String::as_str);
    let name = kind.or(title).unwrap_or("attachment");
    let platform = manifest.and_then(|manifest| manifest.platform.as_ref());
    let platform = platform.map(|platform| format!(" of {}_{}", platform.os, platform.architecture));
    format!("{name}{} ({})", platform.unwrap_or_default(), blob.digest.short())
}

/// A layer beside the zip of a package.
fn small_layer(blob: &Descriptor, manifest: Option<&Descriptor>) -> Option<&'static str> {
    let is_package = manifest?.artifact_type.as_deref() == Some("application/vnd.opentofu.provider-target");
    (is_package && blob.media_type == "application/vnd.oci.image.layer.v1.tar+zstd").then_some("small layer")
}

/// What a media type says that a blob is.
fn kind(blob: &Descriptor) -> Option<&'static str> {
    let media_type = blob.media_type.as_str();
    Some(match media_type {
        "archive/zip" => "zip",
        "application/vnd.opentofu.provider.notice.v1+json" => "notice",
        "application/vnd.dev.cosign.simplesigning.v1+json" => "signature",
        _ if media_type.starts_with("application/vnd.dev.sigstore.bundle") => "signature",
        _ if media_type.starts_with("application/vnd.oci.image.layer.")
            || media_type.starts_with("application/vnd.docker.image.rootfs.") =>
        {
            "layer"
        }
        _ if media_type.contains("spdx") || media_type.contains("cyclonedx") => "bill of materials",
        _ if media_type.contains("in-toto") || media_type.contains("dsse") => "attestation",
        _ => return None,
    })
}

/// What the blobs of a manifest are that says itself what it is.
fn kind_of_manifest(manifest: &Descriptor) -> Option<&'static str> {
    let artifact_type = manifest.artifact_type.as_deref()?;
    (artifact_type == "application/vnd.cncf.notary.signature").then_some("signature")
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::{Digest, OciPlatform};

    use super::*;

    #[track_caller]
    fn check(media_type: &str, title: Option<&str>, platform: Option<(&str, &str)>, want: &str) {
        let mut blob = Descriptor::new(media_type, Digest::sha256(b"x"), 1);
        blob.annotations.extend(title.map(|title| ("org.opencontainers.image.title".to_owned(), title.to_owned())));
        let mut manifest = Descriptor::new("application/vnd.oci.image.manifest.v1+json", Digest::sha256(b"y"), 1);
        manifest.platform = platform.map(|(os, architecture)| OciPlatform {
            os: os.to_owned(),
            architecture: architecture.to_owned(),
            variant: None,
            os_version: None,
        });
        assert_eq!(subject(&blob, Some(&manifest)), format!("{want} ({})", blob.digest.short()));
    }

    #[test]
    fn a_blob_is_called_by_what_it_is_and_never_by_its_media_type() {
        let linux = Some(("linux", "amd64"));
        check("archive/zip", Some("widget.zip"), linux, "zip of linux_amd64");
        check("application/vnd.oci.image.layer.v1.tar+gzip", None, linux, "layer of linux_amd64");
        check("application/vnd.oci.image.layer.v1.tar+zstd", None, linux, "layer of linux_amd64");
        check("application/vnd.dev.sigstore.bundle.v0.3+json", None, None, "signature");
        check("application/vnd.dev.cosign.simplesigning.v1+json", None, None, "signature");
        check("application/spdx+json", None, None, "bill of materials");
        check("application/octet-stream", Some("SHA256SUMS"), None, "SHA256SUMS");
        check("application/x", None, None, "attachment");
    }

    #[test]
    fn a_layer_beside_a_zip_is_the_small_one() {
        let mut manifest = Descriptor::new("application/vnd.oci.image.manifest.v1+json", Digest::sha256(b"y"), 1);
        manifest.artifact_type = Some("application/vnd.opentofu.provider-target".to_owned());
        let zstd = Descriptor::new("application/vnd.oci.image.layer.v1.tar+zstd", Digest::sha256(b"x"), 1);
        assert!(subject(&zstd, Some(&manifest)).starts_with("small layer ("));
        let gzip = Descriptor::new("application/vnd.oci.image.layer.v1.tar+gzip", Digest::sha256(b"x"), 1);
        assert!(subject(&gzip, Some(&manifest)).starts_with("layer ("));
    }
}
