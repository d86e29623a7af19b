//! One key in several forms and under several names: it counts once.

use super::sums::{file, scene, sums};
use super::*;
use crate::testing::bundle;
use crate::{PrivateKey, SignedSubject, sign_bundle};

/// A bundle by the private key in PEM that `cosign-rsa.pgp` has, too.
fn bundle_in_pem() -> Evidence {
    let key = PrivateKey::from_pem(&file("../cosign/test-keys/rsa-2048.pem"), None).expect("a private key");
    let bytes = crate::testing::subject(|subject: &SignedSubject<'_>| sign_bundle(&key, subject, None));
    Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }
}

const IN_PEM: &str = "../cosign/test-keys/rsa-2048.pub";

#[test]
fn a_threshold_of_two_is_not_met_by_two_certificates_of_one_key() {
    let both = [sums(&["twin-one.sig", "twin-two.sig"])];
    for keys in [&["twins.pgp"][..], &["twin-one.pgp", "twin-two.pgp"]] {
        let two = scene(keys, "threshold = 2");
        check(&two.clone().found(both.clone()), "refused threshold");
        check(&two.found([sums(&["twin-one.sig"]), bundle(1)]), &format!("signed [a {}] 2 zips", keys[0]));
    }
}

#[test]
fn a_threshold_of_two_is_not_met_by_a_primary_key_that_is_a_subkey_elsewhere() {
    let two = scene(&["twin-one.pgp", "holder.pgp"], "threshold = 2");
    check(&two.clone().found([sums(&["twin-one.sig", "holder.sig"])]), "refused threshold");
    check(
        &scene(&["holder.pgp"], "threshold = 2").found([sums(&["holder.sig"]), bundle(1)]),
        "signed [a holder.pgp] 2 zips",
    );
}

#[test]
fn a_threshold_of_two_is_not_met_by_one_key_as_pem_and_as_openpgp() {
    let two = scene(&[IN_PEM, "cosign-rsa.pgp"], "threshold = 2");
    let both = || [sums(&["cosign-rsa.sig"]), bundle_in_pem()];
    check(&two.found(both()), "refused threshold");
    let one = scene(&[IN_PEM, "cosign-rsa.pgp"], "").found(both());
    check(&one, &format!("signed [{IN_PEM} cosign-rsa.pgp] index 2 zips"));
}

/// Whoever has stolen a key has it in every form.
#[test]
fn a_key_that_one_certificate_revokes_as_compromised_counts_in_no_other_form() {
    const REVOKED: &str = "cosign-rsa-compromised.pgp";
    for (keys, evidence) in [
        (&[IN_PEM, REVOKED], bundle_in_pem()),
        (&["cosign-rsa.pgp", REVOKED], sums(&["cosign-rsa.sig"])),
        (&["holder.pgp", REVOKED], sums(&["holder.sig"])),
    ] {
        let alone = scene(&keys[..1], "").found([evidence.clone()]);
        assert_eq!(alone.judge().standing, Standing::Signed, "{keys:?}");
        let both = scene(keys, "").found([evidence.clone()]);
        if keys[0] == "holder.pgp" {
            assert_eq!(both.judge().standing, Standing::Signed, "other material");
            continue;
        }
        check(&both, "refused revoked-key");
        // Also if only the pin remembers the signature.
        let pinned = Scene { policy: both.policy.clone(), ..alone.remembered().found([]) };
        check(&pinned, "refused was-signed");
    }
    let both = scene(&[IN_PEM, REVOKED], "").found([bundle_in_pem()]);
    insta::assert_snapshot!(both.judge().refusal.unwrap(), @"the same key was revoked in the certificate openpgp:208D5D8C7C9F42C1B4109D280E736CAD82457715: the secret key is compromised");
}

#[test]
fn one_key_in_two_forms_says_how_many_have_signed() {
    let two = scene(&["twins.pgp"], "threshold = 2").found([sums(&["twin-one.sig", "twin-two.sig"])]);
    let refusal = two.judge().refusal.expect("a refusal");
    insta::assert_snapshot!(refusal, @"it is signed by 1 key (twins.pgp), and 2 are asked for");
}

