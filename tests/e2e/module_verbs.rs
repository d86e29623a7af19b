//! `copy`, `sign`, `verify`, `withdraw` and `deprecate` of modules.

use std::process::Stdio;

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion, Fault, Registry, RequestHead, Rule};

use crate::json::check;
use crate::setup::{Said, Scene, State};

const AT: &str = "REGISTRY/acme/network";

impl Scene {
    /// Publishes a module with one file at a place.
    pub(crate) fn push_module(&self, place: &str, version: &str, options: &str) -> Said {
        self.context.write(&format!("network-{version}/main.tf"), format!("# {version}\n"));
        self.run(&format!("module push network-{version} {place} --version {version} {options}")).success()
    }

    /// An empty folder and a registry that deletes tags.
    pub(crate) fn deleting() -> Self {
        let behaviour = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
        Self::with(Registry::builder().behaviour(behaviour))
    }

    /// With the versions 1.4.0 and 1.5.0 of a module.
    pub(crate) fn with_network() -> Self {
        let scene = Self::deleting();
        scene.push_module(AT, "1.4.0", "");
        scene.push_module(AT, "1.5.0", "");
        scene
    }

    /// A rule for every module: the key of this file must have signed it.
    pub(crate) fn demand_module_key(&self, key: &str) {
        let text =
            format!("[[key]]\nname = \"acme\"\nfile = \"{key}\"\n\n[[rule]]\nmodules = [\"*\"]\nkeys = [\"acme\"]\n");
        self.context.write("trust.toml", text);
    }

    pub(crate) fn tags_of(&self, repository: &str) -> Vec<String> {
        let tags = self.registry.tags(repository).into_iter().map(|(tag, _)| tag);
        tags.filter(|tag| !tag.starts_with("sha256-")).collect()
    }
}

