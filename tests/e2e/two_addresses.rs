//! Two addresses, one repository: refused before anything is asked or written, with an example of both.

use insta::assert_snapshot;

use crate::setup::Scene;

/// What a refused command says.
#[track_caller]
fn refused(scene: &Scene, line: &str) -> String {
    let said = scene.run(line);
    assert_eq!(scene.conversation(), Vec::<String>::new(), "{line}");
    said.text
}

#[test]
fn a_mirror_does_not_carry_two_providers_into_one_repository() {
    let scene = Scene::new();
    let to = "mirror registry.example.com/acme/widget --to 'REGISTRY/m/${namespace}-${type}'";
    assert_snapshot!(refused(&scene, to), @"");
    assert_snapshot!(refused(&scene, "mirror registry.example.com/acme/widget --to 'oci:m/${type}-${namespace}'"), @"");
    scene
        .context
        .write("mirror.toml", "to = \"r.test/${namespace}-${type}\"\n[[provider]]\naddress = \"a.test/acme/zap\"\n");
    assert_snapshot!(refused(&scene, "mirror --plan"), @"");
    assert_snapshot!(refused(&scene, "bundle load carried.tar 'r.test/${namespace}-${type}'"), @"");
}

#[test]
fn a_mirror_does_not_carry_two_modules_into_one_repository() {
    let scene = Scene::new();
    let glued = "'r.test/${namespace}-${name}-${target_system}'";
    assert_snapshot!(refused(&scene, &format!("module mirror a.test/acme/net/aws --to {glued}")), @"");
    assert_snapshot!(refused(&scene, "module mirror a.test/acme/net/aws --to 'oci:m/${namespace}${name}'"), @"");
}

#[test]
fn a_mapping_does_not_lead_two_modules_to_one_repository() {
    let scene = Scene::new();
    let rule = |include: &str, template: &str| {
        format!("[[module_mirror]]\ninclude = [\"{include}\"]\nrepository_template = \"{template}\"\n")
    };
    scene.context.write("modules.toml", rule("a.test/*/*/*", "r.test/${namespace}-${name}-${target_system}"));
    assert_snapshot!(refused(&scene, "module pull a.test/acme/net/aws out"), @"");
    let both = rule("a.test/acme-corp/*/*", "r.test/acme-corp-${name}-${target_system}")
        + &rule("a.test/acme/*/*", "r.test/acme-${name}-${target_system}");
    scene.context.write("modules.toml", both);
    assert_snapshot!(refused(&scene, "module versions a.test/acme/net/aws"), @"");
    assert_snapshot!(refused(&scene, "run -- true"), @"");
}

#[test]
fn a_command_does_not_get_two_providers_out_of_one_repository_of_an_option() {
    let scene = Scene::new();
    let run = |rest: &str| refused(&scene, &format!("run --template {rest} -- true"));
    assert_snapshot!(run("'r.test/${namespace}-${type}' --include 'a.test/*/*'"), @"");
    assert_snapshot!(run("'r.test/${namespace}/${type}'"), @"");
    // OpenTofu's own block is read as OpenTofu reads it.
    let block =
        "oci_mirror {\n    repository_template = \"r.test/${namespace}-${type}\"\n    include = [\"a.test/*/*\"]\n  }";
    scene.context.write("cli.tofurc", format!("provider_installation {{\n  {block}\n}}\n"));
    assert_snapshot!(scene.run("run --cli-config cli.tofurc -- true").text, @"");
}

#[test]
fn a_snippet_and_a_check_of_the_configuration_name_the_two_providers() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("config snippet 'a.test/*/*' 'r.test/${namespace}-${type}'").text, @"");
    let said = scene.run("config snippet 'a.test/acme/*' 'r.test/${type}'").success();
    assert!(!said.stderr.contains("template-hole") && !said.stderr.contains("repository: "), "{}", said.text);
}
