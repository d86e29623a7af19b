//! The protocol against a server that behaves as told: every fault and every rule has a test named for it.

#![expect(clippy::similar_names, reason = "what is served and the server that serves it")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod auth;
mod challenges;
mod content;
mod documents;
mod download;
mod dripping;
mod expiry;
mod moments;
mod network;
mod new_repository;
mod parts;
mod probe;
mod reach;
mod referrers;
mod retry;
mod rotation;
mod secrets;
mod server;
mod support;
mod tagging;
mod tags;
mod tls;
mod tokens;
mod untagging;
mod upload;
