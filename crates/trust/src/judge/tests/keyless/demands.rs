//! What a rule demands of builds, and what else an identity may say: manifests of platforms, notices, immutable releases.

use super::*;

#[test]
fn a_rule_demands_builder_and_source_of_provenance() {
    let builder = "https://github.com/acme/builder/.github/workflows/build.yml";
    let new = json!({
        "buildDefinition": { "externalParameters": { "workflow": { "repository": "https://github.com/acme/widget" } } },
        "runDetails": { "builder": { "id": format!("{builder}@refs/tags/v2") } },
    });
    let old = json!({
        "builder": { "id": format!("{builder}@refs/tags/v2") },
        "invocation": { "configSource": { "uri": "git+https://github.com/acme/widget@refs/tags/v1.4.0" } },
    });
    let v0_2 = crate::slsa::PROVENANCE_V0_2;
    let rule = |slsa: &str| format!("{EXACT}\nslsa = {{ {slsa} }}");
    let stage = |slsa: &str, predicate_type: &str, predicate: &Value| {
        let stage = Stage::ruled(WORKFLOW, &rule(slsa));
        stage.found_with(&BuiltBy::RELEASE, predicate_type, &[subject("1.4.0")], predicate).scene
    };
    let both = format!("builder = {builder:?}, source = \"github.com/acme/*\"");
    for (predicate_type, predicate) in [(PROVENANCE_PREDICATE, &new), (v0_2, &old)] {
        let signed = stage(&both, predicate_type, predicate);
        check(&signed, "signed [acme] index");
        // The pin remembers who built it.
        check(&signed.remembered().found([]), "pinned [] index; Note signature-gone");
        let other = stage("builder = \"https://example.com/ci\"", predicate_type, predicate);
        check(&other, "refused other-build");
        let refusal = other.judge().refusal.expect("a refusal");
        assert_eq!(
            refusal.to_string(),
            format!(
                "the signature by acme says that its builder is {builder}@refs/tags/v2, not https://example.com/ci"
            )
        );
        check(&stage("source = \"github.com/acme/other\"", predicate_type, predicate), "refused other-build");
    }
    check(&stage(&both, PROVENANCE_PREDICATE, &json!({})), "refused other-build");
    check(&stage(&both, SIGN_PREDICATE, &new), "refused predicate-type");
    let zip = Digest::sha256(b"linux");
    let listed = [json!({
        "name": "terraform-provider-widget_1.4.0_linux_amd64.zip", "digest": { "sha256": zip.encoded() }
    })];
    for (slsa, want) in
        [(both.as_str(), "signed [acme] 1 zips"), ("source = \"github.com/acme/other\"", "refused other-build")]
    {
        let stage = Stage::ruled(WORKFLOW, &rule(slsa));
        let mut stage = stage.found_with(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, &listed, &new);
        let linux = "linux_amd64".parse().expect("a platform");
        stage.scene.archives = read([(linux, PackageHash::zh(&zip).expect("SHA-256"))], []);
        check(&stage.scene, want);
    }
}

#[test]
fn a_demand_for_a_build_that_cannot_be_met_is_an_error() {
    let identity = format!("[[identity]]\nname = \"acme\"\n{WORKFLOW}");
    let read = |rule: &str| {
        let text = format!("{identity}[[rule]]\n{EXACT}\nkeys = [\"acme\"]\n{rule}\n");
        Policy::parse(&text).expect_err("it is wrong").to_string()
    };
    assert_eq!(read("slsa = {}"), "`slsa` of the rule must have builder or source");
    assert_eq!(
        read("slsa.builder = \"ci\""),
        "`slsa.builder` of the rule must be the id of a builder, a URL with https://"
    );
    assert_eq!(
        read(&format!("slsa.source = \"github.com/acme/x\"\npredicate_types = [{SIGN_PREDICATE:?}]")),
        "`slsa` demands provenance, and `predicate_types` does not name it"
    );
    let kind = read("slsa = \"ci\"");
    assert!(kind.ends_with("expected the table `slsa` with `builder`, `source` or both"), "{kind}");
}

