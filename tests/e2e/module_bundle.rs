//! Modules in bundles: collected from a configuration, judged, and loaded at a site without a network.

use insta::assert_snapshot;

use crate::module_mirror::{HOST, TO, Upstream, call, five};
use crate::setup::{Scene, WIDGET};

const PROVIDERS: &str = "REGISTRY/p/${namespace}/${type}";

impl Upstream {
    /// A configuration that calls five nested modules, and requires a provider if one is named.
    fn infra(&self, provider: &str) {
        let required = match provider {
            "" => String::new(),
            address => {
                format!("terraform {{\n  required_providers {{\n    widget = {{ source = \"{address}\" }}\n  }}\n}}\n")
            }
        };
        let network = call("network", &format!("{HOST}/acme/network/aws"), "~> 1.4");
        self.scene.context.write("infra/main.tf", network + &required);
    }

    /// The same with a bundle of all of it, and no way to the upstream any more.
    fn bundled(provider: &str) -> Self {
        let upstream = five();
        upstream.infra(provider);
        let scene = &upstream.scene;
        scene.dist("dist", "1.4.0");
        scene.run(&format!("push dist oci:widget --address {WIDGET}")).success();
        let from = if provider.is_empty() { "" } else { "--from oci:widget" };
        scene.run(&format!("bundle create carried.tar --from-config infra {from}")).success();
        scene.context.write_home(".tofurc", "");
        upstream
    }
}

