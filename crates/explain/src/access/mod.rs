//! Which file, entry, helper, scope and answer decide about the access to a repository.
//!
//! ```text
//! user's files --CredentialResolver--> CredentialPolicy --look_up--> CredentialLookup --+
//! registry --probe, observed--> [Exchange], /v2/ ---------+--explain--> AccessExplanation
//! the same inputs --predict--> Prediction ----------------+              |
//!                                                                        +--failure--> Failure, with its advice
//! ```

mod assemble;
mod configuration;
mod exchanges;
mod failure;
mod model;
mod opentofu;
mod runs;
mod sources;

pub use assemble::{AccessFindings, Caller, ProbeOutcome, explain};
pub use configuration::CredentialConfiguration;
pub use exchanges::ExchangeLog;
pub use failure::{AccessAdvice, AccessFailure};
pub use model::{
    AccessExplanation, AccessOutcome, ChosenSource, CredentialKind, CredentialScope, ExchangeKind, ExchangeLine,
    ExplainedFile, ExplainedRun, ExplainedSource, FileCondition, FileProblem, ReleaseNote, RunOutcome, SourceVerdict,
};
pub use runs::held_credential;
pub use sources::sources;
