//! Why a client is not admitted.

use super::client::ClientName;
use crate::ServedAddress;
use http::StatusCode;
use thiserror::Error;

/// Why a client is not admitted. No text holds what the client sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Denied {
    /// It sends no token.
    #[error(
        "this server needs a token: put it into a `credentials` block for this host, or into the URL of the mirror (https://ci:TOKEN@HOST/mirror/)"
    )]
    NoToken,
    /// What it sends as `Authorization` is neither a Bearer token nor Basic with one as the password.
    #[error("the Authorization header must be `Bearer TOKEN`, or Basic with the token as the password")]
    BadAuthorization,
    /// No client has this token.
    #[error("this server does not know the token: it is wrong, or was removed from the configuration")]
    UnknownToken,
    /// The client may not see it. It may not even exist.
    #[error("the client {client} may not use {address}: no pattern of its `{}` matches", .address.setting())]
    NotAllowed { client: ClientName, address: ServedAddress },
    /// The link is older than links live.
    #[error("this link has expired: run the command again, so that it asks for a new one")]
    ExpiredLink { client: ClientName },
    /// The link was made for another path, was changed, is good for longer than links are, or its client's token was removed.
    #[error(
        "this link is not valid here: it was changed, or the token that it was made for was removed; run the command again"
    )]
    BadLink,
}

impl Denied {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoToken => "token-missing",
            Self::BadAuthorization => "authorization-malformed",
            Self::UnknownToken => "token-unknown",
            Self::NotAllowed { .. } => "client-not-allowed",
            Self::ExpiredLink { .. } => "link-expired",
            Self::BadLink => "link-invalid",
        }
    }

    /// 401 if a token would help, else 403.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoToken | Self::BadAuthorization | Self::UnknownToken => StatusCode::UNAUTHORIZED,
            Self::NotAllowed { .. } | Self::ExpiredLink { .. } | Self::BadLink => StatusCode::FORBIDDEN,
        }
    }

    /// The values of `WWW-Authenticate`, a header each; none with a 403. Browsers show a dialog for the second one.
    ///
    /// Spec: RFC 9110, 11.6.1; RFC 6750, 3; RFC 7617, 2.1.
    pub fn challenges(&self) -> &'static [&'static str] {
        match self.status() {
            StatusCode::UNAUTHORIZED => &["Bearer realm=\"tofu-oci\"", "Basic realm=\"tofu-oci\", charset=\"UTF-8\""],
            _ => &[],
        }
    }

    /// The client, if it is known which one asks.
    pub fn client(&self) -> Option<&ClientName> {
        match self {
            Self::NotAllowed { client, .. } | Self::ExpiredLink { client } => Some(client),
            Self::NoToken | Self::BadAuthorization | Self::UnknownToken | Self::BadLink => None,
        }
    }
}
