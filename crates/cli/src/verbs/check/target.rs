//! What `check` looks at, recognised by how it is written.

use std::path::{Path, PathBuf};

use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_tfconfig::is_configuration_file;
use tofu_oci_trust::PIN_FILE_NAME;
use tofu_oci_types::Version;

use crate::args::CheckArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, is_tar};
use crate::invocation;
use crate::subject;
use crate::verbs::typed::{refuse_given, typed};

/// What `check` looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Repository(End, Option<Version>),
    LockFile(PathBuf),
}

impl Target {
    /// Reads a target. If the text does not decide, the disk says whether it is a lock file.
    pub(super) fn parse(text: &str) -> Result<Self, Diagnostic> {
        if !text.starts_with("oci:")
            && !is_tar(text)
            && let Some(path) = lock_file(text)
        {
            let name = path.file_name().and_then(|name| name.to_str());
            if path.is_file() && name.is_some_and(is_configuration_file) {
                return Err(configuration_file(&path));
            }
            if let Some(diagnostic) = name.filter(|_| path.is_file()).and_then(other_file) {
                return Err(diagnostic);
            }
            return Ok(Self::LockFile(path));
        }
        if is_layout(Path::new(text)) {
            let named = invocation::quoted(&format!("oci:{text}"));
            let is_second = invocation::value_of("against") == Some(text) && invocation::first_word() != Some(text);
            let line = if is_second { format!("--against {named}") } else { invocation::with_word(text, &named) };
            return Err(Diagnostic::usage(format!("{text} is a directory with an OCI image layout"))
                .hint(format!("name it so: {line}")));
        }
        let is_bare = !text.contains(['@', ':']);
        let (end, version) = subject::place(text).map_err(|diagnostic| {
            if subject::is_oci_source(text) {
                diagnostic.hint("for a module's source, add --module")
            } else if is_bare {
                diagnostic.hint(NAMED_BY_PATH)
            } else {
                diagnostic
            }
        })?;
        Ok(Self::Repository(end, version))
    }
}

/// A file of a configuration in the place of the lock file beside it.
fn configuration_file(path: &Path) -> Diagnostic {
    let lock = path.with_file_name(LOCK_FILE_NAME);
    let diagnostic = Diagnostic::usage(format!("{} is a file of a configuration, not a lock file", path.display()));
    if lock.is_file() {
        let lock = invocation::quoted(&lock.to_string_lossy());
        return diagnostic.hint(invocation::with_all_options(&format!("check {lock}")));
    }
    diagnostic.hint(format!("its lock file would be {}, and is not there", lock.display()))
}

/// How a lock file is named.
const NAMED_BY_PATH: &str = "a lock file is named by its path, such as ./.terraform.lock.hcl";

/// A file of this name is no lock file: no lock file is TOML or JSON.
fn other_file(name: &str) -> Option<Diagnostic> {
    let ending = Path::new(name).extension()?;
    if ending != "toml" && ending != "json" {
        return None;
    }
    let diagnostic = Diagnostic::usage(format!("{name} is not a lock file"));
    let diagnostic = match name {
        "trust.toml" | PIN_FILE_NAME => diagnostic.hint("`tofu-oci verify` judges a release by it"),
        "mirror.toml" => diagnostic.hint("`tofu-oci mirror --plan` reads it"),
        "serve.toml" => diagnostic.hint("`tofu-oci serve --check-config` reads it"),
        "modules.toml" => diagnostic.hint("`tofu-oci module pull` and the other verbs for modules read it"),
        _ => diagnostic,
    };
    Some(diagnostic.hint(NAMED_BY_PATH))
}

/// Whether a directory holds an OCI image layout.
///
/// Spec: OCI image-spec 1.1.1, image-layout.md, oci-layout file.
fn is_layout(path: &Path) -> bool {
    path.join("oci-layout").is_file()
}

/// The lock file that a path names: itself, or the one of a directory.
fn lock_file(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let inside = path.join(LOCK_FILE_NAME);
    // A broken link counts as a lock file, so that the error names it.
    if path.extension().is_some_and(|extension| extension == "hcl")
        || path.is_file()
        || path.is_symlink() && !path.is_dir()
    {
        return Some(path.to_owned());
    }
    if is_layout(path) && !inside.exists() {
        return None;
    }
    let said = path.is_absolute() || text.starts_with('.');
    (said || inside.is_file()).then_some(inside)
}

/// Refuses the options that are for lock files, in a check of a repository.
pub(super) fn refuse_other_options(args: &CheckArgs) -> Result<(), Diagnostic> {
    let given = [
        ("--offline", args.offline),
        ("--from", typed(args.lookup.from.as_deref(), "TOFU_OCI_FROM")),
        ("--magic-suffix", typed(args.lookup.magic_suffix.as_deref(), "TOFU_OCI_MAGIC_SUFFIX")),
    ];
    let hint = "the repository that is named is the one that is read; a lock file is named by its path";
    refuse_given(&given, |option| format!("{option} is for lock files, and this is a repository"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = match Target::parse(text).expect(text) {
            Target::Repository(end, None) => end.to_string(),
            Target::Repository(end, Some(version)) => format!("{end} at {version}"),
            Target::LockFile(path) => format!("lock file {}", path.display()),
        };
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn targets_are_told_apart_by_how_they_are_written() {
        check("ghcr.io/acme/widget", "ghcr.io/acme/widget");
        check("127.0.0.1:5000/acme/widget", "127.0.0.1:5000/acme/widget");
        check("127.0.0.1:5000/acme/widget:1.0.0_linux.5", "127.0.0.1:5000/acme/widget at 1.0.0+linux.5");
        check("oci:no/such/dir", "oci:no/such/dir");
        check("oci:no/such/dir:1.2.0", "oci:no/such/dir at 1.2.0");
        check(".terraform.lock.hcl", "lock file .terraform.lock.hcl");
        check("infra/other.hcl", "lock file infra/other.hcl");
        check(".", "lock file ./.terraform.lock.hcl");
        assert!(Target::parse("ghcr.io/acme/widget:latest").is_err());
    }

    #[track_caller]
    fn check_source(text: &str, want: bool) {
        assert_eq!(subject::is_oci_source(text), want, "{text}");
    }

    #[test]
    fn sources_are_told_from_directories() {
        check_source("oci://example.com/a?tag=1", true);
        check_source("OCI://example.com/a", true);
        check_source("oci::https://example.com/a", true);
        check_source("oci:///srv/layout", false);
        check_source("oci:layout", false);
        check_source("example.com/a", false);
        check_source("oci:\u{e4}/", false);
    }
}
