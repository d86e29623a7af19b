//! `verify`: who has signed a release, and what that is worth.

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::setup::{Scene, WIDGET};

pub(crate) const VERIFY: &str = "verify registry.example.com/acme/widget@1.4.0 --from REGISTRY/acme/widget";
pub(crate) const PINS: &str = ".tofu-oci.pins.json";

/// Widget 1.4.0, published and not signed, and a private key.
fn unsigned() -> Scene {
    let scene = Scene::published();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.key("p384.pub");
    scene
}

/// The same, signed by `p256.pem`.
pub(crate) fn signed() -> Scene {
    let scene = unsigned();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    scene.registry.clear_requests();
    scene
}

/// A policy whose only key is called `acme`.
pub(crate) fn policy(scene: &Scene, file: &str, rule: &str) {
    let text = format!(
        "[[key]]\nname = \"acme\"\nfile = \"{file}\"\n\n\
         [[rule]]\nproviders = [\"registry.example.com/*/*\"]\nkeys = [\"acme\"]\n{rule}"
    );
    scene.context.write("trust.toml", text);
}

#[test]
fn a_signature_by_a_key_of_the_policy_is_told_with_all_it_says() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.run(VERIFY).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:5: one of acme; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     bundle by acme (sha256:[DIGEST])
                counts; it names registry.example.com/acme/widget 1.4.0; it says
                https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      result    signed by acme

    ----- stderr -----
    ");
    assert!(!scene.path(PINS).exists(), "nothing is remembered without --accept");
}

