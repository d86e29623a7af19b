//! `show`: one release and all that is known of it.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Fault, ReleaseFolder, Rule};
use tofu_oci_types::Digest;

use crate::credentials::basic;
use crate::json::check;
use crate::setup::{Scene, WIDGET};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// `show` of widget 1.4.0 by its address.
const SHOW: &str = "show registry.example.com/acme/widget@1.4.0 --from REGISTRY/acme/widget";

#[test]
fn a_release_is_shown_by_its_address() {
    let scene = Scene::published();
    assert_snapshot!(scene.run(SHOW).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      created   unknown: the release names no time (a reproducible one has none)
      layout    artifact
      index     sha256:[DIGEST]
      protocol  not named
      signed    no: there is no signature

      darwin_arm64  324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64   323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
    scene.registry.clear_requests();
    scene.sign("acme/widget", WIDGET, "1.4.0");
    assert_snapshot!(scene.run(SHOW).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      created   unknown: the release names no time (a reproducible one has none)
      layout    artifact
      index     sha256:[DIGEST]
      protocol  not named
      signed    not checked: no key is known; name its publisher's with --key FILE, or in trust.toml
      found     bundle by sha256:[DIGEST] (as it
                says) was not checked; it names registry.example.com/acme/widget 1.4.0; it says
                https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      attached  application/vnd.dev.sigstore.bundle.v0.3+json, 799 B;
                sha256:[DIGEST]

      darwin_arm64  324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64   323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
    // Packages and signatures are asked for side by side.
    let mut requests = scene.conversation();
    requests.sort();
    // What lies beside it is asked for once more, unless the other question has learnt that there is no such API.
    requests.dedup();
    assert_snapshot!(requests.join("\n"), @"
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    GET /v2/acme/widget/manifests/deprecated-1.4.0 -> 404
    GET /v2/acme/widget/manifests/sha256-[DIGEST] -> 200
    GET /v2/acme/widget/manifests/sha256-[DIGEST].sig -> 404
    GET /v2/acme/widget/manifests/sha256:[DIGEST] -> 200
    GET /v2/acme/widget/referrers/sha256:[DIGEST] -> 404
    ");
    scene.trust("");
    let said = scene.run(SHOW);
    assert!(said.stdout.contains("signed    by acme-release\n"), "{}", said.text);
    let said = scene.run(&format!("{SHOW} --json"));
    assert_eq!(check(&said), ["release"]);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"release","address":"registry.example.com/acme/widget","version":"1.4.0","place":"[REGISTRY]/acme/widget","tag":"1.4.0","index":"sha256:[DIGEST]","layout":"artifact","created":null,"protocols":[],"published_as":"registry.example.com/acme/widget","notice":null,"platforms":["darwin_arm64","linux_amd64"],"packages":[{"platform":"darwin_arm64","kind":"artifact","manifest":"sha256:[DIGEST]","bytes":324,"hashes":["ch:sha256:[DIGEST]","h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=","zh:[ZIP]"],"error":null},{"platform":"linux_amd64","kind":"artifact","manifest":"sha256:[DIGEST]","bytes":323,"hashes":["ch:sha256:[DIGEST]","h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=","zh:[ZIP]"],"error":null}],"signatures":{"state":"signed","by":["acme-release"]},"evidence":[{"form":"bundle","origin":"sha256:[DIGEST]","key":"sha256:[DIGEST]","key_name":"acme-release","claimed_key":"sha256:[DIGEST]","address":"registry.example.com/acme/widget","version":"1.4.0","predicate_type":"https://sigstore.dev/cosign/sign/v1","zips":[],"outcome":{"code":"counts","text":"counts"}}],"evidence_error":null,"attached":[{"artifact_type":"application/vnd.dev.sigstore.bundle.v0.3+json","digest":"sha256:[DIGEST]","bytes":799,"files":[],"created":null}]}

    ----- stderr -----
    "#);
}

#[test]
fn a_refused_release_is_shown_with_the_reason() {
    let scene = Scene::published();
    scene.trust("");
    assert_snapshot!(scene.run(SHOW).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      created   unknown: the release names no time (a reproducible one has none)
      layout    artifact
      index     sha256:[DIGEST]
      protocol  not named
      signed    refused (unsigned): it is not signed

      darwin_arm64  324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64   323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
    scene.key("p384.pub");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    let said = scene.run(&format!("{SHOW} --key p384.pub")).success();
    assert!(said.stdout.contains("signed    refused ("), "{}", said.text);
}

/// `show` named no signature of a module and ignored the options about them.
#[test]
fn a_signed_module_was_shown_without_its_signature() {
    let scene = Scene::new();
    scene.context.write("module/main.tf", "variable \"name\" {}\n");
    scene.run("module push module REGISTRY/acme/network --version 1.0.0").success();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.key("p384.pub");
    scene.run("sign REGISTRY/acme/network:1.0.0 --key p256.pem").success();
    let show = "show REGISTRY/acme/network:1.0.0";
    assert_snapshot!(scene.run(show).text, @"
    exit code: 0
    ----- stdout -----
    module [REGISTRY]/acme/network 1.0.0
      place     [REGISTRY]/acme/network:1.0.0
      manifest  sha256:[DIGEST]
      signed    not checked: no key is known; name its publisher's with --key FILE, or in trust.toml
      found     bundle by sha256:[DIGEST] (as it
                says) was not checked; it says https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      attached  application/vnd.dev.sigstore.bundle.v0.3+json, 635 B;
                sha256:[DIGEST]

    ----- stderr -----
    ");
    let said = scene.run(&format!("{show} --key p256.pub")).success();
    assert!(said.stdout.contains("signed    by p256.pub\n"), "{}", said.text);
    let said = scene.run(&format!("{show} --key p384.pub --json")).success();
    assert_eq!(check(&said), ["module-release"]);
    assert_eq!(said.json()[0]["signatures"]["state"], json!("refused"), "{}", said.text);
    assert_eq!(said.json()[0]["evidence"].as_array().map(Vec::len), Some(1), "{}", said.text);
    assert_snapshot!(scene.refuse(&format!("{show} --platform linux_amd64")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --platform is for providers, and `[REGISTRY]/acme/network:1.0.0` is a module

    hint: omit it: a module has one package for all platforms
    ");
    // A repository alone: the newest, as of a provider.
    scene.run("module push module REGISTRY/acme/network --version 1.1.0").success();
    let said = scene.run("show REGISTRY/acme/network").success();
    assert!(said.text.contains("\nmodule [REGISTRY]/acme/network 1.1.0\n"), "{}", said.text);
    // What cannot be listed is said, and why.
    scene.registry.fault(Rule::on("GET", "*/referrers/*").then(Fault::status(403, "DENIED")));
    let said = scene.run(&format!("{show} --json")).success();
    let line = &said.json()[0];
    assert_eq!((line["attached"].is_null(), line["evidence_error"].is_object()), (true, true), "{}", said.text);
}

#[test]
fn one_platform_is_shown_with_all_its_checksums() {
    let scene = Scene::published();
    assert_snapshot!(scene.run(&format!("{SHOW} --platform linux_amd64")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      created   unknown: the release names no time (a reproducible one has none)
      layout    artifact
      index     sha256:[DIGEST]
      protocol  not named
      signed    no: there is no signature

      linux_amd64  323 B
        ch:sha256:[DIGEST]
        h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
        zh:[ZIP]

    ----- stderr -----
    ");
    assert_snapshot!(scene.refuse(&format!("{SHOW} --platform linux_arm")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 has no package for linux_arm
      cause: asked [REGISTRY]/acme/widget

    hint: this release offers darwin_arm64, linux_amd64
    ");
}

#[test]
fn a_repository_and_a_directory_name_the_provider_themselves() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.run(&format!("pack dist oci:layout --address {WIDGET} --layout both")).success();
    let first = |line: &str| {
        let said = scene.run(line).success();
        said.stdout.lines().take(2).map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let place = scene.registry.address();
    let named = |version: &str| format!("{WIDGET} {version}\n  place     {place}/acme/widget:{version}");
    assert_eq!(first("show REGISTRY/acme/widget:1.4.0"), named("1.4.0"));
    assert_eq!(first("show REGISTRY/acme/widget"), named("1.5.0"));
    assert_eq!(first(&format!("show {WIDGET} --from REGISTRY/acme/widget")), named("1.5.0"));
    assert_eq!(first(&format!("show '{WIDGET}@< 1.5' --from REGISTRY/acme/widget")), named("1.4.0"));
    assert_snapshot!(scene.run("show oci:layout:1.4.0").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     oci:layout (tag 1.4.0)
      created   unknown: the release names no time (a reproducible one has none)
      layout    both
      index     sha256:[DIGEST]
      protocol  not named
      signed    no: there is no signature

      darwin_arm64  324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64   323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
    let said = scene.run("show oci:layout").success();
    assert!(said.stdout.starts_with(&format!("{WIDGET} 1.4.0\n")), "{}", said.text);
}

#[test]
fn what_cannot_be_shown_is_an_error_that_says_what_it_is() {
    let scene = Scene::published();
    scene.image("2.0.0", &serde_json::Value::Null, "");
    assert_snapshot!(scene.refuse("show REGISTRY/acme/widget:3.0.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no version 3.0.0

    hint: it has 2.0.0, 1.4.0
    ");
    let said = scene.refuse("show REGISTRY/acme/other:1.0.0");
    assert!(said.contains("error: there is no repository [REGISTRY]/acme/other\n"), "{said}");
    assert_snapshot!(scene.refuse("show REGISTRY/acme/widget:1.4.0 --from REGISTRY/acme/widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/acme/widget:1.4.0` says where the release is, and --from does, too

    hint: name a provider beside --from: HOST/NAMESPACE/TYPE@VERSION
    hint: or leave --from out: tofu-oci show [REGISTRY]/acme/widget:1.4.0
    ");
    assert_snapshot!(scene.refuse(&format!("show '{WIDGET}@~> 3.0' --from REGISTRY/acme/widget")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no version in [REGISTRY]/acme/widget meets `~> 3.0`

    hint: it has 2.0.0, 1.4.0
    ");
    let image = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.manifest.v1+json", "{}");
    scene.registry.put_tag("acme/widget", "4.0.0", &image);
    assert_snapshot!(scene.refuse("show REGISTRY/acme/widget:4.0.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: version 4.0.0 in [REGISTRY]/acme/widget is not a release of a provider
      cause: this is a single manifest, not a provider release: expected an image index with a package for each platform

    hint: `tofu-oci check [REGISTRY]/acme/widget:4.0.0` says what it is, and what OpenTofu makes of it
    ");
}

#[test]
fn an_image_says_when_it_was_made_and_names_no_provider() {
    let scene = Scene::new();
    scene.image("1.0.0", &json!("provider_binary"), "2026-03-01T12:00:00.5Z");
    assert_snapshot!(scene.run("show REGISTRY/acme/widget:1.0.0").text, @"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget 1.0.0
      place     [REGISTRY]/acme/widget:1.0.0
      provider  not named by the release
      created   2026-03-01T12:00:00.5Z, by the word of the image of its first platform
      layout    image
      index     sha256:[DIGEST]
      protocol  not named
      signed    not judged: a signature names a provider, and the release does not

      linux_amd64  0 B  ch:sha256:[DIGEST]

    ----- stderr -----
    ");
    let said = scene.run("show REGISTRY/acme/widget:1.0.0 --json").success();
    let line = &said.json()[0];
    assert_eq!(check(&said), ["release"]);
    assert_eq!((&line["address"], &line["signatures"]), (&json!(null), &json!(null)));
    assert_eq!(line["created"], json!({"at": "2026-03-01T12:00:00.5Z", "by": "image-config"}));
}

#[test]
fn a_plain_image_is_an_error_that_says_what_it_lacks() {
    let scene = Scene::new();
    scene.image("1.0.0", &serde_json::Value::Null, "");
    assert_snapshot!(scene.refuse("show REGISTRY/acme/widget:1.0.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: version 1.0.0 in [REGISTRY]/acme/widget is not a release of a provider
      cause: this is a plain container image, not a provider package: its config has no label org.opentofu.package-type=provider_binary

    hint: `tofu-oci check [REGISTRY]/acme/widget:1.0.0` says what it is, and what OpenTofu makes of it
    ");
}

#[test]
fn a_nested_index_is_followed() {
    let scene = Scene::new();
    scene.image("1.0.0", &json!("provider_binary"), "");
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.0.0").expect("it was put there");
    let platform = json!({"os": "linux", "architecture": "amd64"});
    let entry =
        json!({"mediaType": media_type, "digest": Digest::sha256(&bytes), "size": bytes.len(), "platform": platform});
    let outer = json!({
        "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry],
        "annotations": {"org.opencontainers.image.created": "2026-04-01T00:00:00Z"},
    });
    let outer = scene.registry.put_manifest("acme/widget", INDEX, outer.to_string());
    scene.registry.put_tag("acme/widget", "1.1.0", &outer);
    let said = scene.run("show REGISTRY/acme/widget:1.1.0 --json").success();
    let line = &said.json()[0];
    assert_eq!((&line["layout"], &line["platforms"]), (&json!("image"), &json!(["linux_amd64"])));
    assert_eq!(line["created"], json!({"at": "2026-04-01T00:00:00Z", "by": "index"}));
    assert_eq!(line["packages"][0]["error"], json!(null));
}

#[test]
fn a_broken_package_does_not_hide_the_others() {
    let scene = Scene::published();
    let index: serde_json::Value =
        serde_json::from_slice(&scene.registry.manifest("acme/widget", "1.4.0").expect("published").1).expect("JSON");
    let leaf: Digest = index["manifests"][0]["digest"].as_str().expect("a digest").parse().expect("a digest");
    scene.registry.remove("acme/widget", &leaf);
    assert_snapshot!(scene.run(SHOW).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      created   unknown: the release names no time (a reproducible one has none)
      layout    artifact
      index     sha256:[DIGEST]
      protocol  not named
      signed    no: there is no signature

      darwin_arm64  cannot be installed: [REGISTRY]/acme/widget has no manifest sha256:[DIGEST]
      linux_amd64   323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
    assert_eq!(check(&scene.run(&format!("{SHOW} --json"))), ["release"]);
}

#[test]
fn signatures_that_cannot_be_asked_for_are_unknown_and_not_missing() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "/v2/*/referrers/*").then(Fault::status(500, "UNKNOWN")));
    scene.registry.fault(Rule::on("GET", "/v2/*/manifests/sha256-*").then(Fault::status(500, "UNKNOWN")));
    let said = scene.run(&format!("{SHOW} --attempts 1")).success();
    assert!(said.stdout.contains("\n  signed    unknown: "), "{}", said.text);
    assert_eq!(check(&scene.run(&format!("{SHOW} --attempts 1 --json"))), ["release"]);
}

#[test]
fn a_deprecated_release_says_so_and_a_withdrawn_one_says_why() {
    let scene = Scene::published();
    scene.deprecated("1.4.0", "use 1.5.0");
    scene.withdrawn("1.3.0", "it deletes data");
    let said = scene.run(SHOW).success();
    assert!(said.stdout.contains("\n  notice    deprecated by its publisher: use 1.5.0\n"), "{}", said.text);
    assert_eq!(check(&scene.run(&format!("{SHOW} --json"))), ["release"]);
    assert_snapshot!(scene.refuse(&SHOW.replace("1.4.0", "1.3.0")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.3.0 was withdrawn: it deletes data
      cause: asked [REGISTRY]/acme/widget

    hint: it has 1.4.0
    hint: if a lock file names 1.3.0, `tofu-oci install --upgrade --from [REGISTRY]/acme/widget` moves it to another version; if a constraint does, change that
    ");
    assert_snapshot!(scene.refuse("show REGISTRY/acme/widget:1.3.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: version 1.3.0 was withdrawn from [REGISTRY]/acme/widget
      cause: it deletes data

    hint: it has 1.4.0
    ");
}

#[test]
fn a_private_registry_shows_its_releases_to_those_with_a_login() {
    let scene = Scene::with(basic());
    scene.context.write_home(".docker/config.json", scene.auths().to_string());
    scene.publish("1.4.0");
    for line in [SHOW, "show REGISTRY/acme/widget:1.4.0", "versions REGISTRY/acme/widget --long"] {
        scene.run(line).success();
        assert!(scene.refuse(&format!("{line} --anonymous")).starts_with("exit code: 1"), "{line}");
    }
}

#[test]
fn a_platform_of_a_later_method_is_shown_with_its_place() {
    let scene = Scene::published_over_tls();
    ReleaseFolder::new("widget", "1.4.0", &["linux_arm"]).write_zips(&scene.path("other"));
    scene.run(&format!("push other REGISTRY/other/widget --address {WIDGET}")).success();
    scene.home_file(".tofurc", crate::cli_config::TWO_MIRRORS);
    let said = scene.run(&format!("show {WIDGET}@1.4.0 --platform linux_arm")).success();
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      created   unknown: the release names no time (a reproducible one has none)
      layout    artifact
      index     sha256:[DIGEST]
      protocol  not named
      signed    no: there is no signature

      linux_arm  321 B
        ch:sha256:[DIGEST]
        h1:7xi1Ts/bQh4Qye8WQu91SLuJv9Qp183rvhoriP/WL9w=
        zh:[ZIP]
        from [REGISTRY]/other/widget, since the first place lacks it

    ----- stderr -----
    ");
}
