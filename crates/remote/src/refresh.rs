//! Refresh tokens as they are now.
//!
//! A token server may give a new refresh token with every access token and take the old one back. The new one serves for
//! the rest of the run, for every repository of the same login, and is never written anywhere.

use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_types::Secret;
use url::Url;

/// How many are remembered at most: a login that was replaced is not asked for again.
const MOST: usize = 256;

/// How a token server takes a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefreshGrant {
    /// In a form, as `OAuth2` has it.
    Post,
    /// In place of a password: for servers that know no forms.
    Get,
}

/// A refresh token, and how it is taken. Held while it is being used: the answer may replace it.
pub(crate) struct Refresh {
    pub(crate) token: Secret,
    pub(crate) grant: RefreshGrant,
}

/// The refresh tokens of a run, those used last at the end.
#[derive(Default)]
pub(crate) struct RefreshTokens(Mutex<Vec<KnownRefresh>>);

struct KnownRefresh {
    server: Url,
    /// As it was configured.
    first: Secret,
    now: Arc<tokio::sync::Mutex<Refresh>>,
}

impl RefreshTokens {
    /// What a configured token has become at this server.
    pub(crate) fn of(&self, server: &Url, first: &Secret) -> Arc<tokio::sync::Mutex<Refresh>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|known| known.server == *server && known.first == *first) {
            let known = all.remove(at);
            let now = Arc::clone(&known.now);
            all.push(known);
            return now;
        }
        if all.len() >= MOST {
            all.remove(0);
        }
        let now = Arc::new(tokio::sync::Mutex::new(Refresh { token: first.clone(), grant: RefreshGrant::Post }));
        all.push(KnownRefresh { server: server.clone(), first: first.clone(), now: Arc::clone(&now) });
        now
    }
}
