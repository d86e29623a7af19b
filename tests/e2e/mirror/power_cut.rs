//! What a power cut or a kill leaves in a folder: the next run makes it what an undisturbed one would have made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tofu_oci_testkit::{Fault, Gate, ProviderZip, ReleaseFolder, Rule};
use tofu_oci_types::Digest;

use super::{HOST, Mirrored, PLATFORMS, actions};

/// A mirror into a folder, and the files that an undisturbed run makes.
struct Folder {
    mirrored: Mirrored,
    line: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl Folder {
    fn of(to: &str) -> Self {
        let mirrored = Mirrored::with_zap();
        let line = format!("mirror {HOST}/acme/zap --to {to} --json");
        mirrored.scene.run(&line).success();
        let files = Self::files(&mirrored);
        Self { mirrored, line, files }
    }

    fn files(mirrored: &Mirrored) -> BTreeMap<String, Vec<u8>> {
        let names = mirrored.scene.context.files().into_iter().filter(|name| name.starts_with("out/"));
        let read = |name: String| (name.clone(), std::fs::read(mirrored.scene.path(&name)).expect("a file"));
        // It names the process that has locked the folder last.
        names.filter(|name| !name.ends_with("-lock")).map(read).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.mirrored.scene.path(name)
    }

    /// What tags lead to, beside `index.json` and `oci-layout`.
    fn tagged(&self) -> Vec<&String> {
        let of_digest = |digest: &str| self.files.keys().find(|name| name.ends_with(&format!("/sha256/{digest}")));
        let (mut found, mut open): (Vec<&String>, _) = (Vec::new(), Vec::new());
        let index = self.files.keys().find(|name| name.ends_with("zap/index.json")).expect("an index");
        let json: Value = serde_json::from_slice(&self.files[index]).expect("JSON");
        let entries = json["manifests"].as_array().expect("entries").iter();
        open.extend(
            entries.filter(|entry| entry["annotations"]["org.opencontainers.image.ref.name"].is_string()).cloned(),
        );
        while let Some(entry) = open.pop() {
            let digest = entry["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).unwrap_or_default();
            let Some(name) = of_digest(digest).filter(|name| !found.contains(name)) else { continue };
            found.push(name);
            let Ok(manifest) = serde_json::from_slice::<Value>(&self.files[name]) else { continue };
            for list in ["manifests", "layers"] {
                open.extend(manifest[list].as_array().into_iter().flatten().cloned());
            }
            open.push(manifest["config"].clone());
        }
        found.extend(self.files.keys().filter(|name| name.ends_with("zap/index.json") || name.ends_with("oci-layout")));
        found
    }

    /// Runs again, and demands the files of the undisturbed run. The upstream signs anew whenever it is asked, and the record of
    /// first sightings has other times.
    #[track_caller]
    fn check(&self, more: &str, what: &str) {
        let said = self.mirrored.scene.run(&format!("{}{more}", self.line)).success();
        let now = Self::files(&self.mirrored);
        let is_made_anew = |name: &str, now: &[u8]| match name {
            _ if name.ends_with("SUMS.sig") => !now.is_empty(),
            _ if name.ends_with("first-seen.json") => is_record(now),
            _ => {
                name.contains("index.json") && tags(now).is_some_and(|tags| Some(tags) == self::tags(&self.files[name]))
            }
        };
        let mut other = Vec::new();
        for (name, bytes) in &self.files {
            // Its tag leads to another one by now.
            let is_record = bytes.windows(13).any(|text| text == b"first-seen.v1");
            if !now.get(name).is_some_and(|now| now == bytes || is_record || is_made_anew(name, now)) {
                other.push(name);
            }
        }
        assert_eq!(other, [""; 0], "{what} {}", said.text);
        let index = now.keys().find(|name| name.ends_with("/index.json")).expect("an index");
        if self.line.contains("oci:") {
            let record = tagged(&now[index]).and_then(|tags| tags.get("first-seen").cloned()).expect("a record");
            let (_, hex) = record.split_once(':').expect("a digest");
            let bytes = &now[&format!("{}/blobs/sha256/{hex}", index.trim_end_matches("/index.json"))];
            assert_eq!(Digest::sha256(bytes).as_str(), record, "{what}");
            let manifest: Value = serde_json::from_slice(bytes).expect("JSON");
            let text = manifest["annotations"]["org.opentofu.provider.first-seen"].as_str().expect("a record");
            assert!(is_record(text.as_bytes()), "{what} {text}");
        } else {
            assert_eq!(now.len(), self.files.len(), "{what} {:?}", now.keys());
            assert_eq!(now[index], self.files[index], "{what}");
        }
    }
}

/// The tags of an `index.json` with their digests; `None` if it cannot be read.
fn tagged(index: &[u8]) -> Option<BTreeMap<String, String>> {
    let index: Value = serde_json::from_slice(index).ok()?;
    let tag = |entry: &Value| {
        let tag = entry["annotations"]["org.opencontainers.image.ref.name"].as_str()?.to_owned();
        Some((tag, entry["digest"].as_str()?.to_owned()))
    };
    Some(index["manifests"].as_array().into_iter().flatten().filter_map(tag).collect())
}

/// Without the record of first sightings.
fn tags(index: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut tags = tagged(index)?;
    tags.remove("first-seen");
    Some(tags)
}

/// Whether it records both versions.
fn is_record(json: &[u8]) -> bool {
    serde_json::from_slice::<Value>(json).is_ok_and(|record| {
        let text = record.to_string();
        record.is_object() && ["1.0.0", "1.1.0"].iter().all(|version| text.contains(version))
    })
}

fn damage(path: &Path, left: usize) {
    let bytes = std::fs::read(path).expect("a file");
    std::fs::write(path, &bytes[..left.min(bytes.len())]).expect("written");
}

#[test]
fn a_truncated_file_of_a_static_tree_is_there_already_for_ever() {
    let tree = Folder::of("static:out");
    for (name, bytes) in &tree.files {
        // Half of a signature cannot be told from a whole one.
        let halves = if name.ends_with("SUMS.sig") { &[0][..] } else { &[0, bytes.len() / 2] };
        for left in halves {
            damage(&tree.path(name), *left);
            tree.check("", name);
        }
    }
}

#[test]
fn a_static_tree_never_gets_its_checksum_file_again_after_an_interruption() {
    let tree = Folder::of("static:out");
    let folder = tree.path(&format!("out/{HOST}/acme/zap"));
    // As a run leaves it that is killed after its zips.
    for name in ["1.0.0.json", "terraform-provider-zap_1.0.0_SHA256SUMS", "terraform-provider-zap_1.0.0_SHA256SUMS.sig"]
    {
        std::fs::remove_file(folder.join(name)).expect("a file");
    }
    std::fs::write(folder.join("index.json"), "{\n  \"versions\": {\n    \"1.1.0\": {}\n  }\n}").expect("written");
    tree.check("", "zips alone");
    // And as an earlier program left it, which then listed the version.
    for name in ["terraform-provider-zap_1.0.0_SHA256SUMS", "terraform-provider-zap_1.1.0_SHA256SUMS.sig"] {
        std::fs::remove_file(folder.join(name)).expect("a file");
        tree.check("", name);
    }
}

#[test]
fn a_truncated_blob_of_an_image_layout_is_there_already_for_ever() {
    let layout = Folder::of("oci:out");
    let tagged = layout.tagged();
    assert!(tagged.len() > 12, "{tagged:?}");
    // Nobody reads the empty layer of the record of first sightings.
    for name in tagged.into_iter().filter(|name| layout.files[*name] != b"{}") {
        for left in [0, layout.files[name].len() / 2] {
            damage(&layout.path(name), left);
            layout.check("", name);
        }
    }
}

#[test]
fn a_truncated_blob_of_a_mirrored_module_was_an_error_for_ever() {
    let mut upstream = crate::module_mirror::Upstream::start();
    upstream.module("network", "1.0.0", &[("main.tf", "variable \"x\" {}\n")]);
    upstream.list();
    let line = format!("module mirror {HOST}/acme/network/aws --to 'oci:out/${{name}}' --json --quiet");
    upstream.scene.run(&line).success();
    let blobs = std::fs::read_dir(upstream.scene.path("out/network/blobs/sha256")).expect("blobs");
    let mut healed = 0;
    for blob in blobs.map(|blob| blob.expect("a blob").path()) {
        let bytes = std::fs::read(&blob).expect("a blob");
        if bytes.windows(13).any(|text| text == b"first-seen.v1") {
            continue;
        }
        for left in [0, bytes.len() / 2] {
            damage(&blob, left);
            let said = upstream.scene.run(&line).success();
            assert_eq!(said.json()[0]["action"], "pack", "{}", said.text);
            assert_eq!(std::fs::read(&blob).expect("a blob"), bytes);
        }
        healed += 1;
    }
    assert!(healed > 2);
    let said = upstream.scene.run(&line).success();
    assert_eq!(said.json()[0]["action"], "present", "{}", said.text);
}

#[test]
fn other_bytes_in_the_same_size_are_found_by_verify() {
    for to in ["static:out", "oci:out"] {
        let folder = Folder::of(to);
        let zip = folder.mirrored.upstream.zip("acme/zap", "1.0.0", "linux_amd64");
        let (name, _) = folder.files.iter().find(|(_, bytes)| **bytes == zip).expect("the zip");
        let mut damaged = zip.to_vec();
        damaged[zip.len() / 2] ^= 1;
        std::fs::write(folder.path(name), damaged).expect("written");
        let said = folder.mirrored.scene.run(&folder.line).success();
        assert_eq!(actions(&said)["zap 1.0.0"], "present");
        folder.check(" --verify", name);
    }
    let mirrored = Mirrored::with_zap();
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --verify"));
    assert_eq!(said.code, Some(2), "{}", said.text);
}

#[test]
fn of_two_runs_with_different_packages_of_one_version_the_slower_one_overwrote_the_tree_of_the_other() {
    let mirrored = Mirrored::with_zap();
    let gate = Gate::closed();
    mirrored.upstream.fault(Rule::on("GET", "*.zip").then(Fault::Hold(gate.clone())));
    let other = mirrored.scene.path(&format!("other/{HOST}/acme/zap"));
    let package = ProviderZip::new("zap", "1.0.0", PLATFORMS[0]).random_file("data.bin", 100);
    ReleaseFolder::new("zap", "1.0.0", &[]).package(package).write_zips(&other);
    let line = format!("mirror {HOST}/acme/zap@1.0.0 --to static:tree --platform {}", PLATFORMS[0]);
    let mut slow = mirrored.scene.command(&line);
    let slow =
        slow.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(gate.arrived(1));
    mirrored.scene.run(&format!("{line} --from static:other")).success();
    gate.open();
    let said = slow.wait_with_output().expect("it ends");
    assert_eq!(said.status.code(), Some(1), "{}", String::from_utf8_lossy(&said.stdout));
    let name = format!("terraform-provider-zap_1.0.0_{}.zip", PLATFORMS[0]);
    let zips = [other, mirrored.scene.path(&format!("tree/{HOST}/acme/zap"))]
        .map(|folder| std::fs::read(folder.join(&name)).unwrap());
    assert_eq!(zips[0], zips[1]);
}
