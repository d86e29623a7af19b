use insta::assert_snapshot;
use proptest::prelude::{Strategy, prop, prop_assert_eq, prop_oneof, proptest};
use tofu_oci_vectors::Vectors;

use super::*;

fn vector_values(name: &str) -> Option<&'static str> {
    match name {
        "hostname" => Some("registry.opentofu.org:8080"),
        "namespace" => Some("foo"),
        "type" => Some("ほげ~b-ar_x.y"),
        _ => None,
    }
}

#[test]
fn the_vectors() {
    Vectors::open("uri_template_level1.json").each("cases", |case| {
        let text = case["template"].as_str().unwrap();
        let template = text.parse::<UriTemplate>();
        assert_eq!(template.is_ok(), case["valid"].as_bool().unwrap(), "{text}");
        assert_eq!(template.is_err(), case["expand_error"].as_bool().unwrap_or_default(), "{text}");
        let expanded = template.ok().map(|template| template.expand(&vector_values));
        assert_eq!(expanded.as_deref(), case["expanded"].as_str(), "{text}");
    });
}

#[track_caller]
fn check(text: &str, want: &str) {
    assert_eq!(text.parse::<UriTemplate>().map(|template| template.expand(&vector_values)).as_deref(), Ok(want));
}

#[track_caller]
fn check_fault(text: &str, code: &str, span: Range<usize>) {
    let error = text.parse::<UriTemplate>().expect_err("a fault");
    assert_eq!((error.code(), error.span()), (code, span), "{text:?}");
}

#[test]
fn literals_and_values_are_encoded_differently() {
    check("https://x.test/?a=b&c#d[]", "https://x.test/?a=b&c#d[]");
    check("é/{type}", "%c3%a9/%e3%81%bb%e3%81%92~b-ar_x.y");
    check("%C3%a9", "%C3%a9");
    check("{namespace}{namespace}", "foofoo");
    check("{%6e_1}", "");
}

#[test]
fn the_place_of_the_fault_is_told() {
    check_fault("a/{}", "no-variable", 2..4);
    check_fault("a/{+type}", "operator", 3..4);
    check_fault("a/{|x}", "operator", 3..4);
    check_fault("a/{type,x}", "several-variables", 7..8);
    check_fault("a/{type:3}", "modifier", 7..8);
    check_fault("a/{type*}", "modifier", 7..8);
    check_fault("a/{ty pe}", "bad-name", 5..6);
    check_fault("é/{ö}", "bad-name", 4..6);
    check_fault("a/{a{b}", "bad-name", 4..5);
    check_fault("a/{%4}", "bad-percent", 3..4);
    check_fault("a/{type", "unclosed-expression", 2..7);
    check_fault("a/type}", "unopened-expression", 6..7);
    check_fault("a/%4g", "bad-percent", 2..3);
    check_fault("a/%é", "bad-percent", 2..3);
    for character in [' ', '"', '\'', '<', '>', '\\', '^', '`', '|', '\n', '\u{7f}', '\u{fffd}'] {
        check_fault(&format!("a/{character}"), "bad-character", 2..2 + character.len_utf8());
    }
}

fn place(template: &str, address: &str) -> Result<String, String> {
    let template = UriTemplate::for_providers(template).map_err(|error| error.to_string())?;
    let place = template.repository(&address.parse().expect("an address")).map_err(|error| error.to_string())?;
    Ok(format!("{} by {}", place.repository, place.rule))
}

#[test]
fn the_examples_of_the_rfc() {
    let check = |template, address, want: &str| {
        assert_eq!(
            place(template, address).map(|text| text.split(' ').next().unwrap().to_owned()),
            Ok(want.to_owned())
        );
    };
    check(
        "example.com/opentofu-providers/{namespace}/{type}",
        "example.net/foo/bar",
        "example.com/opentofu-providers/foo/bar",
    );
    check(
        "ghcr.io/example-org-otf-providers/{namespace}-{type}",
        "example.org/foo/bar",
        "ghcr.io/example-org-otf-providers/foo-bar",
    );
    check("ghcr.io/{namespace}/opentofu-provider-{type}", "example.org/Foo/bar", "ghcr.io/foo/opentofu-provider-bar");
    check("{hostname}/{namespace}/{type}", "испытание.com/a/b", "xn--80akhbyknj4f.com/a/b");
    check("ghcr.io/all-in-one", "example.org/foo/bar", "ghcr.io/all-in-one");
    check("ghcr.io/only/{type}", "example.org/ほげ/bar", "ghcr.io/only/bar");
}

