//! What a release is, and what the versions of a repository are.
//!
//! ```text
//! Release --describe--> ReleaseFacts { description, time, packages }        each platform's manifest, side by side
//!         --judged----> Verdict                                             refusals are part of the answer
//! versions --look-----> VersionLook { Release | NotAProvider | Broken }     at most a few at once
//! ```

mod describe;
mod judged;
mod look;

pub use describe::{PackageFacts, ReleaseFacts, describe};
pub use judged::{SignatureStanding, judged};
pub use look::{LookDepth, VersionContent, VersionDetails, VersionLook, VersionsQuestion, kinds, look};