#[test]
fn a_configuration_of_modules_alone_travels_in_a_bundle() {
    let upstream = five();
    upstream.infra("");
    assert_snapshot!(upstream.text(&upstream.scene.run("bundle create carried.tar --from-config infra --quiet")), @"
    exit code: 0
    ----- stdout -----
    module                                  version  report                                                         called by
    registry.example.test/acme/dns/aws      1.2.0    packed from https://127.0.0.1:[PORT]/dns-1.2.0.zip, 1.2 kB      registry.example.test/acme/network/aws 1.4.0
    registry.example.test/acme/names/aws    0.1.0    packed from https://127.0.0.1:[PORT]/names-0.1.0.zip, 949 B     registry.example.test/acme/dns/aws//zone 1.2.0
    registry.example.test/acme/network/aws  1.4.0    packed from https://127.0.0.1:[PORT]/network-1.4.0.zip, 1.3 kB  infra
    registry.example.test/acme/tags/aws     0.3.0    packed from https://127.0.0.1:[PORT]/tags-0.3.0.zip, 990 B      registry.example.test/acme/vpc/aws 1.1.0
    registry.example.test/acme/vpc/aws      1.1.0    packed from https://127.0.0.1:[PORT]/vpc-1.1.0.zip, 974 B       registry.example.test/acme/network/aws 1.4.0

    caller                                      at            call                                            not mirrored
    registry.example.test/acme/names/aws 0.1.0  main.tf:2:12  var.which                                       unknown: its source or version is computed
    registry.example.test/acme/tags/aws 0.3.0   main.tf:2:12  git::https://***@git.example.test/x.git?ref=v1  leads elsewhere

    5 added; 1 call not mirrored; 1 call unknown; 5.4 kB sent

    ----- stderr -----
    ");
    upstream.scene.context.write_home(".tofurc", "");
    assert_snapshot!(upstream.scene.run(&format!("bundle load carried.tar --modules-to '{TO}' --quiet")).text, @"
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
    upstream.scene.run("module pull 'oci://REGISTRY/mirror/acme/dns-aws//zone?tag=1.2.0' out").success();
    upstream.scene.registry.clear_requests();
    let again = upstream.scene.run(&format!("bundle load carried.tar --modules-to '{TO}' --quiet")).success();
    assert!(again.stdout.contains("5 there already"), "{}", again.text);
    let sent = |line: &String| line.starts_with("PUT") || line.starts_with("POST");
    assert!(!upstream.scene.conversation().iter().any(sent));
}

#[test]
fn providers_and_modules_travel_in_one_bundle() {
    let upstream = Upstream::bundled(WIDGET);
    let scene = &upstream.scene;
    assert_snapshot!(scene.run(&format!("bundle load carried.tar '{PROVIDERS}'")).text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: nothing says where the modules go that bundle:carried.tar holds

    hint: name it: --modules-to 'REGISTRY/${namespace}/${name}-${target_system}' or oci:DIR
    hint: or write a [[module_mirror]] in modules.toml; see `tofu-oci help modules`
    hint: to load the providers alone: --only providers
    ");
    assert_snapshot!(scene.run(&format!("bundle load carried.tar --modules-to '{TO}'")).text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: nothing says where the providers of bundle:carried.tar go

    hint: name a destination: tofu-oci bundle load FILE 'REGISTRY/${namespace}/${type}'
    hint: to load the modules alone: --only modules
    ");
    assert!(scene.registry.tags("p/acme/widget").is_empty());
    let said =
        scene.run(&format!("bundle load carried.tar '{PROVIDERS}' --modules-to '{TO}' --json --quiet")).success();
    let lines = said.json();
    let events = lines.iter().filter_map(|line| line["event"].as_str()).filter(|event| event.starts_with('m'));
    let events: Vec<&str> = events.collect();
    assert_eq!(
        events.join(" "),
        "mirror mirror-summary module-mirror module-mirror module-mirror module-mirror module-mirror module-call-left \
         module-call-left module-call-left module-mirror-summary",
        "{}",
        said.text
    );
    scene.tag("p/acme/widget", "1.4.0");
    scene.tag("mirror/acme/vpc-aws", "1.1.0");
}

#[test]
fn one_kind_of_a_bundle_may_be_loaded_alone() {
    let upstream = Upstream::bundled(WIDGET);
    let scene = &upstream.scene;
    scene.run(&format!("bundle load carried.tar '{PROVIDERS}' --only providers")).success();
    scene.tag("p/acme/widget", "1.4.0");
    assert!(scene.registry.tags("mirror/acme/vpc-aws").is_empty());
    scene.run(&format!("bundle load carried.tar --only modules --modules-to '{TO}'")).success();
    scene.tag("mirror/acme/vpc-aws", "1.1.0");
}

#[test]
fn the_mapping_or_the_folder_of_layouts_says_where_modules_go() {
    let upstream = Upstream::bundled("");
    let scene = &upstream.scene;
    let (at, template) = (scene.registry.address(), "repository_template");
    let mapping = format!(
        "[[module_mirror]]\ninclude = [\"*/*/*/*\"]\n{template} = \"{at}/m/${{hostname}}/${{namespace}}/${{name}}/${{target_system}}\"\n"
    );
    scene.context.write("modules.toml", mapping);
    scene.run("bundle load carried.tar").success();
    scene.tag(&format!("m/{HOST}/acme/vpc/aws"), "1.1.0");
    let both = scene.run("bundle load carried.tar --modules modules.toml --modules-to oci:lay");
    assert!(both.text.contains("--modules-to and --modules both say where modules go"), "{}", both.text);
    assert_eq!(both.code, Some(2));
    std::fs::remove_file(scene.path("modules.toml")).expect("a file");
    scene.run("bundle load carried.tar oci:lay").success();
    scene.run(&format!("module pull oci:lay/{HOST}/acme/vpc/aws:1.1.0 out")).success();
}

#[test]
fn one_refused_module_keeps_all_of_a_bundle_out() {
    let upstream = Upstream::bundled(WIDGET);
    let scene = &upstream.scene;
    scene.context.write("trust.toml", "[[rule]]\nmodules = [\"*\"]\nunsigned = \"refuse\"\n");
    let said = scene.run(&format!("bundle load carried.tar '{PROVIDERS}' --modules-to '{TO}'"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stderr.contains("holds a release that is refused, so nothing of it was loaded"), "{}", said.text);
    assert!(said.stdout.contains("5 failed"), "{}", said.text);
    assert!(scene.registry.tags("p/acme/widget").is_empty() && scene.registry.tags("mirror/acme/vpc-aws").is_empty());
}

#[test]
fn a_signed_module_is_shown_as_such() {
    let upstream = five();
    upstream.infra("");
    let scene = &upstream.scene;
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("bundle create carried.tar --from-config infra --sign-key p256.pem").success();
    let rule = "[[rule]]\nmodules = [\"*\"]\nkeys = [\"acme\"]\n";
    scene.context.write("trust.toml", format!("[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n{rule}"));
    let shown = scene.run("bundle show carried.tar").success();
    assert_eq!(shown.stdout.matches("  by acme  ").count(), 5, "{}", shown.text);
    scene.run("bundle load carried.tar oci:lay").success();
    let tofurc = scene.run("bundle show carried.tar --tofurc").success();
    assert!(tofurc.stdout.contains("holds no providers"), "{}", tofurc.text);
}

#[test]
fn a_module_that_fails_is_a_line_and_the_rest_is_in_the_bundle() {
    let mut upstream = five();
    upstream.infra("");
    upstream.scene.context.write("infra/other.tf", call("gone", &format!("{HOST}/acme/gone/aws"), ""));
    upstream.located("gone", "1.0.0", "/gone.zip");
    upstream.list();
    let said = upstream.scene.run("bundle create carried.tar --from-config infra --quiet");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("5 added, 1 failed"), "{}", said.text);
    let shown = upstream.scene.run("bundle show carried.tar").success();
    assert!(shown.stdout.contains("0 providers, 0 versions, 5 module versions"), "{}", shown.text);
}

#[test]
fn a_bundle_is_made_of_another_one() {
    let upstream = Upstream::bundled("");
    let scene = &upstream.scene;
    let said = scene.run("bundle create again.tar --from-config infra --from bundle:carried.tar --quiet").success();
    assert!(said.stdout.contains("copied from bundle:carried.tar"), "{}", said.text);
}

/// A bundle with one module in these versions.
fn carried(versions: &[&str]) -> Scene {
    let scene = Scene::new();
    for version in versions {
        scene.context.write("net/main.tf", format!("# {version}\n"));
        let source = format!("module mirror oci://REGISTRY/net?tag={version} --as {HOST}/acme/net/aws@{version}");
        scene.run(&format!("module push net REGISTRY/net --version {version}")).success();
        scene.run(&format!("{source} --to bundle:carried.tar")).success();
    }
    scene
}

#[test]
fn a_prerelease_that_was_put_into_a_bundle_is_loaded_from_it() {
    let scene = carried(&["1.0.0", "2.0.0-rc.1"]);
    scene.run(&format!("bundle load carried.tar --modules-to '{TO}'")).success();
    scene.tag("mirror/acme/net-aws", "1.0.0");
    scene.tag("mirror/acme/net-aws", "2.0.0-rc.1");
    scene.run("module mirror --from bundle:carried.tar --to 'REGISTRY/other/${name}'").success();
    scene.tag("other/net", "2.0.0-rc.1");
    let alone = carried(&["2.0.0-rc.1"]);
    alone.run(&format!("bundle load carried.tar --modules-to '{TO}'")).success();
    alone.tag("mirror/acme/net-aws", "2.0.0-rc.1");
}

#[test]
fn a_login_for_the_registry_of_from_is_read_once_for_providers_and_modules() {
    let upstream = five();
    upstream.infra(WIDGET);
    let scene = &upstream.scene;
    scene.dist("dist", "1.4.0");
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    let line =
        "bundle create carried.tar --from-config infra --from REGISTRY/acme/widget --username ada --password-stdin";
    scene.context.write("password", "secret");
    let password = std::fs::File::open(scene.path("password")).expect("it was written");
    scene.output(scene.command(line).stdin(password)).success();
    let shown = scene.run("bundle show carried.tar").success();
    assert!(shown.stdout.contains("1 provider, 1 version, 5 module versions"), "{}", shown.text);
}

#[test]
fn a_bundle_without_modules_says_that_no_module_was_loaded() {
    let scene = Scene::published();
    scene.run(&format!("bundle create carried.tar {WIDGET} --from REGISTRY/acme/widget")).success();
    assert_snapshot!(scene.run("bundle load carried.tar --only modules").text, @"
    exit code: 0
    ----- stdout -----
    nothing to mirror; 0 B sent

    ----- stderr -----
    warning: bundle:carried.tar holds no modules, so nothing of it was loaded
    ");
    let json = scene.run("bundle load carried.tar --only modules --json").success().json();
    assert_eq!(json.last().expect("a line")["event"], "module-mirror-summary");
}

#[test]
fn a_destination_of_a_kind_that_is_not_loaded_is_refused() {
    let scene = carried(&["1.0.0"]);
    for line in [
        format!("bundle load carried.tar '{PROVIDERS}' --only providers --modules-to '{TO}'"),
        format!("bundle load carried.tar '{PROVIDERS}' --only modules --modules-to '{TO}'"),
        "bundle load carried.tar static:web --only modules".to_owned(),
    ] {
        let said = scene.run(&line);
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(said.stderr.contains("loads none"), "{}", said.text);
    }
    scene.run("bundle load carried.tar oci:lay --only modules").success();
    scene.run(&format!("module pull oci:lay/{HOST}/acme/net/aws:1.0.0 out")).success();
}

#[test]
fn one_unreadable_manifest_leaves_the_other_rows_of_a_bundle() {
    let scene = carried(&["1.0.0", "1.1.0"]);
    let digest = scene.tag("net", "1.1.0");
    let (_, manifest) = scene.registry.manifest("net", &digest).expect("it was pushed");
    let mut bundle = std::fs::read(scene.path("carried.tar")).expect("a bundle");
    let at = bundle.windows(manifest.len()).position(|window| window == &manifest[..]).expect("it is in the bundle");
    bundle[at] = b'[';
    scene.context.write("carried.tar", bundle);
    let said = scene.run("bundle show carried.tar");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("1.0.0    no") && said.stdout.contains("1.1.0    unreadable"), "{}", said.text);
    let json = scene.run("bundle show carried.tar --json").json();
    assert!(json.iter().any(|line| line["version"] == "1.1.0" && line["action"] == "failed"), "{json:?}");
}
