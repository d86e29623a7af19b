//! Secret keys that sign documents as `GnuPG` does.

use std::fmt;
use std::time::SystemTime;

use pgp::composed::{ArmorOptions, Deserializable as _, DetachedSignature, KeyType};
use pgp::composed::{SecretKeyParamsBuilder, SignedPublicKey, SignedSecretKey};
use pgp::packet::{Signature, SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, KeyVersion, Password, SecretParams, SigningKey, Tag, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use super::fault::OpenPgpFault;
use super::issuer::upper_hex;
use super::{KeyStanding, OpenPgpContents, OpenPgpKey, openpgp_contents, verify_detached};
use crate::KEYS_LIMIT;
use crate::signer::PROBE;

/// What an armored secret key begins with.
const SECRET_BLOCK: &[u8] = b"-----BEGIN PGP PRIVATE KEY BLOCK-----";

/// An `OpenPGP` secret key that can sign, without its password. Its `Debug` shows the fingerprint alone.
///
/// The same document always gets the same signature: it is dated as the key's own newest signature, and the algorithms
/// take no random numbers (Ed25519, RSA PKCS#1 v1.5, ECDSA by RFC 6979).
pub struct OpenPgpSecretKey {
    key: SignedSecretKey,
    signer: SigningPart,
    dated: Timestamp,
    public: String,
}

/// The key of a certificate that signs.
#[derive(Clone, Copy, Debug)]
enum SigningPart {
    Primary,
    /// A secret subkey, by its place in the file.
    Subkey(usize),
}

/// Why a file does not hold a key that signs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenPgpSecretKeyError {
    #[error("the file has {bytes} bytes, and at most {limit} are read")]
    TooLarge { bytes: usize, limit: usize },
    #[error("this is an OpenPGP public key; what signs is a secret key (gpg --export-secret-keys --armor)")]
    Public,
    /// It is not one `OpenPGP` secret key.
    #[error("it is not one OpenPGP secret key, armored or binary")]
    Malformed,
    #[error("the OpenPGP key is of version {version}; Terraform and OpenTofu read version 4")]
    Unsupported { version: u8 },
    #[error("the OpenPGP key is encrypted, and no password was given")]
    PasswordNeeded,
    #[error("the password of the OpenPGP key is wrong")]
    WrongPassword,
    #[error("the OpenPGP key has no secret part that signs")]
    NothingSigns,
    #[error("signatures of the OpenPGP key would not count")]
    WouldNotCount(#[source] OpenPgpFault),
    #[error("the OpenPGP key has expired or was retired")]
    Expired,
}

impl OpenPgpSecretKey {
    /// A new key (RSA with 3072 bits, version 4) without a password, which never expires. `seed` is 256 random bits, and
    /// decides all. It takes seconds.
    ///
    /// Terraform 1.11 and OpenTofu 1.12 read Ed25519 and ECDSA too; the `OpenPGP` library of older Terraform reads RSA alone.
    pub fn generate(user_id: &str, created: SystemTime, seed: &Zeroizing<[u8; 32]>) -> Self {
        let dated = timestamp(created);
        let params = SecretKeyParamsBuilder::default()
            .key_type(KeyType::Rsa(3072))
            .can_sign(true)
            .can_certify(true)
            .created_at(dated)
            .primary_user_id(user_id.to_owned())
            .build()
            .expect("the parameters are complete");
        let mut key = params.generate(StdRng::from_seed(**seed)).expect("an RSA key can be made of any seed");
        // The library dates the signature of the name by a clock.
        for user in &mut key.details.users {
            let config = user.signatures.first().and_then(Signature::config).cloned();
            let mut config = config.expect("the library has just signed the name");
            for subpacket in &mut config.hashed_subpackets {
                if let SubpacketData::SignatureCreationTime(_) = subpacket.data {
                    *subpacket = hashed(SubpacketData::SignatureCreationTime(dated));
                }
            }
            let (secret, public) = (&key.primary_key, key.primary_key.public_key());
            let signed = config.sign_certification(secret, public, &Password::empty(), Tag::UserId, &user.id);
            user.signatures = vec![signed.expect("a new key can sign its name")];
        }
        let public = armored(&key.to_public_key());
        Self { key, signer: SigningPart::Primary, dated, public }
    }

    /// The one key in a file, armored or binary, if its signatures count at `now`. Of several parts that sign, the primary
    /// key is used if it can. A key that is not encrypted needs no password.
    pub fn parse(file: &[u8], password: Option<&Secret>, now: SystemTime) -> Result<Self, OpenPgpSecretKeyError> {
        let mut key = read(file)?;
        if key.primary_key.version() != KeyVersion::V4 {
            return Err(OpenPgpSecretKeyError::Unsupported { version: key.primary_key.version().into() });
        }
        unlock(&mut key, password)?;
        let public = armored(&key.to_public_key());
        let subkeys = (0..key.secret_subkeys.len()).map(SigningPart::Subkey);
        let mut found = Self { key, signer: SigningPart::Primary, dated: Timestamp::from_secs(0), public };
        let mut problem = None;
        for signer in std::iter::once(SigningPart::Primary).chain(subkeys) {
            found.signer = signer;
            found.dated = found.newest();
            match found.probe(now) {
                Ok(()) => return Ok(found),
                Err(error) => problem = problem.or(error),
            }
        }
        Err(problem.unwrap_or(OpenPgpSecretKeyError::NothingSigns))
    }

    /// The file of the secret key, in ASCII armor, without a password.
    pub fn armored(&self) -> Zeroizing<String> {
        let text = self.key.to_armored_string(ArmorOptions::default());
        Zeroizing::new(text.expect("a key that was read or made can be written"))
    }

    /// The public key, in ASCII armor.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The id of the primary key: 16 hexadecimal digits in capitals, as registries write it.
    pub fn key_id(&self) -> String {
        upper_hex(self.key.primary_key.legacy_key_id().as_ref())
    }

    /// The fingerprint of the primary key: 40 hexadecimal digits in capitals.
    pub fn fingerprint(&self) -> String {
        upper_hex(self.key.primary_key.fingerprint().as_bytes())
    }

    /// The binary detached signature of a document.
    pub fn sign(&self, document: &[u8]) -> Vec<u8> {
        let signed = self.sign_with(self.signer, document);
        signed.expect("the key signed a probe when it was read, and a new key signed its name")
    }

    fn sign_with(&self, signer: SigningPart, document: &[u8]) -> Option<Vec<u8>> {
        match signer {
            SigningPart::Primary => signature(&self.key.primary_key, self.dated, document),
            SigningPart::Subkey(index) => signature(&self.key.secret_subkeys.get(index)?.key, self.dated, document),
        }
    }

    /// Whether its signature counts; the error is `None` if this part cannot sign at all.
    fn probe(&self, now: SystemTime) -> Result<(), Option<OpenPgpSecretKeyError>> {
        let signature = self.sign_with(self.signer, PROBE).ok_or(None)?;
        let keys = OpenPgpKey::parse(self.public.as_bytes()).map_err(|_| Some(OpenPgpSecretKeyError::Malformed))?;
        match verify_detached(PROBE, &signature, &keys, now) {
            Ok(found) if found.standing == KeyStanding::Good => Ok(()),
            Ok(_) => Err(Some(OpenPgpSecretKeyError::Expired)),
            Err(fault) => Err(Some(OpenPgpSecretKeyError::WouldNotCount(fault))),
        }
    }

    /// When the key last said something of itself: a signature of that date is covered by all of it.
    fn newest(&self) -> Timestamp {
        let details = &self.key.details;
        let own = details.direct_signatures.iter().chain(details.users.iter().flat_map(|user| &user.signatures));
        let (made, bindings) = match self.signer {
            SigningPart::Subkey(index) => {
                let subkey = &self.key.secret_subkeys[index];
                (subkey.key.created_at(), &subkey.signatures[..])
            }
            SigningPart::Primary => (self.key.primary_key.created_at(), &[][..]),
        };
        own.chain(bindings).filter_map(Signature::created).fold(made, Ord::max)
    }
}

impl fmt::Debug for OpenPgpSecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenPgpSecretKey({}, the secret masked)", self.fingerprint())
    }
}

