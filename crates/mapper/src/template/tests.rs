//! What a template gives, and what is said of one that gives nothing.

use insta::assert_snapshot;

use super::*;

fn address(text: &str) -> ProviderAddr {
    text.parse().expect("an address")
}

#[track_caller]
fn check(template: &str, addr: &str, want: &str) {
    let template: RepositoryTemplate = template.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(template.apply(&address(addr)).expect("a repository").to_string(), want);
}

#[track_caller]
fn refusal(template: &str) -> String {
    template.parse::<RepositoryTemplate>().expect_err("must be refused").to_string()
}

/// What `check` says: the codes with the pieces of the text that they point at.
fn said(template: &str, include: &[&str]) -> String {
    let include: Vec<String> = include.iter().map(|pattern| (*pattern).to_owned()).collect();
    match RepositoryTemplate::check(template, &include) {
        Ok(_) => "ok".to_owned(),
        Err(errors) => {
            let pieces = errors.iter().map(|error| format!("{} `{}`", error.code(), &template[error.span()]));
            pieces.collect::<Vec<_>>().join("\n")
        }
    }
}

/// What is said of `addr` where the template itself is fine.
fn failure(template: &str, addr: &str) -> String {
    let template = RepositoryTemplate::check(template, &[addr.to_owned()]).expect("a template");
    let error = template.place(&address(addr)).expect_err("must fail");
    format!("{}: {error}", error.code())
}

#[test]
fn fills_in_the_symbols() {
    check("ghcr.io/x/${namespace}-${type}", "example.com/foo/bar", "ghcr.io/x/foo-bar");
    check("ghcr.io/x/${ namespace }/${(type)}", "example.com/foo/bar", "ghcr.io/x/foo/bar");
    check("${hostname}/${namespace}/${type}", "example.com:5000/foo/bar", "example.com:5000/foo/bar");
    check("${\"ghcr.io\"}/${type}", "example.com/foo/bar", "ghcr.io/bar");
    check("ghcr.io/x/ ${~ type ~} ", "example.com/foo/bar", "ghcr.io/x/bar");
    check("ghcr.io/acme/widget", "example.com/foo/bar", "ghcr.io/acme/widget");
    check("ghcr.io/${hostname}/${type}", "испытание.com/foo/bar", "ghcr.io/xn--80akhbyknj4f.com/bar");
}

#[test]
fn works_out_expressions_and_directives() {
    let map = r#"ghcr.io/${ {"example.com" = "own", "b.example" = "theirs"}[hostname] }/${type}"#;
    check(map, "example.com/foo/bar", "ghcr.io/own/bar");
    check(map, "b.example/foo/bar", "ghcr.io/theirs/bar");
    check("ghcr.io/%{ if namespace == \"foo\" }f%{ else }${namespace}%{ endif }/${type}", "foo/bar", "ghcr.io/f/bar");
    check("ghcr.io/${40 + 2}/${type}", "foo/bar", "ghcr.io/42/bar");
}

#[test]
fn a_registry_stays_as_it_was_written() {
    check("GHCR.io/${type}", "foo/bar", "GHCR.io/bar");
    check("ghcr.io:99999/${type}", "foo/bar", "ghcr.io:99999/bar");
    check("ghcr.io:/${type}", "foo/bar", "ghcr.io/bar");
    check("ghcr.io/${type}:", "foo/bar", "ghcr.io/bar");
}

#[test]
fn an_escape_is_plain_text_and_so_no_repository() {
    let template = RepositoryTemplate::parse_loose("oci/$${type}/${type}").expect("a template");
    assert_eq!(template.render(&address("a/b")).expect("a text"), "oci/${type}/b");
    assert_snapshot!(refusal("ghcr.io/$${type}"), @"`ghcr.io/$${type}` gives no repository address: for example.com/example-namespace/example-type, `ghcr.io/${type}` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`");
}

