//! The token in the header of a request to `serve`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use super::access_error::AccessError;

/// The token that a client sends: `Bearer TOKEN`, or the password of `Basic`, as clients send the user information of a
/// mirror's URL. The user name is ignored.
///
/// Spec: RFC 6750, 2.1; RFC 7617, 2.
pub(super) fn token(headers: &HeaderMap) -> Result<Secret, AccessError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(AccessError::NoToken),
        (Some(value), None) => value.to_str().map_err(|_| AccessError::BadAuthorization)?,
        (Some(_), Some(_)) => return Err(AccessError::BadAuthorization),
    };
    let (scheme, rest) = value.split_once(' ').ok_or(AccessError::BadAuthorization)?;
    let rest = rest.trim_matches(' ');
    let token = match scheme {
        _ if scheme.eq_ignore_ascii_case("bearer") => Some(Secret::new(rest)),
        _ if scheme.eq_ignore_ascii_case("basic") => password(rest),
        _ => None,
    };
    token.filter(|token| !token.is_empty()).ok_or(AccessError::BadAuthorization)
}

fn password(encoded: &str) -> Option<Secret> {
    let login = Zeroizing::new(STANDARD.decode(encoded).ok()?);
    let (_, password) = std::str::from_utf8(&login).ok()?.split_once(':')?;
    Some(Secret::new(password))
}
