//! Registries as they are run: what each of them does otherwise than registry:2, as data.
//!
//! Spec: each registry's own issues and documentation, as this project's table of registries has them. Texts of refusals
//! are those that users report for ghcr.io, ECR, GitLab and Harbor; those of the others are of the same kind, and the
//! program must not need their wording.

use super::auth::{Anonymous, Auth, Bearer, Login, TokenAddress};
use super::behaviour::{
    Behaviour, Chunks, Deletion, ListedType, Location, Mounting, Paging, ReferrersSupport, RefusalAnswer,
    RepositoryNames, Switch, Tags, Types,
};
use super::{Registry, RegistryBuilder};

/// The media type of an image's config: what every registry takes.
const IMAGE: &str = "application/vnd.oci.image.config.v1+json";
const HELM: &str = "application/vnd.cncf.helm.config.v1+json";
const DOCKER: &str = "application/vnd.docker.container.image.v1+json";
const MANY: usize = usize::MAX;

/// A registry as it is run somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The registry, then a comma and what is special about this one.
    pub name: &'static str,
    /// A repository that takes pushes.
    pub repository: &'static str,
    /// Another one, for copies.
    pub second: &'static str,
    /// What its owner has made for both before.
    pub made: &'static [&'static str],
    /// A repository that takes no push until something is made, or that has the wrong number of parts.
    pub missing: Option<&'static str>,
    /// What it does.
    pub behaviour: Behaviour,
    /// Whom it lets in: the user is [`Profile::login`].
    pub auth: Auth,
}

impl Profile {
    /// The one user, who may do everything.
    pub fn login(&self) -> Login {
        user()
    }

    /// Not yet started.
    pub fn builder(&self) -> RegistryBuilder {
        Registry::builder().behaviour(self.behaviour.clone()).auth(self.auth.clone())
    }

    /// Makes in a running registry what its owner has made.
    pub fn prepare(&self, registry: &Registry) {
        for name in self.made {
            registry.create(name);
        }
    }
}

fn user() -> Login {
    Login::new("ada", "correct-horse-battery")
}

/// A token server at this path; it demands a login.
fn tokens(path: &'static str) -> Auth {
    Auth::Bearer(Bearer { address: TokenAddress::SamePath(path), ..Bearer::new(user()) })
}

/// The same, and everybody may read.
fn public_tokens(path: &'static str) -> Auth {
    let bearer = Bearer { address: TokenAddress::SamePath(path), ..Bearer::new(user()) };
    Auth::Bearer(Bearer { anonymous: Anonymous::MayPull, ..bearer })
}

const fn parts(fewest: usize, most: usize, made: usize, refused: RefusalAnswer) -> RepositoryNames {
    RepositoryNames { fewest, most, made, refused }
}

/// What current registries have in common: tags in order and in pages, relative locations, any `Accept`.
fn current() -> Behaviour {
    Behaviour {
        paging: Paging::Relative(1000),
        location: Location::Relative,
        content_range: Switch::On,
        accept_check: Switch::Off,
        ..Behaviour::default()
    }
}

fn profile(name: &'static str, auth: Auth, behaviour: Behaviour) -> Profile {
    let (repository, second) = ("acme/opentofu-provider-widget", "acme/second");
    Profile { name, repository, second, made: &[], missing: None, behaviour, auth }
}

const DENIED: RefusalAnswer = RefusalAnswer::new(403, "DENIED", "requested access to the resource is denied");

/// All of them.
pub fn profiles() -> Vec<Profile> {
    let mut all = vec![registry_2(), distribution_3(), zot(), minimum(), ghcr(), docker_hub(), quay(), quay_listed()];
    all.extend([ecr(), ecr_immutable(), acr(), acr_own_key(), artifact_registry(), harbor(), harbor_old(), gitlab()]);
    all.extend([artifactory(), gitea(), tags_with_manifests()]);
    all
}

fn registry_2() -> Profile {
    profile("registry:2", Auth::None, Behaviour::default())
}

fn distribution_3() -> Profile {
    let behaviour = Behaviour { paging: Paging::Relative(1000), content_range: Switch::On, ..Behaviour::default() };
    profile("distribution 3", Auth::None, behaviour)
}

fn zot() -> Profile {
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        deletion: Deletion::Tags,
        single_post: Switch::On,
        ..current()
    };
    profile("zot", Auth::Basic(user()), behaviour)
}

/// What the specification demands and nothing that it only recommends.
fn minimum() -> Profile {
    let behaviour = Behaviour {
        digest_header: Switch::Off,
        manifest_location: Switch::Off,
        mounting: Mounting::StartsUpload,
        referrers: ReferrersSupport::WithoutSubjectHeader,
        ..current()
    };
    profile("specification, the least of it", Auth::None, behaviour)
}

/// A tag that is deleted takes its manifest along, and with it all other tags of the manifest.
fn tags_with_manifests() -> Profile {
    let behaviour =
        Behaviour { referrers: ReferrersSupport::Supported, deletion: Deletion::ManifestsByTag, ..current() };
    profile("one that deletes a manifest with its tag", Auth::None, behaviour)
}

fn ghcr() -> Profile {
    let behaviour =
        Behaviour { names: parts(2, MANY, 0, DENIED), chunks: Chunks::AtMost(4 * 1024 * 1024), ..current() };
    profile("ghcr.io", public_tokens("/token"), behaviour)
}

fn docker_hub() -> Profile {
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        names: parts(2, 2, 0, DENIED),
        location: Location::Absolute,
        ..current()
    };
    let missing = Some("acme/mirror/widget");
    Profile { missing, ..profile("Docker Hub", public_tokens("/token"), behaviour) }
}

