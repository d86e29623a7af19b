//! What a newcomer to modules met: each test bears the name of the symptom.

use crate::module_mirror::call;
use crate::setup::{Said, Scene, WIDGET};

const HOST: &str = "modules.example.test";

/// A module in `REGISTRY/m/acme/net-aws`, which `modules.toml` alone knows by an address, and a configuration that calls it.
fn kept(module: &str) -> Scene {
    let scene = Scene::new();
    scene.context.write("net/main.tf", module);
    scene.run("module push net REGISTRY/m/acme/net-aws --version 1.4.0").success();
    let template = format!("{}/m/${{namespace}}/${{name}}-${{target_system}}", scene.registry.address());
    let rule = format!("[[module_mirror]]\ninclude = [\"{HOST}/*/*/*\"]\nrepository_template = \"{template}\"\n");
    scene.context.write("infra/modules.toml", rule);
    scene.context.write("infra/main.tf", call("net", &format!("{HOST}/acme/net/aws"), "~> 1.0"));
    scene
}

#[track_caller]
fn says(said: &Said, words: &[&str]) {
    for word in words {
        assert!(said.text.contains(word), "{word}: {}", said.text);
    }
}

#[test]
fn modules_that_only_modules_toml_knows_could_not_be_bundled() {
    let scene = kept("variable \"a\" {}\n");
    let said = scene.run("bundle create b.tar --from-config infra").success();
    says(&said, &[&format!("{HOST}/acme/net/aws"), "1.4.0", "1 added"]);
    let said = scene.run("module mirror --from-config infra --to bundle:x.tar").success();
    says(&said, &["copied from [REGISTRY]/m/acme/net-aws", "1 added"]);
    scene.run("module mirror --from-config infra --to oci:lay").success();
    scene.run(&format!("module pull oci:lay/{HOST}/acme/net/aws:1.4.0 out")).success();
    let named = format!("module mirror {HOST}/acme/net/aws --modules infra/modules.toml --to bundle:y.tar");
    says(&scene.run(&named).success(), &["1 added"]);
}

#[test]
fn a_bundle_lacked_the_providers_of_modules_that_were_not_installed() {
    let required =
        format!("terraform {{\n  required_providers {{\n    widget = {{ source = \"{WIDGET}\" }}\n  }}\n}}\n");
    let scene = kept(&required);
    scene.dist("dist", "1.4.0");
    scene.run(&format!("push dist oci:widget --address {WIDGET}")).success();
    let said = scene.run("bundle create b.tar --from-config infra --from oci:widget").success();
    says(&said, &[WIDGET, &format!("{HOST}/acme/net/aws")]);
    assert!(!said.text.contains("its providers are not known"), "{}", said.text);
}

#[test]
fn check_against_took_modules_for_broken_providers() {
    let scene = kept("variable \"a\" {}\n");
    scene.run("module push net REGISTRY/m/acme/net-aws --version 1.5.0").success();
    scene.run("copy REGISTRY/m/acme/net-aws oci:copy --all").success();
    let said = scene.run("check oci:copy --against REGISTRY/m/acme/net-aws").success();
    says(&said, &["2 modules looked at; equal to [REGISTRY]/m/acme/net-aws"]);
    let said = scene.run("check oci:copy --module --against REGISTRY/m/acme/net-aws").success();
    says(&said, &["equal to [REGISTRY]/m/acme/net-aws"]);
    scene.context.write("net/main.tf", "variable \"b\" {}\n");
    scene.run("module push net oci:copy --version 1.5.0 --replace-tag").success();
    let said = scene.run("check oci:copy --against REGISTRY/m/acme/net-aws");
    says(&said, &["exit code: 1", "drift-index", "its manifest is", "not equal to"]);
    assert!(!said.text.contains("not-an-index"), "{}", said.text);
}

#[test]
fn a_deprecation_that_was_taken_back_stayed_in_module_lock() {
    let scene = kept("variable \"a\" {}\n");
    let source = format!("oci://{}/m/acme/net-aws?tag=1.4.0", scene.registry.address());
    scene.context.write("live/main.tf", call("net", &source, ""));
    scene.run("deprecate REGISTRY/m/acme/net-aws:1.4.0 --message old").success();
    says(&scene.run("module lock live --dry-run"), &["1.4.0 is deprecated"]);
    scene.run("deprecate REGISTRY/m/acme/net-aws:1.4.0 --undo").success();
    let said = scene.run("module lock live --dry-run").success();
    assert!(!said.text.contains("deprecated"), "{}", said.text);
}

#[test]
fn hints_repeated_the_input_or_failed_when_typed() {
    let scene = kept("variable \"a\" {}\n");
    for (line, want, never) in [
        ("module pull 'oci://REGISTRY/x?ref=1' out", "'oci://[REGISTRY]/x?tag=1'", "hint: write oci://REPOSITORY"),
        (
            "resolve 'oci://REGISTRY/x?digest=sha256:00'",
            "hint: write oci://REPOSITORY?tag=TAG",
            "hint: a repository is",
        ),
        ("sign REGISTRY/x --key k.pem", "`tofu-oci module versions oci://[REGISTRY]/x` lists those", "\n\n\n\n"),
        (
            "module push net REGISTRY/x:main",
            "`tofu-oci module versions oci://[REGISTRY]/x` lists",
            "`tofu-oci versions",
        ),
        ("serve --modules-from oci:NOPE", "there is no folder NOPE", "serve.toml"),
        ("resolve 'oci://REGISTRY/none?tag=1.0.0' --explain", "asks the same repository", "takes the same package"),
    ] {
        let said = scene.run(line);
        says(&said, &[want]);
        assert!(!said.text.contains(never), "{line}: {}", said.text);
    }
}

#[test]
fn a_message_named_a_temporary_folder() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "resource \"null_resource\" \"a\" {}\nresource \"null_resource\" \"a\" {}\n");
    let said = scene.run("module push net REGISTRY/x --version 1.0.0");
    says(&said, &["exit code: 1", "the first one stands at main.tf:1:1", "hint: correct the file; it is in the root"]);
    assert!(!said.text.contains("checked") && !said.text.contains("leave its folder out"), "{}", said.text);
}
