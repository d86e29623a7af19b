//! The places that arguments name: repositories, templates of them, and places that are only read.

use std::path::{Path, PathBuf};

use tofu_oci_mapper::config::check_mirror_url;
use tofu_oci_mapper::{RepositoryTemplate, TemplateError, TemplateRepositories};
use tofu_oci_types::{Place, ProviderAddr, ReleaseName, RepositoryRef, masked};

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

/// The file that marks a folder as an image layout.
pub(crate) const LAYOUT_MARK: &str = "oci-layout";

/// One end, as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A repository of a registry.
    Registry(RepositoryRef),
    /// An OCI image layout directory.
    Layout(PathBuf),
}

/// What an argument may name; it chooses the advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WantedEnd {
    /// A repository or an image layout.
    End,
    /// Any place that `--from` reads.
    Place,
}

impl End {
    /// Reads `REGISTRY/REPOSITORY` or `oci:DIR`.
    pub(crate) fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_as(text, WantedEnd::End)
    }

    fn parse_as(text: &str, wanted: WantedEnd) -> Result<Self, Diagnostic> {
        match read_only(text)? {
            Some(place @ (Place::Folder(_) | Place::Bundle(_))) => return Err(takes_repositories(&shown(&place))),
            // A network mirror, or a repository with a scheme and a slash.
            Some(place) if reads_places() => return Err(takes_repositories(&shown(&place))),
            _ => {}
        }
        if let Some(rest) = without_scheme(text) {
            let diagnostic = scheme_given(text, rest);
            return Err(match wanted {
                WantedEnd::Place if text.starts_with("https://") => {
                    diagnostic.hint(format!("the address of a network mirror ends with a slash: {}/", masked(text)))
                }
                _ => diagnostic,
            });
        }
        if let Some(dir) = text.strip_prefix("oci:") {
            if dir.is_empty() {
                return Err(Diagnostic::usage("`oci:` names no directory").hint("write it as oci:DIR"));
            }
            return Ok(Self::Layout(PathBuf::from(dir)));
        }
        text.parse().map(Self::Registry).map_err(|error| {
            let diagnostic = Diagnostic::of(Exit::Usage, &error);
            let plain = text.trim().trim_end_matches('/').to_lowercase();
            if plain != text && plain.parse::<RepositoryRef>().is_ok() {
                return diagnostic.hint(format!("write {plain}"));
            }
            if Path::new(text).exists() || text.starts_with(['.', '/']) {
                return diagnostic.hint(path_hint(text, wanted));
            }
            if let Some((repository, _)) = text.rsplit_once(':')
                && repository.parse::<RepositoryRef>().is_ok()
            {
                return diagnostic
                    .hint(format!("name the repository alone, {repository}{}", invocation::and_the_version()));
            }
            let diagnostic = diagnostic.hint(match wanted {
                WantedEnd::End if invocation::is_about_modules() => {
                    "write REGISTRY/REPOSITORY, such as ghcr.io/acme/network, or oci:DIR"
                }
                WantedEnd::End => {
                    "write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR"
                }
                WantedEnd::Place => {
                    "write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR, static:DIR, \
                     bundle:FILE or https://HOST/PATH/"
                }
            });
            // What double quotes leave of `…/${namespace}/${type}` and `…-${type}`.
            if text.contains("//") || text.ends_with(['-', '_', '.']) {
                return diagnostic.hint("quote a template with ' for your shell: 'ghcr.io/acme/${type}'");
            }
            diagnostic
        })
    }
}

/// How a path is written.
fn path_hint(text: &str, wanted: WantedEnd) -> String {
    let path = Path::new(text);
    match wanted {
        WantedEnd::Place if path.is_file() => format!("a bundle is written bundle:{text}"),
        WantedEnd::Place if path.is_dir() && !path.join(LAYOUT_MARK).exists() => {
            format!("a folder of packages is written static:{text}, and one of image layouts oci:{text}")
        }
        _ => format!("a directory is written oci:{text}"),
    }
}

