//! Key files, as cosign and OpenSSL write them.

use p256::pkcs8::der::Encode as _;
use p256::pkcs8::der::asn1::ObjectIdentifier;

use tofu_oci_types::Secret;

use crate::fixtures::{PASSWORD, bytes, private, public};
use crate::keys::{KeyError, KeyKind, PublicKey};
use crate::signer::PrivateKey;

#[track_caller]
fn check_public(name: &str, want: Result<KeyKind, &str>) {
    let got = PublicKey::from_pem(&bytes(&format!("test-keys/{name}")));
    let got = got.map(|key| key.kind()).map_err(|error| error.to_string());
    assert_eq!(got.as_ref().map_err(String::as_str), want.as_ref().map_err(|error| *error), "{name}");
}

/// `want`: the file with the public half.
#[track_caller]
fn check_private(name: &str, password: Option<&str>, want: Result<&str, &str>) {
    let got = PrivateKey::from_pem(&bytes(&format!("test-keys/{name}")), password.map(Secret::new).as_ref());
    match (got, want) {
        (Ok(key), Ok(want)) => assert_eq!(*key.public(), public(want), "{name}"),
        (Err(error), Err(want)) => assert_eq!(error.to_string(), want, "{name}"),
        (got, want) => panic!("{name}: {got:?}, not {want:?}"),
    }
}

fn unsupported(algorithm: &str) -> String {
    format!("{algorithm} is not supported; use ECDSA P-256 or P-384, Ed25519, or RSA of 2048 bits or more")
}

#[test]
fn public_keys() {
    check_public("p256-cosign.pub", Ok(KeyKind::EcdsaP256));
    check_public("p256.pub", Ok(KeyKind::EcdsaP256));
    check_public("p384.pub", Ok(KeyKind::EcdsaP384));
    check_public("ed25519.pub", Ok(KeyKind::Ed25519));
    check_public("rsa-2048.pub", Ok(KeyKind::Rsa { bits: 2048 }));
    check_public("rsa-2048-pkcs1.pub", Ok(KeyKind::Rsa { bits: 2048 }));
    check_public("rsa-4096.pub", Ok(KeyKind::Rsa { bits: 4096 }));
    check_public("rsa-8192.pub", Ok(KeyKind::Rsa { bits: 8192 }));
    check_public("rsa-1024.pub", Err("the RSA key has 1024 bits; at least 2048 are needed"));
    check_public("p521.pub", Err(&unsupported("ECDSA over P-521")));
    check_public("secp256k1.pub", Err(&unsupported("ECDSA over secp256k1")));
    check_public("p256-explicit.pub", Err(&unsupported("ECDSA over a curve without a name")));
    check_public("ed448.pub", Err(&unsupported("Ed448")));
    check_public("rsa-pss.pub", Err(&unsupported("an RSA key for PSS only")));
    for private in ["p256.pem", "p256.key", "rsa-2048.pem", "p256-pkcs8.pem"] {
        check_public(private, Err("this is a private key; what verifies signatures is its public key"));
    }
}

#[test]
fn other_files() {
    let check = |file: &[u8], want: &str| {
        let error = PublicKey::from_pem(file).expect_err("no key");
        assert_eq!(error.to_string(), format!("the key is malformed: {want}"));
    };
    check(b"", "the file holds no PEM block `PUBLIC KEY`");
    check(&[bytes("test-keys/p256.pub"), bytes("test-keys/p384.pub")].concat(), "the file holds more than one key");
    check(
        b"-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n",
        "it is a certificate; `openssl x509 -pubkey -noout` prints the public key in it",
    );
    check(b"-----BEGIN X-----\n-----END X-----\n", "the PEM block is a `X`, not a `PUBLIC KEY`");
    let damaged = b"-----BEGIN PUBLIC KEY-----\nAQID\n-----END PUBLIC KEY-----\n";
    let error = PublicKey::from_pem(damaged).expect_err("no key").to_string();
    assert!(error.starts_with("the key is malformed: it is not a public key: "), "{error}");
}

