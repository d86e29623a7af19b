//! Releases that a workflow has signed with a certificate.

mod clocks;
mod demands;
mod numbers;
mod reasons;
mod signers;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{BuiltBy, LocalSigstore};
use tofu_oci_types::Fault as _;

use super::*;
use crate::testing::key;
use crate::{PROVENANCE_PREDICATE, ReadLeaf, SIGN_PREDICATE, peek_bundle};

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
    let called = BuiltBy {
        repository: "github.com/other/widget",
        workflow: "github.com/other/widget-ci/.github/workflows/release.yml",
        ..BuiltBy::RELEASE
    };
    // The host says the issuer.
    assert_snapshot!(to_add(called), @r#"
    [[identity]]
    name = "other/widget"
    repository = "github.com/other/widget"
    workflow = "other/widget-ci/.github/workflows/release.yml"
    ref = "refs/tags/v1.4.0"
    root = "root.json"
    "#);
    let person = BuiltBy { email: Some("ann@example.com"), ..BuiltBy::RELEASE };
    assert_snapshot!(to_add(person), @r#"
    [[identity]]
    name = "ann@example.com"
    email = "ann@example.com"
    issuer = "https://token.actions.githubusercontent.com"
    root = "root.json"
    "#);
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
    let leaves = leaves.into_iter().map(|(platform, digest)| (platform, ReadLeaf { digest, zip_name: None }));
    Archives::Read { zips: zips.into(), leaves: leaves.collect() }
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
fn two_repositories_of_one_owner_had_both_still_to_sign() {
    let pem = key(1).public().to_pem();
    let identity = |name: &str, repository: &str| {
        let workflow = WORKFLOW.replace("github.com/acme/widget", repository);
        format!("[[identity]]\nname = {name:?}\nroot = \"root.json\"\n{workflow}")
    };
    let (widget, other) = (identity("b", "github.com/acme/widget"), identity("c", "github.com/acme/other"));
    let text = format!("[[key]]\nname = \"a\"\npem = \"\"\"\n{pem}\"\"\"\n{widget}{other}");
    let stage = Stage::new().policy(&text, &format!("{EXACT}\nthreshold = 2"), &["a", "b", "c"]);
    let still = |stage: &Stage| {
        let still = stage.scene.judge().still_to_sign.expect("too few have signed");
        (still.count, still.parties.iter().map(|names| names.join("/")).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(still(&stage), (2, "a b/c".to_owned()));
    assert_eq!(still(&stage.built(&BuiltBy::RELEASE)), (1, "a".to_owned()));
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
    // A year after the built-in root was taken.
    let late = Scene { now: UNIX_EPOCH + Duration::from_secs(1_793_000_000 + 365 * 86_400), ..first.clone() };
    check(&late, "signed [beacon] index; Warning old-root");
    let remark = late.judge().remarks.into_iter().find(|remark| remark.code == "old-root").expect("a remark");
    assert!(remark.text.contains("or write one with `tofu-oci trust root update`"), "{}", remark.text);
    // The branch names no version, and the pin names the provider.
    let next = Scene { version: version("1.5.0"), policy: policy(&rule), ..first.remembered() };
    check(&next, "signed [beacon] index");
    check(&next.clone().without_policy(), "refused unnamed-signature");
    check(&next.found([]), "refused was-signed");
}
