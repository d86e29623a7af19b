//! What a registry, a layout or a release says does nothing to a terminal, a log or a CI system, whichever verb shows it.
#![cfg(unix)]

use serde_json::{Value, json};
use tofu_oci_testkit::{Answer, Auth, Bearer, Fault, Inline, Referrer, Registry, Rule};
use tofu_oci_types::{Descriptor, Digest};

use crate::setup::hostile::{ASCII_HEADER, HOSTILE, HOSTILE_HEADER, VERBS};
use crate::setup::logins::ada;
use crate::setup::{Scene, WIDGET};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

impl Scene {
    /// With a key, a configuration, `dist/`, and a rule that wants a signature.
    pub(crate) fn armed(self) -> Self {
        self.dist("dist", "1.4.0");
        self.trust("unsigned = \"allow\"");
        self.key("p256.pem");
        let text = format!("terraform {{\n  required_providers {{\n    w = {{ source = \"{WIDGET}\" }}\n  }}\n}}\n");
        self.context.write("main.tf", text);
        self
    }

    /// Runs every verb against a place.
    #[track_caller]
    fn every_verb(&self, place: &str) -> String {
        VERBS.iter().map(|verb| self.harmless(&verb.replace("AT", place))).collect()
    }

    /// Runs what reads a release and what writes one.
    #[track_caller]
    fn readers_and_push(&self) -> String {
        let push = "push dist REGISTRY/acme/widget --address registry.example.com/acme/widget";
        READERS[..5].iter().chain([&push]).map(|line| self.harmless(&format!("{line} --attempts 1"))).collect()
    }

    fn put(&self, value: &Value, media_type: &str) -> Value {
        let text = value.to_string();
        let size = text.len();
        let digest = self.registry.put_manifest("acme/widget", media_type, text);
        json!({"mediaType": media_type, "digest": digest, "size": size})
    }
}

/// What reads all of a release.
const READERS: [&str; 7] = [
    "versions REGISTRY/acme/widget --platforms",
    "copy REGISTRY/acme/widget oci:copied --version 1.4.0",
    "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64",
    "lock registry.example.com/acme/widget --from REGISTRY/acme/widget",
    "check REGISTRY/acme/widget",
    "check REGISTRY/acme/widget --format sarif",
    "check REGISTRY/acme/widget --format junit",
];