/// Whatever the file: the same key has the same id, and is written as OpenSSL writes it.
#[test]
fn one_key_has_one_form() {
    for (other, name) in [("p256-compressed", "p256"), ("rsa-2048-pkcs1", "rsa-2048"), ("p384", "p384")] {
        let (other, key) = (public(other), public(name));
        assert_eq!((other.id(), other.spki_der()), (key.id(), key.spki_der()));
        assert_eq!(key.to_pem().into_bytes(), bytes(&format!("test-keys/{name}.pub")));
        assert_eq!(PublicKey::from_spki_der(key.spki_der()), Ok(key));
    }
    assert_eq!(public("p256").id().hint().as_deref(), Some("KfMlVoPA0uQFkbSWTxEflVqEI1ejO9ey6+e0Gde5Oo0="));
}

#[test]
fn private_keys() {
    for (file, public) in [
        ("p256.pem", "p256"),
        ("p256-pkcs8.pem", "p256"),
        ("p256-parameters.pem", "p256"),
        ("p384.pem", "p384"),
        ("p384-pkcs8.pem", "p384"),
        ("ed25519.pem", "ed25519"),
        ("rsa-2048.pem", "rsa-2048"),
        ("rsa-2048-pkcs8.pem", "rsa-2048"),
        ("rsa-4096.pem", "rsa-4096"),
    ] {
        check_private(file, None, Ok(public));
        check_private(file, Some("not looked at"), Ok(public));
        assert!(!PrivateKey::needs_password(&bytes(&format!("test-keys/{file}"))), "{file}");
    }
    check_private("rsa-1024.pem", None, Err("the RSA key has 1024 bits; at least 2048 are needed"));
    check_private("rsa-8192.pem", None, Err("the RSA key has 8192 bits; at most 4096 are supported for signing"));
    check_private("p521.pem", None, Err(&unsupported("ECDSA over P-521")));
    check_private("secp256k1.pem", None, Err(&unsupported("ECDSA over secp256k1")));
    check_private("ed448.pem", None, Err(&unsupported("Ed448")));
    check_private("p256.pub", None, Err("this is a public key; what signs is a private key"));
    check_private(
        "p256-encrypted-pkcs8.pem",
        Some(PASSWORD),
        Err("the private key is encrypted as PKCS#8, which is not read; `cosign import-key-pair` makes one that is"),
    );
    check_private(
        "p256-encrypted-old.pem",
        Some(PASSWORD),
        Err("the key is malformed: it is encrypted by OpenSSL's old form (a header line `Proc-Type`)"),
    );
}

#[test]
fn encrypted_keys() {
    for name in ["p256-cosign", "p256", "p384", "ed25519", "rsa-2048", "rsa-4096"] {
        let file = format!("{name}.key");
        check_private(&file, Some(PASSWORD), Ok(name));
        assert!(PrivateKey::needs_password(&bytes(&format!("test-keys/{file}"))), "{file}");
    }
    check_private("p256.key", None, Err("the private key is encrypted, and no password was given"));
    check_private("p256.key", Some("Fixture"), Err("the password of the private key is wrong"));
    check_private("p256.key", Some(""), Err("the password of the private key is wrong"));
    let older = crate::fixtures::text("test-keys/p256.key").replace("SIGSTORE", "COSIGN");
    let key = PrivateKey::from_pem(older.as_bytes(), Some(&Secret::new(PASSWORD))).expect("a key");
    assert_eq!(*key.public(), public("p256"));
}