/// What follows the scheme of a repository that is written as an address of the web or of a module: `https://ghcr.io/x`,
/// `oci://ghcr.io/x`. `oci:///srv/x` is `oci:` and a path.
fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.strip_prefix("oci::").unwrap_or(text).split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one));
    (is_scheme && !rest.starts_with('/')).then_some(rest)
}

/// A repository that is written with a scheme. `rest` is what follows it.
fn scheme_given(text: &str, rest: &str) -> Diagnostic {
    let diagnostic = match text.parse::<RepositoryRef>() {
        Err(error) => Diagnostic::of(Exit::Usage, &error),
        Ok(repository) => Diagnostic::usage(format!("`{repository}` is written with a scheme")),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
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
    match text.strip_prefix("oci:").filter(|dir| Path::new(dir).is_dir()) {
        Some(dir) => diagnostic.hint(format!("the directory is written oci:/{}", dir.trim_start_matches('/'))),
        None => diagnostic,
    }
}

impl End {
    /// Where it is.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Registry(repository) => Place::Registry(repository.clone()),
            Self::Layout(dir) => Place::Layout(dir.clone()),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.place().fmt(f)
    }
}

/// Where `--from` says that providers are: one end, or one for each address by a template.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// One end for whatever is asked for.
    One(End),
    /// A template for registries.
    Repositories(RepositoryTemplate),
    /// A template for OCI image layout directories.
    Layouts(RepositoryTemplate),
    /// A place with any number of providers, which is only read: a folder, a bundle or a network mirror.
    Many(Place),
}

impl From {
    /// Reads `--from`.
    pub(crate) fn parse(text: &str) -> Result<Self, Diagnostic> {
        if let Some(place) = read_only(text)? {
            return Ok(Self::Many(place));
        }
        if !text.contains("${") && !text.contains("%{") {
            return End::parse_as(text, WantedEnd::Place).map(Self::One);
        }
        if let Some(rest) = without_scheme(text) {
            return Err(scheme_given(text, rest));
        }
        let template = |text: &str| {
            text.parse::<RepositoryTemplate>().map_err(|error| {
                Diagnostic::of(Exit::Usage, &error)
                    .code(error.code())
                    .hint(error.instead())
                    .hint("quote the template for your shell: it would take ${…} for a variable of its own")
            })
        };
        match text.strip_prefix("oci:") {
            Some(dir) => RepositoryTemplate::parse_loose(dir)
                .map(Self::Layouts)
                .map_err(|error| Diagnostic::of(Exit::Usage, &error).code(error.code()).hint(error.instead())),
            None => template(text).map(Self::Repositories),
        }
    }

    /// The repositories as a template names them, one alone included; `None` for a place that keeps many providers apart.
    pub(crate) fn repositories(&self) -> Result<Option<TemplateRepositories>, Box<TemplateError>> {
        Ok(Some(match self {
            Self::One(End::Registry(repository)) => repository.to_string().parse()?,
            Self::One(End::Layout(dir)) if dir.join(LAYOUT_MARK).exists() => {
                TemplateRepositories::Layouts(RepositoryTemplate::parse_loose(&dir.display().to_string())?)
            }
            Self::One(End::Layout(dir)) => format!("oci:{}", dir.display()).parse()?,
            Self::Repositories(template) => TemplateRepositories::Registry(template.clone()),
            Self::Layouts(template) => TemplateRepositories::Layouts(template.clone()),
            Self::Many(_) => return Ok(None),
        }))
    }