/// A release with each text hostile that the readers let pass: `spoil` names what.
fn release(scene: &Scene, spoil: &str) {
    let is = |name: &str, honest: &str| if spoil == name { HOSTILE.to_owned() } else { honest.to_owned() };
    let zip = std::fs::read(scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip")).expect("a zip");
    let layer = json!({
        "mediaType": is("layer media type", "archive/zip"), "digest": Digest::sha256(&zip), "size": zip.len(),
        "annotations": {
            "org.opencontainers.image.title": is("title", "widget.zip"),
            is("annotation name", "name"): is("annotation value", "value"),
        },
    });
    scene.registry.put_blob("acme/widget", zip);
    let config = json!({
        "os": is("config os", "linux"), "architecture": is("config architecture", "amd64"),
        "config": {"Labels": {"org.opentofu.package-type": is("label", "provider_binary")}},
        "rootfs": {"type": "layers", "diff_ids": [is("diff id", "x")]},
    })
    .to_string();
    let config_type = is("config media type", "application/vnd.oci.image.config.v1+json");
    let config_descriptor =
        json!({"mediaType": config_type, "digest": Digest::sha256(config.as_bytes()), "size": config.len()});
    scene.registry.put_blob("acme/widget", config);
    let leaf = json!({
        "schemaVersion": 2, "mediaType": is("leaf media type", MANIFEST), "config": config_descriptor, "layers": [layer],
        "artifactType": is("leaf artifact type", "application/vnd.opentofu.provider-target"),
        "annotations": {"org.opencontainers.image.version": is("leaf version", "1.4.0")},
    });
    let mut entry = scene.put(&leaf, MANIFEST);
    entry["artifactType"] = json!(is("entry artifact type", "application/vnd.opentofu.provider-target"));
    entry["platform"] = json!({
        "os": is("entry os", "linux"), "architecture": is("entry architecture", "amd64"),
        "variant": is("variant", "v1"),
    });
    if let Some(name) = ["h1", "zh", "package-size", "filename"].iter().find(|name| **name == spoil) {
        entry["annotations"] = json!({ format!("org.opentofu.provider.{name}"): HOSTILE });
    }
    if spoil == "entry media type" {
        entry["mediaType"] = json!(HOSTILE);
    }
    let index = json!({
        "schemaVersion": 2, "mediaType": is("index media type", INDEX), "manifests": [entry],
        "artifactType": is("index artifact type", "application/vnd.opentofu.provider"),
        "annotations": {
            "org.opentofu.provider.address": is("address", WIDGET), "org.opentofu.provider.version": is("version", "1.4.0"),
            "org.opentofu.provider.protocols": is("protocols", "5.0"), "org.opencontainers.image.created": is("created", "x"),
            is("index annotation name", "org.opencontainers.image.source"): is("source", "https://example.com"),
        },
    });
    let index = scene.put(&index, INDEX);
    scene.registry.put_tag("acme/widget", "1.4.0", &index["digest"].as_str().expect("text").parse().expect("a digest"));
}

#[test]
fn a_title_reaches_no_terminal_raw_in_copy() {
    let scene = Scene::new().armed();
    release(&scene, "title");
    scene.harmless("copy REGISTRY/acme/widget oci:title --version 1.4.0");
    let scene = Scene::published();
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is there");
    let referrer = Referrer::new(&Descriptor::of(&media_type, &bytes), "application/x");
    let commands = ["::add-mask::a", "\u{1b}[2J", "##[error]x"];
    let layers = commands.iter().fold(referrer, |made, one| {
        made.layer(one, one.as_bytes(), &[("org.opencontainers.image.title", one)], Inline::No)
    });
    scene.registry.put_referrer("acme/widget", &layers);
    let said = scene.harmless("copy REGISTRY/acme/widget oci:media-type --version 1.4.0");
    for shown in ["\n\\u{3a}:add-mask::a (", "\n\\u{1b}[2J (", "\n#\\u{23}[error]x ("] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
}

#[test]
fn no_text_of_a_release_acts_on_a_terminal() {
    let spoilable = [
        "layer media type",
        "title",
        "h1",
        "zh",
        "package-size",
        "filename",
        "annotation name",
        "annotation value",
        "config os",
        "config architecture",
        "label",
        "diff id",
        "config media type",
        "leaf media type",
        "leaf artifact type",
        "leaf version",
        "entry artifact type",
        "entry os",
        "entry architecture",
        "variant",
        "entry media type",
        "index media type",
        "index artifact type",
        "address",
        "version",
        "protocols",
        "created",
        "index annotation name",
        "source",
    ];
    let mut shown = Vec::new();
    for spoil in spoilable {
        let scene = Scene::new().armed();
        release(&scene, spoil);
        let said: String = READERS.iter().map(|line| scene.harmless(line)).collect();
        if said.contains("\\u{1b}[2J") || said.contains("\\u001b[2J") {
            shown.push(spoil);
        }
    }
    assert!(shown.len() > 8, "only {shown:?} of {} are shown by any verb: nothing is tried here", spoilable.len());
}

#[test]
fn no_referrer_acts_on_a_terminal() {
    let scene = Scene::published().armed();
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is there");
    let subject = Descriptor::of(&media_type, &bytes);
    let sums = format!("{}  {HOSTILE}\n", "0".repeat(64));
    let bundle = json!({"mediaType": HOSTILE, "verificationMaterial": {"publicKey": {"hint": HOSTILE}}}).to_string();
    let said_by = |name: &str| Referrer::new(&subject, name).member("annotations", json!({HOSTILE: HOSTILE}));
    for referrer in [
        said_by(HOSTILE).layer(HOSTILE, b"x", &[("org.opencontainers.image.title", HOSTILE)], Inline::No),
        said_by("application/vnd.cncf.notary.signature").layer(HOSTILE, b"x", &[(HOSTILE, HOSTILE)], Inline::Yes),
        Referrer::bundle(&subject, bundle.as_bytes(), Inline::Yes),
        Referrer::bundle(&subject, HOSTILE.as_bytes(), Inline::No).layer_member("mediaType", json!(HOSTILE)),
        Referrer::sums(&subject, sums.as_bytes(), HOSTILE.as_bytes(), Inline::No),
        Referrer::sums(&subject, HOSTILE.as_bytes(), b"x", Inline::Yes).listed_as(Some(HOSTILE)),
    ] {
        scene.registry.put_referrer("acme/widget", &referrer);
    }
    let said = scene.every_verb("REGISTRY/acme/widget");
    assert!(said.contains("\\u{1b}[2J"), "{said}");
}

#[test]
fn no_refusal_acts_on_a_terminal() {
    let document = json!({"errors": [{"code": HOSTILE, "message": HOSTILE, "detail": {HOSTILE: HOSTILE}}]}).to_string();
    let answers = [
        (400, document.clone()),
        (403, document.clone()),
        (404, document.clone()),
        (429, document.clone()),
        (500, HOSTILE.to_owned()),
        (200, HOSTILE.to_owned()),
        (200, document),
    ];
    let mut shown = 0;
    for (status, body) in answers {
        let scene = Scene::published().armed();
        let answer = Answer::new(status).header("Content-Type", HOSTILE_HEADER).body(body);
        scene.registry.fault(Rule::on("*", "/v2/*").then(Fault::Answer(answer)));
        let said = scene.every_verb("REGISTRY/acme/widget");
        shown += usize::from(said.contains("[2J"));
    }
    assert!(shown > 3, "nothing is tried here: {shown}");
}

#[test]
fn no_tag_acts_on_a_terminal() {
    let scene = Scene::published().armed();
    let tags = json!({"name": HOSTILE, "tags": ["1.4.0", HOSTILE, "::error::x", "2", 7]}).to_string();
    for body in [tags, json!({"tags": HOSTILE}).to_string(), format!("[\"{HOSTILE}\"")] {
        let answer = Answer::new(200).header("Link", format!("<{HOSTILE_HEADER}>; rel=\"next\"")).body(body);
        scene.registry.clear_faults();
        scene.registry.fault(Rule::on("GET", "/v2/*/tags/list").then(Fault::Answer(answer)));
        scene.every_verb("REGISTRY/acme/widget");
    }
}

#[test]
fn no_header_acts_on_a_terminal() {
    let headers = [
        ("Warning", format!("299 - \"{HOSTILE_HEADER}\"")),
        ("Docker-Content-Digest", HOSTILE_HEADER.to_owned()),
        ("Content-Type", HOSTILE_HEADER.to_owned()),
        ("Content-Encoding", HOSTILE_HEADER.to_owned()),
        ("OCI-Subject", HOSTILE_HEADER.to_owned()),
        ("Location", format!("https://h.test/{HOSTILE_HEADER}")),
        ("Retry-After", HOSTILE_HEADER.to_owned()),
        ("OCI-Chunk-Min-Length", HOSTILE_HEADER.to_owned()),
        ("Link", format!("<https://h.test/{HOSTILE_HEADER}>; rel=\"next\"")),
        ("Server", HOSTILE_HEADER.to_owned()),
    ];
    let mut shown = 0;
    let ascii = headers.clone().map(|(name, value)| (name, value.replace(HOSTILE_HEADER, ASCII_HEADER)));
    for (name, value) in headers.into_iter().chain(ascii) {
        let scene = Scene::published().armed();
        scene.registry.fault(Rule::on("*", "/v2/*").then(Fault::header(name, value.clone())));
        let said = scene.readers_and_push();
        shown += usize::from(said.contains("error::forged"));
        if name == "Location" {
            let answer = Answer::new(307).header(name, value);
            scene.registry.clear_faults();
            scene.registry.fault(Rule::on("*", "/v2/*").then(Fault::Answer(answer)));
            scene.readers_and_push();
        }
    }
    assert!(shown > 1, "nothing is tried here: {shown}");
}

#[test]
fn no_challenge_and_no_token_server_acts_on_a_terminal() {
    let text = HOSTILE_HEADER;
    let challenges = [
        format!("Bearer realm=\"https://h.test/{text}\",service=\"{text}\",scope=\"{text}\",error=\"{text}\""),
        format!("Basic realm=\"{text}\""),
        format!("{text} realm=\"x\""),
        format!("Bearer realm={text}"),
        format!("Bearer realm=\"http://REALM/token\",service=\"{text}\",scope=\"repository:{text}:pull\""),
    ];
    let auth = "auth explain REGISTRY/acme/widget";
    for challenge in challenges {
        let scene = Scene::published().armed();
        scene.context.write_home(".docker/config.json", scene.auths().to_string());
        let challenge = challenge.replace("REALM", scene.registry.address());
        let answer = Answer::error(401, HOSTILE, HOSTILE).header("WWW-Authenticate", challenge);
        scene.registry.fault(Rule::on("*", "/v2/*").then(Fault::Answer(answer)));
        scene.registry.fault(Rule::on("*", "/token*").then(Fault::Answer(Answer::text(403, HOSTILE))));
        scene.every_verb("REGISTRY/acme/widget");
        scene.harmless(auth);
        scene.harmless(&format!("{auth} --push"));
        scene.harmless("login REGISTRY");
    }
    let refusal =
        json!({"errors": [{"code": HOSTILE, "message": HOSTILE}], "error": HOSTILE, "error_description": HOSTILE});
    let token = json!({"token": HOSTILE, "expires_in": HOSTILE, "issued_at": HOSTILE, "scope": HOSTILE});
    for (status, body) in [(401, &refusal), (500, &refusal), (200, &token), (200, &refusal), (418, &json!(HOSTILE))] {
        let scene = Scene::with(Registry::builder().auth(Auth::Bearer(Bearer::new(ada())))).armed();
        scene.context.write_home(".docker/config.json", scene.auths().to_string());
        let answer = Answer::new(status).header("Content-Type", "application/json").body(body.to_string());
        scene.registry.fault(Rule::on("*", "/token*").then(Fault::Answer(answer)));
        scene.every_verb("REGISTRY/acme/widget");
        scene.harmless(auth);
        scene.harmless("login REGISTRY");
    }
}

#[test]
fn no_name_in_a_zip_acts_on_a_terminal() {
    // As long as the honest name, since offsets must stay.
    let hostile = "\x1b[2J\u{9b}31m\n::error::f\u{202e}_";
    let scene = Scene::new().armed();
    let path = scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip");
    let zip = std::fs::read(&path).expect("a zip");
    let name = "terraform-provider-widget_v1.4.0";
    let hostile = hostile.to_owned() + &"_".repeat(name.len() - hostile.len());
    let zip = crate::setup::zips::renamed(zip, name, &hostile);
    std::fs::write(&path, &zip).expect("it is ours");
    scene.every_verb("REGISTRY/acme/widget");
    let said = scene.harmless("push dist REGISTRY/acme/widget --address registry.example.com/acme/widget");
    assert!(said.contains("\\u{1b}[2J"), "{said}");
    scene.forge(zip);
    scene.every_verb("REGISTRY/acme/widget");
}
