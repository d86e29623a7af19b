//! Releases that a workflow has signed with a certificate.

use serde_json::{Value, json};
use tofu_oci_testkit::{BuiltBy, LocalSigstore};
use tofu_oci_types::Fault as _;

use super::*;
use crate::testing::key;
use crate::{PROVENANCE_PREDICATE, SIGN_PREDICATE, peek_bundle};

/// What the release workflow of `github.com/acme/widget` may sign.
const WORKFLOW: &str = r#"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
"#;

const EXACT: &str = "providers = [\"example.com/acme/widget\"]";

struct Stage {
    sigstore: LocalSigstore,
    scene: Scene,
}

impl Stage {
    fn new() -> Self {
        // The crate below has a clock of its own: what it sees must be past by that, too.
        let scene = Scene { now: UNIX_EPOCH + Duration::from_hours(490_000), ..Scene::new() };
        Self { sigstore: LocalSigstore::generate(scene.now), scene }
    }

    /// With one identity and one rule.
    fn ruled(identity: &str, rule: &str) -> Self {
        Self::new().policy(&format!("[[identity]]\nname = \"acme\"\nroot = \"root.json\"\n{identity}"), rule, &["acme"])
    }

    fn policy(mut self, identities: &str, rule: &str, names: &[&str]) -> Self {
        let text = format!("{identities}\n[[rule]]\nkeys = {names:?}\n{rule}\n");
        let root = self.sigstore.root();
        let read = |path: &std::path::Path| {
            assert_eq!(path, std::path::Path::new("root.json"));
            Ok(root.clone().into_bytes())
        };
        self.scene.policy = Policy::parse(&text).expect("a policy").resolve(read).expect("roots");
        self
    }

    fn found(self, by: &BuiltBy<'_>, predicate_type: &str, subjects: &[Value]) -> Self {
        self.found_with(by, predicate_type, subjects, &json!({}))
    }

    fn found_with(mut self, by: &BuiltBy<'_>, predicate_type: &str, subjects: &[Value], predicate: &Value) -> Self {
        let bytes = self.sigstore.attest_with(by, predicate_type, subjects, predicate);
        self.scene.evidence.push(Evidence::Bundle { origin: Digest::sha256(&bytes), bytes });
        self
    }

    /// Provenance of this index.
    fn built(self, by: &BuiltBy<'_>) -> Self {
        self.found(by, PROVENANCE_PREDICATE, &[subject("1.4.0")])
    }
}

fn subject(content: &str) -> Value {
    json!({ "name": "index", "digest": { "sha256": index(content).encoded() } })
}

fn at(reference: &'static str) -> BuiltBy<'static> {
    BuiltBy { reference, ..BuiltBy::RELEASE }
}

#[test]
fn a_release_by_the_workflow_of_the_rule_is_signed() {
    check(&Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE).scene, "signed [acme] index");
    let signed = Stage::ruled(WORKFLOW, EXACT).found(&BuiltBy::RELEASE, SIGN_PREDICATE, &[subject("1.4.0")]);
    check(&signed.scene, "signed [acme] index");
    let verdict = signed.scene.judge();
    let identity = verdict.examined[0].identity.as_ref().expect("an identity");
    assert_eq!(identity.repository.as_deref(), Some("github.com/acme/widget"));
    assert_eq!(identity.run.as_deref(), Some("https://github.com/acme/widget/actions/runs/7/attempts/1"));
    assert!(verdict.signers[0].key.to_string().starts_with("identity:"));
}

#[test]
fn another_identity_does_not_count() {
    let other = BuiltBy {
        repository: "github.com/other/widget",
        workflow: "github.com/other/widget/.github/workflows/release.yml",
        ..BuiltBy::RELEASE
    };
    let ci = BuiltBy { workflow: "github.com/acme/widget/.github/workflows/ci.yml", ..BuiltBy::RELEASE };
    let called = BuiltBy { workflow: "github.com/evil/ci/.github/workflows/release.yml", ..BuiltBy::RELEASE };
    let issuer = BuiltBy { issuer: "https://token.example.com", ..BuiltBy::RELEASE };
    let person = BuiltBy { email: Some("ann@example.com"), ..BuiltBy::RELEASE };
    for (by, code) in [
        (other, "keyless"),
        (issuer, "other-identity"),
        (person, "keyless"),
        (ci, "other-identity"),
        (called, "other-identity"),
        (at("refs/heads/main"), "other-identity"),
    ] {
        let stage = Stage::ruled(WORKFLOW, EXACT).built(&by);
        check_outcomes(&stage.scene, &[code]);
        let refused = if code == "keyless" { "unknown-key" } else { code };
        check(&stage.scene, &format!("refused {refused}"));
    }
    for more in ["environment = \"release\"", "runner = \"self-hosted\""] {
        let stage = Stage::ruled(&format!("{WORKFLOW}{more}\n"), EXACT).built(&BuiltBy::RELEASE);
        check_outcomes(&stage.scene, &["other-identity"]);
    }
    let released = BuiltBy { environment: Some("release"), ..BuiltBy::RELEASE };
    let stage = Stage::ruled(&format!("{WORKFLOW}environment = \"rel*\"\n"), EXACT).built(&released);
    check(&stage.scene, "signed [acme] index");
}

