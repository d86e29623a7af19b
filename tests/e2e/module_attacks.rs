//! Modules that are made to harm, and registries that lie about them: signatures of other packages, names that lead elsewhere,
//! text for terminals and for the comment of a pin, and ways around the rules of `trust.toml`.
#![cfg(unix)]

use serde_json::{Value, json};
use tofu_oci_testkit::{Answer, Behaviour, Deletion, Fault, Inline, Referrer, Registry, Rule, WebServer};
use tofu_oci_types::{Descriptor, Digest};

use crate::setup::hostile::HOSTILE;
use crate::setup::{Said, Scene, zips};

pub(crate) const AT: &str = "REGISTRY/acme/network-aws";
pub(crate) const ADDRESS: &str = "registry.example.test/acme/network/aws";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

impl Scene {
    /// Publishes a version of a module at a place.
    pub(crate) fn a_module(&self, place: &str, version: &str, options: &str) {
        self.context.write(&format!("net-{version}/main.tf"), format!("# {version}\n"));
        self.run(&format!("module push net-{version} {place} --version {version} {options}")).success();
    }

    /// With versions 1.0.0 and 1.1.0, of which the first one is signed in both forms, and a rule that demands that key.
    fn with_one_signed() -> Self {
        let behaviour = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
        let scene = Self::with(Registry::builder().behaviour(behaviour));
        scene.key("p256.pem");
        scene.key("p256.pub");
        scene.a_module(AT, "1.0.0", "");
        scene.a_module(AT, "1.1.0", "");
        scene.run(&format!("sign {AT}:1.0.0 --key p256.pem --format both")).success();
        scene.context.write(
            "trust.toml",
            "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[rule]]\nmodules = [\"*\"]\nkeys = [\"acme\"]\nunsigned = \"refuse\"\n",
        );
        scene
    }

    fn pull_tag(&self, tag: &str) -> Said {
        let _ = std::fs::remove_dir_all(self.path("out"));
        self.run(&format!("module pull oci://{AT}?tag={tag} out"))
    }

    /// What refers to the package under a tag: the content of the first layer, and its media type.
    fn referring(&self, tag: &str) -> Vec<(String, Vec<u8>)> {
        let (repository, subject) = ("acme/network-aws", self.tag("acme/network-aws", tag));
        let mut found = Vec::new();
        for digest in self.registry.digests(repository) {
            let Some((_, bytes)) = self.registry.manifest(repository, &digest) else { continue };
            let manifest: Value = serde_json::from_slice(&bytes).expect("JSON");
            if manifest["subject"]["digest"] == subject {
                let layer = &manifest["layers"][0];
                let blob: Digest = layer["digest"].as_str().expect("a text").parse().expect("a digest");
                let content = self.registry.blob(repository, &blob).expect("its blob");
                found.push((layer["mediaType"].as_str().expect("a text").to_owned(), content.to_vec()));
            }
        }
        found
    }

    fn descriptor_of(&self, tag: &str) -> Descriptor {
        let (media_type, bytes) = self.registry.manifest("acme/network-aws", tag).expect("it is published");
        Descriptor::of(&media_type, &bytes)
    }
}

#[test]
fn a_signature_of_one_version_does_not_count_for_another() {
    let scene = Scene::with_one_signed();
    scene.pull_tag("1.0.0").success();
    assert!(scene.pull_tag("1.1.0").stderr.contains("it is not signed"));
    let signed = scene.referring("1.0.0");
    assert!(!signed.is_empty());
    for (_, bundle) in &signed {
        let referrer = Referrer::bundle(&scene.descriptor_of("1.1.0"), bundle, Inline::Yes);
        scene.registry.put_referrer("acme/network-aws", &referrer);
    }
    let tag_of =
        |version: &str| format!("sha256-{}.sig", scene.tag("acme/network-aws", version).trim_start_matches("sha256:"));
    let signature = scene.tag("acme/network-aws", &tag_of("1.0.0")).parse().expect("a digest");
    scene.registry.put_tag("acme/network-aws", &tag_of("1.1.0"), &signature);
    let said = scene.pull_tag("1.1.0");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stderr.contains("is not trusted"), "{}", said.text);
    assert!(!scene.path("out").exists());
}

