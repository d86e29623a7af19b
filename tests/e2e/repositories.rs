//! The 39 small repositories of `testdata/testrepos`, good and broken, from a registry and from a directory.
//!
//! `expected.json` says what released `OpenTofu` makes of each. The reasons that this program gives are snapshots of
//! `installer`; here each one is installed from, or refused, by the program itself.

use std::path::{Path, PathBuf};

use crate::setup::Scene;
use crate::setup::state::tree;

/// Where this program decides otherwise than `OpenTofu`: what it does, and why.
const DECISIONS: &[(&str, i32, &str)] = &[
    ("image-only", 0, "the RFC's form is read, which released OpenTofu cannot"),
    ("floating-tag-2", 0, "only versions that have their canonical tag are chosen from"),
    ("zip-symlink", 1, "a link may lead out of the package"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/testrepos")
}

#[track_caller]
fn check(name: &str, opentofu: &str) {
    let scene = Scene::new();
    scene.registry.put_layout(name, &folder().join(name));
    let directory = format!("oci:{}", folder().join(name).display());
    let decided = DECISIONS.iter().find(|(case, ..)| *case == name).map(|(_, code, _)| *code);
    let want = decided.unwrap_or(i32::from(opentofu == "refuses"));
    for (round, from) in [format!("REGISTRY/{name}"), directory].iter().enumerate() {
        let work = format!("work-{round}");
        scene.context.write(&format!("{work}/keep"), "");
        let address = "registry.example.test/acme/widget";
        let said = scene.run(&format!("install {address} --platform linux_amd64 --chdir {work} --from {from}"));
        assert_eq!(said.code, Some(want), "{name} from {from}: {}", said.text);
        let left = tree(&scene.path(&work)).len();
        assert_eq!(left > 1, want == 0, "{name} from {from} left {left} entries");
        let told = said.stderr.starts_with("error: ") || said.stderr.contains("\nerror: ");
        assert_eq!(told, want == 1, "{name} from {from}: {}", said.stderr);
    }
}

#[test]
fn each_is_installed_or_refused_as_opentofu_does_or_as_decided() {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(cases.len(), 39);
    for case in &cases {
        check(case["case"].as_str().unwrap(), case["opentofu"].as_str().unwrap());
    }
}
