//! `run`: which providers the patterns of its configuration mean, and what the repository lacks.

use super::MIRROR;
use crate::setup::Scene;

#[test]
fn a_pattern_without_a_host_was_of_opentofu_s_registry_to_terraform_too() {
    let scene = Scene::published();
    scene.home_file(".tofurc", &MIRROR.replace("registry.example.com/*/*", "acme/*"));
    scene.client(
        "for host in opentofu.org terraform.io; do mirror registry.$host/acme/widget/index.json | cut -c1-20; done
         grep include \"$TF_CLI_CONFIG_FILE\"",
    );
    let script = |name: &str| {
        let path = scene.context.write(name, "#!/bin/sh\n. ./client.sh\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("the script is ours");
        scene.run(&format!("run -- ./{name}")).success().stdout
    };
    let (served, refused) = ("{\"versions\":{\"1.4.0\"\n", "{\"errors\":[\"the clie\n");
    let include = "    include = [\"acme/*\"]\n";
    assert_eq!(script("terraform"), format!("{refused}{served}{include}"));
    assert_eq!(script("tofu-1.12"), format!("{served}{refused}{include}"));
    assert_eq!(scene.run("run -- sh client.sh").success().stdout, format!("{served}{served}{include}"));
}

#[test]
fn a_version_that_the_repository_lacks_came_from_the_next_method() {
    let scene = Scene::with_mirror();
    scene.client(
        "curl() { command curl -H \"Authorization: Bearer $token\" \"$@\"; }
         for path in widget/1.4.0 widget/9.9.9 other/1.0.0; do status registry.example.com/acme/$path.json; done",
    );
    assert_eq!(scene.run("run -- sh client.sh").success().stdout, "200\n404\n404\n");
}

/// Measured with Terraform 1.11.4: it prints an error, and goes on without the method.
#[test]
fn a_pattern_with_an_underscore_made_older_clients_ignore_the_template() {
    let scene = Scene::published();
    for (pattern, wide) in [("a__/x", "*/*"), ("registry.example.com/a_b/*", "registry.example.com/*/*")] {
        let template = "--template 'REGISTRY/${namespace}/${type}'";
        let said = scene.refuse(&format!("run {template} --include '{pattern}' -- terraform init"));
        assert!(said.contains(&format!("hint: write {wide}: OpenTofu, and Terraform before 1.16")), "{said}");
    }
}