fn read(file: &[u8]) -> Result<SignedSecretKey, OpenPgpSecretKeyError> {
    if file.len() > KEYS_LIMIT {
        return Err(OpenPgpSecretKeyError::TooLarge { bytes: file.len(), limit: KEYS_LIMIT });
    }
    if let OpenPgpContents::PublicKeys(_) = openpgp_contents(file) {
        return Err(OpenPgpSecretKeyError::Public);
    }
    // Of two blocks of armor the library reads the first alone, and the other may be the one that was meant.
    if file.windows(SECRET_BLOCK.len()).filter(|window| *window == SECRET_BLOCK).count() > 1 {
        return Err(OpenPgpSecretKeyError::Malformed);
    }
    // The library's own words are for programmers.
    let malformed = |_| OpenPgpSecretKeyError::Malformed;
    let (mut keys, _) = SignedSecretKey::from_reader_many(file).map_err(malformed)?;
    match (keys.next(), keys.next()) {
        (Some(key), None) => key.map_err(malformed),
        _ => Err(OpenPgpSecretKeyError::Malformed),
    }
}

/// Takes the password off every part that it fits.
fn unlock(key: &mut SignedSecretKey, password: Option<&Secret>) -> Result<(), OpenPgpSecretKeyError> {
    let given = password.map_or_else(Password::empty, |password| Password::from(password.expose()));
    // A part may have no secret at all (`gpg --export-secret-subkeys`): one that opens is enough.
    let mut open = key.primary_key.remove_password(&given).is_ok();
    for subkey in &mut key.secret_subkeys {
        open |= subkey.key.remove_password(&given).is_ok();
    }
    match password {
        _ if open => Ok(()),
        None => Err(OpenPgpSecretKeyError::PasswordNeeded),
        Some(_) => Err(OpenPgpSecretKeyError::WrongPassword),
    }
}

