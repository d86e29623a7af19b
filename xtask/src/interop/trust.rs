//! Signatures, with the programs that others make and check them with.

mod cosign;

use super::lab::Lab;
use crate::failure::ChoreResult;

/// The programs without which nothing of this can be shown.
pub(super) const NEEDS: &[&str] = &["docker-registry", "cosign"];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    cosign::run(lab)
}
