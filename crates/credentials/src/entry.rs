//! One entry of `auths`.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};
use zeroize::{Zeroize as _, Zeroizing};

use crate::{Credential, Secret};

/// Standard alphabet, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The member of this name; another case of its letters counts where the exact name is absent, as Go reads JSON.
pub(crate) fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object
        .get(name)
        .or_else(|| object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
        .filter(|value| !value.is_null())
}

/// The credential of one entry; nothing for an entry that holds none, as a login with a helper leaves it.
pub(crate) fn read(entry: &Value) -> Result<Option<Credential>, &'static str> {
    let entry = match entry {
        Value::Null => return Ok(None),
        Value::Object(entry) => entry,
        _ => return Err("it is not an object"),
    };
    if let Some(token) = text(entry, "registrytoken")? {
        return Ok(Some(Credential::RegistryToken(Secret::new(token))));
    }
    if let Some(token) = text(entry, "identitytoken")? {
        return Ok(Some(Credential::IdentityToken(Secret::new(token))));
    }
    if let Some(encoded) = text(entry, "auth")? {
        return decode(encoded);
    }
    match (text(entry, "username")?, text(entry, "password")?) {
        (Some(username), Some(password)) => Ok(Some(Credential::basic(username, password))),
        (Some(_), None) => Err("it has a username and no password"),
        (None, Some(_)) => Err("it has a password and no username"),
        (None, None) => Ok(None),
    }
}

/// A text member that is there and not empty.
fn text<'a>(entry: &'a Map<String, Value>, name: &'static str) -> Result<Option<&'a str>, &'static str> {
    match member(entry, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err("one of its members is not a text"),
    }
}

/// `USERNAME:PASSWORD` in base64, split at the first colon.
fn decode(encoded: &str) -> Result<Option<Credential>, &'static str> {
    let encoded: Zeroizing<String> = Zeroizing::new(encoded.chars().filter(|c| !matches!(c, '\r' | '\n')).collect());
    let bytes = BASE64.decode(encoded.as_bytes()).map_err(|_| "its `auth` is not base64")?;
    let decoded = String::from_utf8(bytes).map_err(|error| {
        error.into_bytes().zeroize();
        "its `auth` is not UTF-8"
    })?;
    let decoded = Zeroizing::new(decoded);
    match decoded.split_once(':') {
        Some(("", "")) => Ok(None),
        Some((username, password)) => Ok(Some(Credential::basic(username, password))),
        None => Err("its `auth` has no colon between username and password"),
    }
}
