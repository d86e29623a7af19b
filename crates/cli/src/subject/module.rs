//! Modules and their repositories, as arguments name them.

use tofu_oci_types::{
    Digest, InvalidModuleName, InvalidModuleSource, ModuleAddr, ModuleName, RepositoryRef, Tag, Version,
};

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

/// How constraints are written.
pub(super) const CONSTRAINTS: &str = "write @1.4.0, @'~> 1.4' or @'>= 1.2, < 2.0', quoted for your shell";

/// How modules are named.
const FORMS: &str =
    "write oci://REPOSITORY?tag=TAG, HOST/NAMESPACE/NAME/SYSTEM@CONSTRAINT, git::URL?ref=REF or oci:DIR:VERSION";

/// The module that an argument names: a source as module blocks have it, or the four parts of the address of a module in a
/// registry. `None` if it names something else; every provider and most repositories have fewer parts.
/// It fails if the argument names a module, and something about it is invalid.
pub(crate) fn module(text: &str) -> Result<Option<ModuleName>, Diagnostic> {
    let path = text.split('@').next().unwrap_or_default().split("//").next().unwrap_or_default();
    if is_oci_source(text) || text.starts_with("git::") || is_module(path) {
        return module_name(text).map(Some);
    }
    Ok(None)
}

/// Whether the text is a source as module blocks have it; `oci:///srv/x` is `oci:` and a path.
pub(crate) fn is_oci_source(text: &str) -> bool {
    let scheme = text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("oci://"));
    text.starts_with("oci::") || (scheme && !text[6..].starts_with('/'))
}

/// A module, named in any form.
pub(crate) fn module_name(text: &str) -> Result<ModuleName, Diagnostic> {
    let bare = || {
        // For a module of a registry, the user may have meant the version.
        let is_module = text.rsplit_once(':').is_some_and(|(name, _)| is_module(name));
        let is_bare = !text.contains("://") && !text.contains(['?', '@']) && !text.starts_with("oci:") && !is_module;
        source_of_repository(text).filter(|_| is_bare)?.parse().ok()
    };
    text.parse().or_else(|error| bare().ok_or_else(|| no_module(text, &error)))
}

/// Why an argument names no module.
fn no_module(text: &str, error: &InvalidModuleName) -> Diagnostic {
    // Module blocks also take folders; arguments do not.
    let diagnostic = match error {
        InvalidModuleName::Source(InvalidModuleSource::Unknown { input }) => {
            Diagnostic::of(Exit::Usage, &InvalidModuleName::OtherKind { input: input.clone() })
        }
        error => Diagnostic::of(Exit::Usage, error),
    };
    let diagnostic = diagnostic.code(error.code());
    match error {
        InvalidModuleName::Constraints(_) => diagnostic.hint(CONSTRAINTS),
        InvalidModuleName::OtherKind { .. } => {
            diagnostic.hint(FORMS).hint("`tofu get` in a configuration that names it fetches any other source")
        }
        InvalidModuleName::Git(error) if error.code() == "git-ssh-key" => {
            diagnostic.hint("give the key to the agent (ssh-add), or name it in GIT_SSH_COMMAND")
        }
        InvalidModuleName::Git(error) if error.code() == "git-reference" => {
            let parts = text.split_once('?').and_then(|(name, rest)| Some((name, rest.split_once("//")?)));
            let diagnostic = match parts {
                Some((name, (reference, sub))) => {
                    diagnostic.hint(format!("the folder stands before the ?: {name}//{sub}?{reference}"))
                }
                None => diagnostic,
            };
            diagnostic.hint("ref= takes a branch, a tag or a commit, such as ref=v1.4.0")
        }
        InvalidModuleName::Git(_) => {
            diagnostic.hint("write git::https://HOST/PATH.git//SUB?ref=REF, or git::ssh://git@HOST/PATH.git")
        }
        _ => match of_registry(text) {
            Some(name) => diagnostic.hint(format!("a version follows an @: {name}")),
            None => diagnostic.hint(corrected(text).unwrap_or_else(|| FORMS.to_owned())),
        },
    }
}

