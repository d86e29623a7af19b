//! What was meant by a wrong place: what to write instead.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_mapper::TemplateError;
use tofu_oci_tfconfig::is_configuration_file;
use tofu_oci_types::{ReleaseName, RepositoryRef, Tag};

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

/// The file that marks a folder as an image layout.
pub(crate) const LAYOUT_MARK: &str = "oci-layout";

/// What an argument may name; it chooses the advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedEnd {
    /// A repository or an image layout.
    End,
    /// Any place that `--from` reads.
    Place,
}

/// The repository, or a template of them, without the `oci://` that module blocks write before it; its one tag becomes the
/// version after a `:`. Anything else as it is.
pub(crate) fn without_oci(text: &str) -> Cow<'_, str> {
    let plain = text.strip_prefix("oci::").unwrap_or(text);
    let rest = match (plain.get(..6), plain.get(6..)) {
        (Some(scheme), Some(rest)) if scheme.eq_ignore_ascii_case("oci://") && !rest.starts_with('/') => rest,
        _ => return Cow::Borrowed(text),
    };
    let (name, argument) = rest.split_once('?').map_or((rest, None), |(name, argument)| (name, Some(argument)));
    let is_name = name.contains('/') && !name.contains("//") && !name.contains('@');
    match argument.map(|argument| argument.strip_prefix("tag=")) {
        None if is_name => Cow::Borrowed(rest),
        Some(Some(tag)) if is_name && tag.parse::<Tag>().is_ok() => Cow::Owned(format!("{name}:{tag}")),
        _ => Cow::Borrowed(text),
    }
}

/// A file with several providers is named where a repository belongs.
pub(super) fn about_bundle(place: &str) -> Diagnostic {
    let file = without_kind(place);
    let (verb, quoted) = (invocation::verb(), invocation::quoted(file));
    let diagnostic = Diagnostic::usage(format!("`{place}` is not a repository, and `{verb}` takes one here"));
    if verb == "pack" {
        return diagnostic
            .hint("write oci:DIR; `tofu-oci bundle create FILE ADDR --from oci:DIR` then makes a bundle of it");
    }
    if Path::new(file).exists() || invocation::first_word().is_some_and(|first| verb == "copy" && first == place) {
        let to = invocation::second_word().filter(|to| verb == "copy" && *to != place);
        let to = to.map_or_else(|| "'REGISTRY/${namespace}/${type}'".to_owned(), invocation::quoted);
        return diagnostic
            .hint(format!("what is in a bundle goes to repositories with: tofu-oci bundle load {quoted} {to}"))
            .hint(format!("`tofu-oci bundle show {quoted}` lists it"))
            .hint(format!(
                "install, lock, versions, show and verify read it: HOST/NAMESPACE/TYPE --from bundle:{quoted}"
            ));
    }
    let from = invocation::first_word().filter(|_| verb == "copy").map_or(Cow::Borrowed("REPOSITORY"), without_oci);
    let (from, version) = match from.parse() {
        Ok(ReleaseName::Repository { repository, version }) => (repository.to_string(), Some(version.to_string())),
        Ok(ReleaseName::Layout { dir, version }) => (format!("oci:{}", dir.display()), Some(version.to_string())),
        _ => (from.into_owned(), invocation::value_of("version").map(str::to_owned)),
    };
    let version = version.map_or_else(String::new, |version| format!("@{version}"));
    let words = format!("bundle create {quoted} HOST/NAMESPACE/TYPE{version} --from {}", invocation::quoted(&from));
    diagnostic
        .hint(format!("a bundle is made with: {}", invocation::with_all_options(&words)))
        .hint("a directory is written oci:DIR")
}

/// The path without the kind that verbs and other programs write before it.
pub(crate) fn without_kind(text: &str) -> &str {
    let kinds = ["bundle:", "static:", "oci-archive:", "docker-archive:"];
    kinds.iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text)
}

/// What to write instead of a template that an argument gives.
pub(crate) fn template_instead(error: &TemplateError) -> String {
    let plain = error.without_scheme().map(invocation::quoted);
    plain.map_or_else(|| error.instead(), |plain| format!("drop the scheme: {plain}"))
}

/// How a path is written.
pub(super) fn path_hint(text: &str, wanted: WantedEnd) -> String {
    let path = Path::new(text);
    match wanted {
        WantedEnd::Place if path.is_file() => format!("a bundle is written bundle:{text}"),
        WantedEnd::Place if path.is_dir() && !path.join(LAYOUT_MARK).exists() => {
            format!("a folder of packages is written static:{text}, and one of image layouts oci:{text}")
        }
        _ if path.join(LAYOUT_MARK).exists() => format!("a directory is written oci:{text}"),
        _ => about_folder(path).unwrap_or_else(|| format!("a directory is written oci:{text}")),
    }
}

