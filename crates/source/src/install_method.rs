//! The kinds of installation methods.

use std::fmt;

use serde::Serialize;

/// The kind of an installation method. `Display` is the name of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallMethod {
    /// `oci_mirror`.
    Oci,
    /// `direct`, whatever it leads to.
    Direct,
    /// `network_mirror`.
    NetworkMirror,
    /// `filesystem_mirror`, and the folders that need no configuration.
    Filesystem,
}

impl fmt::Display for InstallMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Oci => "oci_mirror",
            Self::Direct => "direct",
            Self::NetworkMirror => "network_mirror",
            Self::Filesystem => "filesystem_mirror",
        })
    }
}
