//! Real cosign signs without a key, through a Sigstore instance of our own: either side accepts what the other has attached, and
//! of one identity alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tofu_oci_testkit::{BuiltBy, SigstoreServer, Witness};

use super::lab::{Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

/// The programs without which nothing of this can be shown.
pub(super) const NEEDS: &[&str] = &["docker-registry", "cosign"];

const VERSION: &str = "1.0.0";
/// The release workflow, from the tag of that version.
const RELEASE: BuiltBy<'static> = BuiltBy { reference: "refs/tags/v1.0.0", ..BuiltBy::RELEASE };
const IDENTITY: &str = r#"repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "root.json"
"#;
const SIGNATURE: &str = "https://sigstore.dev/cosign/sign/v1";
const PROVENANCE: &str = "https://slsa.dev/provenance/v1";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    for (name, witness) in [("rekor1", Witness::Log), ("timestamp", Witness::Clock), ("rekor2", Witness::LogAndClock)] {
        let stage = Stage { lab, registry: &registry, instance: Instance::start(lab, name, witness)? };
        stage.what_we_sign()?;
        stage.what_cosign_signs()?;
        if witness == Witness::LogAndClock {
            stage.a_module()?;
            stage.no_certificate()?;
        }
    }
    Ok(())
}

/// A Sigstore instance, and the files that say where it is and what it proves.
struct Instance {
    name: &'static str,
    witness: Witness,
    server: SigstoreServer,
    folder: PathBuf,
}

impl Instance {
    fn start(lab: &Lab, name: &'static str, witness: Witness) -> ChoreResult<Self> {
        let server = SigstoreServer::start(witness);
        let folder = lab.new_folder(name)?;
        paths::write(&folder.join("root.json"), server.root())?;
        paths::write(&folder.join("1.root.json"), &server.tuf_files()["1.root.json"])?;
        Ok(Self { name, witness, server, folder })
    }

    /// For a job of this workflow, or this person.
    fn job(&self, run: ProgramRun, by: &BuiltBy<'_>) -> ProgramRun {
        run.variable("SIGSTORE_ID_TOKEN", by.token())
            .variable("TUF_MIRROR", self.server.tuf_mirror())
            .variable("TUF_ROOT_JSON", self.folder.join("1.root.json"))
            .variable("TUF_ROOT", self.folder.join("cache"))
    }

    /// The options of cosign for the trusted root and the signer.
    fn demands(&self, subject: &str) -> Vec<String> {
        let root = text(&self.folder.join("root.json"));
        let mut demands = ["--trusted-root", &root, "--certificate-identity", subject]
            .into_iter()
            .chain(["--certificate-oidc-issuer", RELEASE.issuer])
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let flags: &[&str] = match self.witness {
            Witness::Log => &["--insecure-ignore-sct"],
            Witness::Clock => &["--insecure-ignore-sct", "--insecure-ignore-tlog", "--use-signed-timestamps"],
            Witness::LogAndClock => &["--use-signed-timestamps"],
        };
        demands.extend(flags.iter().map(|flag| (*flag).to_owned()));
        demands
    }
}

struct Stage<'a> {
    lab: &'a Lab,
    registry: &'a Guard,
    instance: Instance,
}