/// What to do with a folder that is not an image layout; `None` for any other path, and if one can be written there.
fn about_folder(folder: &Path) -> Option<String> {
    let files: Vec<PathBuf> = folder.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let has_zip = files.iter().any(|file| file.extension().is_some_and(|end| end == "zip"));
    let name = |file: &PathBuf| file.file_name().is_some_and(|name| is_configuration_file(&name.to_string_lossy()));
    let has_module = files.iter().any(name);
    let (verb, quoted) = (invocation::verb(), invocation::quoted(&folder.to_string_lossy()));
    let second = invocation::second_word().filter(|_| verb == "copy");
    let is_written = ["push", "pack"].contains(&verb) || second.is_some_and(|to| Path::new(to) == folder);
    let to = second.map_or_else(|| "REGISTRY/REPOSITORY".to_owned(), invocation::quoted);
    let words = match (has_zip, has_module) {
        _ if is_written && files.is_empty() => return None,
        _ if is_written => return Some(format!("{quoted} holds other files: name another directory, oci:DIR")),
        (_, true) if verb == "check" => {
            let lock = invocation::command(&format!("lock --chdir {quoted}"));
            return Some(format!("{quoted} is a configuration without a {LOCK_FILE_NAME}, which `{lock}` writes"));
        }
        (true, _) => format!("push {quoted} {to} --address HOST/NAMESPACE/TYPE"),
        (_, true) => format!("module push {quoted} {to} --version VERSION"),
        _ => return Some(format!("{quoted} holds no image layout; `tofu-oci pack` and `tofu-oci copy` write one")),
    };
    Some(format!("{quoted} holds no image layout; to publish what is in it: {}", invocation::with_all_options(&words)))
}

/// A repository that is written with a scheme. `rest` is what follows it.
pub(super) fn scheme_given(text: &str, rest: &str) -> Diagnostic {
    let diagnostic = match text.parse::<RepositoryRef>() {
        Err(error) => Diagnostic::of(Exit::Usage, &error),
        Ok(repository) => Diagnostic::usage(format!("`{repository}` is written with a scheme")),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if text.starts_with("oci:") && Path::new(rest).is_dir() {
        return diagnostic.hint(format!("the directory is written oci:{rest}"));
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, "REPOSITORY"));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let is_template = text.contains("${") || text.contains("%{");
    let without = format!("{host}/{path}");
    let is_version = matches!(without.parse(), Ok(ReleaseName::Repository { .. }));
    let name = path.rsplit_once(':').filter(|(name, _)| !is_template && !name.is_empty()).map(|(name, _)| name);
    let diagnostic = match name {
        Some(name) if !is_version => {
            diagnostic.hint(format!("drop the scheme and name the repository alone: {host}/{name}"))
        }
        _ => diagnostic.hint(format!("drop the scheme: {}", invocation::quoted(&without))),
    };
    diagnostic.more_hints(
        text.strip_prefix("oci:")
            .filter(|dir| Path::new(dir).is_dir())
            .map(|dir| format!("the directory is written oci:/{}", dir.trim_start_matches('/'))),
    )
}

/// A place with many providers is named where a repository belongs.
pub(super) fn takes_repositories(place: &str) -> Diagnostic {
    let verb = invocation::verb();
    if place.starts_with("bundle:") && !reads_places() {
        return about_bundle(place);
    }
    let diagnostic = Diagnostic::usage(format!("`{place}` is not a repository, and `{verb}` takes one here"));
    if reads_places() {
        return diagnostic.hint(names_provider(place));
    }
    diagnostic
        .hint("write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR")
        .hint("install, lock, versions, show and verify read such a place with --from")
}

/// How a place is named that has many providers.
pub(crate) fn names_provider(place: &str) -> String {
    format!("name a provider, and the place with --from: HOST/NAMESPACE/TYPE --from {place}")
}

/// Whether this run's verb reads any place with `--from`.
pub(super) fn reads_places() -> bool {
    matches!(invocation::verb(), "install" | "lock" | "versions" | "show" | "verify" | "outdated" | "resolve")
}

/// How to get what the argument names if it is a module.
pub(crate) fn as_module(text: &str) -> String {
    let (verb, quoted) = (invocation::verb(), invocation::quoted(text));
    let name = if text.starts_with("oci:") { " --as HOST/NAMESPACE/NAME/SYSTEM" } else { "" };
    let words = match (verb, invocation::first_word()) {
        ("mirror", _) => {
            let to = invocation::value_of("to").unwrap_or("oci:DIR");
            format!("module mirror {quoted}{name} --to {}", invocation::quoted(to))
        }
        ("bundle create", Some(file)) => {
            let to = invocation::quoted(&format!("bundle:{}", without_kind(file)));
            format!("module mirror {quoted}{name} --to {to}")
        }
        _ => format!("module pull {quoted} DIR"),
    };
    format!("if it is a module: {}", invocation::command_about_place(&words))
}
