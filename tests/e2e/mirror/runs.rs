//! What runs do and what they cost.

use insta::assert_snapshot;

use super::{HOST, Mirrored, PLATFORMS, TO, actions, summary};
use crate::requests::anonymous;
use crate::setup::{Scene, State};

const PROVIDERS: [&str; 5] = ["acme/zap", "acme/zip", "beta/net", "beta/disk", "beta/auth"];

#[test]
fn five_providers_are_mirrored_and_the_next_run_sends_nothing() {
    let mirrored = Mirrored::new();
    for provider in PROVIDERS {
        for version in ["1.0.0", "1.1.0", "2.0.0"] {
            mirrored.upstream.release(provider, version, &PLATFORMS);
        }
    }
    let addresses = PROVIDERS.map(|provider| format!("{HOST}/{provider}")).join(" ");
    let first = mirrored.mirror(&format!("{addresses} --json")).success();
    assert_eq!(summary(&first)["added"], 15, "{}", first.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "1.1.0", "2.0.0", "first-seen"]);
    // The original zips, and what signs them.
    let zip = mirrored.upstream.zip("beta/net", "2.0.0", "linux_arm64");
    let digest = tofu_oci_types::Digest::sha256(&zip);
    assert_eq!(mirrored.scene.registry.blob("m/beta/net", &digest), Some(zip));

    mirrored.scene.registry.clear_requests();
    let before = mirrored.upstream.requests().len();
    let second = mirrored.mirror(&format!("{addresses} --json")).success();
    assert_eq!(summary(&second)["present"], 15, "{}", second.text);
    assert_eq!(summary(&second)["bytes"], 0);
    let asked = mirrored.scene.conversation();
    assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");
    // Of each provider the tags and the record of sightings, and one index a version; one list upstream.
    assert_eq!(asked.iter().filter(|line| line.contains("/manifests/")).count(), 5 * (1 + 3), "{asked:#?}");
    assert_eq!(asked.iter().filter(|line| line.contains("/tags/list")).count(), 5, "{asked:#?}");
    let upstream: Vec<String> = mirrored.upstream.conversation().split_off(before);
    assert_eq!(upstream.len(), 5, "{upstream:#?}");
    assert!(upstream.iter().all(|line| line.contains("/versions")), "{upstream:#?}");

    let checked = mirrored.scene.run("check REGISTRY/m/acme/zap");
    assert_eq!(checked.code, Some(0), "{}", checked.text);
    mirrored.scene.run(&format!("install {HOST}/acme/zap --from REGISTRY/m/acme/zap --platform linux_amd64")).success();
}

/// Mirrors so many versions of acme/zap, each for one platform, into a registry that has none of it. Gives the conversation.
fn first_run(versions: usize) -> Vec<String> {
    let mirrored = Mirrored::new();
    for nth in 0..versions {
        mirrored.upstream.release("acme/zap", &format!("1.{nth}.0"), &PLATFORMS[..1]);
    }
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json")).success();
    assert_eq!(summary(&said)["added"], versions, "{}", said.text);
    mirrored.scene.conversation()
}

#[test]
fn the_tags_and_the_record_were_asked_for_and_written_whole_with_every_version() {
    let (few, more, most) = (first_run(1), first_run(4), first_run(8));
    let about = |asked: &[String], what: &str| asked.iter().filter(|line| line.contains(what)).count();
    for asked in [&few, &more, &most] {
        assert_eq!((about(asked, "/tags/list"), about(asked, "/manifests/first-seen")), (1, 4), "{asked:#?}");
    }
    // Each of them adds as many.
    let each = (most.len() - more.len()).div_ceil(4);
    assert!(each <= few.len() + 1, "{} {} {}", few.len(), more.len(), most.len());
}

#[test]
fn each_of_a_hundred_versions_takes_about_as_many_requests_as_each_of_ten() {
    let (ten, hundred) = (first_run(10).len(), first_run(100).len());
    assert!(hundred <= 11 * ten, "{ten} {hundred}");
}