    /// The end for an address.
    ///
    /// # Errors
    /// If the template gives none, or if the place is only read.
    pub(crate) fn end(&self, address: &ProviderAddr) -> Result<End, Diagnostic> {
        match self {
            Self::One(End::Layout(dir)) => Ok(End::Layout(layout_of(dir, address))),
            Self::One(end) => Ok(end.clone()),
            Self::Many(place) => Err(takes_repositories(&shown(place))),
            Self::Repositories(template) => {
                let place = template
                    .place(address)
                    .map_err(|error| Diagnostic::of(Exit::Fixable, &error).code(error.code()))?;
                Ok(End::Registry(place.repository))
            }
            Self::Layouts(template) => {
                let dir = template
                    .render(address)
                    .map_err(|error| Diagnostic::of(Exit::Fixable, &error).code(error.code()))?;
                Ok(End::Layout(PathBuf::from(dir)))
            }
        }
    }
}

/// The layout of a provider: the directory itself, or the one of its address below it, as `mirror --to oci:DIR` writes.
pub(crate) fn layout_of(dir: &Path, address: &ProviderAddr) -> PathBuf {
    let own = dir.join(address.hostname().as_str()).join(address.namespace()).join(address.provider_type());
    if !dir.join(LAYOUT_MARK).exists() && own.join(LAYOUT_MARK).exists() { own } else { dir.to_owned() }
}

/// The place, if it is one that is only read.
fn read_only(text: &str) -> Result<Option<Place>, Diagnostic> {
    let path = |scheme: &str, form: &str| match text.strip_prefix(scheme) {
        Some("") => Err(Diagnostic::usage(format!("`{scheme}` names nothing")).hint(format!("write it as {form}"))),
        path => Ok(path),
    };
    if let Some(dir) = path("static:", "static:DIR")? {
        return Ok(Some(Place::Folder(dir.into())));
    }
    if let Some(file) = path("bundle:", "bundle:FILE")? {
        return Ok(Some(Place::Bundle(file.into())));
    }
    // Without the slash it is more likely a repository with a scheme, and so is a template.
    if !text.starts_with("https://") || !text.ends_with('/') || text.contains("${") {
        return Ok(None);
    }
    let url = Place::NetworkMirror(text.to_owned());
    match check_mirror_url(text) {
        Ok(()) => Ok(Some(url)),
        Err(why) => Err(Diagnostic::usage(format!("{url} cannot be asked: {why}")).code("mirror-url")),
    }
}

/// A place that is only read, as `--from` names it, without secrets.
pub(crate) fn shown(place: &Place) -> String {
    match place {
        Place::Folder(dir) => format!("static:{}", dir.display()),
        Place::NetworkMirror(url) => masked(url),
        other => other.to_string(),
    }
}

