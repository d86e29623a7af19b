//! When something was signed: what witnesses it, and what the clock of this machine says.

use tofu_oci_testkit::Witness;

use super::*;

const WITNESSES: [Witness; 3] = [Witness::Log, Witness::Clock, Witness::LogAndClock];

impl Stage {
    /// The release, witnessed so long after it was signed, and judged so many seconds after now.
    fn witnessed(witness: Witness, late: Duration, after: i64) -> Scene {
        let mut stage = Self::new();
        stage.sigstore = LocalSigstore::witnessed(witness, stage.scene.now).late(late);
        let identity = format!("[[identity]]\nname = \"acme\"\nroot = \"root.json\"\n{WORKFLOW}");
        let scene = stage.policy(&identity, EXACT, &["acme"]).built(&BuiltBy::RELEASE).scene;
        let by = Duration::from_secs(after.unsigned_abs());
        Scene { now: if after < 0 { scene.now - by } else { scene.now + by }, ..scene }
    }
}

const HOUR: i64 = 3600;

#[test]
fn a_clock_long_after_the_certificate_changes_nothing_and_one_before_it_proves_nothing() {
    for witness in WITNESSES {
        for (after, want) in [
            (0, "signed [acme] index"),
            // The certificate was valid for minutes.
            (24 * HOUR, "signed [acme] index"),
            (20_000 * HOUR, "signed [acme] index"),
            // It was signed a minute before now.
            (-HOUR, "refused not-proven"),
            (-20_000 * HOUR, "refused not-proven"),
        ] {
            let scene = Stage::witnessed(witness, Duration::ZERO, after);
            check(&scene, want);
            if after < 0 {
                let said = scene.judge().examined[0].outcome.to_string();
                assert!(said.contains("it was made later than the clock of this machine says"), "{witness:?}: {said}");
            }
        }
    }
}

#[test]
fn a_clock_that_is_seconds_slow_believes_a_timestamp() {
    for (witness, want) in [
        (Witness::Clock, "signed [acme] index"),
        (Witness::LogAndClock, "signed [acme] index"),
        (Witness::Log, "refused not-proven"),
    ] {
        check(&Stage::witnessed(witness, Duration::ZERO, -65), want);
        check(&Stage::witnessed(witness, Duration::ZERO, -75), "refused not-proven");
    }
}

#[test]
fn what_was_witnessed_after_the_certificate_expired_proves_nothing() {
    for witness in WITNESSES {
        check(&Stage::witnessed(witness, Duration::from_mins(8), HOUR), "signed [acme] index");
        let late = Stage::witnessed(witness, Duration::from_mins(10), HOUR);
        check(&late, "refused not-proven");
        let said = late.judge().examined[0].outcome.to_string();
        assert!(said.contains("not valid when the signature was made"), "{witness:?}: {said}");
    }
}

/// A certificate that is valid now proves nothing without a witness: whoever has its key may sign later.
#[test]
fn a_certificate_without_a_witness_proves_nothing_even_while_it_is_valid() {
    for witness in WITNESSES {
        let mut scene = Stage::witnessed(witness, Duration::ZERO, 0);
        let Evidence::Bundle { bytes, .. } = &scene.evidence[0] else { panic!("a bundle") };
        let mut bundle: Value = serde_json::from_slice(bytes).expect("JSON");
        let material = bundle["verificationMaterial"].as_object_mut().expect("an object");
        material.remove("timestampVerificationData");
        material.remove("tlogEntries");
        let bytes = bundle.to_string().into_bytes();
        scene.evidence = vec![Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }];
        check(&scene, "refused not-proven");
    }
}
