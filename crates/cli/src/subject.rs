//! What arguments name: one grammar for all verbs, `ADDR@VERSION` and `REPOSITORY:VERSION`.
//!
//! ```text
//! read          any form                                      show, verify, versions
//! release_at    REPOSITORY:VERSION, or --version beside it    sign, withdraw, deprecate
//! place         REPOSITORY or REPOSITORY:VERSION              push, copy, check, auth explain
//! provider      ADDR or ADDR@CONSTRAINT                       install, lock, resolve
//! module        HOST/NAMESPACE/NAME/SYSTEM, oci://…, git::…   resolve, verify, beside what else they read
//! ```

mod module;

use std::path::Path;

use tofu_oci_fetch::RenamedReleases;
use tofu_oci_types::{
    Constraints, InvalidProviderAddr, InvalidReleaseName, ModuleName, ProviderAddr, Reference, ReleaseName, Tag,
    Version,
};

use crate::diagnostic::{Diagnostic, brings_back};
use crate::ends::{End, as_module, is_tar, names_provider, without_oci};
use crate::exit::Exit;
use crate::invocation;
use module::{CONSTRAINTS, is_module};
pub(crate) use module::{corrected, is_oci_source, is_repository, module, module_name};

/// Reads what an argument names. `oci:DIR` is that directory if one of the whole name exists.
pub(crate) fn read(text: &str) -> Result<ReleaseName, Diagnostic> {
    let text = &*without_oci(text);
    if text.strip_prefix("oci:").is_some_and(|dir| !dir.is_empty() && Path::new(dir).exists()) {
        return Ok(ReleaseName::Whole(text.to_owned()));
    }
    text.parse().map_err(|error| invalid(text, error))
}

/// A place, and the version that is written after it. It must not name a provider.
pub(crate) fn place(text: &str) -> Result<(End, Option<Version>), Diagnostic> {
    match read(text)? {
        ReleaseName::Repository { repository, version } => Ok((End::Registry(repository), Some(version))),
        ReleaseName::Layout { dir, version } => Ok((End::Layout(dir), Some(version))),
        ReleaseName::Provider { address, constraints } => Err(provider_for_place(text, &address, &constraints)),
        ReleaseName::Whole(text) => Ok((End::parse(&text)?, None)),
    }
}

/// One release at a place: `REPOSITORY:VERSION`, `oci:DIR:VERSION`, or either beside `--version`.
pub(crate) fn release_at(text: &str, given: Option<&Version>) -> Result<(End, Version), Diagnostic> {
    let (end, named) = if is_oci_source(text) { source_at(text)? } else { place(text)? };
    match one_version(text, named, given)? {
        Some(version) => Ok((end, version)),
        None => Err(no_version(text)),
    }
}

/// The repository of a module's source, and the version that its tag is.
fn source_at(text: &str) -> Result<(End, Option<Version>), Diagnostic> {
    let source = match module_name(text) {
        Ok(ModuleName::Oci(source)) => source,
        Err(diagnostic) if text.contains('?') => return Err(diagnostic),
        // A repository with a scheme too many.
        _ => return place(text),
    };
    let repository = source.repository();
    let versions = invocation::command(&format!("module versions oci://{repository}"));
    let refused = |text: String| {
        let hint = format!("write {repository}:VERSION, such as {repository}:1.4.0");
        Diagnostic::usage(text).hint(hint).hint(format!("`{versions}` lists what is there"))
    };
    if !source.subdir().is_root() {
        return Err(refused(format!("`{text}` names a folder, and `{}` is about whole packages", invocation::verb())));
    }
    match source.reference() {
        Reference::Digest(_) => Err(refused(format!("`{text}` names a digest, and a version is wanted"))),
        Reference::Tag(_) if !text.contains("tag=") => Ok((End::Registry(repository.clone()), None)),
        Reference::Tag(tag) => match tag.canonical_version() {
            Some(version) => Ok((End::Registry(repository.clone()), Some(version))),
            None => Err(refused(format!("the tag {tag} of `{text}` is not a version in full"))),
        },
    }
}

/// The version after the place, or that of `--version`. They must not differ.
pub(crate) fn one_version(
    text: &str,
    named: Option<Version>,
    given: Option<&Version>,
) -> Result<Option<Version>, Diagnostic> {
    match (named, given) {
        (Some(named), Some(given)) if named != *given => {
            Err(Diagnostic::usage(format!("`{text}` names version {named}, and --version {given}"))
                .hint("name the version once"))
        }
        (named, given) => Ok(named.or_else(|| given.cloned())),
    }
}

