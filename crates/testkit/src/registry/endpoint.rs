//! A listener's state, and the body of a request that arrives at it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::StreamExt as _;

use super::auth::AuthState;
use super::behaviour::Behaviour;
use super::content::RegistryContent;
use crate::fault::{Computed, RuleList};
use crate::log::{Log, LogEntry};

/// What a listener answers for.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// `/v2/`, and `/token` when the endpoint shares the port.
    Registry,
    /// `/token` alone.
    Token,
    /// `/signed/v2/`, refusing requests that carry `Authorization`.
    BlobHost,
    /// What the closure answers.
    Web(Computed),
}

/// One listener with everything that it needs to answer.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) role: Role,
    pub(crate) origin: String,
    pub(crate) content: RegistryContent,
    pub(crate) behaviour: Arc<Mutex<Behaviour>>,
    pub(crate) auth: Arc<AuthState>,
    pub(crate) log: Log,
    pub(crate) rules: RuleList,
}

impl Endpoint {
    pub(crate) fn behaviour(&self) -> Behaviour {
        self.behaviour.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A request's body on its way in; every byte read is logged.
pub(crate) struct Incoming {
    stream: BodyDataStream,
    entry: LogEntry,
    pub(crate) keep_only: Option<u64>,
}

/// The peer went away in the middle of a body.
#[derive(Debug)]
pub(crate) struct PeerGone;

impl Incoming {
    pub(crate) fn new(body: Body, entry: LogEntry) -> Self {
        Self { stream: body.into_data_stream(), entry, keep_only: None }
    }

    pub(crate) async fn read_all(&mut self) -> Result<Vec<u8>, PeerGone> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    async fn next(&mut self) -> Result<Option<Bytes>, PeerGone> {
        let Some(bytes) = self.stream.next().await else { return Ok(None) };
        let bytes = bytes.map_err(|_| PeerGone)?;
        self.entry.read(bytes.len());
        Ok(Some(bytes))
    }

    /// Reads to the end, or until at least `limit` bytes have come.
    pub(crate) async fn skip(&mut self, limit: u64) {
        let mut seen = 0;
        while seen < limit {
            let Ok(Some(bytes)) = self.next().await else { return };
            seen += bytes.len() as u64;
        }
    }
}
