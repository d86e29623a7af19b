//! `trust root`: what is built in, what a file names, and a newer one out of a TUF repository.

use std::time::SystemTime;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{LocalSigstore, tuf_repository};

use crate::setup::Scene;

/// A TUF repository with this `trusted_root.json`, in a folder.
fn repository(scene: &Scene, trusted_root: &str) {
    repository_at(scene, trusted_root, 1);
}

/// The same with this version of its timestamp.
fn repository_at(scene: &Scene, trusted_root: &str, timestamp: u64) {
    for (path, text) in tuf_repository(&[("trusted_root.json", trusted_root)], timestamp) {
        scene.context.write(&format!("tuf/{path}"), text);
    }
}

const UPDATE: &str = "trust root update tuf --tuf-root tuf/1.root.json --output root.json";

#[test]
fn a_newer_root_is_written_and_can_be_used() {
    let scene = Scene::published();
    let root = LocalSigstore::generate(SystemTime::now()).root();
    repository(&scene, &root);
    assert_snapshot!(scene.run(UPDATE).success().text, @r#"
    exit code: 0
    ----- stdout -----
    wrote root.json
    to use it: root = "root.json" in an [[identity]] of trust.toml

    ----- stderr -----
    "#);
    assert_eq!(scene.context.read("root.json"), root);
    let again = scene.run(&format!("{UPDATE} --json")).success();
    assert_eq!((&again.json()[0]["changed"], &again.json()[0]["targets_version"]), (&json!(false), &json!(1)));
    assert_snapshot!(scene.run("trust root verify root.json").success().text, @"
    exit code: 0
    ----- stdout -----
    root.json
      authority        https://authority.sigstore.example  since 2001-01-01
      log              https://log.sigstore.example  since 2001-01-01

    ----- stderr -----
    ");
    // What trust.toml names stands beside what is built in.
    scene.context.write(
        "trust.toml",
        "[[identity]]\nname = \"a\"\nemail = \"ann@example.com\"\nissuer = \"https://example.com\"\nroot = \"root.json\"\n\
         [[rule]]\nproviders = [\"example.com/a/b\"]\nkeys = [\"a\"]\n",
    );
    let shown = scene.run("trust root show --json").success();
    let names: Vec<_> = shown.json().iter().map(|line| line["name"].clone()).collect();
    assert_eq!(names, ["sigstore", "github", "root.json"]);
}

#[test]
fn a_repository_that_proves_nothing_writes_nothing() {
    let scene = Scene::published();
    repository(&scene, &LocalSigstore::generate(SystemTime::now()).root());
    // The built-in root has not signed it.
    let said = scene.refuse("trust root update tuf --output root.json");
    assert!(said.contains("tuf does not prove a trusted root"), "{said}");
    let timestamp = scene.context.read("tuf/timestamp.json");
    scene
        .context
        .write("tuf/timestamp.json", timestamp.replace("\"version\":1,\"expires\"", "\"version\":2,\"expires\""));
    assert_snapshot!(scene.refuse(UPDATE), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: tuf does not prove a trusted root: timestamp.json has 0 of the 1 signatures that its role demands

    hint: nothing was written; take a newer copy of the repository, or look at the clock of this machine
    ");
    scene.context.write("tuf/timestamp.json", "x".repeat(20_000));
    assert_snapshot!(scene.refuse(UPDATE), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: tuf does not prove a trusted root: tuf/timestamp.json is larger than 16384 bytes

    hint: nothing was written; take a newer copy of the repository
    ");
    std::fs::remove_file(scene.path("tuf/timestamp.json")).expect("the timestamp");
    assert_snapshot!(scene.refuse(UPDATE), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: tuf has no timestamp.json

    hint: a TUF repository has timestamp.json, VERSION.snapshot.json, VERSION.targets.json and targets/
    ");
    assert_snapshot!(scene.refuse("trust root update http://tuf.example.com --output root.json"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the repository is neither a folder nor an https:// address

    hint: such as https://tuf-repo-cdn.sigstore.dev, or the folder of a copy
    ");
}

#[test]
fn an_older_copy_of_the_repository_replaced_what_a_newer_one_proved() {
    let scene = Scene::published();
    let (old, new) =
        (LocalSigstore::generate(SystemTime::now()).root(), LocalSigstore::generate(SystemTime::now()).root());
    repository_at(&scene, &new, 3);
    scene.run(UPDATE).success();
    let kept: Value = serde_json::from_str(&scene.context.read("root.json.tuf")).expect("JSON");
    assert_eq!(kept["versions"], json!({ "root": 1, "timestamp": 3, "snapshot": 1, "targets": 1 }));
    repository_at(&scene, &old, 2);
    assert_snapshot!(scene.refuse(UPDATE), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: tuf does not prove a trusted root: timestamp.json has version 2, and version 3 was current before: it is an old one

    hint: nothing was written; take a newer copy of the repository, or look at the clock of this machine
    hint: if the owner of the repository made it anew, delete root.json.tuf
    ");
    assert_eq!(scene.context.read("root.json"), new);
    scene.context.write("root.json.tuf", "{}");
    assert_snapshot!(scene.refuse(UPDATE), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the file root.json.tuf is not what `trust root update` writes
      cause: missing field `versions` at line 1 column 2

    hint: restore the file: it says which copies of the repository are old ones
    hint: or delete root.json.tuf: then an older copy may replace root.json
    ");
    std::fs::remove_file(scene.path("root.json.tuf")).expect("the versions");
    scene.run(UPDATE).success();
    assert_eq!(scene.context.read("root.json"), old);
}

/// The root of one instance was kept in the file of another one, and the error spoke of an old copy.
#[test]
fn a_root_of_another_instance_was_called_an_old_copy() {
    let scene = Scene::published();
    repository(&scene, &LocalSigstore::generate(SystemTime::now()).root());
    scene.run(UPDATE).success();
    let before = scene.context.read("root.json");
    assert_snapshot!(scene.refuse("trust root update tuf --output root.json"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: tuf does not prove a trusted root: its root has no key of the root that was current before: it is the repository of another instance

    hint: nothing was written: root.json.tuf remembers the other instance
    hint: name the root of an instance of your own with --tuf-root, and a file for each with --output
    hint: if the owner of the repository made it anew, delete root.json.tuf
    ");
    assert_eq!(scene.context.read("root.json"), before);
}

/// `dd` is a folder: the versions were written beside it, and then nothing else.
#[test]
fn an_output_that_cannot_be_written_left_a_file_of_versions() {
    let scene = Scene::published();
    repository(&scene, &LocalSigstore::generate(SystemTime::now()).root());
    std::fs::create_dir(scene.path("dd")).expect("a folder");
    let update = "trust root update tuf --tuf-root tuf/1.root.json --output";
    assert_snapshot!(scene.refuse(&format!("{update} dd")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: dd is a folder, and --output names a file

    hint: name a file in it, such as dd/trusted_root.json
    ");
    assert!(!scene.path("dd.tuf").exists());
    assert_snapshot!(scene.refuse(&format!("{update} nodir/o.json")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no folder nodir for --output

    hint: make the folder, or name a file in another one
    ");
}

/// Each read the versions before the other one wrote them.
#[test]
fn two_updates_at_once_could_go_back_to_the_older_copy() {
    let scene = Scene::published();
    repository_at(&scene, &LocalSigstore::generate(SystemTime::now()).root(), 3);
    let folder = tofu_oci_disk::Lockable::Folder(scene.path("."));
    let lock = tofu_oci_disk::try_lock(&folder, "tofu-oci trust root update").expect("a folder").expect("it is free");
    let said = scene.refuse(&format!("{UPDATE} --timeout 1s"));
    assert!(said.contains("is locked by tofu-oci trust root update"), "{said}");
    assert!(!scene.path("root.json").exists() && !scene.path("root.json.tuf").exists());
    drop(lock);
    scene.run(UPDATE).success();
}

#[test]
fn a_file_that_is_no_root_is_refused() {
    let scene = Scene::published();
    scene.context.write("root.json", "{}");
    assert_snapshot!(scene.refuse("trust root verify root.json"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the trusted root root.json cannot be used: it is not a trusted root of Sigstore

    hint: a trusted_root.json is what `tofu-oci trust root update` or `cosign trusted-root create` writes
    ");
}

/// It said `invalid number at line 1`.
#[test]
fn a_certificate_in_pem_was_read_as_a_number() {
    let scene = Scene::published();
    scene.context.write("root.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let said = scene.refuse("trust root verify root.pem");
    assert!(said.contains("cannot be used: it is PEM, and a trusted root of Sigstore is JSON"), "{said}");
}

/// `null` counted as no memory at all, so that an older copy replaced what a newer one had proved.
#[test]
fn a_memory_that_holds_null_let_an_older_copy_in() {
    let scene = Scene::published();
    let (old, new) =
        (LocalSigstore::generate(SystemTime::now()).root(), LocalSigstore::generate(SystemTime::now()).root());
    repository_at(&scene, &new, 3);
    scene.run(UPDATE).success();
    repository_at(&scene, &old, 2);
    scene.context.write("root.json.tuf", "null\n");
    let said = scene.refuse(UPDATE);
    assert!(said.contains("root.json.tuf is not what `trust root update` writes"), "{said}");
    assert_eq!(scene.context.read("root.json"), new);
}

#[cfg(unix)]
#[test]
fn an_output_that_is_a_link_was_replaced_by_a_file() {
    let scene = Scene::published();
    let root = LocalSigstore::generate(SystemTime::now()).root();
    repository(&scene, &root);
    std::fs::create_dir(scene.path("roots")).expect("a folder");
    std::os::unix::fs::symlink("roots/acme.json", scene.path("root.json")).expect("a link");
    scene.run(UPDATE).success();
    assert!(scene.path("root.json").is_symlink());
    assert_eq!(scene.context.read("roots/acme.json"), root);
    // What it remembers holds for the file, under whatever name.
    assert!(scene.path("roots/acme.json.tuf").is_file() && !scene.path("root.json.tuf").exists());
}

/// A folder that is not there, and an address without its scheme, were said to have no timestamp.json.
#[test]
fn a_folder_that_is_not_there_was_called_one_without_a_timestamp() {
    let scene = Scene::new();
    let said = scene.refuse("trust root update nowhere --output root.json");
    assert!(said.contains("error: there is no folder nowhere\n"), "{said}");
    let said = scene.refuse("trust root update tuf-repo-cdn.sigstore.dev --output root.json");
    assert!(said.contains("hint: did you mean https://tuf-repo-cdn.sigstore.dev\n"), "{said}");
}

#[test]
fn a_wrong_tuf_root_was_blamed_on_the_folder() {
    let scene = Scene::published();
    repository(&scene, &LocalSigstore::generate(SystemTime::now()).root());
    scene.context.write("own.json", "{}");
    let said = scene.refuse("trust root update tuf --tuf-root own.json --output root.json");
    assert!(said.contains("error: own.json is no root of TUF to begin with: "), "{said}");
}

#[test]
fn a_misspelt_verb_below_trust_had_no_suggestion() {
    let scene = Scene::new();
    for (words, near) in [
        ("trust root shw", "trust root show"),
        ("trust show", "trust root show"),
        ("trust update", "trust root update"),
    ] {
        let said = scene.refuse(words);
        assert!(said.contains(&format!("hint: did you mean: tofu-oci {near}\n")), "{said}");
    }
}
