//! `module pull`, `module lock` and `verify` by a rule with an identity.

use std::time::SystemTime;

use insta::assert_snapshot;
use tofu_oci_testkit::{BuiltBy, LocalSigstore};

use crate::module_lock::call;
use crate::setup::Scene;

/// Network 1.4.0 signed by the workflow, 1.5.0 unsigned, and the rule that demands the workflow, also for `live`.
fn built() -> (Scene, LocalSigstore) {
    let scene = Scene::with_network();
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.attest(&sigstore, &BuiltBy::RELEASE, "acme/network", "1.4.0");
    demand(&scene, &sigstore, "release.yml");
    (scene, sigstore)
}

fn demand(scene: &Scene, sigstore: &LocalSigstore, workflow: &str) {
    let policy = format!(
        "[[identity]]\nname = \"acme\"\nrepository = \"github.com/acme/widget\"\n\
         workflow = \".github/workflows/{workflow}\"\nref = \"refs/tags/v{{version}}\"\nroot = \"root.json\"\n\n\
         [[rule]]\nmodules = [\"{}/acme/*\"]\nkeys = [\"acme\"]\n",
        scene.registry.address()
    );
    for folder in ["", "live/"] {
        scene.context.write(&format!("{folder}root.json"), sigstore.root());
        scene.context.write(&format!("{folder}trust.toml"), &policy);
    }
}

fn pull(version: &str) -> String {
    format!("module pull 'oci://REGISTRY/acme/network?tag={version}' out-{version}")
}

#[test]
fn module_pull_asks_the_rule_for_the_workflow() {
    let (scene, sigstore) = built();
    let said = scene.run(&pull("1.4.0")).success();
    assert!(said.stdout.contains("signed by acme"), "{}", said.text);
    assert_snapshot!(scene.refuse(&pull("1.5.0")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it is not signed
      cause: trust.toml:8, the rule for [REGISTRY]/acme/*, demands a signature by acme

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/network:1.5.0 --keyless, or tofu-oci attach BUNDLE [REGISTRY]/acme/network:1.5.0
    ");
    // The tag of a module moved to one that the workflow has built as another version.
    let old = scene.tag("acme/network", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/network", "2.0.0", &old);
    let said = scene.refuse(&pull("2.0.0"));
    assert!(said.contains("the signature by acme says that this is version 1.4.0, not 2.0.0"), "{said}");
    demand(&scene, &sigstore, "other.yml");
    let said = scene.refuse(&pull("1.4.0").replace("out-", "new-"));
    let workflow = "https://github.com/acme/widget/.github/workflows/release.yml@refs/tags/v1.4.0";
    assert!(said.contains(&format!("its signature is not by acme: its workflow is {workflow}")), "{said}");
    for folder in ["out-1.5.0", "out-2.0.0", "new-1.4.0"] {
        assert!(!scene.path(folder).exists(), "{folder}");
    }
}

#[test]
fn module_lock_pins_what_the_workflow_has_built_alone() {
    let (scene, sigstore) = built();
    let written = call("network", "oci://REGISTRY/acme/network?tag=1.4.0", "");
    scene.configuration("main.tf", &written);
    let said = scene.lock("--json").success();
    assert!(said.stdout.contains(r#""name":"acme""#), "{}", said.text);
    scene.lock("--check").success();
    demand(&scene, &sigstore, "other.yml");
    let said = scene.lock("--check");
    assert!(said.code == Some(1) && said.text.contains("its workflow is"), "{}", said.text);
    scene.configuration("main.tf", &written.replace("1.4.0", "1.5.0"));
    demand(&scene, &sigstore, "release.yml");
    let said = scene.lock("");
    assert!(said.code == Some(1) && said.text.contains("is not trusted: it is not signed"), "{}", said.text);
    assert!(scene.context.read("live/main.tf").contains("?tag=1.5.0"), "no file was changed");
}

#[test]
fn verify_says_which_workflow_has_built_a_module() {
    let (scene, _) = built();
    let said = scene.run("verify REGISTRY/acme/network:1.4.0 --json").success();
    let line = &said.json()[0];
    assert_eq!(line["evidence"][0]["identity"]["repository"], "github.com/acme/widget", "{}", said.text);
    assert_eq!(line["trusted"], true);
    assert_eq!(scene.run("verify REGISTRY/acme/network:1.5.0").code, Some(1));
}
