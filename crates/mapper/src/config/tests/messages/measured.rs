//! The headline of every measured case that the real programs refuse in part: what is said, and where it points.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_vectors::Vectors;

use super::super::super::{CliConfigReading, read};
use super::super::replay::World;
use tofu_oci_types::{TextPosition, TofuRelease};

/// The project's own cases, so that the list stays.
fn cases() -> Vec<Value> {
    Vectors::own("real_tofu_sources.json").cases("cases").to_vec()
}

/// One entry for each case of a group with an error in the configuration, by the newest release's measure.
fn reported(group: &str) -> String {
    let mut reported = String::new();
    for case in cases().iter().filter(|case| case["group"] == group) {
        let world = World::of(case);
        let reading = read(&world.environment, &world.files, TofuRelease::V1_13);
        let mut problems = reading.problems.iter().filter(|problem| !problem.ours).peekable();
        if problems.peek().is_some() {
            reported += &format!("{}:\n", case["name"].as_str().expect("a name"));
        }
        for problem in problems {
            let place = place(&reading, problem.file, problem.span.as_ref().map(|span| span.start));
            reported += &format!("    {} ({}){place}\n", problem.message, problem.code);
        }
    }
    reported
}

fn place(reading: &CliConfigReading, file: Option<usize>, offset: Option<usize>) -> String {
    let Some(file) = file.and_then(|file| reading.files.get(file)) else { return String::new() };
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    match offset {
        Some(offset) => {
            let position = TextPosition::of(&file.text, offset);
            format!(" --> {name}:{}:{}", position.line, position.column)
        }
        None => format!(" --> {name}"),
    }
}

