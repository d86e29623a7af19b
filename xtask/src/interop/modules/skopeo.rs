//! skopeo copies a module without changing its digest, and we read the copy.

use super::super::content::{digest, must_contain};
use super::super::lab::{Lab, seen, text};
use super::fixture::{PublishedModule, key};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::registry::Guard;

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    let module = PublishedModule::new(lab, &registry, "network");
    let manifest = module.push("1.4.0", &["--sign-key", &key("pem"), "--sign-format", "cosign-tag"])?;
    let there = PublishedModule::new(lab, &registry, "by-skopeo");
    let signature = format!("{}.sig", manifest.replacen(':', "-", 1));
    for tag in ["1.4.0", &signature] {
        copy(
            &module,
            &format!("docker://{}:{tag}", module.repository),
            &format!("docker://{}:{tag}", there.repository),
        )?;
    }
    let copied = module.lab.tool("skopeo")?.args(["inspect", "--raw", "--tls-verify=false"]);
    let copied = digest(&copied.arg(format!("docker://{}", there.release("1.4.0"))).bytes()?);
    if copied != manifest {
        return Err(ChoreFailure::new(format!("skopeo changed the manifest: {manifest} became {copied}")));
    }
    let (folder, _) = there.pull(&format!("oci://{}?tag=1.4.0", there.repository))?;
    must_contain(&folder.join("main.tf"), "1.4.0")?;
    there.ours(&["verify", &there.release("1.4.0"), "--key", &key("pub")]).success()?;
    seen("what skopeo copied has the same digest and the same signature, and module pull reads it");

    let layout = text(&lab.new_folder("skopeo")?.join("layout"));
    copy(&module, &format!("docker://{}", there.release("1.4.0")), &format!("oci:{layout}:1.4.0"))?;
    let (folder, _) = there.pull(&format!("oci:{layout}:1.4.0"))?;
    must_contain(&folder.join("modules/vpc/main.tf"), "1.4.0")?;
    let back = PublishedModule::new(lab, &registry, "back");
    back.ours(&["copy", &format!("oci:{layout}:1.4.0"), &back.repository]).success()?;
    back.pull(&format!("oci://{}?digest={manifest}", back.repository))?;
    seen("a directory that skopeo wrote is pulled from, and copied to a registry");
    Ok(())
}

fn copy(module: &PublishedModule<'_>, from: &str, to: &str) -> ChoreResult {
    let insecure = |end: &'static str, place: &str| place.starts_with("docker:").then_some(end);
    let flags = [insecure("--src-tls-verify=false", from), insecure("--dest-tls-verify=false", to)];
    let skopeo = module.lab.tool("skopeo")?.args(["copy", "--preserve-digests"]);
    skopeo.args(flags.into_iter().flatten()).args([from, to]).success()?;
    Ok(())
}
