//! The names that manifests use: media types, artifact types, annotations and the label.

/// The label that an image's config carries to say what the image is.
///
/// Spec: seed RFC "Provider Packages as OCI distribution objects".
pub const LABEL: &str = "org.opentofu.package-type";

/// The value of [`LABEL`] for a provider package.
pub const LABEL_PROVIDER: &str = "provider_binary";

/// How the bytes of an image layer are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerFormat {
    /// A tar file as it is.
    Tar,
    /// A tar file in gzip.
    TarGzip,
    /// A tar file in Zstandard.
    TarZstd,
}

/// Media types.
///
/// Spec: OCI image-spec 1.1.1, media-types.md; Docker image manifest version 2, schema 2.
pub mod media_type {
    use super::LayerFormat;

    /// An OCI image index.
    pub const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
    /// An OCI image manifest.
    pub const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    /// An OCI image config.
    pub const OCI_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
    /// The empty JSON object `{}`, used if a descriptor is needed and has nothing to describe.
    pub const OCI_EMPTY: &str = "application/vnd.oci.empty.v1+json";
    /// A Docker manifest list, Docker's form of an index.
    pub const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
    /// A Docker image manifest.
    pub const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
    /// A Docker image config.
    pub const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
    /// A Docker manifest of schema 1, which registries should no longer serve.
    pub const DOCKER_SCHEMA1: &str = "application/vnd.docker.distribution.manifest.v1+json";
    /// A signed Docker manifest of schema 1.
    pub const DOCKER_SCHEMA1_SIGNED: &str = "application/vnd.docker.distribution.manifest.v1+prettyjws";
    /// A provider's release zip, byte for byte.
    pub const ARCHIVE_ZIP: &str = "archive/zip";
    /// A provider's documentation: a zip of its pages.
    pub const DOCS_ZIP: &str = "application/vnd.opentofu.provider.docs.v1+zip";
    /// An image layer: tar in gzip.
    pub const LAYER_TAR_GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
    /// An image layer: tar.
    pub const LAYER_TAR: &str = "application/vnd.oci.image.layer.v1.tar";
    /// An image layer: tar in Zstandard.
    pub const LAYER_TAR_ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";

    /// Whether this is an index: [`OCI_INDEX`] or [`DOCKER_LIST`].
    pub fn is_index(media_type: &str) -> bool {
        matches!(media_type, OCI_INDEX | DOCKER_LIST)
    }

    /// Whether this is the manifest of one image or artifact: [`OCI_MANIFEST`] or [`DOCKER_MANIFEST`].
    pub fn is_leaf(media_type: &str) -> bool {
        matches!(media_type, OCI_MANIFEST | DOCKER_MANIFEST)
    }

    /// Whether this is an index or the manifest of one image or artifact.
    pub fn is_manifest(media_type: &str) -> bool {
        is_index(media_type) || is_leaf(media_type)
    }

    /// Whether this is the config of a container image.
    pub fn is_image_config(media_type: &str) -> bool {
        matches!(media_type, OCI_CONFIG | DOCKER_CONFIG)
    }

    /// How an image layer of this media type is packed; `None` if it is not an image layer.
    ///
    /// Layers that must not be distributed count as well: they are read if a repository has them, and never
    /// fetched from anywhere else.
    pub fn layer_format(media_type: &str) -> Option<LayerFormat> {
        match media_type {
            LAYER_TAR_GZIP
            | "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip"
            | "application/vnd.docker.image.rootfs.diff.tar.gzip"
            | "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip" => Some(LayerFormat::TarGzip),
            LAYER_TAR
            | "application/vnd.oci.image.layer.nondistributable.v1.tar"
            | "application/vnd.docker.image.rootfs.diff.tar"
            | "application/vnd.docker.image.rootfs.foreign.diff.tar" => Some(LayerFormat::Tar),
            LAYER_TAR_ZSTD
            | "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd"
            | "application/vnd.docker.image.rootfs.diff.tar.zstd" => Some(LayerFormat::TarZstd),
            _ => None,
        }
    }
}

