//! Why a client is not admitted.

use tofu_oci_fault::Fault;

use super::client::ClientName;
use crate::ServedAddress;
use http::StatusCode;
use thiserror::Error;

/// Why a client is not admitted. No text holds what the client sent.
#[derive(Clone, Debug, PartialEq, Eq, Error, Fault)]
pub enum AccessError {
    /// the server wants a token, and the client sent none
    #[error(
        "this server needs a token: put it into a `credentials` block for this host, or into the URL of the mirror (https://ci:TOKEN@HOST/mirror/)"
    )]
    #[fault("token-missing", todo = "put it into a `credentials` block for the host, or into the mirror's URL")]
    NoToken,
    /// the header `Authorization` is neither `Bearer TOKEN` nor Basic with the token as its password
    #[error("the Authorization header must be `Bearer TOKEN`, or Basic with the token as the password")]
    #[fault("authorization-malformed", todo = "send one of the two")]
    BadAuthorization,
    /// no `[[client]]` of `serve.toml` has this token
    #[error("this server does not know the token: it is wrong, or was removed from the configuration")]
    #[fault("token-unknown", todo = "ask the operator for a new one (`serve --new-token`)")]
    UnknownToken,
    /// no pattern of the client's `providers` matches
    #[error("the client {client} may not use {address}: no pattern of its `{}` matches", .address.setting())]
    #[fault("client-not-allowed", todo = "ask the operator to add one")]
    NotAllowed { client: ClientName, address: ServedAddress },
    /// a signed link is older than its lifetime
    #[error("this link has expired: run the command again, so that it asks for a new one")]
    #[fault("link-expired", todo = "run the command again")]
    ExpiredLink { client: ClientName },
    /// a signed link was changed, or its token was removed
    #[error(
        "this link is not valid here: it was changed, or the token that it was made for was removed; run the command again"
    )]
    #[fault("link-invalid", todo = "run the command again")]
    BadLink,
}

impl AccessError {
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
