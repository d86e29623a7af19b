//! What is in `integrations`, `actions`, `templates` and `install.sh`: their scripts run with the real program, and their
//! forms are those that the places demand.

use super::lab::{Lab, seen};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;

pub(super) const NEEDS: &[&str] = &["python3", "curl", "git"];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let script = paths::root().join("integrations/test.sh");
    let printed = lab.tool("sh")?.arg(&script).variable("TOFU_OCI", lab.program()).output()?;
    print!("{}", printed.all());
    match printed.code {
        Some(0) => {
            seen(printed.stdout.lines().last().unwrap_or_default());
            Ok(())
        }
        _ => Err(ChoreFailure::new("integrations/test.sh failed")),
    }
}
