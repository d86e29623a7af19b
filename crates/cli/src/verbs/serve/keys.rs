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
use crate::printer;
use crate::report::json_line;
use crate::verbs::context::Context;

/// The password of the signing key, if the key is encrypted.
const PASSWORD: &str = "TOFU_OCI_SIGNING_KEY_PASSWORD";

#[derive(Serialize)]
struct TokenLine<'a> {
    event: &'static str,
    token: &'a str,
    token_sha256: &'a str,
}

#[derive(Serialize)]
struct KeyLine<'a> {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    key_id: String,
    fingerprint: String,
    public_key: &'a str,
}

/// Prints a new token and what the settings say of it. The token is kept nowhere.
pub(super) fn print_token(context: &Context) {
    let NewToken { token, digest } = NewToken::generate();
    if context.json {
        let (token, token_sha256) = (token.expose(), digest.expose());
        return json_line(&TokenLine { event: "token", token, token_sha256 });
    }
    let mut page = Page::of(format!("token:         {}", token.expose()));
    page.line(format!("token_sha256 = \"{}\"", digest.expose()));
    printer::stdout(&page);
    let mut advice = Page::of("note: give the token to the client; no file keeps it");
    advice
        .line("note: write the second line into a [[client]] of serve.toml, with `name`, and `providers` or `modules`");
    if !context.quiet {
        printer::stderr(&advice);
    }
}

/// Makes a key in a new file.
pub(super) fn make(context: &Context, file: &Path) -> Result<(), Diagnostic> {
    let key = new_key(file).map_err(|error| Diagnostic::fault(&error))?;
    if context.json {
        json_line(&key_line("key-made", Some(file), &key));
        return Ok(());
    }
    let mut page = Page::of(format!("made the key {} in {}", key.fingerprint(), file.display()));
    page.line(format!("in serve.toml: signing_key = {:?}", file.display().to_string()));
    page.line("keep a copy at a safe place: whoever has the file can sign as this bridge");
    printer::stdout(&page);
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
    if context.json {
        json_line(&key_line("key", None, key));
        return Ok(());
    }
    let mut page = Page::of(format!("fingerprint: {}", key.fingerprint()));
    for line in key.public().lines() {
        page.line(line);
    }
    printer::stdout(&page);
    Ok(())
}

fn key_line<'a>(event: &'static str, file: Option<&Path>, key: &'a OpenPgpSecretKey) -> KeyLine<'a> {
    let file = file.map(|file| file.display().to_string());
    KeyLine { event, file, key_id: key.key_id(), fingerprint: key.fingerprint(), public_key: key.public() }
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
