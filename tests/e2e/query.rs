//! `versions` and `resolve`.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};
use crate::words::refuse;

#[test]
fn versions_are_listed_newest_first() {
    let scene = Scene::published();
    for version in ["1.10.0", "1.9.1", "2.0.0-beta.2", "1.10.0+meta"] {
        scene.publish(version);
    }
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    2.0.0-beta.2
    1.10.0+meta
    1.10.0
    1.9.1
    1.4.0

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --platforms").text, @"
    exit code: 0
    ----- stdout -----
    2.0.0-beta.2  darwin_arm64 linux_amd64
    1.10.0+meta   darwin_arm64 linux_amd64
    1.10.0        darwin_arm64 linux_amd64
    1.9.1         darwin_arm64 linux_amd64
    1.4.0         darwin_arm64 linux_amd64

    ----- stderr -----
    ");
    assert_snapshot!(scene.run(&format!("versions {WIDGET} --from 'REGISTRY/${{namespace}}/${{type}}'")).text, @"
    exit code: 0
    ----- stdout -----
    2.0.0-beta.2
    1.10.0+meta
    1.10.0
    1.9.1
    1.4.0

    ----- stderr -----
    asking [REGISTRY]/acme/widget for registry.example.com/acme/widget, as --from or TOFU_OCI_FROM says
    ");
}

#[test]
fn a_place_that_from_decides_is_named() {
    let scene = Scene::published();
    let versions = |line: &str, from: &str| {
        scene.output(scene.command(line).env("TOFU_OCI_FROM", from.replace("REGISTRY", scene.registry.address()))).text
    };
    assert_snapshot!(versions("versions REGISTRY/acme/other", "REGISTRY/acme/widget"), @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    asking [REGISTRY]/acme/widget for [REGISTRY]/acme/other, as --from or TOFU_OCI_FROM says
    ");
    assert_snapshot!(versions("versions REGISTRY/acme/other --quiet", "REGISTRY/acme/widget"), @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    ");
    assert_snapshot!(versions("versions REGISTRY/acme/widget", ""), @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    ");
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let scene = Scene::published();
    let mut command = scene.command("versions REGISTRY/acme/widget");
    for name in ["FROM", "MAGIC_SUFFIX", "CA_FILE", "CLIENT_CERT", "CLIENT_KEY", "PLAIN_HTTP", "LOG"] {
        command.env(format!("TOFU_OCI_{name}"), "");
    }
    assert_snapshot!(scene.output(&mut command).text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    ");
}

#[test]
fn hints_name_no_options_that_the_verb_does_not_have() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse(&format!("versions {WIDGET} --from REGISTRY/acme/widget:1.4.0")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/acme/widget:1.4.0` is not a repository address: it must name no tag and no digest

    hint: name the repository alone, [REGISTRY]/acme/widget
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --from REGISTRY/acme/widget:1.4.0")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/acme/widget:1.4.0` is not a repository address: it must name no tag and no digest

    hint: name the repository alone, [REGISTRY]/acme/widget, and the version after the address: ADDR@VERSION
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} '~> 1.0' --from REGISTRY/acme/widget")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `~> 1.0` is not a provider address: the type contains a dot

    hint: to say which version, join the two by an @: registry.example.com/acme/widget@'~> 1.0'
    ");
    assert_snapshot!(scene.refuse("versions 127.0.0.1:1/acme/widget --attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach 127.0.0.1:[PORT]/acme/widget: Connection refused (os error [N])

    hint: check the port, and that a registry listens there on this machine
    hint: for a provider address, add --provider, or say where it is with --from REPOSITORY
    ");
}

#[test]
fn versions_print_json_lines() {
    let scene = Scene::published();
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --json --platforms").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.4.0","platforms":["darwin_arm64","linux_amd64"]}

    ----- stderr -----
    "#);
}

#[test]
fn a_stray_tag_is_warned_about() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    for tag in ["2", "v1.4.0", "latest", "1.3", "01.2.0"] {
        scene.registry.put_tag("acme/widget", tag, &digest);
    }
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: [REGISTRY]/acme/widget has a tag 01.2.0, which OpenTofu reads as version 1.2.0 and then cannot find
      hint: delete the tag 01.2.0: as long as it is the newest, `tofu init` fails for everybody
    warning: [REGISTRY]/acme/widget has a tag 1.3, which OpenTofu reads as version 1.3.0 and then cannot find
      hint: delete the tag 1.3: as long as it is the newest, `tofu init` fails for everybody
    warning: [REGISTRY]/acme/widget has a tag 2, which OpenTofu reads as version 2.0.0 and then cannot find
      hint: delete the tag 2: as long as it is the newest, `tofu init` fails for everybody
    ");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --json").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"warning","code":"floating-tag","text":"[REGISTRY]/acme/widget has a tag 01.2.0, which OpenTofu reads as version 1.2.0 and then cannot find","hint":"delete the tag 01.2.0: as long as it is the newest, `tofu init` fails for everybody"}
    {"event":"message","level":"warning","code":"floating-tag","text":"[REGISTRY]/acme/widget has a tag 1.3, which OpenTofu reads as version 1.3.0 and then cannot find","hint":"delete the tag 1.3: as long as it is the newest, `tofu init` fails for everybody"}
    {"event":"message","level":"warning","code":"floating-tag","text":"[REGISTRY]/acme/widget has a tag 2, which OpenTofu reads as version 2.0.0 and then cannot find","hint":"delete the tag 2: as long as it is the newest, `tofu init` fails for everybody"}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.4.0"}

    ----- stderr -----
    "#);
}

#[test]
fn versions_of_a_directory() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    assert_snapshot!(scene.run("versions oci:layout --platforms").text, @"
    exit code: 0
    ----- stdout -----
    1.4.0  darwin_arm64 linux_amd64

    ----- stderr -----
    ");
}

#[test]
fn versions_of_what_is_not_there() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository [REGISTRY]/acme/widget

    hint: check the name; some registries also say this to those who may not read the repository
    ");
    assert_snapshot!(scene.refuse("versions oci:layout"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository oci:layout

    hint: check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci pack DIST oci:DIR` makes one
    ");
    assert_snapshot!(scene.refuse("versions widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `widget` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget

    hint: write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR
    hint: for a provider address, add --provider, or say where it is with --from REPOSITORY
    ");
    assert_snapshot!(scene.refuse("versions acme/widget --attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach acme/widget: failed to lookup address information: [REASON]

    hint: `acme` was taken for a host name; write HOST/NAME, such as ghcr.io/acme/opentofu-provider-widget
    hint: for a provider address, add --provider, or say where it is with --from REPOSITORY
    ");
    assert_snapshot!(scene.refuse("versions a/b/c/d --from REGISTRY/acme/widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE

    hint: write HOST/NAMESPACE/TYPE, such as registry.example.com/acme/widget
    ");
}

#[test]
fn an_address_is_resolved_by_a_template() {
    let scene = Scene::new();
    let said = scene.run(&format!("resolve {WIDGET} --from 'ghcr.io/x/${{hostname}}/${{namespace}}/${{type}}'"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    ghcr.io/x/registry.example.com/acme/widget

    ----- stderr -----
    registry.example.com/acme/widget by the repository template `ghcr.io/x/${hostname}/${namespace}/${type}`
    ");
    let said = scene.run(&format!("resolve {WIDGET} --from 'oci:mirror/${{namespace}}/${{type}}' --json"));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"resolved","address":"registry.example.com/acme/widget","place":"oci:mirror/acme/widget","rule":"the repository template `oci:mirror/${namespace}/${type}`"}

    ----- stderr -----
    "#);
    let said = scene.run(&format!("resolve {WIDGET} --from oci:layout --quiet"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    oci:layout

    ----- stderr -----
    ");
}

#[test]
fn an_address_is_resolved_by_the_magic_suffix() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("resolve ghcr.io.oci.opentofu.org/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    ghcr.io/acme/opentofu-provider-widget

    ----- stderr -----
    ghcr.io.oci.opentofu.org/acme/widget by the hostname suffix .oci.opentofu.org
    ");
    assert_snapshot!(scene.run("resolve ghcr.io.oci.example.net/acme/widget --magic-suffix oci.example.net").text, @"
    exit code: 0
    ----- stdout -----
    ghcr.io/acme/opentofu-provider-widget

    ----- stderr -----
    ghcr.io.oci.example.net/acme/widget by the hostname suffix .oci.example.net
    ");
}

#[test]
fn an_address_whose_host_is_only_a_name_is_refused() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET}")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: nothing can be installed from registry.example.com
      cause: https://registry.example.com/.well-known/terraform.json: failed to lookup address information: [REASON]

    hint: say which repository holds the provider with --from REPOSITORY
    hint: or check the host name and the network; --ca-file FILE trusts a private certificate authority
    hint: for a host that is only a name, write an oci_mirror: see `tofu-oci config add --help`
    ");
    assert_snapshot!(scene.refuse("resolve a/b/c/d"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE

    hint: write HOST/NAMESPACE/TYPE, such as registry.example.com/acme/widget
    ");
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --from 'ghcr.io/${{version}}'")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/${version}` mentions `version` at column 11, which an address does not have

    hint: write ${hostname}, ${namespace} or ${type}
    hint: quote the template for your shell: it would take ${…} for a variable of its own
    ");
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --from 'ghcr.io/${{type'")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/${type` is not a repository template: an interpolation is not closed: its } is missing, at column 14

    hint: write } at its end, or $${ where ${ is meant as text
    hint: quote the template for your shell: it would take ${…} for a variable of its own
    ");
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --magic-suffix 'not a host'")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `not a host` cannot be a hostname suffix
      cause: `not a host` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    ");
    assert_eq!(scene.conversation(), Vec::<String>::new(), "no request is made");
}

#[test]
fn a_short_address_was_not_said_to_be_one_of_the_public_registry() {
    let scene = Scene::new();
    let read = "hint: `demo` was read as registry.opentofu.org/hashicorp/demo; for another provider, write HOST/NAMESPACE/TYPE\n";
    for line in ["install demo", "resolve demo", "show demo", "lock demo"] {
        refuse(&scene, line, &[read]);
        assert!(!scene.refuse(line).contains("host that is only a name"), "{line}");
    }
}

#[test]
fn a_wrong_place_was_not_said_to_come_from_a_variable() {
    let scene = Scene::new();
    let variable = "hint: the variable TOFU_OCI_FROM says so: change it, or unset it\n";
    for place in ["https://ghcr.io/acme/widget", "ghcr.io/{type}"] {
        let mut command = scene.command(&format!("install {WIDGET}"));
        command.env("TOFU_OCI_FROM", place);
        let said = scene.refuse_with(&mut command);
        assert!(said.contains(variable), "{said}");
        assert!(!scene.refuse(&format!("install {WIDGET} --from '{place}'")).contains("TOFU_OCI_FROM"));
    }
}