#[test]
fn an_identity_that_differs_by_issuer_or_root_alone_was_called_unnamed() {
    let refusal = |stage: Stage| stage.scene.judge().refusal.expect("a refusal").to_string();
    let issuer = BuiltBy { issuer: "https://token.example.com", ..BuiltBy::RELEASE };
    let found = refusal(Stage::ruled(WORKFLOW, EXACT).built(&issuer));
    assert_eq!(found, "its signature is not by acme: its issuer is https://token.example.com");
    // The root of another identity of the rule proves it.
    let other = WORKFLOW.replace("github.com/acme/widget", "github.com/acme/other");
    let two =
        format!("[[identity]]\nname = \"acme\"\n{WORKFLOW}\n[[identity]]\nname = \"b\"\nroot = \"root.json\"\n{other}");
    let found = refusal(Stage::new().policy(&two, EXACT, &["acme", "b"]).built(&BuiltBy::RELEASE));
    assert_eq!(found, "its signature is not by acme: its root is root.json");
}

#[test]
fn the_identity_to_add_is_the_one_that_signed() {
    let to_add = |by: BuiltBy<'_>| {
        let verdict = Stage::ruled(WORKFLOW, EXACT).built(&by).scene.judge();
        verdict.examined[0].identity.as_ref().and_then(|identity| identity.to_add()).expect("an identity")
    };
    let issuer = "issuer = \"https://token.actions.githubusercontent.com\", root = \"root.json\"";
    let called = BuiltBy {
        repository: "github.com/other/widget",
        workflow: "github.com/other/widget-ci/.github/workflows/release.yml",
        ..BuiltBy::RELEASE
    };
    let workflow = "workflow = \"other/widget-ci/.github/workflows/release.yml\"";
    assert_eq!(
        to_add(called),
        format!("repository = \"github.com/other/widget\", {workflow}, ref = \"refs/tags/v1.4.0\", {issuer}")
    );
    let person = BuiltBy { email: Some("ann@example.com"), ..BuiltBy::RELEASE };
    assert_eq!(to_add(person), format!("email = \"ann@example.com\", {issuer}"));
}

#[test]
fn the_ref_names_the_version() {
    // An old release under a new tag: whoever moves it cannot move the tag that was built.
    let old = Stage::ruled(WORKFLOW, &format!("{EXACT}\nunsigned = \"allow\"")).built(&at("refs/tags/v1.3.0"));
    check(&old.scene, "refused other-version");
    let branch = WORKFLOW.replace("refs/tags/v{version}", "refs/heads/main");
    let main = at("refs/heads/main");
    check(&Stage::ruled(&branch, EXACT).built(&main).scene, "refused unnamed-signature");
    let warned = Stage::ruled(&branch, &format!("{EXACT}\nunnamed = \"warn\"")).built(&main);
    check(&warned.scene, "signed [acme] index; Warning unnamed-signature");
}

#[test]
fn the_rule_names_the_provider_if_it_is_for_one_alone() {
    for (rule, want) in [
        (EXACT, "signed [acme] index"),
        ("providers = [\"example.com/acme/*\"]", "refused unnamed-signature"),
        ("providers = [\"example.com/acme/*\"]\nunnamed = \"allow\"", "signed [acme] index"),
        ("providers = [\"example.com/acme/widget\", \"example.com/acme/gadget\"]", "refused unnamed-signature"),
    ] {
        check(&Stage::ruled(WORKFLOW, rule).built(&BuiltBy::RELEASE).scene, want);
    }
}