/// How the source of a repository is written that is refused as it is.
pub(crate) fn corrected(text: &str) -> Option<String> {
    let source = source_of_repository(text).filter(|source| source != text)?;
    Some(format!("a repository is written {}", invocation::quoted(&source)))
}

/// The name of a module of a registry whose version is written as for a repository: `HOST/NAMESPACE/NAME/SYSTEM:1.4.0` or
/// `…?version=1.4.0`.
fn of_registry(text: &str) -> Option<String> {
    let (name, version) = match text.split_once('?') {
        Some((name, argument)) => (name, argument.split_once('=').filter(|of| is_version_argument(of.0, of.1))?.1),
        None => text.rsplit_once(':').filter(|of| of.1.parse::<Version>().is_ok())?,
    };
    let is_module = matches!(name.parse(), Ok(ModuleName::Registry { .. }));
    is_module.then(|| format!("{name}@{version}"))
}

/// The source of a repository that is written as for other programs: `ghcr.io/acme/network:1.4.0`, with a digest after an `@`, or
/// without both.
fn source_of_repository(text: &str) -> Option<String> {
    let plain = text.strip_prefix("oci::").unwrap_or(text);
    let plain = plain.split_once("://").map_or(plain, |(_, rest)| rest);
    let (plain, argument) = plain.split_once('?').map_or((plain, None), |(plain, rest)| (plain, Some(rest)));
    let (plain, before) = plain.split_once("//").map_or((plain, None), |(plain, sub)| (plain, Some(sub)));
    let (argument, after) = match argument.and_then(|argument| argument.split_once("//")) {
        Some((argument, sub)) => (Some(argument), Some(sub)),
        None => (argument, None),
    };
    let sub = before.or(after).map_or_else(String::new, |sub| format!("//{sub}"));
    let arguments = argument.map_or_else(String::new, |argument| match argument.split_once('=') {
        Some((name, version)) if is_version_argument(name, version) => format!("?tag={version}"),
        _ => format!("?{argument}"),
    });
    let (name, arguments) = match (plain.split_once('@'), plain.rsplit_once(':')) {
        (Some((name, digest)), _) if digest.parse::<Digest>().is_ok() => (name, format!("?digest={digest}")),
        (Some((name, version)), _) if version.parse::<Version>().is_ok() => {
            (name, format!("?tag={}", version.replace('+', "_")))
        }
        (Some((name, _)), _) => (name, String::new()),
        (None, Some((name, tag))) if tag.replace('+', "_").parse::<Tag>().is_ok() && name.contains('/') => {
            (name, format!("?tag={}", tag.replace('+', "_")))
        }
        _ => (plain, arguments),
    };
    is_repository(name).then(|| format!("oci://{name}{sub}{arguments}"))
}

/// Whether an argument was to give a version: `version=1.4.0`, `ref=v1.4.0`, `Tag=1.4.0`, `digest=1.4.0`. Only then is
/// its value not a secret.
fn is_version_argument(name: &str, value: &str) -> bool {
    let is_meant = ["version", "ref", "tag", "digest"].iter().any(|meant| name.eq_ignore_ascii_case(meant));
    is_meant && value.strip_prefix('v').unwrap_or(value).parse::<Version>().is_ok() && value.parse::<Tag>().is_ok()
}

/// Whether it is a repository, by its host: one label alone, as in `a/b/c`, may be anything.
pub(crate) fn is_repository(text: &str) -> bool {
    text.parse::<RepositoryRef>()
        .is_ok_and(|repository| repository.registry().contains(['.', ':']) || repository.registry() == "localhost")
}

/// Whether it may be a module of a registry: HOST/NAMESPACE/NAME/SYSTEM.
pub(super) fn is_module(text: &str) -> bool {
    text.split('/').count() == 4 && text.parse::<ModuleAddr>().is_ok()
}
