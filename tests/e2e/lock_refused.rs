//! What `lock` refuses, and says about it.

use insta::assert_snapshot;

use crate::lock_all::{FROM, scene};
use crate::setup::WIDGET;

#[test]
fn what_is_locked_stays_locked() {
    let scene = scene();
    scene.run(&format!("lock {FROM}")).success();
    let other = tofu_oci_testkit::ProviderZip::new("widget", "1.4.0", "linux_amd64").executable("replaced");
    scene.context.write(&format!("other/{}", other.file_name()), other.build());
    scene.run(&format!("push other REGISTRY/acme/widget --address {WIDGET} --replace-tag")).success();
    assert_snapshot!(scene.refuse(&format!("lock {FROM}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: the version has moved: it was sha256:[DIGEST] before, and is sha256:[DIGEST] now
      cause: it came from [REGISTRY]/acme/widget

    hint: somebody has pushed another release under the same version; ask its publisher why
    hint: if it was moved on purpose: tofu-oci verify registry.example.com/acme/widget@1.4.0 --accept --from '[REGISTRY]/${namespace}/${type}'
    hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from '[REGISTRY]/${namespace}/${type}'` shows every signature, and why it does not count
    hint: the lock file is as it was
    ");
    std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    assert_snapshot!(scene.refuse(&format!("lock {FROM}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: verified (172 B)
    error: registry.example.com/acme/widget 1.4.0 for linux_amd64 is not the package that was locked: none of the 6 checksums in the lock file is this package's
      cause: the lock file has ch:sha256:[DIGEST]
      cause: the lock file has ch:sha256:[DIGEST]
      cause: the lock file has h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      cause: the lock file has h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      cause: the lock file has zh:[ZIP]
      cause: the lock file has zh:[ZIP]
      cause: the package has  ch:sha256:[DIGEST]
      cause: the package has  h1:107vclUrIwq23p0MUf3QSgLrjKUH8WqnDN2HjXCCutU=
      cause: the package has  zh:[ZIP]
      cause: it came from [REGISTRY]/acme/widget

    hint: nothing of it was installed: either the repository or the lock file is not what it was
    hint: if the package was replaced on purpose, remove the provider's block from the lock file
    hint: the lock file is as it was
    ");
}

#[test]
fn wrong_usage() {
    let scene = scene();
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --platform plan9_386 --platform linux_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 has no package for plan9_386
      cause: asked [REGISTRY]/acme/widget

    hint: this release offers darwin_arm64, linux_amd64
    hint: the lock file is as it was
    ");
    assert_snapshot!(scene.refuse(&format!("lock registry.example.com/acme/gadget {FROM}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the configuration does not require registry.example.com/acme/gadget

    hint: it requires registry.example.com/acme/widget
    ");
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --chdir nowhere")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no directory nowhere

    hint: --chdir names the directory that holds the configuration and its lock file
    ");
    scene.context.write(".tofu-oci.pins.json", "{");
    assert_eq!(scene.run(&format!("lock {FROM}")).code, Some(2));
    std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    scene.context.write("main.tf", "");
    assert_snapshot!(scene.refuse(&format!("lock {FROM}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the configuration in . requires no providers

    hint: name a provider: tofu-oci lock HOST/NAMESPACE/TYPE --from '[REGISTRY]/${namespace}/${type}'
    hint: or the directory of the configuration: --chdir DIR
    ");
}

#[test]
fn a_registry_that_cannot_be_reached() {
    let scene = scene();
    assert_snapshot!(scene.refuse("lock --from 127.0.0.1:1/acme/widget --attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach 127.0.0.1:[PORT]/acme/widget: Connection refused (os error [N])

    hint: check the port, and that a registry listens there on this machine
    hint: the lock file is as it was
    ");
}
