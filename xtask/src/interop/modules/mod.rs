//! Modules: what `module push` writes, read by cosign, by real `tofu` and by skopeo, in registry:2 over TLS with a private CA.
//!
//! ```text
//! cosign   accepts the signature of module push and of sign; verify accepts what cosign signed
//! tofu     init by ?tag=, by ?digest= and of //sub; a withdrawn version is gone for it
//! skopeo   copies a module, and module pull reads the copy
//! ```
//!
//! Each part says loudly if its program is missing. In CI that is a failure for the programs that `.ci/run` installs.

mod cosign;
mod fixture;
mod skopeo;
mod tofu;

use super::lab::Lab;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::{find, in_ci};

/// The programs without which nothing of this can be shown.
pub(super) const NEEDS: &[&str] = &["docker-registry", "openssl"];

/// A part of the sub-stage: its program, whether `.ci/run` installs that, and the work.
struct ModulesPart {
    program: &'static str,
    in_ci: bool,
    work: fn(&Lab) -> ChoreResult,
}

const PARTS: &[ModulesPart] = &[
    ModulesPart { program: "cosign", in_ci: true, work: cosign::run },
    ModulesPart { program: "tofu", in_ci: false, work: tofu::run },
    ModulesPart { program: "skopeo", in_ci: true, work: skopeo::run },
];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    for part in PARTS {
        if find(part.program).is_some() {
            (part.work)(lab)?;
        } else if part.in_ci && in_ci() {
            return Err(ChoreFailure::new(format!("`{}` is not on the PATH", part.program)));
        } else {
            println!("   NOT RUN: `{}` is not on the PATH", part.program);
        }
    }
    Ok(())
}
