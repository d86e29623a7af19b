//! What a user sees: one snapshot for each code, and the hard cases of showing a line.

use insta::assert_snapshot;

use super::super::{Reading, read, render_problem};
use super::{MemoryFiles, environment, read_text};
use crate::TofuRelease;

/// Everything that is told about a main file.
fn told(text: &str) -> String {
    all(&read_text(text, TofuRelease::V1_13))
}

fn all(reading: &Reading) -> String {
    reading.problems.iter().map(|problem| render_problem(reading, problem)).collect()
}

/// What is told about a method.
fn method(text: &str) -> String {
    told(&format!("provider_installation {{\n  {text}\n}}\n"))
}

/// What is told about a template.
fn template(text: &str) -> String {
    method(&format!("oci_mirror {{\n    repository_template = \"{text}\"\n  }}"))
}

#[test]
fn a_file_that_cannot_be_read() {
    let world = |vars: &[(&str, &str)], files: &[(&str, &str)]| {
        let mut environment = environment();
        environment.vars.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut memory = MemoryFiles::default();
        for (path, text) in files {
            memory.add(path, text);
        }
        all(&read(&environment, &memory, TofuRelease::V1_13))
    };
    assert_snapshot!(world(&[("TF_CLI_CONFIG_FILE", "/nosuch.rc")], &[]), @"
    warning: TF_CLI_CONFIG_FILE names /nosuch.rc, which is not there (cli-config-missing)
      --> /nosuch.rc
      = instead: name a file that is there, or unset TF_CLI_CONFIG_FILE to have the usual files read
      = OpenTofu 1.13: warns, and goes on without this file
    ");
    assert_snapshot!(world(&[("TF_CLI_CONFIG_FILE", "/home/u")], &[("/home/u/x", "")]), @"
    error: /home/u cannot be read: it is a folder (cli-config-unreadable)
      --> /home/u
      = instead: name a readable file here
      = OpenTofu 1.13: prints an error that names no line, and goes on without this file
    ");
    assert_snapshot!(world(&[], &[("/home/u/.terraform.d/a.tfrc/x", "")]), @"
    error: /home/u/.terraform.d/a.tfrc cannot be read: it is a folder (cli-config-unreadable)
      --> /home/u/.terraform.d/a.tfrc
      = instead: name a readable file here
      = OpenTofu 1.13: prints an error that names no line, and goes on without this file
    ");
    assert_snapshot!(world(&[("TF_PLUGIN_CACHE_DIR", "/nosuch")], &[]), @"
    error: TF_PLUGIN_CACHE_DIR names /nosuch, which is not there (plugin-cache-dir)
      = instead: create the folder, or unset TF_PLUGIN_CACHE_DIR
      = OpenTofu 1.13: prints an error that names no line, and uses it all the same
    ");
}

#[test]
fn a_syntax_error_drops_the_whole_file() {
    assert_snapshot!(told("provider_installation {\n  direct {\n  }\n"), @"
    error: this brace is not closed; its `}` is missing (hcl1-parse)
      --> /home/u/.tofurc:1:23
      |
    1 | provider_installation {
      |                       ^
      = OpenTofu 1.13: prints an error that names line 4, and goes on without this file
    ");
    assert_snapshot!(told("a = 1\na = 2\n"), @"
    error: the argument `a` was already set; each can be given once only (hcl1-parse)
      --> /home/u/.tofurc:2:1
      |
    2 | a = 2
      | ^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this file
    ");
    assert_snapshot!(told("x = 'a'\n"), @"
    error: `'` cannot stand here; texts stand in double quotes (hcl1-parse)
      --> /home/u/.tofurc:1:5
      |
    1 | x = 'a'
      |     ^
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    ");
    assert_snapshot!(told("\u{feff}a = 1\n"), @"
    error: the file starts with a byte order mark; save it as UTF-8 without one (hcl1-parse)
      --> /home/u/.tofurc:1:1
      |
    1 | �a = 1
      | ^
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    ");
    assert_snapshot!(told("{\"provider_installation\": {\"oci_mirror\": {,}}}"), @r#"
    error: a comma can stand behind an item only (hcl1-parse)
      --> /home/u/.tofurc:1:43
      |
    1 | {"provider_installation": {"oci_mirror": {,}}}
      |                                           ^
      = OpenTofu 1.13: prints an error that names no line, and goes on without this file
    "#);
    assert_snapshot!(told("plugin_cache_dir = [\"a\"]\n"), @r#"
    error: plugin_cache_dir must be a text in quotes, and this is a list (hcl1-parse)
      --> /home/u/.tofurc:1:20
      |
    1 | plugin_cache_dir = ["a"]
      |                    ^^^^^
      = instead: write plugin_cache_dir = "…"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
}

#[test]
fn provider_installation_that_is_no_block() {
    assert_snapshot!(told("provider_installation = {\n  direct {\n  }\n}\n"), @"
    error: provider_installation must be a block (block-equals)
      --> /home/u/.tofurc:1:1
      |
    1 | provider_installation = {
      | ^^^^^^^^^^^^^^^^^^^^^
      = instead: leave the = out: provider_installation { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    ");
    assert_snapshot!(told("provider_installation \"x\" {\n  direct {\n  }\n}\n"), @r#"
    error: provider_installation has no label (block-label)
      --> /home/u/.tofurc:1:23
      |
    1 | provider_installation "x" {
      |                       ^^^
      = instead: leave the label out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    "#);
    assert_snapshot!(told("provider_installation {\n  direct {\n  }\n}\nprovider_installation {\n}\n"), @"
    error: provider_installation is given a second time (two-blocks)
      --> /home/u/.tofurc:5:1
      |
    5 | provider_installation {
      | ^^^^^^^^^^^^^^^^^^^^^
      = instead: put all methods into one block, the first to be asked first
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    ");
    assert_snapshot!(told("{\"provider_installation\": \"x\"}"), @r#"
    error: provider_installation must be a block (block-equals)
      --> /home/u/.tofurc:1:2
      |
    1 | {"provider_installation": "x"}
      |  ^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write an object, and in it each method as a list: "direct": [{}]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    "#);
    assert_snapshot!(told("{\"provider_installation\": {\"oci_mirror\": {\"repository_template\": \"ghcr.io/x\"}, \"direct\": {}}}"), @r#"
    error: repository_template is taken for a method, and is no block (method-not-block)
      --> /home/u/.tofurc:1:43
      |
    1 | {"provider_installation": {"oci_mirror": {"repository_template": "ghcr.io/x"}, "direct": {}}}
      |                                           ^^^^^^^^^^^^^^^^^^^^^
      = instead: write every method as a list: "direct": [{ … }]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    error: provider_installation is given a second time (two-blocks)
      --> /home/u/.tofurc:1:2
      |
    1 | {"provider_installation": {"oci_mirror": {"repository_template": "ghcr.io/x"}, "direct": {}}}
      |  ^^^^^^^^^^^^^^^^^^^^^^^
      = instead: put all methods into one block, the first to be asked first
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(told("{\"provider_installation\": {\"direct\": \"yes\"}}"), @r#"
    error: direct must be a block (method-not-block)
      --> /home/u/.tofurc:1:28
      |
    1 | {"provider_installation": {"direct": "yes"}}
      |                            ^^^^^^^^
      = instead: write the method as a list: "direct": [{ … }]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
}

#[test]
fn methods_that_are_dropped() {
    assert_snapshot!(method("direct = {\n  }"), @"
    error: direct must be a block (method-not-block)
      --> /home/u/.tofurc:2:3
      |
    2 |   direct = {
      |   ^^^^^^
      = instead: leave the = out: direct { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    ");
    assert_snapshot!(method("foo = 1"), @"
    error: foo must be a block (method-not-block)
      --> /home/u/.tofurc:2:3
      |
    2 |   foo = 1
      |   ^^^
      = instead: leave it out: only method blocks such as direct { … } stand in provider_installation
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    ");
    assert_snapshot!(method("direct \"x\" {\n  }"), @r#"
    error: direct has no label (method-label)
      --> /home/u/.tofurc:2:10
      |
    2 |   direct "x" {
      |          ^^^
      = instead: leave the label out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    "#);
    assert_snapshot!(method("oci_miror {\n  }"), @"
    error: there is no installation method oci_miror (unknown-method)
      --> /home/u/.tofurc:2:3
      |
    2 |   oci_miror {
      |   ^^^^^^^^^
      = instead: write oci_mirror
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    ");
    assert_snapshot!(method("s3 {\n  }"), @"
    error: there is no installation method s3 (unknown-method)
      --> /home/u/.tofurc:2:3
      |
    2 |   s3 {
      |   ^^
      = instead: write one of direct, filesystem_mirror, network_mirror, oci_mirror, dev_overrides
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    ");
    assert_snapshot!(method("filesystem_mirror {\n  }"), @r#"
    error: filesystem_mirror needs path (path-required)
      --> /home/u/.tofurc:2:3
      |
    2 |   filesystem_mirror {
      |   ^^^^^^^^^^^^^^^^^
      = instead: write path = "/usr/share/providers"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("network_mirror {\n    url = \"\"\n  }"), @r#"
    error: network_mirror needs url (url-required)
      --> /home/u/.tofurc:2:3
      |
    2 |   network_mirror {
      |   ^^^^^^^^^^^^^^
      = instead: write url = "https://mirror.example.com/providers/"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("network_mirror {\n    url = \"http://mirror.example.com/\"\n  }"), @r#"
    error: a network mirror cannot be at this url: it must begin with https:// (mirror-url)
      --> /home/u/.tofurc:3:11
      |
    3 |     url = "http://mirror.example.com/"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write an address such as "https://mirror.example.com/providers/"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    include = \"a/b\"\n  }"), @r#"
    error: include must be a list in square brackets, and this is a text (decode)
      --> /home/u/.tofurc:3:15
      |
    3 |     include = "a/b"
      |               ^^^^^
      = instead: write include = ["…"]
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    include = [\"a/b\", \"*/b\"]\n  }"), @r#"
    error: `*/b` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:3:23
      |
    3 |     include = ["a/b", "*/b"]
      |                       ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    exclude = [\"a/b/c/d\"]\n  }"), @r#"
    error: `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (exclude-pattern)
      --> /home/u/.tofurc:3:16
      |
    3 |     exclude = ["a/b/c/d"]
      |                ^^^^^^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    download_retry_count = \"many\"\n  }"), @r#"
    error: download_retry_count must be a whole number, and this is a text (decode)
      --> /home/u/.tofurc:3:28
      |
    3 |     download_retry_count = "many"
      |                            ^^^^^^
      = instead: give download_retry_count a whole number
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n  }\n  dev_overrides {\n    \"a/b\" = \"/x\"\n  }"), @"
    error: dev_overrides must stand before all methods (dev-overrides-order)
      --> /home/u/.tofurc:4:3
      |
    4 |   dev_overrides {
      |   ^^^^^^^^^^^^^
      = instead: move it to the top of provider_installation
      = OpenTofu 1.13: prints an error that names line 4, and goes on without this method; the others serve
    ");
    assert_snapshot!(method("dev_overrides {\n    \"example.com/acme/terraform-provider-zap\" = \"/x\"\n  }"), @r#"
    error: `example.com/acme/terraform-provider-zap` is not a provider address: the type is written without its prefix; did you mean example.com/acme/zap? (dev-overrides-address)
      --> /home/u/.tofurc:3:5
      |
    3 |     "example.com/acme/terraform-provider-zap" = "/x"
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write "example.com/acme/zap"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    "#);
}

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

#[test]
fn settings_beside_the_methods() {
    assert_snapshot!(told("host \"bad_host!\" {\n}\n"), @r#"
    error: `bad_host!` is not a hostname: it may contain only letters, digits, dots, and dashes between them (invalid-host-label)
      --> /home/u/.tofurc:1:6
      |
    1 | host "bad_host!" {
      |      ^^^^^^^^^^^
      = instead: write host "registry.example.com"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
    assert_snapshot!(told("credentials \"bad_host!\" {\n  token = \"hunter2\"\n}\n"), @r#"
    error: `bad_host!` is not a hostname: it may contain only letters, digits, dots, and dashes between them (invalid-host-label)
      --> /home/u/.tofurc:1:13
      |
    1 | credentials "bad_host!" {
      |             ^^^^^^^^^^^
      = instead: write credentials "registry.example.com"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
    assert_snapshot!(told("credentials_helper \"a\" {\n}\ncredentials_helper \"b\" {\n}\n"), @r#"
    error: credentials_helper is given a second time (two-helpers)
      --> /home/u/.tofurc:3:20
      |
    3 | credentials_helper "b" {
      |                    ^^^
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(told("plugin_cache_dir = \"$HOME/nosuch\"\n"), @r#"
    error: plugin_cache_dir names /nosuch, which is not there (plugin-cache-dir)
      --> /home/u/.tofurc:1:20
      |
    1 | plugin_cache_dir = "$HOME/nosuch"
      |                    ^^^^^^^^^^^^^^
      = instead: create the folder, or leave plugin_cache_dir out
      = OpenTofu 1.13: prints an error that names no line, and uses it all the same
    "#);
    assert_snapshot!(told("registry_protocols {\n  retry_count = \"x\"\n}\nregistry_protocols {\n}\n"), @r#"
    error: retry_count must be a whole number, and this is a text (decode)
      --> /home/u/.tofurc:2:17
      |
    2 |   retry_count = "x"
      |                 ^^^
      = instead: give retry_count a whole number
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    error: registry_protocols is given twice (duplicate-block)
      --> /home/u/.tofurc:4:1
      |
    4 | registry_protocols {
      | ^^^^^^^^^^^^^^^^^^
      = instead: put both arguments into one block
      = OpenTofu 1.13: prints an error that names line 1, and uses the first one
    "#);
    assert_snapshot!(told("registry_protocols = 1\n"), @"
    error: registry_protocols must be a block (block-equals)
      --> /home/u/.tofurc:1:1
      |
    1 | registry_protocols = 1
      | ^^^^^^^^^^^^^^^^^^
      = instead: write registry_protocols { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    ");
}

#[test]
fn credentials_of_oci_registries() {
    let block = |text: &str| told(&format!("oci_credentials \"ghcr.io\" {{\n  {text}\n}}\n"));
    assert_snapshot!(block(""), @r#"
    error: oci_credentials holds no credentials (block-no-style)
      --> /home/u/.tofurc:1:1
      |
    1 | oci_credentials "ghcr.io" {
      | ^^^^^^^^^^^^^^^
      = instead: write username and password, or access_token and refresh_token, or docker_credentials_helper
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("username = \"u\""), @r#"
    error: username and password belong together (block-basic-needs-both)
      --> /home/u/.tofurc:1:1
      |
    1 | oci_credentials "ghcr.io" {
      | ^^^^^^^^^^^^^^^
      = instead: write both
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("access_token = \"hunter2\""), @r#"
    error: access_token and refresh_token belong together (block-oauth-needs-both)
      --> /home/u/.tofurc:1:1
      |
    1 | oci_credentials "ghcr.io" {
      | ^^^^^^^^^^^^^^^
      = instead: write both
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("username = \"u\"\n  password = \"hunter2\"\n  docker_credentials_helper = \"h\""), @r#"
    error: oci_credentials holds more than one kind of credentials (block-two-styles)
      --> /home/u/.tofurc:1:1
      |
    1 | oci_credentials "ghcr.io" {
      | ^^^^^^^^^^^^^^^
      = instead: write username and password, or access_token and refresh_token, or docker_credentials_helper
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("password = [\"hunter2\"]"), @r#"
    error: password must be a text in quotes, and this is a list (block-argument-type)
      --> /home/u/.tofurc:2:14
      |
    2 |   password = ***
      |              ^^^
      = instead: write password = "…"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(block("docker_credentials_helper = \"a/b\""), @r#"
    error: `a/b` cannot be the name of a credential helper (invalid-helper-name)
      --> /home/u/.tofurc:2:31
      |
    2 |   docker_credentials_helper = "a/b"
      |                               ^^^^^
      = instead: write the part behind docker-credential-, such as "pass"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(told("oci_credentials {\n}\n"), @r#"
    error: oci_credentials has exactly one label (block-label-count)
      --> /home/u/.tofurc:1:1
      |
    1 | oci_credentials {
      | ^^^^^^^^^^^^^^^
      = instead: write oci_credentials "ghcr.io/acme" { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(told("oci_credentials \"ghcr.io/A\" {\n}\n"), @r#"
    error: `ghcr.io/A` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (block-invalid-label)
      --> /home/u/.tofurc:1:17
      |
    1 | oci_credentials "ghcr.io/A" {
      |                 ^^^^^^^^^^^
      = instead: write REGISTRY or REGISTRY/PATH, in lower case and without a tag
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(told("oci_credentials \"ghcr.io/a\" {\n  docker_credentials_helper = \"h\"\n}\n"), @r#"
    error: docker_credentials_helper gives credentials for whole registries only (helper-with-path)
      --> /home/u/.tofurc:2:31
      |
    2 |   docker_credentials_helper = "h"
      |                               ^^^
      = instead: leave the path out of the label
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    let twice = "oci_credentials \"ghcr.io\" {\n  docker_credentials_helper = \"h\"\n}\n".repeat(2);
    assert_snapshot!(told(&twice), @r#"
    error: oci_credentials for ghcr.io is given a second time (duplicate-block)
      --> /home/u/.tofurc:4:1
      |
    4 | oci_credentials "ghcr.io" {
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(told("{\"oci_credentials\": {\"ghcr.io\": \"x\"}, \"oci_default_credentials\": 1}"), @r#"
    error: oci_default_credentials must be a block (block-not-object)
      --> /home/u/.tofurc:1:39
      |
    1 | {"oci_credentials": {"ghcr.io": "x"}, "oci_default_credentials": 1}
      |                                       ^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write an object in braces
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    error: oci_credentials has exactly one label (block-label-count)
      --> /home/u/.tofurc:1:2
      |
    1 | {"oci_credentials": {"ghcr.io": "x"}, "oci_default_credentials": 1}
      |  ^^^^^^^^^^^^^^^^^
      = instead: write oci_credentials "ghcr.io/acme" { … }
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    "#);
    assert_snapshot!(told("oci_default_credentials \"x\" {\n}\noci_default_credentials = {\n}\n"), @r#"
    error: oci_default_credentials has no label (block-label-count)
      --> /home/u/.tofurc:1:25
      |
    1 | oci_default_credentials "x" {
      |                         ^^^
      = instead: leave the label out, or write oci_credentials for one registry
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    error: oci_default_credentials must be a block (block-equals)
      --> /home/u/.tofurc:3:1
      |
    3 | oci_default_credentials = {
      | ^^^^^^^^^^^^^^^^^^^^^^^
      = instead: leave the = out
      = OpenTofu 1.13: prints an error that names line 3, and goes on without this block
    "#);
    assert_snapshot!(told("oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}\noci_default_credentials {\n}\n"), @"
    error: docker_style_config_files has no meaning beside discover_ambient_credentials = false (block-files-without-discovery)
      --> /home/u/.tofurc:1:1
      |
    1 | oci_default_credentials {
      | ^^^^^^^^^^^^^^^^^^^^^^^
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    error: oci_default_credentials is given a second time (duplicate-block)
      --> /home/u/.tofurc:5:1
      |
    5 | oci_default_credentials {
      | ^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    ");
}

#[test]
fn what_only_this_program_complains_about() {
    assert_snapshot!(told("provider_instalation {\n}\n"), @"
    error: there is no setting provider_instalation (misspelt-name)
      --> /home/u/.tofurc:1:1
      |
    1 | provider_instalation {
      | ^^^^^^^^^^^^^^^^^^^^
      = instead: write provider_installation
      = OpenTofu 1.13: says nothing, and ignores it
    ");
    assert_snapshot!(method("direct {\n    exclud = [\"a/b\"]\n  }"), @r#"
    error: there is no argument exclud (misspelt-name)
      --> /home/u/.tofurc:3:5
      |
    3 |     exclud = ["a/b"]
      |     ^^^^^^
      = instead: write exclude
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(told("tofu_oci {\n  magic_suffix = \"a:1\"\n  magic = 1\n}\n"), @r#"
    error: tofu_oci has no argument magic (tofu-oci-block)
      --> /home/u/.tofurc:3:3
      |
    3 |   magic = 1
      |   ^^^^^
      = instead: write magic_suffix
      = OpenTofu 1.13: says nothing, and ignores it
    error: `a:1` cannot be a hostname suffix (tofu-oci-block)
      --> /home/u/.tofurc:2:18
      |
    2 |   magic_suffix = "a:1"
      |                  ^^^^^
      = instead: write a hostname such as "oci.example.com"
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(told("tofu_oci = 1\n"), @r#"
    error: tofu_oci must be a block without a label (tofu-oci-block)
      --> /home/u/.tofurc:1:1
      |
    1 | tofu_oci = 1
      | ^^^^^^^^
      = instead: write tofu_oci { magic_suffix = "oci.example.com" }
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(told("tofu_oci {\n  magic_suffix = \"a.example\"\n}\ntofu_oci {\n  magic_suffix = \"b.example\"\n}\n"), @r#"
    error: magic_suffix is given twice (tofu-oci-block)
      --> /home/u/.tofurc:5:18
      |
    5 |   magic_suffix = "b.example"
      |                  ^^^^^^^^^^^
      = instead: leave one of them out
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(told("tofu_oci {\n  magic_suffix = [1]\n}\n"), @r#"
    error: magic_suffix must be a text in quotes, and this is a list (tofu-oci-block)
      --> /home/u/.tofurc:2:18
      |
    2 |   magic_suffix = [1]
      |                  ^^^
      = instead: write magic_suffix = "…"
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(told("plugin_cache_dir = \"\\uD8\"\n"), @r#"
    error: this backslash starts no escape; write `\\` for a backslash itself (hcl1-parse)
      --> /home/u/.tofurc:1:21
      |
    1 | plugin_cache_dir = "\uD8"
      |                     ^^^^^
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
}

#[test]
fn carets_stand_right_behind_tabs_and_wide_characters() {
    assert_snapshot!(told("\thost = \"漢字\"\t\"x\"\n"), @r#"
    error: a name needs `= VALUE` or `{ … }` behind it (hcl1-parse)
      --> /home/u/.tofurc:1:14
      |
    1 |  host = "漢字" "x"
      |                ^^^
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this file
    "#);
    assert_snapshot!(method("direct {\n\t\tinclude = [\"漢字/\u{301}e\", \"漢字/*/x/y\"]\n  }"), @r#"
    error: `漢字/́e` is not a pattern of providers: the type may contain only letters, digits, and single dashes between them (include-pattern)
      --> /home/u/.tofurc:3:14
      |
    3 |   include = ["漢字/́e", "漢字/*/x/y"]
      |              ^^^^^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct { include = [\"a/b\", \"\u{202e}x\"] }"), @r#"
    error: `�x` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern)
      --> /home/u/.tofurc:2:30
      |
    2 |   direct { include = ["a/b", "�x"] }
      |                              ^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let list = "\"acme/widget\", ".repeat(20);
    assert_snapshot!(method(&format!("direct {{ include = [{list}\"*/x\", {list}] }}")), @r#"
    error: `*/x` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:2:323
      |
    2 | …", "acme/widget", "acme/widget", "*/x", "acme/widget", "acme/widget", "acme/widget", "acme/widget", …
      |                                   ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method(&format!("direct {{ include = [\"*/x\", {list}] }}")), @r#"
    error: `*/x` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:2:23
      |
    2 |   direct { include = ["*/x", "acme/widget", "acme/widget", "acme/widget", "acme/widget", "acme/widge…
      |                       ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method(&format!("direct {{ include = [{list}\"*/x\"] }}")), @r#"
    error: `*/x` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:2:323
      |
    2 | …, "acme/widget", "acme/widget", "acme/widget", "acme/widget", "acme/widget", "acme/widget", "*/x"] }
      |                                                                                              ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method(&format!("direct {{ include = [\"{}\"] }}", "漢".repeat(120))), @r#"
    error: `漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern)
      --> /home/u/.tofurc:2:23
      |
    2 |   direct { include = ["漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢…
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
}

#[test]
fn secrets_in_the_line_are_masked() {
    let texts = [
        "credentials \"a.example\" { token = \"hunter2\" } oops oops",
        "credentials \"a.example\" { token = \"hunter2\n}",
        "credentials \"a.example\" {\n  token = <<EOT\nhunter2\nEOT\n} ]",
        "credentials \"a.example\" {\n  token = <<EOT\nhunter2",
        "credentials \"a.example\" { token = hunter2 }",
        "credentials \"a.example\" { token\n=\nhunter2 }",
        "credentials \"a.example\" { token = 'hunter2' }",
        "credentials \"a.example\" { token = \"a\\\"hunter2\" } ]",
        "credentials \"a.example\" { token = \"a\"hunter2\" }",
        "credentials \"a.example\" { token = [\"hunter2\"] } ]",
        "credentials \"a.example\" { TOKEN = \"hunter2\" } ]",
        "credentials \"a.example\" { my_token = \"hunter2\" } ]",
        "{\"credentials\": {\"a.example\": {\"token\": \"hunter2\"}},,}",
        "{\"credentials\": {\"a.example\": {\"token\": \"hunter2}}",
        "{\"credentials\": {\"a.example\": {\"token\": hunter2}}",
        "oci_credentials \"ghcr.io\" { username = \"u\", password = \"hunter2\", access_token = \"hunter2\" } oci_credentials",
        "oci_credentials \"ghcr.io\" { username = \"u\" password = [\"hunter2\"] }",
        "oci_credentials \"ghcr.io\" { password = \"hunter2\" refresh_token = \"hunter2\" }",
        "oci_credentials \"ghcr.io\" { password = \"hunter2\\q\" }",
        "oci_credentials \"ghcr.io\" { password \"hunter2\" }",
    ];
    for text in texts {
        for release in TofuRelease::ALL {
            let reading = read_text(text, release);
            let shown = all(&reading);
            assert!(!shown.is_empty(), "{text}");
            assert!(!shown.contains("hunter2"), "{text}\n{shown}");
            let debug = format!("{reading:?}");
            assert!(!debug.contains("hunter2"), "{text}\n{debug}");
        }
    }
    assert_snapshot!(told("credentials \"a.example\" { token = \"hunter2\" } oops oops"), @r#"
    error: a block needs `{` behind its labels, on the same or the next line (hcl1-parse)
      --> /home/u/.tofurc:1:47
      |
    1 | credentials "a.example" { token = *** } oops oops
      |                                         ^^^^^^^^^
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
    assert_snapshot!(told("credentials \"a.example\" { token = \"hunter2"), @r#"
    error: this quote has no closing quote on its line; write `\n` for a line's end (hcl1-parse)
      --> /home/u/.tofurc:1:35
      |
    1 | credentials "a.example" { token = ***
      |                                   ^^^
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
}
