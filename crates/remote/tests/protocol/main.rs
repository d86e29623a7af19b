//! The protocol against a server that behaves as told: every fault and every rule has a test named for it.

mod auth;
mod content;
mod download;
mod network;
mod referrers;
mod retry;
mod server;
mod support;
mod tags;
mod tls;
mod upload;