/// A provider, and what its version must meet. It must not name a repository or a directory.
pub(crate) fn provider(text: &str) -> Result<(ProviderAddr, Constraints), Diagnostic> {
    match read(text)? {
        ReleaseName::Provider { address, constraints } => Ok((address, constraints)),
        ReleaseName::Repository { repository, version } => {
            let diagnostic = place_for_provider(text, "repository");
            let with_from = invocation::with_word(text, &format!("HOST/NAMESPACE/TYPE@{version} --from {repository}"));
            Err(match repository.to_string().parse::<ProviderAddr>() {
                _ if is_oci_source(text) => {
                    diagnostic.hint(as_module(text)).hint(format!("for a provider in the repository: {with_from}"))
                }
                Ok(_) => diagnostic
                    .hint(format!("write a provider's version after an @: {repository}@{version}"))
                    .hint(format!("for what is in the repository: {with_from}")),
                Err(_) => diagnostic.hint(with_from),
            })
        }
        ReleaseName::Layout { dir, version } => {
            let from = invocation::quoted(&format!("oci:{}", dir.display()));
            let with_from = invocation::with_word(text, &format!("HOST/NAMESPACE/TYPE@{version} --from {from}"));
            Err(place_for_provider(text, "directory").hint(with_from))
        }
        ReleaseName::Whole(text) => Ok((address(&text)?, Constraints::any())),
    }
}

/// What becomes of a release that names another provider. If the address has no host, the public registry that
/// completes it is a guess.
pub(crate) fn renamed<'a>(mut typed: impl Iterator<Item = &'a String>) -> RenamedReleases {
    let is_short = |text: &'a String| text.split('@').next().is_some_and(|name| name.matches('/').count() < 2);
    if typed.any(is_short) { RenamedReleases::Refuse } else { RenamedReleases::ByPolicy }
}

/// The one version that constraints name. They must not name a range.
pub(crate) fn exact(address: &ProviderAddr, constraints: &Constraints) -> Result<Version, Diagnostic> {
    constraints.exact().cloned().ok_or_else(|| {
        Diagnostic::usage(format!("`{constraints}` is a constraint, and one exact version is wanted"))
            .hint(format!("name one exact version, such as {address}@1.4.0"))
            .hint(format!("`{}` lists them", invocation::versions(address)))
    })
}

/// A provider's address without a version.
pub(crate) fn address(text: &str) -> Result<ProviderAddr, Diagnostic> {
    text.parse().map_err(|error: InvalidProviderAddr| {
        let diagnostic = Diagnostic::of(Exit::Usage, &error);
        let plain = text.split_once("://").map_or(text, |(_, rest)| rest).trim().trim_end_matches('/');
        if plain != text && plain.parse::<ProviderAddr>().is_ok() {
            return diagnostic.hint(format!("write {plain}"));
        }
        let parts = text.rsplit_once('/').filter(|(name, _)| name.parse::<ProviderAddr>().is_ok());
        if let Some((name, version)) = parts.filter(|(_, version)| version.parse::<Version>().is_ok()) {
            return diagnostic.hint(format!("a version follows an @: {name}@{version}"));
        }
        if is_repository(text) || (text.starts_with("oci:") && !text.contains("://")) {
            if invocation::verb() == "verify" {
                return no_version(text);
            }
            let from = format!("HOST/NAMESPACE/TYPE --from {}", invocation::quoted(text));
            let from = invocation::with_word(text, &from);
            if is_module(text) {
                return place_for_provider(text, "module or a repository")
                    .hint(as_module(text))
                    .hint(format!("if it is a repository: {from}"));
            }
            let kind = if text.starts_with("oci:") { "directory" } else { "repository" };
            return place_for_provider(text, kind).hint(from);
        }
        if is_tar(text)
            && invocation::verb() == "bundle create"
            && invocation::first_word().is_some_and(|first| !is_tar(first))
        {
            return Diagnostic::usage("`bundle create` takes the file first, and then what goes into it")
                .hint(invocation::with_first(text));
        }
        if text.starts_with("static:") || text.starts_with("bundle:") {
            return diagnostic.hint(names_provider(text));
        }
        if is_tar(text) {
            return diagnostic.hint(names_provider(&format!("bundle:{text}")));
        }
        if Path::new(text).is_dir() || text.contains("://") {
            return diagnostic
                .hint("name the provider, and where it is with --from: HOST/NAMESPACE/TYPE --from REPOSITORY");
        }
        if invocation::verb() == "mirror" {
            if text.contains("${") {
                return diagnostic.hint(format!("the destination is an option: --to {}", invocation::quoted(text)));
            }
            if text.ends_with('*') {
                return diagnostic.hint(format!("write a [[provider]] with pattern = {text:?} in mirror.toml"));
            }
        }
        diagnostic.hint("write HOST/NAMESPACE/TYPE, such as registry.example.com/acme/widget")
    })
}

/// The argument names a place, and `--from` another one.
pub(crate) fn two_places(text: &str) -> Diagnostic {
    let diagnostic = Diagnostic::usage(format!("`{text}` is the place, and --from names another one"));
    match text.rsplit_once(':') {
        Some((name, version)) if name.parse::<ProviderAddr>().is_ok() => diagnostic
            .hint(format!("write a provider's version after an @: {name}@{version}"))
            .hint("for what is in the repository, omit --from"),
        _ => diagnostic.hint("omit --from, or write HOST/NAMESPACE/TYPE@VERSION"),
    }
}

