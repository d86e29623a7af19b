//! Damaged files, and files that hold something else.

use super::*;
use crate::openpgp::{KEYS_LIMIT, SIGNATURES_LIMIT};

#[test]
fn one_bit_of_the_document() {
    let (signature, keys) = (read("gpg/ed25519.sig"), keys("gpg/ed25519.pgp"));
    let mut document = sums();
    for bit in 0..document.len() * 8 {
        document[bit / 8] ^= 1 << (bit % 8);
        let result = verify_detached(&document, &signature, &keys, at(NOW));
        assert!(matches!(result, Err(OpenPgpFault::BadSignature { .. })), "bit {bit}: {result:?}");
        document[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Bits that nothing protects, and that change nothing: what kind of note the copy of the key's short id is, and how
/// many bits a number is said to have, where it has as many bytes all the same.
#[test]
fn one_bit_of_the_signature() {
    let (document, keys) = (sums(), keys("gpg/ed25519.pgp"));
    let mut signature = read("gpg/ed25519.sig");
    let whole = verify_detached(&document, &signature, &keys, at(NOW)).unwrap();
    let short_id = &whole.signed_by[24..];
    let bytes: Vec<String> = signature.iter().map(|byte| format!("{byte:02X}")).collect();
    let unprotected = bytes.windows(8).position(|window| window.concat() == *short_id).unwrap() - 1;
    let mut harmless = 0;
    for bit in 0..signature.len() * 8 {
        signature[bit / 8] ^= 1 << (bit % 8);
        if let Ok(found) = verify_detached(&document, &signature, &keys, at(NOW)) {
            assert_eq!(found, whole, "bit {bit}");
            assert!(bit / 8 >= unprotected, "bit {bit}");
            harmless += 1;
        }
        signature[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(harmless <= 16, "{harmless}");
}

#[test]
fn one_bit_of_the_key() {
    let (document, signature, whole) = (sums(), read("gpg/ed25519.sig"), keys("gpg/ed25519.pgp")[0].id());
    let mut key = read("gpg/ed25519.pgp");
    let mut harmless = 0;
    for byte in (0..key.len()).step_by(3) {
        key[byte] ^= 1 << (byte % 8);
        if let Ok(keys) = OpenPgpKey::parse(&key)
            && let Ok(found) = verify_detached(&document, &signature, &keys, at(NOW))
        {
            assert_eq!((found.key, found.standing), (whole.clone(), KeyStanding::Good), "byte {byte}");
            harmless += 1;
        }
        key[byte] ^= 1 << (byte % 8);
    }
    // What nothing protects: copies of short ids, counts of bits, and signatures of what is not needed here.
    assert!(harmless <= key.len() / 3 / 4, "{harmless} of {}", key.len() / 3);
}

#[track_caller]
fn check_file(signature: &[u8], want: &str) {
    let result = verify_detached(&sums(), signature, &keys("gpg/rsa.pgp"), at(NOW));
    assert_eq!(told(&result), want);
}

#[test]
fn signature_files_that_are_none() {
    let malformed = |problem: &str| format!("the OpenPGP signature is malformed: {problem}");
    let signature = read("gpg/rsa.sig");
    check_file(b"", &malformed("it is empty"));
    check_file(b"hello", &malformed("it has text outside of the ASCII armor"));
    check_file(&signature[..signature.len() - 1], &malformed("it ends within a packet"));
    check_file(&[&signature[..], b"\n"].concat(), &malformed("it has bytes that are not a packet"));
    check_file(
        &[&signature[..], &[0xca, 3, b'P', b'G', b'P']].concat(),
        &malformed("it has a packet that is not a signature (Marker)"),
    );
    check_file(&signature.repeat(65), &malformed("it has more than 64 signatures"));
    check_file(&read("gpg/rsa-inline.gpg"), &malformed("it has a packet without a length"));
    check_file(
        &read("gpg/rsa-clear.asc"),
        &malformed("it is a \"PGP SIGNED MESSAGE\" where a \"PGP SIGNATURE\" belongs"),
    );
    check_file(&read("gpg/rsa.pgp"), &malformed("it has a packet that is not a signature (PublicKey)"));
    check_file(&vec![0; SIGNATURES_LIMIT + 1], "the OpenPGP signature has 65537 bytes, and at most 65536 are read");
    let document = vec![b'\n'; SUMS_LIMIT + 1];
    let result = verify_detached(&document, &signature, &keys("gpg/rsa.pgp"), at(NOW));
    assert_eq!(told(&result), "the document has 1048577 bytes, and at most 1048576 are read");
}

#[track_caller]
fn check_key(file: &[u8], want: &str) {
    assert_eq!(OpenPgpKey::parse(file).map(|keys| keys.len()).unwrap_err().to_string(), want);
}

#[test]
fn key_files_that_are_none() {
    let malformed = |problem: &str| format!("the OpenPGP key is malformed: {problem}");
    let key = read("gpg/ed25519.pgp");
    check_key(b"", &malformed("it is empty"));
    check_key(
        b"-----BEGIN PUBLIC KEY-----\n",
        &malformed("it is a \"PUBLIC KEY\" where a \"PGP PUBLIC KEY BLOCK\" belongs"),
    );
    check_key(&[&key[..], b"garbage"].concat(), &malformed("it has bytes that are not a packet"));
    check_key(&key[..key.len() - 1], &malformed("it ends within a packet"));
    check_key(&[0xca, 3, b'P', b'G', b'P'], &malformed("it holds no key"));
    check_key(&read("gpg/rsa.sig"), &malformed("it does not begin with a public key"));
    check_key(&vec![0x80; KEYS_LIMIT + 1], "the OpenPGP key file has 1048577 bytes, and at most 1048576 are read");
    let secret = "this is an OpenPGP secret key; what verifies signatures is its public key (gpg --export --armor)";
    check_key(&[0xc5, 1, 4], secret);
    check_key(b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n", secret);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_panic(noise: Vec<u8>, place in 0_usize..400, key: bool) {
        let mut file = read(if key { "gpg/ed25519.pgp" } else { "gpg/ed25519.sig" });
        let place = place.min(file.len());
        let end = (place + noise.len()).min(file.len());
        file.splice(place..end, noise.iter().copied());
        for file in [&file, &noise] {
            let keys = OpenPgpKey::parse(file).unwrap_or_default();
            let _ = verify_each(&noise, file, &keys, at(NOW));
            let _ = verify_each(&noise, &read("gpg/ed25519.sig"), &keys, at(NOW));
        }
    }
}
