//! Keys that sign.

use std::sync::LazyLock;

use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use super::*;

const SEED: [u8; 32] = [7; 32];

/// Made once: it takes seconds.
static NEW: LazyLock<OpenPgpSecretKey> = LazyLock::new(generated);

fn generated() -> OpenPgpSecretKey {
    OpenPgpSecretKey::generate("a bridge", at(NOW), &Zeroizing::new(SEED))
}

#[track_caller]
fn check(file: &str, password: Option<&str>, want: &str) {
    let password = password.map(Secret::new);
    let found = match OpenPgpSecretKey::parse(&read(&format!("gpg-secret/{file}")), password.as_ref(), at(NOW)) {
        Ok(key) => {
            let certificate = OpenPgpKey::parse(key.public().as_bytes()).unwrap();
            let signature = key.sign(&sums());
            assert_eq!(signature, key.sign(&sums()), "the same text gets the same signature");
            let result = verify_detached(&sums(), &signature, &certificate, at(NOW));
            let dated = result.as_ref().map(|found| tofu_oci_types::Moment::from(found.created).day());
            format!("{}, dated {}", told(&result), dated.unwrap())
        }
        Err(error) => match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {}", without_key_ids(&cause.to_string())),
            None => error.to_string(),
        },
    };
    assert_eq!(found, want, "{file}");
}

fn without_key_ids(text: &str) -> String {
    let word = |word: &str| if word.starts_with("openpgp:") { "KEY".to_owned() } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_of_gnupg_sign() {
    check("ed25519.asc", None, "good, by the primary key, dated 2024-01-01");
    check("ed25519.gpg", None, "good, by the primary key, dated 2024-01-01");
    check("ed25519.asc", Some("not needed"), "good, by the primary key, dated 2024-01-01");
    check("rsa.asc", None, "good, by the primary key, dated 2024-01-01");
    check("locked.asc", Some("the password"), "good, by the primary key, dated 2024-01-01");
    check("subkey.asc", None, "good, by the subkey, dated 2024-03-01");
}

#[test]
fn of_two_armored_keys_in_a_file_the_second_was_passed_over_in_silence() {
    let two = [read("gpg-secret/ed25519.asc"), read("gpg-secret/rsa.asc")].concat();
    assert_eq!(OpenPgpSecretKey::parse(&two, None, at(NOW)).unwrap_err(), OpenPgpSecretKeyError::Malformed);
}

#[test]
fn keys_that_cannot_sign_are_refused() {
    check("locked.asc", None, "the OpenPGP key is encrypted, and no password was given");
    check("locked.asc", Some("another"), "the password of the OpenPGP key is wrong");
    check("expired.asc", None, "the OpenPGP key has expired or was retired");
    check(
        "certifies.asc",
        None,
        "signatures of the OpenPGP key would not count: the primary key of KEY is not meant for signing",
    );
    check(
        "ed25519-public.asc",
        None,
        "this is an OpenPGP public key; what signs is a secret key (gpg --export-secret-keys --armor)",
    );
    check("make.sh", None, "it is not one OpenPGP secret key, armored or binary");
}

#[test]
fn two_keys_in_a_file_are_refused() {
    let two = [read("gpg-secret/ed25519.gpg"), read("gpg-secret/ed25519.gpg")].concat();
    assert_eq!(OpenPgpSecretKey::parse(&two, None, at(NOW)).unwrap_err(), OpenPgpSecretKeyError::Malformed);
    let long = vec![b' '; KEYS_LIMIT + 1];
    let error = OpenPgpSecretKey::parse(&long, None, at(NOW)).unwrap_err();
    assert_eq!(error, OpenPgpSecretKeyError::TooLarge { bytes: KEYS_LIMIT + 1, limit: KEYS_LIMIT });
}

#[test]
fn a_damaged_key_is_an_error_and_no_panic() {
    let whole = read("gpg-secret/ed25519.gpg");
    for length in 0..whole.len() {
        assert!(OpenPgpSecretKey::parse(&whole[..length], None, at(NOW)).is_err(), "{length}");
        let mut changed = whole.clone();
        changed[length] ^= 0x55;
        let _ = OpenPgpSecretKey::parse(&changed, None, at(NOW));
    }
}

#[test]
fn a_new_key_is_decided_by_its_seed() {
    let (one, same) = (&*NEW, generated());
    assert_eq!(one.armored().as_str(), same.armored().as_str());
    assert_eq!(one.sign(&sums()), same.sign(&sums()));
}

#[test]
fn a_new_key_is_read_again_and_signs() {
    let key = &*NEW;
    let read = OpenPgpSecretKey::parse(key.armored().as_bytes(), None, at(NOW)).unwrap();
    assert_eq!(read.sign(&sums()), key.sign(&sums()), "an instance that read the key signs as the one that made it");
    let certificate = OpenPgpKey::parse(key.public().as_bytes()).unwrap();
    assert_eq!(told(&verify_detached(&sums(), &key.sign(&sums()), &certificate, at(NOW))), "good, by the primary key");
    assert_eq!((key.fingerprint().len(), &key.fingerprint()[24..]), (40, key.key_id().as_str()));
    assert_eq!(certificate[0].user_ids(), ["a bridge"]);
    let other = verify_detached(b"another text", &key.sign(&sums()), &certificate, at(NOW));
    assert!(matches!(other, Err(OpenPgpFault::BadSignature { .. })), "{other:?}");
}

#[test]
fn a_secret_key_is_never_printed() {
    let key = &*NEW;
    assert_eq!(format!("{key:?}"), format!("OpenPgpSecretKey({}, the secret masked)", key.fingerprint()));
}

#[test]
fn a_signature_loses_its_armor() {
    let armored = read("gpg/rsa.sig.asc");
    let binary = binary_signature(&armored).unwrap();
    assert_eq!(binary_signature(&binary).unwrap(), binary);
    assert!(verify_detached(&sums(), &binary, &keys("gpg/rsa.pgp"), at(NOW)).is_ok());
    let error = binary_signature(&read("gpg-secret/ed25519.asc")).unwrap_err();
    assert_eq!(error.to_string(), "the OpenPGP signature is malformed: it is a secret key");
}
