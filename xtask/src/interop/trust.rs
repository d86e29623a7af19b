//! cosign accepts what `push` and `sign` write, and `verify` what cosign signed: both forms, every kind of key.

mod cosign;

use super::lab::Lab;
use crate::failure::ChoreResult;

/// The programs without which nothing of this can be shown.
pub(super) const NEEDS: &[&str] = &["docker-registry", "cosign"];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    cosign::run(lab)
}