fn quay() -> Profile {
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        deletion: Deletion::Tags,
        names: parts(2, 2, 0, DENIED),
        ..current()
    };
    profile("quay.io", public_tokens("/v2/auth"), behaviour)
}

/// A self-hosted Quay: a list of config types is part of its configuration.
fn quay_listed() -> Profile {
    let refused = RefusalAnswer::new(400, "MANIFEST_INVALID", "manifest schema or content type not supported: {type}");
    let behaviour = Behaviour { types: Types::Listed(&[IMAGE, DOCKER, HELM], refused), ..quay().behaviour };
    Profile { behaviour, name: "Quay, with a list of types", ..quay() }
}

fn ecr() -> Profile {
    const MISSING: &str =
        "The repository with name '{repository}' does not exist in the registry with id '123456789012'";
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        names: parts(1, MANY, MANY, RefusalAnswer::new(404, "NAME_UNKNOWN", MISSING)),
        location: Location::Absolute,
        patch_status: 201,
        chunks: Chunks::FirstKept,
        content_range: Switch::Off,
        manifest_location: Switch::Off,
        mounting: Mounting::StartsUpload,
        largest_n: Some(1000),
        ..current()
    };
    let made = &["acme/opentofu-provider-widget", "acme/second"];
    let missing = Some("acme/not-made");
    Profile { made, missing, ..profile("ECR", Auth::Basic(user()), behaviour) }
}

/// Tags that cannot be written twice, not even with the digest that they have.
fn ecr_immutable() -> Profile {
    const TAGGED: &str = "The image tag '{tag}' already exists in the '{repository}' repository and cannot be \
                          overwritten because the tag is immutable.";
    let behaviour =
        Behaviour { tags: Tags::WrittenOnce(RefusalAnswer::new(400, "TAG_INVALID", TAGGED)), ..ecr().behaviour };
    Profile { behaviour, name: "ECR, immutable tags", ..ecr() }
}

fn acr() -> Profile {
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        tags_action: Some("metadata_read"),
        deletion: Deletion::Enabled,
        ..current()
    };
    profile("ACR", tokens("/oauth2/token"), behaviour)
}

fn acr_own_key() -> Profile {
    let behaviour = Behaviour { listed_type: ListedType::Missing, ..acr().behaviour };
    Profile { behaviour, name: "ACR, customer's key", ..acr() }
}

fn artifact_registry() -> Profile {
    const TAGGED: &str = "cannot update tag {tag}. The repository has enabled tag immutability";
    let behaviour = Behaviour {
        names: parts(3, MANY, 2, RefusalAnswer::new(404, "NAME_UNKNOWN", "Repository \"{repository}\" not found")),
        tags: Tags::Fixed(RefusalAnswer::new(400, "MANIFEST_INVALID", TAGGED)),
        deletion: Deletion::Tags,
        ..current()
    };
    let (repository, second) = ("acme-project/tofu/widget", "acme-project/tofu/second");
    let (made, missing) = (&["acme-project/tofu"], Some("acme-project/not-made/widget"));
    let auth = tokens("/v2/token");
    Profile { repository, second, made, missing, ..profile("Artifact Registry, immutable tags", auth, behaviour) }
}

fn harbor() -> Profile {
    const TAGGED: &str = "Failed to process request due to '{repository}:{tag}' configured as immutable.";
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        names: parts(2, MANY, 1, RefusalAnswer::new(404, "NOT_FOUND", "project {repository} not found")),
        tags: Tags::Fixed(RefusalAnswer::new(412, "PRECONDITION", TAGGED)),
        deletion: Deletion::Enabled,
        ..current()
    };
    let missing = Some("not-made/widget");
    Profile { made: &["acme"], missing, ..profile("Harbor, immutable tags", tokens("/service/token"), behaviour) }
}

fn harbor_old() -> Profile {
    let behaviour = Behaviour { listed_type: ListedType::OfConfig, tags: Tags::Movable, ..harbor().behaviour };
    Profile { behaviour, name: "Harbor, old", ..harbor() }
}

fn gitlab() -> Profile {
    let unknown = RefusalAnswer {
        detail: "unknown media type: {type}",
        ..RefusalAnswer::new(400, "MANIFEST_INVALID", "manifest invalid")
    };
    let behaviour = Behaviour {
        names: parts(2, 5, 2, DENIED),
        types: Types::Listed(&[IMAGE, DOCKER, HELM], unknown),
        deletion: Deletion::Tags,
        subject_check: Switch::On,
        digest_alias: Switch::On,
        location: Location::Absolute,
        ..current()
    };
    let (made, missing) = (&["acme/opentofu-provider-widget", "acme/second"], Some("skills/widget"));
    Profile { made, missing, ..profile("GitLab", tokens("/jwt/auth"), behaviour) }
}

fn artifactory() -> Profile {
    let refused = RefusalAnswer::new(404, "NAME_UNKNOWN", "Repository '{repository}' not found");
    let behaviour = Behaviour {
        referrers: ReferrersSupport::Supported,
        deletion: Deletion::Tags,
        names: parts(2, MANY, 1, refused),
        ..current()
    };
    let missing = Some("not-made/widget");
    Profile { made: &["acme"], missing, ..profile("Artifactory", tokens("/v2/token"), behaviour) }
}

fn gitea() -> Profile {
    let refused = RefusalAnswer::new(400, "BLOB_UPLOAD_INVALID", "Stream uploads after first write are not allowed");
    let behaviour = Behaviour {
        names: parts(2, MANY, 0, DENIED),
        chunks: Chunks::FirstAlone(refused),
        deletion: Deletion::Tags,
        mounting: Mounting::StartsUpload,
        ..current()
    };
    profile("Gitea", tokens("/v2/token"), behaviour)
}