fn signature(key: &impl SecretPart, dated: Timestamp, document: &[u8]) -> Option<Vec<u8>> {
    if let SecretParams::Encrypted(_) = key.params() {
        return None;
    }
    let mut config = SignatureConfig::v4(SignatureType::Binary, key.algorithm(), key.hash_alg());
    config.hashed_subpackets = vec![
        hashed(SubpacketData::IssuerFingerprint(key.fingerprint())),
        hashed(SubpacketData::SignatureCreationTime(dated)),
    ];
    config.unhashed_subpackets = vec![hashed(SubpacketData::IssuerKeyId(key.legacy_key_id()))];
    let signature = config.sign(key, &Password::empty(), document).ok()?;
    DetachedSignature::new(signature).to_bytes().ok()
}

/// A primary key or a subkey with its secret.
trait SecretPart: SigningKey {
    fn params(&self) -> &SecretParams;
}

impl SecretPart for pgp::packet::SecretKey {
    fn params(&self) -> &SecretParams {
        self.secret_params()
    }
}

impl SecretPart for pgp::packet::SecretSubkey {
    fn params(&self) -> &SecretParams {
        self.secret_params()
    }
}

fn hashed(data: SubpacketData) -> Subpacket {
    Subpacket::regular(data).expect("a date, an id and a fingerprint have a fixed size")
}

fn armored(public: &SignedPublicKey) -> String {
    public.to_armored_string(ArmorOptions::default()).expect("a key that was read or made can be written")
}

/// `OpenPGP` counts seconds since 1970 in 32 bits.
fn timestamp(moment: SystemTime) -> Timestamp {
    let seconds = moment.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Timestamp::from_secs(u32::try_from(seconds).unwrap_or(u32::MAX))
}