impl Stage<'_> {
    /// `push --sign-keyless` and `sign --keyless`: both sides accept what they write, of this workflow, ref and version.
    fn what_we_sign(&self) -> ChoreResult {
        let pushed = self.repository("pushed");
        let run = self.push(&pushed, &["--sign-keyless", "--json"]);
        self.instance.job(run, &RELEASE).success()?;
        let signed = self.repository("signed");
        let index = self.pushed(&signed)?;
        self.must_refuse(&signed, IDENTITY, "unsigned")?;
        let target = format!("{signed}:{VERSION}");
        let sign = |by| self.instance.job(self.lab.tofu_oci(self.registry, &["sign", &target, "--keyless"]), by);
        sign(&RELEASE).success()?;
        for repository in [&pushed, &signed] {
            self.must_accept(repository)?;
            self.cosign_accepts(repository)?;
        }
        self.others_are_refused(&signed)?;
        self.bundle_is_accepted(&signed, &index)?;
        let old = self.repository("old");
        self.pushed(&old)?;
        let target = format!("{old}:{VERSION}");
        let old_tag = BuiltBy { reference: "refs/tags/v0.9.0", ..RELEASE };
        let sign = self.lab.tofu_oci(self.registry, &["sign", &target, "--keyless"]);
        self.instance.job(sign, &old_tag).success()?;
        self.must_refuse(&old, IDENTITY, "other-version")?;
        seen(&format!(
            "{}: what push and sign write counts for tofu-oci and cosign, of one identity",
            self.instance.name
        ));
        Ok(())
    }

    /// `cosign sign` and `cosign attest` on the index.
    fn what_cosign_signs(&self) -> ChoreResult {
        let signed = self.repository("cosign-signed");
        let index = self.pushed(&signed)?;
        self.cosign(&["sign", "--yes", &format!("{signed}@{index}")], &RELEASE)?.success()?;
        self.must_accept(&signed)?;
        self.cosign_accepts(&signed)?;
        let attested = self.repository("cosign-attested");
        let index = self.pushed(&attested)?;
        let predicate = self.instance.folder.join("predicate.json");
        paths::write(&predicate, r#"{"buildDefinition":{},"runDetails":{}}"#)?;
        let predicate = text(&predicate);
        let target = format!("{attested}@{index}");
        let attest = ["attest", "--yes", "--type", "slsaprovenance1", "--predicate", &predicate, &target];
        self.cosign(&attest, &RELEASE)?.success()?;
        self.must_accept(&attested)?;
        let ours = self.cosign_verifies(&["verify-attestation", "--type", PROVENANCE], RELEASE_SUBJECT, &target)?;
        ours.success()?;
        let person = self.repository("cosign-person");
        let index = self.pushed(&person)?;
        let ann = BuiltBy { email: Some("ann@example.com"), ..RELEASE };
        let names = [("address", ADDRESS), ("version", VERSION)];
        let names = names.map(|(name, value)| format!("org.opentofu.provider.{name}={value}"));
        let target = format!("{person}@{index}");
        self.cosign(&["sign", "--yes", "-a", &names[0], "-a", &names[1], &target], &ann)?.success()?;
        let issuer = RELEASE.issuer;
        let ann = format!("email = \"ann@example.com\"\nissuer = {issuer:?}\nroot = \"root.json\"\n");
        self.verify(&person, &ann)?.success()?.must_show("\"trusted\":true")?;
        self.must_refuse(&person, &ann.replace("ann@", "bob@"), "unknown-key")?;
        self.must_refuse(&person, IDENTITY, "unknown-key")?;
        seen(&format!("{}: what cosign signs and attests counts, of a workflow and of a person", self.instance.name));
        Ok(())
    }

    /// `sign --keyless` of a module, which cosign accepts, too.
    fn a_module(&self) -> ChoreResult {
        let package = self.lab.new_folder("module")?;
        paths::write(&package.join("main.tf"), "# 1.0.0\n")?;
        let repository = self.repository("module");
        let (target, package) = (format!("{repository}:{VERSION}"), text(&package));
        self.lab.tofu_oci(self.registry, &["module", "push", &package, &repository, "--version", VERSION]).success()?;
        let sign = self.lab.tofu_oci(self.registry, &["sign", &target, "--keyless"]);
        self.instance.job(sign, &RELEASE).success()?;
        self.cosign_accepts(&repository)?;
        for (workflow, code) in [("release.yml", 0), ("other.yml", 1)] {
            let folder = self.policy(&IDENTITY.replace("release.yml", workflow))?;
            let policy = fs::read_to_string(folder.join("trust.toml"))?;
            let policy = policy.replace(&format!("providers = [{ADDRESS:?}]"), "modules = [\"*\"]");
            paths::write(&folder.join("trust.toml"), policy)?;
            let folder = text(&folder);
            let said = self.lab.tofu_oci(self.registry, &["verify", &target, "--chdir", &folder]).output()?;
            if said.code != Some(code) {
                return Err(said.failure("another end was expected"));
            }
        }
        seen(&format!("{}: a module that sign has signed counts, of one workflow", self.instance.name));
        Ok(())
    }

    /// A token that gets no certificate: the tag is not written, and the token is not printed.
    fn no_certificate(&self) -> ChoreResult {
        let repository = self.repository("refused");
        let push = self.instance.job(self.push(&repository, &["--sign-keyless"]), &RELEASE);
        let token = "e30.e30.not-to-be-printed";
        let said = push.variable("SIGSTORE_ID_TOKEN", token).refused_with(3)?.must_show("cosign did not sign")?;
        if said.all().contains("not-to-be-printed") {
            return Err(said.failure("the token is printed"));
        }
        let wanted = format!("{repository}:{VERSION}");
        self.lab.tofu_oci(self.registry, &["show", &wanted]).refused()?;
        seen(&format!("{}: a push whose token gets no certificate writes no tag", self.instance.name));
        Ok(())
    }

    fn others_are_refused(&self, repository: &str) -> ChoreResult {
        for (from, to, code) in [
            ("release.yml", "other.yml", "other-identity"),
            ("acme/widget", "other/widget", "unknown-key"),
            ("refs/tags/v{version}", "refs/heads/main", "other-identity"),
            ("refs/tags/v{version}", "refs/tags/{version}", "other-version"),
            ("root = \"root.json\"\n", "", "not-proven"),
        ] {
            self.must_refuse(repository, &IDENTITY.replace(from, to), code)?;
        }
        let other = SigstoreServer::start(self.instance.witness);
        let folder = self.policy(IDENTITY)?;
        paths::write(&folder.join("root.json"), other.root())?;
        self.verify_in(&folder, repository).refused_with(1)?.must_show("not-proven")?;
        for subject in ["ann@example.com", &RELEASE_SUBJECT.replace("release.yml", "other.yml")] {
            self.cosign_verifies(&["verify"], subject, &format!("{repository}:{VERSION}"))?.refused()?;
        }
        Ok(())
    }

    /// The bundle in the referrer, as a file.
    fn bundle_is_accepted(&self, repository: &str, index: &str) -> ChoreResult {
        let layout = self.lab.new_folder("copied")?;
        let to = format!("oci:{}", layout.display());
        self.lab.tofu_oci(self.registry, &["copy", &format!("{repository}:{VERSION}"), &to]).success()?;
        let bundle = bundle_in(&layout)?;
        let digest = index.trim_start_matches("sha256:");
        let bundle = text(&bundle);
        let verify = ["verify-blob-attestation", "--bundle", &bundle, "--digest", digest, "--digestAlg", "sha256"];
        let verify = [verify.as_slice(), &["--type", SIGNATURE]].concat();
        let run = |subject| {
            Ok::<_, ChoreFailure>(self.lab.tool("cosign")?.args(&verify).args(self.instance.demands(subject)))
        };
        run(RELEASE_SUBJECT)?.success()?;
        run("ann@example.com")?.refused()?;
        Ok(())
    }

    fn repository(&self, what: &str) -> String {
        format!("{}/{}/{what}/widget", self.registry.address(), self.instance.name)
    }

    fn push(&self, repository: &str, further: &[&str]) -> ProgramRun {
        let dist = text(&paths::testdata().join("dist"));
        let push = ["push", &dist, repository, "--address", ADDRESS, "--sums", "skip"];
        self.lab.tofu_oci(self.registry, &[push.as_slice(), further].concat())
    }

    /// The index that was pushed without a signature.
    fn pushed(&self, repository: &str) -> ChoreResult<String> {
        let pushed = self.push(repository, &["--json"]).success()?;
        let lines = pushed.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let index = lines.filter_map(|line| line["index"].as_str().map(str::to_owned)).next_back();
        index.ok_or_else(|| pushed.failure("no line names the index"))
    }

    /// A folder with the policy that demands this identity.
    fn policy(&self, identity: &str) -> ChoreResult<PathBuf> {
        let folder = self.lab.new_folder("verify")?;
        paths::write(&folder.join("root.json"), self.instance.server.root())?;
        let policy = format!(
            "[[identity]]\nname = \"acme\"\n{identity}\n[[rule]]\nproviders = [{ADDRESS:?}]\nkeys = [\"acme\"]\n"
        );
        paths::write(&folder.join("trust.toml"), policy)?;
        Ok(folder)
    }

    fn verify_in(&self, folder: &Path, repository: &str) -> ProgramRun {
        let (wanted, folder) = (format!("{ADDRESS}@{VERSION}"), text(folder));
        self.lab.tofu_oci(self.registry, &["verify", &wanted, "--from", repository, "--chdir", &folder, "--json"])
    }

    fn verify(&self, repository: &str, identity: &str) -> ChoreResult<ProgramRun> {
        Ok(self.verify_in(&self.policy(identity)?, repository))
    }

    fn must_accept(&self, repository: &str) -> ChoreResult<Printed> {
        let printed = self.verify(repository, IDENTITY)?.success()?;
        printed.must_show("\"trusted\":true")?.must_show(RELEASE_SUBJECT)
    }

    fn must_refuse(&self, repository: &str, identity: &str, code: &str) -> ChoreResult<Printed> {
        self.verify(repository, identity)?.refused_with(1)?.must_show(code)
    }

    fn cosign(&self, arguments: &[&str], by: &BuiltBy<'_>) -> ChoreResult<ProgramRun> {
        Ok(self.instance.job(self.lab.tool("cosign")?, by).args(arguments))
    }

    fn cosign_verifies(&self, verb: &[&str], subject: &str, target: &str) -> ChoreResult<ProgramRun> {
        Ok(self.lab.tool("cosign")?.args(verb).args(self.instance.demands(subject)).arg(target))
    }

    fn cosign_accepts(&self, repository: &str) -> ChoreResult<Printed> {
        self.cosign_verifies(&["verify"], RELEASE_SUBJECT, &format!("{repository}:{VERSION}"))?.success()
    }
}

/// What the certificate of the release workflow says.
const RELEASE_SUBJECT: &str = "https://github.com/acme/widget/.github/workflows/release.yml@refs/tags/v1.0.0";

/// The one bundle in a layout.
fn bundle_in(layout: &Path) -> ChoreResult<PathBuf> {
    let blobs = layout.join("blobs/sha256");
    for entry in fs::read_dir(&blobs).doing(|| format!("reading {}", blobs.display()))? {
        let path = entry?.path();
        let document: Value = serde_json::from_slice(&fs::read(&path)?).unwrap_or_default();
        if document["dsseEnvelope"].is_object() {
            return Ok(path);
        }
    }
    Err(ChoreFailure::new(format!("{} has no bundle", blobs.display())))
}