#[test]
fn says_what_is_wrong_with_an_address() {
    assert_snapshot!(place("ghcr.io/x/{namespace}-{type}", "example.com/foo/ほげ").unwrap_err(), @"requested provider address example.com/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as ghcr.io/x/foo-ほげ");
    assert_snapshot!(place("{namespace}.ghcr.io/{type}", "example.com/é/bar").unwrap_err(), @"requested provider address example.com/é/bar contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as é.ghcr.io/bar");
    assert_snapshot!(place("{hostname}/{type}", "example.com:8443/foo/bar").unwrap_err(), @"the URI template `{hostname}/{type}` of example.com:8443 gives no repository for example.com:8443/foo/bar");
    assert_snapshot!(place("ghcr.io/{type}", "example.com/foo/bar").unwrap(), @"ghcr.io/bar by the URI template `ghcr.io/{type}` of example.com");
}

#[test]
fn says_what_is_wrong_with_a_template() {
    let refusal = |template: &str| UriTemplate::for_providers(template).unwrap_err().to_string();
    assert_snapshot!(refusal(""), @"the template is empty");
    assert_snapshot!(refusal("https://ghcr.io/{namespace}/{type}"), @"`https://ghcr.io/{namespace}/{type}` is not a template for repositories: `https://` begins a URL, and a repository is written without, as REGISTRY/NAME, at column 1");
    assert_snapshot!(refusal("/v1/providers/"), @"`/v1/providers/` is not a template for repositories: it begins without a registry, and a repository is written REGISTRY/NAME, at column 1");
    assert_snapshot!(refusal("./{type}"), @"`./{type}` is not a template for repositories: it begins without a registry, and a repository is written REGISTRY/NAME, at column 1");
    assert_snapshot!(refusal("ghcr.io"), @"`ghcr.io` is not a template for repositories: there is only a registry, and a repository is written REGISTRY/NAME, at column 1");
    assert_snapshot!(refusal("ghcr.io/{name}"), @"`ghcr.io/{name}` is not a template for repositories: `name` is nothing that an address has: write {namespace} or {type}, at column 10");
    assert_snapshot!(refusal("ghcr.io/é{+type}"), @"`ghcr.io/é{+type}` is not a template for repositories: the operator `+` is not supported, only plain names such as {type} are, at column 11");
    assert_snapshot!(refusal("ghcr.io/${type}\n"), @r"`ghcr.io/${type}\n` is not a template for repositories: `\n` cannot be in a URI, at column 16");
}

/// Templates of level 1, with the characters that both allow: the other one takes no literal beyond ASCII.
fn templates() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9:/?#@!$&()*+,;=._~-]{1,6}",
        "%[0-9a-fA-F]{2}",
        prop::sample::select(vec!["{hostname}", "{namespace}", "{type}", "{nothing}", "{a_1}"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Percent-encoded triplets in upper case, which is how the other expander writes them.
fn upper(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push('%');
        out.push_str(&piece[..2].to_ascii_uppercase());
        out.push_str(&piece[2..]);
    }
    out
}

proptest! {
    #[test]
    fn expands_as_another_expander_does(text in templates(), namespace in "\\PC{0,6}", provider_type in "[ -~]{0,6}") {
        use iri_string::spec::UriSpec;
        use iri_string::template::{UriTemplateStr, simple_context::SimpleContext};

        let mut context = SimpleContext::new();
        context.insert("hostname", "registry.example.test:8443");
        context.insert("namespace", namespace.as_str());
        context.insert("type", provider_type.as_str());
        let other = UriTemplateStr::new(&text).unwrap().expand::<UriSpec, _>(&context).unwrap().to_string();
        let template: UriTemplate = text.parse().unwrap();
        let ours = template.expand(&|name| match name {
            "hostname" => Some("registry.example.test:8443"),
            "namespace" => Some(&namespace),
            "type" => Some(&provider_type),
            _ => None,
        });
        prop_assert_eq!(upper(&ours), upper(&other));
    }

    #[test]
    fn whatever_comes_is_expanded_or_refused_with_a_place(text in "[\\PC{}%+ ]{0,12}") {
        match text.parse::<UriTemplate>() {
            Ok(template) => prop_assert_eq!(template.expand(&|_| None).bytes().all(is_uri_character), true),
            Err(error) => prop_assert_eq!(text.get(error.span()).is_some(), true),
        }
    }
}
