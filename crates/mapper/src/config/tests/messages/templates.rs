//! Repository templates.

use insta::assert_snapshot;

use super::{method, template};

#[test]
fn templates_that_are_dropped() {
    assert_snapshot!(method("oci_mirror {\n    repo_template = \"ghcr.io/x\"\n  }"), @r#"
    error: oci_mirror needs repository_template (template-required)
      --> /home/u/.tofurc:2:3
      |
    2 |   oci_mirror {
      |   ^^^^^^^^^^
      = instead: write repository_template = "ghcr.io/acme/${hostname}/${namespace}-${type}"
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("oci_mirror {\n    repository_template = [\"a\"]\n  }"), @r#"
    error: repository_template must be a text in quotes, and this is a list (decode)
      --> /home/u/.tofurc:3:27
      |
    3 |     repository_template = ["a"]
      |                           ^^^^^
      = instead: write repository_template = "…"
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/${hostname}/${namespace}/${type}/${version}"), @r#"
    error: `ghcr.io/${hostname}/${namespace}/${type}/${version}` mentions `version` at column 44, which an address does not have: write ${hostname}, ${namespace} or ${type} (unknown-symbol:version)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/${hostname}/${namespace}/${type}/${version}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/x"), @"");
    assert_snapshot!(template("ghcr.io/${lower(hostname)}/${namespace}/${type}"), @r#"
    error: `ghcr.io/${lower(hostname)}/${namespace}/${type}` has a function call at column 11, which is not supported here: write plain text, ${hostname}, ${namespace} and ${type} (unsupported-expression)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/${lower(hostname)}/${namespace}/${type}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/${hostname[0]}/${namespace}/${type}"), @r#"
    error: `ghcr.io/${hostname[0]}/${namespace}/${type}` has an index at column 11, which is not supported here: write one template for each case, from plain text, ${hostname}, ${namespace} and ${type} (unsupported-expression)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/${hostname[0]}/${namespace}/${type}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/${name space}/${namespace}/${type}"), @r#"
    error: `ghcr.io/${name space}/${namespace}/${type}` is not a template: expected `}`, at column 16 (hcl-parse)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/${name space}/${namespace}/${type}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("https://ghcr.io/${hostname}/${namespace}/${type}"), @r#"
    error: `https://ghcr.io/${hostname}/${namespace}/${type}` gives no repository address (invalid-repository-address)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "https://ghcr.io/${hostname}/${namespace}/${type}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("${[hostname, namespace, type]}"), @r#"
    error: `${[hostname, namespace, type]}` has a list at column 3, which is not supported here: write plain text, ${hostname}, ${namespace} and ${type} (unsupported-expression)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "${[hostname, namespace, type]}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("${true ? null : \"${hostname}${namespace}${type}\"}"), @r#"
    error: `${true ? null : "${hostname}${namespace}${type}"}` has a condition at column 3, which is not supported here: write one template for each case, from plain text, ${hostname}, ${namespace} and ${type} (unsupported-expression)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "${true ? null : "${hostname}${namespace}${type}"}"
      |                            ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
}
