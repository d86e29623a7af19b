//! What an identity names.

use super::*;

#[test]
fn a_star_is_within_one_segment() {
    for (pattern, text, want) in [
        ("a/b", "a/b", true),
        ("a/b", "a/b/c", false),
        ("a/*", "a/b", true),
        ("a/*", "a/b/c", false),
        ("a/t-*-x", "a/t-aws-x", true),
        ("a/t-*-x", "a/t-x", false),
        ("*b*d", "abcd", true),
        ("*b*d", "abc", false),
        ("a*a", "a", false),
        ("A", "a", false),
    ] {
        assert_eq!(path_matches(pattern, text), want, "{pattern} {text}");
    }
}

#[test]
fn a_ref_names_the_version() {
    for (pattern, reference, want) in [
        ("refs/tags/v{version}", "refs/tags/v1.4.0", Some(Some("1.4.0"))),
        ("refs/tags/v{version}", "refs/tags/1.4.0", None),
        ("refs/tags/v{version}", "refs/tags/v", None),
        ("refs/tags/v{version}", "refs/heads/v1.4.0", None),
        ("refs/tags/v{version}", "refs/tags/v1.4.0/x", None),
        ("refs/tags/w-{version}-r", "refs/tags/w-1.4.0-r", Some(Some("1.4.0"))),
        ("refs/heads/main", "refs/heads/main", Some(None)),
        ("refs/heads/release-*", "refs/heads/release-1", Some(None)),
        ("refs/heads/*", "refs/heads/a/b", None),
    ] {
        let want = want.map(|version| version.map(str::to_owned)).ok_or(());
        assert_eq!(named_version(pattern, reference), want, "{pattern} {reference}");
    }
}

fn workflow() -> Identity {
    Identity {
        issuer: None,
        repository: Some("github.com/acme/terraform-provider-widget".to_owned()),
        workflow: Some(".github/workflows/release.yml".to_owned()),
        reference: Some("refs/tags/v{version}".to_owned()),
        environment: None,
        runner: None,
        email: None,
        repository_id: None,
        release: false,
        root: None,
    }
}

fn release() -> Identity {
    Identity { workflow: None, release: true, ..workflow() }
}

#[test]
fn an_immutable_release_and_a_workflow_of_one_owner_are_one_party() {
    let (release, workflow) = (release().checked().expect("a release"), workflow().checked().expect("a workflow"));
    assert_eq!(release.issuer, None);
    assert_eq!(release.party(), workflow.party());
    assert!(release.overlaps(&workflow) && release.id() != workflow.id());
}

#[test]
fn an_identity_that_means_everybody_is_refused() {
    let whole = workflow().checked().expect("an identity");
    assert_eq!(whole.issuer.as_deref(), Some("https://token.actions.githubusercontent.com"));
    let text = |text: &str| Some(text.to_owned());
    let checks: [(Identity, &str); 30] = [
        (Identity { repository: None, ..workflow() }, "repository"),
        (Identity { repository: text("*"), ..workflow() }, "repository"),
        (Identity { repository: text("github.com/acme"), ..workflow() }, "repository"),
        (Identity { repository: text("github.com/*/widget"), ..workflow() }, "repository"),
        (Identity { repository: text("https://github.com/acme/widget"), ..workflow() }, "repository"),
        // These match no certificate, and their publisher was blamed.
        (Identity { repository: text("github.com/acme/group/widget"), ..workflow() }, "repository"),
        (Identity { repository: text("github.com/acme/./widget"), ..workflow() }, "repository"),
        (Identity { workflow: text("github.com/acme/widget/.github/workflows/f.yml"), ..workflow() }, "workflow"),
        (Identity { environment: text(""), ..workflow() }, "environment"),
        (Identity { reference: text("refs/tags/v${version}"), ..workflow() }, "ref"),
        (Identity { reference: text("refs/tag/v{version}"), ..workflow() }, "ref"),
        (Identity { reference: text("refs/head/main"), ..workflow() }, "ref"),
        (Identity { workflow: None, ..workflow() }, "workflow"),
        (Identity { workflow: text("*"), ..workflow() }, "workflow"),
        (Identity { workflow: text(".github/workflows/*"), ..workflow() }, "workflow"),
        (Identity { workflow: text(".github/workflows/**"), ..workflow() }, "workflow"),
        (Identity { workflow: text(".github/workflows/*.yml"), ..workflow() }, "workflow"),
        (Identity { workflow: text("acme/ci/.github/workflows/*.y*@refs/heads/main"), ..workflow() }, "workflow"),
        // Never the workflow of a certificate: one of the repository itself has the ref that was built.
        (Identity { workflow: text(".github/workflows/f.yml@refs/heads/main"), ..workflow() }, "workflow"),
        (Identity { reference: text("*"), ..workflow() }, "ref"),
        (Identity { reference: text("refs/tags/{version}*"), ..workflow() }, "ref"),
        (Identity { runner: text("mine"), ..workflow() }, "runner"),
        (Identity { repository: text("git.example.com/acme/widget"), ..workflow() }, "issuer"),
        (Identity { email: text("ann@example.com"), ..workflow() }, "email"),
        (Identity { repository_id: text("widget"), ..workflow() }, "repository_id"),
        (Identity { release: true, ..workflow() }, "release"),
        (Identity { release: true, root: text("root.json"), ..release() }, "release"),
        (Identity { issuer: text("https://example.com"), ..release() }, "release"),
        (Identity { repository: text("gitlab.com/acme/widget"), ..release() }, "release"),
        (Identity { reference: text("v{version}"), ..release() }, "ref"),
    ];
    for (identity, want) in checks {
        assert_eq!(identity.clone().checked().expect_err(want).member, want, "{identity:?}");
    }
}

