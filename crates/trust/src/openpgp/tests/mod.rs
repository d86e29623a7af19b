//! Keys and signatures that `GnuPG` made (`testdata/trust/gpg`), good and bad.

mod damage;
mod parts;
mod secret_key;

use std::time::{Duration, UNIX_EPOCH};

use super::*;

/// Noon of 2026-01-01, when nothing has been changed for half a year.
const NOW: u64 = 1_767_268_800;

fn read(name: &str) -> Vec<u8> {
    let path = format!("{}/../../testdata/trust/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn sums() -> Vec<u8> {
    read("gpg/SHA256SUMS")
}

fn keys(name: &str) -> Vec<OpenPgpKey> {
    OpenPgpKey::parse(&read(name)).unwrap()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A result in one line, with the fingerprints, which are others each time they are made, taken out.
fn told(result: &VerifyResult) -> String {
    let text = match result {
        Ok(OpenPgpSignature { signed_by, standing, key, .. }) => {
            let by = if key.openpgp_fingerprint().as_ref() == Some(signed_by) { "primary key" } else { "subkey" };
            match standing {
                KeyStanding::Good => format!("good, by the {by}"),
                KeyStanding::Expired { what, when } => {
                    format!("good, by the {by}; {} expired {}", part(what), tofu_oci_types::Moment::from(*when).day())
                }
                KeyStanding::Retired { part, when, reason } => {
                    format!("good, by the {by}; {part} {reason} {}", tofu_oci_types::Moment::from(*when).day())
                }
            }
        }
        Err(fault) => fault.to_string(),
    };
    let hex = |word: &&str| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = |word: &str| {
        let bare = word.trim_start_matches("openpgp:").trim_end_matches(',');
        if hex(&bare) { word.replace(bare, "[..]") } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ").replace(" [..] expired", " expired")
}

fn part(what: &Expired) -> String {
    match what {
        Expired::Key(part) => part.to_string(),
        Expired::Signature => "signature".to_owned(),
        Expired::Binding(part) => format!("binding of {part}"),
    }
}

#[track_caller]
fn check(key: &str, signature: &str, want: &str) {
    let result = verify_detached(&sums(), &read(&format!("gpg/{signature}")), &keys(&format!("gpg/{key}")), at(NOW));
    assert_eq!(told(&result), want, "{key}, {signature}");
}

#[test]
fn good_signatures_of_every_algorithm() {
    for name in ["rsa", "ed25519", "p256", "p384", "p521"] {
        check(&format!("{name}.pgp"), &format!("{name}.sig"), "good, by the subkey");
    }
    check("primary.pgp", "primary.sig", "good, by the primary key");
    check("rsa.pgp", "rsa-sha512.sig", "good, by the subkey");
    check("rsa.pgp", "rsa-text.sig", "good, by the subkey");
}

#[test]
fn armored_files() {
    check("rsa.asc", "rsa.sig.asc", "good, by the subkey");
    check("rsa.pgp", "rsa.sig.asc", "good, by the subkey");
}

#[test]
fn version_6() {
    let result = verify_detached(&sums(), &read("openpgp-v6/v6.sig"), &keys("openpgp-v6/v6.pgp"), at(NOW));
    assert_eq!(told(&result), "good, by the subkey");
    let result = verify_detached(b"other", &read("openpgp-v6/v6.sig"), &keys("openpgp-v6/v6.pgp"), at(NOW));
    assert_eq!(told(&result), "the OpenPGP signature does not fit: openpgp:[..] did not sign this text");
}

#[test]
fn tells_who_signed_and_when() {
    let keys = keys("gpg/rsa.pgp");
    let found = verify_detached(&sums(), &read("gpg/rsa.sig"), &keys, at(NOW)).unwrap();
    assert_eq!(found.key, keys[0].id());
    assert!(found.key.to_string().starts_with("openpgp:"), "{}", found.key);
    assert_eq!(found.created, at(1_717_243_200));
    assert_eq!(found.signed_by.len(), 40);
    assert_eq!(keys[0].user_ids(), ["rsa <rsa@example.com>"]);
}

#[test]
fn several_keys_and_several_signatures_in_one_file() {
    let mut both = read("gpg/ed25519.pgp");
    both.extend(read("gpg/rsa.pgp"));
    let both = OpenPgpKey::parse(&both).unwrap();
    assert_eq!(both.len(), 2);
    let (two, now) = (read("gpg/two.sig"), at(NOW));
    let signers = |keys: &[OpenPgpKey]| -> Vec<String> {
        verify_each(&sums(), &two, keys, now).unwrap().iter().map(told).collect()
    };
    assert_eq!(signers(&both), ["good, by the subkey"; 2]);
    let stranger = "the OpenPGP signature was made by [..], which is not one of the keys";
    let mut one = signers(&both[..1]);
    one.sort();
    assert_eq!(one, ["good, by the subkey", stranger]);
    check("ed25519.pgp", "two.sig", "good, by the subkey");
    check("rsa.pgp", "two.sig", "good, by the subkey");
    check("p256.pgp", "two.sig", stranger);
    let armored = [read("gpg/rsa.asc"), read("gpg/rsa.asc")].concat();
    assert_eq!(OpenPgpKey::parse(&armored).unwrap().len(), 1, "a copy is the same one");
}

#[test]
fn swapped_sha256sums() {
    let result = verify_detached(&read("gpg/SHA256SUMS.swapped"), &read("gpg/rsa.sig"), &keys("gpg/rsa.pgp"), at(NOW));
    assert_eq!(told(&result), "the OpenPGP signature does not fit: openpgp:[..] did not sign this text");
}

#[test]
fn wrong_key() {
    check("ed25519.pgp", "rsa.sig", "the OpenPGP signature was made by [..], which is not one of the keys");
    let result = verify_detached(&sums(), &read("gpg/rsa.sig"), &[], at(NOW));
    assert_eq!(told(&result), "the OpenPGP signature was made by [..], which is not one of the keys");
}

#[test]
fn weak_digest_of_the_document() {
    check("rsa.pgp", "rsa-sha1.sig", "the signature uses SHA-1, which can be forged");
    check("rsa.pgp", "rsa-md5.sig", "the signature uses MD5, which can be forged");
    check("rsa.pgp", "rsa-ripemd160.sig", "the signature uses RIPEMD-160, which can be forged");
}

#[test]
fn weak_digest_within_the_key() {
    check("sha1-self.pgp", "sha1-self.sig", "the primary key's signature of itself uses SHA-1, which can be forged");
    check("md5-binding.pgp", "md5-binding.sig", "the signature that binds the subkey uses MD5, which can be forged");
    let mut keys = keys("gpg/md5-binding.pgp");
    keys[0].subkeys[0].bindings.0[0].signature.weak = None;
    let result = verify_detached(&sums(), &read("gpg/md5-binding.sig"), &keys, at(NOW));
    assert_eq!(told(&result), "the subkey's signature of the primary key uses MD5, which can be forged");
}

#[test]
fn weak_keys() {
    let weak = |problem: &str| format!("the primary key of openpgp:[..] cannot be trusted: {problem}");
    check("rsa1024.pgp", "rsa1024.sig", &weak("it is an RSA key of 1024 bits; at least 2048 are needed"));
    check("dsa.pgp", "dsa.sig", &weak("it is a DSA key"));
    check("secp256k1.pgp", "secp256k1.sig", &weak("it is an ECDSA key on secp256k1"));
}

#[test]
fn expired_key() {
    check("expired-key.pgp", "expired-key.sig", "good, by the primary key; primary key expired 2025-01-01");
    check("renewed-key.pgp", "expired-key.sig", "good, by the primary key");
    check("renewed-key.pgp", "expired-key-late.sig", "good, by the primary key");
}

#[test]
fn key_was_good_at_the_time() {
    let result =
        verify_detached(&sums(), &read("gpg/expired-key.sig"), &keys("gpg/expired-key.pgp"), at(1_720_000_000));
    assert_eq!(told(&result), "good, by the primary key");
}

#[test]
fn signed_after_the_key_expired() {
    let late = "the signature is dated 2025-06-01, after the";
    check(
        "expired-key.pgp",
        "expired-key-late.sig",
        &format!("{late} primary key of openpgp:[..] expired on 2025-01-01"),
    );
    check(
        "expired-subkey.pgp",
        "expired-subkey-late.sig",
        &format!("{late} subkey [..] of openpgp:[..] expired on 2025-01-01"),
    );
}

#[test]
fn expired_subkey() {
    check("expired-subkey.pgp", "expired-subkey.sig", "good, by the subkey; subkey expired 2025-01-01");
}

#[test]
fn expired_signature() {
    check("rsa.pgp", "rsa-expires.sig", "good, by the subkey; signature expired 2024-07-01");
}

#[test]
fn revoked_key() {
    let revoked = |reason: &str| format!("the primary key of openpgp:[..] was revoked on 2025-01-01: {reason}");
    for (name, reason) in [("unknown", "no reason given"), ("compromised", "the secret key is compromised")] {
        let key = format!("revoked-{name}.pgp");
        check(&key, &format!("revoked-{name}.sig"), &revoked(reason));
        check(&key, &format!("revoked-{name}-late.sig"), &revoked(reason));
    }
    for (name, reason) in [("superseded", "superseded by another key"), ("retired", "retired")] {
        let key = format!("revoked-{name}.pgp");
        let before = format!("good, by the primary key; primary key {reason} 2025-01-01");
        check(&key, &format!("revoked-{name}.sig"), &before);
        check(&key, &format!("revoked-{name}-late.sig"), &revoked(reason));
    }
}

#[test]
fn revoked_subkey() {
    let revoked = |reason: &str| format!("the subkey [..] of openpgp:[..] was revoked on 2025-01-01: {reason}");
    for (name, reason) in [("unknown", "no reason given"), ("compromised", "the secret key is compromised")] {
        let key = format!("subkey-{name}.pgp");
        check(&key, &format!("subkey-{name}.sig"), &revoked(reason));
        check(&key, &format!("subkey-{name}-late.sig"), &revoked(reason));
        check(&format!("subkey-{name}-before.pgp"), &format!("subkey-{name}.sig"), "good, by the subkey");
    }
    for (name, reason) in [("superseded", "superseded by another key"), ("retired", "retired")] {
        let key = format!("subkey-{name}.pgp");
        let before = format!("good, by the subkey; subkey [..] {reason} 2025-01-01");
        check(&key, &format!("subkey-{name}.sig"), &before);
        check(&key, &format!("subkey-{name}-late.sig"), &revoked(reason));
    }
}

#[test]
fn revoked_in_one_of_two_copies() {
    let (before, after) = (keys("gpg/subkey-compromised-before.pgp"), keys("gpg/subkey-compromised.pgp"));
    for keys in [[before.clone(), after.clone()].concat(), [after, before].concat()] {
        let result = verify_detached(&sums(), &read("gpg/subkey-compromised.sig"), &keys, at(NOW));
        assert!(matches!(result, Err(OpenPgpFault::Revoked { .. })), "{result:?}");
    }
}

#[test]
fn revoked_user_id() {
    let revoked = "the user id of openpgp:[..] was revoked on 2025-01-01: the user id is no longer valid";
    check("revoked-uid.pgp", "revoked-uid.sig", "good, by the primary key");
    check("revoked-uid.pgp", "revoked-uid-late.sig", revoked);
    check("one-revoked-uid.pgp", "revoked-uid-late.sig", "good, by the primary key");
}

#[test]
fn revoked_by_an_appointed_revoker() {
    let revoked = "the primary key of openpgp:[..] was revoked on 2025-01-01: the secret key is compromised";
    check("appointed.pgp", "appointed.sig", revoked);
    check("appointed-before.pgp", "appointed.sig", "good, by the primary key");
}

#[test]
fn key_that_is_not_for_signing() {
    let other = "the primary key of openpgp:[..] is not meant for signing";
    check("not-for-signing.pgp", "not-for-signing.sig", other);
}

#[test]
fn signed_before_the_key_was_made() {
    check(
        "rsa.pgp",
        "rsa-before.sig",
        "the signature is dated 2023-12-01, before the primary key of openpgp:[..] was made (2024-01-01)",
    );
}

#[test]
fn signed_in_the_future() {
    let future = "the signature by openpgp:[..] is dated 2030-01-01, which is in the future";
    check("rsa.pgp", "rsa-future.sig", future);
    let (signature, keys) = (read("gpg/rsa.sig"), keys("gpg/rsa.pgp"));
    let made = 1_717_243_200;
    assert!(verify_detached(&sums(), &signature, &keys, at(made - 300)).is_ok());
    assert!(verify_detached(&sums(), &signature, &keys, at(made - 301)).is_err());
}

#[test]
fn critical_notation() {
    check(
        "rsa.pgp",
        "rsa-critical.sig",
        "the OpenPGP signature is of a kind that is not supported: the critical notation \"release@example.com\"",
    );
}