#[test]
fn the_order_of_identities_does_not_matter() {
    let identity = |name: &str, reference: &str| {
        let workflow = WORKFLOW.replace("ref = \"refs/tags/v{version}\"\n", reference);
        format!("[[identity]]\nname = {name:?}\nroot = \"root.json\"\n{workflow}")
    };
    let any = identity("any", "ref = \"refs/tags/*\"\n");
    let right = identity("right", "ref = \"refs/tags/v{version}\"\n");
    let wrong = identity("wrong", "ref = \"refs/tags/{version}\"\n");
    let rule = format!("{EXACT}\nunnamed = \"allow\"");
    for (identities, want) in [
        ([("any", &any), ("wrong", &wrong)], "signed [any] index"),
        ([("wrong", &wrong), ("right", &right)], "signed [right] index"),
        ([("any", &any), ("right", &right)], "signed [right] index"),
    ] {
        for [one, other] in [identities, [identities[1], identities[0]]] {
            let stage = Stage::new().policy(&format!("{}\n{}", one.1, other.1), &rule, &[one.0, other.0]);
            check(&stage.built(&BuiltBy::RELEASE).scene, want);
        }
    }
}

#[test]
fn an_identity_of_another_repository_of_the_owner_does_not_make_it_unnamed() {
    let identity = |name: &str, repository: &str| {
        let workflow = WORKFLOW.replace("github.com/acme/widget", repository);
        format!("[[identity]]\nname = {name:?}\nroot = \"root.json\"\n{workflow}")
    };
    let rule = |key: &str| format!("[[rule]]\nproviders = [\"example.com/acme/gadget\"]\nkeys = [{key:?}]\n");
    for (other, want) in [
        ("github.com/acme/gadget", "signed [acme] index"),
        ("github.com/ACME/Widget", "refused unnamed-signature"),
        ("github.com/acme/*", "refused unnamed-signature"),
        ("github.com/other/*", "signed [acme] index"),
    ] {
        let text = format!("{}{}{}", identity("acme", "github.com/acme/widget"), identity("b", other), rule("b"));
        check(&Stage::new().policy(&text, EXACT, &["acme"]).built(&BuiltBy::RELEASE).scene, want);
    }
}

#[test]
fn a_statement_of_another_index_does_not_count() {
    let other = Stage::ruled(WORKFLOW, EXACT).found(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, &[subject("1.3.0")]);
    check(&other.scene, "refused other-index");
    let scan = "https://example.test/scan/v1";
    let other = Stage::ruled(WORKFLOW, EXACT).found(&BuiltBy::RELEASE, scan, &[subject("1.4.0")]);
    check(&other.scene, "refused predicate-type");
    let wanted = format!("{EXACT}\npredicate_types = [\"{PROVENANCE_PREDICATE}\"]");
    check(&Stage::ruled(WORKFLOW, &wanted).built(&BuiltBy::RELEASE).scene, "signed [acme] index");
}

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
        // The pin does not remember who built it.
        check(&signed.remembered().found([]), "refused was-signed");
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

#[test]
fn a_pin_does_not_widen_what_the_rule_gave() {
    let rule = "providers = [\"example.com/acme/*\"]";
    let file = "terraform-provider-widget_1.4.0_linux_amd64.zip";
    let zip = Digest::sha256(b"linux");
    let subjects = [json!({ "name": file, "digest": { "sha256": zip.encoded() } })];
    let mut listed = Stage::ruled(WORKFLOW, rule).found(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, &subjects);
    let platform: Platform = "linux_amd64".parse().expect("one");
    listed.scene.archives = read([(platform, PackageHash::zh(&zip).expect("SHA-256"))], []);
    check(&listed.scene, "signed [acme] 1 zips");
    let of = |scene: Scene| {
        let pinned = scene.remembered();
        let key = pinned.pins.signers(&pinned.address).next().expect("a signer").key.clone();
        let (policy, rule) = (Policy::default(), TrustRule::default());
        let trusted = TrustedKeys::new(&policy, &rule, &pinned.pins, Some(&pinned.address));
        (trusted.is_exact(&key), trusted.is_dedicated(&key))
    };
    assert_eq!(of(listed.scene), (false, true));
    assert_eq!(of(Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE).scene), (true, true));
}

