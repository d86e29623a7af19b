//! The structs of the OCI image-spec that `OpenTofu` reads manifests into.

use super::decode::{Base64, JsonReader, JsonTarget, Slice, Texts, member, unmarshal};
use crate::opentofu::{GoDescriptor, GoPlatform};

/// The media type of the layer that holds a package.
const ZIP: &str = "archive/zip";

/// An index as Go reads it.
///
/// Spec: OCI image-spec 1.1.1, `specs-go/v1`, `Index`.
#[derive(Debug, Default)]
pub(crate) struct GoIndex {
    /// `mediaType`.
    pub(crate) media_type: String,
    /// `artifactType`.
    pub(crate) artifact_type: String,
    /// `manifests`.
    pub(crate) manifests: Vec<GoDescriptor>,
}

/// An image manifest as Go reads it.
///
/// Spec: OCI image-spec 1.1.1, `specs-go/v1`, `Manifest`.
#[derive(Debug, Default)]
pub(crate) struct GoManifest {
    /// `mediaType`.
    pub(crate) media_type: String,
    /// `artifactType`.
    pub(crate) artifact_type: String,
    /// `config`.
    pub(crate) config: GoDescriptor,
    /// `layers`.
    pub(crate) layers: Vec<GoDescriptor>,
}

#[cfg(test)]
thread_local! {
    /// The number of indexes that this thread has read.
    pub(crate) static READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl GoIndex {
    /// The index, and whether Go reads it without an error.
    pub(crate) fn read(bytes: &[u8]) -> (Self, bool) {
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + 1));
        let mut raw = RawIndex::default();
        let good = unmarshal(bytes, &mut raw);
        let manifests = raw.manifests.into_vec();
        (Self { media_type: raw.head.media_type, artifact_type: raw.head.artifact_type, manifests }, good)
    }
}

impl GoManifest {
    /// The manifest, and whether Go reads it without an error.
    pub(crate) fn read(bytes: &[u8]) -> (Self, bool) {
        let mut raw = RawManifest::default();
        let good = unmarshal(bytes, &mut raw);
        let (media_type, artifact_type) = (raw.head.media_type, raw.head.artifact_type);
        (Self { media_type, artifact_type, config: raw.config, layers: raw.layers.into_vec() }, good)
    }

    /// The positions of the layers that are zips.
    pub(crate) fn zips(&self) -> Vec<usize> {
        (0..self.layers.len()).filter(|at| self.layers[*at].media_type == ZIP).collect()
    }
}

/// The members that both kinds of documents have.
#[derive(Default)]
struct JsonHead {
    schema_version: i64,
    media_type: String,
    artifact_type: String,
    subject: Option<GoDescriptor>,
    annotations: Texts,
}

const HEAD: [&str; 5] = ["schemaVersion", "mediaType", "artifactType", "subject", "annotations"];

impl JsonHead {
    fn member(&mut self, position: usize, reader: &mut JsonReader<'_>) {
        match position {
            0 => reader.read(&mut self.schema_version),
            1 => reader.read(&mut self.media_type),
            2 => reader.read(&mut self.artifact_type),
            3 => reader.read(&mut self.subject),
            _ => reader.read(&mut self.annotations),
        }
    }
}

#[derive(Default)]
struct RawIndex {
    head: JsonHead,
    manifests: Slice<GoDescriptor>,
}

impl JsonTarget for RawIndex {
    fn object(&mut self, reader: &mut JsonReader<'_>) -> bool {
        while reader.more() {
            let name = reader.name();
            match (member(name, &HEAD), member(name, &["manifests"])) {
                (Some(position), _) => self.head.member(position, reader),
                (None, Some(_)) => reader.read(&mut self.manifests),
                (None, None) => reader.skip(),
            }
        }
        true
    }
}

#[derive(Default)]
struct RawManifest {
    head: JsonHead,
    config: GoDescriptor,
    layers: Slice<GoDescriptor>,
}

impl JsonTarget for RawManifest {
    fn object(&mut self, reader: &mut JsonReader<'_>) -> bool {
        while reader.more() {
            let name = reader.name();
            match (member(name, &HEAD), member(name, &["config", "layers"])) {
                (Some(position), _) => self.head.member(position, reader),
                (None, Some(0)) => reader.read(&mut self.config),
                (None, Some(_)) => reader.read(&mut self.layers),
                (None, None) => reader.skip(),
            }
        }
        true
    }
}

impl JsonTarget for GoDescriptor {
    fn object(&mut self, reader: &mut JsonReader<'_>) -> bool {
        const MEMBERS: [&str; 8] =
            ["mediaType", "digest", "size", "platform", "artifactType", "urls", "annotations", "data"];
        while reader.more() {
            match member(reader.name(), &MEMBERS) {
                Some(0) => reader.read(&mut self.media_type),
                Some(1) => reader.read(&mut self.digest),
                Some(2) => reader.read(&mut self.size),
                Some(3) => reader.read(&mut self.platform),
                Some(4) => reader.read(&mut self.artifact_type),
                Some(5) => reader.read(&mut Slice::<String>::default()),
                Some(6) => reader.read(&mut Texts),
                Some(_) => reader.read(&mut Base64),
                None => reader.skip(),
            }
        }
        true
    }
}

impl JsonTarget for GoPlatform {
    fn object(&mut self, reader: &mut JsonReader<'_>) -> bool {
        const MEMBERS: [&str; 5] = ["os", "architecture", "os.version", "variant", "os.features"];
        while reader.more() {
            match member(reader.name(), &MEMBERS) {
                Some(0) => reader.read(&mut self.os),
                Some(1) => reader.read(&mut self.architecture),
                Some(2) => reader.read(&mut self.os_version),
                Some(3) => reader.read(&mut self.variant),
                Some(_) => reader.read(&mut Slice::<String>::default()),
                None => reader.skip(),
            }
        }
        true
    }
}
