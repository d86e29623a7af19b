//! Why a bundle does not count, in the words of the program.

use super::*;

#[test]
fn a_signature_by_an_unknown_key_hid_why_the_bundle_of_an_identity_failed() {
    let old = crate::testing::bundle(1);
    let failed = |root: Option<&str>, by: &BuiltBy<'_>| {
        let stage = match root {
            Some(_) => Stage::ruled(WORKFLOW, EXACT),
            None => Stage::new().policy(&format!("[[identity]]\nname = \"acme\"\n{WORKFLOW}"), EXACT, &["acme"]),
        };
        let mut stage = stage.built(by);
        stage.scene.evidence.insert(0, old.clone());
        stage.scene
    };
    check(&failed(None, &BuiltBy::RELEASE), "refused not-proven");
    let other = BuiltBy { repository: "github.com/other/widget", ..BuiltBy::RELEASE };
    let refusal = failed(Some("root.json"), &other).judge().refusal.expect("a refusal").to_string();
    assert!(refusal.ends_with("which no rule names") && refusal.contains("release.yml@"), "{refusal}");
    let alone = Stage::ruled(WORKFLOW, EXACT);
    let alone = Scene { evidence: vec![old], ..alone.scene };
    check(&alone, "refused unknown-key");
    assert!(alone.judge().best_flaw().is_some());
}

#[test]
fn a_signature_that_no_root_proves_any_more_was_called_gone() {
    let pinned = Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE).scene.remembered();
    let without = pinned.clone().without_policy();
    check(&without, "pinned [] index; Note not-proven");
    let text = &without.judge().remarks[0].text;
    assert_eq!(
        text,
        &format!(
            "its signature was made with a certificate and is not proven: its certificate is of an authority that no trusted \
             root names; the built-in roots are of {}; the root root.json counts only if an [[identity]] of a rule names it; \
             this very index was signed by acme when it was trusted before",
            crate::keyless::ROOTS_DATE
        )
    );
    // A bundle about something else is not its signature.
    let about = |digest: Digest| json!({ "digest": { "sha256": digest.encoded() } });
    let foreign = Stage::ruled(WORKFLOW, EXACT).found(
        &BuiltBy::RELEASE,
        PROVENANCE_PREDICATE,
        &[about(Digest::sha256(b"foreign"))],
    );
    check(&without.clone().found(foreign.scene.evidence), "pinned [] index; Note signature-gone");
    check(&without.found([]), "pinned [] index; Note signature-gone");
}

#[test]
fn a_statement_about_the_zips_under_other_names_was_called_one_of_another_index() {
    let linux: Platform = "linux_amd64".parse().expect("a platform");
    let zip = Digest::sha256(b"linux");
    let named = |name: Option<&str>| {
        let mut subjects = [json!({ "digest": { "sha256": zip.encoded() } })];
        if let Some(name) = name {
            subjects[0]["name"] = json!(name);
        }
        let mut stage = Stage::ruled(WORKFLOW, EXACT).found(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, &subjects);
        stage.scene.archives = read([(linux.clone(), PackageHash::zh(&zip).expect("SHA-256"))], []);
        stage.scene
    };
    let right = "terraform-provider-widget_1.4.0_linux_amd64.zip";
    check(&named(Some(right)), "signed [acme] 1 zips");
    for (name, want) in [
        (
            Some("widget-linux.zip"),
            format!("the signature by acme calls an archive of this release widget-linux.zip, not {right}"),
        ),
        (None, format!("the signature by acme does not name the archive {right} of this release")),
    ] {
        check(&named(name), "refused other-file-names");
        assert_eq!(named(name).judge().refusal.expect("a refusal").to_string(), want);
    }
}

#[test]
fn the_hint_for_an_identity_is_about_its_rule() {
    let hints = |identity: &str, by: &BuiltBy<'_>| {
        let stage = Stage::ruled(identity, "providers = [\"example.com/acme/*\"]").built(by);
        stage.scene.judge().refusal.expect("a refusal").hints()
    };
    let warn = "to accept such signatures, write unnamed = \"warn\" into the rule of trust.toml";
    let provider = "write the one address in `providers` of every rule that names the identity";
    assert_eq!(hints(WORKFLOW, &BuiltBy::RELEASE), [provider, warn]);
    let tag = "if a tag was built, write {version} into the ref of the [[identity]]";
    let branch = WORKFLOW.replace("refs/tags/v{version}", "refs/heads/main");
    assert_eq!(hints(&branch, &at("refs/heads/main")), [provider, tag, warn]);
}
