//! The values of the header `Authorization`.

use reqwest::header::HeaderValue;
use tofu_oci_types::Secret;

/// The `Authorization` of a token; `None` if no header can carry it.
pub fn bearer(token: &Secret) -> Option<HeaderValue> {
    authorization("Bearer", token)
}

/// An `Authorization` of this scheme; `None` if no header can carry it.
pub fn authorization(scheme: &str, secret: &Secret) -> Option<HeaderValue> {
    let whole = Secret::new(format!("{scheme} {}", secret.expose()));
    let mut header = HeaderValue::from_str(whole.expose()).ok()?;
    header.set_sensitive(true);
    Some(header)
}
