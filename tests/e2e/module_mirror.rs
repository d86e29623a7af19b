//! `module mirror`: modules of registries and repositories, and the modules that they call, into repositories of the user's own.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, WebServer};

use crate::setup::{Said, Scene};

const HOST: &str = "registry.example.test";
const TO: &str = "REGISTRY/mirror/${namespace}-${name}-${target_system}";

/// A registry of modules at [`HOST`], by a `host` block, whose packages are archives.
struct Upstream {
    scene: Scene,
    web: WebServer,
    listed: Vec<(String, String)>,
}

fn call(name: &str, source: &str, version: &str) -> String {
    let version = if version.is_empty() { String::new() } else { format!("  version = \"{version}\"\n") };
    format!("module \"{name}\" {{\n  source = \"{source}\"\n{version}}}\n")
}

impl Upstream {
    fn start() -> Self {
        let mut scene = Scene::new();
        let web = WebServer::start(&[]);
        scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
        scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
        let services = format!("{{ \"modules.v1\" = \"{}/v1/modules/\" }}", web.origin());
        scene.context.write_home(".tofurc", format!("host \"{HOST}\" {{\n  services = {services}\n}}\n"));
        Self { scene, web, listed: Vec::new() }
    }

    /// The zip of a package of these files.
    fn zip(&self, files: &[(&str, &str)]) -> Vec<u8> {
        let (folder, layout) = (format!("files-{}", self.listed.len()), format!("layout-{}", self.listed.len()));
        for (name, content) in files {
            self.scene.context.write(&format!("{folder}/{name}"), content);
        }
        self.scene.run(&format!("module push {folder} oci:{layout} --version 1.0.0 --skip-checks")).success();
        std::fs::read_dir(self.scene.path(&format!("{layout}/blobs/sha256")))
            .expect("blobs")
            .map(|blob| std::fs::read(blob.expect("a blob").path()).expect("a blob"))
            .find(|bytes| bytes.starts_with(b"PK"))
            .expect("a zip")
    }

    /// Lists a version of `acme/NAME/aws`, whose location is this one.
    fn located(&mut self, name: &str, version: &str, location: &str) {
        self.listed.push((name.to_owned(), version.to_owned()));
        let versions: Vec<String> = self
            .listed
            .iter()
            .filter(|(other, _)| other == name)
            .map(|(_, version)| format!(r#"{{"version":"{version}"}}"#))
            .collect();
        let list = format!(r#"{{"modules":[{{"versions":[{}]}}]}}"#, versions.join(","));
        let base = format!("/v1/modules/acme/{name}/aws");
        self.web.page(&format!("{base}/versions"), Answer::new(200).body(list));
        let answer = Answer::new(204).header("X-Terraform-Get", location);
        self.web.page(&format!("{base}/{version}/download"), answer);
    }

    /// Publishes a version of `acme/NAME/aws` with these files in an archive.
    fn module(&mut self, name: &str, version: &str, files: &[(&str, &str)]) {
        let zip = self.zip(files);
        self.web.page(&format!("/{name}-{version}.zip"), Answer::new(200).body(zip));
        self.located(name, version, &format!("/{name}-{version}.zip?token=hunter2"));
    }

    fn mirror(&self, rest: &str) -> Said {
        self.scene.run(&format!("module mirror {rest} --to '{TO}'"))
    }

    /// The report, with the server's address taken out.
    fn text(&self, said: &Said) -> String {
        said.text.replace(self.web.address(), "UPSTREAM")
    }

    /// The paths of the archives that were fetched.
    fn fetched(&self) -> Vec<String> {
        let requests = self.web.requests();
        let paths = requests.iter().map(|request| request.path.clone());
        paths.filter(|path| path.contains(".zip")).collect()
    }
}

/// Five modules below each other, and one call that leads elsewhere.
fn five() -> Upstream {
    let mut upstream = Upstream::start();
    let of = |name: &str| format!("{HOST}/acme/{name}/aws");
    let vpc = call("vpc", &of("vpc"), "~> 1.0") + &call("own", "./modules/own", "");
    let own = call("dns", &format!("{}//zone", of("dns")), "1.2.0");
    upstream.module(
        "network",
        "1.4.0",
        &[("main.tf", &vpc), ("modules/own/main.tf", &own), ("terraform.tfvars", "a = 1\n")],
    );
    upstream.module("vpc", "1.0.0", &[("main.tf", "# old\n")]);
    upstream.module("vpc", "1.1.0", &[("main.tf", &call("tags", &of("tags"), ""))]);
    upstream.module("vpc", "2.0.0", &[("main.tf", "# new\n")]);
    let zone = call("names", &of("names"), ">= 0.1");
    upstream.module("dns", "1.2.0", &[("main.tf", &call("no", &of("never"), "")), ("zone/main.tf", &zone)]);
    upstream.module(
        "tags",
        "0.3.0",
        &[("main.tf", &call("git", "git::https://u:hunter2@git.example.test/x.git?ref=v1", ""))],
    );
    upstream.module("names", "0.1.0", &[("main.tf", "module \"m\" {\n  source = var.which\n}\n")]);
    upstream
}

#[test]
fn five_nested_modules_are_mirrored_and_a_second_run_sends_nothing() {
    let upstream = five();
    let network = format!("{HOST}/acme/network/aws");
    assert_snapshot!(upstream.text(&upstream.mirror(&format!("{network} --plan"))), @"");
    assert!(upstream.scene.conversation().iter().all(|line| !line.starts_with("PUT") && !line.starts_with("POST")));
    assert_snapshot!(upstream.text(&upstream.mirror(&network)), @"");
    let fetched = upstream.fetched();
    upstream.scene.registry.clear_requests();
    assert_snapshot!(upstream.text(&upstream.mirror(&network)), @"");
    assert_eq!(upstream.fetched(), fetched);
    assert!(upstream.scene.conversation().iter().all(|line| !line.starts_with("PUT") && !line.starts_with("POST")));
    // What is mirrored is what its publisher offers, whatever it is called.
    upstream.scene.run("module pull 'oci://REGISTRY/mirror/acme-network-aws?tag=1.4.0' out").success();
    assert_eq!(upstream.scene.context.read("out/terraform.tfvars"), "a = 1\n");
}

#[test]
fn no_secret_of_an_address_is_printed_or_stored() {
    let upstream = five();
    let said = upstream.mirror(&format!("{HOST}/acme/network/aws --json")).success();
    assert!(!said.text.contains("hunter2"), "{}", said.text);
    let digest = upstream.scene.tag("mirror/acme-network-aws", "1.4.0");
    let (_, manifest) = upstream.scene.registry.manifest("mirror/acme-network-aws", &digest).expect("a manifest");
    let shown = String::from_utf8(manifest.to_vec()).expect("a text");
    assert!(!shown.contains("hunter2") && shown.contains("/network-1.4.0.zip"), "{shown}");
}
