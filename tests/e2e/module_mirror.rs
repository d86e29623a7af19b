//! `module mirror`: modules of registries and repositories, and the modules that they call, into repositories of the user's own.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Deletion, WebServer};

use crate::setup::{Said, Scene};

pub(crate) const HOST: &str = "registry.example.test";
pub(crate) const TO: &str = "REGISTRY/mirror/${namespace}/${name}-${target_system}";

/// A registry of modules at [`HOST`], by a `host` block, whose packages are archives.
pub(crate) struct Upstream {
    pub(crate) scene: Scene,
    pub(crate) web: WebServer,
    listed: Vec<(String, String)>,
}

pub(crate) fn call(name: &str, source: &str, version: &str) -> String {
    let version = if version.is_empty() { String::new() } else { format!("  version = \"{version}\"\n") };
    format!("module \"{name}\" {{\n  source = \"{source}\"\n{version}}}\n")
}

impl Upstream {
    pub(crate) fn start() -> Self {
        Self::before(Scene::new())
    }

    /// The same, with the registry of this scene.
    pub(crate) fn before(mut scene: Scene) -> Self {
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
    pub(crate) fn located(&mut self, name: &str, version: &str, location: &str) {
        self.listed.push((name.to_owned(), version.to_owned()));
        let base = format!("/v1/modules/acme/{name}/aws");
        let answer = Answer::new(204).header("X-Terraform-Get", location);
        self.web.page(&format!("{base}/{version}/download"), answer);
    }

    /// Lists what was published so far; once a scene.
    pub(crate) fn list(&self) {
        let names: std::collections::BTreeSet<&String> = self.listed.iter().map(|(name, _)| name).collect();
        for name in names {
            let of = self.listed.iter().filter(|(other, _)| other == name);
            let versions: Vec<String> = of.map(|(_, version)| format!(r#"{{"version":"{version}"}}"#)).collect();
            let list = format!(r#"{{"modules":[{{"versions":[{}]}}]}}"#, versions.join(","));
            self.web.page(&format!("/v1/modules/acme/{name}/aws/versions"), Answer::new(200).body(list));
        }
    }

    /// Publishes a version of `acme/NAME/aws` with these files in an archive.
    pub(crate) fn module(&mut self, name: &str, version: &str, files: &[(&str, &str)]) {
        let mut zip = self.zip(files);
        // A file that `module push` leaves out, and that the publisher of this archive does not.
        if files.iter().any(|(name, _)| *name == "abcdefghi.tfnote") {
            zip = crate::setup::zips::renamed(zip, "abcdefghi.tfnote", "terraform.tfvars");
        }
        self.web.page(&format!("/{name}-{version}.zip"), Answer::new(200).body(zip));
        self.located(name, version, &format!("/{name}-{version}.zip?token=hunter2"));
    }

    pub(crate) fn mirror(&self, rest: &str) -> Said {
        self.scene.run(&format!("module mirror {rest} --to '{TO}' --quiet"))
    }

    /// The report, with the server's address taken out.
    pub(crate) fn text(&self, said: &Said) -> String {
        said.text.replace(self.web.address(), "UPSTREAM")
    }

    /// The paths of the archives that were fetched.
    pub(crate) fn fetched(&self) -> Vec<String> {
        let requests = self.web.requests();
        let paths = requests.iter().map(|request| request.path.clone());
        paths.filter(|path| path.contains(".zip")).collect()
    }
}

/// Five modules below each other, and one call that leads elsewhere.
pub(crate) fn five() -> Upstream {
    five_before(Scene::new())
}

/// The same, with the registry of this scene.
pub(crate) fn five_before(scene: Scene) -> Upstream {
    let mut upstream = Upstream::before(scene);
    let of = |name: &str| format!("{HOST}/acme/{name}/aws");
    let vpc = call("vpc", &of("vpc"), "~> 1.0") + &call("own", "./modules/own", "");
    let own = call("dns", &format!("{}//zone", of("dns")), "1.2.0");
    upstream.module(
        "network",
        "1.4.0",
        &[("main.tf", &vpc), ("modules/own/main.tf", &own), ("abcdefghi.tfnote", "a = 1\n")],
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
    upstream.list();
    upstream
}

#[test]
fn five_nested_modules_are_mirrored_and_a_second_run_sends_nothing() {
    let upstream = five();
    let network = format!("{HOST}/acme/network/aws");
    assert_snapshot!(upstream.text(&upstream.mirror(&format!("{network} --plan"))), @"
    exit code: 0
    ----- stdout -----
    module                                  version  would be                                                       called by
    registry.example.test/acme/dns/aws      1.2.0    packed from https://127.0.0.1:[PORT]/dns-1.2.0.zip, 1.2 kB      registry.example.test/acme/network/aws 1.4.0
    registry.example.test/acme/names/aws    0.1.0    packed from https://127.0.0.1:[PORT]/names-0.1.0.zip, 949 B     registry.example.test/acme/dns/aws//zone 1.2.0
    registry.example.test/acme/network/aws  1.4.0    packed from https://127.0.0.1:[PORT]/network-1.4.0.zip, 1.3 kB
    registry.example.test/acme/tags/aws     0.3.0    packed from https://127.0.0.1:[PORT]/tags-0.3.0.zip, 990 B      registry.example.test/acme/vpc/aws 1.1.0
    registry.example.test/acme/vpc/aws      1.1.0    packed from https://127.0.0.1:[PORT]/vpc-1.1.0.zip, 974 B       registry.example.test/acme/network/aws 1.4.0

    caller                                      at            call                                            not mirrored
    registry.example.test/acme/names/aws 0.1.0  main.tf:2:12  var.which                                       unknown: its source or version is computed
    registry.example.test/acme/tags/aws 0.3.0   main.tf:2:12  git::https://***@git.example.test/x.git?ref=v1  leads elsewhere

    plan: 5 added; 1 call not mirrored; 1 call unknown; 5.4 kB to send. Nothing was changed

    ----- stderr -----
    ");
    assert!(upstream.scene.conversation().iter().all(|line| !line.starts_with("PUT") && !line.starts_with("POST")));
    assert_snapshot!(upstream.text(&upstream.mirror(&network)), @"
    exit code: 0
    ----- stdout -----
    module                                  version  report                                                         called by
    registry.example.test/acme/dns/aws      1.2.0    packed from https://127.0.0.1:[PORT]/dns-1.2.0.zip, 1.2 kB      registry.example.test/acme/network/aws 1.4.0
    registry.example.test/acme/names/aws    0.1.0    packed from https://127.0.0.1:[PORT]/names-0.1.0.zip, 947 B     registry.example.test/acme/dns/aws//zone 1.2.0
    registry.example.test/acme/network/aws  1.4.0    packed from https://127.0.0.1:[PORT]/network-1.4.0.zip, 1.3 kB
    registry.example.test/acme/tags/aws     0.3.0    packed from https://127.0.0.1:[PORT]/tags-0.3.0.zip, 988 B      registry.example.test/acme/vpc/aws 1.1.0
    registry.example.test/acme/vpc/aws      1.1.0    packed from https://127.0.0.1:[PORT]/vpc-1.1.0.zip, 972 B       registry.example.test/acme/network/aws 1.4.0

    caller                                      at            call                                            not mirrored
    registry.example.test/acme/names/aws 0.1.0  main.tf:2:12  var.which                                       unknown: its source or version is computed
    registry.example.test/acme/tags/aws 0.3.0   main.tf:2:12  git::https://***@git.example.test/x.git?ref=v1  leads elsewhere

    5 added; 1 call not mirrored; 1 call unknown; 5.4 kB sent

    ----- stderr -----
    ");
    let fetched = upstream.fetched();
    upstream.scene.registry.clear_requests();
    assert_snapshot!(upstream.text(&upstream.mirror(&network)), @"
    exit code: 0
    ----- stdout -----
    caller                                      at            call                                            not mirrored
    registry.example.test/acme/names/aws 0.1.0  main.tf:2:12  var.which                                       unknown: its source or version is computed
    registry.example.test/acme/tags/aws 0.3.0   main.tf:2:12  git::https://***@git.example.test/x.git?ref=v1  leads elsewhere

    5 there already; 1 call not mirrored; 1 call unknown; 0 B sent

    ----- stderr -----
    ");
    assert_eq!(upstream.fetched(), fetched);
    assert!(upstream.scene.conversation().iter().all(|line| !line.starts_with("PUT") && !line.starts_with("POST")));
    // What is mirrored is what its publisher offers, whatever it is called.
    upstream.scene.run("module pull 'oci://REGISTRY/mirror/acme/network-aws?tag=1.4.0' out").success();
    assert_eq!(upstream.scene.context.read("out/terraform.tfvars"), "a = 1\n");
}

#[test]
fn no_secret_of_an_address_is_printed_or_stored() {
    let upstream = five();
    let said = upstream.mirror(&format!("{HOST}/acme/network/aws --json")).success();
    assert!(!said.text.contains("hunter2"), "{}", said.text);
    let digest = upstream.scene.tag("mirror/acme/network-aws", "1.4.0");
    let (_, manifest) = upstream.scene.registry.manifest("mirror/acme/network-aws", &digest).expect("a manifest");
    let shown = String::from_utf8(manifest.to_vec()).expect("a text");
    assert!(!shown.contains("hunter2") && shown.contains("/network-1.4.0.zip"), "{shown}");
}

#[test]
fn a_package_in_a_repository_is_copied_with_its_signature_and_another_one_later_is_refused() {
    let upstream = Upstream::start();
    let scene = &upstream.scene;
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.context.write("net/main.tf", "# 1\n");
    scene.run("module push net REGISTRY/other/net --version 1.4.0 --sign-key p256.pem").success();
    let source = "'oci://REGISTRY/other/net?tag=1.4.0' --as registry.example.com/acme/net/aws";
    let first = upstream.mirror(source).success();
    assert!(first.text.contains("copied from [REGISTRY]/other/net"), "{}", first.text);
    let there = scene.tag("mirror/acme/net-aws", "1.4.0");
    assert_eq!(there, scene.tag("other/net", "1.4.0"));
    let (at, key) = (scene.registry.address(), "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n");
    let rule = format!("{key}\n[[rule]]\nmodules = [\"{at}/mirror/*\"]\nkeys = [\"acme\"]\n");
    scene.context.write("trust.toml", rule);
    scene.run("module pull 'oci://REGISTRY/mirror/acme/net-aws?tag=1.4.0' out").success();
    assert!(upstream.mirror(source).success().stdout.contains("1 there already"));
    scene.context.write("net/main.tf", "# 2\n");
    scene.run("module push net REGISTRY/other/net --version 1.4.0 --replace-tag").success();
    assert_snapshot!(upstream.mirror(source).text, @"
    exit code: 1
    ----- stdout -----
    module                             version  report
    registry.example.com/acme/net/aws  1.4.0    failed

    [REGISTRY]/other/net offers other bytes of registry.example.com/acme/net/aws 1.4.0 than [REGISTRY]/mirror/acme/net-aws has, which stay
      hint: a version must never change: ask its publisher what happened

    1 failed; 0 B sent

    ----- stderr -----
    ");
    assert_eq!(there, scene.tag("mirror/acme/net-aws", "1.4.0"));
    // A rule for the place that it comes from counts before anything is sent.
    scene.context.write("trust.toml", format!("[[rule]]\nmodules = [\"{at}/other/*\"]\nunsigned = \"refuse\"\n"));
    let refused = upstream.mirror("'oci://REGISTRY/other/net?tag=1.4.0' --as registry.example.com/acme/new/aws --json");
    assert_eq!(refused.json()[0]["code"], "unsigned", "{}", refused.text);
    assert!(scene.registry.tags("mirror/acme/new-aws").is_empty());
}

#[test]
fn a_version_that_was_withdrawn_at_the_destination_does_not_come_back() {
    let mut upstream = Upstream::start();
    upstream.module("net", "1.0.0", &[("main.tf", "# 1\n")]);
    upstream.list();
    let net = format!("{HOST}/acme/net/aws");
    upstream.mirror(&net).success();
    upstream.scene.registry.set_behaviour(Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() });
    upstream.scene.run("withdraw REGISTRY/mirror/acme/net-aws:1.0.0 --reason broken").success();
    let again = upstream.mirror(&net).success();
    assert!(again.stdout.contains("left out: it was withdrawn at the destination"), "{}", again.text);
    assert!(!upstream.scene.registry.tags("mirror/acme/net-aws").iter().any(|(tag, _)| tag == "1.0.0"));
}

#[test]
fn modules_that_call_themselves_end_and_are_reported() {
    let mut upstream = Upstream::start();
    let of = |name: &str| format!("{HOST}/acme/{name}/aws");
    upstream.module("self", "1.0.0", &[("main.tf", &call("again", &of("self"), "~> 1.0"))]);
    upstream.module("one", "1.0.0", &[("main.tf", &call("two", &of("two"), ""))]);
    upstream.module("two", "1.0.0", &[("main.tf", &call("one", &of("one"), ""))]);
    upstream.list();
    let said = upstream.mirror(&format!("{} {} --json", of("self"), of("one"))).success();
    let fates: Vec<_> = said
        .json()
        .iter()
        .filter(|line| line["event"] == "module-call-left")
        .map(|line| line["fate"].clone())
        .collect();
    assert_eq!(fates, ["loop", "loop"], "{}", said.text);
    let summary = said.json().pop().expect("a summary");
    assert_eq!((summary["added"].clone(), summary["failed"].clone()), (3.into(), 0.into()), "{}", said.text);
}

#[test]
fn a_configuration_and_its_local_modules_name_what_is_mirrored() {
    let upstream = five();
    let context = &upstream.scene.context;
    let main = call("vpc", &format!("{HOST}/acme/vpc/aws"), "1.0.0") + &call("own", "./own", "");
    context.write("infra/main.tf", main);
    context.write(
        "infra/own/main.tf",
        call("tags", &format!("{HOST}/acme/tags/aws"), "") + &call("x", "oci://REGISTRY/mirror/y", ""),
    );
    context.write(
        "infra/modules.toml",
        "[[module_mirror]]\ninclude = [\"registry.example.test/acme/vpc/aws\"]\nrepository_template = \"oci:lay\"\n",
    );
    assert_snapshot!(upstream.text(&upstream.scene.run("module mirror --from-config infra --no-nested --quiet")), @"
    exit code: 0
    ----- stdout -----
    module                              version  report                                                    called by
    registry.example.test/acme/vpc/aws  1.0.0    packed from https://127.0.0.1:[PORT]/vpc-1.0.0.zip, 913 B  infra

    caller  at                      call                                 not mirrored
    infra   infra/own/main.tf:2:12  registry.example.test/acme/tags/aws  leads to its registry: no mirror covers it
    infra   infra/own/main.tf:5:12  oci://REGISTRY/mirror/y              leads elsewhere

    1 added; 2 calls not mirrored; 913 B sent

    ----- stderr -----
    ");
    let layout = format!("infra/lay/{HOST}/acme/vpc/aws");
    upstream.scene.run(&format!("module pull oci:{layout}:1.0.0 out")).success();
    assert_eq!(context.read("out/main.tf"), "# old\n");
    assert_snapshot!(upstream.scene.run("module mirror a/b/c").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `module mirror` needs a destination

    hint: name it: --to 'REGISTRY/${namespace}/${name}-${target_system}' or --to oci:DIR
    hint: or write `modules_to` in mirror.toml; see `tofu-oci help module-mirroring`
    hint: or write a [[module_mirror]] in modules.toml; see `tofu-oci help modules`
    ");
}

#[test]
fn several_modules_are_not_put_into_one_repository() {
    let mut upstream = Upstream::start();
    upstream.module("good", "1.0.0", &[("main.tf", "")]);
    upstream.list();
    let said = upstream.scene.run(&format!("module mirror {HOST}/acme/good/aws --to REGISTRY/one"));
    assert!(
        said.text.starts_with("exit code: 2") && said.text.contains("a repository holds one module"),
        "{}",
        said.text
    );
}

#[test]
fn one_module_that_fails_stops_no_other() {
    let mut upstream = Upstream::start();
    upstream.module("good", "1.0.0", &[("main.tf", "")]);
    upstream.module("inner", "1.0.0", &[("x/main.tf", &call("y", "../y", "")), ("y/main.tf", "")]);
    upstream.located("inner", "1.0.1", "/inner-1.0.0.zip//y");
    upstream.located("inner", "1.0.2", "/inner-1.0.0.zip//x");
    upstream.located("bucket", "1.0.0", "s3::https://u:hunter2@s3.amazonaws.com/bucket/x.zip");
    upstream.located("gone", "1.0.0", "/gone.zip");
    let trick = crate::setup::zips::renamed(upstream.zip(&[("aa/evil.tf", "")]), "aa/evil.tf", "../evil.tf");
    upstream.web.page("/evil.zip", Answer::new(200).body(trick));
    upstream.located("evil", "1.0.0", "/evil.zip");
    upstream.web.page("/v1/modules/acme/rubbish/aws/versions", Answer::new(200).body("<html>"));
    upstream.list();
    let names = ["good", "inner", "bucket", "gone", "evil", "rubbish"];
    let addresses: Vec<String> = names.iter().map(|name| format!("{HOST}/acme/{name}/aws")).collect();
    // One after the other: the first to send the empty config says so in its bytes.
    let said = upstream.mirror(&format!("{} --jobs 1", addresses.join(" ")));
    assert!(!said.text.contains("hunter2"), "{}", said.text);
    assert_snapshot!(upstream.text(&said), @"
    exit code: 1
    ----- stdout -----
    module                                  version  report
    registry.example.test/acme/bucket/aws   1.0.0    failed
    registry.example.test/acme/evil/aws     1.0.0    failed
    registry.example.test/acme/gone/aws     1.0.0    failed
    registry.example.test/acme/good/aws     1.0.0    packed from https://127.0.0.1:[PORT]/good-1.0.0.zip, 909 B
    registry.example.test/acme/inner/aws    1.0.0    packed from https://127.0.0.1:[PORT]/inner-1.0.0.zip, 1.0 kB
    registry.example.test/acme/inner/aws    1.0.1    packed from https://127.0.0.1:[PORT]/inner-1.0.0.zip//y, 911 B
    registry.example.test/acme/inner/aws    1.0.2    failed
    registry.example.test/acme/rubbish/aws  -        failed

    the package of registry.example.test/acme/bucket/aws 1.0.0 cannot be fetched from where registry.example.test says: it is an S3 bucket, and a registry may name https archives, oci:// repositories and git repositories
      cause: the location is s3::https://***@s3.amazonaws.com/bucket/x.zip
    registry.example.test/acme/evil/aws 1.0.0: the package from 127.0.0.1:[PORT] cannot be unpacked
      cause: the archive has an entry with an unsafe name, `../evil.tf`: it has a `..` part
    registry.example.test/acme/gone/aws 1.0.0: no module can be read from 127.0.0.1:[PORT]
      cause: https://127.0.0.1:[PORT]/gone.zip: it answered 404
    the package of registry.example.test/acme/inner/aws 1.0.2 is the folder `x` of what its place offers, and main.tf:2:12 calls `../y` outside of it
    registry.example.test/acme/rubbish/aws: no module can be read from registry.example.test
      cause: https://127.0.0.1:[PORT]/v1/modules/acme/rubbish/aws/versions: it is not JSON: expected value at line 1 column 1
      hint: `tofu get` in a configuration that names the module fetches it; `tofu-oci module push` then publishes the folder to a repository of yours
      hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
      hint: the registry names an archive that is gone; tell its owner
      hint: fetch the whole package, publish it with `tofu-oci module push`, and call the folder in it with //FOLDER
      hint: the owner of the host must correct its service

    3 added, 5 failed; 2.9 kB sent

    ----- stderr -----
    ");
    for name in ["bucket", "gone", "evil", "rubbish"] {
        assert!(upstream.scene.registry.tags(&format!("mirror/acme/{name}-aws")).is_empty(), "{name}");
    }
}

#[test]
fn modules_travel_in_a_bundle_beside_providers() {
    let upstream = five();
    let scene = &upstream.scene;
    let network = format!("{HOST}/acme/network/aws");
    scene.dist("dist", "1.4.0");
    scene.run(&format!("push dist oci:widget --address {}", crate::setup::WIDGET)).success();
    scene.run(&format!("bundle create carried.tar {} --from oci:widget", crate::setup::WIDGET)).success();
    scene.run(&format!("module mirror {network} --to bundle:carried.tar --quiet")).success();
    let before = std::fs::read(scene.path("carried.tar")).expect("a bundle");
    let again = scene.run(&format!("module mirror {network} --to bundle:carried.tar --quiet")).success();
    assert!(again.stdout.contains("5 there already"), "{}", again.text);
    assert_eq!(std::fs::read(scene.path("carried.tar")).expect("a bundle"), before);
    assert_snapshot!(scene.run("bundle show carried.tar").text, @"
    exit code: 0
    ----- stdout -----
    provider                          version  size   signed  platforms
    registry.example.com/acme/widget  1.4.0    647 B  no      darwin_arm64 linux_amd64

    module                                  version  signed  manifest
    registry.example.test/acme/dns/aws      1.2.0    no      sha256:[DIGEST]
    registry.example.test/acme/names/aws    0.1.0    no      sha256:[DIGEST]
    registry.example.test/acme/network/aws  1.4.0    no      sha256:[DIGEST]
    registry.example.test/acme/tags/aws     0.3.0    no      sha256:[DIGEST]
    registry.example.test/acme/vpc/aws      1.1.0    no      sha256:[DIGEST]

    1 provider, 1 version, 5 module versions, 31.2 kB

    ----- stderr -----
    ");
    // Where the bundle goes, no upstream is reached.
    scene.context.write_home(".tofurc", "");
    assert_snapshot!(scene.run(&format!("module mirror --from bundle:carried.tar --to '{TO}' --quiet")).text, @"
    exit code: 0
    ----- stdout -----
    module                                  version  report                                  called by
    registry.example.test/acme/dns/aws      1.2.0    copied from bundle:carried.tar, 1.2 kB  registry.example.test/acme/network/aws 1.4.0
    registry.example.test/acme/names/aws    0.1.0    copied from bundle:carried.tar, 949 B   registry.example.test/acme/dns/aws//zone 1.2.0
    registry.example.test/acme/network/aws  1.4.0    copied from bundle:carried.tar, 1.3 kB
    registry.example.test/acme/tags/aws     0.3.0    copied from bundle:carried.tar, 990 B   registry.example.test/acme/vpc/aws 1.1.0
    registry.example.test/acme/vpc/aws      1.1.0    copied from bundle:carried.tar, 974 B   registry.example.test/acme/network/aws 1.4.0

    caller                                      at            call                                            not mirrored
    registry.example.test/acme/dns/aws 1.2.0    main.tf:2:12  registry.example.test/acme/never/aws            leads to its registry: the bundle lacks it
    registry.example.test/acme/names/aws 0.1.0  main.tf:2:12  var.which                                       unknown: its source or version is computed
    registry.example.test/acme/tags/aws 0.3.0   main.tf:2:12  git::https://***@git.example.test/x.git?ref=v1  leads elsewhere

    5 added; 2 calls not mirrored; 1 call unknown; 5.4 kB sent

    ----- stderr -----
    ");
    scene.run("module pull 'oci://REGISTRY/mirror/acme/dns-aws//zone?tag=1.2.0' out").success();
}

#[test]
fn a_git_repository_becomes_a_module_with_its_commit() {
    let upstream = Upstream::start();
    let scene = &upstream.scene;
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(scene.path("repo")).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        let done = command.args(arguments).output().expect("git");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("a text").trim().to_owned()
    };
    scene.context.write("repo/main.tf", "# git\n");
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    git(&["tag", "v1.4.0"]);
    let commit = git(&["rev-parse", "HEAD"]);
    let source = format!("git::file://{}?ref=v1.4.0", scene.path("repo").display());
    let line = format!("'{source}' --as registry.example.com/acme/net/aws --json");
    let said = upstream.mirror(&line).success();
    assert_eq!((said.json()[0]["action"].clone(), said.json()[0]["version"].clone()), ("pack".into(), "1.4.0".into()));
    let digest = scene.tag("mirror/acme/net-aws", "1.4.0");
    let (_, manifest) = scene.registry.manifest("mirror/acme/net-aws", &digest).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["annotations"]["org.opencontainers.image.revision"], commit);
    assert_eq!(upstream.mirror(&line).success().json()[0]["action"], "present");
}
