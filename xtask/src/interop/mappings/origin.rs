//! What the origin of a provider is in a lab: the host of the default registry, whose services a `host` block leads to
//! the HTTPS server and to the registry. With it, an air-gapped configuration that fails open is seen to do so.

use std::fs;

use serde_json::json;
use tofu_oci_types::Platform;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::https::HttpsServer;
use crate::interop::lab::{Lab, text};
use crate::paths;
use crate::registry::Guard;

/// The origin of one provider.
pub(super) struct ProviderOrigin {
    /// A provider of the default host: `tofu` demands no signature if the registry names no keys.
    pub(super) address: &'static str,
    /// The block that leads there.
    pub(super) host_block: String,
}

impl ProviderOrigin {
    /// Publishes the release of `testdata/dist` by both protocols.
    pub(super) fn publish(lab: &Lab, registry: &Guard, server: &HttpsServer) -> ChoreResult<Self> {
        let address = "registry.opentofu.org/acme/widget";
        let dist = paths::testdata().join("dist");
        let repository = format!("{}/origin/acme/widget", registry.address());
        lab.tofu_oci(registry, &["push", &text(&dist), &repository, "--address", address]).success()?;

        let platform = Platform::current();
        let (os, arch) = (platform.os(), platform.arch());
        let zip = format!("terraform-provider-widget_1.0.0_{os}_{arch}.zip");
        let sums = "terraform-provider-widget_1.0.0_SHA256SUMS";
        let signature = format!("{sums}.sig");
        for name in [&zip, sums, &signature] {
            server.serve(&format!("files/{name}"), "application/octet-stream", fs::read(dist.join(name))?)?;
        }
        let listed = fs::read_to_string(dist.join(sums))?;
        let sum = listed.lines().find_map(|line| line.strip_suffix(&format!("  {zip}")));
        let sum = sum.ok_or_else(|| ChoreFailure::new(format!("{sums} lacks {zip}")))?;
        let versions = json!({"versions": [
            {"version": "1.0.0", "protocols": ["6.0"], "platforms": [{"os": os, "arch": arch}]}
        ]});
        let file = |name: &str| format!("https://{}/files/{name}", server.host());
        let package = json!({
            "protocols": ["6.0"], "os": os, "arch": arch, "filename": zip, "download_url": file(&zip), "shasum": sum,
            "shasums_url": file(sums), "shasums_signature_url": file(&signature),
            "signing_keys": {"gpg_public_keys": []},
        });
        let json = "application/json";
        server.serve("v1/providers/acme/widget/versions", json, versions.to_string())?;
        let path = format!("v1/providers/acme/widget/1.0.0/download/{os}/{arch}");
        server.serve(&path, json, package.to_string())?;
        let host_block = format!(
            "host \"registry.opentofu.org\" {{\n  services = {{\n    \"providers.v1\" = \"https://{}/v1/providers/\"\n    \
             \"oci-providers.v1\" = \"{}/origin/{{namespace}}/{{type}}\"\n  }}\n}}\n",
            server.host(),
            registry.address()
        );
        Ok(Self { address, host_block })
    }
}
