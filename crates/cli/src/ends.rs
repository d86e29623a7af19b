//! What `--from` and a positional place may be: repositories, templates of them, and places that are only read.

mod advice;

use std::path::{Path, PathBuf};

use tofu_oci_mapper::config::check_mirror_url;
use tofu_oci_mapper::{RepositoryTemplate, TemplateError, TemplateOf, TemplateRepositories};
use tofu_oci_types::{InvalidReleaseName, Place, ProviderAddr, ReleaseName, RepositoryRef, masked};

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

pub(crate) use advice::{LAYOUT_MARK, as_module, names_provider, template_instead, without_kind, without_oci};
use advice::{WantedEnd, about_bundle, path_hint, reads_places, scheme_given, takes_repositories};

/// One end, as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Registry(RepositoryRef),
    /// An OCI image layout directory.
    Layout(PathBuf),
}

impl End {
    /// Whether the two are one place, however the paths of directories are written.
    pub(crate) fn is_one(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Layout(one), Self::Layout(other)) => {
                let real = |dir: &Path| dir.canonicalize();
                one == other || real(one).is_ok_and(|one| real(other).is_ok_and(|other| one == other))
            }
            _ => self == other,
        }
    }

    /// Reads `REGISTRY/REPOSITORY` or `oci:DIR`.
    pub(crate) fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_as(text, WantedEnd::End)
    }

    fn parse_as(text: &str, wanted: WantedEnd) -> Result<Self, Diagnostic> {
        let text = &*without_oci(text);
        match read_only(text)? {
            Some(place @ (Place::Folder(_) | Place::Bundle(_))) => return Err(takes_repositories(&shown(&place))),
            // A network mirror, or a repository with a scheme and a slash.
            Some(place) if reads_places() => return Err(takes_repositories(&shown(&place))),
            _ => {}
        }
        if let Some(rest) = without_scheme(text) {
            let diagnostic = scheme_given(text, rest);
            let is_mirror = wanted == WantedEnd::Place && text.starts_with("http");
            let hint = || {
                let mirror = masked(&format!("https://{}/", rest.trim_end_matches('/')));
                format!("the address of a network mirror begins with https and ends with a slash: {mirror}")
            };
            return Err(diagnostic.more_hints(is_mirror.then(hint)));
        }
        if let Some(dir) = text.strip_prefix("oci:") {
            if dir.is_empty() {
                return Err(Diagnostic::usage("`oci:` names no directory").hint("write it as oci:DIR"));
            }
            demand_no_version(text)?;
            return Ok(Self::Layout(PathBuf::from(dir)));
        }
        text.parse().map(Self::Registry).map_err(|error| {
            let diagnostic = Diagnostic::of(Exit::Usage, &error);
            if is_tar(text) && wanted == WantedEnd::Place {
                return diagnostic.hint(format!("a bundle is written bundle:{}", without_kind(text)));
            }
            if is_tar(text) {
                return about_bundle(text);
            }
            if TemplateOf::Providers.meant(text).is_some() {
                return diagnostic.hint(format!("`{}` takes one repository here, and no template", invocation::verb()));
            }
            let plain = text.trim().trim_end_matches('/').to_lowercase();
            // What double quotes leave of `…/${namespace}/${type}` and `…-${type}`.
            let is_cut = text.contains("//")
                || text.ends_with(['-', '_', '.'])
                || (wanted == WantedEnd::Place && text.ends_with('/'));
            let cut = Some("quote a template with ' for your shell: 'ghcr.io/acme/${type}'");
            let cut = cut.filter(|_| is_cut);
            if plain != text && plain.parse::<RepositoryRef>().is_ok() {
                return diagnostic.hint(format!("write {plain}")).more_hints(cut);
            }
            if Path::new(text).exists() || text.starts_with(['.', '/']) {
                return diagnostic.hint(path_hint(text, wanted));
            }
            if let Some((repository, _)) = text.rsplit_once([':', '@'])
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
            diagnostic.more_hints(cut)
        })
    }
}

/// Refuses a text that names parts of an address as templates of other programs do.
pub(crate) fn demand_template(text: &str, of: TemplateOf) -> Result<(), Diagnostic> {
    let path = text.strip_prefix("oci:").unwrap_or(text);
    match of.meant(text) {
        Some(meant) if !Path::new(path).exists() => {
            Err(Diagnostic::usage(format!("`{text}` is neither a place nor a template"))
                .hint(format!("a part of the address is written with $ and braces: {}", invocation::quoted(&meant))))
        }
        _ => Ok(()),
    }
}

/// Refuses a version after a directory, where the directory alone is wanted.
pub(crate) fn demand_no_version(text: &str) -> Result<(), Diagnostic> {
    let Some(dir) = text.strip_prefix("oci:").filter(|dir| !Path::new(dir).exists()) else { return Ok(()) };
    let (dir, version) = match text.parse() {
        Ok(ReleaseName::Layout { dir, version }) => (dir.display().to_string(), version.to_string()),
        Err(InvalidReleaseName::AtAfterPlace { version, .. }) => {
            (dir.strip_suffix(&format!("@{version}")).unwrap_or(dir).to_owned(), version)
        }
        _ => return Ok(()),
    };
    Err(Diagnostic::usage(format!("`{text}` names version {version}, and a directory alone is wanted"))
        .hint(format!("name the directory alone, oci:{dir}{}", invocation::and_the_version())))
}

/// Whether a text names the file of a bundle, by its ending.
pub(crate) fn is_tar(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tar"))
}

/// What follows the scheme of a repository that is written as an address of the web or of a module: `https://ghcr.io/x`,
/// `oci://ghcr.io/x`. `oci:///srv/x` is `oci:` and a path.
pub(crate) fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.strip_prefix("oci::").unwrap_or(text).split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one));
    (is_scheme && !rest.starts_with('/')).then_some(rest)
}

impl End {
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
    Repositories(RepositoryTemplate),
    /// A template for OCI image layout directories.
    Layouts(RepositoryTemplate),
    /// A place with any number of providers, which is only read: a folder, a bundle or a network mirror.
    Many(Place),
}

impl From {
    /// Reads `--from`.
    pub(crate) fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::read(text).map_err(|diagnostic| diagnostic.of_variable("TOFU_OCI_FROM", "from", text))
    }

    fn read(text: &str) -> Result<Self, Diagnostic> {
        if let Some(place) = read_only(text)? {
            return Ok(Self::Many(place));
        }
        let text = &*without_oci(text);
        if !text.contains("${") && !text.contains("%{") {
            demand_template(text, TemplateOf::Providers)?;
            return End::parse_as(text, WantedEnd::Place).map(Self::One);
        }
        if let Some(rest) = without_scheme(text) {
            return Err(scheme_given(text, rest));
        }
        let template = |text: &str| {
            text.parse::<RepositoryTemplate>().map_err(|error| {
                Diagnostic::of(Exit::Usage, &error)
                    .code(error.code())
                    .hint(template_instead(&error))
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

    /// The end for an address. It fails if the template gives none, or if the place is only read.
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

#[cfg(test)]
mod tests;