#[test]
fn repositories_of_one_owner_are_one_party() {
    let of = |repository: &str| Identity { repository: Some(repository.to_owned()), ..workflow() }.checked().unwrap();
    assert_eq!(of("github.com/acme/a").party(), of("github.com/ACME/b*").party());
    assert_ne!(of("github.com/acme/a").party(), of("github.com/other/a").party());
    assert_eq!(of("github.com/acme/a").id(), of("github.com/Acme/A").id());
    assert_ne!(of("github.com/acme/a").id(), of("github.com/acme/b").id());
    let called = Identity {
        workflow: Some("acme/ci/.github/workflows/x.yml@refs/tags/v1".to_owned()),
        ..of("github.com/other/b")
    };
    let called = called.checked().unwrap();
    let workflow = called.workflow.as_ref().map(|workflow| workflow.replace("acme/ci", "ACME/Ci"));
    assert_eq!(Identity { workflow, ..called.clone() }.id(), called.id());
    assert!(!called.party().is_disjoint(&of("github.com/acme/a").party()));
}

#[test]
fn a_called_file_of_gitlab_never_matched() {
    let text = |text: &str| Some(text.to_owned());
    let proven = ProvenIdentity {
        issuer: text("https://gitlab.com"),
        subject: "https://gitlab.com/group/ci//.gitlab-ci.yml@refs/heads/main".to_owned(),
        repository: text("gitlab.com/group/sub/widget"),
        workflow: text("gitlab.com/group/ci//.gitlab-ci.yml"),
        workflow_ref: text("refs/heads/main"),
        reference: text("refs/tags/v1.4.0"),
        commit: None,
        run: None,
        environment: None,
        runner: None,
        repository_id: None,
        owner_id: None,
        is_release: false,
        is_person: false,
        root: None,
    };
    let of = |workflow: &str| {
        let repository = text("gitlab.com/group/sub/widget");
        Identity { repository, workflow: text(workflow), ..self::workflow() }.checked().expect(workflow)
    };
    for wanted in ["group/ci//.gitlab-ci.yml", "group/ci/.gitlab-ci.yml@refs/heads/main"] {
        assert_eq!(of(wanted).is(&proven), Ok(text("1.4.0")), "{wanted}");
    }
    assert!(of("group/other//.gitlab-ci.yml").is(&proven).is_err());
    let own = ProvenIdentity {
        workflow: text("gitlab.com/group/sub/widget//.gitlab-ci.yml"),
        workflow_ref: proven.reference.clone(),
        ..proven
    };
    assert_eq!(of(".gitlab-ci.yml").is(&own), Ok(text("1.4.0")));
}
