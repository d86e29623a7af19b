//! What to do about what a place says.

use std::path::Path;

use tofu_oci_types::{Place, RepositoryRef};

use super::RejectionReason;

pub(super) const SHOW: &str = "-vv shows every request; check that this is the registry you mean";

/// What to do about a place without a repository.
pub(super) fn unknown(place: &Place) -> String {
    match place {
        Place::Bundle(file) => {
            let shown = file.display().to_string();
            let whole = shown.trim_end_matches(|last: char| last.is_ascii_digit()).strip_suffix('.');
            match whole {
                Some(whole) if whole.len() + 4 == shown.len() => {
                    format!("name the bundle without the number of a part: {whole}")
                }
                _ => {
                    format!(
                        "check the path: neither {shown} is there, nor its parts {shown}.001, {shown}.002 and so on"
                    )
                }
            }
        }
        Place::Layout(_) => {
            "check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci pack \
             DIST oci:DIR` makes one"
                .to_owned()
        }
        _ => "check the name; some registries also say this to those who may not read the repository".to_owned(),
    }
}

/// What to do about a place whose own structure is broken.
pub(super) fn malformed(place: &Place) -> &'static str {
    match place {
        Place::Bundle(_) => "`tofu-oci bundle create` writes bundles; copy the file again if it was one",
        Place::Layout(_) => "name a folder that is an OCI image layout, or to write one, a new or empty folder",
        _ => SHOW,
    }
}

/// What to do about content that is not what its digest or descriptor says.
pub(super) fn damaged(place: &Place) -> &'static str {
    match place {
        Place::Bundle(_) => {
            "the file was changed or damaged on its way: copy it again, and load nothing of it until then"
        }
        Place::Layout(_) => "a file in the directory was changed or cut short; copy or pack the release again",
        _ => "the registry, or something between it and here, changed the content; nothing of it was kept",
    }
}

/// What to do about a place that cannot be written to.
pub(super) fn read_only(place: &Place) -> String {
    let Place::Layout(dir) = place else { return "choose a place that you may write to".to_owned() };
    let there = dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."));
    format!(
        "you may not write to {}: change its permissions, or name a directory that you may write to",
        there.display()
    )
}

/// What to do if a registry accepts a blob neither in one request nor in chunks.
pub(super) const NO_CHUNKS: &str = "the registry takes no chunks, and a proxy in front of it refused the package in one request: ask its operator to \
     allow larger requests";

/// What to do about a refused request.
pub(super) fn rejected(place: &Place, status: u16, reason: RejectionReason, request: &str) -> String {
    if status == 404 && ["GET ", "HEAD "].iter().any(|method| request.starts_with(method)) {
        return unknown(place);
    }
    of_reason(place, status, reason).unwrap_or_else(|| {
        match status {
            405 => "the registry may be read-only just now; ask its operator",
            404 => {
                "create the repository first, or the project that it lies in; or log in with an account that may push"
            }
            413 => "the registry or a proxy before it limits the size of uploads; ask its operator for more",
            408 | 429 => "the registry wants fewer requests: try again later",
            500.. => "the registry has a problem of its own; run the same command again later",
            _ => "the registry does not take this; -vv shows every request",
        }
        .to_owned()
    })
}

/// The same; `None` if only the status is known.
fn of_reason(place: &Place, status: u16, reason: RejectionReason) -> Option<String> {
    let text = match reason {
        RejectionReason::WrongDigest => {
            "what was sent is not what its digest says: the source is damaged, or something changed it on the way"
        }
        RejectionReason::Chunk => NO_CHUNKS,
        RejectionReason::ImmutableTag => {
            "tags are immutable there: publish another version, or ask the owner of the repository to lift the rule"
        }
        RejectionReason::PlainHttp => {
            let host = place.repository().map_or("HOST", RepositoryRef::registry);
            return Some(format!("omit --plain-http {host}; TOFU_OCI_PLAIN_HTTP may set it too"));
        }
        RejectionReason::UnsupportedType => {
            "the registry takes the types of a list alone, such as container images: `push --layout image` \
             publishes what tofu-oci installs and OpenTofu 1.10 to 1.13 does not, and `sign --sign-format cosign-tag` signs it"
        }
        _ if status == 404 => return creation(place, reason),
        _ => return None,
    };
    Some(text.to_owned())
}

