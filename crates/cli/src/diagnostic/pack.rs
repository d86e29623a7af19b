//! Errors of `push`, `pack`, `copy`, `sign`, `withdraw` and `deprecate`.

use std::path::Path;

use tofu_oci_packer::{DistKind, ModuleFault, OtherAddress, PackError, ReleaseDifference, TagTaken, WithdrawnVersion};
use tofu_oci_store::CopyError;
use tofu_oci_tfconfig::is_configuration_file;
use tofu_oci_types::{Version, ZipName};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

impl From<PackError> for Diagnostic {
    fn from(error: PackError) -> Self {
        let diagnostic = Self::of(exit(&error), &error).code(error.code());
        match &error {
            PackError::Store(error) => Self::from(error),
            PackError::NoFolder { .. } | PackError::NotAFolder { .. } => {
                diagnostic.hint("name the folder that holds the release files, such as dist")
            }
            PackError::NothingFound { looked_for, seen, .. } => diagnostic.nothing_hint(looked_for, seen),
            PackError::TwoPackages { kind: DistKind::GoReleaser, .. } => diagnostic.hint(
                "a release has one package for each platform: let `archives`, `builds` or `ignore` of .goreleaser.yaml make one, \
                 and build again",
            ),
            PackError::TwoPackages { .. } => diagnostic.hint("remove the one that does not belong to this release"),
            PackError::UnknownPlatform { meant: Some(meant), .. } => diagnostic.hint(format!("did you mean {meant}?")),
            PackError::UnknownPlatform { .. } => {
                diagnostic.hint("platforms are named OS_ARCH as Go names them, such as linux_amd64 or darwin_arm64")
            }
            PackError::InvalidVersion { meant: Some(meant), .. } => diagnostic.hint(format!("write {meant}")),
            PackError::VersionConflict { found, .. } => diagnostic.hint(format!("omit the version, or write {found}")),
            PackError::VersionUnknown { .. } => diagnostic.hint("say it: --version 1.4.0"),
            PackError::SeveralVersions { versions, .. } => match versions.last() {
                Some(newest) => diagnostic.hint(format!("choose one: --version {newest}")),
                None => diagnostic,
            },
            PackError::SeveralTypes { .. } => diagnostic.hint("publish each provider from a folder of its own"),
            PackError::TypeConflict { found, .. } => {
                diagnostic.hint(format!("the last part of --address is the provider's type: {found}"))
            }
            PackError::WrongSum { .. } => {
                diagnostic.hint("the file or the checksum file is not the one of the release; build the release again")
            }
            PackError::NoSum { .. } => diagnostic.hint("a checksum file must name every package, or not be there"),
            PackError::NoExecutable { found, provider_type, .. } => {
                let diagnostic = diagnostic.hint(format!(
                    "the program lies in the package's root as terraform-provider-{provider_type}[_vVERSION]"
                ));
                if found.is_empty() { diagnostic } else { diagnostic.hint(format!("it holds {}", found.join(", "))) }
            }
            PackError::OtherPlatform(found) => diagnostic
                .hint(format!(
                    "build the package again for {}, or name it for the platform of its program",
                    found.platform
                ))
                .hint("to publish it all the same, add --skip-executable-check"),
            PackError::OtherAddress(found) => diagnostic.address_hint(found),
            PackError::KeptForOther(kept) => diagnostic.kept_for_hint(kept),
            PackError::Archive { source, .. } => diagnostic.archive_hint(source),
            PackError::InvalidVersion { .. } => {
                diagnostic.hint("versions read MAJOR.MINOR.PATCH, such as 1.4.0 or 2.0.0-beta.1")
            }
            PackError::UnreadableName { .. } => diagnostic.hint("rename it, or move it out of the folder"),
            PackError::WrongFormat { .. } => {
                diagnostic.hint("set `formats: [zip]` in the archives of .goreleaser.yaml")
            }
            PackError::Malformed { path, .. } => diagnostic.hint(well_formed(path)),
            PackError::Missing { .. } => diagnostic.hint(BUILD_AGAIN),
            PackError::LayersDiffer { .. } => diagnostic.hint("this is a bug: please report it with the zip"),
            PackError::SmallLayerTooDense { .. } => diagnostic.hint("publish the release without --small"),
            PackError::Vanished { .. } => {
                diagnostic.hint("the registry lost or deletes it; run the same command again, and tell its operator")
            }
            PackError::NoTag { .. } => diagnostic.hint("shorten the prerelease or the build metadata"),
            PackError::NothingToCopy { .. } => diagnostic.hint(
                "`tofu-oci versions REPOSITORY` lists what is there; of a module: `tofu-oci module versions oci://REPOSITORY`",
            ),
            PackError::PrivateKey { .. } => diagnostic
                .hint("nothing was sent; move it out of the folder, and check where the folder has been before"),
            PackError::WrongSumsSignature { .. } => {
                diagnostic.hint("nothing was sent; sign the file again, or omit it with its signatures: --sums skip")
            }
            PackError::UnverifiableSums { names, .. } => diagnostic
                .hint(verifiable(names.as_deref()))
                .hint("to publish the release without this signature: --sums skip"),
            PackError::Module(fault) => diagnostic.module_hint(fault),
            PackError::Sign(error) => diagnostic.sign_hint(error),
            PackError::State(error) => diagnostic.state_hint(error),
            PackError::Io { action: action @ "create a folder in", path, source } => {
                diagnostic.io_hint(action, path, source).hint("set TMPDIR to a folder that you may write to")
            }
            PackError::Io { action, path, source } => diagnostic.io_hint(action, path, source),
            PackError::Copy(CopyError { side, error }) => {
                Self::from(error).cause(format!("it happened at the {side} of the copy"))
            }
            PackError::Withdrawn(withdrawn) => diagnostic.withdrawn_hint(withdrawn),
            PackError::TagTaken(taken) => diagnostic.taken_hint(taken),
            PackError::NoRelease { offered, .. } if !offered.is_empty() => {
                let list = offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                diagnostic.hint(format!("it has {list}"))
            }
            _ => diagnostic,
        }
    }
}