#[test]
fn a_rule_for_immutable_releases_demanded_a_build_that_they_never_name() {
    let release = "[[identity]]\nname = \"immutable\"\nrepository = \"github.com/acme/widget\"\nrelease = true\n";
    let read = |identities: &str, keys: &str| {
        let slsa = "slsa.source = \"github.com/acme/widget\"";
        Policy::parse(&format!("{identities}[[rule]]\n{EXACT}\nkeys = [{keys}]\n{slsa}\n")).map(drop)
    };
    let error = read(release, "\"immutable\"").expect_err("it cannot be met");
    assert!(error.to_string().starts_with("`slsa` of the rule cannot be met"), "{error}");
    assert!(error.span.is_some());
    let both = format!("{release}[[identity]]\nname = \"acme\"\n{WORKFLOW}");
    read(&both, "\"immutable\", \"acme\"").expect("the workflow can meet it");
}

#[test]
fn a_notice_by_an_identity_counts_as_one_by_a_key() {
    let names = |version: &str| {
        let mut named = subject("1.4.0");
        named["annotations"] = json!({
            "org.opentofu.provider.address": "example.com/acme/widget", "org.opentofu.provider.version": version
        });
        named
    };
    let predicate = json!({ "state": "withdrawn", "reason": "it deletes state", "supersedes": [] });
    let noticed = |by: &BuiltBy<'_>, version: &str| {
        let mut stage = Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE);
        let bytes = stage.sigstore.attest_with(by, crate::NOTICE_PREDICATE, &[names(version)], &predicate);
        stage.scene.evidence.push(Evidence::Notice { origin: Digest::sha256(&bytes), bytes });
        stage.scene
    };
    check(&noticed(&BuiltBy::RELEASE, "1.4.0"), "refused withdrawn");
    let uncounted = "signed [acme] index; Warning notice-not-counted";
    check(&noticed(&at("refs/tags/v1.3.0"), "1.4.0"), uncounted);
    check(&noticed(&at("refs/heads/main"), "1.4.0"), uncounted);
    check(&noticed(&BuiltBy::RELEASE, "1.3.0"), "signed [acme] index; Warning other-notice");
}

/// A withdrawn release was installed if enough bundles lay before the notice.
#[test]
fn a_notice_behind_a_flood_of_bundles_still_withdraws() {
    let mut stage = Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE);
    let flood = stage.sigstore.attest(&at("refs/heads/main"), PROVENANCE_PREDICATE, &[subject("1.4.0")]);
    let flood = Evidence::Bundle { origin: Digest::sha256(&flood), bytes: flood };
    stage.scene.evidence.extend(vec![flood; 40]);
    check(&stage.scene, "signed [acme] index; Warning too-much-evidence");
    let predicate = json!({ "state": "withdrawn", "reason": "it deletes state", "supersedes": [] });
    let mut named = subject("1.4.0");
    named["annotations"] = json!({
        "org.opentofu.provider.address": "example.com/acme/widget", "org.opentofu.provider.version": "1.4.0"
    });
    let bytes = stage.sigstore.attest_with(&BuiltBy::RELEASE, crate::NOTICE_PREDICATE, &[named], &predicate);
    stage.scene.evidence.push(Evidence::Notice { origin: Digest::sha256(&bytes), bytes });
    let verdict = stage.scene.judge();
    assert_eq!(verdict.standing, Standing::Unsigned);
    assert!(verdict.refusal.is_some());
}

#[test]
fn a_flood_of_bundles_with_certificates_costs_a_bounded_time() {
    let mut stage = Stage::ruled(WORKFLOW, EXACT);
    let bytes = stage.sigstore.attest(&at("refs/heads/main"), PROVENANCE_PREDICATE, &[subject("1.4.0")]);
    stage.scene.evidence = vec![Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }; 40];
    let verdict = stage.scene.judge();
    assert_eq!(verdict.examined.len(), 32);
    let said: Vec<_> = verdict.remarks.iter().map(|remark| remark.text.as_str()).collect();
    assert_eq!(said, ["only 32 bundles with certificates were looked at"]);
}

