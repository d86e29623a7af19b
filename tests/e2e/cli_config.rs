//! Where providers come from by the CLI configuration: `install`, `versions` and `resolve`.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

/// An `oci_mirror` for the host of the tests, and the origin for the rest, disjoint.
const MIRROR: &str = r#"provider_installation {
  oci_mirror {
    repository_template = "REGISTRY/${namespace}/${type}"
    include             = ["registry.example.com/*/*"]
  }
  direct {
    exclude = ["registry.example.com/*/*"]
  }
}
"#;

impl Scene {
    /// Writes a file of the user's home folder; `REGISTRY` means the registry's address.
    pub(crate) fn home_file(&self, name: &str, text: &str) {
        self.context.write_home(name, text.replace("REGISTRY", self.registry.address()));
    }
}

#[test]
fn a_provider_is_installed_through_an_oci_mirror_block() {
    let mut scene = Scene::published();
    let file = scene.context.write("ci.tofurc", MIRROR.replace("REGISTRY", scene.registry.address()));
    scene.context.env("TF_CLI_CONFIG_FILE", file.display().to_string());
    assert_snapshot!(scene.run(&format!("install {WIDGET} --platform linux_amd64")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget
    ");
    assert_snapshot!(scene.run(&format!("resolve {WIDGET}")).text, @"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget

    ----- stderr -----
    registry.example.com/acme/widget by the repository template `[REGISTRY]/${namespace}/${type}`, oci_mirror at [WORK]/ci.tofurc:2
    ");
    assert_snapshot!(scene.run(&format!("versions {WIDGET}")).text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    asking [REGISTRY]/acme/widget for registry.example.com/acme/widget, as the CLI configuration says
    ");
}

#[test]
fn a_broken_file_ends_the_verb_and_shows_the_line() {
    let scene = Scene::published();
    scene.home_file(
        ".tofurc",
        "provider_installation {\n  oci_mirror {\n    repository_template = \"ghcr.io/x\n  }\n}\n",
    );
    assert_snapshot!(scene.refuse(&format!("install {WIDGET}")), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: this quote has no closing quote on its line (hcl1-parse)
      --> [HOME]/.tofurc:3:27
      |
    3 |     repository_template = "ghcr.io/x
      |                           ^
      = instead: write the closing quote, and `\n` for a line's end
      = OpenTofu 1.13: prints an error that names line 3, and goes on without this file

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    "#);
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET}")), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: this quote has no closing quote on its line (hcl1-parse)
      --> [HOME]/.tofurc:3:27
      |
    3 |     repository_template = "ghcr.io/x
      |                           ^
      = instead: write the closing quote, and `\n` for a line's end
      = OpenTofu 1.13: prints an error that names line 3, and goes on without this file

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    "#);
    // Such a file may hold credentials, too. If no registry is shown any, --from says everything.
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    assert!(scene.refuse(&line).starts_with("exit code: 2"));
    let said = scene.run(&format!("{line} --anonymous")).success();
    assert!(!said.text.contains("tofurc"), "{}", said.text);
}

#[test]
fn a_misspelt_block_ends_the_verb() {
    let scene = Scene::published();
    scene.home_file(".tofurc", &MIRROR.replace("provider_installation", "provider_instalation"));
    assert_snapshot!(scene.refuse(&format!("install {WIDGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no setting provider_instalation (misspelt-name)
      --> [HOME]/.tofurc:1:1
      |
    1 | provider_instalation {
      | ^^^^^^^^^^^^^^^^^^^^
      = instead: write provider_installation
      = OpenTofu 1.13: says nothing, and ignores it

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    hint: with --from REPOSITORY provider_installation is not looked at
    ");
}

#[test]
fn a_file_that_is_named_and_not_there_ends_the_verb() {
    let mut scene = Scene::published();
    scene.context.env("TF_CLI_CONFIG_FILE", "missing.tofurc");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: TF_CLI_CONFIG_FILE names [WORK]/missing.tofurc, which is not there (cli-config-missing)
      --> [WORK]/missing.tofurc
      = instead: name a file that is there, or unset TF_CLI_CONFIG_FILE to have the usual files read
      = OpenTofu 1.13: warns, and goes on without this file

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    hint: with --from REPOSITORY provider_installation is not looked at
    ");
}

#[test]
fn a_template_that_works_for_one_provider_says_for_which_it_does_not() {
    let scene = Scene::published();
    // In the file: ${type == "other" ? "UPPER" : type}
    scene.home_file(".tofurc", &MIRROR.replace("${type}", "${type == \"other\" ? \"UPPER\" : type}"));
    scene.run(&format!("resolve {WIDGET}")).success();
    assert_snapshot!(scene.refuse("install registry.example.com/acme/other"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/other: nothing can be installed from oci_mirror at [HOME]/.tofurc:2
      cause: the repository template `[REGISTRY]/${namespace}/${type == "other" ? "UPPER" : type}` gives no repository for registry.example.com/acme/other
      cause: `[REGISTRY]/acme/UPPER` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`

    hint: change the template so that it gives a repository, or exclude the provider from this method
    "#);
}

#[test]
fn two_providers_never_share_a_repository() {
    let scene = Scene::published();
    let two = TWO_MIRRORS.replace("REGISTRY/other/", "REGISTRY/acme/");
    scene.home_file(".tofurc", &two.replacen("com/acme/*", "com/other/*", 1));
    scene.run("resolve registry.example.com/other/widget").success();
    assert_snapshot!(scene.refuse("install registry.example.com/acme/widget registry.example.com/other/widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget and registry.example.com/other/widget would both come from [REGISTRY]/acme/widget

    hint: write a repository_template that tells them apart: REGISTRY/${hostname}/${namespace}/${type}
    ");
}

#[test]
fn a_provider_that_no_method_is_for_is_an_error() {
    let scene = Scene::published();
    scene.home_file(".tofurc", "provider_installation {\n  direct {\n    include = [\"example.net/*/*\"]\n  }\n}\n");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no installation method of the CLI configuration is for registry.example.com/acme/widget

    hint: `tofu-oci resolve registry.example.com/acme/widget --explain` says of each method why
    hint: or say where it is with --from REPOSITORY
    ");
}

#[test]
fn a_mirror_that_lacks_a_version_does_not_give_way() {
    let scene = Scene::published();
    scene.dist("dist-1.5.0", "1.5.0");
    scene.run(&format!("push dist-1.5.0 REGISTRY/other/widget --address {WIDGET}")).success();
    scene.home_file(".tofurc", TWO_MIRRORS);
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget has no version 1.5.0
      cause: asked [REGISTRY]/acme/widget
      cause: by oci_mirror at [HOME]/.tofurc:2
      cause: a mirror never lets a later method serve what it lacks itself

    hint: it has 1.4.0
    hint: oci_mirror at [HOME]/.tofurc:6 would serve it: put `exclude = ["registry.example.com/acme/widget"]` into oci_mirror at [HOME]/.tofurc:2, or move that method after it
    "#);
}

/// The second one has a newer version than the first.
pub(crate) const TWO_MIRRORS: &str = r#"provider_installation {
  oci_mirror {
    repository_template = "REGISTRY/acme/${type}"
    include             = ["registry.example.com/acme/*"]
  }
  oci_mirror {
    repository_template = "REGISTRY/other/${type}"
    include             = ["registry.example.com/acme/*"]
  }
}
"#;

#[test]
fn the_folder_that_is_installed_into_is_not_where_packages_come_from() {
    let scene = Scene::published();
    scene.home_file(
        ".tofurc",
        &MIRROR.replace("  direct {", "  filesystem_mirror {\n    path = \"mirror\"\n  }\n  direct {"),
    );
    let line = format!("install {WIDGET} --into mirror --platform linux_amd64");
    scene.run(&line).success();
    // The provider lies there now; it comes from the repository all the same.
    scene.run(&line).success();
    // Without a configuration the folder of --vendor would be an implicit mirror.
    scene.home_file(".tofurc", "tofu_oci {\n  magic_suffix = \"magic.test\"\n}\n");
    let address = scene.registry.address().replacen(':', ".magic.test:", 1);
    scene.dist("dist-2.0.0", "2.0.0");
    scene
        .run(&format!("push dist-2.0.0 REGISTRY/acme/opentofu-provider-widget --address {address}/acme/widget"))
        .success();
    let line = format!("install {address}/acme/widget --vendor --platform linux_amd64 --private-host 127.0.0.1");
    scene.run(&line).success();
    scene.run(&line).success();
}

#[test]
fn the_suffix_of_the_arguments_beats_that_of_the_configuration() {
    let scene = Scene::new();
    scene.home_file(".tofurc", "tofu_oci {\n  magic_suffix = \"one.example\"\n}\n");
    let resolve = |line: &str| scene.run(&format!("resolve {line} --quiet")).success().stdout;
    assert_eq!(resolve("ghcr.io.one.example/acme/widget"), "ghcr.io/acme/opentofu-provider-widget\n");
    let said = resolve("ghcr.io.two.example/acme/widget --magic-suffix two.example");
    assert_eq!(said, "ghcr.io/acme/opentofu-provider-widget\n");
}

#[test]
fn the_plugin_cache_is_used() {
    let mut scene = Scene::published();
    scene.home_file(".tofurc", &format!("plugin_cache_dir = \"$HOME/cache\"\n{MIRROR}"));
    let line = format!("install {WIDGET} --platform linux_amd64");
    std::fs::create_dir(scene.context.home().join("cache")).expect("the home folder is writable");
    scene.run(&line).success();
    let package = "registry.example.com/acme/widget/1.4.0/linux_amd64";
    assert!(scene.context.home().join("cache").join(package).is_dir());
    let linked = scene.path(".terraform/providers").join(package);
    assert!(linked.symlink_metadata().expect("it is there").is_symlink());
    // What is locked and in the cache costs no request.
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it is there");
    scene.registry.clear_requests();
    scene.run(&line).success();
    assert_eq!(scene.conversation(), Vec::<String>::new());
    // The variable names another one.
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it is there");
    let other = scene.path("other-cache");
    std::fs::create_dir(&other).expect("the work folder is writable");
    scene.context.env("TF_PLUGIN_CACHE_DIR", other.display().to_string());
    scene.run(&line).success();
    assert!(other.join(package).is_dir());
}

#[test]
fn developers_overrides_are_warned_of() {
    let scene = Scene::published();
    let overrides =
        "provider_installation {\n  dev_overrides {\n    \"registry.example.com/acme/widget\" = \"/opt/widget\"\n  }\n";
    scene.home_file(".tofurc", &MIRROR.replace("provider_installation {\n", overrides));
    assert_snapshot!(scene.run(&format!("install {WIDGET} --platform linux_amd64")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    warning: dev_overrides in the CLI configuration: OpenTofu runs registry.example.com/acme/widget from /opt/widget, whatever is installed and locked
      hint: the provider is installed all the same; remove the entry to use what is installed
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget
    ");
}

#[test]
fn what_is_part_of_opentofu_is_left_alone() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("install terraform.io/builtin/terraform"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: terraform.io/builtin/terraform is part of OpenTofu and Terraform themselves

    hint: there is nothing to install; omit it
    ");
}

#[test]
fn the_password_of_a_network_mirror_is_in_no_output() {
    let scene = Scene::published();
    let url = "https://ada:hunter2@mirror.example.com/p/?sig=hunter2";
    scene.home_file(
        ".tofurc",
        &format!("provider_installation {{\n  network_mirror {{\n    url = \"{url}\"\n  }}\n}}\n"),
    );
    for arguments in
        ["resolve", "resolve --json", "resolve --explain", "resolve --explain --json", "versions -vv --provider"]
    {
        let text = scene.run(&format!("{arguments} {WIDGET}")).text;
        assert!(text.contains("mirror.example.com") && !text.contains("hunter2"), "{arguments}\n{text}");
    }
}

#[test]
fn resolve_tells_of_the_method_that_an_installation_stops_at() {
    let scene = Scene::published();
    let mirror = "  oci_mirror {\n    repository_template = \"REGISTRY/${namespace}/${type}\"\n    include = [\"nobody.invalid/*/*\"]\n  }\n";
    scene.home_file(".tofurc", &format!("provider_installation {{\n  direct {{}}\n{mirror}}}\n"));
    let text = scene.run("resolve nobody.invalid/acme/widget").text;
    assert!(text.contains("exit code: 0") && text.contains("/acme/widget\n"), "{text}");
    assert!(text.contains("warning: direct at ") && text.contains("`install` stops there"), "{text}");
}

#[test]
fn an_empty_constraint_is_no_newest_version() {
    let scene = Scene::new();
    let said = scene.refuse("resolve registry.example.com/acme/widget@ --explain");
    assert!(said.contains("exit code: 2") && said.contains("names no version after the @"), "{said}");
}
