//! The plugin cache beside a signature policy, and links in the tree of packages.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

const FOLDER: &str = "registry.example.com/acme/widget/1.4.0/linux_amd64";
const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

#[test]
fn another_package_in_the_plugin_cache_is_not_linked_where_a_signature_is_demanded() {
    let mut scene = Scene::published();
    scene.trust("");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    fs::create_dir_all(scene.path("cache").join(FOLDER)).unwrap();
    fs::write(scene.path("cache").join(FOLDER).join("terraform-provider-widget_v1.4.0"), "somebody else's").unwrap();
    scene.context.env("TF_PLUGIN_CACHE_DIR", "cache");
    scene.context.env("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "1");
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./cache/registry.example.com/acme/widget/1.4.0/linux_amd64 has other contents than registry.example.com/acme/widget 1.4.0

    hint: delete ./cache/registry.example.com/acme/widget/1.4.0/linux_amd64 and run the same command again
    ");
    for name in [&format!(".terraform/providers/{FOLDER}"), ".terraform.lock.hcl", ".tofu-oci.pins.json"] {
        assert!(fs::symlink_metadata(scene.path(name)).is_err(), "{name} is there");
    }
    fs::remove_dir_all(scene.path("cache")).unwrap();
    fs::create_dir(scene.path("cache")).unwrap();
    scene.run(INSTALL).success();
    fs::remove_dir_all(scene.path(".terraform")).unwrap();
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    linked from the plugin cache: registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: linked
    ");
    assert_eq!(scene.conversation(), [""; 0], "what was verified here needs no registry");
}

#[test]
fn a_checked_in_link_in_the_tree_of_packages_leads_nowhere() {
    let scene = Scene::published();
    let provider = scene.path(".terraform/providers/registry.example.com/acme/widget");
    fs::create_dir_all(&provider).unwrap();
    fs::create_dir_all(scene.path("precious/linux_amd64")).unwrap();
    fs::write(scene.path("precious/linux_amd64/thesis.md"), "years of work").unwrap();
    symlink(scene.path("precious"), provider.join("1.4.0")).unwrap();
    let refused = scene.refuse(INSTALL);
    assert_snapshot!(refused, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform/providers/registry.example.com/acme/widget/1.4.0 is a symbolic link that leads out of ./.terraform/providers

    hint: nothing was written or deleted there; such a link may have come with the repository
    hint: delete the link ./.terraform/providers/registry.example.com/acme/widget/1.4.0 and run the same command again
    ");
}