#[test]
fn a_notice_about_one_version_withdraws_no_other() {
    let scene = Scene::with_one_signed();
    scene.run(&format!("sign {AT}:1.1.0 --key p256.pem")).success();
    let before = scene.referring("1.0.0");
    let digest = scene.tag("acme/network-aws", "1.0.0");
    scene.run(&format!("withdraw {AT}:1.0.0 --reason broken --sign-key p256.pem")).success();
    scene.registry.put_tag("acme/network-aws", "again", &digest.parse().expect("a digest"));
    let notices: Vec<_> = scene.referring("again").into_iter().filter(|one| !before.contains(one)).collect();
    assert_eq!(notices.len(), 1);
    let subject = scene.descriptor_of("1.1.0");
    for (media_type, content) in &notices {
        let kind = "application/vnd.opentofu.provider.notice.v1";
        let referrer = Referrer::new(&subject, kind).layer(media_type, content, &[], Inline::No);
        scene.registry.put_referrer("acme/network-aws", &referrer);
    }
    for policy in ["", " --trust-policy none.toml"] {
        scene.context.write("none.toml", "");
        let said = scene.run(&format!("module pull oci://{AT}?tag=1.1.0 out --force{policy}")).success();
        assert!(!said.stderr.contains("withdrawn"), "{}", said.text);
    }
}

#[test]
fn a_key_for_one_repository_does_not_sign_for_another() {
    let scene = Scene::with_one_signed();
    scene.run(&format!("copy {AT} REGISTRY/other/dns-aws --version 1.0.0")).success();
    let pull = "module pull oci://REGISTRY/other/dns-aws?tag=1.0.0 out";
    // A signature names the bytes: one key for both repositories lets either package take the other's place.
    scene.run(pull).success();
    let at = scene.registry.address();
    scene.key("p384.pub");
    scene.context.write("trust.toml", format!(
        "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[key]]\nname = \"dns\"\nfile = \"p384.pub\"\n\n\
         [[rule]]\nmodules = [\"{at}/acme/*\"]\nkeys = [\"acme\"]\n\n[[rule]]\nmodules = [\"*\"]\nkeys = [\"dns\"]\nunsigned = \"refuse\"\n"
    ));
    scene.run(&format!("module pull oci://{AT}?tag=1.0.0 other")).success();
    let said = scene.run(&format!("{pull} --force"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stderr.contains("is not trusted"), "{}", said.text);
}

/// Each way of a module to the user, with a rule that its package does not meet.
#[test]
fn an_unsigned_module_is_refused_on_every_way() {
    let mut scene = Scene::new();
    scene.a_module(AT, "1.0.0", "");
    scene.a_module("oci:layout", "1.0.0", "");
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/\" }}", web.origin());
    scene.context.write_home(".tofurc", format!("host \"web.example.test\" {{\n  services = {services}\n}}\n"));
    web.page("/v1/a/b/c/versions", Answer::new(200).body(r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#));
    web.page("/v1/a/b/c/1.0.0/download", Answer::new(204).header("X-Terraform-Get", "/b.zip"));
    let at = scene.registry.address().to_owned();
    scene
        .context
        .write("live/main.tf", format!("module \"x\" {{\n  source = \"oci://{at}/acme/network-aws?tag=1.0.0\"\n}}\n"));
    let mapping = format!(
        "[[module_mirror]]\ninclude = [\"registry.example.test/*/*/*\"]\nrepository_template = \"{at}/${{namespace}}/${{name}}-${{target_system}}\"\n"
    );
    scene.context.write("modules.toml", mapping);
    let as_network = format!("--as {ADDRESS} --to");
    scene.run(&format!("module mirror oci://{AT}?tag=1.0.0 {as_network} bundle:carried.tar")).success();
    let port = at.rsplit(':').next().expect("a port").to_owned();
    let ways = [
        format!("module pull oci://{AT}?tag=1.0.0 out"),
        format!("module pull oci://localhost:{port}/acme/network-aws?tag=1.0.0 out"),
        format!("module pull oci://{AT}?digest={} out", scene.tag("acme/network-aws", "1.0.0")),
        format!("module pull {ADDRESS}@1.0.0 out"),
        "module lock live --trust-policy trust.toml".to_owned(),
        "module lock live --trust-policy trust.toml --check".to_owned(),
        format!("module mirror oci://{AT}?tag=1.0.0 {as_network} 'REGISTRY/new/${{name}}'"),
        format!("module mirror oci://{AT}?tag=1.0.0 {as_network} bundle:new.tar"),
        format!("verify {AT}:1.0.0"),
    ];
    let everywhere = [
        "module pull oci:layout:1.0.0 out".to_owned(),
        "module pull web.example.test/a/b/c@1.0.0 out".to_owned(),
        "module mirror web.example.test/a/b/c --to 'REGISTRY/new/${name}'".to_owned(),
        "module mirror --from bundle:carried.tar --to 'REGISTRY/new/${name}'".to_owned(),
        "module mirror --from bundle:carried.tar --to bundle:new.tar".to_owned(),
    ];
    let registry = [format!("{at}/acme/*"), format!("localhost:{port}/acme/*"), "*".to_owned()];
    for (pattern, lines) in registry.iter().map(|one| (one.as_str(), &ways[..])).chain([("*", &everywhere[..])]) {
        scene.context.write("trust.toml", format!("[[rule]]\nmodules = [\"{pattern}\"]\nunsigned = \"refuse\"\n"));
        for line in lines {
            let said = scene.run(line);
            assert_eq!(said.code, Some(1), "{pattern}: {line}: {}", said.text);
            assert!(
                said.text.contains("is not trusted: it is not signed") || line.starts_with("verify"),
                "{line}: {}",
                said.text
            );
            assert!(
                !scene.path("out").exists() && scene.registry.tags("new/network").is_empty(),
                "{line}: {}",
                said.text
            );
            assert!(scene.registry.tags("new/b").is_empty(), "{line}: {}", said.text);
        }
        let live = scene.context.read("live/main.tf");
        assert!(live.contains("?tag=1.0.0"), "{live}");
        if scene.path("new.tar").exists() {
            let shown = scene.run("bundle show new.tar").success();
            assert!(!shown.stdout.contains(ADDRESS), "{}", shown.text);
        }
    }
    scene.context.write_home(
        ".tofurc",
        "provider_installation {\n  direct {\n    exclude = [\"registry.example.test/*/*\"]\n  }\n}\n",
    );
    scene.context.write(
        "client.sh",
        "base=$(sed -nE 's/.*\"modules.v1\" = \"([^\"]*)\".*/\\1/p' \"$TF_CLI_CONFIG_FILE\")\n\
         for path in 1.0.0/download 1.0.0/network-aws_1.0.0.zip; do\n\
         curl -sS --noproxy '*' --cacert \"${SSL_CERT_DIR%%:*}/ca.pem\" -o /dev/null -w '%{http_code}\\n' \"${base}acme/network/aws/$path\"\ndone\nexit 3\n",
    );
    let said = scene.run("run -- sh client.sh");
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), "409\n409\n"), "{}", said.text);
    assert!(said.stderr.contains("is not trusted: it is not signed"), "{}", said.text);
}

