//! Requests that were meant for another address.

use insta::assert_snapshot;

use super::{Site, ZAP};

/// Status and sentence, as a person reads it.
async fn said(path: &str) -> String {
    let answer = Site::new().await.ask("GET", path, &[("accept", "text/html,*/*;q=0.8")]).await;
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(answer.text().matches('\n').count(), 1, "one sentence");
    answer.shown()
}

#[tokio::test]
async fn a_mirror_url_in_the_place_of_a_registry() {
    assert_snapshot!(said("/mirror/.well-known/terraform.json").await, @r#"400 a discovery document is at the root of a registry's host, and a network mirror has none: to use the mirror, write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said(&format!("/mirror/{ZAP}/versions")).await, @r#"400 https://bridge.example/mirror/ is a network mirror and not a provider registry: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said("/mirror/acme/zap/versions").await, @r#"400 https://bridge.example/mirror/ is a network mirror and not a provider registry: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said(&format!("/mirror/{ZAP}/1.0.0/download/linux/amd64")).await, @r#"400 https://bridge.example/mirror/ is a network mirror and not a provider registry: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
}

#[tokio::test]
async fn a_registry_url_in_the_place_of_a_mirror() {
    assert_snapshot!(said(&format!("/registry/{ZAP}/index.json")).await, @r#"400 https://bridge.example/registry/ begins provider registries and not a network mirror: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said(&format!("/registry/registry.acme.example/{ZAP}/1.0.0.json")).await, @r#"400 https://bridge.example/registry/ begins provider registries and not a network mirror: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
}

#[tokio::test]
async fn a_mirror_url_without_its_last_segment() {
    assert_snapshot!(said(&format!("/{ZAP}/index.json")).await, @r#"400 the network mirror of this server begins elsewhere: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said(&format!("/{ZAP}/1.0.0.json")).await, @r#"400 the network mirror of this server begins elsewhere: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said(&format!("/{ZAP}/terraform-provider-zap_1.0.0_linux_amd64.zip")).await, @"400 an archive is https://bridge.example/mirror/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip, and VERSION.json beside it lists all");
}

#[tokio::test]
async fn a_mirror_url_with_too_much_or_too_little() {
    assert_snapshot!(said(&format!("/mirror/registry.acme.example/{ZAP}/index.json")).await, @r#"400 the path after https://bridge.example/mirror/ must read HOST/NAMESPACE/TYPE/FILE, which clients add themselves: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said("/mirror/acme/zap/index.json").await, @"400 the path lacks the host of the provider's address: write https://bridge.example/mirror/HOST/NAMESPACE/TYPE/index.json");
    assert_snapshot!(said("/mirror/").await, @r#"404 this is a network mirror: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said("/mirror").await, @r#"404 this is a network mirror: write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
}

#[tokio::test]
async fn a_registry_by_another_url() {
    assert_snapshot!(said("/v1/providers/acme/zap/versions").await, @r#"400 clients find a provider registry by the host of an address: write `source = "registry.acme.example/NAMESPACE/TYPE"` in required_providers, and no URL"#);
    assert_snapshot!(said("/v1/providers/acme/zap/1.0.0/download/linux/amd64").await, @r#"400 clients find a provider registry by the host of an address: write `source = "registry.acme.example/NAMESPACE/TYPE"` in required_providers, and no URL"#);
    assert_snapshot!(said("/registry/acme/zap/versions").await, @r#"400 clients find a provider registry by the host of an address: write `source = "registry.acme.example/NAMESPACE/TYPE"` in required_providers, and no URL"#);
    assert_snapshot!(said("/registry/").await, @r#"404 clients find a provider registry by the host of an address: write `source = "registry.acme.example/NAMESPACE/TYPE"` in required_providers, and no URL"#);
}

#[tokio::test]
async fn archives_and_documents() {
    assert_snapshot!(said(&format!("/mirror/{ZAP}/terraform-provider-zap_1.0.0_linux_amd64.json")).await, @"400 an archive ends with .zip, and the document that lists archives is https://bridge.example/mirror/HOST/NAMESPACE/TYPE/VERSION.json");
    assert_snapshot!(said(&format!("/mirror/{ZAP}/1.0.0.zip")).await, @"400 an archive is https://bridge.example/mirror/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip, and VERSION.json beside it lists all");
    assert_snapshot!(said(&format!("/mirror/{ZAP}/terraform-provider-other_1.0.0_linux_amd64.zip")).await, @"400 an archive is https://bridge.example/mirror/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip, and VERSION.json beside it lists all");
    let archive = format!("/mirror/{ZAP}/terraform-provider-zap_1.0.0_linux_amd64.zip");
    let json = Site::new().await.ask("GET", &archive, &[("accept", "application/json")]).await;
    assert_snapshot!(json.shown(), @r#"406 {"errors":["this is an archive and not JSON: VERSION.json beside it lists the archives of a version"]}"#);
}

#[tokio::test]
async fn other_registries() {
    assert_snapshot!(said("/v1/modules/acme/net/aws/versions").await, @r#"400 the module registries of this server begin elsewhere: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    assert_snapshot!(said("/modules/acme/net/aws/versions").await, @r#"400 the path lacks the host of the module's address: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    let site = Site::new().await;
    assert_snapshot!(site.get("/v2/").await.shown(), @r#"404 {"errors":[{"code":"UNSUPPORTED","message":"this is not an OCI registry: in oci_mirror blocks and docker commands, write the registry's own host; for this server, write `url = \"https://bridge.example/mirror/\"` in a network_mirror block, with the slash at its end"}]}"#);
    assert_snapshot!(site.get("/v2/acme/zap/manifests/1.0.0").await.shown(), @r#"404 {"errors":[{"code":"UNSUPPORTED","message":"this is not an OCI registry: in oci_mirror blocks and docker commands, write the registry's own host; for this server, write `url = \"https://bridge.example/mirror/\"` in a network_mirror block, with the slash at its end"}]}"#);
}

#[tokio::test]
async fn nothing_at_all() {
    assert_snapshot!(said("/favicon.ico").await, @r#"404 there is nothing at this address: to install providers from here, write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said("/mirror/a/b").await, @r#"404 there is nothing at this address: to install providers from here, write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    let json = Site::new().await.get("/nothing").await;
    assert_eq!(json.header("content-type"), "application/json");
    assert_snapshot!(json.shown(), @r#"404 {"errors":["there is nothing at this address: to install providers from here, write `url = \"https://bridge.example/mirror/\"` in a network_mirror block, with the slash at its end"]}"#);
}