#[test]
fn a_withdrawn_module_goes_and_comes_back() {
    let scene = Scene::with_network();
    let withdraw = "withdraw REGISTRY/acme/network:1.4.0 --reason 'opens port 22; use 1.5.0'";
    let before = State::of(&scene);
    assert_snapshot!(scene.run(&format!("{withdraw} --dry-run")).text, @"
    exit code: 0
    ----- stdout -----
    would withdraw the module 1.4.0 from [REGISTRY]/acme/network: opens port 22; use 1.5.0
      manifest sha256:[DIGEST]
      would keep the content at [REGISTRY]/acme/network:withdrawn-1.4.0 and delete the tag 1.4.0
      whether [REGISTRY]/acme/network lets a tag be deleted shows when it is done

    ----- stderr -----
    ");
    assert_eq!(State::of(&scene), before);
    let digest = scene.tag("acme/network", "1.4.0");
    assert_snapshot!(scene.run(withdraw).text, @"
    exit code: 0
    ----- stdout -----
    withdrew the module 1.4.0 from [REGISTRY]/acme/network: opens port 22; use 1.5.0
      manifest sha256:[DIGEST]
      notice sha256:[DIGEST], not signed
      the tag 1.4.0 is gone: no client can choose this version
      the content stays at [REGISTRY]/acme/network:withdrawn-1.4.0; --undo brings it back
      consumers read the reason from `module pull`; OpenTofu itself still takes it by its digest

    ----- stderr -----
    ");
    assert_eq!(scene.tags_of("acme/network"), ["1.5.0", "withdrawn-1.4.0"]);
    assert_snapshot!(scene.run(withdraw).text, @"
    exit code: 0
    ----- stdout -----
    the module 1.4.0 is withdrawn from [REGISTRY]/acme/network already: opens port 22; use 1.5.0
      manifest sha256:[DIGEST]
      notice sha256:[DIGEST], not signed
      the tag 1.4.0 is gone: no client can choose this version
      the content stays at [REGISTRY]/acme/network:withdrawn-1.4.0; --undo brings it back
      consumers read the reason from `module pull`; OpenTofu itself still takes it by its digest

    ----- stderr -----
    ");
    // Consumers.
    assert_snapshot!(scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.4.0' out").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: version 1.4.0 was withdrawn from [REGISTRY]/acme/network
      cause: opens port 22; use 1.5.0

    hint: it has 1.5.0
    ");
    assert_snapshot!(scene.run(&format!("module pull 'oci://REGISTRY/acme/network?digest={digest}' out")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it was withdrawn: opens port 22; use 1.5.0

    hint: take another version; `tofu-oci module versions` lists them
    hint: no option overrides it; if it was withdrawn by mistake, whoever withdrew it takes that back
    ");
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network").text, @"
    exit code: 0
    ----- stdout -----
    1.5.0

    ----- stderr -----
    note: [REGISTRY]/acme/network: withdrawn by its publisher: 1.4.0 (opens port 22; use 1.5.0)
    ");
    assert_snapshot!(scene.run("verify REGISTRY/acme/network:1.4.0").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: version 1.4.0 was withdrawn from [REGISTRY]/acme/network
      cause: opens port 22; use 1.5.0

    hint: it has 1.5.0
    ");
    let checked = scene.run("check --module REGISTRY/acme/network --json");
    assert!(!checked.stdout.contains("withdrawn-1.4.0"), "{}", checked.text);
    // Its publisher.
    assert_snapshot!(scene.run("module push network-1.4.0 REGISTRY/acme/network --version 1.4.0").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: 1.4.0 was withdrawn from [REGISTRY]/acme/network: opens port 22; use 1.5.0
      cause: its content is still there, under the tag withdrawn-1.4.0

    hint: publish the change as another version: configurations may still name this one
    hint: if it was withdrawn by mistake: tofu-oci withdraw [REGISTRY]/acme/network:1.4.0 --undo (with --sign-key KEY if its notice is signed)
    hint: to publish this module under the version all the same, add --replace-tag
    ");
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/network:1.4.0 --message old").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network has no version 1.4.0: it was withdrawn: opens port 22; use 1.5.0

    hint: it has 1.5.0
    hint: `tofu-oci withdraw [REGISTRY]/acme/network:1.4.0 --undo` brings it back, with --sign-key KEY if its notice is signed
    ");
    assert_eq!(check(&scene.run("withdraw REGISTRY/acme/network:1.4.0 --undo --json")), ["release-state"]);
    assert_eq!(scene.tags_of("acme/network"), ["1.4.0", "1.5.0"]);
    scene.run(&format!("module pull 'oci://REGISTRY/acme/network?digest={digest}' out")).success();
}

#[test]
fn a_deprecated_module_is_pulled_with_the_reason() {
    let scene = Scene::with_network();
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/network:1.4.0 --message 'use 1.5.0'").text, @"
    exit code: 0
    ----- stdout -----
    deprecated the module 1.4.0 at [REGISTRY]/acme/network:1.4.0: use 1.5.0
      manifest sha256:[DIGEST]
      notice sha256:[DIGEST], not signed
      clients can still choose this version; tofu-oci warns with the message

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.4.0' out").text, @"
    exit code: 0
    ----- stdout -----
    pulled the module 1.4.0 from [REGISTRY]/acme/network into out
      manifest sha256:[DIGEST]
      1 file, 8 B

    ----- stderr -----
    warning: the module from [REGISTRY]/acme/network: its publisher has deprecated it: use 1.5.0
    [REGISTRY]/acme/network:1.4.0: pulled (122 B)
    ");
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network").text, @"
    exit code: 0
    ----- stdout -----
    1.5.0
    1.4.0 (deprecated)

    ----- stderr -----
    note: [REGISTRY]/acme/network: deprecated by its publisher: 1.4.0 (use 1.5.0)
    ");
    let listed = scene.run("module versions oci://REGISTRY/acme/network --json");
    assert_eq!(check(&listed), ["message", "module-version", "module-version"]);
    scene.run("deprecate REGISTRY/acme/network:1.4.0 --undo").success();
    let pulled = scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.4.0' again").success();
    assert!(!pulled.stderr.contains("use 1.5.0"), "{}", pulled.text);
}

#[test]
fn a_notice_by_a_foreign_key_refuses_nothing_that_a_key_vouches_for() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.key("p384.pem");
    scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem").success();
    scene.demand_module_key("p256.pub");
    let digest = scene.tag("acme/network", "1.4.0");
    let pull = format!("module pull 'oci://REGISTRY/acme/network?digest={digest}' out");
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --reason mine --sign-key p384.pem").success();
    let pulled = scene.run(&pull).success();
    assert!(pulled.stderr.contains("does not count"), "{}", pulled.text);
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --reason broken --sign-key p256.pem").success();
    assert_snapshot!(scene.run(&pull).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it was withdrawn by acme: broken
      cause: trust.toml:5, the rule for *, says whose notices count

    hint: take another version; `tofu-oci module versions` lists them
    hint: no option overrides it; if it was withdrawn by mistake, whoever withdrew it takes that back
    ");
    // An unsigned notice takes nothing back, and one by another key does not count.
    assert_eq!(scene.run("withdraw REGISTRY/acme/network:1.4.0 --undo").code, Some(1));
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --undo --sign-key p384.pem").success();
    assert!(scene.run(&pull).stderr.contains("withdrawn by acme: broken"));
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --undo --sign-key p256.pem").success();
    scene.run(&pull).success();
}

#[test]
fn what_a_push_replaces_is_withdrawn() {
    let scene = Scene::with_network();
    let digest = scene.tag("acme/network", "1.4.0");
    scene.context.write("network-1.4.0/new.tf", "");
    let push = "module push network-1.4.0 REGISTRY/acme/network --version 1.4.0 --replace-tag";
    let said = scene.run(push).success();
    assert!(said.stdout.contains("marked as withdrawn"), "{}", said.text);
    assert_snapshot!(scene.run(&format!("module pull 'oci://REGISTRY/acme/network?digest={digest}' out")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it was withdrawn: its tag moved to another package
      cause: sha256:[DIGEST] took its place

    hint: take another version; `tofu-oci module versions` lists them
    hint: no option overrides it; if it was withdrawn by mistake, whoever withdrew it takes that back
    ");
    // The earlier files again: they are available again, and the others are not.
    let other = scene.tag("acme/network", "1.4.0");
    std::fs::remove_file(scene.path("network-1.4.0/new.tf")).expect("the file is there");
    scene.run(push).success();
    scene.run(&format!("module pull 'oci://REGISTRY/acme/network?digest={digest}' out")).success();
    let refused = scene.run(&format!("module pull 'oci://REGISTRY/acme/network?digest={other}' other"));
    assert!(refused.stderr.contains("it was withdrawn: its tag moved to another package"), "{}", refused.text);
}

#[test]
fn an_interrupted_withdrawal_is_finished_by_the_next_run() {
    let scene = Scene::with_network();
    let withdraw = "withdraw REGISTRY/acme/network:1.4.0 --reason broken";
    // Each write fails in its turn, for good.
    for allowed in 0..12 {
        scene.registry.clear_faults();
        let is_write = |head: &RequestHead| head.method != "GET" && head.method != "HEAD";
        scene.registry.fault(Rule::when(is_write).after(allowed).then(Fault::status(400, "UNSUPPORTED")));
        let said = scene.run(withdraw);
        scene.registry.clear_faults();
        let tags = scene.tags_of("acme/network");
        assert!(
            tags.iter().any(|tag| tag == "1.4.0" || tag == "withdrawn-1.4.0"),
            "{allowed}: {tags:?}\n{}",
            said.text
        );
        scene.run(withdraw).success();
        assert_eq!(scene.tags_of("acme/network"), ["1.5.0", "withdrawn-1.4.0"], "{allowed}");
        scene.run("withdraw REGISTRY/acme/network:1.4.0 --undo").success();
        assert_eq!(scene.tags_of("acme/network"), ["1.4.0", "1.5.0"], "{allowed}");
    }
}

#[test]
fn two_runs_at_once_end_as_one() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    for line in [
        "sign REGISTRY/acme/network:1.4.0 --key p256.pem",
        "deprecate REGISTRY/acme/network:1.4.0 --message old",
        "copy REGISTRY/acme/network oci:copy --all",
        "copy REGISTRY/acme/network REGISTRY/acme/copy --all",
    ] {
        let children: Vec<_> = (0..2)
            .map(|_| scene.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
        scene.run(line).success();
    }
    scene.run("module pull oci:copy:1.4.0 out").success();
}

#[test]
fn a_module_is_copied_with_what_belongs_to_it() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem --sign-format both").success();
    scene.run("deprecate REGISTRY/acme/network:1.4.0 --message 'use 1.5.0' --sign-key p256.pem").success();
    scene.push_module(AT, "1.6.0", "");
    scene.run("withdraw REGISTRY/acme/network:1.6.0 --reason broken").success();
    let before = State::of(&scene);
    assert_snapshot!(scene.run("copy REGISTRY/acme/network:1.4.0 oci:usb --dry-run").text, @"
    exit code: 0
    ----- stdout -----
    would copy [REGISTRY]/acme/network:1.4.0 to oci:usb (tag 1.4.0)
      manifest sha256:[DIGEST]

    ----- stderr -----
    ");
    assert_eq!(State::of(&scene), before);
    assert_snapshot!(scene.run("copy REGISTRY/acme/network oci:usb --all").text, @"
    exit code: 0
    ----- stdout -----
    copied oci:usb (tag 1.4.0), sent 6.4 kB (10 new, 0 mounted, 0 present)
      manifest sha256:[DIGEST]
      with the tag sha256-[DIGEST].sig
      with the tag deprecated-1.4.0
    copied oci:usb (tag 1.5.0), sent 774 B (2 new, 0 mounted, 1 present)
      manifest sha256:[DIGEST]
    copied oci:usb (tag withdrawn-1.6.0), sent 2.1 kB (4 new, 0 mounted, 1 present)
      manifest sha256:[DIGEST]
    3 releases, 9.3 kB sent

    ----- stderr -----
    notice ([HEX]): copied (278 B)
    notice ([HEX]): copied (727 B)
    signature ([HEX]): copied (244 B)
    signature ([HEX]): copied (635 B)
    zip ([HEX]): copied (122 B)
    zip ([HEX]): copied (122 B)
    zip ([HEX]): copied (122 B)
    ");
    let copied = check(&scene.run("copy oci:usb REGISTRY/inside/network --all --json"));
    assert_eq!(copied.iter().filter(|event| *event == "copied").count(), 3);
    assert_eq!(scene.tags_of("inside/network"), ["1.4.0", "1.5.0", "deprecated-1.4.0", "withdrawn-1.6.0"]);
    assert_eq!(scene.tag("inside/network", "1.4.0"), scene.tag("acme/network", "1.4.0"));
    for place in ["REGISTRY/inside/network", "oci:usb"] {
        scene.run(&format!("verify {place}:1.4.0 --key p256.pub")).success();
        let refused = scene.run(&format!("verify {place}:1.6.0"));
        assert!(refused.stderr.contains("was withdrawn") && refused.stderr.contains("broken"), "{}", refused.text);
    }
    assert!(scene.run("module pull oci:usb:1.4.0 out").success().stderr.contains("use 1.5.0"));
    assert_snapshot!(scene.refuse("copy oci:usb:1.4.0 REGISTRY/acme/network.zip"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: OpenTofu could not install a module from [REGISTRY]/acme/network.zip
      cause: `oci://[REGISTRY]/acme/network.zip?tag=1.4.0` is not a module in an OCI repository: the repository ends in .zip, which OpenTofu takes for an archive; add archive=false

    hint: name a repository of another name: with this one every call would need archive=false
    ");
}

#[test]
fn modules_and_providers_never_lie_in_one_repository() {
    let scene = Scene::with_network();
    scene.publish("1.4.0");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/network:1.5.0 REGISTRY/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget is kept for the provider registry.example.com/acme/widget: it has its version 1.4.0

    hint: give the module a repository of its own: OpenTofu takes each tag here for a version of the provider
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget:1.4.0 REGISTRY/acme/network --replace-tag"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network is kept for a module: it has its version 1.5.0

    hint: give the provider a repository of its own: no client could install a module as a provider
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget:1.4.0 REGISTRY/acme/network --replace-tag --dry-run"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network is kept for a module: it has its version 1.5.0

    hint: give the provider a repository of its own: no client could install a module as a provider
    ");
    scene.dist("dist-2", "2.0.0");
    assert_snapshot!(scene.refuse("push dist-2 REGISTRY/acme/network --address registry.example.com/acme/widget --rename"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network is kept for a module: it has its version 1.5.0

    hint: give the provider a repository of its own: no client could install a module as a provider
    ");
}

#[test]
fn verbs_for_providers_say_that_it_is_a_module() {
    let scene = Scene::with_network();
    assert_snapshot!(scene.run("show REGISTRY/acme/network").text, @"
    exit code: 0
    ----- stdout -----
    module [REGISTRY]/acme/network 1.5.0
      place     [REGISTRY]/acme/network:1.5.0
      manifest  sha256:[DIGEST]
      signed    no: there is no signature

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("versions REGISTRY/acme/network").text, @"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    note: [REGISTRY]/acme/network: some tags are not providers, and are left out: 1.5.0 (a module package), 1.4.0 (a module package)
      hint: this repository holds a module: tofu-oci module versions oci://[REGISTRY]/acme/network
    [REGISTRY]/acme/network has no versions
    ");
}
