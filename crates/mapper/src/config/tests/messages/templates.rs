//! Repository templates.

use insta::assert_snapshot;

use super::{method, template};

#[test]
fn the_password_of_a_template_was_shown() {
    assert_snapshot!(template("me:S3cr3t@ghcr.io/${hostname}/${namespace}/{type}"), @r#"
    Error: `***@ghcr.io/${hostname}/${namespace}/{type}` does not mention ${type} (missing-type)
      --> /home/u/.tofurc:3:28 "***"
      = instead: a part of the address is written with $ and braces: ***@ghcr.io/${hostname}/${namespace}/${type}
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert!(!template("token@ghcr.io/${hostname}/${namespace}/${type}").contains("token"));
}

#[test]
fn templates_that_are_dropped() {
    assert_snapshot!(method("oci_mirror {\n    repo_template = \"ghcr.io/x\"\n  }"), @r#"
    Error: oci_mirror needs repository_template (template-required)
      --> /home/u/.tofurc:2:3 "oci_mirror"
      = instead: write repository_template = "ghcr.io/acme/${hostname}/${namespace}/${type}"
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(method("oci_mirror {\n    repository_template = [\"a\"]\n  }"), @r#"
    Error: repository_template must be a text in quotes, and this is a list (decode)
      --> /home/u/.tofurc:3:27 "[\"a\"]"
      = instead: write repository_template = "…"
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(template("ghcr.io/${hostname}/${namespace}/${type}/${version}"), @r#"
    Error: `ghcr.io/${hostname}/${namespace}/${type}/${version}` mentions `version` at column 44, which an address does not have (unknown-symbol:version)
      --> /home/u/.tofurc:3:71 "version"
      = instead: write ${hostname}, ${namespace} or ${type}
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(template("ghcr.io/x"), @r#"
    Error: `ghcr.io/x` does not mention ${hostname} (missing-hostname)
      --> /home/u/.tofurc:3:28 "ghcr.io/x"
      = instead: write ${hostname} somewhere in it, or let `include` name exactly one hostname
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    Error: `ghcr.io/x` does not mention ${namespace} (missing-namespace)
      --> /home/u/.tofurc:3:28 "ghcr.io/x"
      = instead: write ${namespace} somewhere in it, or let `include` name exactly one namespace
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    Error: `ghcr.io/x` does not mention ${type} (missing-type)
      --> /home/u/.tofurc:3:28 "ghcr.io/x"
      = instead: write ${type} somewhere in it, or let `include` name exactly one type
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(template("ghcr.io/${lower(hostname)}/${namespace}/${type}"), @r#"
    Error: `ghcr.io/${lower(hostname)}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 11 (hcl:function-calls-not-allowed)
      --> /home/u/.tofurc:3:38 "lower(hostname)"
      = instead: write a condition, or an object with one item for each case
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method
    "#);
    assert_snapshot!(template("ghcr.io/${[for x in [hostname] : x][0]}/${namespace}/${type}"), @r#"
    Error: `ghcr.io/${[for x in [hostname] : x][0]}/${namespace}/${type}` is not a repository template: tofu-oci does not evaluate `for`, at column 11 (hcl:not-supported)
      --> /home/u/.tofurc:3:38 "[for x in [hostname] : x]"
      = instead: write each element by itself, such as ${list[0]}
      = OpenTofu 1.13: evaluates it, with a result that is not predicted here
    "#);
    assert_snapshot!(template("ghcr.io/${hostname[0]}/${namespace}/${type}"), @r#"
    Error: `ghcr.io/${hostname[0]}/${namespace}/${type}` is not a repository template: a text has no elements, at column 19 (hcl:invalid-index)
      --> /home/u/.tofurc:3:46 "[0]"
      = instead: write plain text with ${hostname}, ${namespace} and ${type}
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method
    "#);
    assert_snapshot!(template("ghcr.io/${name space}/${namespace}/${type}"), @r#"
    Error: `ghcr.io/${name space}/${namespace}/${type}` is not a repository template: the expression ends here, and neither an operator nor } follows, at column 16 (hcl:invalid-syntax)
      --> /home/u/.tofurc:3:43 "space"
      = instead: write plain text with ${hostname}, ${namespace} and ${type}
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method
    "#);
    assert_snapshot!(template("https://ghcr.io/${hostname}/${namespace}/${type}"), @r#"
    Error: `https://ghcr.io/${hostname}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `https://ghcr.io/example.com/example-namespace/example-type` is not a repository address: it is written without a scheme such as https:// (invalid-repository-address)
      --> /home/u/.tofurc:3:28 "https://ghcr.io/${hostname}/${namespace}/${type}"
      = instead: write "ghcr.io/${hostname}/${namespace}/${type}", without the scheme
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(template("${[hostname, namespace, type]}"), @r#"
    Error: `${[hostname, namespace, type]}` gives no text: a text is needed, not a list (not-a-string)
      --> /home/u/.tofurc:3:28 "${[hostname, namespace, type]}"
      = instead: write a template that always gives a text
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(template("${true ? null : \"${hostname}${namespace}${type}\"}"), @r#"
    Error: `${true ? null : "${hostname}${namespace}${type}"}` gives null instead of a repository address (null-result)
      --> /home/u/.tofurc:3:28 "${true ? null : \"${hostname}${namespace}${type}\"}"
      = instead: write a template that always gives a text
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
}
