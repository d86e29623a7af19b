//! `resolve --explain`.

use insta::assert_snapshot;
use tofu_oci_testkit::{ClientCertificate, Fault, Registry, Rule};

use crate::cli_config::TWO_MIRRORS;
use crate::setup::{Scene, WIDGET};

/// Widget 1.4.0 in the first repository, 1.5.0 in the second.
fn two_mirrors() -> Scene {
    let scene = Scene::published_over_tls();
    scene.dist("dist-1.5.0", "1.5.0");
    scene.run(&format!("push dist-1.5.0 REGISTRY/other/widget --address {WIDGET}")).success();
    scene.home_file(".tofurc", TWO_MIRRORS);
    scene
}

#[test]
fn a_mirror_that_stops_opentofu_is_named() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64"));
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.4.0

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0
        checked   by the digest in its manifest

    tofu-oci  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way
    OpenTofu  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way

    ----- stderr -----
    "#);
}

#[test]
fn a_constraint_decides_which_version_is_looked_for() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve '{WIDGET}@< 1.5' --explain --platform linux_amd64"));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version that meets < 1.5.0, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        checked   by the digest in its manifest

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0

    tofu-oci  installs 1.4.0 from method 1 (oci_mirror): the first method in order, and the only one
              that has it
    OpenTofu  installs 1.4.0 from method 1 (oci_mirror): the first method in order, and the only one
              that has it

    ----- stderr -----
    "#);
    let said = scene.run(&format!("resolve '{WIDGET}@< 1.5' --explain --platform linux_amd64 --json"));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"method","address":"registry.example.com/acme/widget","number":1,"method":"oci_mirror","at":"[HOME]/.tofurc:2","selected":true,"matches":"yes, by include \"registry.example.com/acme/*\"","place":"[REGISTRY]/acme/widget","versions":["1.4.0"],"stray_tags":[],"checked_by":"manifest","error":null,"code":null,"root_code":null}
    {"event":"method","address":"registry.example.com/acme/widget","number":2,"method":"oci_mirror","at":"[HOME]/.tofurc:6","selected":true,"matches":"yes, by include \"registry.example.com/acme/*\"","place":"[REGISTRY]/other/widget","versions":["1.5.0"],"stray_tags":[],"checked_by":null,"error":null,"code":null,"root_code":null}
    {"event":"choice","address":"registry.example.com/acme/widget","constraints":"< 1.5.0","locked":null,"platform":"linux_amd64","program":"tofu-oci","releases":[],"outcome":"serves","version":"1.4.0","number":1,"code":null,"reason":"the first method in order, and the only one that has it","dev_override":null}
    {"event":"choice","address":"registry.example.com/acme/widget","constraints":"< 1.5.0","locked":null,"platform":"linux_amd64","program":"OpenTofu","releases":["1.10","1.12","1.13"],"outcome":"serves","version":"1.4.0","number":1,"code":null,"reason":"the first method in order, and the only one that has it","dev_override":null}

    ----- stderr -----
    "#);
}

#[test]
fn a_platform_that_the_first_one_lacks_is_served_by_the_next() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve '{WIDGET}@1.4.0' --explain --platform windows_amd64"));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version that meets 1.4.0, for windows_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.4.0

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0

    tofu-oci  chooses 1.4.0 and stops at method 2 (oci_mirror), tag-not-found: this mirror lacks 1.4.0,
              which method 1 (oci_mirror) lists for other platforms, and a mirror does not give way
    OpenTofu  chooses 1.4.0 and stops at method 2 (oci_mirror), tag-not-found: this mirror lacks 1.4.0,
              which method 1 (oci_mirror) lists for other platforms, and a mirror does not give way

    ----- stderr -----
    "#);
}

#[test]
fn a_floating_tag_stops_opentofu_and_not_us() {
    let scene = two_mirrors();
    scene.run("copy REGISTRY/other/widget REGISTRY/acme/widget").success();
    let digest = scene.tag("other/widget", "1.5.0").parse().expect("a digest");
    scene.registry.put_tag("other/widget", "2", &digest);
    let said = scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64"));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.5.0, 1.4.0
        checked   by the digest in its manifest

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0
        checked   by the digest in its manifest
        beware    the tag 2 is taken for version 2.0.0 by OpenTofu, and is none

    tofu-oci  installs 1.5.0 from method 1 (oci_mirror): the first method in order that has it; a later
              one has it too
    OpenTofu  chooses 2.0.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 2.0.0,
              which method 2 (oci_mirror) seems to list by its tag 2, and a mirror does not give way

    ----- stderr -----
    "#);
}

