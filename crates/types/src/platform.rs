//! Target platforms: `linux_amd64`.

use std::fmt;
use std::str::FromStr;

use crate::text_value::text_value;

/// An operating system and an architecture by their Go names, written `OS_ARCH`.
///
/// Case is kept. `OpenTofu` also takes empty halves and any character except blanks. Here each half consists of letters
/// and digits, so that the text is safe as the name of a folder.
///
/// Spec: `OpenTofu` 1.12, getproviders `ParsePlatform`; the names equal OCI's `os` and `architecture`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    os: String,
    arch: String,
}

/// A text that is not a platform.
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
        let part = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
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

text_value!(Platform);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_empty_halves_and_whatever_could_reach_a_path() {
        for input in [
            "_",
            "linux_",
            "_amd64",
            "../x_amd64",
            "linux_..",
            "linux_amd64/..",
            "li\\nux_amd64",
            "linux_\0",
            "lïnux_amd64",
        ] {
            assert!(input.parse::<Platform>().is_err(), "{input:?}");
        }
    }

    #[test]
    fn the_platform_of_this_program_is_one() {
        let current = Platform::current();
        assert_eq!(current.to_string().parse(), Ok(current));
    }
}
