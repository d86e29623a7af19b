//! What is strong enough, and what is understood.

use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Signature, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{EcdsaPublicParams, EddsaLegacyPublicParams, KeyDetails, PublicParams};

/// The fewest bits of an RSA key.
const RSA_BITS: u16 = 2048;

/// The name of a signature's digest, if it is MD5, SHA-1, RIPEMD-160 or unknown.
///
/// Spec: RFC 9580, section 9.5: MD5, SHA-1 and RIPEMD-160 are deprecated.
pub(super) fn weak_digest(signature: &Signature) -> Option<String> {
    let name = match signature.hash_alg()? {
        HashAlgorithm::Sha224
        | HashAlgorithm::Sha256
        | HashAlgorithm::Sha384
        | HashAlgorithm::Sha512
        | HashAlgorithm::Sha3_256
        | HashAlgorithm::Sha3_512 => return None,
        HashAlgorithm::Md5 => "MD5".to_owned(),
        HashAlgorithm::Sha1 => "SHA-1".to_owned(),
        HashAlgorithm::Ripemd160 => "RIPEMD-160".to_owned(),
        other => format!("digest {}", u8::from(other)),
    };
    Some(name)
}

/// What makes a key too weak to trust its signatures, or unable to make any.
pub(super) fn weak_key(key: &impl KeyDetails) -> Option<String> {
    match key.public_params() {
        PublicParams::RSA(_) if key.algorithm() == PublicKeyAlgorithm::RSAEncrypt => {
            Some("it is a key for encryption alone".to_owned())
        }
        PublicParams::RSA(params) => {
            let mut bytes = Vec::new();
            let bits = match params.to_writer(&mut bytes) {
                // The modulus comes first, after its length in bits.
                Ok(()) => bytes.first_chunk().map_or(0, |length| u16::from_be_bytes(*length)),
                Err(_) => 0,
            };
            (bits < RSA_BITS).then(|| format!("it is an RSA key of {bits} bits; at least {RSA_BITS} are needed"))
        }
        PublicParams::ECDSA(
            EcdsaPublicParams::P256 { .. } | EcdsaPublicParams::P384 { .. } | EcdsaPublicParams::P521 { .. },
        )
        | PublicParams::EdDSALegacy(EddsaLegacyPublicParams::Ed25519 { .. })
        | PublicParams::Ed25519(_)
        | PublicParams::Ed448(_) => None,
        PublicParams::DSA(_) => Some("it is a DSA key".to_owned()),
        PublicParams::ECDSA(other) => Some(format!("it is an ECDSA key on {}", other.curve().name())),
        PublicParams::EdDSALegacy(other) => Some(format!("it is an EdDSA key on {}", other.curve().name())),
        _ => Some(format!("it is a key of algorithm {}", u8::from(key.algorithm()))),
    }
}

/// A demand in the signed part of a signature that is critical and not understood.
///
/// Spec: RFC 9580, section 5.2.3.7 and, for notations, 5.2.3.24.
pub(super) fn not_understood(signature: &Signature) -> Option<String> {
    let critical = |subpacket: &&pgp::packet::Subpacket| subpacket.is_critical;
    signature.config()?.hashed_subpackets().filter(critical).find_map(|subpacket| match &subpacket.data {
        SubpacketData::Notation(notation) => {
            Some(format!("the critical notation {:?}", String::from_utf8_lossy(&notation.name)))
        }
        SubpacketData::Other(kind, _) | SubpacketData::Experimental(kind, _) => {
            Some(format!("the critical subpacket {kind}"))
        }
        _ => None,
    })
}