#[test]
fn a_first_release_took_45_requests() {
    let mirrored = Mirrored::with(tofu_oci_testkit::Registry::builder());
    mirrored.upstream.release("acme/zap", "1.0.0", &PLATFORMS[..1]);
    mirrored.mirror(&format!("{HOST}/acme/zap --jobs 1")).success();
    let upstream = mirrored.upstream.conversation();
    let zips: Vec<&str> = upstream.iter().filter(|line| line.contains(".zip")).map(|line| &line[..4]).collect();
    assert_eq!(zips, ["GET "], "the answer that brings the zip says its size");
    let all = mirrored.scene.conversation().len() + upstream.len();
    assert!(all <= 31, "{all} {upstream:#?}");
    // Of a signed release there are six blobs and four manifests. Whatever others may write at the same time is looked at before it is
    // written, and a tag after it.
    assert_snapshot!(anonymous(&mirrored.scene), @"
    GET /v2/m/acme/zap/tags/list -> 404
    POST /v2/m/acme/zap/blobs/uploads/ -> 202
    PUT /v2/m/acme/zap/blobs/uploads/[SESSION] -> 201
    HEAD /v2/m/acme/zap/manifests/first-seen -> 404
    PUT /v2/m/acme/zap/manifests/first-seen -> 201
    POST /v2/m/acme/zap/blobs/uploads/ -> 202
    PUT /v2/m/acme/zap/blobs/uploads/[SESSION] -> 201
    POST /v2/m/acme/zap/blobs/uploads/ -> 202
    PUT /v2/m/acme/zap/blobs/uploads/[SESSION] -> 201
    PUT /v2/m/acme/zap/manifests/sha256:[DIGEST] -> 201
    PUT /v2/m/acme/zap/manifests/sha256:[DIGEST] -> 201
    POST /v2/m/acme/zap/blobs/uploads/ -> 202
    PUT /v2/m/acme/zap/blobs/uploads/[SESSION] -> 201
    POST /v2/m/acme/zap/blobs/uploads/ -> 202
    PUT /v2/m/acme/zap/blobs/uploads/[SESSION] -> 201
    POST /v2/m/acme/zap/blobs/uploads/ -> 202
    PUT /v2/m/acme/zap/blobs/uploads/[SESSION] -> 201
    PUT /v2/m/acme/zap/manifests/sha256:[DIGEST] -> 201
    GET /v2/m/acme/zap/manifests/sha256-[DIGEST] -> 404
    PUT /v2/m/acme/zap/manifests/sha256-[DIGEST] -> 201
    GET /v2/m/acme/zap/manifests/sha256-[DIGEST] -> 200
    HEAD /v2/m/acme/zap/manifests/1.0.0 -> 404
    PUT /v2/m/acme/zap/manifests/1.0.0 -> 201
    HEAD /v2/m/acme/zap/manifests/1.0.0 -> 200
    HEAD /v2/m/acme/zap/manifests/first-seen -> 200
    PUT /v2/m/acme/zap/manifests/first-seen -> 201
    ");

    mirrored.scene.registry.clear_requests();
    mirrored.upstream.release("acme/zap", "1.1.0", &PLATFORMS[..1]);
    mirrored.mirror(&format!("{HOST}/acme/zap --jobs 1")).success();
    assert_eq!(mirrored.scene.conversation().len(), 34);
}

#[test]
fn a_plan_says_what_a_run_would_do_and_changes_nothing() {
    let mirrored = Mirrored::with_zap();
    let before = State::of(&mirrored.scene);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0 --plan")).success();
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    provider                        version  would be
    registry.example.test/acme/zap  1.1.0    added for darwin_arm64 linux_amd64, 629 B

    plan: 1 added; about 629 B to send. Nothing was changed

    ----- stderr -----
    ");
    assert_eq!(State::of(&mirrored.scene), before);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0")).success();
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    provider                        version  report
    registry.example.test/acme/zap  1.1.0    added for darwin_arm64 linux_amd64, 6.3 kB

    1 added; 6.3 kB sent

    ----- stderr -----
    zap 1.1.0 darwin_arm64: pushed (315 B)
    zap 1.1.0 linux_amd64: pushed (314 B)
    ");
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --plan")).success();
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    provider                        version  would be
    registry.example.test/acme/zap  1.0.0    added for darwin_arm64 linux_amd64, 629 B

    plan: 1 added, 1 there already; about 629 B to send. Nothing was changed

    ----- stderr -----
    ");
}

/// The plan counted the package of one layout and platform, and the run copied the whole release.
#[test]
fn a_plan_counts_all_that_a_copy_of_a_repository_moves() {
    let scene = Scene::with_dist();
    scene.run("push dist REGISTRY/acme/widget --address registry.example.com/acme/widget --layout both").success();
    let line =
        "mirror registry.example.com/acme/widget --from REGISTRY/acme/widget --to oci:copy --platform linux_amd64";
    let planned = scene.run(&format!("{line} --plan --json")).success();
    let carried = scene.run(&format!("{line} --json")).success();
    assert_eq!(summary(&planned)["bytes"], summary(&carried)["bytes"], "{}", planned.text);
    for said in [planned, carried] {
        assert!(said.text.contains("1.4.0 is copied whole, with darwin_arm64"), "{}", said.text);
    }
}

#[test]
fn a_layout_for_each_provider_is_written_below_a_folder() {
    let mirrored = Mirrored::with_zap();
    mirrored.scene.run(&format!("mirror {HOST}/acme/zap --latest 1 --to oci:tree")).success();
    let said = mirrored.scene.run(&format!("versions oci:tree/{HOST}/acme/zap")).success();
    assert!(said.stdout.contains("1.1.0") && !said.stdout.contains("1.0.0"), "{}", said.text);
    // A tree lists its providers, so a pattern can name them.
    mirrored.rules("sources = [\"oci:tree\"]\n[[provider]]\npattern = \"HOST/acme/*\"\n");
    let said = mirrored.mirror("--json").success();
    assert_eq!(actions(&said)["zap 1.1.0"], "add", "{}", said.text);
}

#[test]
fn a_bundle_lists_its_providers_so_a_pattern_can_name_them() {
    let mirrored = Mirrored::with_zap();
    mirrored.scene.run(&format!("bundle create carried.tar {HOST}/acme/zap@1.1.0")).success();
    mirrored.rules("sources = [\"bundle:carried.tar\"]\n[[provider]]\npattern = \"HOST/acme/*\"\n");
    let said = mirrored.mirror("--json").success();
    assert_eq!(actions(&said)["zap 1.1.0"], "add", "{}", said.text);
}

#[test]
fn more_platforms_widen_what_the_mirror_put_there_and_nothing_else() {
    let mirrored = Mirrored::with_zap();
    let zap = format!("{HOST}/acme/zap@1.1.0");
    mirrored.mirror(&format!("{zap} --platform linux_amd64")).success();
    let said = mirrored.mirror(&format!("{zap} --json")).success();
    assert_eq!(actions(&said)["zap 1.1.0"], "widen", "{}", said.text);
    let said = mirrored.mirror(&format!("{zap} --json")).success();
    assert_eq!(actions(&said)["zap 1.1.0"], "present", "{}", said.text);
}

#[test]
fn a_configuration_says_what_it_uses() {
    let mirrored = Mirrored::with_zap();
    let require =
        format!("terraform {{\n  required_providers {{\n    zap = {{ source = \"{HOST}/acme/zap\" }}\n  }}\n}}\n");
    mirrored.scene.context.write("infra/main.tf", require);
    mirrored
        .scene
        .context
        .write("infra/.terraform.lock.hcl", format!("provider \"{HOST}/acme/zap\" {{\n  version = \"1.0.0\"\n}}\n"));
    // The locked version is in use already, so it is not held back.
    let said = mirrored.mirror("--from-config infra --min-age 7d --json").success();
    assert_eq!(actions(&said).into_iter().collect::<Vec<_>>(), [("zap 1.0.0".to_owned(), "add".to_owned())]);
}

#[test]
fn two_mirrors_at_once_end_with_the_same() {
    let mirrored = Mirrored::with_zap();
    let line = format!("mirror {HOST}/acme/zap {TO} --json");
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = mirrored.scene.command(&line);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "1.1.0", "first-seen"]);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json")).success();
    assert_eq!(summary(&said)["present"], 2, "{}", said.text);
}

