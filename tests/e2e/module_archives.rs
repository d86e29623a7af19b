//! Archives that a registry of modules leads to: on another server, and with many files.

use tofu_oci_testkit::{Answer, WebServer};

use crate::setup::{Scene, zips};

const NETWORK: &str = "registry.example.test/acme/network/aws@1.4.0";

/// A scene with a registry that has version 1.4.0 of the module at this location, and a server elsewhere.
fn scene(location: &str, elsewhere: &WebServer) -> (Scene, WebServer) {
    let mut scene = Scene::new();
    let web = WebServer::start(&[]);
    let authorities: Vec<&str> = [&web, elsewhere].into_iter().filter_map(WebServer::ca_pem).collect();
    scene.context.write("ca.pem", authorities.concat());
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    scene.context.env("TF_TOKEN_registry_example_test", "hunter2");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/\" }}", web.origin());
    scene.context.write_home(".tofurc", format!("host \"registry.example.test\" {{\n  services = {services}\n}}\n"));
    let versions = r#"{"modules":[{"versions":[{"version":"1.4.0"}]}]}"#;
    web.page("/v1/acme/network/aws/versions", Answer::new(200).body(versions));
    let answer = Answer::new(204).header("X-Terraform-Get", location);
    web.page("/v1/acme/network/aws/1.4.0/download", answer);
    (scene, web)
}

fn package(count: usize) -> Vec<u8> {
    let numbered = (1..count).map(|number| (format!("files/{:03}/{number}.txt", number % 200), &b"small\n"[..]));
    let files: Vec<(String, &[u8])> =
        std::iter::once(("main.tf".to_owned(), &b"# 1.4.0\n"[..])).chain(numbered).collect();
    zips::stored(&files)
}

#[test]
fn an_archive_may_be_redirected_to_another_server_which_gets_no_token() {
    let elsewhere = WebServer::start(&[]);
    elsewhere.page("/store/1", Answer::new(200).body(package(2)));
    let (scene, web) = scene("/network.zip", &elsewhere);
    let target = format!("{}/store/1", elsewhere.origin());
    web.page("/network.zip", Answer::new(302).header("Location", &target));
    let said = scene.run(&format!("module pull {NETWORK} out")).success();
    assert_eq!(scene.context.read("out/main.tf"), "# 1.4.0\n", "{}", said.text);
    assert_eq!(scene.context.read("out/files/001/1.txt"), "small\n");
    let asked = elsewhere.requests();
    assert!(!asked.is_empty() && asked.iter().all(|request| request.header("authorization").is_none()), "{asked:?}");
    // The registry itself did get it.
    assert!(web.requests().iter().any(|request| request.header("authorization") == Some("Bearer hunter2")));
}

#[test]
fn an_archive_that_is_redirected_to_plain_http_is_refused() {
    let elsewhere = WebServer::plain();
    elsewhere.page("/store/1", Answer::new(200).body(package(2)));
    let (scene, web) = scene("/network.zip", &elsewhere);
    let target = format!("{}/store/1", elsewhere.origin());
    web.page("/network.zip", Answer::new(302).header("Location", &target));
    let said = scene.refuse(&format!("module pull {NETWORK} out"));
    assert!(said.contains("http"), "{said}");
    assert!(elsewhere.requests().is_empty() && !scene.path("out").exists(), "{said}");
}

#[test]
fn a_package_of_20000_files_is_pulled_and_mirrored_whole() {
    let elsewhere = WebServer::plain();
    let (scene, web) = scene("/network.zip", &elsewhere);
    web.page("/network.zip", Answer::new(200).body(package(20_000)));
    let said = scene.run(&format!("module pull {NETWORK} out")).success();
    assert!(said.text.contains("20000 files, "), "{}", said.text);
    assert_eq!(scene.context.read("out/files/199/19999.txt"), "small\n");
    scene.run(&format!("module mirror {NETWORK} --to 'oci:mirror/${{name}}'")).success();
    let again = scene.run("module pull oci:mirror/network:1.4.0 again").success();
    assert!(again.text.contains("20000 files, "), "{}", again.text);
}