#[test]
fn archives_are_covered_as_a_list_covers_them() {
    let zip = |content: &str| PackageHash::zh(&Digest::sha256(content.as_bytes())).expect("SHA-256");
    let platforms: [Platform; 2] = ["linux_amd64", "darwin_arm64"].map(|platform| platform.parse().expect("one"));
    let archives = [(platforms[0].clone(), zip("linux")), (platforms[1].clone(), zip("darwin"))];
    let file = |platform: &str, content: &str| {
        let name = format!("terraform-provider-widget_1.4.0_{platform}.zip");
        json!({ "name": name, "digest": { "sha256": Digest::sha256(content.as_bytes()).encoded() } })
    };
    let stage = |subjects: &[Value]| {
        let rule = "providers = [\"example.com/acme/*\"]";
        let mut stage = Stage::ruled(WORKFLOW, rule).found(&BuiltBy::RELEASE, PROVENANCE_PREDICATE, subjects);
        stage.scene.archives = read(archives.clone(), []);
        stage.scene
    };
    check(&stage(&[file("linux_amd64", "linux"), file("darwin_arm64", "darwin")]), "signed [acme] 2 zips");
    let one = stage(&[file("linux_amd64", "linux")]);
    let verdict = one.judge();
    assert!(verdict.covers(&platforms[0], Some(&zip("linux"))) && !verdict.covers(&platforms[1], Some(&zip("darwin"))));
    // The archive of another platform.
    check(&stage(&[file("linux_amd64", "darwin")]), "refused other-package");
}

fn read<const Z: usize, const L: usize>(
    zips: [(Platform, PackageHash); Z],
    leaves: [(Platform, Digest); L],
) -> Archives {
    Archives::Read { zips: zips.into(), leaves: leaves.into() }
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
    // The pin vouches for what was covered.
    check(&stage(EXACT, &release, &both).remembered().found([]), "pinned [] 2 zips; Note signature-gone");
}

const TWO: &str = "[[rule]]\nproviders = [\"example.com/acme/widget\"]\nkeys = [\"a\", \"b\"]\nthreshold = 2\n";

#[test]
fn identities_of_one_owner_are_one_party() {
    let two = |first: &str, second: &str| {
        let identity = |name: &str, repository: &str| {
            let workflow = WORKFLOW.replace("github.com/acme/widget", repository);
            format!("[[identity]]\nname = {name:?}\nroot = \"root.json\"\n{workflow}")
        };
        format!("{}{}{TWO}", identity("a", first), identity("b", second))
    };
    let root = LocalSigstore::generate(Scene::new().now).root();
    let read = |text: String| Policy::parse(&text).expect("a policy").resolve(|_| Ok(root.clone().into_bytes()));
    let same = read(two("github.com/acme/widget", "github.com/ACME/other")).expect_err("one party");
    assert_eq!(same.to_string(), r#"the identities "a" and "b" are of one owner, and a threshold counts owners"#);
    assert!(read(two("github.com/acme/widget", "github.com/other/widget")).is_ok());
}

#[test]
fn a_root_was_read_once_for_each_identity() {
    let (root, reads) = (LocalSigstore::generate(Scene::new().now).root(), std::cell::Cell::new(0));
    let identity = |name: &str| format!("[[identity]]\nname = {name:?}\nroot = \"root.json\"\n{WORKFLOW}");
    let text = format!("{}{}[[rule]]\n{EXACT}\nkeys = [\"a\", \"b\"]\n", identity("a"), identity("b"));
    let read = Policy::parse(&text).expect("a policy").resolve(|_| {
        reads.set(reads.get() + 1);
        Ok(root.clone().into_bytes())
    });
    assert!(read.is_ok() && reads.get() == 1, "{}", reads.get());
}

#[test]
fn an_identity_and_a_key_reach_a_threshold() {
    let pem = key(1).public().to_pem();
    let identities = format!(
        "[[key]]\nname = \"a\"\npem = \"\"\"\n{pem}\"\"\"\n[[identity]]\nname = \"acme\"\nroot = \"root.json\"\n{WORKFLOW}"
    );
    let stage = Stage::new().policy(&identities, &format!("{EXACT}\nthreshold = 2"), &["a", "acme"]);
    let mut stage = stage.built(&BuiltBy::RELEASE);
    check(&stage.scene, "refused threshold");
    stage.scene.evidence.push(crate::testing::bundle(1));
    let verdict = stage.scene.judge();
    assert!(verdict.refusal.is_none() && verdict.covered.index && verdict.signers.len() == 2);
}

#[test]
fn a_root_that_the_rule_does_not_name_proves_nothing() {
    let identity = format!("[[identity]]\nname = \"acme\"\n{WORKFLOW}");
    let stage = Stage::new().policy(&identity, EXACT, &["acme"]).built(&BuiltBy::RELEASE);
    check_outcomes(&stage.scene, &["not-proven"]);
    check(&stage.scene, "refused not-proven");
}

#[test]
fn a_provider_that_an_identity_signed_stays_signed() {
    let stage = Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE);
    let pinned = stage.scene.remembered();
    let text = pinned.pins.to_text();
    let again = Pins::parse(&text).expect("pins");
    assert_eq!(again.to_text(), text);
    assert!(text.contains("\"repository\": \"github.com/acme/widget\""), "{text}");
    // The pinned index needs no signature any more, with the rule and without it.
    check(&pinned.clone().found([]), "pinned [] index; Note signature-gone");
    check(&pinned.clone().found([]).without_policy(), "pinned [] index; Note signature-gone");
    let next = pinned.clone().found([]).offers("1.5.0", "1.5.0").without_policy();
    check(&next, "refused was-signed");
    assert!(Pins::parse(&text.replace("acme/widget\"", "acme/other\"")).is_err(), "the id is that of the identity");
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
fn a_clock_that_is_wrong_proves_nothing_before_the_log_and_everything_after_the_certificate() {
    let at_time = |now: SystemTime| {
        let stage = Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE);
        Scene { now, ..stage.scene }
    };
    let now = Scene::new().now - Duration::from_hours(10_000);
    check(&at_time(now - Duration::from_hours(1)), "refused not-proven");
    // The certificate was valid for minutes; the log says that it was signed in them.
    check(&at_time(now + Duration::from_hours(20_000)), "signed [acme] index");
}

