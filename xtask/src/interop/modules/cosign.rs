//! cosign and we accept each other's signatures of a module.

use super::super::lab::{Lab, seen};
use super::fixture::{PublishedModule, key};
use crate::failure::ChoreResult;
use crate::process::ProgramRun;
use crate::registry::Guard;

/// Of every encrypted key among the fixtures.
const PASSWORD: &str = "fixture";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    for form in ["bundle", "cosign-tag"] {
        let pushed = PublishedModule::new(lab, &registry, &format!("pushed-{form}"));
        pushed.push("1.4.0", &["--sign-key", &key("pem"), "--sign-format", form])?;
        let signed = PublishedModule::new(lab, &registry, &format!("signed-{form}"));
        signed.push("1.4.0", &[])?;
        verify(&signed)?.refused()?;
        signed.ours(&["sign", &signed.release("1.4.0"), "--key", &key("pem"), "--sign-format", form]).success()?;
        for module in [&pushed, &signed] {
            verify(module)?.success()?;
        }
        seen(&format!("{form}: cosign accepts what module push and sign wrote"));
    }
    for (form, flag) in [("bundle", None), ("cosign-tag", Some("--new-bundle-format=false"))] {
        let module = PublishedModule::new(lab, &registry, &format!("by-cosign-{form}"));
        let manifest = module.push("1.4.0", &[])?;
        let ours = ["verify", &module.release("1.4.0"), "--key", &key("pub")];
        module.ours(&ours).refused_with(1)?.must_show("not signed")?;
        let target = format!("{}@{manifest}", module.repository);
        let sign = ["sign", "--key", &key("key"), "--tlog-upload=false", "--use-signing-config=false", "--yes"];
        cosign(&module)?.args(sign).args(flag).arg(target).success()?;
        module.ours(&ours).success()?;
        seen(&format!("{form}: verify accepts what cosign signed"));
    }
    Ok(())
}

fn cosign(module: &PublishedModule<'_>) -> ChoreResult<ProgramRun> {
    Ok(module.trusting("cosign")?.variable("COSIGN_PASSWORD", PASSWORD))
}

fn verify(module: &PublishedModule<'_>) -> ChoreResult<ProgramRun> {
    let arguments = ["verify", "--key", &key("pub"), "--insecure-ignore-tlog=true", &module.release("1.4.0")];
    Ok(cosign(module)?.args(arguments))
}