#[test]
fn what_is_mirrored_is_signed_with_the_key_of_the_team() {
    let mirrored = Mirrored::with_zap();
    mirrored.scene.key("p256.pem");
    mirrored.scene.key("p256.pub");
    mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0 --sign-key p256.pem")).success();
    let said = mirrored.scene.run("verify REGISTRY/m/acme/zap:1.1.0 --key p256.pub");
    assert_eq!(said.code, Some(0), "{}", said.text);
}

#[test]
fn a_printed_policy_is_accepted() {
    let mirrored = Mirrored::with_zap();
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --print-trust")).success();
    mirrored.scene.context.write("trust.toml", &said.stdout);
    mirrored.mirror(&format!("{HOST}/acme/zap")).success();
    let said = mirrored.scene.run("verify REGISTRY/m/acme/zap:1.1.0");
    assert_eq!(said.code, Some(0), "{}", said.text);
    // Another key signs the next release: the policy refuses it.
    let other = tofu_oci_testkit::ScratchOpenPgpKey::of(2);
    mirrored.upstream.sign_with(&other);
    mirrored.upstream.name_keys(&[&other]);
    mirrored.upstream.release("acme/zap", "1.2.0", &PLATFORMS[..2]);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json"));
    assert_eq!((said.code, actions(&said)["zap 1.2.0"].as_str()), (Some(1), "failed"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "1.1.0", "first-seen"]);
}