/// A place with many providers is named where a repository belongs.
fn takes_repositories(place: &str) -> Diagnostic {
    let verb = invocation::verb();
    let diagnostic = Diagnostic::usage(format!("`{place}` is no repository, and `{verb}` takes one here"));
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
fn reads_places() -> bool {
    matches!(invocation::verb(), "install" | "lock" | "versions" | "show" | "verify" | "outdated" | "resolve")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, exit: Exit) {
        let diagnostic = End::parse(text).expect_err("must be refused");
        assert_eq!(diagnostic.exit(), exit, "{text}");
    }

    #[test]
    fn an_end_is_a_repository_or_a_directory() {
        let registry = "127.0.0.1:5000/acme/widget".parse().map(End::Registry);
        assert_eq!(End::parse("127.0.0.1:5000/acme/widget").ok(), registry.ok());
        assert_eq!(End::parse("oci:a/b").ok(), Some(End::Layout(PathBuf::from("a/b"))));
        check_refused("oci:", Exit::Usage);
        check_refused("./folder", Exit::Usage);
        check_refused("https://ghcr.io/acme/widget", Exit::Usage);
        check_refused("ghcr.io/acme/widget:1.0.0", Exit::Usage);
    }

    #[track_caller]
    fn check_read_only(text: &str, want: Result<&Place, &str>) {
        match (From::parse(text), want) {
            (Ok(From::Many(place)), Ok(want)) => assert_eq!(&place, want, "{text}"),
            (Err(diagnostic), Err(want)) => assert_eq!(diagnostic.text(), want, "{text}"),
            (got, _) => panic!("{text} is taken for {:?}", got.ok()),
        }
    }

    #[test]
    fn a_place_that_is_only_read_is_a_folder_a_bundle_or_a_network_mirror() {
        check_read_only("static:a/b", Ok(&Place::Folder("a/b".into())));
        check_read_only("bundle:a.tar", Ok(&Place::Bundle("a.tar".into())));
        let mirror = "https://ada:hunter2@mirror.example.test/p/";
        check_read_only(mirror, Ok(&Place::NetworkMirror(mirror.to_owned())));
        check_read_only("static:", Err("`static:` names nothing"));
        check_read_only(
            "https://ada:hunter2@a b/",
            Err(
                "the network mirror https://***@a b/ cannot be asked: its host has a character that does not belong there",
            ),
        );
        check_refused("static:a", Exit::Usage);
        check_refused("bundle:a.tar", Exit::Usage);
        assert_eq!(shown(&Place::NetworkMirror(mirror.to_owned())), "https://***@mirror.example.test/p/");
    }

    #[track_caller]
    fn check_hint(text: &str, want: &str) {
        let diagnostic = match From::parse(text) {
            Ok(from) => panic!("{text} is taken for {from:?}"),
            Err(diagnostic) => diagnostic,
        };
        assert!(diagnostic.hints().iter().any(|hint| hint == want), "{text}: {:?}", diagnostic.hints());
        assert!(diagnostic.text().contains("without a scheme"), "{text}: {}", diagnostic.text());
    }

    #[test]
    fn a_repository_with_a_scheme_is_never_taken_for_a_directory() {
        check_hint("oci://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("https://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("http://127.0.0.1:5000/acme/widget", "drop the scheme: 127.0.0.1:5000/acme/widget");
        check_hint("OCI://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("docker://ghcr.io/acme/widget?x=1", "drop the scheme: ghcr.io/acme/widget");
        check_hint("oci::oci://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("oci://ada:SECRET@ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("oci://ghcr.io", "drop the scheme: ghcr.io/REPOSITORY");
        check_hint("oci://ghcr.io/acme/widget:1.4.0", "drop the scheme: ghcr.io/acme/widget:1.4.0");
        check_hint(
            "oci://ghcr.io/acme/widget:latest",
            "drop the scheme and name the repository alone: ghcr.io/acme/widget",
        );
        check_hint("oci://ghcr.io/${namespace}/${type}", "drop the scheme: 'ghcr.io/${namespace}/${type}'");
        check_hint("https://ghcr.io/${namespace}/${type}", "drop the scheme: 'ghcr.io/${namespace}/${type}'");
    }

    #[track_caller]
    fn check_from_hint(text: &str, want: &str) {
        let Err(diagnostic) = From::parse(text) else { panic!("{text} must be refused") };
        assert!(diagnostic.hints().iter().any(|hint| hint == want), "{text}: {:?}", diagnostic.hints());
    }

    #[test]
    fn a_mirror_without_its_slash_and_a_path_without_its_kind_get_the_right_form() {
        check_from_hint(
            "https://mirror.example/providers",
            "the address of a network mirror ends with a slash: https://mirror.example/providers/",
        );
        check_from_hint("./Cargo.toml", "a bundle is written bundle:./Cargo.toml");
        check_from_hint("./src", "a folder of packages is written static:./src, and one of image layouts oci:./src");
        check_from_hint("./absent", "a directory is written oci:./absent");
    }

    #[test]
    fn a_path_with_several_slashes_is_a_directory() {
        assert_eq!(End::parse("oci:///srv/x").ok(), Some(End::Layout(PathBuf::from("///srv/x"))));
        assert_eq!(End::parse("oci:/srv/x").ok(), Some(End::Layout(PathBuf::from("/srv/x"))));
        assert_eq!(End::parse("oci:a://b").ok(), Some(End::Layout(PathBuf::from("a://b"))));
    }
}
