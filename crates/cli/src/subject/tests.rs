//! What arguments name, and what to write instead.

use super::*;

#[track_caller]
fn check(text: &str, given: Option<&str>, want: Result<(&str, &str), &str>) {
    let given = given.map(|text| text.parse().expect("a version of this test"));
    let got = release_at(text, given.as_ref());
    let got = got.map(|(end, version)| (end.to_string(), version.to_string()));
    match (got, want) {
        (Ok((end, version)), Ok(want)) => assert_eq!((end.as_str(), version.as_str()), want),
        (Err(diagnostic), Err(want)) => {
            assert_eq!((diagnostic.text(), diagnostic.exit()), (want, Exit::Usage), "{text}");
        }
        (got, want) => panic!("{text}: {got:?}, not {want:?}"),
    }
}

#[test]
fn a_release_is_a_place_and_a_version() {
    check("ghcr.io/acme/widget:1.4.0", None, Ok(("ghcr.io/acme/widget", "1.4.0")));
    check("127.0.0.1:5000/acme/widget:1.4.0-rc.1", None, Ok(("127.0.0.1:5000/acme/widget", "1.4.0-rc.1")));
    check("ghcr.io/acme/widget:1.4.0_b", None, Ok(("ghcr.io/acme/widget", "1.4.0+b")));
    check("oci:dir:1.4.0", None, Ok(("oci:dir", "1.4.0")));
    check("oci:C:/dir:1.4.0", None, Ok(("oci:C:/dir", "1.4.0")));
    check("oci:dir", Some("1.4.0"), Ok(("oci:dir", "1.4.0")));
    check("oci://ghcr.io/acme/network?tag=1.4.0", None, Ok(("ghcr.io/acme/network", "1.4.0")));
    check("oci://ghcr.io/acme/network?tag=1.4.0_b1", None, Ok(("ghcr.io/acme/network", "1.4.0+b1")));
    check("oci://ghcr.io/acme/network", Some("1.4.0"), Ok(("ghcr.io/acme/network", "1.4.0")));
    check("ghcr.io/acme/widget:1.4.0", Some("1.4.0"), Ok(("ghcr.io/acme/widget", "1.4.0")));
}

#[test]
fn a_release_without_a_version_is_refused() {
    check("127.0.0.1:5000/acme/widget", None, Err("`127.0.0.1:5000/acme/widget` names no version"));
    check("oci:dir", None, Err("`oci:dir` names no version"));
    check("oci:dir:1.4", None, Err("`oci:dir:1.4` names no version: write it in full, 1.4.0"));
    check("oci://ghcr.io/acme/network", None, Err("`oci://ghcr.io/acme/network` names no version"));
    let main = "oci://ghcr.io/acme/network?tag=main";
    check(main, None, Err(&format!("the tag main of `{main}` is not a version in full")));
    let folder = "oci://ghcr.io/acme/network//dns?tag=1.4.0";
    check(folder, None, Err(&format!("`{folder}` names a folder, and `` is about whole packages")));
    let two = "`ghcr.io/acme/widget:1.4.0` names version 1.4.0, and --version 1.5.0";
    check("ghcr.io/acme/widget:1.4.0", Some("1.5.0"), Err(two));
}

#[track_caller]
fn check_hint(got: Result<impl std::fmt::Debug, Diagnostic>, want: &str) {
    let diagnostic = got.expect_err("must be refused");
    assert!(diagnostic.hints().iter().any(|hint| hint == want), "{:?}", diagnostic.hints());
    assert_eq!(diagnostic.exit(), Exit::Usage);
}

