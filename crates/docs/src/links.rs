//! Where the links of a page lead.

use tofu_oci_types::ProviderAddr;

use crate::{PageName, ProviderDocs};

/// Hosts whose pages about a provider are the pages that its release carries.
const REGISTRIES: [&str; 4] =
    ["registry.terraform.io", "registry.opentofu.org", "search.opentofu.org", "www.terraform.io"];

impl ProviderDocs {
    /// The page of these that a link on the page `from` leads to, and the place in it; `None` if it leads elsewhere.
    ///
    /// Links are relative to the page's folder, or name the provider in a registry. `#place` alone is one of the page itself.
    pub fn linked<'a, 'b>(
        &'a self,
        from: &'a PageName,
        address: &ProviderAddr,
        link: &'b str,
    ) -> Option<(&'a PageName, Option<&'b str>)> {
        let (path, place) = match link.split_once('#') {
            Some((path, place)) => (path, Some(place).filter(|place| !place.is_empty())),
            None => (link, None),
        };
        let path = path.split('?').next().unwrap_or_default();
        if path.is_empty() {
            return place.map(|place| (from, Some(place)));
        }
        let stem = match path.strip_prefix('/').or_else(|| of_registry(path)) {
            Some(rooted) => of_provider(rooted, address)?.to_owned(),
            None if path.contains(':') => return None,
            None => joined(from.kind().folder(), path)?,
        };
        let stem = [".html.markdown", ".html.md", ".markdown", ".html", ".md"]
            .iter()
            .find_map(|ending| stem.strip_suffix(ending))
            .unwrap_or(&stem);
        let name = PageName::of_stem(if stem.is_empty() { "index" } else { stem })?;
        Some((self.kept(&name)?, place))
    }
}

/// The path of an address of a registry.
fn of_registry(link: &str) -> Option<&str> {
    let (host, path) = link.strip_prefix("https://").or_else(|| link.strip_prefix("http://"))?.split_once('/')?;
    REGISTRIES.contains(&host).then_some(path)
}

/// What a path of a registry names of the provider: `docs/providers/TYPE/r/widget.html`, or
/// `providers/NAMESPACE/TYPE/VERSION/docs/resources/widget`.
fn of_provider<'a>(path: &'a str, address: &ProviderAddr) -> Option<&'a str> {
    let path = path.trim_end_matches('/');
    let of_type = |rest: &'a str| match rest.strip_prefix(address.provider_type())? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    };
    if let Some(rest) = path.strip_prefix("docs/providers/") {
        return of_type(rest);
    }
    let rest = path.strip_prefix("providers/").or_else(|| path.strip_prefix("provider/"))?;
    let rest = of_type(rest.strip_prefix(address.namespace())?.strip_prefix('/')?)?;
    let rest = rest.split_once('/').map_or("", |(_version, rest)| rest);
    Some(rest.strip_prefix("docs").map_or(rest, |rest| rest.trim_start_matches('/')))
}

/// A path from a folder, without `.` and `..`; `None` if it leads out of the documentation.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use crate::provider_docs::tests::docs;

    #[track_caller]
    fn check(link: &str, want: Option<&str>) {
        let docs = docs(&[("index.md", ""), ("resources/widget.md", ""), ("data-sources/part.md", "")]);
        let address = "example.com/foo/acme".parse().unwrap();
        let from = "resources/widget".parse().unwrap();
        let found = docs.linked(&from, &address, link).map(|(page, place)| match place {
            Some(place) => format!("{page}#{place}"),
            None => page.to_string(),
        });
        assert_eq!(found.as_deref(), want, "{link}");
    }

    #[test]
    fn links_between_pages_are_found() {
        check("../data-sources/part", Some("data-sources/part"));
        check("../data-sources/part.md#schema", Some("data-sources/part#schema"));
        check("./widget", Some("resources/widget"));
        check("widget.html", Some("resources/widget"));
        check("../index.md", Some("index"));
        check("..", Some("index"));
        check("#nested", Some("resources/widget#nested"));
        check("/docs/providers/acme/d/part.html", Some("data-sources/part"));
        check("/docs/providers/acme/index.html", Some("index"));
        check("/docs/providers/acme", Some("index"));
        check(
            "https://registry.terraform.io/providers/foo/acme/latest/docs/data-sources/part",
            Some("data-sources/part"),
        );
        check("https://registry.terraform.io/providers/foo/acme/1.2.0/docs#x", Some("index#x"));
        check("https://registry.terraform.io/providers/foo/acme", Some("index"));
        check("https://www.terraform.io/docs/providers/acme/r/widget.html?a=b", Some("resources/widget"));
    }

    #[test]
    fn other_links_lead_elsewhere() {
        for link in [
            "",
            "#",
            "../resources/none",
            "../../../etc/passwd",
            "../../index",
            "//evil.example/docs/providers/acme",
            "javascript:alert(1)",
            "https://evil.example/providers/foo/acme/latest/docs/resources/widget",
            "https://registry.terraform.io/providers/foo/other/latest/docs/resources/widget",
            "https://registry.terraform.io/providers/foo/acmes/latest/docs",
            "/docs/providers/acmes/r/widget.html",
            "mailto:a@example.com",
        ] {
            check(link, None);
        }
    }
}