#[test]
fn a_key_of_the_command_line_stands_for_the_policy() {
    let scene = signed();
    let said = scene.run(&format!("{VERIFY} --key p256.pub"));
    assert!(said.success().stdout.contains("signed by p256.pub"));
    assert_snapshot!(scene.refuse(&format!("{VERIFY} --key p384.pub")), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      the keys of the command line: one of p384.pub; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     bundle by sha256:[DIGEST] (as it
                says) is by a key that is not one of yours, or it was damaged; it names
                registry.example.com/acme/widget 1.4.0; it says https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      result    refused (unknown-key): it is signed by
                sha256:[DIGEST], which is not
                one of your keys

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is signed by sha256:[DIGEST], which is not one of your keys
      cause: it came from [REGISTRY]/acme/widget

    hint: name its publisher's key with --key: the one that was named did not sign it
    ");
}

#[test]
fn an_unsigned_release_is_no_success_also_where_the_policy_lets_it_in() {
    let scene = unsigned();
    assert_snapshot!(scene.refuse(VERIFY), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      the default, as there is no trust.toml: no keys but those that are pinned; unsigned =
                allow; must say https://sigstore.dev/cosign/sign/v1
      found     no signature
      result    not signed; the policy demands no signature

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not signed by a key of yours
      cause: the policy demands no signature, so `install` takes it

    hint: name its publisher's public key: --key FILE, or a [[key]] and a [[rule]] in trust.toml
    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    ");
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.refuse(VERIFY), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:5: one of acme; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     no signature
      result    refused (unsigned): it is not signed

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is not signed
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:5, the rule for registry.example.com/*/*, demands a signature by acme

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    ");
}

#[test]
fn a_signature_by_a_key_that_nobody_has_named_is_not_called_unsigned() {
    let scene = signed();
    let said = scene.refuse(VERIFY);
    let said = said.split_once("  result ").map_or("", |(_, rest)| rest);
    assert_snapshot!(said, @"
       it is signed by sha256:[DIGEST],
                which is not one of your keys; the policy demands no signature

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is signed by sha256:[DIGEST], which is not one of your keys
      cause: the policy demands no signature, so `install` takes it

    hint: if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule
    hint: --key FILE judges by a public key without trust.toml
    ");
}

#[test]
fn a_good_signature_of_another_provider_is_refused() {
    let scene = signed();
    policy(&scene, "p256.pub", "unsigned = \"allow\"\n");
    let other = VERIFY.replace("acme/widget@", "evil/widget@");
    let text = scene.refuse(&other);
    assert!(text.contains("refused (other-provider)"), "{text}");
}

#[test]
fn a_moved_tag_is_refused_until_it_is_accepted() {
    let scene = unsigned();
    scene.run(&format!("{VERIFY} --accept")).success();
    let pins = scene.context.read(PINS);
    let index = pins.find("sha256:").expect("an index");
    let moved = pins.replace(&pins[index..index + 71], &format!("sha256:{}", "0".repeat(64)));
    scene.context.write(PINS, moved);
    assert_snapshot!(scene.refuse(VERIFY), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      the default, as there is no trust.toml: no keys but those that are pinned; unsigned =
                allow; must say https://sigstore.dev/cosign/sign/v1
      pinned    sha256:[DIGEST], unsigned
      found     no signature
      result    refused (moved-tag): the version has moved: it was
                sha256:[DIGEST] before, and is
                sha256:[DIGEST] now

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: the version has moved: it was sha256:[DIGEST] before, and is sha256:[DIGEST] now
      cause: it came from [REGISTRY]/acme/widget

    hint: somebody has pushed another release under the same version; ask its publisher why
    hint: if it was moved on purpose: tofu-oci verify registry.example.com/acme/widget@1.4.0 --accept --from [REGISTRY]/acme/widget
    ");
    scene.run(&format!("{VERIFY} --accept")).success();
    assert_eq!(scene.context.read(PINS), pins);
}

#[test]
fn what_was_signed_stays_signed_when_signature_and_policy_are_gone() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    scene.run(&format!("{VERIFY} --accept")).success();
    std::fs::remove_file(scene.path("trust.toml")).expect("the policy");
    assert!(scene.run(VERIFY).success().stdout.contains("signed by acme"));
    let elsewhere = VERIFY.replace("REGISTRY/acme/widget", "REGISTRY/mirror/widget");
    scene.dist("again", "1.4.0");
    scene.run(&format!("push again REGISTRY/mirror/widget --address {WIDGET}")).success();
    assert!(scene.run(&elsewhere).success().stdout.contains("trusted as before"));
    scene.publish("1.5.0");
    let text = scene.refuse(&VERIFY.replace("1.4.0", "1.5.0"));
    assert!(text.contains("refused (was-signed)"), "{text}");
}

#[test]
fn what_the_policy_refuses_all_the_same_is_not_accepted() {
    let scene = unsigned();
    scene.run(&format!("{VERIFY} --accept")).success();
    let pins = scene.context.read(PINS);
    let index = pins.find("sha256:").expect("an index");
    let moved = pins.replace(&pins[index..index + 71], &format!("sha256:{}", "0".repeat(64)));
    scene.context.write(PINS, &moved);
    policy(&scene, "p256.pub", "");
    let text = scene.refuse(&format!("{VERIFY} --accept"));
    assert!(text.contains("exit code: 1") && text.contains("nothing is remembered"), "{text}");
    assert_eq!(scene.context.read(PINS), moved);
}

/// What a rule refuses is answered by the rule: no hint leads back to where the user comes from.
#[test]
fn what_a_rule_refuses_names_the_rule_and_never_advises_accepting() {
    let scene = unsigned();
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.refuse(&format!("{VERIFY} --accept")), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:5: one of acme; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     no signature
      result    refused (unsigned): it is not signed

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is not signed
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:5, the rule for registry.example.com/*/*, demands a signature by acme

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    hint: --accept never overrides a rule of the policy: nothing is remembered
    ");
    // The provider was signed, and this release is not.
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    scene.run(&format!("{VERIFY} --accept")).success();
    scene.publish("1.5.0");
    let next = VERIFY.replace("1.4.0", "1.5.0");
    let install = "install registry.example.com/acme/widget@1.5.0 --from REGISTRY/acme/widget --platform linux_amd64";
    for line in [&next, &format!("{next} --accept"), install] {
        let text = scene.refuse(line);
        let rule = "cause: trust.toml:5, the rule for registry.example.com/*/*, demands a signature by acme\n";
        assert!(text.contains("refused (was-signed)") || text.contains("this provider was signed by acme"), "{text}");
        assert!(text.contains(rule), "{text}");
        let hints: Vec<&str> = text.lines().filter(|line| line.starts_with("hint: ")).collect();
        assert!(hints.iter().all(|hint| !hint.contains("verify") || !hint.contains("--accept")), "{hints:?}");
        assert!(!text.contains("unsigned = \"warn\""), "{text}");
    }
    // A rule without keys demands those of the pins.
    let rule = "[[rule]]\nproviders = [\"registry.example.com/acme/widget\"]\nunsigned = \"refuse\"\n";
    scene.context.write("trust.toml", rule);
    let text = scene.refuse(&format!("{next} --accept"));
    assert!(text.contains("trust.toml:1, the rule for registry.example.com/acme/widget, demands"), "{text}");
    // Without a rule accepting helps, and is advised.
    std::fs::remove_file(scene.path("trust.toml")).expect("the policy");
    assert!(scene.refuse(&next).contains("--accept"), "it can be accepted");
    scene.run(&format!("{next} --accept")).success();
}

#[test]
fn a_moved_tag_that_a_rule_refuses_all_the_same_names_the_rule() {
    let scene = unsigned();
    scene.run(&format!("{VERIFY} --accept")).success();
    let pins = scene.context.read(PINS);
    let index = pins.find("sha256:").expect("an index");
    scene.context.write(PINS, pins.replace(&pins[index..index + 71], &format!("sha256:{}", "0".repeat(64))));
    scene.context.write(
        "policy/rules.toml",
        "[[key]]\nname = \"acme\"\nfile = \"../p256.pub\"\n\n[[key]]\nname = \"backup\"\nfile = \"../p384.pub\"\n\n\
         [[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"acme\", \"backup\"]\nthreshold = 2\n",
    );
    assert_snapshot!(scene.refuse(&format!("{VERIFY} --accept --trust-policy policy/rules.toml")), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      policy/rules.toml:9: 2 of acme, backup; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      pinned    sha256:[DIGEST], unsigned
      found     no signature
      warning   it is not signed
      result    refused (moved-tag): the version has moved: it was
                sha256:[DIGEST] before, and is
                sha256:[DIGEST] now

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: the version has moved: it was sha256:[DIGEST] before, and is sha256:[DIGEST] now
      cause: it came from [REGISTRY]/acme/widget
      cause: policy/rules.toml:9, the rule for */*/*, demands signatures by 2 of acme, backup

    hint: somebody has pushed another release under the same version; ask its publisher why
    hint: if it was moved on purpose, its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    hint: --accept never overrides a rule of the policy: nothing is remembered
    ");
}

#[test]
fn an_accepted_unsigned_release_does_not_free_later_ones() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    scene.run(&format!("{VERIFY} --accept")).success();
    std::fs::remove_file(scene.path("trust.toml")).expect("the policy");
    scene.publish("1.5.0");
    let next = VERIFY.replace("1.4.0", "1.5.0");
    scene.run(&format!("{next} --accept")).success();
    assert!(scene.run(&next).text.contains("accepted by hand"));
    scene.publish("1.6.0");
    let text = scene.refuse(&VERIFY.replace("1.4.0", "1.6.0"));
    assert!(text.contains("refused (was-signed)"), "{text}");
}

#[test]
fn a_fault_of_a_policy_was_printed_twice() {
    let scene = signed();
    scene.context.write("trust.toml", "[[identity]]\nname = \"ci\"\nrepository = \"github.com/acme\"\n");
    let said = scene.refuse(VERIFY);
    assert_eq!(said.matches("must be HOST/OWNER/REPOSITORY").count(), 1, "{said}");
}

#[test]
fn a_policy_that_is_wrong_is_shown_with_its_line_before_any_request() {
    let scene = signed();
    policy(&scene, "p256.pub", "unsignd = \"allow\"\n");
    assert_snapshot!(scene.refuse(VERIFY), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown field `unsignd`, expected one of `providers`, `modules`, `keys`, `threshold`, `predicate_types`, `slsa`, `unsigned`, `unnamed`, `moved_tags`, `expired_keys`, `manifest_checksums`
      --> trust.toml:8:1
      |
    8 | unsignd = "allow"
      | ^^^^^^^

    hint: every member of the file: tofu-oci help trust-policy
    "#);
    policy(&scene, "lost.pub", "");
    assert_snapshot!(scene.refuse(VERIFY), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the key file lost.pub cannot be read
      --> trust.toml:3:8
      |
    3 | file = "lost.pub"
      |        ^^^^^^^^^^
      cause: No such file or directory (os error [N])

    hint: a key file's path is relative to the policy file
    hint: every member of the file: tofu-oci help trust-policy
    "#);
    policy(&scene, "p256.pem", "");
    assert!(scene.refuse(VERIFY).contains("private key"));
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_broken_pin_file_is_never_passed_over() {
    let scene = signed();
    scene.context.write(PINS, "{}");
    assert_snapshot!(scene.refuse(&format!("{VERIFY} --key p256.pub")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: .tofu-oci.pins.json: line 1, column 2: missing field `version`

    hint: take the file back from version control
    hint: without it, what was trusted before would be forgotten, so it is never passed over
    ");
    assert!(scene.refuse(&format!("{VERIFY} --key p256.pub --accept")).contains("exit code: 2"));
}

#[test]
fn without_a_version_the_locked_one_is_meant() {
    let scene = signed();
    let line = VERIFY.replace("@1.4.0", "");
    assert_snapshot!(scene.refuse(&format!("{line} --key p256.pub")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: no version of registry.example.com/acme/widget is named, and the lock file has none

    hint: if registry.example.com/acme/widget is a repository: registry.example.com/acme/widget:VERSION; `tofu-oci module versions oci://registry.example.com/acme/widget` lists those of a module
    hint: if it is a provider, name a version: registry.example.com/acme/widget@VERSION
    hint: `tofu-oci versions registry.example.com/acme/widget --from [REGISTRY]/acme/widget` lists those of the provider
    ");
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    assert!(scene.run(&format!("{line} --key p256.pub")).success().stdout.contains("widget 1.4.0\n"));
    assert_snapshot!(scene.refuse(&VERIFY.replace("@1.4.0", "@~>1.4")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `~> 1.4` is a constraint, and one exact version is wanted

    hint: name one exact version, such as registry.example.com/acme/widget@1.4.0
    hint: `tofu-oci versions registry.example.com/acme/widget --from [REGISTRY]/acme/widget` lists them
    ");
}

#[test]
fn without_a_provider_every_locked_release_is_verified() {
    let scene = signed();
    let line = "verify --from REGISTRY/acme/${type}";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: no release is named, and no lock file here has one

    hint: name one: tofu-oci verify ADDR@VERSION --from '[REGISTRY]/acme/${type}'
    hint: or work in the folder of a lock file: --chdir DIR
    ");
    ReleaseFolder::new("gadget", "0.3.1", &["linux_amd64"]).write_zips(&scene.path("gadget"));
    scene.run("push gadget REGISTRY/acme/gadget --address registry.example.com/acme/gadget").success();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    assert!(scene.run(&format!("{line} --key p256.pub")).success().stdout.starts_with(&format!("{WIDGET} 1.4.0\n")));
    let gadget = "registry.example.com/acme/gadget";
    scene.run(&format!("install {gadget} --from REGISTRY/acme/gadget --platform linux_amd64")).success();
    let said = scene.run(&format!("{line} --key p256.pub"));
    assert_snapshot!(said.text.split_once("----- stderr -----").map_or("", |(_, stderr)| stderr), @"

    error: registry.example.com/acme/gadget 0.3.1 is not trusted: it is not signed
      cause: it came from [REGISTRY]/acme/gadget

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/gadget:0.3.1 --key KEY
    error: 1 of 2 locked releases could not be verified
      cause: registry.example.com/acme/gadget 0.3.1
    ");
    assert_eq!((said.code, said.stdout.matches("\n  result ").count()), (Some(1), 2), "{}", said.text);
    let lines = scene.run(&format!("{line} --key p256.pub --json")).json();
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events, ["verified", "error", "verified", "error"]);
    assert_eq!(scene.run(&format!("{line} --accept")).code, Some(2));
}

#[test]
fn one_line_has_everything_for_programs() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.run(&format!("{VERIFY} --json")).text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"verified","kind":"provider","address":"registry.example.com/acme/widget","version":"1.4.0","place":"[REGISTRY]/acme/widget","tag":"1.4.0","index":"sha256:[DIGEST]","standing":"signed","trusted":true,"refusal":null,"covered":{"index":true,"platforms":{"darwin_arm64":true,"linux_amd64":true}},"missing":[],"missing_count":0,"signers":[{"name":"acme","key":"sha256:[DIGEST]","forms":["bundle"],"zips":null}],"evidence":[{"form":"bundle","origin":"sha256:[DIGEST]","key":"sha256:[DIGEST]","key_name":"acme","claimed_key":"sha256:[DIGEST]","address":"registry.example.com/acme/widget","version":"1.4.0","predicate_type":"https://sigstore.dev/cosign/sign/v1","zips":[],"outcome":{"code":"counts","text":"counts"}}],"policy":{"origin":"file","file":"trust.toml","line":5,"keys":["acme"],"threshold":1,"predicate_types":["https://sigstore.dev/cosign/sign/v1"],"unsigned":"refuse","unnamed":"refuse","moved_tags":"refuse","expired_keys":"warn","manifest_checksums":"optional"},"pin":null,"accepted":null,"remarks":[]}

    ----- stderr -----
    "#);
}