#[test]
fn every_group_with_errors_is_listed() {
    let mut groups: Vec<String> =
        cases().iter().map(|case| case["group"].as_str().expect("a group").to_owned()).collect();
    groups.sort();
    groups.dedup();
    let own = ["template", "config", "include"];
    let others = groups.iter().filter(|group| !own.contains(&group.as_str()));
    assert_snapshot!(others.map(|group| reported(group)).collect::<String>(), @"
    lock-cache-missing-dir:
        TF_PLUGIN_CACHE_DIR names /base/nosuch, which is not there (plugin-cache-dir)
    net-url-no-scheme:
        a network mirror cannot be at this url: it must begin with https:// (mirror-url) --> rc.tfrc:3:11
    net-url-bad-url:
        a network mirror cannot be at this url: its host has a character that does not belong there (mirror-url) --> rc.tfrc:3:11
    net-url-empty-host:
        a network mirror cannot be at this url: it has no host (mirror-url) --> rc.tfrc:3:11
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn templates() {
    assert_snapshot!(reported("template"), @r#"
    tpl-unknown-symbol:
        `oci.example.test/${hostname}/${namespace}/${type}/${version}` mentions `version` at column 53, which an address does not have (unknown-symbol:version) --> rc.tfrc:3:80
    tpl-two-unknown-symbols:
        `oci.example.test/${host}/${name}` mentions `host` at column 20, which an address does not have (unknown-symbol:host) --> rc.tfrc:3:47
        `oci.example.test/${host}/${name}` mentions `name` at column 28, which an address does not have (unknown-symbol:name) --> rc.tfrc:3:55
        `oci.example.test/${host}/${name}` does not mention ${hostname} (missing-hostname) --> rc.tfrc:3:28
        `oci.example.test/${host}/${name}` does not mention ${namespace} (missing-namespace) --> rc.tfrc:3:28
        `oci.example.test/${host}/${name}` does not mention ${type} (missing-type) --> rc.tfrc:3:28
    tpl-missing-hostname:
        `oci.example.test/${namespace}/${type}` does not mention ${hostname} (missing-hostname) --> rc.tfrc:3:28
    tpl-missing-namespace:
        `oci.example.test/${hostname}/${type}` does not mention ${namespace} (missing-namespace) --> rc.tfrc:3:28
    tpl-missing-type:
        `oci.example.test/${hostname}/${namespace}` does not mention ${type} (missing-type) --> rc.tfrc:3:28
    tpl-two-namespaces:
        `oci.example.test/${type}` does not mention ${namespace} (missing-namespace) --> rc.tfrc:3:28
    tpl-two-types:
        `oci.example.test/fixed` does not mention ${type} (missing-type) --> rc.tfrc:3:28
    tpl-function-upper:
        `oci.example.test/${lower(hostname)}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 20 (hcl:function-calls-not-allowed) --> rc.tfrc:3:47
    tpl-function-replace:
        `oci.example.test/${replace(hostname, ".", "-")}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 20 (hcl:function-calls-not-allowed) --> rc.tfrc:3:47
    tpl-function-on-constant:
        `oci.example.test/${lower("X")}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 20 (hcl:function-calls-not-allowed) --> rc.tfrc:3:47
    tpl-function-unknown:
        `oci.example.test/${nosuch(hostname)}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 20 (hcl:function-calls-not-allowed) --> rc.tfrc:3:47
    tpl-function-format:
        `oci.example.test/${format("%s-%s", namespace, type)}` is not a repository template: functions cannot be called here, at column 20 (hcl:function-calls-not-allowed) --> rc.tfrc:3:47
    tpl-list:
        `${[type]}` gives no text: a text is needed, not a list (not-a-string) --> rc.tfrc:3:28
    tpl-list-of-type-in-path:
        `oci.example.test/${[type]}` is not a repository template: this cannot be put into a text: a text is needed, not a list, at column 20 (hcl:invalid-template-interpolation-value) --> rc.tfrc:3:47
    tpl-object:
        `${ {a = type} }` gives no text: a text is needed, not an object (not-a-string) --> rc.tfrc:3:28
    tpl-null-in-path:
        `oci.example.test/${null}` is not a repository template: this cannot be put into a text: null, at column 20 (hcl:invalid-template-interpolation-value) --> rc.tfrc:3:47
    tpl-uppercase-path:
        `oci.example.test/Foo/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/Foo/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-digest:
        `oci.example.test/${namespace}/${type}@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` is not a repository address: it must name no tag and no digest (invalid-repository-address) --> rc.tfrc:3:28
    tpl-registry-slash:
        `oci.example.test/` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-leading-slash:
        `/x/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `/x/example-namespace/example-type` is not a repository address: the part before the first `/` is not a host with an optional port (invalid-repository-address) --> rc.tfrc:3:28
    tpl-http-prefix:
        `http://oci.example.test/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `http://oci.example.test/example-namespace/example-type` is not a repository address: it is written without a scheme such as https:// (invalid-repository-address) --> rc.tfrc:3:28
    tpl-oci-prefix:
        `oci://oci.example.test/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci://oci.example.test/example-namespace/example-type` is not a repository address: it is written without a scheme such as https:// (invalid-repository-address) --> rc.tfrc:3:28
    tpl-trailing-slash:
        `oci.example.test/${namespace}/${type}/` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type/` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-trailing-dot:
        `oci.example.test/${namespace}/${type}.` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type.` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-port-word:
        `oci.example.test:abc/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test:abc/example-namespace/example-type` is not a repository address: the part before the first `/` is not a host with an optional port (invalid-repository-address) --> rc.tfrc:3:28
    tpl-userinfo:
        `***@oci.example.test/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `***@oci.example.test/example-namespace/example-type` is not a repository address: the part before the first `/` is not a host with an optional port (invalid-repository-address) --> rc.tfrc:3:28
    tpl-fragment:
        `oci.example.test/${namespace}/${type}#x` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type#***` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-leading-space:
        ` oci.example.test/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, ` oci.example.test/example-namespace/example-type` is not a repository address: the part before the first `/` is not a host with an optional port (invalid-repository-address) --> rc.tfrc:3:28
    tpl-trailing-space:
        `oci.example.test/${namespace}/${type} ` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type ` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-heredoc:
        `oci.example.test/${namespace}/${type}\n` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type\n` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:4:1
    tpl-newline-escape:
        `oci.example.test/${namespace}/${type}\n` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type\n` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-unicode-literal:
        `oci.example.test/é/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/é/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-conditional-escaped-quotes:
        `oci.example.test/${hostname == \"registry.example.test\" ? \"a\" : \"b\"}/${namespace}/${type}` is not a repository template: a backslash has no place in an expression, at column 32 (hcl:invalid-character) --> rc.tfrc:3:59
    tpl-directive-if-plain:
        a bare quote inside `%{ … }` ends the text (hcl1-parse) --> rc.tfrc:3:45
    tpl-bad-only-for-example:
        `oci.example.test/${hostname == "example.com" ? "BAD" : "ok"}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/BAD/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-string-index:
        `oci.example.test/${hostname[0]}/${namespace}/${type}` is not a repository template: a text has no elements, at column 28 (hcl:invalid-index) --> rc.tfrc:3:55
    tpl-string-attr:
        `oci.example.test/${hostname.foo}/${namespace}/${type}` is not a repository template: a text has no attributes, at column 28 (hcl:unsupported-attribute) --> rc.tfrc:3:55
    tpl-arithmetic:
        `oci.example.test/${type + 1}/${namespace}/${type}` is not a repository template: a number is needed, not "example-type", at column 20 (hcl:invalid-operand) --> rc.tfrc:3:47
    tpl-comparison-number:
        `oci.example.test/${namespace > 1 ? "a" : "b"}/${namespace}/${type}` is not a repository template: a number is needed, not "example-namespace", at column 20 (hcl:invalid-operand) --> rc.tfrc:3:47
    tpl-escaped-dollar:
        `oci.example.test/$${hostname}/${namespace}/${type}` does not mention ${hostname} (missing-hostname) --> rc.tfrc:3:28
    tpl-escaped-dollar-2:
        `oci.example.test/$${x}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/${x}/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-rfc6570-braces:
        `oci.example.test/{namespace}/{type}` does not mention ${namespace} (missing-namespace) --> rc.tfrc:3:28
        `oci.example.test/{namespace}/{type}` does not mention ${type} (missing-type) --> rc.tfrc:3:28
    tpl-percent-literal:
        `oci.example.test/%7B/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/%7B/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-joined-2dots:
        `oci.example.test/${namespace}..${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace..example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-leading-dash:
        `oci.example.test/-${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/-example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-trailing-dash:
        `oci.example.test/${namespace}/${type}-` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/example-namespace/example-type-` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-leading-underscore:
        `oci.example.test/_x/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci.example.test/_x/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address) --> rc.tfrc:3:28
    tpl-syntax-unclosed:
        this `${` has no closing `}` (hcl1-parse) --> rc.tfrc:3:45
    tpl-syntax-two-words:
        `oci.example.test/${name space}/${namespace}/${type}` is not a repository template: the expression ends here, and neither an operator nor } follows, at column 25 (hcl:invalid-syntax) --> rc.tfrc:3:52
    tpl-syntax-unclosed-if:
        `oci.example.test/%{if true}x/${namespace}/${type}` is not a repository template: a directive reads %{if …}, %{else} or %{endif}, and each %{if …} needs an %{endif}, at column 18 (hcl:invalid-syntax) --> rc.tfrc:3:45
    tpl-bare-list:
        repository_template must be a text in quotes, and this is a list (decode) --> rc.tfrc:3:27
    tpl-empty:
        oci_mirror needs repository_template (template-required) --> rc.tfrc:2:3
    tpl-blank:
        ` ` gives no repository address: for example.com/example-namespace/example-type, ` ` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget (invalid-repository-address) --> rc.tfrc:3:28
    tpl-include-string:
        include must be a list, and this is a text (decode) --> rc.tfrc:4:27
    tpl-include-empty-list:
        `oci.example.test/${namespace}/${type}` does not mention ${hostname} (missing-hostname) --> rc.tfrc:3:28
    tpl-template-twice:
        the argument `repository_template` was already set; each can be given once only (hcl1-parse) --> rc.tfrc:5:5
    tpl-arg-misspelt:
        oci_mirror needs repository_template (template-required) --> rc.tfrc:2:3
    tpl-only-oci-bad:
        `oci.example.test/x` does not mention ${hostname} (missing-hostname) --> rc.tfrc:3:28
        `oci.example.test/x` does not mention ${namespace} (missing-namespace) --> rc.tfrc:3:28
        `oci.example.test/x` does not mention ${type} (missing-type) --> rc.tfrc:3:28
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn files_and_blocks() {
    assert_snapshot!(reported("config"), @"
    cfg-dir-and-tofurc-two-blocks:
        provider_installation is given a second time (two-blocks) --> a.tfrc:1:1
    cfg-dir-two-files-two-blocks:
        provider_installation is given a second time (two-blocks) --> b.tfrc:1:1
    cfg-dir-bad-file-among:
        this brace is not closed; its `}` is missing (hcl1-parse) --> a.tfrc:1:3
    cfg-env-missing-file:
        TF_CLI_CONFIG_FILE names /base/home/nosuch.tfrc, which is not there (cli-config-missing) --> nosuch.tfrc
    cfg-env-missing-file-terraform-config:
        TERRAFORM_CONFIG names /base/home/nosuch.tfrc, which is not there (cli-config-missing) --> nosuch.tfrc
    cfg-env-directory:
        /base/home cannot be read: it is a folder (cli-config-unreadable) --> home
    cfg-env-tilde:
        TF_CLI_CONFIG_FILE names /base/w/~/t.rc, which is not there (cli-config-missing) --> t.rc
    cfg-json-object:
        repository_template is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:41
        include is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:105
        provider_installation is given a second time (two-blocks) --> rc.tfrc:1:2
    cfg-json-array-of-blocks:
        repository_template is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:42
        include is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:106
        provider_installation is given a second time (two-blocks) --> rc.tfrc:1:2
    cfg-json-array-single:
        repository_template is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:42
        include is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:106
    cfg-json-string:
        provider_installation must be a block (block-equals) --> rc.tfrc:1:2
    cfg-json-null:
        provider_installation must be a block (block-equals) --> rc.tfrc:1:2
    cfg-json-method-string:
        direct must be a block (method-not-block) --> rc.tfrc:1:27
    cfg-json-syntax-error:
        a comma can stand only after an item (hcl1-parse) --> rc.tfrc:1:43
    cfg-json-trailing-comma:
        repository_template is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:41
        include is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:105
    cfg-json-comment:
        a name belongs before `{`; a JSON file starts with `{` and has no comments (hcl1-parse) --> rc.tfrc:2:1
    cfg-json-leading-newline:
        repository_template is taken for a method, and is not a block (method-not-block) --> rc.tfrc:3:41
        include is taken for a method, and is not a block (method-not-block) --> rc.tfrc:3:105
    cfg-two-blocks-first-empty:
        provider_installation is given a second time (two-blocks) --> rc.tfrc:3:1
    cfg-two-blocks-first-bad:
        there is no installation method nosuch (unknown-method) --> rc.tfrc:2:3
        provider_installation is given a second time (two-blocks) --> rc.tfrc:5:1
    cfg-unknown-method:
        there is no installation method oci_mirrors (unknown-method) --> rc.tfrc:2:3
    cfg-unknown-method-only:
        there is no installation method oci (unknown-method) --> rc.tfrc:2:3
    cfg-block-equals:
        provider_installation must be a block (block-equals) --> rc.tfrc:1:1
    cfg-method-equals:
        direct must be a block (method-not-block) --> rc.tfrc:2:3
    cfg-attr-in-block:
        foo must be a block (method-not-block) --> rc.tfrc:2:3
    cfg-uppercase-method:
        there is no installation method DIRECT (unknown-method) --> rc.tfrc:2:3
    cfg-hcl2-function:
        a word without quotes is not a value (hcl1-parse) --> rc.tfrc:7:5
    cfg-hcl2-list-for:
        a word without quotes is not a value (hcl1-parse) --> rc.tfrc:4:28
    cfg-hcl2-bare-word-value:
        a word without quotes is not a value (hcl1-parse) --> rc.tfrc:7:5
    cfg-single-quotes:
        `'` cannot stand here; texts stand in double quotes (hcl1-parse) --> rc.tfrc:3:27
    cfg-missing-brace:
        this brace is not closed; its `}` is missing (hcl1-parse) --> rc.tfrc:1:23
    cfg-bad-host-label:
        `bad_host!` is not a hostname: it may contain only letters, digits, dots, and dashes between them (invalid-host-label) --> rc.tfrc:1:6
    cfg-wrong-type-top:
        plugin_cache_dir must be a text in quotes, and this is a list (hcl1-parse) --> rc.tfrc:1:20
    cfg-trust-arg-string:
        trust_all_hashes must be `true` or `false` without quotes, and this is a text (decode) --> rc.tfrc:8:24
    cfg-dev-after-oci:
        dev_overrides must stand before all methods (dev-overrides-order) --> rc.tfrc:6:3
    cfg-dev-bad-address:
        `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE (dev-overrides-address) --> rc.tfrc:3:5
    cfg-command-version-syntax:
        this brace is not closed; its `}` is missing (hcl1-parse) --> rc.tfrc:1:3
    cfg-command-validate-syntax:
        this brace is not closed; its `}` is missing (hcl1-parse) --> rc.tfrc:1:3
    cfg-command-fmt-syntax:
        this brace is not closed; its `}` is missing (hcl1-parse) --> rc.tfrc:1:3
    cfg-command-version-bad-include:
        `a` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:3:16
    cfg-command-fmt-missing:
        TF_CLI_CONFIG_FILE names /base/home/nosuch, which is not there (cli-config-missing) --> nosuch
    cfg-json-direct-with-args-object:
        include is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:37
    cfg-json-two-methods-arrays-one-line-each:
        provider_installation is given a second time (two-blocks) --> rc.tfrc:1:2
    cfg-json-bad-template-array:
        `oci.example.test/${bad}` mentions `bad` at column 20, which an address does not have (unknown-symbol:bad) --> rc.tfrc:4:47
        `oci.example.test/${bad}` does not mention ${hostname} (missing-hostname) --> rc.tfrc:4:28
        `oci.example.test/${bad}` does not mention ${namespace} (missing-namespace) --> rc.tfrc:4:28
        `oci.example.test/${bad}` does not mention ${type} (missing-type) --> rc.tfrc:4:28
    cfg-json-fs-object:
        path is taken for a method, and is not a block (method-not-block) --> rc.tfrc:1:48
        provider_installation is given a second time (two-blocks) --> rc.tfrc:1:2
    cfg-json-unknown-method-array:
        there is no installation method oci (unknown-method) --> rc.tfrc:1:27
    cfg-json-array-empty:
        provider_installation must be a block (block-equals) --> rc.tfrc:1:2
    ");
}

#[test]
fn include_and_exclude() {
    assert_snapshot!(reported("include"), @"
    inc-bad-four:
        `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:4:28
    inc-bad-one:
        `widget` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:4:28
    inc-bad-empty:
        `` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:4:28
    inc-bad-star:
        `*` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:4:28
    inc-bad-type-only-2:
        `*/widget` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern) --> rc.tfrc:4:28
    inc-bad-partial-type:
        `acme/wid*` is not a pattern of providers: the type has a * that is not alone: a wildcard stands for the whole part (include-pattern) --> rc.tfrc:4:28
    inc-bad-partial-host:
        `*.example.test/*/*` is not a pattern of providers: `*.example.test` is not a hostname: it may contain only letters, digits, dots, and dashes between them (include-pattern) --> rc.tfrc:4:28
    inc-bad-trailing-slash:
        `acme/widget/` is not a pattern of providers: the type is empty (include-pattern) --> rc.tfrc:4:28
    inc-bad-underscore:
        `ac_me/*` is not a pattern of providers of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept (include-pattern) --> rc.tfrc:4:28
    inc-bad-double-dash:
        `a--b/*` is not a pattern of providers: the namespace may contain only letters, digits, and single dashes between them (include-pattern) --> rc.tfrc:4:28
    inc-bad-url:
        `https://registry.example.test/acme/widget` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:4:28
    inc-bad-legacy-dash:
        `-/*` is not a pattern of providers: the namespace may contain only letters, digits, and single dashes between them (include-pattern) --> rc.tfrc:4:28
    inc-bad-exclude:
        `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (exclude-pattern) --> rc.tfrc:4:28
    inc-bad-among-good:
        `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:4:57
    inc-bad-include-and-unknown-symbol:
        `oci.example.test/${bad}` mentions `bad` at column 20, which an address does not have (unknown-symbol:bad) --> rc.tfrc:3:47
    inc-bad-include-in-direct-only-direct:
        `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern) --> rc.tfrc:3:28
    inc-punycode-pattern-unicode-provider:
        `xn--80akhbyknj4f.example.test/*/*` is not a pattern of providers: `xn--80akhbyknj4f.example.test` is not a hostname: a name beginning with xn-- is written in Unicode here (include-pattern) --> rc.tfrc:4:28
    ");
}
