//! `auth explain`: which file, entry, helper, scope and answer decide about the access to a repository.
//!
//! ```text
//! user's files --CredentialResolver--> Policy --look_up--> CredentialLookup --+
//! registry --probe, witnessed--> [Exchange], /v2/ -------+--tell--> Explanation --> text, or a JSON line
//! the same inputs --predict--> Prediction ---------------+              |
//!                                                                       +--blame--> the diagnostic at the end
//! ```

mod account;
mod blame;
mod configuration;
mod explain;
mod model;
mod opentofu;
mod tell;
#[cfg(test)]
mod tests;
mod text;
mod wire;

pub(crate) use explain::explain;
