//! A folder of release files becomes a release in a store.
//!
//! [`read_dist`] finds out what lies in a folder; [`push()`] writes it to a store, [`plan`] says what [`push()`] would
//! write, [`push_module`] does the same with a module, and [`copy_release`] moves a release that is in a store already. Nothing here prints, and nothing here
//! knows a registry: the caller passes a store.
//!
//! ```text
//! folder --read_dist--> Dist --list--> names, executables         nothing is sent before this has passed
//!                        |
//!                        +--> digest of each file  --> blobs, config, leaf manifest   `jobs` platforms at a time
//!                        +--> h1 of each package   --------------+                    idle cores, or the memo
//!                                                                v
//!                                                  index by digest, check, tag        the tag last of all
//! ```

mod advice;
mod attach;
mod attached_file;
mod conversions;
mod copy;
mod difference;
mod dist;
mod dist_kind;
mod docs;
mod error;
mod found;
mod kept_for;
mod module;
mod other;
mod push;
mod report;
mod request;
mod sign;
mod signing;
mod state;
mod sums_file;
mod tags;
#[cfg(test)]
mod testing;

pub use attach::{AttachFileRequest, AttachReport, AttachableFiles};
pub use attached_file::{ATTACH_LIMIT, AttachType, AttachedFile, InvalidAttachType};
pub use copy::{CopiedRelease, CopyChoice, CopyPlan, CopyRequest, CopySigning, copy_release, plan_copy};
pub(crate) use difference::KnownLeaves;
pub use difference::{ReleaseDifference, TagTaken};
pub use dist::{
    Dist, DistOptions, DistPackage, DistSums, PackageSource, SignedSums, UnknownPlatforms, read_dist, read_dist_with,
};
pub use dist_kind::DistKind;
pub use docs::ReleaseDocs;
pub use error::{
    AttachError, ModuleFault, ModuleTagTaken, OtherModule, PackError, PackageDifference, SignError, StateError,
    UnreadableModule,
};
pub use found::SignAddress;
pub use module::{
    LeftOutFile, ModuleChecks, ModuleContents, ModuleParts, ModulePushRequest, PackedFiles, plan_module_push,
    push_module,
};
pub use other::{KeptForOther, OtherAddress, OtherPlatform, WithdrawnVersion, WrongSum};
pub use push::{ReleaseContents, ZipPackage, plan, publish, push};
pub use report::{
    Attachment, AttachmentState, PlannedItem, PlannedRelease, PlatformReport, PushPlan, PushReport, ReleaseParts,
    ReplacedRelease, SmallLayer, TagState, Transfers,
};
pub use request::{ExecutableCheck, H1Mode, PackageLayout, Publication, PushRequest, Rename, ReplaceTag, SmallLayers};
pub use sign::{SignReport, SignRequest, sign};
pub(crate) use signing::can_be_ended;
pub use signing::{Forms, KeylessSigner, NoticeReport, NoticeRequest, Signer, Signing, SumsMode, put_notice};
pub use state::{StateChange, StatePlan, StateReport, StateRequest};
pub use sums_file::SumsFile;
