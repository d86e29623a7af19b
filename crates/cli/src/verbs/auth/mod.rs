//! `auth explain`: which file, entry, helper, scope and answer decide about the access to a repository.
//!
//! ```text
//! user's files --Wallet--> Policy --look_up--> Account --+
//! registry --probe, witnessed--> [Exchange], /v2/ -------+--tell--> Explanation --> text, or a JSON line
//! the same inputs --predict--> Prediction ---------------+              |
//!                                                                       +--blame--> the complaint at the end
//! ```

mod account;
mod blame;
mod model;
mod opentofu;
mod tell;
mod text;
mod wire;
#[cfg(test)]
mod tests;

pub(crate) async fn explain(_: &super::Context, _: &crate::args::AuthExplainArgs) -> Result<(), crate::complaint::Complaint> { Ok(()) }
