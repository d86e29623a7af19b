//! `config check`.

use insta::assert_snapshot;

use crate::setup::Scene;

const CLEAN: &str = r#"provider_installation {
  oci_mirror {
    repository_template = "ghcr.io/acme/${namespace}/${type}"
    include             = ["registry.example.com/*/*"]
  }
  direct {
    exclude = ["registry.example.com/*/*"]
  }
}
"#;

#[test]
fn a_clean_configuration_has_no_findings() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("config check").text, @"
    exit code: 0
    ----- stdout -----
    no findings; 0 files read

    ----- stderr -----
    ");
    scene.home_file(".tofurc", CLEAN);
    assert_snapshot!(scene.run("config check").text, @"
    exit code: 0
    ----- stdout -----
    no findings; 1 file read

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("config check --json").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"checked","files":1,"errors":0,"warnings":0,"notes":0}

    ----- stderr -----
    "#);
}

#[test]
fn each_fault_is_shown_with_its_line_and_what_each_release_does() {
    let scene = Scene::new();
    let broken = CLEAN.replace("${namespace}/${type}", "${name}").replace("  direct", "  dirct");
    scene.home_file(".tofurc", &broken);
    assert_snapshot!(scene.run("config check").text, @"
    ");
    assert_snapshot!(scene.run("config check --json").text, @r#"
    "#);
}

#[test]
fn a_repeated_argument_is_a_finding_of_1_12_and_later() {
    let scene = Scene::new();
    scene.home_file(".tofurc", &CLEAN.replacen("  }\n", "    include = [\"example.net/*/*\"]\n  }\n", 1));
    assert_snapshot!(scene.run("config check").text, @"
    ");
}

#[test]
fn a_misspelt_block_is_told_with_the_right_spelling() {
    let scene = Scene::new();
    scene.home_file(".tofurc", &CLEAN.replace("provider_installation", "provider_instalation"));
    assert_snapshot!(scene.run("config check").text, @"
    ");
}

#[test]
fn no_secret_is_shown() {
    let scene = Scene::new();
    scene.home_file(".tofurc", "credentials \"bad host\" {\n  token = \"hunter2\"\n}\ncredentials \"a.example\" { token = \"hunter2 }\n");
    let said = scene.run("config check");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(!said.text.contains("hunter2"), "{}", said.text);
}

#[test]
fn a_folder_that_is_not_there_is_wrong_usage() {
    assert_snapshot!(Scene::new().refuse("config check --chdir nowhere"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no directory nowhere

    hint: --chdir names the directory that holds the configuration and its lock file
    ");
}
