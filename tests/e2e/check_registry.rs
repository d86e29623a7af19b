//! `check --registry`: a probe in a scratch repository.

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion, Registry};

use crate::json;
use crate::setup::Scene;

#[test]
fn what_a_registry_can_do() {
    let deletes = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
    let scene = Scene::with(Registry::builder().behaviour(deletes));
    assert_snapshot!(scene.run("check REGISTRY/scratch/probe --registry").text, @r#"
    exit code: 0
    ----- stdout -----
      a blob with POST, then PUT                            works      POST 202, PUT 201
      where uploads go                                      works      on the registry's own origin
      the empty config as a blob                            works      PUT 201
      a blob with a single POST                             missing    POST 202: it opens an upload instead, as it may
      a blob in chunks, in order                            works      PATCH 202, PATCH 202, PUT 201
      a chunk out of order is refused                       differs    PATCH 202: it takes the chunk as if it were the first
      a blob with one PATCH without a range                 works      PATCH 202, PUT 201
      a blob mounted from the same repository               works      POST 201
      a blob mounted without a source                       missing    POST 202: it opens an upload instead, as it may
      a part of a blob                                      works      GET 206
      a blob with a wrong digest is refused                 works      PUT 400 DIGEST_INVALID
      a blob by its sha512 digest                           works      PUT 201
      a container image                                     works      PUT 201
      an image with a layer of type archive/zip             works      PUT 201
      a manifest with an artifactType and the empty config  works      PUT 201
      a manifest with a config type of its own              works      PUT 201
      an index of provider type                             works      PUT 201
      an index whose leaf is missing is refused             works      PUT 400 MANIFEST_BLOB_UNKNOWN
      HEAD of a tag names type, length and digest           works      HEAD 200
      HEAD of a digest names type and length                works      HEAD 200
      a manifest comes back byte for byte                   works      GET 200
      a manifest of 4 MiB                                   works      PUT 201
      every tag is listed                                   works      GET 200, sorted
      tags in pages (`n`, Link)                             missing    `n` is ignored: 4 tags at once
      tags after another one (`last`)                       missing    `last` is ignored
      a tag pushed again unchanged                          works      PUT 201
      a tag moved to another manifest                       works      PUT 201
      a manifest with a subject                             works      PUT 201
      the referrers API                                     missing    GET 404
      the header OCI-Subject                                missing    not sent
      the tag that stands in for the API                    works      PUT 201, and it comes back
      a referrer before its subject                         works      PUT 201
      a tag deleted                                         missing    DELETE 400 DIGEST_INVALID
      a manifest deleted                                    works      DELETE 202
      a blob deleted                                        works      DELETE 202

    tofu-oci push: every layout (artifact, image, both)
    OpenTofu 1.10 to 1.13: do not install from here, since it answers plain HTTP; over HTTPS they would, through an oci_mirror
    signatures: as referrers, listed under a tag sha256-HEX; one more request to find them
    tags: can be moved, and deleted with what they name; pins and signatures tell when a version was moved

    [REGISTRY]/scratch/probe: 8 notes; 77 requests made

    ----- stderr -----
    "#);
    assert_eq!(scene.registry.digests("scratch/probe"), Vec::<String>::new(), "it has cleaned up after itself");
    let said =
        scene.run("check REGISTRY/scratch/probe --registry --mount-from REGISTRY/scratch/other --json").success();
    let events = json::check(&said);
    assert_eq!(events.iter().filter(|event| *event == "capability").count(), 36, "{events:?}");
    assert_eq!(events[events.len() - 2..], ["probed", "checked"]);
    assert_eq!(scene.registry.digests("scratch/other"), Vec::<String>::new());
}

#[test]
fn what_cannot_be_deleted_is_told() {
    let scene = Scene::new();
    let said = scene.run("check REGISTRY/scratch/probe --registry --json --fail-on warning");
    assert_eq!(said.code, Some(1), "{}", said.text);
    let lines = said.json();
    let left = lines.iter().find(|line| line["event"] == "probed").unwrap()["left"].as_array().unwrap().clone();
    assert!(left.iter().any(|left| left == "tofu-oci-probe-a"), "{left:?}");
    // The probe does not refuse a repository because of its own leftovers.
    assert_eq!(scene.run("check REGISTRY/scratch/probe --registry").code, Some(0));
}

#[test]
fn a_repository_in_use_is_not_written_to() {
    let scene = Scene::published();
    scene.registry.clear_requests();
    assert_snapshot!(scene.run("check REGISTRY/acme/widget --registry").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget is not a scratch repository: it has the tags 1.4.0

    hint: --registry writes to the repository; name one that holds nothing, such as REGISTRY/scratch/probe
    "#);
    assert!(scene.registry.requests().iter().all(|request| request.method == "GET" || request.method == "HEAD"));
    assert_eq!(scene.run("check oci:layout --registry").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/scratch/probe:1.0.0 --registry").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/a/b --mount-from REGISTRY/c/d").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/a/b --registry --mount-from REGISTRY/a/b").code, Some(2));
}
