//! `versions` and `download` of a module.
//!
//! Spec: seed 004 (module registry protocol); `real-tofu-http.md` (measured), "Module registry".

use bytes::Bytes;
use serde_json::{Value, json};
use tofu_oci_types::ModuleAddr;

use crate::ServedVersions;

/// `versions`.
pub(crate) fn versions(served: &ServedVersions<ModuleAddr>) -> Bytes {
    let versions: Vec<Value> =
        served.versions.iter().map(|version| json!({ "version": version.to_string() })).collect();
    Bytes::from(json!({ "modules": [{ "versions": versions }] }).to_string())
}

/// `download`, for clients that read the body.
pub(crate) fn download(location: &str) -> Value {
    json!({ "location": location })
}