#[test]
fn a_loose_template_may_be_a_path() {
    let template = RepositoryTemplate::parse_loose("./mirror/${hostname}/${namespace}/${type}").expect("a template");
    assert_eq!(template.render(&address("localhost:5000/a/b")).expect("a text"), "./mirror/localhost:5000/a/b");
    assert_eq!(template.symbols().len(), 3);
    assert!(<RepositoryTemplate>::parse_loose("").is_err());
    assert!(<RepositoryTemplate>::parse_loose("${[type]}").is_err());
}

#[test]
fn says_where_and_what_to_write() {
    assert_snapshot!(refusal(""), @"the repository template is empty");
    assert_snapshot!(refusal("ghcr.io/ü/${version}"), @"`ghcr.io/ü/${version}` mentions `version` at column 13, which an address does not have");
    assert_snapshot!(refusal("ghcr.io/${upper(type)}"), @"`ghcr.io/${upper(type)}` is not a repository template: functions cannot be called here, at column 11");
    assert_snapshot!(refusal("ghcr.io/%{if true}a"), @"`ghcr.io/%{if true}a` is not a repository template: a directive reads %{if …}, %{else} or %{endif}, and each %{if …} needs an %{endif}, at column 9");
    assert_snapshot!(refusal("ghcr.io/${hostname + 1}"), @r#"`ghcr.io/${hostname + 1}` is not a repository template: a number is needed, not "example.com", at column 11"#);
    assert_snapshot!(refusal("ghcr.io/${type"), @"`ghcr.io/${type` is not a repository template: an interpolation is not closed: its } is missing, at column 14");
    assert_snapshot!(refusal("ghcr.io/${}"), @"`ghcr.io/${}` is not a repository template: no expression begins here, at column 11");
    assert_snapshot!(refusal(r#"ghcr.io/${type == \"a\"}"#), @r#"`ghcr.io/${type == \"a\"}` is not a repository template: a backslash has no place in an expression, at column 19"#);
    assert_snapshot!(refusal("ghcr.io/${name space}"), @"`ghcr.io/${name space}` is not a repository template: the expression ends here, and neither an operator nor } follows, at column 16");
    assert_snapshot!(refusal("${[type]}"), @"`${[type]}` gives no text: a text is needed, not a list");
    assert_snapshot!(refusal("${null}"), @"`${null}` gives null instead of a repository address");
    assert_snapshot!(refusal("https://ghcr.io/${type}"), @"`https://ghcr.io/${type}` gives no repository address: for example.com/example-namespace/example-type, `https://ghcr.io/example-type` is not a repository address: it is written without a scheme such as https://");
    assert_snapshot!(refusal("ghcr.io/${type}:latest"), @"`ghcr.io/${type}:latest` gives no repository address: for example.com/example-namespace/example-type, `ghcr.io/example-type:latest` is not a repository address: it must name no tag and no digest");
    assert_snapshot!(refusal("ghcr.io"), @"`ghcr.io` gives no repository address: for example.com/example-namespace/example-type, `ghcr.io` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget");
}

#[test]
fn a_check_tells_of_all_that_is_wrong_at_once() {
    assert_snapshot!(said("", &[]), @"template-required ``");
    assert_snapshot!(said("r.example/${host}/${name}", &[]), @"
    unknown-symbol:host `host`
    unknown-symbol:name `name`
    missing-hostname `r.example/${host}/${name}`
    missing-namespace `r.example/${host}/${name}`
    missing-type `r.example/${host}/${name}`
    ");
    // Of the faults of expressions the first.
    assert_snapshot!(said("r.example/${type[0]}/${hostname.x}/${f(namespace)}", &[]), @"hcl:invalid-index `[0]`");
    let messages = RepositoryTemplate::check("r.example/x", &[]).expect_err("must be refused");
    assert_snapshot!(messages[0], @"`r.example/x` does not mention ${hostname}");
}

#[test]
fn include_says_which_symbols_are_due() {
    assert_snapshot!(said("r.example/${type}", &["a.example/acme/*"]), @"ok");
    assert_snapshot!(said("r.example/${type}", &["a.example/acme/*", "A.example:443/acme/x"]), @"ok");
    assert_snapshot!(said("r.example/${type}", &["a.example/acme/*", "b.example/acme/*"]), @"missing-hostname `r.example/${type}`");
    assert_snapshot!(said("r.example/${type == \"x\" ? \"a\" : \"b\"}", &["a.example/acme/*"]), @"ok");
}

#[test]
fn a_wildcard_beside_one_value_is_let_through() {
    assert_snapshot!(said("r.example/x", &["*/*/*", "a.example/acme/x"]), @"ok");
    assert_snapshot!(said("r.example/${namespace}/${type}", &["*/*/*", "a.example/acme/x"]), @"ok");
    assert_snapshot!(said("r.example/${namespace}/${type}", &["*/*/*"]), @"missing-hostname `r.example/${namespace}/${type}`");
}

#[test]
fn a_pattern_that_is_none_ends_the_check_after_the_names() {
    assert_snapshot!(said("r.example/BAD", &["*/x"]), @"ok");
    assert_snapshot!(said("r.example/${x}", &["*/x"]), @"unknown-symbol:x `x`");
}

#[test]
fn what_fails_for_one_provider_only_names_it() {
    assert_snapshot!(failure(r#"r.example/${ {"example.com" = "x"}[hostname] }"#, "a.example/b/c"), @r#"template-eval: the repository template `r.example/${ {"example.com" = "x"}[hostname] }` cannot be worked out for a.example/b/c: there is nothing under "a.example", only example.com"#);
    assert_snapshot!(failure(r#"r.example/${type == "c" ? null : "x"}"#, "a.example/b/c"), @r#"template-null: the repository template `r.example/${type == "c" ? null : "x"}` gives null for a.example/b/c"#);
    assert_snapshot!(failure(r#"${type == "c" ? null : "r.example/x"}"#, "a.example/b/c"), @r#"template-null: the repository template `${type == "c" ? null : "r.example/x"}` gives null for a.example/b/c"#);
    assert_snapshot!(failure(r#"r.example/${type == "c" ? "BAD" : "x"}"#, "a.example/b/c"), @r#"invalid-repository-address: the repository template `r.example/${type == "c" ? "BAD" : "x"}` gives no repository for a.example/b/c"#);
    assert_snapshot!(failure("r.example", "a.example/b/c"), @"empty-repository: the repository template `r.example` gives only the registry r.example for a.example/b/c, and no repository in it");
}

#[test]
fn characters_that_no_repository_has_give_the_error_of_the_rfc() {
    let template: RepositoryTemplate =
        "ghcr.io/examplecom-otf-providers/${namespace}-${type}".parse().expect("a template");
    let error = template.apply(&address("example.com/foo/ほげ")).expect_err("must be refused");
    assert_snapshot!(error, @"requested provider address example.com/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as ghcr.io/examplecom-otf-providers/foo-ほげ");
}

#[test]
fn a_long_result_is_left_to_the_registry() {
    let long = "b".repeat(300);
    check("ghcr.io/${type}", &format!("a/{long}"), &format!("ghcr.io/{long}"));
}

#[test]
fn a_host_publishes_its_template_if_a_uri_template_can_say_it() {
    let check = |template: &str, want: Option<&str>| {
        let template: RepositoryTemplate = template.parse().unwrap();
        let found = template.uri_template(&"registry.acme.example".parse().unwrap());
        assert_eq!(found.as_ref().map(UriTemplate::as_str), want, "{}", template.as_str());
    };
    check("ghcr.io/acme/${namespace}-${type}", Some("ghcr.io/acme/{namespace}-{type}"));
    check("ghcr.io/${hostname}/${ namespace }/${type}", Some("ghcr.io/registry.acme.example/{namespace}/{type}"));
    check(
        "ghcr.io/${hostname == \"registry.acme.example\" ? \"own\" : hostname}/${namespace}/${type}",
        Some("ghcr.io/own/{namespace}/{type}"),
    );
    check("registry.acme.example:5000/${type}", Some("registry.acme.example:5000/{type}"));
    check("ghcr.io/${namespace == \"acme\" ? \"own\" : namespace}/${type}", None);
    check("ghcr.io/acme/%{if type == \"zap\"}x%{endif}${type}", None);
    check("localhost:5000/${namespace}/${type}", None);
    check("127.0.0.1:5000/${namespace}/${type}", None);
}

#[test]
fn a_client_chose_the_registry_by_a_wildcard() {
    let check = |template: &str, include: &[&str], want: &[Symbol]| {
        let template: RepositoryTemplate = template.parse().unwrap();
        let include: Vec<Pattern> = include.iter().map(|pattern| pattern.parse().unwrap()).collect();
        let open: Vec<Symbol> = template.open_in_registry(&include).into_iter().collect();
        assert_eq!(open, want, "{}", template.as_str());
    };
    let all = ["*/*/*"];
    check("ghcr.io/${hostname}/${namespace}/${type}", &all, &[]);
    check("${hostname}/${namespace}/${type}", &all, &[Symbol::Hostname]);
    check("${hostname}/${namespace}/${type}", &["a.example/*/*", "b.example/*/*"], &[]);
    check("${hostname}/${namespace}/${type}", &["a.example/*/*", "*/*/*"], &[Symbol::Hostname]);
    check("${namespace}.a.example/${type}", &["a.example/*/*"], &[Symbol::Namespace]);
    check("${namespace}.a.example/${type}", &["a.example/acme/*"], &[]);
    check("%{if hostname == \"a.example\"}ghcr.io/a%{else}quay.io/b%{endif}/${type}", &all, &[]);
    check("${hostname == \"a.example\" ? \"ghcr.io\" : hostname}/${type}", &all, &[Symbol::Hostname]);
}

#[test]
fn modules_have_a_name_and_a_target_system() {
    let module = |template: &str, address: &str| {
        let template: ModuleTemplate = template.parse().unwrap_or_else(|error| panic!("{error}"));
        template.apply(&address.parse().expect("an address")).map(|repository| repository.to_string())
    };
    let network = "registry.example.com:8443/acme/network/aws";
    let made = module("${hostname}/m/${namespace}/${name}-${target_system}", network);
    assert_eq!(made.as_deref(), Ok("registry.example.com:8443/m/acme/network-aws"));
    let refused = |template: &str| {
        let error = template.parse::<ModuleTemplate>().expect_err("must be refused");
        format!("{error}; {}", error.instead())
    };
    assert_snapshot!(refused("ghcr.io/${type}"), @"`ghcr.io/${type}` mentions `type` at column 11, which an address does not have; write ${hostname}, ${namespace}, ${name} or ${target_system}");
    assert_snapshot!(refused("ghcr.io"), @"`ghcr.io` gives no repository address: for example.com/example-namespace/example-name/example, `ghcr.io` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget; write REGISTRY/PATH in lower case, without scheme, tag and digest, such as ghcr.io/acme/${namespace}/${name}-${target_system}");
    assert_snapshot!(module("ghcr.io/${name}", "example.com/acme/NetWork/aws").expect_err("upper case"), @"requested module address example.com/acme/NetWork/aws contains characters that are not valid in an OCI distribution repository name, so this module cannot be installed from an OCI repository as ghcr.io/NetWork");
    let template: ModuleTemplate = "${hostname}/${name}".parse().expect("a template");
    let include = |pattern: &str| template.open_in_registry(&[pattern.parse().expect("a pattern")]);
    assert!(include("example.com/*/*/*").is_empty() && include("*/*/*/*").contains(&Symbol::Hostname));
}