#[test]
fn a_git_repository_is_refused_where_every_module_must_be_signed() {
    let scene = Scene::new();
    scene.context.write("trust.toml", "[[rule]]\nmodules = [\"*\"]\nunsigned = \"refuse\"\n");
    let mut command = scene.command("module pull git::https://example.test/a.git out");
    // Without programs: git would be missed.
    let said = scene.output(command.env("PATH", "/nonexistent"));
    assert!(said.stderr.contains("is not trusted: it is not signed"), "{}", said.text);
}

/// Tags that are no tags: with lines, comments and templates in them.
#[test]
fn a_tag_with_a_line_in_it_never_reaches_a_configuration() {
    let scene = Scene::new();
    scene.a_module(AT, "1.0.0", "");
    let digest = scene.tag("acme/network-aws", "1.0.0");
    let evil = [
        "9.0.0\n}\nresource \"x\" \"y\" {",
        "9.0.1 # x",
        "9.0.2*/",
        "${9.0.3}",
        "9.0.4\r\nmodule \"z\" {}",
        "9.0.5\u{2028}x",
        "9.0.6\"",
        "\u{1b}[2J",
    ];
    let tags: Vec<Value> = evil.iter().map(|tag| json!(tag)).chain([json!("1.0.0")]).collect();
    let list = json!({ "name": "acme/network-aws", "tags": tags }).to_string();
    scene.registry.fault(Rule::on("GET", "/v2/acme/network-aws/tags/list").then(Fault::ReplaceBody(list.into())));
    let at = scene.registry.address();
    let call = |query: &str, after: &str| {
        format!("module \"x\" {{\n  source = \"oci://{at}/acme/network-aws{query}\"{after}\n}}\n")
    };
    for (name, before) in [
        ("tag", call("?tag=1.0.0", "")),
        ("digest", call(&format!("?digest={digest}"), "")),
        ("constraint", call("", " # >= 1.0")),
    ] {
        for options in ["", " --upgrade"] {
            scene.context.write(&format!("{name}/main.tf"), &before);
            scene.harmless(&format!("module lock {name} --dry-run{options}"));
            scene.run(&format!("module lock {name}{options}")).success();
            let text = scene.context.read(&format!("{name}/main.tf"));
            assert_eq!(text.lines().count(), 3, "{text}");
            let line = text.lines().nth(1).expect("the source");
            let (source, comment) = line.split_once("\" # ").expect("a comment");
            assert!(source.ends_with(&digest), "{line}");
            assert!(comment.starts_with("1.0.0") && !comment.contains('9'), "{line}");
        }
    }
    scene.harmless(&format!("module versions oci://{AT}"));
    scene.harmless("module versions oci://REGISTRY/acme/network-aws --limit 1");
}