#[test]
fn the_name_of_a_repository_that_was_given_away_does_not_count() {
    let numbered = |id: &'static str| BuiltBy { repository_id: Some(id), ..BuiltBy::RELEASE };
    let first = Stage::ruled(WORKFLOW, EXACT).built(&numbered("4"));
    check(&first.scene, "signed [acme] index");
    let pins = first.scene.remembered().pins;
    let text = pins.to_text();
    assert!(text.contains(r#""github.com/acme/widget": "4""#), "{text}");
    let pins = Pins::parse(&text).expect("pins");
    assert_eq!(pins.to_text(), text);
    let next = |identity: &str, by: &BuiltBy<'_>| {
        let stage = Stage::ruled(identity, EXACT).built(by);
        Scene { pins: pins.clone(), place: "ghcr.io/acme/new".parse().expect("a place"), ..stage.scene }
    };
    check(&next(WORKFLOW, &numbered("4")), "signed [acme] index");
    let other = next(WORKFLOW, &numbered("5"));
    check_outcomes(&other, &["other-identity"]);
    let refusal = other.judge().examined[0].outcome.to_string();
    let given =
        "is of another repository: github.com/acme/widget was 4 before and is 5 now, so its name was given away";
    assert_eq!(refusal, given);
    // The person who writes the policy may know better.
    check(&next(&format!("{WORKFLOW}repository_id = \"5\"\n"), &numbered("5")), "signed [acme] index");
    let said = Stage::ruled(&format!("{WORKFLOW}repository_id = \"4\"\n"), EXACT);
    check(&said.built(&numbered("5")).scene, "refused other-identity");
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
fn a_new_release_is_judged_by_a_pinned_identity_without_a_rule() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/keyless/public-good.json");
    let bytes = std::fs::read(file).expect("a bundle");
    let sha256 = peek_bundle(&bytes).expect("a bundle").statement.subjects[0].digest.clone().expect("a digest");
    let identity = "[[identity]]\nname = \"beacon\"\n\
                    repository = \"github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon\"\n\
                    workflow = \".github/workflows/extremely-dangerous-oidc-beacon.yml\"\n";
    let policy = |text: &str| {
        let file = Policy::parse(text).expect("a policy");
        file.resolve(|path| panic!("{} is read", path.display())).expect("a policy")
    };
    let rule = format!("[[rule]]\n{EXACT}\nunnamed = \"allow\"\n");
    let identities = policy(&format!("{identity}{rule}keys = [\"beacon\"]\n"));
    let first = Scene { policy: identities, identity: Identity::Index { sha256, sha512: None }, ..Scene::new() };
    let first = first.found([Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }]);
    check(&first, "signed [beacon] index");
    // A year after the carried root was taken.
    let late = Scene { now: UNIX_EPOCH + Duration::from_secs(1_793_000_000 + 365 * 86_400), ..first.clone() };
    check(&late, "signed [beacon] index; Warning old-root");
    // The branch names no version, and the pin names the provider.
    let next = Scene { version: version("1.5.0"), policy: policy(&rule), ..first.remembered() };
    check(&next, "signed [beacon] index");
    check(&next.clone().without_policy(), "refused unnamed-signature");
    check(&next.found([]), "refused was-signed");
}
