//! The values of the header `Authorization`; who gets the user info of an address.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::header::HeaderValue;
use tofu_oci_types::Secret;
use url::Url;

use crate::secret_scrubber::SecretScrubber;

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

/// An address without its user info, and the `Authorization` that the user info makes, if there is one. A user name without
/// a password is a secret: servers take tokens that way.
pub(crate) fn split_login(url: &Url, scrubber: &SecretScrubber) -> (Url, Option<HeaderValue>) {
    if url.username().is_empty() && url.password().is_none() {
        return (url.clone(), None);
    }
    let decoded = |text: &str| Secret::new(percent_decode_str(text).decode_utf8_lossy());
    let (user, password) = (decoded(url.username()), decoded(url.password().unwrap_or_default()));
    if password.is_empty() {
        scrubber.token(user.expose());
    }
    let login = Secret::new(format!("{}:{}", user.expose(), password.expose()));
    let header = authorization("Basic", &Secret::new(STANDARD.encode(login.expose())));
    (without_user_info(url), header)
}

/// The address without its user info.
pub(crate) fn without_user_info(url: &Url) -> Url {
    let mut url = url.clone();
    // Only an address without a host refuses this, and it has no user info.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url
}
