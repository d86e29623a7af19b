//! Why a provider or module comes from where it does, why access to a repository works or fails, what a release is, and which
//! providers of a configuration are behind.
//!
//! ```text
//! access     credentials, exchanges, the model of OpenTofu --explain--> AccessExplanation, and the failure with its advice
//! providers  every method, asked --verdict--> who serves, or where a program stops, for this program and each OpenTofu
//! modules    rules of modules.toml, versions --mapping_steps, choose_module--> the rule that counts, the version, why
//! releases   a release, or every version of a repository --describe, look--> packages, time, signatures
//! outdated   constraints, the locked version, a listing --compare--> what an upgrade moves, and what holds it back
//! ```
//!
//! An explanation is a value; `cli` prints it. The verdicts about a chain come from the rules that
//! [`Chain`](tofu_oci_source::Chain) goes by.

pub mod access;
pub mod modules;
pub mod outdated;
pub mod providers;
pub mod releases;