/// The argument names a release, but no version of it.
fn no_version(text: &str) -> Diagnostic {
    if is_oci_source(text) {
        let versions = invocation::command(&format!("module versions {}", invocation::quoted(text)));
        return Diagnostic::usage(format!("`{text}` names no version"))
            .hint(format!("write '{text}?tag=VERSION', such as '{text}?tag=1.4.0'"))
            .hint(format!("`{versions}` lists what is there"));
    }
    let diagnostic = Diagnostic::usage(format!("`{text}` names no version"))
        .hint(format!("write {text}:VERSION, such as {text}:1.4.0"))
        .hint(list(text));
    if invocation::is_about_modules() { diagnostic } else { diagnostic.hint(list_modules(text)) }
}

fn list(place: &str) -> String {
    let quoted = invocation::quoted(place);
    let versions = if !invocation::is_about_modules() {
        format!("versions {quoted}")
    } else if place.starts_with("oci:") {
        format!("module versions {quoted}")
    } else {
        format!("module versions oci://{quoted}")
    };
    format!("`{}` lists what is there", invocation::command(&versions))
}

/// The same for a verb that takes releases of both kinds.
fn list_modules(place: &str) -> String {
    let source = if place.starts_with("oci:") { place.to_owned() } else { format!("oci://{place}") };
    let versions = invocation::command(&format!("module versions {}", invocation::quoted(&source)));
    format!("`{versions}` lists those of a module")
}

/// A provider is named where a place belongs.
fn provider_for_place(text: &str, address: &ProviderAddr, constraints: &Constraints) -> Diagnostic {
    let version = constraints.exact().map_or_else(|| "VERSION".to_owned(), ToString::to_string);
    let resolve = invocation::command(&format!("resolve {}", address.for_display()));
    let diagnostic =
        Diagnostic::usage(format!("`{text}` names a provider, and `{}` takes a repository", invocation::verb()));
    let diagnostic = match text.split_once('@') {
        Some((name, _)) if is_repository(name) => {
            diagnostic.hint(format!("if {name} is a repository, write {name}:{version}"))
        }
        _ => diagnostic,
    };
    diagnostic.hint(format!("write REPOSITORY:{version}; `{resolve}` says which repository has it"))
}

fn place_for_provider(text: &str, kind: &str) -> Diagnostic {
    Diagnostic::usage(format!("`{text}` names a {kind}, and `{}` takes a provider's address", invocation::verb()))
}

/// What to write instead.
fn invalid(text: &str, error: InvalidReleaseName) -> Diagnostic {
    let diagnostic = Diagnostic::of(Exit::Usage, &error);
    let form = |name: &str| format!("write {name}:VERSION, such as {name}:1.4.0");
    match error {
        InvalidReleaseName::Digest { name, .. } => match name.parse() {
            Ok(ReleaseName::Repository { .. } | ReleaseName::Layout { .. }) => {
                diagnostic.hint(format!("omit the digest: {name}"))
            }
            _ => diagnostic.hint(form(&name)).hint(list(&name)),
        },
        InvalidReleaseName::Empty { name, mark: '@' } => {
            diagnostic.hint(CONSTRAINTS).hint(format!("for any version, omit the @: {name}"))
        }
        InvalidReleaseName::NotAVersion { name, meant: Some(meant), .. } => {
            diagnostic.hint(format!("write {name}:{meant}"))
        }
        InvalidReleaseName::NotAVersion { name, tag, .. } => {
            match tag.parse().ok().and_then(|tag: Tag| tag.withdrawn_version()) {
                Some(version) => diagnostic.hint(brings_back(&format!("{name}:{version}"))),
                None => diagnostic.hint(form(&name)).hint(list(&name)),
            }
        }
        InvalidReleaseName::Empty { name, .. } => diagnostic.hint(form(&name)).hint(list(&name)),
        InvalidReleaseName::AtAfterPlace { name, version, .. } if version.parse::<Version>().is_ok() => {
            diagnostic.hint(format!("write {name}:{version}"))
        }
        InvalidReleaseName::AtAfterPlace { name, .. } => diagnostic.hint(form(&name)),
        InvalidReleaseName::Constraints(_) => match text.split_once("@v") {
            Some((name, version)) if version.parse::<Version>().is_ok() => {
                diagnostic.hint(format!("write {name}@{version}"))
            }
            _ => match text.strip_suffix("@latest") {
                Some(name) if ["install", "lock"].contains(&invocation::verb()) => {
                    diagnostic.hint(format!("for the newest version, omit the @: {name}"))
                }
                _ => diagnostic.hint(CONSTRAINTS),
            },
        },
        InvalidReleaseName::NotAnAddress(_) => {
            diagnostic.hint("write HOST/NAMESPACE/TYPE@VERSION, such as registry.example.com/acme/widget@1.4.0")
        }
        // The same text without the version has the same fault, with hints for repositories.
        InvalidReleaseName::NotARepository(_) => {
            text.rsplit_once(':').and_then(|(name, _)| End::parse(name).err()).unwrap_or(diagnostic)
        }
    }
}

#[cfg(test)]
mod tests;
