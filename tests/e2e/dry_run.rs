//! `install --dry-run`: what would be installed, and nothing is written.

use insta::assert_snapshot;

use crate::setup::{Scene, State};

const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

/// Runs the command; it must change nothing and download no package.
fn dry(scene: &Scene, options: &str) -> String {
    let before = State::of(scene);
    scene.registry.clear_requests();
    let said = scene.run(&format!("{INSTALL} --dry-run{options}"));
    assert_eq!(State::of(scene), before, "something was written: {}", said.text);
    let blobs = scene.conversation().into_iter().filter(|line| line.contains("/blobs/"));
    assert_eq!(blobs.collect::<Vec<_>>(), Vec::<String>::new(), "something was downloaded: {}", said.text);
    said.text
}

#[test]
fn a_first_installation_is_shown_with_its_download_and_its_lock_file() {
    let scene = Scene::published();
    assert_snapshot!(dry(&scene, ""), @r#"
    exit code: 0
    ----- stdout -----
    would install registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
      323 B to download from [REGISTRY]/acme/widget
    lock file .terraform.lock.hcl would change

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -0,0 +1,11 @@
    +# This file is maintained automatically by "tofu init".
    +# Manual edits may be lost in future updates.
    +
    +provider "registry.example.com/acme/widget" {
    +  version = "1.4.0"
    +  hashes = [
    +    "ch:sha256:[DIGEST]",
    +    "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
    +    "zh:[ZIP]",
    +  ]
    +}
    no package was downloaded: the h1: lines are what the releases claim, or are missing

    ----- stderr -----
    note: the lock file would have registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    "#);
    assert_snapshot!(dry(&scene, " --json"), @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"note","code":"lock-narrow","text":"the lock file would have registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too","hint":"to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget"}
    {"event":"planned","address":"registry.example.com/acme/widget","version":"1.4.0","platform":"linux_amd64","place":"[REGISTRY]/acme/widget","path":"./.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64","outcome":"installed","layout":"artifact","bytes":0,"hashes":["ch:sha256:[DIGEST]","h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=","zh:[ZIP]"],"index":"sha256:[DIGEST]","trust":{"standing":"unsigned","signers":[]},"download":323,"claimed":["h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw="]}
    {"event":"lock","path":"./.terraform.lock.hcl","outcome":"would-change","changes":[{"address":"registry.example.com/acme/widget","from":null,"to":"1.4.0","checksums_added":3}],"diff":"--- .terraform.lock.hcl (as it is)\n+++ .terraform.lock.hcl (as it would be)\n@@ -0,0 +1,11 @@\n+# This file is maintained automatically by \"tofu init\".\n+# Manual edits may be lost in future updates.\n+\n+provider \"registry.example.com/acme/widget\" {\n+  version = \"1.4.0\"\n+  hashes = [\n+    \"ch:sha256:[DIGEST]\",\n+    \"h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=\",\n+    \"zh:[ZIP]\",\n+  ]\n+}\n"}

    ----- stderr -----
    "#);
}

#[test]
fn a_kept_package_and_an_upgrade_are_told_apart() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    assert_snapshot!(dry(&scene, ""), @"
    exit code: 0
    ----- stdout -----
    already installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    scene.publish("1.5.0");
    assert_snapshot!(dry(&scene, " --upgrade"), @r#"
    exit code: 0
    ----- stdout -----
    would install registry.example.com/acme/widget 1.5.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.5.0/linux_amd64
      323 B to download from [REGISTRY]/acme/widget
    lock file .terraform.lock.hcl would change

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -2,10 +2,10 @@
     # Manual edits may be lost in future updates.
     
     provider "registry.example.com/acme/widget" {
    -  version = "1.4.0"
    +  version = "1.5.0"
       hashes = [
    -    "ch:sha256:[DIGEST]",
    -    "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
    -    "zh:[ZIP]",
    +    "ch:sha256:[DIGEST]",
    +    "h1:+PNbgfYvhl8pVe9vDDN49AicvMwhNL93eHrQahjXxK8=",
    +    "zh:[ZIP]",
       ]
     }
    no package was downloaded: the h1: lines are what the releases claim, or are missing

    ----- stderr -----
    note: the lock file would have registry.example.com/acme/widget 1.5.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    "#);
    assert_snapshot!(dry(&scene, " --into mirror --packed"), @"
    exit code: 0
    ----- stdout -----
    would install registry.example.com/acme/widget 1.4.0 linux_amd64
      mirror/registry.example.com/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip
      323 B to download from [REGISTRY]/acme/widget
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
}

#[test]
fn what_the_run_would_refuse_is_refused() {
    let scene = Scene::published();
    assert_snapshot!(dry(&scene, " --trust-policy absent.toml"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the trust policy absent.toml cannot be read
      cause: No such file or directory (os error [N])

    hint: trust.toml is looked for beside the configuration; --trust-policy names another file
    ");
    scene.context.write("trust.toml", "[[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n");
    assert_snapshot!(dry(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is not signed
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:1, the rule for */*/*, demands a signature by a key that is pinned for the provider, as it names no keys

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget` shows every signature, and why it does not count
    ");
}

#[test]
fn other_files_in_the_place_of_the_package_are_the_error_of_the_real_run() {
    let scene = Scene::published();
    let place = ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64";
    scene.context.write(&format!("{place}/terraform-provider-widget_v1.4.0"), "#!/bin/sh\n");
    let planned = dry(&scene, "");
    assert_snapshot!(planned, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64 has other contents than registry.example.com/acme/widget 1.4.0

    hint: delete ./.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64 and run the same command again
    ");
    let real = scene.run(INSTALL);
    let error = |text: &str| text.lines().find(|line| line.starts_with("error: ")).map(ToOwned::to_owned);
    assert_eq!(error(&planned), error(&real.stderr));
}

#[test]
fn a_lock_file_of_other_checksums_is_the_error_of_the_real_run() {
    let scene = Scene::published();
    let h1 = format!("h1:{}=", "A".repeat(43));
    let entry =
        format!("provider \"registry.example.com/acme/widget\" {{\n  version = \"1.4.0\"\n  hashes = [\"{h1}\"]\n}}\n");
    scene.context.write(".terraform.lock.hcl", entry);
    let planned = dry(&scene, " --json");
    assert!(planned.contains("\"code\":\"lock-mismatch\""), "{planned}");
}
