//! Every verb that reads and writes releases, against registries as they are run.

use std::fmt::Write as _;
use std::sync::Mutex;

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Auth, Fault, Profile, ProviderZip, ReleaseFolder, RequestHead, Rule, profiles};

use crate::setup::logins::encoded;
use crate::setup::{Scene, WIDGET};

/// The table's columns, each with what is run. `second` is a second signature: where tags stand in for the referrers API
/// and cannot be moved, it has no place.
const STEPS: [(&str, &str); 11] = [
    ("push", "push dist REPOSITORY --address ADDRESS LAYOUT"),
    ("again", "push dist REPOSITORY --address ADDRESS LAYOUT"),
    ("signed", "push next REPOSITORY --address ADDRESS --sign-key p256.pem LAYOUT SIGNED"),
    ("sign", "sign REPOSITORY:1.4.0 --key p256.pem FORMAT"),
    ("second", "sign REPOSITORY:1.4.0 --key p384.pem FORMAT"),
    ("in", "copy oci:layout SECOND"),
    ("out", "copy REPOSITORY oci:out --all"),
    ("install", "install ADDRESS@1.5.0 --from REPOSITORY --platform linux_amd64"),
    ("lock", "lock ADDRESS --from REPOSITORY --platform darwin_arm64"),
    ("verify", "verify ADDRESS@1.5.0 --from REPOSITORY"),
    ("check", "check REPOSITORY --address ADDRESS --quiet"),
];

/// How a release is published: the options of `push`, `pack` and `sign`.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    layout: &'static str,
    signed: &'static str,
    format: &'static str,
}

pub(crate) const USUAL: Form = Form { name: "", layout: "", signed: "", format: "" };
pub(crate) const IMAGES: Form = Form {
    name: " --layout image",
    layout: "--layout image",
    signed: "--sign-format cosign-tag",
    format: "--format cosign-tag",
};

/// One row: an outcome for each step, and what was said by those that failed.
fn row(profile: &Profile, form: Form) -> (String, String) {
    let scene = scene(profile, form);
    let mut cells = String::new();
    let mut told = String::new();
    let name = format!("{}{}", profile.name, form.name);
    let mut tell = |step: &str, text: &str| {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("-----"));
        // Which packages had been sent before the refusal differs from run to run.
        let lines = lines.filter(|line| !line.contains(": pushed ("));
        let lines: Vec<String> = lines.skip(1).map(|line| format!("  {line}\n")).collect();
        write!(told, "{name}: {step}\n{}", lines.concat()).expect("a string takes text");
    };
    if let (Some(missing), "") = (profile.missing, form.name) {
        let said = scene.run(&line(STEPS[0].1, profile, form).replace(profile.repository, missing));
        assert_eq!(said.code, Some(1), "{name} takes a push to {missing}: {}", said.text);
        tell("push to a repository that is not there", &said.text);
    }
    for (step, template) in STEPS {
        scene.registry.clear_requests();
        let said = scene.run(&line(template, profile, form));
        let writes =
            scene.registry.requests().iter().any(|request| ["PUT", "PATCH"].contains(&request.method.as_str()));
        assert!(step != "again" || !writes, "{name}: a push of what is there writes: {:?}", scene.conversation());
        let cell =
            said.code.map_or("signal".to_owned(), |code| if code == 0 { "ok".to_owned() } else { code.to_string() });
        write!(cells, " {cell:<7}").expect("a string takes text");
        if said.code != Some(0) {
            tell(step, &said.text);
            // Without a release there is nothing to look at.
            if step == "push" {
                break;
            }
        }
    }
    (format!("{name:<44}{}", cells.trim_end()), told)
}

pub(crate) fn line(template: &str, profile: &Profile, form: Form) -> String {
    let repository = format!("REGISTRY/{}", profile.repository);
    let second = format!("REGISTRY/{}", profile.second);
    let pairs = [
        ("REPOSITORY", repository.as_str()),
        ("SECOND", &second),
        ("ADDRESS", WIDGET),
        ("LAYOUT", form.layout),
        ("SIGNED", form.signed),
        ("FORMAT", form.format),
    ];
    pairs.iter().fold(template.to_owned(), |line, (from, to)| line.replace(from, to)).trim_end().to_owned()
}

