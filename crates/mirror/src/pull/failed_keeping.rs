//! When a pull-through rests after a failure: releases that could not be kept lately.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tofu_oci_types::{ProviderAddr, Version};
use tokio::time::Instant;

/// How long a release rests that a destination did not take: each attempt reads all of its packages.
const REST: Duration = Duration::from_mins(10);

/// Which releases could not be kept although their packages are used, and when.
#[derive(Default)]
pub(super) struct FailedKeeping(Mutex<HashMap<(ProviderAddr, Version), Instant>>);

impl FailedKeeping {
    /// Whether the release could not be kept a short time ago.
    pub(super) fn is_recent(&self, release: &(ProviderAddr, Version)) -> bool {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(release).is_some_and(|at| at.elapsed() < REST)
    }

    /// Notes a failure; true if there was none a short time ago.
    pub(super) fn note(&self, release: &(ProviderAddr, Version)) -> bool {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|_, at| at.elapsed() < REST);
        failures.insert(release.clone(), Instant::now()).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_release_that_could_not_be_kept_rests() {
        let (failures, address) = (FailedKeeping::default(), "example.com/acme/zap".parse::<ProviderAddr>().unwrap());
        let release = |version: &str| (address.clone(), version.parse().unwrap());
        assert!(failures.note(&release("1.0.0")));
        assert!(!failures.note(&release("1.0.0")), "callers that share an attempt report it once");
        assert!(failures.is_recent(&release("1.0.0")) && !failures.is_recent(&release("1.1.0")));
        tokio::time::advance(REST).await;
        assert!(!failures.is_recent(&release("1.0.0")));
        assert!(failures.note(&release("1.1.0")));
        assert_eq!(failures.0.lock().unwrap().len(), 1, "what has rested is forgotten");
    }
}
