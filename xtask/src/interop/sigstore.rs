//! Signatures by certificates: every case of Sigstore's conformance suite, by file and by digest, ends as the suite demands, except
//! those that are named here with their reasons.
//!
//! `SIGSTORE_CONFORMANCE` names a checkout of sigstore/sigstore-conformance.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tofu_oci_types::Digest;

use super::lab::Lab;
use crate::failure::{ChoreFailure, ChoreResult};

const IDENTITY: &str = "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/\
                        extremely-dangerous-oidc-beacon.yml@refs/heads/main";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

/// Cases that the suite accepts and we refuse, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("managed-key-happy-path", "keys have a reader of their own, which demands no log"),
    ("managed-key-and-trusted-root", "keys have a reader of their own, which demands no log"),
];

pub(super) fn run(_: &Lab) -> ChoreResult {
    let Some(suite) = std::env::var_os("SIGSTORE_CONFORMANCE").map(PathBuf::from) else {
        println!(
            "   SKIPPED: no suite. `git clone https://github.com/sigstore/sigstore-conformance`, and name the folder by"
        );
        println!("   SIGSTORE_CONFORMANCE");
        return Ok(());
    };
    let cases = suite.join("test/assets/bundle-verify");
    let listed = fs::read_dir(&cases)
        .map_err(|error| ChoreFailure::new(format!("{} has no cases: {error}", suite.display())))?;
    let mut folders: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.join("bundle.sigstore.json").is_file());
    folders.sort();
    let (mut right, mut wrong) = (0, Vec::new());
    for case in &folders {
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = REFUSED.iter().find(|(known, _)| *known == name);
        let wanted = !name.ends_with("fail") && known.is_none();
        for (how, (accepted, said)) in ask(case, &cases)? {
            if accepted == wanted {
                right += 1;
            } else {
                wrong.push(format!("{name}, by {how}: {}", if accepted { "accepted" } else { said.trim() }));
            }
        }
        if let Some((name, why)) = known {
            println!("   {name} is refused: {why}");
        }
    }
    if folders.is_empty() || !wrong.is_empty() {
        return Err(ChoreFailure::new(format!(
            "{} of {} end otherwise: {}",
            wrong.len(),
            folders.len(),
            wrong.join("; ")
        )));
    }
    println!("   {right} questions about {} cases end as they must", folders.len());
    Ok(())
}

/// What the client says about a case, by the file and by its digest: whether it accepts it, and its error.
fn ask(case: &Path, cases: &Path) -> ChoreResult<Vec<(&'static str, (bool, String))>> {
    let text = |name: &str| fs::read_to_string(case.join(name)).ok().map(|text| text.trim().to_owned());
    let own = case.join("artifact");
    let file = if own.is_file() { own } else { cases.join("a.txt") };
    let bytes = fs::read(&file).map_err(|error| ChoreFailure::new(format!("{}: {error}", file.display())))?;
    let program = std::env::current_exe().map_err(|error| ChoreFailure::new(error.to_string()))?;
    let mut answers = Vec::new();
    for (how, what) in [("file", file.display().to_string()), ("digest", Digest::sha256(&bytes).to_string())] {
        let mut command = Command::new(&program);
        command.args(["sigstore-client", "verify-bundle", "--bundle"]).arg(case.join("bundle.sigstore.json"));
        let key = case.join("key.pub");
        if key.is_file() {
            command.arg("--key").arg(key);
        } else {
            let identity = text("identity").unwrap_or_else(|| IDENTITY.to_owned());
            let issuer = text("issuer").unwrap_or_else(|| ISSUER.to_owned());
            command.args(["--certificate-identity", &identity, "--certificate-oidc-issuer", &issuer]);
        }
        let root = case.join("trusted_root.json");
        if root.is_file() {
            command.arg("--trusted-root").arg(root);
        }
        let output = command.arg(what).output().map_err(|error| ChoreFailure::new(error.to_string()))?;
        answers.push((how, (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())));
    }
    Ok(answers)
}
