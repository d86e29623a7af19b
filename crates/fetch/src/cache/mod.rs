//! Unpacked packages by content, which the projects of a user share.
//!
//! ```text
//! ROOT/packages-v1/        the user's alone (0700); nothing outside it is believed
//!   content/H1/            one package: record.json (its files), files/… (read-only)
//!   sources/zh-…, ch-…, small-…  which package a zip, the leaf manifest of an image or a small layer was unpacked to, and
//!                          which modes it gave the files; contents that a lock file proves need no source
//!   files/DEVICE-INODE     what a large file holds, while its times and size stay as they are (`FileMemo`)
//!   locks/…                one run at a time fetches a zip, or takes a package out
//!   scratch/               what is being made; the next run removes what a killed one left
//!
//! Offer --wanted--> CacheRequest --take--> Staged (as if it had been fetched) --verify--> Verified --keep--> content/…
//! ```
//!
//! The cache holds bytes and no permission: what it gives goes through every check that a fetched package goes through.
//! Whatever fails here costs a download or a warning, and never the installation.

mod keep;
mod reserve;
mod stock;
mod take;
#[cfg(test)]
mod tests;

pub(crate) use keep::{CacheWrite, KeepOutcome};
pub(crate) use reserve::Reservation;
pub use stock::{CacheHealth, CacheInfo, DamagedPackage, KeptPackage, PruneAct, PruneRules, Pruned};
pub(crate) use take::CacheRequest;
