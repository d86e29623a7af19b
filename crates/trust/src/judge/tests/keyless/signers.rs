//! Who signs: pipelines of GitLab, and persons.

use super::*;

const GITLAB: BuiltBy<'static> = BuiltBy {
    issuer: "https://gitlab.com",
    repository: "gitlab.com/group/sub/widget",
    workflow: "gitlab.com/group/sub/widget//.gitlab-ci.yml",
    runner: "gitlab-hosted",
    ..BuiltBy::RELEASE
};
const PIPELINE: &str = r#"
repository = "gitlab.com/group/sub/widget"
workflow = ".gitlab-ci.yml"
ref = "refs/tags/v{version}"
runner = "gitlab-hosted"
"#;

#[test]
fn a_pipeline_of_gitlab_signs_as_a_workflow_does() {
    check(&Stage::ruled(PIPELINE, EXACT).built(&GITLAB).scene, "signed [acme] index");
    for (from, to, want) in [
        ("sub/widget", "widget", "refused unknown-key"),
        (".gitlab-ci.yml", ".gitlab/release.yml", "refused other-identity"),
        ("gitlab-hosted", "self-hosted", "refused other-identity"),
        ("refs/tags/v{version}", "refs/tags/v1.3.0", "refused other-identity"),
        ("sub/widget", "sub/*", "signed [acme] index"),
    ] {
        check(&Stage::ruled(&PIPELINE.replace(from, to), EXACT).built(&GITLAB).scene, want);
    }
    for by in [
        BuiltBy { issuer: "https://token.actions.githubusercontent.com", ..GITLAB },
        BuiltBy { workflow: "gitlab.com/group/sub/other//.gitlab-ci.yml", ..GITLAB },
        BuiltBy { reference: "refs/heads/main", ..GITLAB },
    ] {
        check(&Stage::ruled(PIPELINE, EXACT).built(&by).scene, "refused other-identity");
    }
    let old = BuiltBy { reference: "refs/tags/v1.3.0", ..GITLAB };
    check(&Stage::ruled(PIPELINE, EXACT).built(&old).scene, "refused other-version");
}

#[test]
fn a_gitlab_of_ones_own_is_known_by_its_issuer() {
    let host = "git.example.com";
    let identity = format!("{}issuer = \"https://{host}\"\n", PIPELINE.replace("gitlab.com", host));
    let own = BuiltBy {
        issuer: "https://git.example.com",
        repository: "git.example.com/group/sub/widget",
        workflow: "git.example.com/group/sub/widget//.gitlab-ci.yml",
        ..GITLAB
    };
    check(&Stage::ruled(&identity, EXACT).built(&own).scene, "signed [acme] index");
    check(&Stage::ruled(&identity, EXACT).built(&GITLAB).scene, "refused unknown-key");
    let vouched = BuiltBy { issuer: "https://gitlab.com", ..own };
    check(&Stage::ruled(&identity, EXACT).built(&vouched).scene, "refused other-identity");
}

#[test]
fn what_to_add_for_a_pipeline_of_gitlab_admits_it() {
    let refused = Stage::ruled(WORKFLOW, EXACT).built(&GITLAB);
    let verdict = refused.scene.judge();
    let to_add = verdict.examined[0].identity.as_ref().and_then(|identity| identity.to_add()).expect("an identity");
    assert_snapshot!(to_add, @r#"
    [[identity]]
    name = "group/sub/widget"
    repository = "gitlab.com/group/sub/widget"
    workflow = ".gitlab-ci.yml"
    ref = "refs/tags/v1.4.0"
    root = "root.json"
    "#);
}

const ANN: BuiltBy<'static> =
    BuiltBy { issuer: "https://accounts.google.com", email: Some("ann@example.com"), ..BuiltBy::RELEASE };
const PERSON: &str = r#"
email = "ann@example.com"
issuer = "https://accounts.google.com"
"#;

fn named() -> Value {
    let mut named = subject("1.4.0");
    named["annotations"] = json!({
        "org.opentofu.provider.address": "example.com/acme/widget", "org.opentofu.provider.version": "1.4.0"
    });
    named
}

#[test]
fn a_person_signs_what_the_statement_names() {
    let signed = |identity: &str, rule: &str, by: &BuiltBy<'_>, subject: Value| {
        Stage::ruled(identity, rule).found(by, SIGN_PREDICATE, &[subject]).scene
    };
    check(&signed(PERSON, EXACT, &ANN, named()), "signed [acme] index");
    // A person's certificate names no version.
    check(&signed(PERSON, EXACT, &ANN, subject("1.4.0")), "refused unnamed-signature");
    let allowed = format!("{EXACT}\nunnamed = \"allow\"");
    check(&signed(PERSON, &allowed, &ANN, subject("1.4.0")), "signed [acme] index");
    let mut old = named();
    old["annotations"]["org.opentofu.provider.version"] = json!("1.3.0");
    check(&signed(PERSON, &allowed, &ANN, old), "refused other-version");
    // The issuer vouches for the address: another one may give it to anybody.
    let other = BuiltBy { issuer: "https://github.com/login/oauth", ..ANN };
    check(&signed(PERSON, EXACT, &other, named()), "refused other-identity");
    for email in ["bob@example.com", "ann@example.com.evil.example", "Ann@example.com"] {
        check(&signed(PERSON, EXACT, &BuiltBy { email: Some(email), ..ANN }, named()), "refused unknown-key");
    }
    // A workflow is no person, whoever vouches for it.
    let workflow = BuiltBy { email: None, ..ANN };
    check(&signed(PERSON, EXACT, &workflow, named()), "refused unknown-key");
    check(&signed(WORKFLOW, EXACT, &ANN, named()), "refused unknown-key");
}

#[test]
fn a_person_and_the_owner_of_a_repository_reach_a_threshold() {
    let identities = format!(
        "[[identity]]\nname = \"ann\"\nroot = \"root.json\"\n{PERSON}\n\
         [[identity]]\nname = \"acme\"\nroot = \"root.json\"\n{WORKFLOW}"
    );
    let rule = format!("{EXACT}\nthreshold = 2");
    let stage = Stage::new().policy(&identities, &rule, &["ann", "acme"]).built(&BuiltBy::RELEASE);
    check(&stage.scene, "refused threshold");
    let both = stage.found(&ANN, SIGN_PREDICATE, &[named()]);
    let verdict = both.scene.judge();
    assert!(verdict.refusal.is_none() && verdict.signers.len() == 2, "{verdict:#?}");
    // The pins remember both, and tell them apart.
    let pins = both.scene.remembered().pins.to_text();
    assert!(pins.contains("\"email\": \"ann@example.com\""), "{pins}");
}
