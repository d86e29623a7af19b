//! Real cosign accepts what we sign, and we accept what it signs, in both forms and with every kind of key.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::lab::{Lab, seen, text};
use super::super::registries::ADDRESS;
use crate::failure::ChoreResult;
use crate::paths;
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

const VERSION: &str = "1.0.0";
/// Of every encrypted key among the fixtures.
const PASSWORD: &str = "fixture";

/// Kinds of keys, by the names of their files.
const KINDS: &[&str] = &["p256", "p384", "ed25519", "rsa-2048", "rsa-4096"];

/// The two forms: as we call them, and what makes cosign write them.
const FORMS: &[(&str, &[&str])] = &[("bundle", &[]), ("cosign-tag", &["--new-bundle-format=false"])];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    for kind in KINDS {
        let keys = Keys::of_fixtures(kind);
        for (form, flags) in FORMS {
            cosign_accepts_ours(lab, &registry, &keys, form)?;
            we_accept_cosigns(lab, &registry, &keys, form, flags)?;
        }
    }
    encrypted_key_of_cosign(lab, &registry)
}

/// A pair of keys.
struct Keys {
    name: String,
    /// Not encrypted, for us.
    private: PathBuf,
    /// The same as cosign has it.
    sealed: PathBuf,
    public: PathBuf,
}

impl Keys {
    fn of_fixtures(kind: &str) -> Self {
        let file = |ending: &str| paths::testdata().join("trust/cosign/test-keys").join(format!("{kind}.{ending}"));
        Self { name: kind.to_owned(), private: file("pem"), sealed: file("key"), public: file("pub") }
    }
}

/// What `push --sign-key` and `sign` write, `cosign verify` accepts by its default: neither with another version nor
/// with another key.
fn cosign_accepts_ours(lab: &Lab, registry: &Guard, keys: &Keys, form: &str) -> ChoreResult {
    let pushed = repository(registry, "pushed", keys, form);
    let key = text(&keys.private);
    push(lab, registry, &pushed, &["--sign-key", &key, "--sign-format", form])?;
    let signed = repository(registry, "signed", keys, form);
    push(lab, registry, &signed, &[])?;
    cosign_verify(lab, &signed, &keys.public, VERSION)?.refused()?;
    let target = format!("{signed}:{VERSION}");
    lab.tofu_oci(registry, &["sign", &target, "--key", &key, "--format", form]).success()?;
    for repository in [&pushed, &signed] {
        cosign_verify(lab, repository, &keys.public, VERSION)?.success()?;
        cosign_verify(lab, repository, &keys.public, "1.0.1")?.refused()?.must_show("incorrect annotation")?;
        let other = if keys.name == "p256" { "p384" } else { "p256" };
        cosign_verify(lab, repository, &Keys::of_fixtures(other).public, VERSION)?.refused()?;
    }
    seen(&format!("{}, {form}: cosign accepts what push and sign wrote, and nothing else", keys.name));
    Ok(())
}

/// What `cosign sign -a` writes, `verify` accepts; without names, and with another version's, it does not.
fn we_accept_cosigns(lab: &Lab, registry: &Guard, keys: &Keys, form: &str, flags: &[&str]) -> ChoreResult {
    let named = names(VERSION);
    let other = names("0.9.0");
    let cases: [(&str, &[String], Option<&str>); 3] = [
        ("named", &named, None),
        ("unnamed", &[], Some("unnamed-signature")),
        ("other", &other, Some("other-version")),
    ];
    for (case, names, refusal) in cases {
        let repository = repository(registry, &format!("cosign-{case}"), keys, form);
        let index = index(&push(lab, registry, &repository, &["--json"])?)?;
        cosign_sign(lab, &format!("{repository}@{index}"), keys, flags, names)?;
        match refusal {
            None => drop(our_verify(lab, registry, &repository, keys)?.success()?),
            Some(code) => drop(our_verify(lab, registry, &repository, keys)?.refused_with(1)?.must_show(code)?),
        }
    }
    seen(&format!("{}, {form}: what cosign signs for this provider and version is accepted, else refused", keys.name));
    Ok(())
}

