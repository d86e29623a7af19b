//! What a release is, and what the versions of a repository are.
//!
//! ```text
//! Release --describe--> DescribedRelease { description, time, packages }        each platform's manifest, side by side
//!         --judged----> Verdict                                             refusals are part of the answer
//! versions --look-----> VersionLook { Provider | NotAProvider | Broken }    a few at once
//!          --NoticesOf--> what publishers say of them later, unverified
//! ```

mod attached;
mod describe;
mod look;
mod notices;

pub use attached::{AttachedReferrer, attached};
pub use describe::{DescribedPackage, DescribedRelease, describe};
pub use look::{LookDepth, VersionContent, VersionDetails, VersionLook, VersionsQuestion, kinds, look};
pub use notices::{NoticesOf, VersionNotice};
