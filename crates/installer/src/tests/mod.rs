//! Installations against stores in memory and folders on disk.

mod cache;
mod faults;
mod fixture;
mod lock;
mod real_repositories;
mod real_tofu_sources;
mod targets;
