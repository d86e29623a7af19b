//! The key that signs, and the tokens of clients.

use std::path::Path;

use serde::Serialize;
use tofu_oci_bridge::{ClientAccess, LinkOptions, NewToken, SumsSigner, load_key, new_key};
use tofu_oci_trust::OpenPgpSecretKey;
use tofu_oci_types::Secret;

use super::settings::Settings;
use crate::args::ServeArgs;
use crate::diagnostic::{Diagnostic, settings_text};
use crate::page::Page;
use crate::verbs::context::Context;

/// The password of the signing key, if the key is encrypted.
const PASSWORD: &str = "TOFU_OCI_SIGNING_KEY_PASSWORD";

#[derive(Serialize)]
#[serde(tag = "event", rename = "token")]
struct Token<'a> {
    token: &'a str,
    token_sha256: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum KeyLine<'a> {
    Key(PublicPart<'a>),
    KeyMade {
        file: String,
        #[serde(flatten)]
        key: PublicPart<'a>,
    },
}

#[derive(Serialize)]
struct PublicPart<'a> {
    key_id: String,
    fingerprint: String,
    public_key: &'a str,
}

impl<'a> PublicPart<'a> {
    fn of(key: &'a OpenPgpSecretKey) -> Self {
        Self { key_id: key.key_id(), fingerprint: key.fingerprint(), public_key: key.public() }
    }
}

/// Prints a new token and what the settings say of it. The token is kept nowhere.
pub(super) fn print_token(context: &Context) {
    let NewToken { token, digest } = NewToken::generate();
    let (token, token_sha256) = (token.expose(), digest.expose());
    context.emit(&Token { token, token_sha256 }, || {
        let mut page = Page::of(format!("token:         {token}"));
        page.line(format!("token_sha256 = \"{token_sha256}\""));
        page
    });
    let mut advice = Page::of("note: give the token to the client; no file keeps it");
    advice
        .line("note: write the second line into a [[client]] of serve.toml, with `name`, and `providers` or `modules`");
    context.say(&advice);
}

/// Makes a key in a new file.
pub(super) fn make(context: &Context, file: &Path) -> Result<(), Diagnostic> {
    let key = new_key(file).map_err(|error| Diagnostic::fault(&error))?;
    let file = file.display().to_string();
    context.emit(&KeyLine::KeyMade { file: file.clone(), key: PublicPart::of(&key) }, || {
        let mut page = Page::of(format!("made the key {} in {file}", key.fingerprint()));
        page.line(format!("in serve.toml: signing_key = {file:?}"));
        page.line("keep a copy at a safe place: whoever has the file can sign as this bridge");
        page
    });
    Ok(())
}

/// Prints the public part of the key that the options name, or else the settings.
pub(super) fn show(context: &Context, args: &ServeArgs) -> Result<(), Diagnostic> {
    match &args.signing_key {
        Some(file) => print(context, &loaded(file)?),
        None => print(context, &signer(&Settings::asked(args)?)?),
    }
}

fn print(context: &Context, signer: &SumsSigner) -> Result<(), Diagnostic> {
    let key = signer.key().ok_or_else(|| {
        Diagnostic::usage("the settings name no signing key")
            .code("signing-key-missing")
            .hint("make one: tofu-oci serve --new-key bridge-key.asc, and write it as `signing_key`")
    })?;
    context.emit(&KeyLine::Key(PublicPart::of(key)), || {
        let mut page = Page::of(format!("fingerprint: {}", key.fingerprint()));
        key.public().lines().for_each(|line| page.line(line));
        page
    });
    Ok(())
}

/// Who signs the checksums.
pub(super) fn signer(settings: &Settings) -> Result<SumsSigner, Diagnostic> {
    let Some(file) = &settings.config.signing_key else { return Ok(SumsSigner::new(None)) };
    loaded(&settings.dir.join(file))
}

fn loaded(file: &Path) -> Result<SumsSigner, Diagnostic> {
    let password = std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()).map(Secret::new);
    let key = load_key(file, password.as_ref()).map_err(|error| Diagnostic::fault(&error))?;
    Ok(SumsSigner::new(Some(key)))
}

/// Who may see what.
pub(super) fn access(settings: &Settings) -> Result<ClientAccess, Diagnostic> {
    let links = &settings.config.links;
    let secret = match &links.secret {
        None => Secret::new(""),
        Some(file) => {
            let file = settings.dir.join(file);
            let (code, hint) = ("settings-unreadable", "write 32 random bytes or more into it, as text");
            let text = settings_text(&file, "the secret of links", code, hint)?;
            if text.trim().is_empty() {
                return Err(Diagnostic::usage(format!("the secret of links {} is empty", file.display()))
                    .code(code)
                    .hint(hint));
            }
            Secret::new(text.trim())
        }
    };
    let links = LinkOptions { lifetime: links.lifetime, secret };
    Ok(ClientAccess::new(settings.config.clients.clone(), links, settings.config.all_predecessors()))
}