#[test]
fn no_text_of_a_module_acts_on_a_terminal() {
    let scene = Scene::new();
    scene.context.write("zip/main.tf", "");
    scene.run("module push zip oci:zipped --version 1.0.0").success();
    let zip = std::fs::read_dir(scene.path("zipped/blobs/sha256")).into_iter().flatten().flatten();
    let zip = zip.map(|blob| std::fs::read(blob.path()).expect("a blob")).find(|bytes| bytes.starts_with(b"PK"));
    let zip = zip.expect("a zip");
    scene.registry.put_blob("acme/network-aws", zip.clone());
    scene.registry.put_blob("acme/network-aws", "{}");
    let at = scene.registry.address().to_owned();
    // What a reader refuses, each; and all that no reader looks at.
    for spoilt in
        [&["artifactType"][..], &["mediaType"], &["layer"], &["annotation", "version", "source", "title", "config"]]
    {
        let is = |name: &str, honest: &str| if spoilt.contains(&name) { HOSTILE.to_owned() } else { honest.to_owned() };
        let manifest = json!({
            "schemaVersion": 2, "mediaType": is("mediaType", MANIFEST),
            "artifactType": is("artifactType", "application/vnd.opentofu.modulepkg"),
            "config": { "mediaType": is("config", "application/vnd.oci.empty.v1+json"), "digest": Digest::sha256(b"{}"), "size": 2 },
            "layers": [{
                "mediaType": is("layer", "archive/zip"), "digest": Digest::sha256(&zip), "size": zip.len(),
                "annotations": { "org.opencontainers.image.title": is("title", "a.zip") },
            }],
            "annotations": {
                is("annotation", "a"): is("annotation", "b"),
                "org.opentofu.module.version": is("version", "1.0.0"), "org.opencontainers.image.source": is("source", "https://x.example"),
                "org.opentofu.module.h1": is("source", "h1:x"), "org.opencontainers.image.created": is("source", "x"),
            },
        });
        let digest = scene.registry.put_manifest("acme/network-aws", MANIFEST, manifest.to_string());
        scene.registry.put_tag("acme/network-aws", "1.0.0", &digest);
        scene.context.write(
            "live/main.tf",
            format!("module \"x\" {{\n  source = \"oci://{at}/acme/network-aws?tag=1.0.0\"\n}}\n"),
        );
        let lines = [
            "module versions oci://REGISTRY/acme/network-aws",
            "module pull oci://REGISTRY/acme/network-aws?tag=1.0.0 out --force",
            "module lock live --dry-run",
            "check REGISTRY/acme/network-aws --module",
            "module mirror oci://REGISTRY/acme/network-aws?tag=1.0.0 --as registry.example.test/acme/network/aws --to 'oci:mirror-${name}'",
            "show REGISTRY/acme/network-aws:1.0.0",
            "verify REGISTRY/acme/network-aws:1.0.0",
            "copy REGISTRY/acme/network-aws oci:copied --version 1.0.0",
            "module push zip REGISTRY/acme/network-aws --version 1.0.0",
        ];
        for line in &lines[..if spoilt.len() == 1 { 4 } else { lines.len() }] {
            scene.harmless(&format!("{line} --attempts 1"));
        }
    }
}