/// A file must not choose how much memory it costs.
#[test]
fn hostile_costs() {
    let blocks = crate::pem::blocks(&bytes("test-keys/p256.key")).expect("PEM");
    let sealed = String::from_utf8(blocks[0].content.to_vec()).expect("text");
    let check = |from: &str, to: &str, want: &str| {
        assert!(sealed.contains(from), "{sealed}");
        let file = crate::pem::encode("ENCRYPTED SIGSTORE PRIVATE KEY", sealed.replacen(from, to, 1).as_bytes());
        let error = PrivateKey::from_pem(file.as_bytes(), Some(&Secret::new(PASSWORD))).expect_err(to);
        assert_eq!(error.to_string(), want);
    };
    let malformed = |problem: &str| format!("the key is malformed: {problem}");
    let costs = |costs: &str| malformed(&format!("scrypt with {costs} is not supported"));
    check("65536", "1073741824", &costs("N=1073741824, r=8, p=1"));
    check(r#""r":8"#, r#""r":8000000"#, &costs("N=65536, r=8000000, p=1"));
    check(r#""p":1"#, r#""p":1000000"#, &costs("N=65536, r=8, p=1000000"));
    check("65536", "-1", &malformed("`N` is not a number"));
    check("65536", "32768", "the password of the private key is wrong");
    check("\"scrypt\"", "\"argon2\"", &malformed(r#""argon2" with "nacl/secretbox" is not supported"#));
    check("\"nonce\":\"", "\"nonce\":\"!", &malformed("`nonce` is not base64"));
    check("\"ciphertext\":\"", "\"ciphertext\":\"AQID\",\"x\":\"", &malformed("`nonce` or `ciphertext` is too short"));
    check("{\"kdf\"", "{\"kdf\":{},\"kdf\"", &malformed(r#"the member "kdf" is there twice at line 1 column 15"#));
}

#[test]
fn nothing_shows_a_secret() {
    for name in ["p256", "p384", "ed25519", "rsa-2048"] {
        let key = private(name);
        let id = key.public().id();
        assert_eq!(format!("{key:?}"), format!("PrivateKey({} {id}, the secret masked)", key.public().kind()));
    }
}

/// A key whose two halves do not belong together must not sign.
#[test]
fn halves_of_two_keys() {
    let mut sec1 = crate::pem::blocks(&bytes("test-keys/p256.pem")).expect("PEM").remove(0).content;
    let last = sec1.len() - 1;
    sec1[last] ^= 1;
    let file = crate::pem::encode("EC PRIVATE KEY", &sec1);
    let error = PrivateKey::from_pem(file.as_bytes(), None).expect_err("two keys");
    assert_eq!(error, KeyError::malformed("it is not a key of its curve"));
    let mut pkcs1 = crate::pem::blocks(&bytes("test-keys/rsa-2048.pem")).expect("PEM").remove(0).content;
    pkcs1[100] ^= 1;
    let file = crate::pem::encode("RSA PRIVATE KEY", &pkcs1);
    let error = PrivateKey::from_pem(file.as_bytes(), None).expect_err("two keys").to_string();
    assert!(error.starts_with("the key is malformed: its numbers: "), "{error}");
}

/// The numbers may each be well-formed and not belong together, which shows only when the key signs.
#[test]
fn a_damaged_rsa_key_is_refused_when_it_is_loaded_and_not_when_it_signs() {
    let file = bytes("../../fuzz/key_files/damaged-rsa-key");
    let error = PrivateKey::from_pem(&file, None).expect_err("damaged");
    assert_eq!(error, KeyError::malformed("its numbers do not belong together"));
    let pkcs1 = crate::pem::blocks(&bytes("test-keys/rsa-2048.pem")).expect("PEM").remove(0).content;
    for at in (0..pkcs1.len()).step_by(13) {
        let mut damaged = pkcs1.clone();
        damaged[at] ^= 1;
        let file = crate::pem::encode("RSA PRIVATE KEY", &damaged);
        if let Ok(key) = PrivateKey::from_pem(file.as_bytes(), None) {
            assert!(key.public().verifies(b"message", &key.sign(b"message")), "the byte {at}");
        }
    }
}

/// Spec: RFC 6979, appendix A.2.5, "With SHA-256, message = "sample"".
#[test]
fn the_nonce_is_that_of_rfc_6979() {
    let number = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
    let number: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&number[at * 2..at * 2 + 2], 16).expect("hex")).collect();
    let curve = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7").to_der().expect("DER");
    let mut sec1 = vec![0x30, 0x31, 2, 1, 1, 4, 32];
    sec1.extend(number);
    sec1.extend([0xa0, 10]);
    sec1.extend(curve);
    let key = PrivateKey::from_pem(crate::pem::encode("EC PRIVATE KEY", &sec1).as_bytes(), None).expect("a key");
    let hex: String = key.sign(b"sample").iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(
        hex,
        "3046022100EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716\
         022100F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    );
}
