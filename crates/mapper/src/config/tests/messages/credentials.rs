//! Credentials of OCI registries.

use insta::assert_snapshot;

use super::reported;

#[test]
fn credentials_of_oci_registries() {
    let block = |text: &str| reported(&format!("oci_credentials \"ghcr.io\" {{\n  {text}\n}}\n"));
    assert_snapshot!(block(""), @r#"
    Error: oci_credentials holds no credentials (block-no-style)
      --> /home/u/.tofurc:1:1 "oci_credentials"
      = instead: write username and password, or access_token and refresh_token, or docker_credentials_helper
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("username = \"u\""), @r#"
    Error: username and password belong together (block-basic-needs-both)
      --> /home/u/.tofurc:1:1 "oci_credentials"
      = instead: write both
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("access_token = \"hunter2\""), @r#"
    Error: access_token and refresh_token belong together (block-oauth-needs-both)
      --> /home/u/.tofurc:1:1 "oci_credentials"
      = instead: write both
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("username = \"u\"\n  password = \"hunter2\"\n  docker_credentials_helper = \"h\""), @r#"
    Error: oci_credentials holds more than one kind of credentials (block-two-styles)
      --> /home/u/.tofurc:1:1 "oci_credentials"
      = instead: write username and password, or access_token and refresh_token, or docker_credentials_helper
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("password = [\"hunter2\"]"), @r#"
    Error: password must be a text in quotes, and this is a list (block-argument-type)
      --> /home/u/.tofurc:2:14 "***"
      = instead: write password = "…"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("docker_credentials_helper = \"a/b\""), @r#"
    Error: `a/b` cannot be the name of a credential helper (invalid-helper-name)
      --> /home/u/.tofurc:2:31 "\"a/b\""
      = instead: write the part after docker-credential-, such as "pass"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
}

#[test]
fn labels_and_defaults_of_oci_credentials() {
    assert_snapshot!(reported("oci_credentials {\n}\n"), @r#"
    Error: oci_credentials has exactly one label (block-label-count)
      --> /home/u/.tofurc:1:1 "oci_credentials"
      = instead: write oci_credentials "ghcr.io/acme" { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(reported("oci_credentials \"ghcr.io/A\" {\n}\n"), @r#"
    Error: `ghcr.io/A` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (block-invalid-label)
      --> /home/u/.tofurc:1:17 "\"ghcr.io/A\""
      = instead: write REGISTRY or REGISTRY/PATH, in lower case and without a tag
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(reported("oci_credentials \"ghcr.io/a\" {\n  docker_credentials_helper = \"h\"\n}\n"), @r#"
    Error: docker_credentials_helper gives credentials for whole registries only (helper-with-path)
      --> /home/u/.tofurc:2:31 "\"h\""
      = instead: leave the path out of the label
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    let twice = "oci_credentials \"ghcr.io\" {\n  docker_credentials_helper = \"h\"\n}\n".repeat(2);
    assert_snapshot!(reported(&twice), @r#"
    Error: oci_credentials for ghcr.io is given a second time (duplicate-block)
      --> /home/u/.tofurc:4:1 "oci_credentials \"ghcr.io\" {\n  docker_credentials_helper = \"h\"\n}"
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(reported("{\"oci_credentials\": {\"ghcr.io\": \"x\"}, \"oci_default_credentials\": 1}"), @r#"
    Error: oci_default_credentials must be a block (block-not-object)
      --> /home/u/.tofurc:1:39 "\"oci_default_credentials\""
      = instead: write an object in braces
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    Error: oci_credentials has exactly one label (block-label-count)
      --> /home/u/.tofurc:1:2 "\"oci_credentials\""
      = instead: write oci_credentials "ghcr.io/acme" { … }
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    "#);
    assert_snapshot!(reported("oci_default_credentials \"x\" {\n}\noci_default_credentials = {\n}\n"), @r#"
    Error: oci_default_credentials has no label (block-label-count)
      --> /home/u/.tofurc:1:25 "\"x\""
      = instead: leave the label out, or write oci_credentials for one registry
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    Error: oci_default_credentials must be a block (block-equals)
      --> /home/u/.tofurc:3:1 "oci_default_credentials"
      = instead: leave the = out
      = OpenTofu 1.13: prints an error that names line 3, and goes on without this block
    "#);
    assert_snapshot!(reported("oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}\noci_default_credentials {\n}\n"), @r#"
    Error: docker_style_config_files has no meaning beside discover_ambient_credentials = false (block-files-without-discovery)
      --> /home/u/.tofurc:1:1 "oci_default_credentials"
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    Error: oci_default_credentials is given a second time (duplicate-block)
      --> /home/u/.tofurc:5:1 "oci_default_credentials {\n}"
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names no line, and crashes
    "#);
}
