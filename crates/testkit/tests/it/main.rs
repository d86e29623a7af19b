//! The testkit's own tests, through its public interface and raw HTTP.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod auth;
mod faults;
mod mock_auth;
mod profiles;
mod real;
mod registry;
mod web;
mod wire;