#[test]
fn a_broken_configuration_is_explained_as_opentofu_reads_it_and_refused() {
    let scene = two_mirrors();
    let broken = TWO_MIRRORS.replacen("repository_template", "repository", 1);
    scene.home_file(".tofurc", &broken);
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --explain --platform linux_amd64")), @r#"
    exit code: 2
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     -  oci_mirror  [HOME]/.tofurc:2
        matches   left out by OpenTofu: oci_mirror needs repository_template

     1  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0
        checked   by the digest in its manifest

    tofu-oci  refuses: there is an error in the CLI configuration, shown below
    OpenTofu  installs 1.5.0 from method 1 (oci_mirror): the only method that is asked

    ----- stderr -----
    error: oci_mirror needs repository_template (template-required)
      --> [HOME]/.tofurc:2:3
      |
    2 |   oci_mirror {
      |   ^^^^^^^^^^
      = instead: write repository_template = "ghcr.io/acme/${hostname}/${namespace}/${type}"
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    hint: with --from REPOSITORY provider_installation is not looked at
    "#);
}

#[test]
fn a_repeated_argument_is_read_by_1_10_alone() {
    let scene = two_mirrors();
    let twice = "    include             = [\"registry.example.com/acme/*\"]\n";
    scene.home_file(".tofurc", &TWO_MIRRORS.replacen(twice, &twice.repeat(2), 1));
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET}@1.4.0 --explain --platform linux_amd64")), @r#"
    exit code: 2
    ----- stdout -----
    registry.example.com/acme/widget, the newest version that meets 1.4.0, for linux_amd64
    no provider_installation counts: the implicit methods, in the order in which they are asked

     1  direct  (implicit)
        matches   yes, it is for every provider
        place     registry.example.com
        offers    error (dns): https://registry.example.com/.well-known/terraform.json: failed to lookup
                  address information: Name or service not known

    tofu-oci  refuses: there is an error in the CLI configuration, shown below
    OpenTofu  1.10: installs 1.4.0 from method 1 (direct): the first method in order, and the only one
              that has it
    OpenTofu  1.12 and later: stops at method 1 (direct), dns: any error except an unknown provider ends
              the search while versions are listed

    ----- stderr -----
    error: the argument `include` was already set; each can be given once only (hcl1-parse)
      --> [HOME]/.tofurc:5:5
      |
    5 |     include             = ["registry.example.com/acme/*"]
      |     ^^^^^^^
      = instead: write each argument once; of a list, all in one pair of brackets
      = OpenTofu 1.13: prints an error that names line 5, and goes on without this file

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    "#);
}

