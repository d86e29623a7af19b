//! A release by a workflow, and each of the other ways in which a package comes or goes.

use std::time::SystemTime;

use serde_json::json;
use tofu_oci_testkit::{BuiltBy, Inline, LocalSigstore, Referrer};
use tofu_oci_types::Descriptor;

use crate::setup::{Scene, WIDGET};

const INSTALL: &str = "--platform linux_amd64";
const PROVIDERS: &str = "registry.example.com/acme/widget";

/// The policy for the workflow of widget, with `lines` in the rule for `providers`.
fn policy(workflow: &str, providers: &str, lines: &str) -> String {
    format!(
        "[[identity]]\nname = \"acme\"\nrepository = \"github.com/acme/widget\"\n\
         workflow = \".github/workflows/{workflow}\"\nref = \"refs/tags/v{{version}}\"\nroot = \"root.json\"\n\
         [[rule]]\nproviders = [\"{providers}\"]\nkeys = [\"acme\"]\n{lines}\n"
    )
}

/// Widget 1.4.0 with provenance, its policy, and the instance that made it.
fn built() -> (Scene, LocalSigstore) {
    let scene = Scene::published();
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.context.write("root.json", sigstore.root());
    scene.context.write("trust.toml", policy("release.yml", PROVIDERS, ""));
    scene.attest(&sigstore, &BuiltBy::RELEASE, "acme/widget", "1.4.0");
    (scene, sigstore)
}

fn index(scene: &Scene) -> Descriptor {
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is published");
    Descriptor::of(&media_type, &bytes)
}

/// Another workflow of the repository is trusted from now on.
fn distrust(scene: &Scene) {
    scene.context.write("trust.toml", policy("other.yml", PROVIDERS, ""));
}

fn forget(scene: &Scene, names: &[&str]) {
    for name in names {
        let path = scene.path(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path).expect("a folder");
        } else if path.exists() {
            std::fs::remove_file(path).expect("a file");
        }
    }
}

const PROJECT: [&str; 3] = [".terraform", ".terraform.lock.hcl", ".tofu-oci.pins.json"];

#[test]
fn pins_do_not_outlive_the_trust_in_a_workflow() {
    let (scene, _) = built();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget {INSTALL}")).success();
    distrust(&scene);
    let said = scene.run(&format!("lock {WIDGET}@1.4.0 --from REGISTRY/acme/widget"));
    assert!(said.code == Some(1) && said.stderr.contains("is not trusted"), "{}", said.text);
}

#[test]
fn the_plugin_cache_and_the_package_cache_ask_the_rule() {
    let (mut scene, _) = built();
    std::fs::create_dir(scene.path("plugins")).expect("a folder");
    for variable in ["TF_PLUGIN_CACHE_DIR", "TOFU_OCI_CACHE_DIR"] {
        scene.context.write("trust.toml", policy("release.yml", PROVIDERS, ""));
        let cache = if variable == "TF_PLUGIN_CACHE_DIR" { "plugins" } else { "packages" };
        scene.context.env(variable, scene.path(cache).display().to_string());
        scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget {INSTALL}")).success();
        forget(&scene, &PROJECT);
        distrust(&scene);
        let said = scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget {INSTALL}"));
        assert!(said.code == Some(1) && said.stderr.contains("is not trusted"), "{variable}: {}", said.text);
        forget(&scene, &PROJECT);
    }
}

#[test]
fn a_workflow_withdraws_what_it_has_signed() {
    let (scene, sigstore) = built();
    let index = index(&scene);
    let subject = json!({
        "digest": { "sha256": index.digest.encoded() },
        "annotations": { "org.opentofu.provider.address": WIDGET, "org.opentofu.provider.version": "1.4.0" },
    });
    let predicate = json!({ "state": "withdrawn", "reason": "it deletes state", "supersedes": [] });
    let notice = tofu_oci_trust::NOTICE_PREDICATE;
    let bundle = sigstore.attest_with(&BuiltBy::RELEASE, notice, &[subject], &predicate);
    scene.registry.put_referrer("acme/widget", &Referrer::bundle(&index, &bundle, Inline::No));
    let said = scene.refuse(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget {INSTALL}"));
    assert!(said.contains("it was withdrawn by acme: it deletes state"), "{said}");
}

#[test]
fn a_bundle_and_a_mirror_carry_what_proves_it() {
    let (scene, _) = built();
    scene.run(&format!("bundle create b.tar {WIDGET} --from REGISTRY/acme/widget")).success();
    let mirrored = format!("mirror {WIDGET} --from REGISTRY/acme/widget --to REGISTRY/mirrored/widget");
    scene.run(&mirrored).success();
    for place in ["bundle:b.tar", "REGISTRY/mirrored/widget"] {
        forget(&scene, &PROJECT);
        let said = scene.run(&format!("install {WIDGET} --from {place} {INSTALL} --vendor --json")).success();
        assert!(said.text.contains(r#""name":"acme""#), "{place}: {}", said.text);
    }
}

#[test]
fn a_rule_for_more_than_one_provider_needs_to_allow_what_names_none() {
    let (scene, _) = built();
    scene.context.write("trust.toml", policy("release.yml", "registry.example.com/acme/*", ""));
    let said = scene.refuse(&format!("install {WIDGET} --from REGISTRY/acme/widget {INSTALL}"));
    assert!(said.contains("does not name the provider"), "{said}");
    scene.context.write("trust.toml", policy("release.yml", "registry.example.com/acme/*", "unnamed = \"allow\""));
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget {INSTALL}")).success();
}