/// A repository of git in a package runs commands (`core.fsmonitor`) as soon as a prompt asks git about the folder.
#[test]
fn a_package_with_a_folder_of_git_in_it_was_unpacked_carried_and_served() {
    let mut scene = Scene::new();
    let spoilt = |name: &str| zips::stored(&[("main.tf".to_owned(), &b"# 1\n"[..]), (name.to_owned(), b"x")]);
    let zip = spoilt("modules/a/.Git/config");
    let blob = scene.registry.put_blob("acme/network-aws", zip.clone());
    scene.registry.put_blob("acme/network-aws", "{}");
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.opentofu.modulepkg",
        "config": { "mediaType": "application/vnd.oci.empty.v1+json", "digest": Digest::sha256(b"{}"), "size": 2 },
        "layers": [{ "mediaType": "archive/zip", "digest": blob, "size": zip.len() }],
        "annotations": { "org.opentofu.module.version": "1.0.0" },
    });
    let digest = scene.registry.put_manifest("acme/network-aws", MANIFEST, manifest.to_string());
    scene.registry.put_tag("acme/network-aws", "1.0.0", &digest);

    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/\" }}", web.origin());
    scene.context.write_home(".tofurc", format!("host \"web.example.test\" {{\n  services = {services}\n}}\n"));
    for (name, location) in [("b", "/b.zip"), ("tgz", "/b.tar.gz"), ("bare", "/bare.zip")] {
        let at = format!("/v1/a/{name}/c");
        let versions = r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#;
        web.page(&format!("{at}/versions"), Answer::new(200).body(versions));
        web.page(&format!("{at}/1.0.0/download"), Answer::new(204).header("X-Terraform-Get", location));
    }
    web.page("/b.zip", Answer::new(200).body(spoilt("GIT~1")));
    scene.context.write("tree/.hg/hgrc", "x");
    scene.context.write("tree/main.tf", "");
    let packed = std::process::Command::new("tar")
        .args(["-czf", "b.tgz", "-C", "tree", "."])
        .current_dir(scene.path(""))
        .status();
    assert!(packed.expect("tar is installed").success());
    web.page("/b.tar.gz", Answer::new(200).body(std::fs::read(scene.path("b.tgz")).expect("it was packed")));
    let bare = ["HEAD", "config", "objects/a", "refs/b"].map(|name| (format!("x/{name}"), &b"x"[..]));
    web.page("/bare.zip", Answer::new(200).body(zips::stored(&bare)));

    let at = scene.registry.address().to_owned();
    let as_network = format!("--as {ADDRESS} --to");
    for line in [
        format!("module pull oci://{AT}?tag=1.0.0 out"),
        "module pull web.example.test/a/b/c@1.0.0 out".to_owned(),
        "module pull web.example.test/a/tgz/c@1.0.0 out".to_owned(),
        "module pull web.example.test/a/bare/c@1.0.0 out".to_owned(),
        format!("module mirror oci://{AT}?tag=1.0.0 {as_network} 'REGISTRY/new/${{name}}'"),
        format!("module mirror oci://{AT}?tag=1.0.0 {as_network} bundle:new.tar"),
        "module mirror web.example.test/a/b/c --to 'REGISTRY/new/${name}'".to_owned(),
    ] {
        let said = scene.run(&line);
        assert_eq!(said.code, Some(1), "{line}: {}", said.text);
        assert!(said.text.contains("a part of a repository of version control"), "{line}: {}", said.text);
        assert!(!scene.path("out").exists() && !scene.path("new.tar").exists(), "{line}: {}", said.text);
        assert!(scene.registry.tags("new/network").is_empty() && scene.registry.tags("new/b").is_empty(), "{line}");
    }
    let said = scene.run(&format!("check {AT}:1.0.0 --module"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.text.contains("error[module-embedded-repository]"), "{}", said.text);
    assert!(said.text.contains("entry `modules/a/.Git/config`"), "{}", said.text);

    let mapping = format!(
        "[[module_mirror]]\ninclude = [\"registry.example.test/*/*/*\"]\nrepository_template = \"{at}/${{namespace}}/${{name}}-${{target_system}}\"\n"
    );
    scene.context.write("modules.toml", mapping);
    scene.context.write_home(
        ".tofurc",
        "provider_installation {\n  direct {\n    exclude = [\"registry.example.test/*/*\"]\n  }\n}\n",
    );
    scene.context.write(
        "client.sh",
        "base=$(sed -nE 's/.*\"modules.v1\" = \"([^\"]*)\".*/\\1/p' \"$TF_CLI_CONFIG_FILE\")\n\
         for path in 1.0.0/download 1.0.0/network-aws_1.0.0.zip; do\n\
         curl -sS --noproxy '*' --cacert \"${SSL_CERT_DIR%%:*}/ca.pem\" -o /dev/null -w '%{http_code}\\n' \"${base}acme/network/aws/$path\"\ndone\nexit 3\n",
    );
    let said = scene.run("run -- sh client.sh");
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), "409\n409\n"), "{}", said.text);
    assert!(said.stderr.contains("a part of a repository of version control"), "{}", said.text);
}
