//! What to do about the files of a build.

use std::path::Path;

use tofu_oci_types::{Version, ZipName};

/// What to do about a folder that has changed since its build.
pub(crate) const BUILD_AGAIN: &str = "the folder is not as the build left it; build the release again";

/// What to do about a file of the build that cannot be understood.
pub(crate) fn well_formed(path: &Path) -> &'static str {
    match path.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
        name if name.ends_with("manifest.json") => {
            "correct the file from which it was built, such as terraform-registry-manifest.json: \
             {\"version\": 1, \"metadata\": {\"protocol_versions\": [\"6.0\"]}}"
        }
        name if name.ends_with("SHA256SUMS") => {
            "each line of it reads as `sha256sum` writes it; write it again, or remove it with its signatures"
        }
        _ => BUILD_AGAIN,
    }
}

/// How a signed checksum file becomes one by which the release can be verified.
pub(crate) fn verifiable(names: Option<&(String, String)>) -> String {
    match names {
        Some(names) if has_other_version(names) => "sign files that are named for this version".to_owned(),
        Some((_, usual)) => format!(
            "in .goreleaser.yaml: `name_template: 'terraform-provider-{}_{{{{ .Version }}}}_{{{{ .Os }}}}_{{{{ .Arch }}}}'` \
             in the archives; then build again",
            ZipName::parse(usual).map_or("TYPE", |usual| usual.provider_type)
        ),
        None => "sign SHA-256 checksums: `algorithm: sha256` in .goreleaser.yaml, or sha256sum *.zip > SHA256SUMS"
            .to_owned(),
    }
}

/// Whether two names of archives say another version.
fn has_other_version((found, usual): &(String, String)) -> bool {
    let version = |name| ZipName::parse(name).and_then(|name| name.version.parse::<Version>().ok());
    version(found).is_some_and(|found| Some(found) != version(usual))
}
