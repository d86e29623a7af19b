//! What to do about the refusals of registries that are known by their host or by their words.

use tofu_oci_types::Place;

/// What helps against the refusal of a write; `None` if nothing is known of it.
pub(super) fn hint(place: &Place, status: u16, problem: &str) -> Option<String> {
    let said = problem.to_ascii_lowercase();
    if said.contains("immutab") || status == 412 && said.contains("precondition") {
        return Some(
            "tags are immutable there: publish another version, or ask the owner of the repository to lift the rule"
                .to_owned(),
        );
    }
    let of_types = ["media type", "mediatype", "content type", "artifact type", "artifacttype"];
    if (400..500).contains(&status) && of_types.iter().any(|words| said.contains(words)) {
        return Some(
            "the registry takes the types of a list alone, such as container images: publish with --layout image, which \
             tofu-oci installs and OpenTofu 1.10 to 1.13 does not, and sign with --sign-format cosign-tag"
                .to_owned(),
        );
    }
    if status == 404 { missing(place, &said) } else { None }
}

/// How a repository that is not there is made.
fn missing(place: &Place, said: &str) -> Option<String> {
    let repository = place.repository()?;
    let (host, name) = (repository.registry(), repository.name());
    let mut parts = name.split('/');
    if let Some(region) = ecr_region(host) {
        return Some(format!(
            "create the repository first: aws ecr create-repository --repository-name {name} --region {region}"
        ));
    }
    if said.contains("does not exist in the registry with id") {
        return Some(format!("create the repository first: aws ecr create-repository --repository-name {name}"));
    }
    if let Some(location) = host.strip_suffix("-docker.pkg.dev") {
        let (project, repository) = (parts.next()?, parts.next()?);
        return Some(format!(
            "create the repository first: gcloud artifacts repositories create {repository} --project {project} \
             --location {location} --repository-format docker"
        ));
    }
    let project = parts.next()?;
    let is_missing = said.contains(&format!("project {project} not found"));
    is_missing.then(|| format!("create the project {project} first, or log in with an account that may push to it"))
}

/// The region of a private registry of AWS, such as `123456789012.dkr.ecr.eu-west-1.amazonaws.com`.
fn ecr_region(host: &str) -> Option<&str> {
    let (_, rest) = host.split_once(".dkr.ecr.").or_else(|| host.split_once(".dkr.ecr-fips."))?;
    let (region, domain) = rest.split_once('.')?;
    matches!(domain, "amazonaws.com" | "amazonaws.com.cn").then_some(region)
}

/// How repositories of a registry are named, where this one is named otherwise.
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
    fn check(place: &str, status: u16, problem: &str, want: Option<&str>) {
        let got = hint(&place.parse().unwrap(), status, problem);
        match want {
            Some(want) => assert!(got.as_deref().is_some_and(|hint| hint.contains(want)), "{place}: {got:?}"),
            None => assert_eq!(got, None, "{place}"),
        }
    }

    #[test]
    fn a_missing_repository_is_made_as_its_registry_wants_it() {
        let unknown = "repository name not known to registry (NAME_UNKNOWN)";
        let make = "aws ecr create-repository --repository-name acme/widget";
        let region = format!("{make} --region eu-west-1");
        check("123456789012.dkr.ecr.eu-west-1.amazonaws.com/acme/widget", 404, unknown, Some(&region));
        check("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/acme/widget", 404, unknown, Some(make));
        let named = "The repository with name 'acme/widget' does not exist in the registry with id '1' (NAME_UNKNOWN)";
        check("ecr.example.com/acme/widget", 404, named, Some(make));
        let google = "gcloud artifacts repositories create tofu --project acme --location europe-west1";
        check("europe-west1-docker.pkg.dev/acme/tofu/widget", 404, unknown, Some(google));
        check("europe-west1-docker.pkg.dev/acme", 404, unknown, None);
        check(
            "harbor.example.com/acme/widget",
            404,
            "project acme not found (NOT_FOUND)",
            Some("create the project acme"),
        );
        check("r.example.com/a-project/x", 404, "repository a-project/x not found (NAME_UNKNOWN)", None);
        check("x.dkr.ecr.eu-west-1.amazonaws.com.evil.test/a/b", 404, unknown, None);
        check("ghcr.io/acme/widget", 404, unknown, None);
    }

    #[test]
    fn refused_types_and_tags_are_told_from_other_faults() {
        let types = "manifest invalid: unknown media type: application/vnd.opentofu.provider (MANIFEST_INVALID)";
        check("registry.gitlab.com/a/b", 400, types, Some("--layout image"));
        check("quay.example.com/a/b", 415, "unsupported artifactType (UNSUPPORTED)", Some("--layout image"));
        let tag = "The image tag '1.0.0' already exists and cannot be overwritten because the tag is immutable.";
        check("x/a/b", 400, tag, Some("tags are immutable there"));
        check("x/a/b", 412, "Failed to process request (PRECONDITION)", Some("tags are immutable there"));
        check("x/a/b", 400, "manifest invalid (MANIFEST_INVALID)", None);
        check("x/a/b", 500, "unknown media type", None);
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
