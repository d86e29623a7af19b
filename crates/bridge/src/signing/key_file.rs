//! The bridge's own key in its file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ring::rand::{SecureRandom as _, SystemRandom};
use thiserror::Error;
use tofu_oci_disk::{FileError, PrivateFile};
use tofu_oci_fault::Fault;
use tofu_oci_trust::{OpenPgpSecretKey, OpenPgpSecretKeyError};
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

/// Whose key it is, for people who list keys.
const USER_ID: &str = "tofu-oci bridge";

/// Why there is no key of the bridge.
#[derive(Debug, Error, Fault)]
#[non_exhaustive]
#[fault(end = Usage)]
pub enum KeyFileError {
    /// the file that `signing_key` names cannot be read
    #[error("the signing key {} cannot be read", .path.display())]
    #[fault("signing-key-unreadable", todo = "see the cause; the user that runs `serve` must be able to read it")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// the publisher has not signed the release, and `serve` has no key of its own to sign with; or the file that
    /// `signing_key` names does not exist
    #[error("the signing key {} does not exist", .path.display())]
    #[fault("signing-key-missing", todo = "make a key with `serve --new-key FILE`, and name it as `signing_key`")]
    #[hint("make one: tofu-oci serve --new-key FILE")]
    Missing { path: PathBuf },
    /// the file holds no OpenPGP secret key of version 4 that can sign
    #[error("the signing key {} cannot be used", .path.display())]
    #[fault("signing-key-unusable", code = unusable(source), todo = "see the cause, or make a key with `serve \
            --new-key FILE`")]
    #[hint("{}", instead(source))]
    Unusable {
        path: PathBuf,
        #[source]
        source: OpenPgpSecretKeyError,
    },
    /// `serve --new-key` never replaces a file
    #[error("{} exists, and a new key never replaces a file", .path.display())]
    #[fault("signing-key-exists", todo = "name another file, or use the key that is there")]
    #[hint("name another file; clients that know the old key still need it")]
    Exists { path: PathBuf },
    /// `serve --new-key` cannot write the new key
    #[error("the new key {} cannot be written", .path.display())]
    #[fault("signing-key-unwritable", end = Fixable, todo = "see the cause, or name a file in another folder")]
    #[hint(each = FileError::hint("write", path, source))]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

fn unusable(error: &OpenPgpSecretKeyError) -> &'static str {
    match error {
        OpenPgpSecretKeyError::PasswordNeeded => "signing-key-password-needed",
        OpenPgpSecretKeyError::WrongPassword => "signing-key-password-wrong",
        _ => "signing-key-unusable",
    }
}

fn instead(error: &OpenPgpSecretKeyError) -> &'static str {
    match error {
        OpenPgpSecretKeyError::PasswordNeeded | OpenPgpSecretKeyError::WrongPassword => {
            "set TOFU_OCI_SIGNING_KEY_PASSWORD to the password of the key"
        }
        _ => "clients know OpenPGP keys alone; make one: tofu-oci serve --new-key FILE",
    }
}

/// The key in a file: one `OpenPGP` secret key, armored or binary. `password` is looked at only if the key is encrypted.
pub fn load_key(path: &Path, password: Option<&Secret>) -> Result<OpenPgpSecretKey, KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    let file = PrivateFile::to_read(path).and_then(|file| file.read()).map_err(unreadable)?;
    let file = file.ok_or_else(|| KeyFileError::Missing { path: path.to_owned() })?;
    let unusable = |source| KeyFileError::Unusable { path: path.to_owned(), source };
    OpenPgpSecretKey::parse(&file, password, SystemTime::now()).map_err(unusable)
}

/// A new key, written to a file that only its owner can read. An existing file is never replaced.
pub fn new_key(path: &Path) -> Result<OpenPgpSecretKey, KeyFileError> {
    let written = |problem| match problem {
        NotWritten::Exists => KeyFileError::Exists { path: path.to_owned() },
        NotWritten::Io(source) => KeyFileError::Unwritable { path: path.to_owned(), source },
    };
    // A key takes seconds to make.
    is_free(path).map_err(written)?;
    let mut seed = Zeroizing::new([0; 32]);
    SystemRandom::new().fill(seed.as_mut()).expect("the system has random numbers");
    let key = OpenPgpSecretKey::generate(USER_ID, SystemTime::now(), &seed);
    write_new(path, &key).map_err(written)?;
    Ok(key)
}

enum NotWritten {
    Exists,
    Io(io::Error),
}

impl From<io::Error> for NotWritten {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn is_free(path: &Path) -> Result<(), NotWritten> {
    match PrivateFile::at(path)?.read()? {
        Some(_) => Err(NotWritten::Exists),
        None => Ok(()),
    }
}

fn write_new(path: &Path, key: &OpenPgpSecretKey) -> Result<(), NotWritten> {
    let file = PrivateFile::at(path)?;
    file.stage()?.commit(|present| match present {
        Some(_) => Err(NotWritten::Exists),
        None => Ok(Some(Zeroizing::new(key.armored().as_bytes().to_vec()))),
    })
}
