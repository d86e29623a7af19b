//! Readings of files that lie in memory.

mod files;
mod messages;
pub(crate) mod never;
mod oci;
mod places;
mod reading;
mod replay;
mod strict;

pub(crate) use files::MemoryFiles;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Environment, Os, Reading, read};
use crate::TofuRelease;

/// A user `u` of a Unix, in `/w`.
pub(crate) fn environment() -> Environment {
    Environment {
        os: Os::Unix,
        home: Some(PathBuf::from("/home/u")),
        app_data: None,
        launch_dir: PathBuf::from("/w"),
        working_dir: PathBuf::from("/w"),
        vars: BTreeMap::new(),
    }
}

/// What a release makes of one main file.
fn read_text(text: &str, release: TofuRelease) -> Reading {
    let files = MemoryFiles::from([("/home/u/.tofurc", text)]);
    read(&environment(), &files, release)
}
