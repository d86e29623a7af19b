//! What to push for a release: every manifest and config, byte for byte, before anything is sent.
//!
//! Equal inputs give equal bytes: members have a fixed order, annotations and platforms are sorted, and nothing
//! carries a time.

mod index;
mod leaf;
mod module;

use serde::Serialize;
use tofu_oci_types::{Descriptor, Digest, Platform};

pub use index::{IndexFacts, PlatformHashes, plan_index};
pub use leaf::{LeafPlan, plan_leaves};
pub use module::{ModulePlan, ModuleZip, plan_module};

/// One platform's package, ready to be described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformPackage {
    pub platform: Platform,
    /// The file name of the release's zip, under which other tools save the layer.
    pub filename: String,
    /// Digest and size of the zip; needed for the artifact layout.
    pub zip: Option<(Digest, u64)>,
    /// The image layer; needed for the image layout.
    pub layer: Option<LayerBlob>,
    /// The files of the zip once more, as tar in Zstandard: the small layer of the artifact.
    pub small: Option<LayerBlob>,
}

/// A layer that is a compressed tar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerBlob {
    /// The digest of the compressed bytes.
    pub digest: Digest,
    /// The size of the compressed bytes.
    pub size: u64,
    /// The digest of the uncompressed tar.
    pub diff_id: Digest,
}

/// A manifest or config that is ready to be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Digest, size and media type of the bytes; for a leaf manifest also what its index entry says.
    pub descriptor: Descriptor,
    pub bytes: Vec<u8>,
}

impl Planned {
    fn json(media_type: &str, document: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(document).expect("maps with text keys and plain values always serialise");
        Self { descriptor: Descriptor::of(media_type, &bytes), bytes }
    }
}