#[test]
fn the_locked_version_is_the_one_that_is_looked_for() {
    let scene = two_mirrors();
    let lock = "provider \"registry.example.com/acme/widget\" {\n  version = \"1.4.0\"\n}\n";
    scene.context.write("there/.terraform.lock.hcl", lock);
    let explained = |more: &str| {
        let said = scene.run(&format!("resolve {WIDGET}{more} --explain --chdir there --platform linux_amd64"));
        let choice = said.stdout.find("\ntofu-oci").expect("a choice");
        format!("{}\n{}", said.stdout.lines().next().expect("a line"), &said.stdout[choice..])
    };
    assert_snapshot!(explained(""), @"
    registry.example.com/acme/widget, locked 1.4.0 by there/.terraform.lock.hcl, for linux_amd64

    tofu-oci  installs 1.4.0 from method 1 (oci_mirror): the first method in order, and the only one
              that has it
    OpenTofu  installs 1.4.0 from method 1 (oci_mirror): the first method in order, and the only one
              that has it
    ");
    assert_snapshot!(explained(" --upgrade"), @"
    registry.example.com/acme/widget, the newest version, for linux_amd64

    tofu-oci  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way
    OpenTofu  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way
    ");
    assert_snapshot!(explained("@1.5.0"), @"
    registry.example.com/acme/widget, locked 1.4.0 by there/.terraform.lock.hcl, for linux_amd64

    tofu-oci  finds nothing, locked-version-conflict: there/.terraform.lock.hcl locks 1.4.0, which does
              not meet `1.5.0`
    OpenTofu  finds nothing, locked-version-conflict: there/.terraform.lock.hcl locks 1.4.0, which does
              not meet `1.5.0`
    ");
    scene.context.write("there/.terraform.lock.hcl", lock.replace("1.4.0", "1.3.0"));
    assert_snapshot!(explained(""), @"
    registry.example.com/acme/widget, locked 1.3.0 by there/.terraform.lock.hcl, for linux_amd64

    tofu-oci  finds nothing, locked-version-gone: no method has 1.3.0, which there/.terraform.lock.hcl
              locks
    OpenTofu  finds nothing, locked-version-gone: no method has 1.3.0, which there/.terraform.lock.hcl
              locks
    ");
    let said = scene.run(&format!("resolve {WIDGET} --explain --chdir there --platform linux_amd64 --json"));
    assert!(said.stdout.contains(r#""locked":"1.3.0""#), "{}", said.stdout);
}

/// A registry whose root alone gives this answer.
fn with_root(fault: Fault) -> String {
    let scene = two_mirrors();
    scene.registry.fault(Rule::on("GET", "/v2/").then(fault));
    scene.run(&format!("resolve {WIDGET}@1.5.0 --explain --platform linux_amd64")).text
}

#[test]
fn a_registry_whose_root_is_missing_is_passed_over_up_to_1_12() {
    assert_snapshot!(with_root(Fault::status(404, "NOT_FOUND")), @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version that meets 1.5.0, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        beware    /v2/ of this registry is 404: OpenTofu up to 1.12 passes over it

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0
        checked   by the digest in its manifest
        beware    /v2/ of this registry is 404: OpenTofu up to 1.12 passes over it

    tofu-oci  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way
    OpenTofu  1.10 and 1.12: finds nothing, provider-not-found: no method has the provider
    OpenTofu  1.13: chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks
              1.5.0, which method 2 (oci_mirror) lists, and a mirror does not give way

    ----- stderr -----
    "#);
}

#[test]
fn a_registry_whose_root_is_missing_gives_way_up_to_1_12() {
    let scene = two_mirrors();
    let other = Registry::builder().tls(ClientCertificate::NotAsked).start();
    let authorities = [&scene.registry, &other].map(|registry| registry.ca_pem().expect("it speaks TLS"));
    scene.context.write_home("ca.pem", authorities.concat());
    other.fault(Rule::on("GET", "/v2/").then(Fault::status(404, "NOT_FOUND")));
    scene.home_file(".tofurc", &TWO_MIRRORS.replacen("REGISTRY", other.address(), 1));
    let said = scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64")).stdout;
    assert_snapshot!(said[said.find("tofu-oci").expect("a choice")..], @"
    tofu-oci  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way
    OpenTofu  1.10 and 1.12: installs 1.5.0 from method 2 (oci_mirror): method 1 (oci_mirror) does not
              have it and gives way
    OpenTofu  1.13: chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks
              1.5.0, which method 2 (oci_mirror) lists, and a mirror does not give way
    ");
}

#[test]
fn a_registry_whose_root_fails_stops_up_to_1_12() {
    assert_snapshot!(with_root(Fault::status(403, "DENIED")), @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version that meets 1.5.0, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        beware    /v2/ of this registry fails (denied): OpenTofu up to 1.12 stops there

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    1.5.0
        checked   by the digest in its manifest
        beware    /v2/ of this registry fails (denied): OpenTofu up to 1.12 stops there

    tofu-oci  chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks 1.5.0,
              which method 2 (oci_mirror) lists, and a mirror does not give way
    OpenTofu  1.10 and 1.12: stops at method 1 (oci_mirror), denied: it asks for /v2/ first
              ([REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was
              shown: injected (DENIED)), and any error except an unknown provider ends the search while
              versions are listed
    OpenTofu  1.13: chooses 1.5.0 and stops at method 1 (oci_mirror), tag-not-found: this mirror lacks
              1.5.0, which method 2 (oci_mirror) lists, and a mirror does not give way

    ----- stderr -----
    "#);
}

#[test]
fn the_root_of_a_registry_is_asked_for_once() {
    let scene = two_mirrors();
    scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64")).success();
    let asked = scene.registry.requests().iter().filter(|request| request.path == "/v2/").count();
    assert_eq!(asked, 1);
}

#[test]
fn from_is_explained_too() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve {WIDGET} --explain --from REGISTRY/acme/widget --platform linux_amd64"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64

     1  --from
        matches   every provider: the CLI configuration is not read
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        checked   by the digest in its manifest

    tofu-oci  installs 1.4.0 from method 1 (--from): the only method that is asked
    OpenTofu  knows nothing of --from: it goes by its CLI configuration

    ----- stderr -----
    ");
}
