//! The answer of the model about a module.

use serde::{Serialize, Serializer};
use tofu_oci_types::{Digest, TofuReleases};

use crate::Rejection;

/// What releases of `OpenTofu` do with the module that a source names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModulePrediction {
    /// The releases that do the same.
    #[serde(skip)]
    pub releases: TofuReleases,
    /// The source, without what could be a secret; `None` for a tag of a repository without an address.
    pub source: Option<String>,
    /// The tag or digest that it names.
    pub reference: Option<String>,
    /// The digest of the manifest that it leads to, if there is one.
    pub digest: Option<Digest>,
    /// Whether it installs it.
    pub installs: bool,
    /// If not, the reason; the word `ok` in JSON if it does.
    #[serde(serialize_with = "or_ok")]
    pub because: Option<Rejection>,
    /// The reason with its details, for people.
    #[serde(skip)]
    pub detail: String,
    /// Whether that depends on contents that were not read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn or_ok<S: Serializer>(because: &Option<Rejection>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(because.as_ref().map_or("ok", Rejection::code))
}
