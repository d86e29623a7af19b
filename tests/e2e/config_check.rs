//! `config check`.

use insta::assert_snapshot;

use crate::setup::Scene;

/// A configuration without findings.
pub(crate) const CLEAN: &str = r#"provider_installation {
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
    {"event":"checked","files":1,"not_read":0,"errors":0,"warnings":0,"notes":0}

    ----- stderr -----
    "#);
}

#[test]
fn each_fault_is_shown_with_its_line_and_what_each_release_does() {
    let scene = Scene::new();
    let broken = CLEAN.replace("${namespace}/${type}", "${name}").replace("  direct", "  dirct");
    scene.home_file(".tofurc", &broken);
    assert_snapshot!(scene.run("config check").text, @r#"
    exit code: 1
    ----- stdout -----
    error[empty-installation] no method of provider_installation is left
      --> [HOME]/.tofurc:1:1
      |
    1 | provider_installation {
      | ^^^^^^^^^^^^^^^^^^^^^
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write the methods as their errors say

    error[missing-namespace] `ghcr.io/acme/${name}` does not mention ${namespace}
      --> [HOME]/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/acme/${name}"
      |                            ^^^^^^^^^^^^^^^^^^^^
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write ${namespace} somewhere in it, or let `include` name exactly one namespace

    error[missing-type] `ghcr.io/acme/${name}` does not mention ${type}
      --> [HOME]/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/acme/${name}"
      |                            ^^^^^^^^^^^^^^^^^^^^
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write ${type} somewhere in it, or let `include` name exactly one type

    error[unknown-symbol] `ghcr.io/acme/${name}` mentions `name` at column 16, which an address does not have
      --> [HOME]/.tofurc:3:43
      |
    3 |     repository_template = "ghcr.io/acme/${name}"
      |                                           ^^^^
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write ${hostname}, ${namespace} or ${type}

    error[unknown-method] there is no installation method dirct
      --> [HOME]/.tofurc:6:3
      |
    6 |   dirct {
      |   ^^^^^
      = what happens: 1.10 and later: prints an error that names line 6, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write direct

    5 errors; 1 file read

    ----- stderr -----
    "#);
    assert_snapshot!(scene.run("config check --json").text, @r#"
    exit code: 1
    ----- stdout -----
    {"event":"finding","rule":"empty-installation","level":"error","path":"[HOME]/.tofurc","line":1,"column":1,"releases":["1.10","1.12","1.13"],"title":"no method of provider_installation is left","detail":"init finds no release of any provider, and names no cause; no method counts in their place","instead":"write the methods as their errors say","opens_to_origin":false}
    {"event":"finding","rule":"missing-namespace","level":"error","path":"[HOME]/.tofurc","line":3,"column":28,"releases":["1.10","1.12","1.13"],"title":"`ghcr.io/acme/${name}` does not mention ${namespace}","detail":"1.10 and later: prints an error that names line 2, and goes on without this method\n1.10 and later: no method is left, so that no provider can be installed","instead":"write ${namespace} somewhere in it, or let `include` name exactly one namespace","opens_to_origin":false}
    {"event":"finding","rule":"missing-type","level":"error","path":"[HOME]/.tofurc","line":3,"column":28,"releases":["1.10","1.12","1.13"],"title":"`ghcr.io/acme/${name}` does not mention ${type}","detail":"1.10 and later: prints an error that names line 2, and goes on without this method\n1.10 and later: no method is left, so that no provider can be installed","instead":"write ${type} somewhere in it, or let `include` name exactly one type","opens_to_origin":false}
    {"event":"finding","rule":"unknown-symbol","level":"error","path":"[HOME]/.tofurc","line":3,"column":43,"releases":["1.10","1.12","1.13"],"title":"`ghcr.io/acme/${name}` mentions `name` at column 16, which an address does not have","detail":"1.10 and later: prints an error that names line 2, and goes on without this method\n1.10 and later: no method is left, so that no provider can be installed","instead":"write ${hostname}, ${namespace} or ${type}","opens_to_origin":false}
    {"event":"finding","rule":"unknown-method","level":"error","path":"[HOME]/.tofurc","line":6,"column":3,"releases":["1.10","1.12","1.13"],"title":"there is no installation method dirct","detail":"1.10 and later: prints an error that names line 6, and goes on without this method\n1.10 and later: no method is left, so that no provider can be installed","instead":"write direct","opens_to_origin":false}
    {"event":"checked","files":1,"not_read":0,"errors":5,"warnings":0,"notes":0}

    ----- stderr -----
    "#);
}

#[test]
fn a_repeated_argument_is_a_finding_of_1_12_and_later() {
    let scene = Scene::new();
    scene.home_file(".tofurc", &CLEAN.replacen("  }\n", "    include = [\"example.net/*/*\"]\n  }\n", 1));
    assert_snapshot!(scene.run("config check").text, @r#"
    exit code: 1
    ----- stdout -----
    error[missing-hostname] `ghcr.io/acme/${namespace}/${type}` does not mention ${hostname}
      --> [HOME]/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/acme/${namespace}/${type}"
      |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = what happens: 1.10: prints an error that names line 2, and goes on without this method; the others serve
                      1.10: direct at [HOME]/.tofurc:7 takes over example.net/*/*: downloads from each provider's own registry
      = instead: write ${hostname} somewhere in it, or let `include` name exactly one hostname

    error[hcl1-parse] the argument `include` was already set; each can be given once only
      --> [HOME]/.tofurc:5:5
      |
    5 |     include = ["example.net/*/*"]
      |     ^^^^^^^
      = what happens: 1.12 and later: prints an error that names line 5, and goes on without this file
                      1.12 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: write each argument once; of a list, all in one pair of brackets

    2 errors; 1 file read

    ----- stderr -----
    "#);
}

#[test]
fn a_misspelt_block_is_told_with_the_right_spelling() {
    let scene = Scene::new();
    scene.home_file(".tofurc", &CLEAN.replace("provider_installation", "provider_instalation"));
    assert_snapshot!(scene.run("config check").text, @"
    exit code: 1
    ----- stdout -----
    error[misspelt-name] there is no setting provider_instalation
      --> [HOME]/.tofurc:1:1
      |
    1 | provider_instalation {
      | ^^^^^^^^^^^^^^^^^^^^
      = what happens: 1.10 and later: says nothing, and ignores it
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: write provider_installation

    1 error; 1 file read

    ----- stderr -----
    ");
}

#[test]
fn no_secret_is_shown() {
    let scene = Scene::new();
    scene.home_file(
        ".tofurc",
        "credentials \"bad host\" {\n  token = \"hunter2\"\n}\ncredentials \"a.example\" { token = \"hunter2 }\n",
    );
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

#[test]
fn a_configuration_that_cannot_be_read_is_no_clean_bill() {
    let scene = Scene::new();
    scene.home_file(".tofurc", "provider_installation {\n  direct {}\n}\n");
    std::fs::write(scene.path("main.tf"), "terraform {\n").expect("a file in the work folder");
    assert_snapshot!(scene.run("config check").text, @"
    exit code: 2
    ----- stdout -----
    no findings; 1 file read, and not all that was to be looked at

    ----- stderr -----
    warning: ./main.tf:1:13: the file does not parse: invalid block body; expected `}`, newline or identifier; the check goes on without it
    ");
}
