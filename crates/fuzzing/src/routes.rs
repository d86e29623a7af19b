//! Paths of requests to the bridge: each route has one canonical path, which leads to it.

use crate::input::text_of;
use crate::seeds;

/// Reads a path.
pub fn run(bytes: &[u8]) {
    tofu_oci_bridge::fuzzing::routes(text_of(bytes));
}

/// A path of each route.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "/.well-known/terraform.json",
        "/mirror/registry.example.com/acme/widget/index.json",
        "/mirror/b%C3%BCcher.example%3A8443/acme/widget/1.0.0+b.1.json",
        "/mirror/registry.example.com/acme/widget/terraform-provider-widget_1.0.0-rc.1_linux_amd64.zip",
        "/registry/registry.example.com/acme/widget/versions",
        "/registry/registry.example.com/acme/widget/1.0.0/download/linux/amd64",
        "/registry/registry.example.com/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS.sig",
        "/modules/registry.example.com/acme/network/aws/versions",
        "/modules/registry.example.com/acme/network/aws/1.0.0/download",
        "/modules/registry.example.com/acme/network/aws/1.0.0/network-aws_1.0.0.zip",
        "/v2/acme/%2e%2e/widget",
    ])
}
