//! Target platforms: `linux_amd64`.

use std::fmt;
use std::str::FromStr;

use crate::serde_text::serde_as_text;

/// An operating system and an architecture by their Go names, written `OS_ARCH`.
///
/// Spec: `OpenTofu` 1.12, getproviders `ParsePlatform`; the names equal OCI's `os` and `architecture`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    os: String,
    arch: String,
}

/// A text that is no platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a platform: it must read OS_ARCH, such as linux_amd64")]
pub struct InvalidPlatform {
    input: String,
}

impl Platform {
    /// The GOOS name, such as `linux`.
    pub fn os(&self) -> &str {
        &self.os
    }

    /// The GOARCH name, such as `amd64`.
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// The platform that this program was built for.
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
            "powerpc64" => "ppc64",
            "loongarch64" => "loong64",
            other => other,
        };
        Self { os: os.to_owned(), arch: arch.to_owned() }
    }
}

impl FromStr for Platform {
    type Err = InvalidPlatform;

    fn from_str(input: &str) -> Result<Self, InvalidPlatform> {
        let invalid = || InvalidPlatform { input: input.to_owned() };
        let (os, arch) = input.split_once('_').ok_or_else(invalid)?;
        let part = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !part(os) || !part(arch) {
            return Err(invalid());
        }
        Ok(Self { os: os.to_owned(), arch: arch.to_owned() })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

serde_as_text!(Platform);