#[test]
fn keys_that_are_not_known_ended_a_printed_policy_without_a_word() {
    let mirrored = Mirrored::with_zap();
    let said = mirrored.mirror(&format!("{HOST}/acme/zap {HOST}/acme/absent --print-trust"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("\n[[rule]]\nproviders = [\"registry.example.test/acme/zap\"]"), "{}", said.text);
    insta::assert_snapshot!(said.stderr, @"
    error: the keys of registry.example.test/acme/absent are not known
      cause: registry.example.test/acme/absent: no such provider

    hint: check the name; `tofu-oci resolve registry.example.test/acme/absent --explain` says where it is looked for
    ");
    let said = mirrored.scene.refuse(&format!("mirror {HOST}/acme/zap --print-trust --json {TO}"));
    assert!(said.contains("error: the argument '--print-trust' cannot be used with '--json'"), "{said}");
}

/// It printed a policy of comments alone, and nothing of the signatures.
#[test]
fn a_release_with_cosign_signatures_alone_prints_no_policy() {
    let scene = Scene::with_dist();
    let print = "mirror registry.example.com/acme/widget --from REGISTRY/acme/widget --print-trust";
    scene.run("push dist REGISTRY/acme/widget --address registry.example.com/acme/widget --sums skip").success();
    let said = scene.run(print);
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the keys of registry.example.com/acme/widget are not known
      cause: registry.example.com/acme/widget: its newest version has no signature, and no key

    hint: a rule with `unsigned = "allow"` takes it; see `tofu-oci help trust-policy`
    "#);
    scene.key("p256.pem");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    let said = scene.run(print);
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the keys of registry.example.com/acme/widget are not known
      cause: registry.example.com/acme/widget: its newest version carries no key; it has signatures by the cosign key sha256:[DIGEST]

    hint: get the key from the publisher, and write it as a [[key]], or a certificate's signer as an [[identity]]; `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget` shows the signatures, `tofu-oci help trust-policy` the file
    ");
}

/// Its SHA256SUMS has a signature, and no key beside it.
#[test]
fn a_signature_of_checksums_without_its_key_was_not_seen() {
    let scene = Scene::new();
    tofu_oci_testkit::ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let signature = include_bytes!("../../../testdata/trust/gpg/ed25519.sig");
    scene.context.write("dist/terraform-provider-widget_1.4.0_SHA256SUMS.sig", signature);
    scene.run("push dist REGISTRY/acme/widget --address registry.example.com/acme/widget").success();
    let said = scene.run("mirror registry.example.com/acme/widget --from REGISTRY/acme/widget --print-trust");
    assert!(
        said.stderr.contains("its newest version carries no key; it has signatures by the OpenPGP key "),
        "{}",
        said.text
    );
}

#[test]
fn two_providers_with_one_destination_had_no_printed_policy() {
    let mirrored = Mirrored::with_zap();
    mirrored.upstream.release("other/zap", "1.0.0", &PLATFORMS[..1]);
    let print = format!("mirror {HOST}/acme/zap {HOST}/other/zap --print-trust --to 'REGISTRY/m/${{type}}'");
    let said = mirrored.scene.run(&print).success();
    assert!(said.stdout.contains("/acme/zap\", \"registry.example.test/other/zap\"]"), "{}", said.text);
}

#[test]
fn a_provider_whose_versions_are_all_denied_was_called_unsigned() {
    let mirrored = Mirrored::with_zap();
    mirrored.rules("deny = [\"HOST/acme/zap\"]\n\n[[provider]]\naddress = \"HOST/acme/zap\"\n");
    let said = mirrored.mirror("--print-trust");
    assert_snapshot!(said.stderr, @"
    error: the keys of registry.example.test/acme/zap are not known
      cause: registry.example.test/acme/zap: the rules keep out all of its versions

    hint: `deny` and `allow` of mirror.toml say which versions are mirrored
    ");
}

#[test]
fn keys_were_printed_only_with_a_destination_whatever_the_constraint_and_the_network() {
    let Mirrored { scene, upstream } = Mirrored::with_zap();
    let said = scene.run(&format!("mirror {HOST}/acme/zap --print-trust")).success();
    assert!(said.stdout.contains("\n[[rule]]\nproviders = [\"registry.example.test/acme/zap\"]"), "{}", said.text);
    assert_eq!(said.stdout, scene.run(&format!("mirror {HOST}/acme/zap --print-trust {TO}")).success().stdout);
    let asked = |line: &str| {
        let before = upstream.conversation().len();
        scene.run(&format!("mirror '{HOST}/acme/zap{line}' --print-trust")).success();
        upstream.conversation().split_off(before).concat()
    };
    let newest = asked("");
    assert!(newest.contains("/1.1.0/") && !newest.contains("/1.0.0/"), "{newest}");
    let admitted = asked("@~> 1.0.0");
    assert!(admitted.contains("/1.0.0/") && !admitted.contains("/1.1.0/"), "{admitted}");
    let said = scene.run(&format!("mirror '{HOST}/acme/zap@~> 5' --print-trust"));
    insta::assert_snapshot!(said.stderr, @"
    error: the keys of registry.example.test/acme/zap are not known
      cause: registry.example.test/acme/zap has no version that meets `~> 5.0`

    hint: it has 1.1.0, 1.0.0
    ");
    assert_eq!(said.code, Some(1), "{}", said.text);
    drop(upstream);
    let said = scene.run(&format!("mirror {HOST}/acme/zap --print-trust --attempts 1"));
    assert_eq!(said.code, Some(3), "{}", said.text);
}
