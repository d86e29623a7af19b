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
      --> /home/u/.tofurc:3:71
      |
    3 |     repository_template = "ghcr.io/${hostname}/${namespace}/${type}/${version}"
      |                                                                       ^^^^^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/x"), @r#"
    error: `ghcr.io/x` does not mention ${hostname}: write it somewhere, or let `include` name exactly one hostname (missing-hostname)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/x"
      |                            ^^^^^^^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    error: `ghcr.io/x` does not mention ${namespace}: write it somewhere, or let `include` name exactly one namespace (missing-namespace)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/x"
      |                            ^^^^^^^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    error: `ghcr.io/x` does not mention ${type}: write it somewhere, or let `include` name exactly one type (missing-type)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "ghcr.io/x"
      |                            ^^^^^^^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/${lower(hostname)}/${namespace}/${type}"), @r#"
    error: `ghcr.io/${lower(hostname)}/${namespace}/${type}` is not a repository template: functions cannot be called here: write a condition, or an object with one item for each case, at column 11 (hcl:function-calls-not-allowed)
      --> /home/u/.tofurc:3:38
      |
    3 |     repository_template = "ghcr.io/${lower(hostname)}/${namespace}/${type}"
      |                                      ^^^^^^^^^^^^^^^
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/${hostname[0]}/${namespace}/${type}"), @r#"
    error: `ghcr.io/${hostname[0]}/${namespace}/${type}` is not a repository template: a text has no elements, at column 19 (hcl:invalid-index)
      --> /home/u/.tofurc:3:46
      |
    3 |     repository_template = "ghcr.io/${hostname[0]}/${namespace}/${type}"
      |                                              ^^^
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("ghcr.io/${name space}/${namespace}/${type}"), @r#"
    error: `ghcr.io/${name space}/${namespace}/${type}` is not a repository template: the expression ends here and no } follows: write $${ where ${ is meant as text, at column 16 (hcl:extra-characters-after-interpolation-expression)
      --> /home/u/.tofurc:3:43
      |
    3 |     repository_template = "ghcr.io/${name space}/${namespace}/${type}"
      |                                           ^^^^^
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("https://ghcr.io/${hostname}/${namespace}/${type}"), @r#"
    error: `https://ghcr.io/${hostname}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `https://ghcr.io/example.com/example-namespace/example-type` is not a repository address: it is written without a scheme such as https:// (invalid-repository-address)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "https://ghcr.io/${hostname}/${namespace}/${type}"
      |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write "ghcr.io/${hostname}/${namespace}/${type}", without the scheme
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("${[hostname, namespace, type]}"), @r#"
    error: `${[hostname, namespace, type]}` gives no text: a text is needed, not a list (not-a-string)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "${[hostname, namespace, type]}"
      |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
    assert_snapshot!(template("${true ? null : \"${hostname}${namespace}${type}\"}"), @r#"
    error: `${true ? null : "${hostname}${namespace}${type}"}` gives null instead of a repository address (null-result)
      --> /home/u/.tofurc:3:28
      |
    3 |     repository_template = "${true ? null : "${hostname}${namespace}${type}"}"
      |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    "#);
}
