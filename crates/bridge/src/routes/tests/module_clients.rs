//! Who may ask for which modules, and what those hear who ask at the wrong address.

use insta::assert_snapshot;
use tofu_oci_types::Secret;

use super::modules::{NETWORK, OTHER, ZIP, below, locations};
use super::{Site, SiteOptions};
use crate::{ClientRule, TokenDigest};

fn client(modules: &[&str]) -> ClientRule {
    ClientRule {
        name: "ci".parse().unwrap(),
        token: TokenDigest::of(&Secret::new("trumpet")),
        providers: vec!["*/*/*".parse().unwrap()],
        modules: modules.iter().map(|pattern| pattern.parse().unwrap()).collect(),
    }
}

#[tokio::test]
async fn a_client_gets_links_of_its_modules_and_sees_no_others() {
    let clients = vec![client(&["registry.acme.example/acme/*/*"])];
    let site = Site::with(SiteOptions { clients, ..SiteOptions::default() }).await;
    let token = [("authorization", "Bearer trumpet")];
    let versions = format!("/modules/{NETWORK}/versions");
    assert_eq!(site.get(&versions).await.status, 401);
    assert_eq!(site.ask("GET", &versions, &token).await.status, 200);
    assert_snapshot!(site.ask("GET", &format!("/modules/{OTHER}/versions"), &token).await.shown(), @r#"403 {"errors":["the client ci may not use registry.terraform.io/acme/network/aws: no pattern of its `modules` matches"]}"#);
    let (header, body) = locations(&site, NETWORK, "1.2.0+b.1", &token).await;
    assert_eq!(header, body);
    // go-getter takes `checksum` out.
    let (sent, _) = below(&header).split_once("?checksum=sha256:").unwrap();
    assert_eq!(site.get(sent).await.body, ZIP);
    assert_eq!(site.ask("HEAD", sent, &[]).await.status, 200);
    assert_eq!(site.get(&format!("/modules/{NETWORK}/1.2.0+b.1/network-aws_1.2.0+b.1.zip")).await.status, 401);
    assert_eq!(site.get(&sent.replace("1.2.0+b.1", "1.0.0")).await.status, 403);
    let none = Site::with(SiteOptions { clients: vec![client(&[])], ..SiteOptions::default() }).await;
    assert_eq!(none.ask("GET", &versions, &token).await.status, 403);
}

#[tokio::test]
async fn an_address_for_providers_in_the_place_of_one_for_modules() {
    let site = Site::new().await;
    let said = async |path: &str| site.ask("GET", path, &[("accept", "text/html")]).await.shown();
    assert_snapshot!(said("/modules/").await, @r#"404 this begins the module registries of this server: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    assert_snapshot!(said("/modules/acme/network/aws/versions").await, @r#"400 the path lacks the host of the module's address: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    assert_snapshot!(said("/modules/acme/network/aws/1.0.0/download").await, @r#"400 the path lacks the host of the module's address: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    assert_snapshot!(said("/modules/registry.acme.example/acme/zap/versions").await, @r#"400 https://bridge.example/modules/ begins module registries; for providers, write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said("/modules/registry.acme.example/acme/zap/index.json").await, @r#"400 https://bridge.example/modules/ begins module registries; for providers, write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end"#);
    assert_snapshot!(said("/registry/registry.acme.example/acme/network/aws/versions").await, @r#"400 this is an address for providers, and a module was asked for: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    assert_snapshot!(said("/mirror/registry.acme.example/acme/network/aws/1.0.0/download").await, @r#"400 this is an address for providers, and a module was asked for: write `source = "registry.acme.example/NAMESPACE/NAME/SYSTEM"` in the module block, and no URL"#);
    assert_snapshot!(said(&format!("/modules/{NETWORK}/1.0.0/other.zip")).await, @"400 the archive of a module is https://bridge.example/modules/HOST/NAMESPACE/NAME/SYSTEM/VERSION/NAME-SYSTEM_VERSION.zip, and `download` beside it names it");
}
