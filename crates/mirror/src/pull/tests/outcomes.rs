//! What an observer hears.

use super::*;
use crate::{PullOutcome, VersionRule};

/// What was heard, without bytes and times.
type HeardOutcomes = Arc<Mutex<Vec<&'static str>>>;

fn heard_of(through: &PullThrough) -> HeardOutcomes {
    let heard = HeardOutcomes::default();
    let hearing = Arc::clone(&heard);
    through.observe(Box::new(move |outcome| {
        hearing.lock().unwrap().push(match outcome {
            PullOutcome::Fetched { bytes: 0, .. } => "fetched nothing",
            PullOutcome::Fetched { .. } => "fetched",
            PullOutcome::Failed => "failed",
            PullOutcome::Refused => "refused",
            PullOutcome::Held => "held",
            PullOutcome::Denied => "denied",
        });
    }));
    heard
}

/// What is heard while a package of the version is opened.
async fn heard(through: PullThrough) -> Vec<&'static str> {
    let heard = heard_of(&through);
    let _ = opened(&through).await;
    let outcomes = heard.lock().unwrap();
    outcomes.clone()
}

#[tokio::test]
async fn a_fetch_that_many_share_was_counted_for_each() {
    let pulling = Pulling::new();
    let through = pulling.through();
    let heard = heard_of(&through);
    futures_util::future::join_all((0..20).map(|_| opened(&through))).await;
    opened(&through).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), ["fetched"]);
}

#[tokio::test]
async fn what_rules_keep_out_or_an_end_breaks_is_heard_with_its_reason() {
    let pulling = Pulling::new();
    let rules = |text: &str| MirrorRules { min_age: text.parse().unwrap(), ..MirrorRules::default() };
    assert_eq!(heard(pulling.through_with(Arc::default(), rules("7d"))).await, ["held"]);
    let named = VersionRule { pattern: ZAP.parse().unwrap(), versions: "1.4.0".parse().unwrap() };
    let denied = MirrorRules { deny: vec![named.into()], ..MirrorRules::default() };
    assert_eq!(heard(pulling.through_with(Arc::default(), denied)).await, ["denied"]);
    let sealed = pulling.with(Arc::default(), rules("7d"), UpstreamUse::Sealed);
    assert_eq!(heard(sealed).await, [""; 0], "no upstream is asked");
    pulling.upstream.fault(Rule::on("GET", ZIPS).then(Fault::CorruptBody(-1)));
    assert_eq!(heard(pulling.through()).await, ["failed"]);
    pulling.upstream.clear_faults();
    pulling.carried.registry.fault(Rule::on("POST", "/v2/*").then(Fault::SetStatus(403)));
    assert_eq!(heard(pulling.through()).await, ["failed"]);
}

#[tokio::test]
async fn a_release_that_is_not_trusted_is_heard_as_refused() {
    let pulling = Pulling::new();
    let (address, version) = (ZAP.parse().unwrap(), "1.4.0".parse().unwrap());
    let through = pulling.through_with(other_key(), MirrorRules::default());
    let heard = heard_of(&through);
    pulled(&through, "1.4.0", "linux_amd64").await.unwrap_err();
    assert_eq!(*heard.lock().unwrap(), ["refused"]);
    // A bridge judges what is offered before it opens a package.
    let trust = &through.work.options.trust;
    let reporter = EventLog::default();
    let release = through.offered(&address, &version).await.unwrap();
    let refused = TrustChecker::new(trust, &reporter).of_release(&*release).await.unwrap_err().into();
    through.note_refusal(&address, &refused);
    assert_eq!(*heard.lock().unwrap(), ["refused"; 2]);
    // What the destination has is not pulled.
    pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap();
    let release = through.offered(&address, &version).await.unwrap();
    let refused = TrustChecker::new(trust, &reporter).of_release(&*release).await.unwrap_err().into();
    through.note_refusal(&address, &refused);
    assert_eq!(*heard.lock().unwrap(), ["refused"; 2]);
}