/// What to do about a folder that has changed since its build.
const BUILD_AGAIN: &str = "the folder is not as the build left it; build the release again";

impl Diagnostic {
    /// What was looked for in a folder without packages, and what is there.
    fn nothing_hint(self, looked_for: &[&str], seen: &[String]) -> Self {
        let diagnostic = self.hint(format!("looked for {}", looked_for.join("; ")));
        let diagnostic = if seen.iter().any(|name| is_configuration_file(name)) {
            diagnostic.hint("to publish a folder with a module: tofu-oci module push DIR REPOSITORY --version V")
        } else {
            diagnostic
        };
        if seen.is_empty() {
            diagnostic.hint("the folder is empty")
        } else {
            diagnostic.hint(format!("found {}", seen.join(", ")))
        }
    }

    /// What to do about a version that was withdrawn.
    fn withdrawn_hint(self, withdrawn: &WithdrawnVersion) -> Self {
        let undo = invocation::command(&format!("withdraw {}:{} --undo", withdrawn.place, withdrawn.version));
        let (who, what) =
            if invocation::is_about_modules() { ("configurations", "module") } else { ("lock files", "release") };
        self.cause(format!("its content is still there, under the tag {}", withdrawn.tag))
            .hint(format!("publish the change as another version: {who} may still name this one"))
            .hint(format!("if it was withdrawn by mistake: {undo}"))
            .hint(format!("to publish this {what} under the version all the same, add --replace-tag"))
    }

    /// What to do about a tag that another release has.
    fn taken_hint(self, taken: &TagTaken) -> Self {
        let what = match taken.difference {
            ReleaseDifference::Packages => {
                "publish the change as a new version: lock files refuse another package under a known one"
            }
            ReleaseDifference::Extent => {
                "push with the --layout and the platforms of the published release, and nothing has to be sent"
            }
            ReleaseDifference::Layers => {
                "the published release has the same zips, and differs in small layers: push again with (or without) --small, \
                 as it was pushed, or publish a new version"
            }
            ReleaseDifference::Annotations => {
                "what clients install is the same: the address (--address), the checksums (--h1) or the protocol versions differ"
            }
            ReleaseDifference::NotARelease => "check that this is the repository you mean",
        };
        let diagnostic = self.hint(what).hint(move_hint(taken));
        if !matches!(taken.difference, ReleaseDifference::Layers) {
            return diagnostic;
        }
        diagnostic.hint(
            "--replace-tag marks the old index as withdrawn, and `ch:` lines of lock files no longer match; `zh:` and `h1:` still do",
        )
    }

    /// The same with the ways on for a repository that is kept for another address.
    fn address_hint(self, found: &OtherAddress) -> Self {
        if !["push", "pack"].contains(&invocation::verb()) {
            return self.renaming(&found.given, &found.kept);
        }
        let diagnostic = if found.kept.provider_type() == found.given.provider_type() {
            self.hint(format!("publish it as the others: --address {}", found.kept))
        } else {
            self.hint("check that this is the repository that you mean: each provider has its own")
        };
        diagnostic.hint(format!("to publish as {} all the same, add --rename", found.given))
    }
}

/// How a tag is moved, with the provider that it is taken from.
fn move_hint(taken: &TagTaken) -> String {
    match &taken.of {
        // These verbs move no tag.
        _ if ["mirror", "bundle load"].contains(&invocation::verb()) => {
            "name another repository: the release there stays".to_owned()
        }
        Some(address) => {
            format!("the tag points at a release of {address}; to move it all the same, add --replace-tag")
        }
        None => "to move the tag all the same, add --replace-tag".to_owned(),
    }
}

/// What to do about a file of the build that cannot be understood.
fn well_formed(path: &Path) -> &'static str {
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
fn verifiable(names: Option<&(String, String)>) -> String {
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

fn exit(error: &PackError) -> Exit {
    match error {
        PackError::NotAFolder { .. } => Exit::Usage,
        PackError::Module(fault) if matches!(**fault, ModuleFault::NotAFolder { .. }) => Exit::Usage,
        PackError::Vanished { .. } => Exit::Unexpected,
        PackError::Io { source, .. } => super::io::io_exit(source),
        _ => Exit::Fixable,
    }
}
