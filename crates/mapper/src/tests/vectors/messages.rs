//! What a user sees for every refused input of the tables. The project's own tables are read, so that the list stays.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_vectors::Vectors;

use super::texts;
use crate::{RepositoryTemplate, UriTemplate};
use tofu_oci_types::Pattern;

/// The cases of the project's own table.
fn cases(name: &str, list: &str) -> Vec<Value> {
    Vectors::own(name).cases(list).to_vec()
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().expect("a text")
}

#[test]
fn patterns() {
    let reported = |case: &Value| {
        let error = text(case, "pattern").parse::<Pattern>().err()?;
        Some(format!("{:?} -> {error}; {}\n", text(case, "pattern"), error.instead()))
    };
    let reported: String = cases("include_exclude.json", "patterns").iter().filter_map(reported).collect();
    assert_snapshot!(reported, @r#"
    "*/aws" -> `*/aws` is not a pattern of providers: a namespace can be * only if the type is * too; write the namespace, or * for the type too
    "*/foo/*" -> `*/foo/*` is not a pattern of providers: the host can be * only if the namespace and the type are * too; write the host, or */*/* for every provider
    "*/foo/bar" -> `*/foo/bar` is not a pattern of providers: the host can be * only if the namespace and the type are * too; write the host, or */*/* for every provider
    "*/*/aws" -> `*/*/aws` is not a pattern of providers: the host can be * only if the namespace and the type are * too; write the host, or */*/* for every provider
    "example.com/*/bar" -> `example.com/*/bar` is not a pattern of providers: a namespace can be * only if the type is * too; write the namespace, or * for the type too
    "a/b/c/d" -> `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "/" -> `/` is not a pattern of providers: the type is empty; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "//" -> `//` is not a pattern of providers: `` is not a hostname: it is empty; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "xn--80akhbyknj4f.com/*/*" -> `xn--80akhbyknj4f.com/*/*` is not a pattern of providers: `xn--80akhbyknj4f.com` is not a hostname: a name beginning with xn-- is written in Unicode here; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "foo/bar!" -> `foo/bar!` is not a pattern of providers: the type may contain only letters, digits, and single dashes between them; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "foo--x/*" -> `foo--x/*` is not a pattern of providers: the namespace may contain only letters, digits, and single dashes between them; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "*.example.com/*/*" -> `*.example.com/*/*` is not a pattern of providers: `*.example.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "ex*/*/*" -> `ex*/*/*` is not a pattern of providers: `ex*` is not a hostname: it may contain only letters, digits, dots, and dashes between them; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
    "#);
}

#[test]
fn repository_templates() {
    let reported = |case: &Value| {
        let errors = RepositoryTemplate::check(text(case, "template"), &texts(&case["include"])).err()?;
        let lines: String = errors.iter().map(|error| format!("    {error}\n")).collect();
        Some(format!("{:?} with include {} ->\n{lines}", text(case, "template"), case["include"]))
    };
    let reported: String = cases("oci_mirror.json", "cases").iter().filter_map(reported).collect();
    assert_snapshot!(reported, @r#"
    "example.com/${hostname}/${namespace}" with include [] ->
        `example.com/${hostname}/${namespace}` does not mention ${type}
    "example.com/${hostname[1]}/${namespace}/${type}" with include [] ->
        `example.com/${hostname[1]}/${namespace}/${type}` is not a repository template: a text has no elements, at column 23
    "example.com/${hostname}/${namespace}/${type}/${version}" with include [] ->
        `example.com/${hostname}/${namespace}/${type}/${version}` mentions `version` at column 48, which an address does not have
    "example.com/${upper(hostname)}/${namespace}/${type}" with include [] ->
        `example.com/${upper(hostname)}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 15
    "example.com/$${hostname}/${namespace}/${type}" with include [] ->
        `example.com/$${hostname}/${namespace}/${type}` does not mention ${hostname}
    "${hostname}" with include [] ->
        `${hostname}` does not mention ${namespace}
        `${hostname}` does not mention ${type}
    "example.com/foo:latest" with include ["example.net/foo/bar"] ->
        `example.com/foo:latest` gives no repository address: for example.com/example-namespace/example-type, `example.com/foo:latest` is not a repository address: it must name no tag and no digest
    "example.com/foo@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" with include ["example.net/foo/bar"] ->
        `example.com/foo@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a` gives no repository address: for example.com/example-namespace/example-type, `example.com/foo@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a` is not a repository address: it must name no tag and no digest
    "https://example.com/${hostname}/${namespace}/${type}" with include [] ->
        `https://example.com/${hostname}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `https://example.com/example.com/example-namespace/example-type` is not a repository address: it is written without a scheme such as https://
    "oci://example.com/${hostname}/${namespace}/${type}" with include [] ->
        `oci://example.com/${hostname}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `oci://example.com/example.com/example-namespace/example-type` is not a repository address: it is written without a scheme such as https://
    "example.com/Foo/${hostname}/${namespace}/${type}" with include [] ->
        `example.com/Foo/${hostname}/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `example.com/Foo/example.com/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "example.com/${namespace}-${type}" with include ["example.net/*/*","example.org/*/*"] ->
        `example.com/${namespace}-${type}` does not mention ${hostname}
    "example.com/${type}" with include ["example.net/foo/*","example.net/baz/*"] ->
        `example.com/${type}` does not mention ${namespace}
    "example.com/fixed" with include ["*/*"] ->
        `example.com/fixed` does not mention ${namespace}
        `example.com/fixed` does not mention ${type}
    "" with include [] ->
        the repository template is empty
    "example.com/${replace(hostname, \".\", \"-\")}/${namespace}/${type}" with include [] ->
        `example.com/${replace(hostname, ".", "-")}/${namespace}/${type}` is not a repository template: functions cannot be called here, at column 15
    "example.com/${hostname}/${namespace}/${type}." with include [] ->
        `example.com/${hostname}/${namespace}/${type}.` gives no repository address: for example.com/example-namespace/example-type, `example.com/example.com/example-namespace/example-type.` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "#);
}

#[test]
fn providers_without_a_repository() {
    let mut reported = String::new();
    for case in cases("oci_mirror.json", "cases") {
        let Ok(template) = RepositoryTemplate::check(text(&case, "template"), &texts(&case["include"])) else {
            continue;
        };
        for mapping in case["mappings"].as_array().into_iter().flatten() {
            let address = text(mapping, "provider").parse().expect("an address");
            if let Err(error) = template.place(&address) {
                reported += &format!("{address} -> {error}\n");
                let cause = std::error::Error::source(&error);
                reported.extend(cause.map(|cause| format!("    cause: {cause}\n")));
            }
        }
    }
    assert_snapshot!(reported, @r#"
    localhost:8080/foo/bar -> requested provider address localhost:8080/foo/bar contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as example.com/localhost:8080/foo/bar
    example.com/ほげ/ふが -> requested provider address example.com/ほげ/ふが contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as example.com/example.com/ほげ/ふが
    example.net/a/b -> the repository template `example.com/${ {"example.com": "okay"}[hostname] }/${namespace}/${type}` cannot be worked out for example.net/a/b: there is nothing under "example.net", only example.com
    "#);
}

#[test]
fn uri_templates() {
    let reported = |case: &Value| {
        let error = text(case, "template").parse::<UriTemplate>().err()?;
        Some(format!("{:?} -> {error}\n", text(case, "template")))
    };
    let reported: String = cases("uri_template_level1.json", "cases").iter().filter_map(reported).collect();
    assert_snapshot!(reported, @r#"
    "example.com/{+namespace}" -> `example.com/{+namespace}` is not a template for repositories: the operator `+` is not supported, only plain names such as {type} are, at column 14
    "example.com/{/namespace}" -> `example.com/{/namespace}` is not a template for repositories: the operator `/` is not supported, only plain names such as {type} are, at column 14
    "example.com/{?namespace}" -> `example.com/{?namespace}` is not a template for repositories: the operator `?` is not supported, only plain names such as {type} are, at column 14
    "example.com/{namespace,type}" -> `example.com/{namespace,type}` is not a template for repositories: each `{}` names one variable, at column 23
    "example.com/{namespace:3}" -> `example.com/{namespace:3}` is not a template for repositories: the modifier `:` is not supported, only plain names such as {type} are, at column 23
    "example.com/{namespace*}" -> `example.com/{namespace*}` is not a template for repositories: the modifier `*` is not supported, only plain names such as {type} are, at column 23
    "example.com/{namespace" -> `example.com/{namespace` is not a template for repositories: `{` has no `}`, at column 13
    "example.com/namespace}" -> `example.com/namespace}` is not a template for repositories: `}` has no `{`, at column 22
    "example.com/{namespace }" -> `example.com/{namespace }` is not a template for repositories: ` ` cannot be in a name, at column 23
    "example.com/{a.b}" -> `example.com/{a.b}` is not a template for repositories: `.` cannot be in a name, at column 15
    "example.com/{|x}" -> `example.com/{|x}` is not a template for repositories: the operator `|` is not supported, only plain names such as {type} are, at column 14
    "example.com/ {type}" -> `example.com/ {type}` is not a template for repositories: ` ` cannot be in a URI, at column 13
    "example.com/<{type}>" -> `example.com/<{type}>` is not a template for repositories: `<` cannot be in a URI, at column 13
    "#);
}
