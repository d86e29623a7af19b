//! skopeo moves an image-layout release out and back without changing a digest.
//!
//! The artifact layout is left out on purpose: skopeo 1.9 drops `artifactType` from an index and so changes its digest
//! (README.md tells users which tools move that layout).

use super::content::digest;
use super::lab::{Lab, seen, text};
use super::registries::{ADDRESS, install_and_compare};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::ProgramRun;
use crate::registry::Guard;

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let folders = text(&paths::testdata().join("dist-folders"));
    let ours = format!("{}/acme/widget", registry.address());
    let push = ["push", &folders, &ours, "--address", ADDRESS, "--version", "1.2.0", "--layout", "image"];
    lab.tofu_oci(&registry, &push).success()?;

    let published = format!("docker://{ours}:1.2.0");
    let before = index_digest(lab, &published)?;
    let layout = text(&lab.new_folder("skopeo")?.join("packages"));
    let local = format!("oci:{layout}:1.2.0");
    copy(lab, &published, &local)?;
    install_and_compare(lab, &registry, &format!("oci:{layout}"), "1.2.0")?;
    seen("a release that skopeo copied into a directory is installed from there");

    let back = format!("{}/acme/back", registry.address());
    copy(lab, &local, &format!("docker://{back}:1.2.0"))?;
    let after = index_digest(lab, &format!("docker://{back}:1.2.0"))?;
    if before != after {
        return Err(ChoreFailure::new(format!("skopeo changed the index: {before} became {after}")));
    }
    install_and_compare(lab, &registry, &back, "1.2.0")?;
    seen("back in a registry it has the same digest, and is installed");

    let packed = format!("oci:{}", text(&lab.new_folder("ours")?.join("packages")));
    let pack = ["pack", &folders, &packed, "--address", ADDRESS, "--version", "1.2.0", "--layout", "image"];
    lab.stranger(&pack).success()?;
    let pushed = format!("docker://{}/acme/packed:1.2.0", registry.address());
    copy(lab, &format!("{packed}:1.2.0"), &pushed)?;
    if index_digest(lab, &pushed)? != before {
        return Err(ChoreFailure::new("what `pack` wrote and skopeo pushed is not what `push` wrote"));
    }
    seen("what `pack` wrote and skopeo pushed is the same index that `push` wrote");
    Ok(())
}

fn skopeo(lab: &Lab, arguments: &[&str]) -> ChoreResult<ProgramRun> {
    Ok(lab.tool("skopeo")?.args(arguments))
}

fn copy(lab: &Lab, from: &str, to: &str) -> ChoreResult {
    let insecure = |end: &'static str, place: &str| place.starts_with("docker:").then_some(end);
    let flags = [insecure("--src-tls-verify=false", from), insecure("--dest-tls-verify=false", to)];
    skopeo(lab, &["copy", "--all"])?.args(flags.into_iter().flatten()).args([from, to]).success()?;
    Ok(())
}

fn index_digest(lab: &Lab, reference: &str) -> ChoreResult<String> {
    Ok(digest(&skopeo(lab, &["inspect", "--raw", "--tls-verify=false", reference])?.bytes()?))
}
