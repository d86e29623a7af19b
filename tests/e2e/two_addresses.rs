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
    assert_snapshot!(refused(&scene, to), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/m/${namespace}-${type}` sends two providers to one repository: example.com/a-a/a and example.com/a/a-a both get [REGISTRY]/m/a-a-a

    hint: write / between the symbols, as in [REGISTRY]/m/${namespace}/${type}; or a rule for each namespace
    ");
    assert_snapshot!(refused(&scene, "mirror registry.example.com/acme/widget --to 'oci:m/${type}-${namespace}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `oci:m/${type}-${namespace}` sends two providers to one folder: example.com/a/a-a and example.com/a-a/a both get oci:m/a-a-a

    hint: write / between the symbols, as in oci:m/${type}/${namespace}; or a rule for each namespace
    ");
    scene
        .context
        .write("mirror.toml", "to = \"r.test/${namespace}-${type}\"\n[[provider]]\naddress = \"a.test/acme/zap\"\n");
    assert_snapshot!(refused(&scene, "mirror --plan"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${type}` sends two providers to one repository: example.com/a-a/a and example.com/a/a-a both get r.test/a-a-a

    hint: write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace
    ");
    assert_snapshot!(refused(&scene, "bundle load carried.tar 'r.test/${namespace}-${type}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${type}` sends two providers to one repository: example.com/a-a/a and example.com/a/a-a both get r.test/a-a-a

    hint: write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace
    ");
}

#[test]
fn a_mirror_does_not_carry_two_modules_into_one_repository() {
    let scene = Scene::new();
    let glued = "'r.test/${namespace}-${name}-${target_system}'";
    assert_snapshot!(refused(&scene, &format!("module mirror a.test/acme/net/aws --to {glued}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${name}-${target_system}` sends two modules to one repository: example.com/a-b/c/d and example.com/a/b-c/d both get r.test/a-b-c-d

    hint: write / between the symbols, as in r.test/${namespace}/${name}/${target_system}; or a rule for each namespace
    ");
    assert_snapshot!(refused(&scene, "module mirror a.test/acme/net/aws --to 'oci:m/${namespace}${name}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `oci:m/${namespace}${name}` sends two modules to one folder: example.com/ab/c/example and example.com/a/bc/example both get oci:m/abc

    hint: write / between the symbols, as in oci:m/${namespace}/${name}; or a rule for each namespace
    ");
}

#[test]
fn a_mapping_does_not_lead_two_modules_to_one_repository() {
    let scene = Scene::new();
    let rule = |include: &str, template: &str| {
        format!("[[module_mirror]]\ninclude = [\"{include}\"]\nrepository_template = \"{template}\"\n")
    };
    scene.context.write("modules.toml", rule("a.test/*/*/*", "r.test/${namespace}-${name}-${target_system}"));
    assert_snapshot!(refused(&scene, "module pull a.test/acme/net/aws out"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${name}-${target_system}` sends two modules to one repository: a.test/a-b/c/d and a.test/a/b-c/d both get r.test/a-b-c-d
      --> modules.toml:3:23
      |
    3 | repository_template = "r.test/${namespace}-${name}-${target_system}"
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write / between the symbols, as in r.test/${namespace}/${name}/${target_system}; or a rule for each namespace
    hint: every member of the file: tofu-oci help modules
    "#);
    let both = rule("a.test/acme-corp/*/*", "r.test/acme-corp-${name}-${target_system}")
        + &rule("a.test/acme/*/*", "r.test/acme-${name}-${target_system}");
    scene.context.write("modules.toml", both);
    assert_snapshot!(refused(&scene, "module versions a.test/acme/net/aws"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/acme-corp-${name}-${target_system}` and `r.test/acme-${name}-${target_system}` send two modules to one repository: a.test/acme-corp/a/b and a.test/acme/corp-a/b both get r.test/acme-corp-a-b
      --> modules.toml:6:23
      |
    6 | repository_template = "r.test/acme-${name}-${target_system}"
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${name}-${target_system}
    hint: every member of the file: tofu-oci help modules
    "#);
    assert_snapshot!(refused(&scene, "run -- true"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/acme-corp-${name}-${target_system}` and `r.test/acme-${name}-${target_system}` send two modules to one repository: a.test/acme-corp/a/b and a.test/acme/corp-a/b both get r.test/acme-corp-a-b
      --> modules.toml:6:23
      |
    6 | repository_template = "r.test/acme-${name}-${target_system}"
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${name}-${target_system}
    hint: every member of the file: tofu-oci help modules
    "#);
}

#[test]
fn a_command_does_not_get_two_providers_out_of_one_repository_of_an_option() {
    let scene = Scene::new();
    let run = |rest: &str| refused(&scene, &format!("run --template {rest} -- true"));
    assert_snapshot!(run("'r.test/${namespace}-${type}' --include 'a.test/*/*'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${type}` sends two providers to one repository: a.test/a-a/a and a.test/a/a-a both get r.test/a-a-a
      --> --template:1:1
      |
    1 | r.test/${namespace}-${type}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace
    ");
    assert_snapshot!(run("'r.test/${namespace}/${type}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}/${type}` sends two providers to one repository: registry.example.com/acme/zap and other.example.com/acme/zap both get r.test/acme/zap
      --> --template:1:1
      |
    1 | r.test/${namespace}/${type}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: name the providers: tofu-oci run --template 'r.test/${namespace}/${type}' --include 'registry.example.com/*/*' -- true
    ");
    let shared = "run --template 'r.test/${namespace}/${type}' --include 'a.test/*/*' --include 'b.test/*/*'";
    assert!(refused(&scene, &format!("{shared} -- true")).contains("does not mention ${hostname}"));
    scene.run(&format!("{shared} --predecessor a.test=b.test -- true")).success();
    // OpenTofu's own block is read as OpenTofu reads it.
    let block =
        "oci_mirror {\n    repository_template = \"r.test/${namespace}-${type}\"\n    include = [\"a.test/*/*\"]\n  }";
    scene.context.write("cli.tofurc", format!("provider_installation {{\n  {block}\n}}\n"));
    assert_snapshot!(scene.run("run --cli-config cli.tofurc -- true").text, @"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    warning: `r.test/${namespace}-${type}` sends two providers to one repository: a.test/a-a/a and a.test/a/a-a both get r.test/a-a-a
      hint: write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace
    ");
}

#[test]
fn a_snippet_and_a_check_of_the_configuration_name_the_two_providers() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("config snippet 'a.test/*/*' 'r.test/${namespace}-${type}'").text, @r#"
    exit code: 0
    ----- stdout -----
    provider_installation {
      oci_mirror {
        repository_template = "r.test/${namespace}-${type}"
        include             = ["a.test/*/*"]
      }
      direct {
        exclude = ["a.test/*/*"]
      }
    }

    ----- stderr -----
    warning: `r.test/${namespace}-${type}` sends two providers to one repository: a.test/a-a/a and a.test/a/a-a both get r.test/a-a-a
      hint: write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace
    note: write it to [HOME]/.tofurc, which is not there yet
    note: with a provider_installation, OpenTofu no longer looks into terraform.d/plugins and the other implicit folders; add a filesystem_mirror for one that you need
    note: Terraform has no oci_mirror, and prints an error where it reads the file (~/.terraformrc, ~/.terraform.d); for Terraform, `tofu-oci install --vendor` puts providers where it looks
    "#);
    let said = scene.run("config snippet 'a.test/acme/*' 'r.test/${type}'").success();
    assert!(!said.stderr.contains("template-hole") && !said.stderr.contains("repository: "), "{}", said.text);
}