#[test]
fn what_one_key_in_two_forms_has_signed_does_not_reach_the_pinned_threshold() {
    // Two keys have signed 1.4.0 of another index; then a rule with a threshold of one lets one key in twice.
    let two = scene(&["twins.pgp"], "threshold = 2").found([sums(&["twin-one.sig"]), bundle(1)]).remembered();
    assert_eq!(two.pins.signed(&two.address).map(|signed| signed.threshold), Some(2));
    let mut lax = scene(&["twins.pgp"], "").found([sums(&["twin-one.sig", "twin-two.sig"])]);
    (lax.pins, lax.identity) = (two.pins, identity("another"));
    lax.place = "mirror.example.com/acme/widget".parse().unwrap();
    let pinned = lax.remembered();
    let again = pinned.clone().policy_of("twins.pgp").found([]);
    check(&again, "refused was-signed");
    check(&pinned.clone().without_policy().found([]), "refused was-signed");
    let read = Scene { pins: Pins::parse(&pinned.pins.to_text()).unwrap(), ..pinned };
    check(&read.without_policy().found([]), "refused was-signed");
}

#[test]
fn a_key_of_two_namespaces_in_two_certificates_speaks_for_neither_alone() {
    let text = "[[key]]\nname = \"one\"\nfile = \"twin-one.pgp\"\n[[key]]\nname = \"two\"\nfile = \"twin-two.pgp\"\n\
                [[rule]]\nproviders = [\"example.com/acme/*\"]\nkeys = [\"one\"]\n\
                [[rule]]\nproviders = [\"example.com/beta/*\"]\nkeys = [\"two\"]\n";
    let mut shared = scene(&[], "").found([sums(&["twin-one.sig"])]);
    shared.policy = Policy::parse(text).unwrap().resolve(|path| Ok(file(path.to_str().unwrap()))).unwrap();
    check(&shared, "refused unnamed-signature");
}

#[test]
fn pins_of_an_earlier_program_count_certificates_of_unknown_material_once() {
    let two = scene(&["rsa.pgp", "ed25519.pgp"], "threshold = 2");
    let two = two.found([sums(&["rsa.sig", "ed25519.sig"])]).remembered().without_policy().found([]);
    check(&two, "pinned [] 2 zips; Note signature-gone");
    let text = two.pins.to_text();
    assert!(text.contains("\"materials\": ["), "{text}");
    let mut earlier: serde_json::Value = serde_json::from_str(&text).unwrap();
    for list in ["providers", "signed"] {
        for signer in earlier[list][0]["signers"].as_array_mut().unwrap() {
            signer.as_object_mut().unwrap().remove("materials");
        }
    }
    let earlier = Scene { pins: Pins::parse(&earlier.to_string()).unwrap(), ..two };
    check(&earlier, "refused was-signed");
    let ruled = Scene { policy: scene(&["rsa.pgp", "ed25519.pgp"], "threshold = 2").policy, ..earlier };
    check(&ruled, "pinned [] 2 zips; Note signature-gone");
}

#[test]
fn a_key_in_pem_has_no_materials_of_its_own_in_the_pins() {
    let text = Scene::with_policy(&[1], "").found([bundle(1)]).remembered().pins.to_text();
    let mut pins: serde_json::Value = serde_json::from_str(&text).unwrap();
    pins["signed"][0]["signers"][0]["materials"] = serde_json::json!([format!("sha256:{}", "0".repeat(64))]);
    let error = Pins::parse(&pins.to_string()).unwrap_err().to_string();
    assert!(error.ends_with("only an OpenPGP key has `materials` here"), "{error}");
}

impl Scene {
    /// The key file and key 1 count, and both must have signed.
    fn policy_of(mut self, name: &str) -> Self {
        self.policy = scene(&[name], "threshold = 2").policy;
        self
    }
}