/// A pair that this cosign makes now: its encrypted file signs here, too, with the password where cosign looks for it.
fn encrypted_key_of_cosign(lab: &Lab, registry: &Guard) -> ChoreResult {
    let folder = lab.new_folder("cosign-keys")?;
    cosign(lab, &["generate-key-pair"])?.directory(&folder).success()?;
    let (private, public) = (text(&folder.join("cosign.key")), folder.join("cosign.pub"));
    let repository = format!("{}/generated/widget", registry.address());
    push(lab, registry, &repository, &[])?;
    let target = format!("{repository}:{VERSION}");
    let sign = ["sign", target.as_str(), "--key", private.as_str(), "--format", "both"];
    lab.tofu_oci(registry, &sign).variable("COSIGN_PASSWORD", "another").refused()?.must_show("password")?;
    lab.tofu_oci(registry, &sign).variable("COSIGN_PASSWORD", PASSWORD).success()?;
    cosign_verify(lab, &repository, &public, VERSION)?.success()?;
    seen("a key pair that cosign made now: its encrypted file signs, and no other password opens it");
    Ok(())
}

fn repository(registry: &Guard, what: &str, keys: &Keys, form: &str) -> String {
    format!("{}/{what}/{}-{form}/widget", registry.address(), keys.name)
}

fn push(lab: &Lab, registry: &Guard, repository: &str, further: &[&str]) -> ChoreResult<Printed> {
    let dist = text(&paths::testdata().join("dist"));
    let push = ["push", dist.as_str(), repository, "--address", ADDRESS, "--sums", "skip"];
    lab.tofu_oci(registry, &[&push, further].concat()).success()
}

fn our_verify(lab: &Lab, registry: &Guard, repository: &str, keys: &Keys) -> ChoreResult<ProgramRun> {
    let folder = text(&lab.new_folder("verify")?);
    let (wanted, key) = (format!("{ADDRESS}@{VERSION}"), text(&keys.public));
    Ok(lab.tofu_oci(registry, &["verify", &wanted, "--from", repository, "--key", &key, "--chdir", &folder, "--json"]))
}

fn cosign(lab: &Lab, arguments: &[&str]) -> ChoreResult<ProgramRun> {
    Ok(lab.tool("cosign")?.args(arguments).variable("COSIGN_PASSWORD", PASSWORD))
}

/// `-a name=value`, for address and version.
fn names(version: &str) -> Vec<String> {
    [format!("org.opentofu.provider.address={ADDRESS}"), format!("org.opentofu.provider.version={version}")]
        .into_iter()
        .flat_map(|name| ["-a".to_owned(), name])
        .collect()
}

/// The digest that `push --json` tells.
fn index(pushed: &Printed) -> ChoreResult<String> {
    let lines = pushed.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let index = lines.filter_map(|line| line["index"].as_str().map(str::to_owned)).next_back();
    index.ok_or_else(|| pushed.failure("no line names the index"))
}

fn cosign_sign(lab: &Lab, target: &str, keys: &Keys, flags: &[&str], names: &[String]) -> ChoreResult {
    cosign(lab, &["sign", "--key", &text(&keys.sealed), "--tlog-upload=false", "--use-signing-config=false", "--yes"])?
        .args(flags)
        .args(names)
        .arg(target)
        .success()?;
    Ok(())
}

fn cosign_verify(lab: &Lab, repository: &str, public: &Path, version: &str) -> ChoreResult<ProgramRun> {
    Ok(cosign(lab, &["verify", "--key", &text(public), "--insecure-ignore-tlog=true"])?
        .args(names(version))
        .arg(format!("{repository}:{VERSION}")))
}
