//! The private key that a user names, and its password.

use std::path::Path;

use tofu_oci_disk::PrivateFile;
use tofu_oci_packer::{Forms, Signer, Signing};
use tofu_oci_trust::{KeyError, PrivateKey};
use tofu_oci_types::{Event, Reporter, Secret};
use zeroize::Zeroizing;

use crate::args::{SignerArgs, SigningArgs};
use crate::diagnostic::Diagnostic;
use crate::identity;
use crate::keyless::Cosign;
use crate::prompt;

/// The variable that holds the password, as for cosign.
const PASSWORD: &str = "COSIGN_PASSWORD";

/// What begins the name of a variable in the place of a file, as for cosign.
const VARIABLE: &str = "env://";

/// Where the password of a key comes from, when it needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPassword {
    /// From the environment, else from whoever sits at the terminal.
    Ambient,
    /// From standard input.
    Stdin,
}

impl KeyPassword {
    /// What the option says.
    pub(crate) fn of(from_stdin: bool) -> Self {
        if from_stdin { Self::Stdin } else { Self::Ambient }
    }
}

/// The private key that the arguments name; `None` if they name none.
pub(crate) async fn named(args: &SigningArgs, reporter: &dyn Reporter) -> Result<Option<PrivateKey>, Diagnostic> {
    match &args.sign_key {
        Some(key) => load(key, KeyPassword::of(args.key_password_stdin), reporter).await.map(Some),
        None => Ok(None),
    }
}

/// Who signs what is published.
pub(crate) enum NamedSigner {
    Key(Box<PrivateKey>, Forms),
    Cosign(Cosign),
}

impl NamedSigner {
    /// The one that the arguments name; `None` if they name none. Whoever signs later must be able to sign now.
    pub(crate) async fn of(args: &SignerArgs, reporter: &dyn Reporter) -> Result<Option<Self>, Diagnostic> {
        if args.sign_keyless {
            return Cosign::find().map(Self::Cosign).map(Some);
        }
        let key = named(&args.key, reporter).await?;
        Ok(key.map(|key| Self::Key(Box::new(key), args.key.sign_format.forms())))
    }

    pub(crate) fn signer(&self) -> Signer<'_> {
        match self {
            Self::Key(key, forms) => Signer::Key(Signing { key, forms: *forms }),
            Self::Cosign(cosign) => Signer::Keyless(cosign),
        }
    }
}

/// Reads a private key. It asks for a password only if the key needs one.
pub(crate) async fn load(key: &Path, from: KeyPassword, reporter: &dyn Reporter) -> Result<PrivateKey, Diagnostic> {
    let name = key.display().to_string();
    let (pem, sharing) = match key.to_str().and_then(|text| text.strip_prefix(VARIABLE)) {
        Some(variable) => (of_variable(variable)?, Sharing::OwnerAlone),
        None => of_file(key)?,
    };
    let password = match (PrivateKey::needs_password(&pem), from) {
        (true, _) => Some(password(&name, from).await?),
        (false, KeyPassword::Stdin) => {
            return Err(Diagnostic::usage(format!("{name} needs no password, and --key-password-stdin gives one"))
                .hint("leave --key-password-stdin out"));
        }
        (false, KeyPassword::Ambient) => None,
    };
    let read = PrivateKey::from_pem(&pem, password.as_ref());
    let read = read.map_err(|error| wrong_key(&name, &error))?;
    // Anybody may read a file that holds no private key, such as a public one.
    if sharing == Sharing::Others {
        let text = format!("others than its owner may read the private key {name}");
        reporter.event(&Event::warning("shared-key", text).with_hint(format!("chmod 600 {name}")));
    }
    Ok(read)
}

/// Who may read a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    OwnerAlone,
    Others,
}

fn of_variable(variable: &str) -> Result<Zeroizing<Vec<u8>>, Diagnostic> {
    match std::env::var(variable) {
        Ok(text) if !text.is_empty() => Ok(Zeroizing::new(text.into_bytes())),
        _ => Err(Diagnostic::usage(format!("the variable {variable} holds no key"))
            .code("signing-key")
            .hint("set it to the PEM text of the private key")),
    }
}

fn of_file(path: &Path) -> Result<(Zeroizing<Vec<u8>>, Sharing), Diagnostic> {
    let failed = |error: std::io::Error| {
        Diagnostic::usage(format!("cannot read the key {}: {error}", path.display()))
            .code("signing-key")
            .hint("name the file of a private key, such as cosign.key, or env://NAME")
    };
    let file = PrivateFile::to_read(path).map_err(failed)?;
    let pem = file
        .read()
        .map_err(failed)?
        .ok_or_else(|| failed(std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file")))?;
    Ok((pem, if file.is_shared() { Sharing::Others } else { Sharing::OwnerAlone }))
}

async fn password(name: &str, from: KeyPassword) -> Result<Secret, Diagnostic> {
    if from == KeyPassword::Stdin {
        if prompt::can_ask() {
            let text = "--key-password-stdin reads from a pipe or a file, and this is a terminal";
            return Err(Diagnostic::usage(text).hint("leave --key-password-stdin out to be asked for the password"));
        }
        return identity::secret_from_stdin("--key-password-stdin").await;
    }
    // A variable that is set and empty counts: it is the password of keys that were made so.
    if let Ok(password) = std::env::var(PASSWORD) {
        return Ok(Secret::new(password));
    }
    if !prompt::can_ask() {
        return Err(Diagnostic::usage(format!("the key {name} is encrypted, and there is no password"))
            .code("signing-key-password")
            .hint(format!("set {PASSWORD}, or give the password on standard input with --key-password-stdin")));
    }
    let answer = prompt::secret(&format!("Password of the key {name}:")).await;
    answer.map_err(|error| Diagnostic::usage(format!("the password of the key cannot be read: {error}")))
}

fn wrong_key(name: &str, error: &KeyError) -> Diagnostic {
    let diagnostic =
        Diagnostic::usage(format!("the key {name} cannot be used")).code("signing-key").cause(error.to_string());
    match error {
        KeyError::Public => diagnostic.hint("name the private key; the public one is for those who verify"),
        KeyError::OpenPgp => diagnostic
            .hint("what `gpg --detach-sign` writes beside SHA256SUMS goes with the release, if the public key lies beside it")
            .hint("`cosign generate-key-pair` makes a PEM key"),
        KeyError::WrongPassword => diagnostic.hint(format!("check {PASSWORD}, or the password that you gave")),
        KeyError::UnsupportedEncryption { .. } => diagnostic
            .hint("`openssl pkey -in KEY -out PLAIN` writes it unencrypted; `cosign import-key-pair --key PLAIN` encrypts it as cosign does"),
        _ => diagnostic.hint("`cosign generate-key-pair` makes one, and so does `openssl ecparam -name prime256v1 -genkey -noout`"),
    }
}
