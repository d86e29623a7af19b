//! Repositories that come out of a template.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, fine, installation, methods, shown};

fn mirror(template: &str, include: &str) -> String {
    format!("  oci_mirror {{\n    repository_template = \"{template}\"\n    include             = [{include}]\n  }}")
}

const ONE: &str = "\"example.com/a/b\"";
const HOST: &str = "\"example.com/*/*\"";

#[test]
fn several_providers_on_one_repository() {
    assert_snapshot!(methods(&mirror("ghcr.io/${namespace}", "\"example.com/a/*\", \"example.com/b/c\"")), @r#"
    warning[template-hole] `ghcr.io/${namespace}` sends two providers to one repository: example.com/a/zap and example.com/a/widget both get ghcr.io/a
     --> /home/u/.tofurc:3:27 "\"ghcr.io/${namespace}\""
      = what happens: OpenTofu reads it without a complaint, and installs either of them out of that repository
      = instead: write ${type} somewhere in it, or let `include` name exactly one type
    "#);
    fine("template-hole", &mirror("ghcr.io/${namespace}/${type}", "\"example.com/a/*\", \"example.com/b/c\""));
}

#[test]
fn two_providers_meet_behind_a_method_that_selects_them_before() {
    let holes = |before: &str| {
        let hole = mirror("ghcr.io/acme/${namespace}-${type}", "\"example.com/*/*\"");
        let found = methods(&format!("{before}\n{hole}"));
        found.lines().find(|line| line.contains("template-hole")).unwrap_or_default().to_owned()
    };
    let want = "warning[template-hole] `ghcr.io/acme/${namespace}-${type}` sends two providers to one repository: example.com/a-a/a and example.com/a/a-a both get ghcr.io/acme/a-a-a";
    for before in ["direct {}", "filesystem_mirror {\n  path = \"/srv\"\n}"] {
        assert_eq!(holes(before), want, "{before}");
    }
    assert_eq!(holes(&mirror("ghcr.io/all/${hostname}/${namespace}/${type}", "\"*/*/*\"")), want);
    let both = [
        mirror("ghcr.io/${namespace}/${type}", "\"example.com/*/*\""),
        mirror("ghcr.io/${type}/${namespace}", "\"example.com/*/*\""),
    ];
    let found = methods(&both.join("\n"));
    assert!(found.contains("template-hole"), "two that select one provider are compared, too: {found}");
}

#[test]
fn a_registry_without_a_repository() {
    assert_snapshot!(methods(&mirror("ghcr.io", ONE)), @r#"
    error[template-no-repository] the template gives `ghcr.io`, which names no repository
     --> /home/u/.tofurc:3:27 "\"ghcr.io\""
      = what happens: OpenTofu reads it without a complaint; init then aborts for every provider of this method
      = instead: write a path after the registry, such as ghcr.io/acme/${namespace}/${type}
    "#);
    fine("template-no-repository", &mirror("ghcr.io/acme", ONE));
}

#[test]
fn a_template_that_fails_for_a_provider() {
    assert_snapshot!(methods(&mirror("ghcr.io/acme/ほげ-${type}", ONE)), @r#"
    error[empty-installation] no method of provider_installation is left
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write the methods as their errors say

    error[invalid-repository-address] `ghcr.io/acme/ほげ-${type}` gives no repository address: for example.com/example-namespace/example-type, `ghcr.io/acme/ほげ-example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
     --> /home/u/.tofurc:3:28 "ghcr.io/acme/ほげ-${type}"
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write REGISTRY/PATH in lower case, without scheme, tag and digest, such as ghcr.io/acme/${namespace}/${type}
    "#);
    let text = installation(&mirror("ghcr.io/${namespace}/${type}", HOST));
    let files = MemoryFiles::from([("/home/u/.tofurc", text.as_str())]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &["example.com/foo/ほげ"])), @r#"
    error[template-fails] requested provider address example.com/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as ghcr.io/foo/ほげ
     --> /home/u/.tofurc:3:27 "\"ghcr.io/${namespace}/${type}\""
      = what happens: OpenTofu reads it without a complaint; init then aborts for example.com/foo/ほげ
      = instead: write a template that gives REGISTRY/PATH in lower case for it, or exclude it here
    "#);
    assert_snapshot!(shown(&find(&environment(), &files, None, &["example.com/foo/hoge"])), @"");
}

#[test]
fn a_literal_in_place_of_a_symbol() {
    assert_snapshot!(methods(&mirror("ghcr.io/acme/$${type}", ONE)), @r#"
    error[empty-installation] no method of provider_installation is left
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write the methods as their errors say

    error[invalid-repository-address] `ghcr.io/acme/$${type}` gives no repository address: for example.com/example-namespace/example-type, `ghcr.io/acme/${type}` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
     --> /home/u/.tofurc:3:28 "ghcr.io/acme/$${type}"
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write REGISTRY/PATH in lower case, without scheme, tag and digest, such as ghcr.io/acme/${namespace}/${type}

    warning[template-escape] `$${` is a literal `${`, and no symbol
     --> /home/u/.tofurc:3:41 "$${"
      = what happens: nothing is put in its place, and no repository can have these characters
      = instead: write ${
    "#);
    fine("template-escape", &mirror("ghcr.io/acme/${type}", ONE));
}

#[test]
fn odd_registries() {
    assert_snapshot!(methods(&mirror("GHCR.io/acme/${type}", ONE)), @r#"
    warning[registry-upper-case] the registry `GHCR.io` has capital letters
     --> /home/u/.tofurc:3:27 "\"GHCR.io/acme/${type}\""
      = what happens: OpenTofu reads it without a complaint; the name goes to the wire as it is written
      = instead: write ghcr.io in the template
    "#);
    assert_snapshot!(methods(&mirror("ghcr.io:99999/acme/${type}", ONE)), @r#"
    warning[registry-port] the registry `ghcr.io:99999` has no port 99999: 65535 is the last
     --> /home/u/.tofurc:3:27 "\"ghcr.io:99999/acme/${type}\""
      = what happens: OpenTofu reads it without a complaint; the name goes to the wire as it is written
      = instead: write a port from 1 to 65535, or none
    "#);
    assert_snapshot!(methods(&mirror("ghcr.io:/acme/${type}", ONE)), @r#"
    warning[registry-port] the registry `ghcr.io:` has an empty port
     --> /home/u/.tofurc:3:27 "\"ghcr.io:/acme/${type}\""
      = what happens: OpenTofu reads it without a complaint; the name goes to the wire as it is written
      = instead: write a port from 1 to 65535, or none
    "#);
    fine("registry-port", &mirror("ghcr.io:5000/acme/${type}", ONE));
    fine("registry-upper-case", &mirror("ghcr.io:5000/acme/${type}", ONE));
}

#[test]
fn quotes_inside_expressions() {
    assert_snapshot!(methods(&mirror("ghcr.io/${type == \\\"b\\\" ? \\\"x\\\" : \\\"y\\\"}", ONE)), @r#"
    error[empty-installation] no method of provider_installation is left
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write the methods as their errors say

    error[hcl:invalid-character] `ghcr.io/${type == \"b\" ? \"x\" : \"y\"}` is not a repository template: a backslash has no place in an expression, at column 19
     --> /home/u/.tofurc:3:46 "\\"
      = what happens: 1.10 and later: prints an error that names no line, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write quotes inside ${ } without a backslash (in JSON with one)
    "#);
    assert_snapshot!(methods(&mirror("ghcr.io/%{ if type == \"b\" }x%{ else }y%{ endif }", ONE)), @r#"
    error[hcl1-parse] a name needs `= VALUE` or `{ … }` after it
     --> /home/u/.tofurc:3:51 "b"
      = what happens: 1.10 and later: prints an error that names line 4, and goes on without this file
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: write NAME = VALUE in a line of its own, or NAME { … }
    "#);
    assert_snapshot!(methods(&mirror("ghcr.io/${type == \"b\" ? \"x\" : \"y\"}", ONE)), @"");
}
