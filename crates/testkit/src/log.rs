//! What arrived at a listener, in order of arrival.

use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::RequestHead;

/// One request as the server saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// `GET`, `PUT`, ….
    pub method: String,
    /// The path without the query, as sent (not decoded).
    pub path: String,
    /// The query without `?`, or the empty text.
    pub query: String,
    /// Names in lower case, in order of arrival. Bytes of a value that are not UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// Body bytes that the server has read.
    pub body_len: u64,
    /// The status of the answer; `None` before the answer, or if the connection ended without one.
    pub status: Option<u16>,
}

impl LoggedRequest {
    /// The first value of a header; `name` in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// `METHOD /path -> status`, for snapshots of a conversation.
    pub fn line(&self) -> String {
        let status = self.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        format!("{} {} -> {status}", self.method, self.path)
    }
}

/// The log of one listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Arc<Mutex<LoggedRequest>>>>>);

/// The line that a request in flight writes to.
#[derive(Clone, Debug)]
pub(crate) struct LogEntry(Arc<Mutex<LoggedRequest>>);

impl Log {
    pub(crate) fn begin(&self, head: &RequestHead) -> LogEntry {
        let headers = head.headers.iter();
        let entry = Arc::new(Mutex::new(LoggedRequest {
            method: head.method.clone(),
            path: head.path.clone(),
            query: head.query.clone(),
            headers: headers
                .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
                .collect(),
            body_len: 0,
            status: None,
        }));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&entry));
        LogEntry(entry)
    }

    pub(crate) fn requests(&self) -> Vec<LoggedRequest> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().map(|entry| entry.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl LogEntry {
    pub(crate) fn read(&self, bytes: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).body_len += bytes as u64;
    }

    pub(crate) fn answered(&self, status: u16) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).status = Some(status);
    }
}
