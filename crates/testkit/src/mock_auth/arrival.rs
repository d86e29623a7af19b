//! What arrived at the mock, and the logins that it was shown.

use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::fault::RequestHead;
use crate::registry::query::value;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// `/v2/`.
    Ping,
    /// The list of tags.
    Tags,
    /// A manifest.
    Manifest,
    /// A blob.
    Blob,
    /// What a blob was redirected to.
    Cdn,
    /// The token server.
    Token,
    /// What the token server redirected to.
    #[serde(rename = "token2")]
    TokenTarget,
}

/// The login that a request showed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShownLogin {
    /// Nothing.
    Nothing,
    /// `user:password`; bytes that are not UTF-8 are replaced.
    Basic(String),
    /// A token.
    Bearer(String),
    /// A refresh token, in the form of a POST to a token server.
    Refresh(String),
    /// An `Authorization` of another kind.
    Other(String),
}

impl ShownLogin {
    pub(super) fn of(head: &RequestHead, body: &[u8]) -> Self {
        if let Some(sent) = head.headers.get(AUTHORIZATION) {
            let sent = String::from_utf8_lossy(sent.as_bytes()).into_owned();
            return match sent.split_once(' ') {
                Some(("Basic", login)) => match STANDARD.decode(login) {
                    Ok(login) => Self::Basic(String::from_utf8_lossy(&login).into_owned()),
                    Err(_) => Self::Other(sent),
                },
                Some(("Bearer", token)) => Self::Bearer(token.to_owned()),
                _ => Self::Other(sent),
            };
        }
        let form = String::from_utf8_lossy(body);
        match value(&form, "refresh_token") {
            Some(token) if head.method == "POST" => Self::Refresh(token),
            _ => Self::Nothing,
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What it was for.
    pub kind: ArrivalKind,
    /// `HOST[:PORT]` as the request named it.
    pub host: String,
    /// The repository, for requests to a registry.
    pub repository: String,
    /// What it showed.
    pub shown: ShownLogin,
    /// The `scope` values that a token was asked for.
    pub scopes: Vec<String>,
    /// What was answered.
    pub status: u16,
}