#[test]
fn a_hint_has_the_right_form_with_the_words_of_the_user() {
    let resolve = "write REPOSITORY:1.0.0; `tofu-oci resolve acme/widget` says which repository has it";
    check_hint(place("acme/widget@1.0.0"), resolve);
    check_hint(
        place("ghcr.io/acme/opentofu-provider-widget@1.0.0"),
        "write ghcr.io/acme/opentofu-provider-widget:1.0.0",
    );
    check_hint(place("oci:dir@1.0.0"), "write oci:dir:1.0.0");
    check_hint(place("ghcr.io/a/b:v1.0.0"), "write ghcr.io/a/b:1.0.0");
    check_hint(place("ghcr.io/a/b:1.0.0@sha256:00"), "omit the digest: ghcr.io/a/b:1.0.0");
    check_hint(place("ghcr.io/a/b@sha256:00"), "write ghcr.io/a/b:VERSION, such as ghcr.io/a/b:1.4.0");
    check_hint(provider("acme/widget:1.0.0"), "write a provider's version after an @: acme/widget@1.0.0");
    let from = "tofu-oci  HOST/NAMESPACE/TYPE@1.0.0 --from ghcr.io/acme/opentofu-provider-widget";
    check_hint(provider("ghcr.io/acme/opentofu-provider-widget:1.0.0"), from);
    check_hint(provider("oci:dir:1.0.0"), "tofu-oci  HOST/NAMESPACE/TYPE@1.0.0 --from oci:dir");
}

#[test]
fn a_provider_may_have_constraints() {
    let (address, constraints) = provider("acme/widget@~> 1.4").expect("well-formed");
    assert_eq!(
        (address.to_string().as_str(), constraints.to_string().as_str()),
        ("registry.opentofu.org/acme/widget", "~> 1.4")
    );
    assert!(exact(&address, &constraints).is_err());
    assert_eq!(
        exact(&address, &"1.4".parse().expect("a constraint")).map(|version| version.to_string()).ok().as_deref(),
        Some("1.4.0")
    );
}

#[test]
fn a_version_after_a_slash_was_answered_with_the_form_of_addresses() {
    for name in ["acme/widget", "example.com/acme/widget"] {
        let said = provider(&format!("{name}/1.0.0")).expect_err("no provider is named so");
        assert_eq!(said.hints()[0], format!("a version follows an @: {name}@1.0.0"));
    }
}

#[test]
fn a_repository_without_a_scheme_was_no_module_for_verbs_of_modules() {
    let source = |text: &str| module_name(text).map(|name| matches!(name, ModuleName::Oci(_)));
    for text in
        ["ghcr.io/acme/network", "ghcr.io/acme/network:1.4.0", "127.0.0.1:5000/acme/network", "ghcr.io/a/b//sub"]
    {
        assert!(source(text).is_ok_and(|is_source| is_source), "{text}");
    }
    assert!(source("registry.example.com/acme/network/aws").is_ok_and(|is_source| !is_source));
}

#[test]
fn a_version_in_the_wrong_place_of_a_source_was_answered_with_every_form() {
    let check = |text: &str, want: &str| {
        let said = module_name(text).expect_err("no module is named so");
        assert!(said.hints().iter().any(|hint| hint.ends_with(want)), "{text}: {:?}", said.hints());
    };
    let right = "'oci://ghcr.io/acme/network?tag=1.4.0'";
    for argument in ["version=1.4.0", "ref=1.4.0", "Tag=1.4.0", "digest=1.4.0"] {
        check(&format!("oci://ghcr.io/acme/network?{argument}"), right);
    }
    let right = "'oci://ghcr.io/acme/network//sub?tag=1.4.0'";
    for text in ["?tag=1.4.0//sub", "//sub?version=1.4.0", ":1.4.0//sub"] {
        check(&format!("oci://ghcr.io/acme/network{text}"), right);
    }
    for text in [":1.4.0", "?version=1.4.0"] {
        let module = "registry.example.com/acme/network/aws";
        check(&format!("{module}{text}"), &format!("a version follows an @: {module}@1.4.0"));
    }
    check("git::https://example.com/x.git?ref=v1//sub", "git::https://example.com/x.git//sub?ref=v1");
    let said = module_name("oci://ghcr.io/acme/network?version=hunter2").expect_err("an unknown argument");
    assert!(!said.hints().iter().any(|hint| hint.contains("hunter2")), "{:?}", said.hints());
}
