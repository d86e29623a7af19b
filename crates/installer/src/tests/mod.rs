//! Installations against stores in memory and folders on disk.

mod cache;
mod elsewhere;
mod faults;
mod fixture;
mod interleaving_source;
mod limits;
#[cfg(unix)]
mod links;
mod lock;
mod lock_hash_recording;
mod locking;
mod package_cache;
mod parallel;
mod predecessor;
mod real_repositories;
mod signed_lists;
mod signing;
mod targets;
mod trust;
mod unfetched;
mod unwritten;