/// Two versions to publish, a directory to copy from, a key, a policy that trusts it, and a login.
pub(crate) fn scene(profile: &Profile, form: Form) -> Scene {
    let scene = Scene::with(profile.builder());
    profile.prepare(&scene.registry);
    scene.dist("dist", "1.4.0");
    scene.dist("next", "1.5.0");
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.key("p384.pem");
    let requires =
        "terraform {\n  required_providers {\n    widget = { source = \"registry.example.com/acme/widget\" }\n  }\n}\n";
    scene.context.write("main.tf", requires);
    let rule = "[[rule]]\nproviders = [\"registry.example.com/*/*\"]\nkeys = [\"acme\"]\n";
    scene.context.write("trust.toml", format!("[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n{rule}"));
    if profile.auth != Auth::None {
        let auth = encoded(&profile.login());
        let config = serde_json::json!({"auths": {scene.registry.address(): {"auth": auth}}});
        scene.context.write_home(".docker/config.json", config.to_string());
    }
    let pack = format!("pack dist oci:layout --address {WIDGET} {}", form.layout);
    scene.run(pack.trim_end()).success();
    scene
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of all profiles")]
fn registries_as_they_are() {
    let mut rows = Vec::new();
    for profile in profiles() {
        rows.push((profile.clone(), USUAL));
        // The way that the hint names to those who are refused.
        if profile.name.starts_with("GitLab") || profile.name.contains("list of types") {
            rows.push((profile, IMAGES));
        }
    }
    let next = Mutex::new(rows.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            let job = next.lock().expect("no row panics with the list in its hands").next();
            let Some((number, (profile, form))) = job else { return };
            let made = row(&profile, form);
            done.lock().expect("no row panics with the table in its hands").push((number, made));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().expect("every row is done");
    done.sort_by_key(|(number, _)| *number);
    let head: String = STEPS.iter().map(|(step, _)| format!(" {step:<7}")).collect();
    let mut table = format!("{:<44}{}\n", "", head.trim_end());
    let mut told = String::new();
    for (_, (row, said)) in done {
        table.push_str(&row);
        table.push('\n');
        told.push_str(&said);
    }
    assert_snapshot!(format!("{table}\n{told}"), @r#"
                                                 push    again   signed  sign    second  in      out     install lock    verify  check
    registry:2                                   ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    distribution 3                               ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    zot                                          ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    specification, the least of it               ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      1
    ghcr.io                                      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    Docker Hub                                   ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    quay.io                                      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    Quay, with a list of types                   1
    Quay, with a list of types --layout image    ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      1
    ECR                                          ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    ECR, immutable tags                          ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    ACR                                          ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    ACR, customer's key                          ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    Artifact Registry, immutable tags            ok      ok      ok      ok      1       ok      ok      ok      ok      ok      ok
    Harbor, immutable tags                       ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    Harbor, old                                  ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    GitLab                                       1
    GitLab --layout image                        ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      1
    Artifactory                                  ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    Gitea                                        ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
    one that deletes a manifest with its tag     ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok

    specification, the least of it: check
      error[opentofu-refuses] [REGISTRY]/acme/opentofu-provider-widget (1.5.0)
        what      registry-answer: OpenTofu 1.10 to 1.13 refuses it on darwin_arm64
        why       The prediction walks through the same steps as OpenTofu does, and one of them fails.
        fix       `tofu-oci help error CODE` explains the code in the finding
        spec      OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go
      warning[plain-http-loopback] [REGISTRY]/acme/opentofu-provider-widget
        what      it answers plain HTTP, and OpenTofu speaks with registries over TLS alone
        why       No release of OpenTofu speaks plain HTTP with a registry, not even on this machine, so
                  none installs from here.
        fix       serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu
        spec      OpenTofu 1.10 to 1.13, the client for OCI registries never sets PlainHTTP of oras-go;
                  measured
      checked as registry.example.com/acme/widget
        darwin_arm64  OpenTofu 1.10 to 1.13  refuses 1.5.0: registry-answer
        linux_amd64   OpenTofu 1.10 to 1.13  refuses 1.5.0: registry-answer
      [REGISTRY]/acme/opentofu-provider-widget: 1 error, 1 warning, 2 notes; 2 versions looked at
    Docker Hub: push to a repository that is not there
      error: [REGISTRY]/acme/mirror/widget denied access: requested access to the resource is denied (DENIED)
        cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1
      hint: ask the owner of [REGISTRY]/acme/mirror/widget for the right to read, and for a push to write; another login may have it
      hint: `tofu-oci auth explain [REGISTRY]/acme/mirror/widget` shows every file, entry and helper, and what the registry answers
    Quay, with a list of types: push
      error: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/sha256:[DIGEST]: manifest schema or content type not supported: application/vnd.opentofu.provider-target (MANIFEST_INVALID)
      hint: the registry takes the types of a list alone, such as container images: `push --layout image` publishes what tofu-oci installs and OpenTofu 1.10 to 1.13 does not, and `sign --sign-format cosign-tag` signs it
    Quay, with a list of types --layout image: check
      error[image-only] 2 times
        where     index sha256:[DIGEST] (1.4.0)
                  index sha256:[DIGEST] (1.5.0)
        what      it lists labelled container images, and no leaf of provider type
        why       tofu-oci installs it, as the RFC has it; OpenTofu 1.10 to 1.13 refuse it.
        fix       publish with `--layout both`, which serves both kinds of client
        spec      OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go; OpenTofu RFC
                  20241206-oci-registries, provider packages as container images
      warning[plain-http-loopback] [REGISTRY]/acme/opentofu-provider-widget
        what      it answers plain HTTP, and OpenTofu speaks with registries over TLS alone
        why       No release of OpenTofu speaks plain HTTP with a registry, not even on this machine, so
                  none installs from here.
        fix       serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu
        spec      OpenTofu 1.10 to 1.13, the client for OCI registries never sets PlainHTTP of oras-go;
                  measured
      checked as registry.example.com/acme/widget
        darwin_arm64  OpenTofu 1.10 to 1.13  refuses 1.5.0: index-or-leaf-artifact-type
        linux_amd64   OpenTofu 1.10 to 1.13  refuses 1.5.0: index-or-leaf-artifact-type
      [REGISTRY]/acme/opentofu-provider-widget: 2 errors, 1 warning, 2 notes; 2 versions looked at
    ECR: push to a repository that is not there
      error: [REGISTRY]/acme/not-made answered 404 to POST /v2/acme/not-made/blobs/uploads/: The repository with name 'acme/not-made' does not exist in the registry with id '123456789012' (NAME_UNKNOWN); the repository does not exist and is not created by a push, or there is no right to push
      hint: create the repository first: `aws ecr create-repository --repository-name acme/not-made`
    ECR, immutable tags: push to a repository that is not there
      error: [REGISTRY]/acme/not-made answered 404 to POST /v2/acme/not-made/blobs/uploads/: The repository with name 'acme/not-made' does not exist in the registry with id '123456789012' (NAME_UNKNOWN); the repository does not exist and is not created by a push, or there is no right to push
      hint: create the repository first: `aws ecr create-repository --repository-name acme/not-made`
    Artifact Registry, immutable tags: push to a repository that is not there
      error: [REGISTRY]/acme-project/not-made/widget answered 404 to POST /v2/acme-project/not-made/widget/blobs/uploads/: Repository "acme-project/not-made" not found (NAME_UNKNOWN); the repository does not exist and is not created by a push, or there is no right to push
      hint: create the repository first, or the project that it lies in; or log in with an account that may push
    Artifact Registry, immutable tags: second
      error: [REGISTRY]/acme-project/tofu/widget does not let the tag sha256-[DIGEST] be written, which the signature (a referrer) needs
        cause: [REGISTRY]/acme-project/tofu/widget answered 400 to PUT /v2/acme-project/tofu/widget/manifests/sha256-[DIGEST]: cannot update tag sha256-[DIGEST]. The repository has enabled tag immutability (MANIFEST_INVALID)
      hint: if tags are immutable there, allow changes of those that begin with `sha256-`, such as sha256-[DIGEST]
      hint: sign in the form that needs no referrers: --sign-format cosign-tag
    Harbor, immutable tags: push to a repository that is not there
      error: [REGISTRY]/not-made/widget answered 404 to POST /v2/not-made/widget/blobs/uploads/: project not-made not found (NOT_FOUND)
      hint: create the project not-made first, or log in with an account that may push to it
    Harbor, old: push to a repository that is not there
      error: [REGISTRY]/not-made/widget answered 404 to POST /v2/not-made/widget/blobs/uploads/: project not-made not found (NOT_FOUND)
      hint: create the project not-made first, or log in with an account that may push to it
    GitLab: push to a repository that is not there
      error: [REGISTRY]/skills/widget denied access: requested access to the resource is denied (DENIED)
        cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1
      hint: ask the owner of [REGISTRY]/skills/widget for the right to read, and for a push to write; another login may have it
      hint: `tofu-oci auth explain [REGISTRY]/skills/widget` shows every file, entry and helper, and what the registry answers
    GitLab: push
      error: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/sha256:[DIGEST]: manifest invalid: unknown media type: application/vnd.opentofu.provider-target (MANIFEST_INVALID)
      hint: the registry takes the types of a list alone, such as container images: `push --layout image` publishes what tofu-oci installs and OpenTofu 1.10 to 1.13 does not, and `sign --sign-format cosign-tag` signs it
    GitLab --layout image: check
      error[image-only] 2 times
        where     index sha256:[DIGEST] (1.4.0)
                  index sha256:[DIGEST] (1.5.0)
        what      it lists labelled container images, and no leaf of provider type
        why       tofu-oci installs it, as the RFC has it; OpenTofu 1.10 to 1.13 refuse it.
        fix       publish with `--layout both`, which serves both kinds of client
        spec      OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go; OpenTofu RFC
                  20241206-oci-registries, provider packages as container images
      warning[plain-http-loopback] [REGISTRY]/acme/opentofu-provider-widget
        what      it answers plain HTTP, and OpenTofu speaks with registries over TLS alone
        why       No release of OpenTofu speaks plain HTTP with a registry, not even on this machine, so
                  none installs from here.
        fix       serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu
        spec      OpenTofu 1.10 to 1.13, the client for OCI registries never sets PlainHTTP of oras-go;
                  measured
      checked as registry.example.com/acme/widget
        darwin_arm64  OpenTofu 1.10 to 1.13  refuses 1.5.0: index-or-leaf-artifact-type
        linux_amd64   OpenTofu 1.10 to 1.13  refuses 1.5.0: index-or-leaf-artifact-type
      [REGISTRY]/acme/opentofu-provider-widget: 2 errors, 1 warning, 2 notes; 2 versions looked at
    Artifactory: push to a repository that is not there
      error: [REGISTRY]/not-made/widget answered 404 to POST /v2/not-made/widget/blobs/uploads/: Repository 'not-made' not found (NAME_UNKNOWN); the repository does not exist and is not created by a push, or there is no right to push
      hint: create the repository first, or the project that it lies in; or log in with an account that may push
    "#);
}

/// What becomes of a package that a proxy before the registry lets through in chunks alone.
fn chunked(profile: &Profile) -> String {
    let scene = scene(profile, USUAL);
    let package = ProviderZip::new("widget", "1.6.0", "linux_amd64").random_file("blob", 9 * 1024 * 1024);
    ReleaseFolder::new("widget", "1.6.0", &[]).package(package).write_zips(&scene.path("large"));
    scene.run(&format!("pack large oci:large-layout --address {WIDGET}")).success();
    let at_once = |head: &RequestHead| {
        let length = head.headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        head.method == "PUT" && head.path.contains("/blobs/uploads/") && length.is_some_and(|length| length > 1 << 20)
    };
    scene.registry.fault(Rule::when(at_once).then(Fault::Answer(Answer::text(413, "too large"))));
    let said = scene.run(&line("copy oci:large-layout REPOSITORY --attempts 2", profile, USUAL));
    assert_ne!(said.code, None, "{}", said.text);
    if said.code == Some(0) {
        let copied = scene.run(&line("copy REPOSITORY oci:back --version 1.6.0", profile, USUAL)).success();
        assert_eq!(copied.code, Some(0));
        return "ok".to_owned();
    }
    let hints = said.text.lines().filter(|line| line.starts_with("hint"));
    hints.collect::<Vec<_>>().join("\n  ")
}

#[test]
fn chunks_go_to_registries_that_take_them() {
    let wanted = ["registry:2", "ghcr.io", "ECR", "Gitea"];
    let told = profiles().into_iter().filter(|profile| wanted.contains(&profile.name));
    let told: String = told.map(|profile| format!("{}: {}\n", profile.name, chunked(&profile))).collect();
    assert_snapshot!(told, @"
    registry:2: ok
    ghcr.io: ok
    ECR: hint: the registry takes no chunks, and a proxy in front of it refused the package in one request: ask its operator to allow larger requests
    Gitea: hint: the registry takes no chunks, and a proxy in front of it refused the package in one request: ask its operator to allow larger requests
    ");
}

/// Writing the tag once more is refused there, also if the first write came from the same push.
#[test]
fn a_push_whose_answer_about_an_immutable_tag_is_lost_goes_well() {
    let profile = profiles().into_iter().find(|profile| profile.name == "ECR, immutable tags").expect("it is listed");
    let scene = scene(&profile, USUAL);
    scene.registry.fault(Rule::on("PUT", "*/manifests/1.4.0").once().then(Fault::LoseAnswer));
    scene.run(&line("push dist REPOSITORY --address ADDRESS", &profile, USUAL)).success();
    let writes = scene.registry.requests_to("PUT", "*/manifests/1.4.0").len();
    assert_eq!(writes, 2, "the lost write was repeated");
}
