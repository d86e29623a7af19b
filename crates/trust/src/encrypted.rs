//! cosign's encrypted private keys: scrypt makes a key of the password, which opens a secretbox with PKCS#8 in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto_secretbox::aead::AeadInPlace as _;
use crypto_secretbox::{KeyInit as _, Nonce, Tag, XSalsa20Poly1305};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::json;
use crate::keys::KeyError;

/// The private key within the box, in DER.
///
/// Of scrypt's costs only the three that the format knows are computed (N = 2^15, 2^16 or 2^17, r = 8, p = 1: 128 MiB
/// at most), so that a file cannot take all memory.
///
/// Spec: go-securesystemslib, `encrypted` (what cosign writes).
pub(crate) fn open(content: &[u8], password: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let sealed = Sealed::parse(content).map_err(KeyError::malformed)?;
    let mut key = Zeroizing::new([0; 32]);
    let reason = "the costs are three known ones, and the output has 32 bytes";
    let costs = scrypt::Params::new(sealed.log_n, 8, 1, 32).expect(reason);
    scrypt::scrypt(password, &sealed.salt, &costs, &mut *key).expect(reason);
    let cipher = XSalsa20Poly1305::new((&*key).into());
    let (tag, text) = sealed.ciphertext.split_at(XSalsa20Poly1305::TAG_SIZE);
    let mut text = Zeroizing::new(text.to_vec());
    cipher
        .decrypt_in_place_detached(Nonce::from_slice(&sealed.nonce), &[], &mut text, Tag::from_slice(tag))
        .map_err(|_| KeyError::WrongPassword)?;
    Ok(text)
}

struct Sealed {
    log_n: u8,
    salt: Vec<u8>,
    nonce: Vec<u8>,
    /// The tag and what it authenticates.
    ciphertext: Vec<u8>,
}

impl Sealed {
    fn parse(content: &[u8]) -> Result<Self, String> {
        let file = json::parse(content)?;
        let (derivation, cipher) = (json::object(&file, "kdf")?, json::object(&file, "cipher")?);
        match (json::text(derivation, "name")?, json::text(cipher, "name")?) {
            ("scrypt", "nacl/secretbox") => {}
            (derivation, cipher) => {
                return Err(format!("{} with {} is not supported", json::shown(derivation), json::shown(cipher)));
            }
        }
        let costs = json::object(derivation, "params")?;
        let cost = |name| costs.get(name).and_then(Value::as_u64).ok_or_else(|| format!("`{name}` is not a number"));
        let log_n = match (cost("N")?, cost("r")?, cost("p")?) {
            (32_768, 8, 1) => 15,
            (65_536, 8, 1) => 16,
            (131_072, 8, 1) => 17,
            (n, r, p) => return Err(format!("scrypt with N={n}, r={r}, p={p} is not supported")),
        };
        let bytes = |value, name: &str| {
            STANDARD.decode(json::text(value, name)?).map_err(|_| format!("`{name}` is not base64"))
        };
        let (salt, nonce) = (bytes(derivation, "salt")?, bytes(cipher, "nonce")?);
        let ciphertext = bytes(&file, "ciphertext")?;
        if nonce.len() != XSalsa20Poly1305::NONCE_SIZE || ciphertext.len() < XSalsa20Poly1305::TAG_SIZE {
            return Err("`nonce` or `ciphertext` is too short".to_owned());
        }
        Ok(Self { log_n, salt, nonce, ciphertext })
    }
}