#[test]
fn a_root_with_new_keys_proves_nothing_that_the_old_one_proved() {
    let old = Stage::ruled(WORKFLOW, EXACT);
    let bytes = old.sigstore.attest(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, &[subject("1.4.0")]);
    // Its authority has the same name.
    let mut new = Stage::ruled(WORKFLOW, EXACT);
    new.scene.evidence.push(Evidence::Bundle { origin: Digest::sha256(&bytes), bytes });
    check_outcomes(&new.scene, &["not-proven"]);
    check(&new.scene, "refused not-proven");
}

#[test]
fn an_immutable_release_of_github_counts_for_its_repository_and_tag() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/keyless/github-release.json");
    let bytes = std::fs::read(file).expect("a bundle");
    let asset = "76f1fe8593bf227cca2c089e3c16dc95014a8d3e89c5dd220530469ca043c428";
    let judged = |identity: &str, digest: &str, more: &str| {
        let text = format!(
            "[[identity]]\nname = \"jdx\"\nrelease = true\n{identity}\n[[rule]]\nproviders = [\"example.com/acme/widget\"]\n\
             keys = [\"jdx\"]\n{more}\n"
        );
        let policy = Policy::parse(&text).expect("a policy").resolve(|_| panic!("no file is read")).expect("a policy");
        let sha256 = format!("sha256:{digest}").parse().expect("a digest");
        let scene = Scene {
            policy,
            version: version("0.1.9"),
            identity: Identity::Index { sha256, sha512: None },
            now: UNIX_EPOCH + Duration::from_secs(1_790_000_000),
            ..Scene::new()
        };
        scene.found([Evidence::Bundle { origin: Digest::sha256(&bytes), bytes: bytes.clone() }])
    };
    let right = "repository = \"github.com/jdx/communique\"";
    let tag = format!("{right}\nref = \"refs/tags/v{{version}}\"");
    check(&judged(&tag, asset, ""), "signed [jdx] index");
    check(&judged(&format!("{tag}\nrepository_id = \"1155542902\""), asset, ""), "signed [jdx] index");
    check(&judged(&format!("{tag}\nrepository_id = \"1\""), asset, ""), "refused other-identity");
    check(&judged(right, asset, ""), "refused unnamed-signature");
    check(&judged(&format!("{right}\nref = \"refs/tags/{{version}}\""), asset, ""), "refused other-version");
    check(&judged(&format!("{right}\nref = \"refs/tags/v0.1.8\""), asset, ""), "refused other-identity");
    check(&judged("repository = \"github.com/jdx/other\"", asset, ""), "refused unknown-key");
    check(&judged(&tag, &"0".repeat(64), ""), "refused other-index");
    // A rule that demands provenance gets none.
    let provenance = format!("predicate_types = [{PROVENANCE_PREDICATE:?}]");
    check(&judged(&tag, asset, &provenance), "refused predicate-type");
}

#[test]
fn a_workflow_that_says_what_github_says_of_a_release_is_a_workflow() {
    let identity = "repository = \"github.com/acme/widget\"\nrelease = true\nref = \"refs/tags/v{version}\"";
    let text = format!("[[identity]]\nname = \"acme\"\n{identity}\n");
    let stage = Stage::new().policy(&text, EXACT, &["acme"]);
    let predicate = json!({ "repository": "acme/widget", "tag": "v1.4.0" });
    let kind = "https://in-toto.io/attestation/release/v0.1";
    let stage = stage.found_with(&BuiltBy::RELEASE, kind, &[subject("1.4.0")], &predicate);
    check_outcomes(&stage.scene, &["not-proven"]);
    // Also if a root of the rule proves it.
    let stage = Stage::ruled(WORKFLOW, EXACT);
    let stage = stage.found_with(&BuiltBy::RELEASE, kind, &[subject("1.4.0")], &predicate);
    check_outcomes(&stage.scene, &["predicate-type"]);
}

