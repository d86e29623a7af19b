//! `versions` and `download` of a module.
//!
//! Spec: seed 004 (module registry protocol); `real-tofu-http.md` (measured), "Module registry".

use bytes::Bytes;
use serde_json::{Value, json};
use tofu_oci_types::{ModuleAddr, Version};

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

/// `download` for a client that fetches the archive itself, with the token of this request.
pub(crate) fn download_with_token(archive: &str) -> Value {
    json!({ "location": archive, "use_registry_credentials": true })
}

/// Whether a client with this `User-Agent` knows `use_registry_credentials`. Others ignore it, and fetch without a token.
///
/// Source: `OpenTofu` 1.12.0, `internal/registry/client.go`, `ModulePackageLocation`; 1.11 has none of it.
pub(crate) fn knows_registry_credentials(agent: &str) -> bool {
    let version = agent.strip_prefix("OpenTofu/").and_then(|rest| rest.split(' ').next()?.parse::<Version>().ok());
    version.is_some_and(|version| {
        let [major, minor, _] = version.numbers();
        (major, minor) >= (1, 12)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opentofu_1_12_and_later_send_a_token_for_an_archive() {
        for agent in ["OpenTofu/1.12.0", "OpenTofu/1.13.0-dev", "OpenTofu/2.0.0 ci/7"] {
            assert!(knows_registry_credentials(agent), "{agent}");
        }
        for agent in ["OpenTofu/1.11.9", "Terraform/1.16.0", "terragrunt", "OpenTofu/", "x OpenTofu/1.12.0", ""] {
            assert!(!knows_registry_credentials(agent), "{agent}");
        }
    }
}