/// Artifact types.
///
/// Spec: `OpenTofu` 1.12, getproviders `oci_registry_mirror_source.go`.
pub mod artifact_type {
    /// The index of a provider release.
    pub const PROVIDER: &str = "application/vnd.opentofu.provider";
    /// The manifest of one platform's package.
    pub const PROVIDER_TARGET: &str = "application/vnd.opentofu.provider-target";
    /// The manifest of a module package.
    pub const MODULE: &str = "application/vnd.opentofu.modulepkg";
    /// The referrer that carries a provider's documentation.
    pub const DOCS: &str = "application/vnd.opentofu.provider.docs.v1";
    /// A build attestation as newer builders write it.
    pub const DOCKER_ATTESTATION: &str = "application/vnd.docker.attestation.manifest.v1+json";
}

/// Annotations.
pub mod annotation {
    /// On the index: the provider's address, such as `registry.opentofu.org/acme/widget`.
    pub const ADDRESS: &str = "org.opentofu.provider.address";
    /// On the index: the release's version, such as `1.4.0`.
    pub const VERSION: &str = "org.opentofu.provider.version";
    /// On the index: the plugin protocol versions, such as `5.0,6.0`.
    pub const PROTOCOLS: &str = "org.opentofu.provider.protocols";
    /// On an index entry: the `h1:` checksum of the package.
    pub const H1: &str = "org.opentofu.provider.h1";
    /// On an index entry: the `zh:` checksum of the package's zip.
    pub const ZH: &str = "org.opentofu.provider.zh";
    /// On an index entry: the size of the package's zip (or layer) in bytes.
    pub const SIZE: &str = "org.opentofu.provider.package-size";
    /// On an index entry: the digest of the leaf's small layer, the same package in fewer bytes.
    pub const SMALL: &str = "org.opentofu.provider.small";
    /// On an index entry: the file name of the release's zip.
    pub const FILENAME: &str = "org.opentofu.provider.filename";
    /// On the referrer of a provider's documentation: which one it is of those of the release, from 1; the highest counts.
    pub const DOCS_REVISION: &str = "org.opentofu.provider.docs.revision";
    /// On a module's manifest: the module of a registry that was packed from elsewhere, such as
    /// `registry.opentofu.org/acme/network/aws`.
    pub const MODULE_ADDRESS: &str = "org.opentofu.module.address";
    /// On a module's manifest: its version, such as `1.4.0`.
    pub const MODULE_VERSION: &str = "org.opentofu.module.version";
    /// On a module's manifest: the `h1:` checksum of what is in the package.
    pub const MODULE_H1: &str = "org.opentofu.module.h1";
    /// On a module's manifest: the digest of the README in the package's root.
    pub const MODULE_README: &str = "org.opentofu.module.readme";
    /// A title for people; on a layer the file name under which other tools save it.
    ///
    /// Spec: OCI image-spec 1.1.1, annotations.md.
    pub const TITLE: &str = "org.opencontainers.image.title";
    /// When it was built, as RFC 3339 writes a moment.
    ///
    /// Spec: OCI image-spec 1.1.1, annotations.md.
    pub const CREATED: &str = "org.opencontainers.image.created";
    /// Where the source lies: a URL.
    ///
    /// Spec: OCI image-spec 1.1.1, annotations.md.
    pub const SOURCE: &str = "org.opencontainers.image.source";
    /// The revision of the source.
    ///
    /// Spec: OCI image-spec 1.1.1, annotations.md.
    pub const REVISION: &str = "org.opencontainers.image.revision";
    /// The licences, as an SPDX expression.
    ///
    /// Spec: OCI image-spec 1.1.1, annotations.md.
    pub const LICENSES: &str = "org.opencontainers.image.licenses";
    /// The version for people.
    ///
    /// Spec: OCI image-spec 1.1.1, annotations.md.
    pub const IMAGE_VERSION: &str = "org.opencontainers.image.version";
    /// On an index entry: what builders say that it is, `attestation-manifest`.
    pub const DOCKER_REFERENCE_TYPE: &str = "vnd.docker.reference.type";
}
