//! Questions and warnings.

use std::path::PathBuf;
use std::time::SystemTime;

use async_trait::async_trait;
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_source::{Failure, SourceError};
use tofu_oci_store::MemoryStore;
use tofu_oci_trust::{Pins, Policy};
use tofu_oci_types::{NoReporter, Place};
use tokio::sync::Barrier;

use super::*;
use crate::{ProviderRule, Repositories};

/// A place with two versions. It answers for one only while it is asked for the other.
struct Pair {
    place: Place,
    both: Barrier,
}

#[async_trait]
impl Source for Pair {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        let versions = ["1.0.0", "1.1.0"].map(|text| text.parse().unwrap()).to_vec();
        Ok(Listing { versions, ..Listing::default() })
    }

    async fn release(&self, _: &ProviderAddr, _: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.both.wait().await;
        Err(SourceError::Failed { place: self.place.clone(), failure: Failure::Denied("no".to_owned()) })
    }
}

#[test]
fn versions_are_not_asked_for_one_after_the_other() {
    let address: ProviderAddr = "example.com/acme/widget".parse().unwrap();
    let from = Pair { place: Place::Host("example.com".to_owned()), both: Barrier::new(2) };
    let rules = MirrorRules { providers: vec![ProviderRule::all_of(address.clone())], ..MirrorRules::default() };
    let open = |place: &Place| Ok(Arc::new(MemoryStore::new(place.clone())) as _);
    let destination = Repositories::new("oci:example.com/x/${type}".parse().unwrap(), Arc::new(open));
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let (prune, address) = (Prune::Keep, &address);
    let trust = Trust {
        policy: Arc::new(Policy::default()),
        pins: Pins::default(),
        pins_path: PathBuf::new(),
        now: SystemTime::UNIX_EPOCH,
        renamed: RenamedReleases::Refuse,
    };
    let question = Question {
        rules: &rules,
        prune,
        now,
        destination: &destination,
        trust: &trust,
        attestations: None,
        reporter: &NoReporter,
        address,
        from: &from,
    };
    let look = question.look().now_or_never().expect("both versions are asked for at once").unwrap();
    assert!(look.outcomes.len() == 2 && look.outcomes.iter().all(|(_, outcome)| outcome.is_err()));
}

#[track_caller]
fn check(warnings: &[&str], want: Option<&str>) {
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(reason(&warnings).map(|reason| reason.to_string()).as_deref(), want);
}

#[test]
fn warnings_become_one_line() {
    check(&[], None);
    check(&[" \n"], None);
    check(&["use\nacme/new", "it\u{1b}[2J\tends"], Some("use acme/new; it [2J ends"));
    let long = "x".repeat(5000);
    check(&[&long], Some(&"x".repeat(REASON)));
}
