//! Platform names that Go knows.

use std::path::Path;

use tofu_oci_types::{Platform, is_known_to_go};

use super::UnknownPlatforms;
use crate::PackError;

/// What other tools call them.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("macos", "darwin"),
    ("osx", "darwin"),
    ("mac", "darwin"),
    ("win", "windows"),
    ("win64", "windows"),
    ("x86_64", "amd64"),
    ("x64", "amd64"),
    ("x86", "386"),
    ("i386", "386"),
    ("i686", "386"),
    ("aarch64", "arm64"),
    ("armv5", "arm"),
    ("armv6", "arm"),
    ("armv7", "arm"),
    ("armhf", "arm"),
    ("arm5", "arm"),
    ("arm6", "arm"),
    ("arm7", "arm"),
    ("amd64v1", "amd64"),
];

/// The platform that `text` names; `path` is the file or folder with this name.
pub(super) fn parse(text: &str, path: &Path, unknown: UnknownPlatforms) -> Result<Platform, PackError> {
    match text.parse::<Platform>() {
        Ok(platform) if is_known(&platform) || unknown == UnknownPlatforms::Allow => Ok(platform),
        _ => Err(PackError::UnknownPlatform { found: text.to_owned(), path: path.to_owned(), meant: meant(text) }),
    }
}

fn is_known(platform: &Platform) -> bool {
    is_known_to_go(platform.os(), platform.arch())
}

fn meant(text: &str) -> Option<Platform> {
    let text = text.to_ascii_lowercase();
    let (os, arch) = text.split_once(['_', '-'])?;
    let usual = |name: &str| {
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        other.map_or_else(|| name.to_owned(), |(_, usual)| (*usual).to_owned())
    };
    format!("{}_{}", usual(os), usual(arch)).parse().ok().filter(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let found = match parse(text, Path::new("dist"), UnknownPlatforms::Refuse) {
            Ok(platform) => platform.to_string(),
            Err(PackError::UnknownPlatform { meant: Some(meant), .. }) => format!("meant {meant}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, want, "{text}");
    }

    #[test]
    fn knows_the_names_of_go_and_guesses_at_others() {
        check("linux_amd64", "linux_amd64");
        check("windows_386", "windows_386");
        check("macos_arm64", "meant darwin_arm64");
        check("Linux_x86_64", "meant linux_amd64");
        check("linux_armv7", "meant linux_arm");
        check("linux-amd64", "meant linux_amd64");
        check("darwin_all", "dist is for `darwin_all`, which is not a platform that Go knows");
        check("linux", "dist is for `linux`, which is not a platform that Go knows");
    }

    #[test]
    fn takes_an_unknown_name_when_told_to() {
        let platform = parse("haiku_amd64", Path::new("dist"), UnknownPlatforms::Allow);
        assert_eq!(platform.map(|platform| platform.to_string()).unwrap(), "haiku_amd64");
    }
}
