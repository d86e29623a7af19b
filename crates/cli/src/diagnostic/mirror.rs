//! Errors of `mirror`.

use tofu_oci_mirror::{MirrorError, ModuleMirrorError};
use tofu_oci_source::GitNamer;

use super::{Diagnostic, versions};
use crate::exit::Exit;
use crate::invocation;

/// What to do about a tag of git that names another commit.
const MOVED: &str = "the tag of a version must never move: ask its publisher what happened";

/// What the user does if a repository is to hold two providers, or two modules.
const BOTH_THERE: &str = "if both belong there, add --rename";

impl From<MirrorError> for Diagnostic {
    fn from(error: MirrorError) -> Self {
        let plain = |error: &MirrorError| Self::of(Exit::Fixable, error).code(error.code());
        match error {
            MirrorError::Source(error) => error.into(),
            MirrorError::Fetch(error) => error.into(),
            MirrorError::Pack(error) => error.into(),
            MirrorError::Store(error) => error.into(),
            MirrorError::Copy(error) => (&error.error).into(),
            MirrorError::NotAMirror { .. } => plain(&error)
                .hint("a tree has index.json and VERSION.json as `tofu providers mirror` writes them: move the file away, or name another folder"),
            MirrorError::LinkOutOfTree { .. } => plain(&error).hint("remove the link, or name the folder that it leads to"),
            MirrorError::SharedRepository { ref first, ref second, .. } => plain(&error)
                .exiting(Exit::Usage)
                .hint("write a template that tells them apart: REGISTRY/${hostname}/${namespace}/${type}")
                .preceding(&**second, &**first),
            MirrorError::OtherProvider { ref kept, ref address, .. } => plain(&error)
                .hint("name another repository, or a template with ${hostname}, ${namespace} and ${type}")
                .preceding(&**address, &**kept)
                .hint(BOTH_THERE),
            MirrorError::UpstreamChanged { .. } => plain(&error)
                .hint("a version must never change: ask its publisher what happened")
                .hint("until then keep it out: deny = [\"HOST/NAMESPACE/TYPE@VERSION\"] in mirror.toml"),
            MirrorError::NotSightings { .. } => plain(&error).hint(
                "mirror to another repository; whoever deletes the tag loses what earlier runs recorded",
            ),
            MirrorError::SightingsContended { .. } => {
                plain(&error).hint("run it again when the other programs are done")
            }
            MirrorError::AllGone { .. } => plain(&error)
                .hint("look at what the place lists; if they are really gone, add --allow-all-gone"),
            MirrorError::NoNotices { .. } => {
                plain(&error).hint("delete its files, or mirror to a repository or oci:DIR")
            }
            _ => plain(&error),
        }
    }
}

impl From<ModuleMirrorError> for Diagnostic {
    fn from(error: ModuleMirrorError) -> Self {
        let plain = |error: &ModuleMirrorError| Self::of(Exit::Fixable, error).code(error.code());
        match error {
            ModuleMirrorError::Module(error) => error.into(),
            ModuleMirrorError::Fetch(error) => error.into(),
            ModuleMirrorError::Pack(error) => error.into(),
            ModuleMirrorError::Store(error) => error.into(),
            ModuleMirrorError::Bundle(error) => error.into(),
            ModuleMirrorError::NoMirror { .. } => {
                plain(&error).exiting(Exit::Usage).hint("name a destination for it: --to 'REGISTRY/${namespace}/${name}-${target_system}'")
            }
            ModuleMirrorError::SharedRepository { .. } => plain(&error).exiting(Exit::Usage).hint(
                "write a template that tells them apart: REGISTRY/${hostname}/${namespace}/${name}/${target_system}",
            ),
            ModuleMirrorError::Unmet { ref offered, .. } if !offered.is_empty() => {
                let hint = versions("it has", offered);
                plain(&error).hint(hint)
            }
            ModuleMirrorError::UpstreamChanged { .. } => {
                plain(&error).hint("a version must never change: ask its publisher what happened")
            }
            ModuleMirrorError::OtherAddress { ref address, ref published_as, .. } => plain(&error).renaming(address, &**published_as),
            ModuleMirrorError::OtherModule { ref address, ref kept, .. } => plain(&error)
                .hint("name another repository, or a template with ${namespace}, ${name} and ${target_system}")
                .preceding(&**address, &**kept)
                .hint(BOTH_THERE),
            ModuleMirrorError::OtherVersion { ref address, .. } => plain(&error)
                .hint(format!("name another repository, or another version: --as {address}@NEWVERSION")),
            // A registry says itself which versions it has.
            ModuleMirrorError::RefMoved { ref address, named_by: GitNamer::User, .. } => plain(&error)
                .hint(format!("if the change is meant, mirror it as another version: --as {address}@NEWVERSION"))
                .hint(MOVED),
            ModuleMirrorError::RefMoved { .. } => plain(&error).hint(MOVED),
            ModuleMirrorError::LeavesFolder { .. } => plain(&error).hint(
                "fetch the whole package, publish it with `tofu-oci module push`, and call the folder in it with //FOLDER",
            ),
            ModuleMirrorError::TooMany { .. } => plain(&error).hint(match invocation::verb() {
                "module mirror" => "mirror fewer modules at a time, or add --latest 1",
                _ => "put fewer modules into one bundle",
            }),
            _ => plain(&error),
        }
    }
}
