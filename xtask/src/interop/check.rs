//! `check` against registry:2: what the registry can do, and what is in it.

use super::lab::{Lab, seen, text};
use super::registries::{ADDRESS, PLATFORM};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::registry::Guard;

/// What a probe says of registry:2, whatever its mode.
const ALWAYS: &[&str] = &[
    "\"name\":\"upload-post-put\",\"what\":\"a blob with POST, then PUT\",\"state\":\"works\"",
    "\"name\":\"mount-other\",\"what\":\"a blob mounted from another repository\",\"state\":\"works\"",
    "\"name\":\"artifact-type\",\"what\":\"a manifest with an artifactType and the empty config\",\"state\":\"works\"",
    "\"name\":\"referrers-api\",\"what\":\"the referrers API\",\"state\":\"missing\"",
    "\"name\":\"referrers-tag\",\"what\":\"the tag that stands in for the API\",\"state\":\"works\"",
    "\"errors\":0",
];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let keeps = Guard::plain()?;
    let left = probe(lab, &keeps)?;
    if !left.contains("tofu-oci-probe-a") {
        return Err(ChoreFailure::new(format!("a registry that deletes nothing should have kept something\n{left}")));
    }
    seen("registry:2: the probe of a registry that deletes nothing says what stays");
    let deletes = Guard::deletable()?;
    let left = probe(lab, &deletes)?;
    if !left.contains("\"left\":[]") {
        return Err(ChoreFailure::new(format!("the probe left something\n{left}")));
    }
    seen("registry:2 with deletion: the probe removes all that it wrote");
    probe(lab, &Guard::token()?)?;
    seen("registry:2 with a token server: the probe has the rights that it needs");
    releases(lab, &deletes)
}

/// Probes a registry; gives the line that sums up.
fn probe(lab: &Lab, registry: &Guard) -> ChoreResult<String> {
    let [scratch, other] = ["scratch/probe", "scratch/other"].map(|name| format!("{}/{name}", registry.address()));
    let arguments = ["check", &scratch, "--registry", "--mount-from", &other, "--json"];
    let mut printed = lab.tofu_oci(registry, &arguments).success()?;
    for words in ALWAYS {
        printed = printed.must_show(words)?;
    }
    let all = printed.all();
    let line = all.lines().find(|line| line.contains("\"event\":\"probed\""));
    line.map(str::to_owned).ok_or_else(|| printed.failure("the probe does not sum up"))
}

/// A good release, and a second one that another repository does not have.
fn releases(lab: &Lab, registry: &Guard) -> ChoreResult {
    let [repository, mirror] = ["acme/widget", "mirror/widget"].map(|name| format!("{}/{name}", registry.address()));
    let push = |dist: &str| {
        let dist = text(&paths::testdata().join(dist));
        let arguments = ["push", &dist, &repository, "--address", ADDRESS, "--sums", "skip"];
        lab.tofu_oci(registry, &arguments).success().map(|_| ())
    };
    push("dist")?;
    lab.tofu_oci(registry, &["copy", &repository, &mirror, "--all"]).success()?;
    let check = ["check", &repository, "--deep", "--address", ADDRESS, "--platform", PLATFORM, "--fail-on", "warning"];
    lab.tofu_oci(registry, &check).refused_with(1)?.must_show("OpenTofu 1.10 to 1.13  refuses 1.0.0: plain-http")?;
    over_tls(lab)?;
    let against = ["check", &repository, "--against", &mirror];
    lab.tofu_oci(registry, &against).success()?;
    push("dist-next")?;
    lab.tofu_oci(registry, &against).refused_with(1)?.must_show("error[drift-tag-missing]")?;
    // No known key made the signature in the fixtures' folder.
    let (dist, unproven) = (text(&paths::testdata().join("dist")), format!("{}/acme/unproven", registry.address()));
    lab.tofu_oci(registry, &["push", &dist, &unproven, "--address", ADDRESS]).success()?;
    lab.tofu_oci(registry, &["check", &unproven]).success()?.must_show("note[signature-not-checked]")?;
    let probed = lab.tofu_oci(registry, &["check", &repository, "--registry"]);
    probed.refused_with(2)?.must_show("is not a scratch repository")?;
    seen("registry:2: a good release has no findings, a stale mirror has some, a repository in use is not probed");
    Ok(())
}

/// The same release over TLS, from which `OpenTofu` installs it.
fn over_tls(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    let (dist, repository) = (text(&paths::testdata().join("dist")), format!("{}/acme/widget", registry.address()));
    lab.tofu_oci(&registry, &["push", &dist, &repository, "--address", ADDRESS, "--sums", "skip"]).success()?;
    let check = ["check", &repository, "--deep", "--address", ADDRESS, "--platform", PLATFORM, "--fail-on", "warning"];
    lab.tofu_oci(&registry, &check).success()?.must_show("OpenTofu 1.10 to 1.13  installs 1.0.0")?;
    Ok(())
}
