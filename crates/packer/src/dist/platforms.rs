//! The platforms that files are for, by their names.

use std::path::Path;

use tofu_oci_types::{Platform, is_known_to_go, platforms_of_build};

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
    ("armhf", "arm"),
    ("arm5", "arm"),
    ("arm6", "arm"),
    ("arm7", "arm"),
];

/// The platforms that `text` names, and what it demands of a processor; `path` is the file or folder with this name.
pub(super) fn parse(text: &str, path: &Path, unknown: UnknownPlatforms) -> Result<(Vec<Platform>, u8), PackError> {
    let as_written = || Some((vec![text.parse().ok().filter(|_| unknown == UnknownPlatforms::Allow)?], 0));
    platforms_of_build(text).or_else(as_written).ok_or_else(|| PackError::UnknownPlatform {
        found: text.to_owned(),
        path: path.to_owned(),
        meant: meant(text),
    })
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
            Ok((platforms, _)) => platforms.iter().map(Platform::to_string).collect::<Vec<_>>().join(" "),
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
        check("Linux_x86_64", "linux_amd64");
        check("linux_armv7", "linux_arm");
        check("linux_arm7", "meant linux_arm");
        check("linux-amd64", "meant linux_amd64");
        check("darwin_all", "darwin_amd64 darwin_arm64");
        check("linux_all", "dist is for `linux_all`, which is not a platform that Go knows");
        check("linux", "dist is for `linux`, which is not a platform that Go knows");
    }

    #[test]
    fn takes_an_unknown_name_when_told_to() {
        let platform = parse("haiku_amd64", Path::new("dist"), UnknownPlatforms::Allow);
        assert_eq!(platform.map(|(platforms, _)| platforms[0].to_string()).unwrap(), "haiku_amd64");
    }
}
