//! Why a provider comes from where it does, and why access to a repository works or fails.
//!
//! ```text
//! access     credentials, exchanges, the model of OpenTofu --explain--> AccessExplanation, and the failure with its advice
//! providers  every method, asked --verdict--> who serves, or where a program stops, for this program and each OpenTofu
//! ```
//!
//! An explanation is a value; `cli` prints it. The verdicts about a chain come from the rules that
//! [`Chain`](tofu_oci_source::Chain) goes by.

pub mod access;