#[test]
fn a_statement_about_the_manifest_of_a_platform_covers_that_platform() {
    let zip = |content: &str| PackageHash::zh(&Digest::sha256(content.as_bytes())).expect("SHA-256");
    let [linux, darwin]: [Platform; 2] = ["linux_amd64", "darwin_arm64"].map(|platform| platform.parse().expect("one"));
    let zips = [(linux.clone(), zip("linux")), (darwin.clone(), zip("darwin"))];
    let leaves = [(linux.clone(), index("linux leaf")), (darwin.clone(), index("darwin leaf"))];
    let stage = |rule: &str, by: &BuiltBy<'_>, subjects: &[Value]| {
        let mut stage = Stage::ruled(WORKFLOW, rule).found(by, PROVENANCE_PREDICATE, subjects);
        stage.scene.archives = read(zips.clone(), leaves.clone());
        stage.scene
    };
    let both = [subject("linux leaf"), subject("darwin leaf")];
    let release = BuiltBy::RELEASE;
    check(&stage(EXACT, &release, &both), "signed [acme] 2 zips");
    let one = stage(EXACT, &release, &both[..1]);
    check(&one, "signed [acme] 1 zips");
    let verdict = one.judge();
    assert!(verdict.covers(&linux, Some(&zip("linux"))) && !verdict.covers(&darwin, Some(&zip("darwin"))));
    assert!(verdict.refusal_for(&linux, Some(&zip("linux"))).is_none());
    assert!(verdict.refusal_for(&darwin, Some(&zip("darwin"))).is_some());
    // It says what a statement about the index says, and no more.
    check(&stage("providers = [\"example.com/acme/*\"]", &release, &both), "refused unnamed-signature");
    check(&stage(EXACT, &at("refs/tags/v1.3.0"), &both), "refused other-version");
    check(&stage(EXACT, &release, &[subject("another leaf")]), "refused other-index");
    // One that names another provider for one of the manifests says so of both.
    let mut other = subject("darwin leaf");
    other["annotations"] = json!({ "org.opentofu.provider.address": "example.com/acme/gadget" });
    check(&stage(EXACT, &release, &[subject("linux leaf"), other]), "refused other-provider");
    // Which manifest names the archive is not known.
    let mut unknown = stage(EXACT, &release, &both);
    unknown.archives = read(zips.clone(), []);
    check(&unknown, "refused other-index");
    // A signed manifest that the index offers for another platform, too.
    let mut swapped = stage(EXACT, &release, &both);
    swapped.archives = read(
        [(linux.clone(), zip("linux")), (darwin.clone(), zip("linux"))],
        [(linux, index("linux leaf")), (darwin, index("linux leaf"))],
    );
    check(&swapped, "refused other-index");
    // The pin vouches for what was covered.
    check(&stage(EXACT, &release, &both).remembered().found([]), "pinned [] 2 zips; Note signature-gone");
}

#[test]
fn the_signed_manifest_of_one_platform_was_delivered_as_that_of_another() {
    let platform = |name: &str| -> Platform { name.parse().expect("a platform") };
    let zip = PackageHash::zh(&Digest::sha256(b"linux")).expect("SHA-256");
    let offered = |offered: &str, zip_name: Option<&str>| {
        let subjects = [subject("linux leaf")];
        let mut stage = Stage::ruled(WORKFLOW, EXACT).found(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, &subjects);
        let leaf = ReadLeaf { digest: index("linux leaf"), zip_name: zip_name.map(str::to_owned) };
        let (zips, leaves) = ([(platform(offered), zip.clone())].into(), [(platform(offered), leaf)].into());
        stage.scene.archives = Archives::Read { zips, leaves };
        stage.scene
    };
    let linux = Some("terraform-provider-widget_1.4.0_linux_amd64.zip");
    check(&offered("linux_amd64", linux), "signed [acme] 1 zips");
    let other = offered("darwin_arm64", linux);
    check(&other, "refused other-package");
    assert_eq!(
        other.judge().refusal.expect("a refusal").to_string(),
        "the signature by acme is of the manifest of terraform-provider-widget_1.4.0_linux_amd64.zip, which is offered for \
         darwin_arm64"
    );
    check(&offered("darwin_arm64", Some("terraform-provider-widget_1.4.0_darwin_all.zip")), "signed [acme] 1 zips");
    // A name that says no platform is compared with nothing.
    check(&offered("darwin_arm64", Some("widget.zip")), "signed [acme] 1 zips");
    check(&offered("darwin_arm64", None), "signed [acme] 1 zips");
}