/// How to create the missing repository.
fn creation(place: &Place, reason: RejectionReason) -> Option<String> {
    let repository = place.repository()?;
    let (host, name) = (repository.registry(), repository.name());
    let mut parts = name.split('/');
    let create = |command: String| Some(format!("create the repository first: `{command}`"));
    let region = ecr_region(host).map(|region| format!(" --region {region}"));
    if region.is_some() || reason == RejectionReason::UnknownAwsRepository {
        let region = region.unwrap_or_default();
        return create(format!("aws ecr create-repository --repository-name {name}{region}"));
    }
    if let Some(location) = host.strip_suffix("-docker.pkg.dev") {
        let (project, repository) = (parts.next()?, parts.next()?);
        return create(format!(
            "gcloud artifacts repositories create {repository} --project {project} --location {location} \
             --repository-format docker"
        ));
    }
    let project = parts.next().filter(|_| reason == RejectionReason::UnknownProject)?;
    Some(format!("create the project {project} first, or log in with an account that may push to it"))
}

/// The region of a private registry of AWS, such as `123456789012.dkr.ecr.eu-west-1.amazonaws.com`.
fn ecr_region(host: &str) -> Option<&str> {
    let (_, rest) = host.split_once(".dkr.ecr.").or_else(|| host.split_once(".dkr.ecr-fips."))?;
    let (region, domain) = rest.split_once('.')?;
    matches!(domain, "amazonaws.com" | "amazonaws.com.cn").then_some(region)
}

/// How to name a repository of a registry; `None` if this one has such a name.
pub(super) fn shape(place: &Place) -> Option<String> {
    let repository = place.repository()?;
    let (host, name) = (repository.registry(), repository.name());
    let parts = name.split('/').count();
    let form = match host {
        _ if tofu_oci_types::DOCKER_HUB_NAMES.contains(&host) && parts != 2 => "NAMESPACE/NAME",
        "quay.io" if parts != 2 => "ORGANIZATION/NAME",
        "ghcr.io" if parts < 2 => "OWNER/NAME",
        "registry.gitlab.com" if parts < 2 => "GROUP/PROJECT, or GROUP/PROJECT/NAME below it",
        _ => return None,
    };
    Some(format!("a repository of {host} is named {host}/{form}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(place: &str, status: u16, reason: RejectionReason, want: Option<&str>) {
        let got = of_reason(&place.parse().unwrap(), status, reason);
        match want {
            Some(want) => assert!(got.as_deref().is_some_and(|hint| hint.contains(want)), "{place}: {got:?}"),
            None => assert_eq!(got, None, "{place}"),
        }
    }

    #[test]
    fn a_missing_repository_is_made_as_its_registry_wants_it() {
        let unknown = RejectionReason::Other;
        let make = "aws ecr create-repository --repository-name acme/widget";
        let region = format!("{make} --region eu-west-1");
        check("123456789012.dkr.ecr.eu-west-1.amazonaws.com/acme/widget", 404, unknown, Some(&region));
        check("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/acme/widget", 404, unknown, Some(make));
        check("ecr.example.com/acme/widget", 404, RejectionReason::UnknownAwsRepository, Some(make));
        let google = "gcloud artifacts repositories create tofu --project acme --location europe-west1";
        check("europe-west1-docker.pkg.dev/acme/tofu/widget", 404, unknown, Some(google));
        check("europe-west1-docker.pkg.dev/acme", 404, unknown, None);
        let project = RejectionReason::UnknownProject;
        check("harbor.example.com/acme/widget", 404, project, Some("create the project acme"));
        check("x.dkr.ecr.eu-west-1.amazonaws.com.evil.test/a/b", 404, unknown, None);
        check("ghcr.io/acme/widget", 404, unknown, None);
        check("ghcr.io/acme/widget", 400, unknown, None);
    }

    #[test]
    fn refused_types_tags_and_chunks_have_their_own_hints() {
        check("registry.gitlab.com/a/b", 400, RejectionReason::UnsupportedType, Some("--layout image"));
        check("x/a/b", 412, RejectionReason::ImmutableTag, Some("tags are immutable there"));
        check("x/a/b", 405, RejectionReason::Chunk, Some("takes no chunks"));
    }

    #[test]
    fn names_of_the_wrong_shape() {
        assert!(
            shape(&"docker.io/acme/mirror/widget".parse().unwrap())
                .is_some_and(|hint| hint.contains("docker.io/NAMESPACE/NAME"))
        );
        assert!(
            shape(&"registry.gitlab.com/widget".parse().unwrap()).is_some_and(|hint| hint.contains("GROUP/PROJECT"))
        );
        assert_eq!(shape(&"docker.io/acme/widget".parse().unwrap()), None);
        assert_eq!(shape(&"registry.example.com/widget".parse().unwrap()), None);
    }
}
