//! What `serve` does besides serving.

use insta::assert_snapshot;

use crate::setup::Scene;

fn settings(scene: &Scene, more: &str) {
    let text = format!(
        "{more}\n[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"{}/${{namespace}}/${{type}}\"\n",
        scene.registry.address()
    );
    scene.context.write("serve.toml", text);
}

#[test]
fn a_configuration_is_checked_without_a_request() {
    let scene = Scene::published();
    settings(&scene, "");
    let said = scene.run("serve --config serve.toml --check-config").success();
    assert!(said.stdout.contains("registry.example.com/*/*"), "{}", said.text);
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_provider_and_a_module_shared_a_repository_without_a_word() {
    let scene = Scene::new();
    let checked = |modules: &str| {
        let provider = "[[provider]]\ninclude = [\"a.test/*/*\"]\nfrom = \"r.test/${namespace}/${type}\"\n";
        let module = format!("[[module]]\ninclude = [\"a.test/*/*/*\"]\nfrom = \"r.test/{modules}\"\n");
        scene.context.write("serve.toml", provider.to_owned() + &module);
        scene.run("serve --check-config").text
    };
    let said = checked("${namespace}/${name}-${target_system}");
    let want = "warning: a provider and a module may share a place: a.test/acme/a-b and the module a.test/acme/a/b both get \
                r.test/acme/a-b\n  hint: give modules a path of their own, such as \
                ghcr.io/acme/modules/${namespace}/${name}-${target_system}\n";
    assert!(said.contains(want), "{said}");
    let said = checked("modules/${namespace}/${name}-${target_system}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
#[cfg(unix)]
fn two_spellings_of_one_folder_were_two_places() {
    let scene = Scene::new();
    let dir = scene.path("");
    std::fs::create_dir(dir.join("d")).expect("the folder is made");
    std::os::unix::fs::symlink("d", dir.join("link")).expect("the link is made");
    let absolute = dir.join("d").display().to_string();
    let beside = |[one, other]: [&str; 2]| {
        let rule = |namespace: &str, from: &str| {
            format!("[[provider]]\ninclude = [\"a.test/{namespace}/*\"]\nfrom = \"oci:{from}/${{type}}\"\n")
        };
        scene.context.write("serve.toml", rule("acme", one) + &rule("other", other));
        scene.run("serve --check-config").text
    };
    for pair in [["d", "./d"], ["d", &absolute], [&absolute, "link"], ["d/new", &format!("{absolute}/new")]] {
        let said = beside(pair);
        assert!(said.contains("two providers to one folder") && said.contains("exit code: 2"), "{pair:?}: {said}");
    }
    let said = beside(["d", "e"]);
    assert!(said.contains("exit code: 0"), "{said}");
}

#[test]
fn a_second_address_does_not_lead_around_rights_and_excludes() {
    let scene = Scene::new();
    let refused = |settings: &str| {
        scene.context.write("serve.toml", settings);
        let said = scene.run("serve");
        assert_eq!(said.text, scene.run("serve --check-config").text);
        said.text
    };
    let provider = |include: &str, rest: &str| format!("[[provider]]\ninclude = [\"{include}\"]\n{rest}\n");
    let glued = "exclude = [\"a.test/acme-corp/*\"]\nfrom = \"r.test/${namespace}-${type}\"";
    assert_snapshot!(refused(&provider("a.test/*/*", glued)), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${type}` sends two providers to one repository: a.test/a-a/a and a.test/a/a-a both get r.test/a-a-a
      --> serve.toml:4:8
      |
    4 | from = "r.test/${namespace}-${type}"
      |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace
    "#);
    assert_snapshot!(refused(&provider("a.test/*/*", "from = \"r.test/acme/${type}\"")), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/acme/${type}` sends two providers to one repository: a.test/acme/zap and a.test/other/zap both get r.test/acme/zap
      --> serve.toml:3:8
      |
    3 | from = "r.test/acme/${type}"
      |        ^^^^^^^^^^^^^^^^^^^^^

    hint: write ${namespace} somewhere in it, or let `include` name exactly one namespace
    "#);
    assert_snapshot!(refused(&provider("a.test/acme/*", "from = \"r.test/acme/zap\"")), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/acme/zap` sends two providers to one repository: a.test/acme/zap and a.test/acme/widget both get r.test/acme/zap
      --> serve.toml:3:8
      |
    3 | from = "r.test/acme/zap"
      |        ^^^^^^^^^^^^^^^^^

    hint: name what it holds: include = ["HOST/NAMESPACE/TYPE"]
    "#);
    let pulled = "from = \"r.test/${namespace}/${type}\"\nupstream = [\"u.test/${namespace}-${type}\"]";
    assert_snapshot!(refused(&provider("a.test/*/*", pulled)), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `u.test/${namespace}-${type}` sends two providers to one repository: a.test/a-a/a and a.test/a/a-a both get u.test/a-a-a
      --> serve.toml:4:13
      |
    4 | upstream = ["u.test/${namespace}-${type}"]
      |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write / between the symbols, as in u.test/${namespace}/${type}; or a rule for each namespace
    "#);
    let (corp, acme) = ("from = \"r.test/acme-corp-${type}\"", "from = \"r.test/acme-${type}\"");
    let both = provider("a.test/acme-corp/*", corp) + &provider("a.test/acme/*", acme);
    assert_snapshot!(refused(&both), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/acme-corp-${type}` and `r.test/acme-${type}` send two providers to one repository: a.test/acme-corp/a and a.test/acme/corp-a both get r.test/acme-corp-a
      --> serve.toml:6:8
      |
    6 | from = "r.test/acme-${type}"
      |        ^^^^^^^^^^^^^^^^^^^^^

    hint: give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}
    "#);
    let modules = "[[module]]\ninclude = [\"a.test/*/*/*\"]\nfrom = \"r.test/${namespace}-${name}-${target_system}\"\n";
    assert_snapshot!(refused(modules), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}-${name}-${target_system}` sends two modules to one repository: a.test/a-b/c/d and a.test/a/b-c/d both get r.test/a-b-c-d
      --> serve.toml:3:8
      |
    3 | from = "r.test/${namespace}-${name}-${target_system}"
      |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write / between the symbols, as in r.test/${namespace}/${name}/${target_system}; or a rule for each namespace
    "#);
    let computed = "from = 'r.test/${namespace == type ? \"a\" : \"b\"}/x'";
    assert_snapshot!(refused(&provider("a.test/*/*", computed)), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace == type ? "a" : "b"}/x` computes with the parts of an address, so it is not known that each provider gets a place of its own
      --> serve.toml:3:8
      |
    3 | from = 'r.test/${namespace == type ? "a" : "b"}/x'
      |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write a template of text and symbols alone, such as ghcr.io/acme/${namespace}/${type}, in a rule for each case
    "#);
    assert_snapshot!(scene.run("serve --from r.test/${namespace}/${type}").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `r.test/${namespace}/${type}` sends two providers to one repository: registry.example.com/acme/zap and other.example.com/acme/zap both get r.test/acme/zap

    hint: write ${hostname} somewhere in it, or let `include` name exactly one hostname; or name the hosts with --predecessor if they are one
    hint: --include and --include-modules say what is served
    ");
    for settings in [
        provider("a.test/acme/*", "from = \"r.test/acme-${type}\""),
        provider(
            "a.test/*/*",
            "from = \"r.test/%{if namespace == \\\"acme\\\"}own%{else}all/${namespace}%{endif}/${type}\"",
        ),
        // The most specific place counts, so that the other one has none of these.
        provider("a.test/*/*", "from = \"r.test/${namespace}/${type}\"") + &provider("a.test/acme/*", acme),
    ] {
        scene.context.write("serve.toml", settings);
        scene.run("serve --check-config").success();
    }
}

#[test]
fn a_wrong_configuration_is_a_configuration_error_with_its_place() {
    let scene = Scene::new();
    for (more, named) in [
        ("listn = [\"127.0.0.1:0\"]", "listn"),
        ("listen = [\"0.0.0.0:8080\"]", "0.0.0.0:8080"),
        ("hashes = [\"h1\"]", "zh"),
        ("hosts = [\"registry.other.example\"]", "registry.other.example"),
    ] {
        settings(&scene, more);
        for check in ["", " --check-config"] {
            let said = scene.run(&format!("serve --config serve.toml{check}"));
            assert_eq!(said.code, Some(2), "{more}{check}: {}", said.text);
            assert!(said.stderr.contains("serve.toml") && said.stderr.contains(named), "{more}: {}", said.text);
        }
    }
    let said = scene.run("serve --config nowhere.toml");
    assert_eq!(said.code, Some(2), "{}", said.text);
}

#[test]
fn a_new_key_is_for_its_owner_alone_and_overwrites_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let scene = Scene::new();
    scene.run("serve --new-key bridge.asc").success();
    let mode = std::fs::metadata(scene.path("bridge.asc")).expect("it was written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = scene.context.read("bridge.asc");
    assert!(first.starts_with("-----BEGIN PGP PRIVATE KEY BLOCK-----"), "{first}");
    assert_ne!(scene.run("serve --new-key bridge.asc").code, Some(0));
    assert_eq!(scene.context.read("bridge.asc"), first);

    settings(&scene, "hosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"");
    let shown = scene.run("serve --config serve.toml --show-key").success();
    assert!(shown.stdout.contains("-----BEGIN PGP PUBLIC KEY BLOCK-----"), "{}", shown.text);
    assert!(!shown.text.contains("PRIVATE"), "{}", shown.text);
}

#[test]
fn a_key_of_another_kind_was_refused_without_a_way_to_the_right_one() {
    let scene = Scene::new();
    scene.context.write("cosign.key", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n");
    settings(&scene, "hosts = [\"registry.example.com\"]\nsigning_key = \"cosign.key\"");
    let said = scene.run("serve --check-config");
    assert!(said.stderr.contains("make one: tofu-oci serve --new-key FILE\n"), "{}", said.text);
}

#[test]
fn two_new_tokens_differ() {
    let scene = Scene::new();
    let tokens = ["one", "two"].map(|_| scene.run("serve --new-token").success().text);
    assert_ne!(tokens[0], tokens[1]);
    assert!(tokens[0].contains("token_sha256"), "{}", tokens[0]);
}

#[test]
fn a_place_of_the_file_was_looked_for_in_the_current_directory() {
    let scene = Scene::new();
    let places = "[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"static:tree\"\n";
    scene.context.write("etc/serve.toml", places);
    std::fs::create_dir_all(scene.path("etc/tree")).expect("the scene may write");
    let said = scene.run("serve --config etc/serve.toml --check-config").success();
    assert!(said.stdout.contains("from static:etc/tree"), "{}", said.text);
}

#[test]
fn a_folder_or_bundle_that_is_missing_was_called_right() {
    let scene = Scene::new();
    for place in ["oci:nowhere", "static:nowhere", "bundle:nowhere"] {
        let places = format!("[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"{place}\"\n");
        scene.context.write("serve.toml", places);
        for arguments in [String::new(), format!(" --from {place}")] {
            let said = scene.run(&format!("serve --check-config{arguments}"));
            assert_eq!(said.code, Some(2), "{place}{arguments}: {}", said.text);
            assert!(said.stderr.contains("nowhere"), "{}", said.text);
        }
    }
}

#[test]
fn a_sealed_server_was_said_to_fetch() {
    let scene = Scene::new();
    settings(&scene, "sealed = true");
    let text = format!("{}upstream = [\"direct\"]\n", scene.context.read("serve.toml"));
    scene.context.write("serve.toml", text);
    let said = scene.run("serve --check-config").success();
    assert!(said.stdout.contains("sealed, so that direct is never asked"), "{}", said.text);
}

#[test]
fn an_access_log_that_cannot_be_written_was_called_right() {
    let scene = Scene::new();
    scene.context.write("plain", "text");
    for path in ["nowhere/access.log", "plain/access.log"] {
        settings(&scene, &format!("access_log = \"{path}\""));
        let said = scene.run("serve --config serve.toml --check-config");
        assert_eq!(said.code, Some(2), "{path}: {}", said.text);
        assert!(said.stderr.contains(&format!("the access log {path} cannot be written")), "{}", said.text);
    }
    settings(&scene, "access_log = \"access.log\"");
    scene.run("serve --config serve.toml --check-config").success();
    assert!(!scene.path("access.log").exists(), "a check writes nothing");
    scene.context.write("access.log", "before\n");
    scene.run("serve --config serve.toml --check-config").success();
    assert_eq!(scene.context.read("access.log"), "before\n");
}

#[test]
fn a_key_was_shown_only_with_a_place() {
    let scene = Scene::new();
    scene.run("serve --new-key bridge.asc").success();
    let shown = scene.run("serve --show-key --signing-key bridge.asc").success();
    assert!(shown.stdout.contains("-----BEGIN PGP PUBLIC KEY BLOCK-----"), "{}", shown.text);
    let said = scene.run("serve --show-key");
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert!(said.stderr.contains("tofu-oci serve --show-key --signing-key"), "{}", said.text);
}

#[test]
fn the_mirror_url_as_url_was_accepted_silently() {
    let scene = Scene::new();
    settings(&scene, "url = \"https://providers.example.com/mirror/\"");
    for line in ["serve --check-config", "serve --check-config --from oci:. --url https://providers.example.com/mirror"]
    {
        let said = scene.run(line);
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(said.stderr.contains("hint: write https://providers.example.com/\n"), "{}", said.text);
    }
}
