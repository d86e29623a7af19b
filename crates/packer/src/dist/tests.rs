//! Folders as they come, and as they should not come.

mod builds;

use insta::assert_snapshot;
use tofu_oci_types::{Event, Fault};

use super::*;
use crate::testing::Folder;

/// What is read from a folder, or what is wrong with it.
fn read_as(folder: &Folder, options: &DistOptions) -> String {
    let dist = match read_dist_with(&folder.path(), options) {
        Ok(dist) => dist,
        Err(error) => return folder.told(&error),
    };
    let packages: Vec<String> = dist
        .packages
        .iter()
        .map(|package| format!("{} {}", package.platform, folder.hide(&package.source.path().display().to_string())))
        .collect();
    format!(
        "{:?} {} {} [{}] sums: {}\n{}",
        dist.kind,
        dist.provider_type.as_deref().unwrap_or("-"),
        dist.version.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        dist.protocols.join(" "),
        dist.sums.map_or_else(|| "-".to_owned(), |sums| folder.hide(&sums.path.display().to_string())),
        packages.join("\n"),
    )
}

fn read(folder: &Folder) -> String {
    read_as(folder, &DistOptions::default())
}

const MANIFEST: &str = r#"{"version": 1, "metadata": {"protocol_versions": ["5.0", "6.0"]}}"#;

#[test]
fn reads_a_folder_of_zips() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.4.0", "darwin_arm64").file("README.md", "");
    assert_snapshot!(read(&folder), @r"
    Zips zap 1.4.0 [] sums: -
    darwin_arm64 DIST/terraform-provider-zap_1.4.0_darwin_arm64.zip
    linux_amd64 DIST/terraform-provider-zap_1.4.0_linux_amd64.zip
    ");
    folder.sums("terraform-provider-zap_1.4.0_SHA256SUMS").file("terraform-provider-zap_1.4.0_manifest.json", MANIFEST);
    assert_snapshot!(read(&folder), @r"
    Zips zap 1.4.0 [5.0 6.0] sums: DIST/terraform-provider-zap_1.4.0_SHA256SUMS
    darwin_arm64 DIST/terraform-provider-zap_1.4.0_darwin_arm64.zip
    linux_amd64 DIST/terraform-provider-zap_1.4.0_linux_amd64.zip
    ");
}

#[test]
fn another_versions_registry_manifest_is_not_taken_for_this_ones() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.5.0", "linux_amd64");
    let old = r#"{"version": 1, "metadata": {"protocol_versions": ["4.0"]}}"#;
    folder.file("terraform-provider-zap_1.4.0_manifest.json", old);
    let options = DistOptions { version: "1.5.0".parse().ok(), ..DistOptions::default() };
    assert_snapshot!(read_as(&folder, &options), @r"
    Zips zap 1.5.0 [] sums: -
    linux_amd64 DIST/terraform-provider-zap_1.5.0_linux_amd64.zip
    ");
    folder.file("terraform-provider-zap_1.5.0_manifest.json", MANIFEST);
    assert_snapshot!(read_as(&folder, &options), @r"
    Zips zap 1.5.0 [5.0 6.0] sums: -
    linux_amd64 DIST/terraform-provider-zap_1.5.0_linux_amd64.zip
    ");
}

#[test]
fn reads_directories_of_platforms() {
    let folder = Folder::new();
    folder.file("linux_amd64/terraform-provider-zap", "x").file("windows_386/terraform-provider-zap.exe", "x");
    folder.file(".git/config", "").file("notes/x", "").file("terraform-registry-manifest.json", MANIFEST);
    assert_snapshot!(read(&folder), @r"
    Directories zap - [5.0 6.0] sums: -
    linux_amd64 DIST/linux_amd64
    windows_386 DIST/windows_386
    ");
    let folder = Folder::new();
    folder.file("linux_amd64/terraform-provider-zap_v1.4.0_x5", "x");
    assert_snapshot!(read(&folder), @r"
    Directories zap 1.4.0 [] sums: -
    linux_amd64 DIST/linux_amd64
    ");
}

#[test]
fn a_list_without_packages_was_said_to_be_what_was_looked_for() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").file("artifacts.json", "[]");
    let hints = read_dist(&folder.path()).unwrap_err().hints().join("\n");
    assert!(hints.contains("in artifacts.json, which lists none: build again, or take that file away"), "{hints}");
    assert!(!hints.contains("OS_ARCH"), "{hints}");
}

#[test]
fn an_archive_that_is_not_there_was_named_by_another_path_than_the_list_has() {
    let folder = Folder::new();
    let one = r#"[{"name":"terraform-provider-zap_1.4.0_linux_amd64.zip","path":"dist/none.zip","goos":"linux","goarch":"amd64","type":"Archive"}]"#;
    folder.package("1.4.0", "linux_amd64").file("artifacts.json", one);
    assert_snapshot!(read(&folder), @"DIST/artifacts.json names dist/none.zip, which is not in that folder");
}

#[test]
fn a_package_that_the_checksums_list_and_the_folder_lacks_was_not_spoken_of() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.4.0", "darwin_arm64").package("1.3.0", "linux_arm");
    folder.sums("SHA256SUMS");
    std::fs::remove_file(folder.path().join("terraform-provider-zap_1.3.0_linux_arm.zip")).unwrap();
    let events = || read_dist(&folder.path()).unwrap().events;
    assert!(events().is_empty());
    std::fs::remove_file(folder.path().join("terraform-provider-zap_1.4.0_darwin_arm64.zip")).unwrap();
    let want = "SHA256SUMS lists packages for darwin_arm64 that are not there: the release goes without them";
    let hint = "if clients need them: put their zips into the folder, and push again with --replace-tag";
    assert_eq!(events(), [Event::warning("listed-package-absent", want).with_hint(hint)]);
}

/// A folder as `GoReleaser` leaves it: paths start at the project, the registry manifest stays beside `dist`.
fn goreleaser() -> Folder {
    let folder = Folder::new();
    let release = Folder::new();
    release
        .package("1.4.0", "linux_amd64")
        .package("1.4.0", "linux_arm")
        .sums("terraform-provider-zap_1.4.0_SHA256SUMS");
    for name in crate::testing::names(&release.path()) {
        folder.file(&format!("dist/{name}"), std::fs::read(release.path().join(&name)).unwrap());
    }
    folder.file("terraform-registry-manifest.json", MANIFEST);
    folder.file("dist/terraform-provider-zap_linux_amd64_v1/terraform-provider-zap_v1.4.0", "x");
    folder.file(
        "dist/metadata.json",
        r#"{"project_name":"terraform-provider-zap","tag":"v1.4.0","previous_tag":"v1.3.0","version":"1.4.0","commit":"aef34a","date":"2022-01-22T10:12:13Z","runtime":{"goos":"linux","goarch":"amd64"}}"#,
    );
    folder.file("dist/artifacts.json", artifacts("linux", "1.4.0"));
    folder
}

fn artifacts(os: &str, version: &str) -> String {
    r#"[
        {"name":"metadata.json","path":"dist/metadata.json","internal_type":30,"type":"Metadata"},
        {"name":"terraform-provider-zap_v1.4.0","path":"dist/terraform-provider-zap_linux_amd64_v1/terraform-provider-zap_v1.4.0","goos":"linux","goarch":"amd64","goamd64":"v1","target":"linux_amd64_v1","internal_type":4,"type":"Binary","extra":{"Binary":"terraform-provider-zap_v1.4.0","Ext":"","ID":"zap"}},
        {"name":"terraform-provider-zap_VERSION_linux_amd64.zip","path":"dist/terraform-provider-zap_VERSION_linux_amd64.zip","goos":"OS","goarch":"amd64","goamd64":"v1","target":"linux_amd64_v1","internal_type":1,"type":"Archive","extra":{"Binaries":["terraform-provider-zap_v1.4.0"],"Format":"zip","ID":"default","Replaces":null,"WrappedIn":""}},
        {"name":"terraform-provider-zap_VERSION_linux_arm.zip","path":"dist/terraform-provider-zap_VERSION_linux_arm.zip","goos":"linux","goarch":"arm","goarm":"6","internal_type":1,"type":"Archive","extra":{"Format":"zip","ID":"default"}},
        {"name":"terraform-provider-zap_VERSION_SHA256SUMS","path":"dist/terraform-provider-zap_VERSION_SHA256SUMS","internal_type":12,"type":"Checksum","extra":{}},
        {"name":"terraform-provider-zap_VERSION_SHA256SUMS.sig","path":"dist/terraform-provider-zap_VERSION_SHA256SUMS.sig","internal_type":13,"type":"Signature","extra":{"ID":"default"}}
    ]"#
    .replace("VERSION", version)
    .replace("OS\",", &format!("{os}\","))
}

fn read_below(folder: &Folder) -> String {
    match read_dist(&folder.path().join("dist")) {
        Ok(dist) => format!(
            "{:?} {:?} {:?} {:?} {} sums: {}",
            dist.kind,
            dist.provider_type,
            dist.version,
            dist.protocols,
            dist.packages.len(),
            dist.sums.is_some()
        ),
        Err(error) => folder.told(&error),
    }
}

#[test]
fn reads_what_goreleaser_writes() {
    let folder = goreleaser();
    assert_snapshot!(read_below(&folder), @r#"GoReleaser Some("zap") Some(1.4.0) ["5.0", "6.0"] 2 sums: true"#);
    // The manifest has moved on since the release: the checksum file tells.
    let sums = folder.path().join("dist/terraform-provider-zap_1.4.0_SHA256SUMS");
    let more = format!(
        "{}{}  terraform-provider-zap_1.4.0_manifest.json\n",
        std::fs::read_to_string(&sums).unwrap(),
        "a".repeat(64)
    );
    std::fs::write(&sums, more).unwrap();
    assert_snapshot!(read_below(&folder), @r#"GoReleaser Some("zap") Some(1.4.0) [] 2 sums: true"#);
}

#[test]
fn tells_what_is_wrong_with_a_goreleaser_folder() {
    let folder = goreleaser();
    folder.file("dist/artifacts.json", "[{");
    assert_snapshot!(read_below(&folder), @"cannot understand DIST/dist/artifacts.json: EOF while parsing an object at line 1 column 2");
    folder.file("dist/artifacts.json", artifacts("beos", "1.4.0"));
    assert_snapshot!(read_below(&folder), @"DIST/dist/terraform-provider-zap_1.4.0_linux_amd64.zip is for `beos_amd64`, which is not a platform that Go knows");
    folder.file("dist/artifacts.json", artifacts("linux", "1.5.0"));
    assert_snapshot!(read_below(&folder), @"DIST/dist/artifacts.json names dist/terraform-provider-zap_1.5.0_linux_amd64.zip, which is not in that folder");
    folder.file("dist/artifacts.json", artifacts("linux", "1.4.0"));
    folder.file("dist/metadata.json", r#"{"version":"1.3.9"}"#);
    assert_snapshot!(read_below(&folder), @"cannot understand DIST/dist/metadata.json: it says version 1.3.9, but artifacts.json lists packages of 1.4.0");
    folder.file("dist/metadata.json", r#"{"version":"snapshot"}"#);
    assert_snapshot!(read_below(&folder), @r"
    DIST/dist/metadata.json names no usable version
      cause: `snapshot` is not a version: it must read MAJOR.MINOR.PATCH
    ");
    let other =
        artifacts("linux", "1.4.0").replace(".zip", ".tar.gz").replace("\"Format\":\"zip\"", "\"Format\":\"tar.gz\"");
    folder.file("dist/artifacts.json", other).file("dist/metadata.json", "{}");
    assert_snapshot!(read_below(&folder), @"DIST/dist/terraform-provider-zap_1.4.0_linux_amd64.tar.gz is a tar.gz archive; packages are zip archives");
    folder.file("dist/artifacts.json", "[]");
    assert_snapshot!(read_below(&folder), @"DIST/dist holds no provider packages");
}

#[test]
fn a_listed_path_cannot_leave_the_folder() {
    let folder = goreleaser();
    folder.package("1.4.0", "linux_amd64");
    let listing = artifacts("linux", "1.4.0")
        .replace("dist/terraform-provider-zap_1.4.0_linux_amd64.zip", "../outside/secret.zip");
    folder.file("outside/secret.zip", "x").file("dist/artifacts.json", listing);
    assert_snapshot!(read_below(&folder), @"DIST/dist/artifacts.json names ../outside/secret.zip, which is not in that folder");
}

#[test]
fn tells_what_is_no_folder_of_release_files() {
    let folder = Folder::new();
    folder.file("main.go", "").file("go.mod", "").file("docs_old/x.md", "");
    assert_snapshot!(read(&folder), @"DIST holds no provider packages");
    assert_snapshot!(folder.told(&read_dist(&folder.path().join("missing")).unwrap_err()), @"there is no folder DIST/missing");
    assert_snapshot!(folder.told(&read_dist(&folder.path().join("main.go")).unwrap_err()), @"DIST/main.go is not a folder");
    folder.file("terraform-provider-zap_1.4.0_linux_amd64.tar.gz", "");
    assert_snapshot!(read(&folder), @"DIST/terraform-provider-zap_1.4.0_linux_amd64.tar.gz is a tar.gz archive; packages are zip archives");
}

#[test]
fn tells_what_is_wrong_with_names() {
    let of = |names: &[&str]| {
        let folder = Folder::new();
        for name in names {
            folder.file(name, "");
        }
        read(&folder)
    };
    assert_snapshot!(of(&["terraform-provider-zap_vault_linux_amd64.zip"]), @r"
    DIST/terraform-provider-zap_vault_linux_amd64.zip names no usable version
      cause: `vault` is not a version: it is written without a v before it
    ");
    assert_snapshot!(of(&["terraform-provider-zap_1.4.0_linux_x64.zip"]), @"DIST/terraform-provider-zap_1.4.0_linux_x64.zip is for `linux_x64`, which is not a platform that Go knows");
    assert_snapshot!(of(&["terraform-provider-zap_linux_amd64.zip"]), @"DIST/terraform-provider-zap_linux_amd64.zip is not named terraform-provider-TYPE_VERSION_OS_ARCH.zip");
    assert_snapshot!(of(&["terraform-provider-zap_1.4.0_linux_amd64.zip", "terraform-provider-zip_1.4.0_linux_amd64.zip"]), @"DIST holds packages of several providers: zap, zip");
    assert_snapshot!(of(&["linux_amd64/terraform-provider-zap", "linux_arm7/terraform-provider-zap"]), @"DIST/linux_arm7 is for `linux_arm7`, which is not a platform that Go knows");
    assert_snapshot!(of(&["macos_arm64/terraform-provider-zap"]), @"DIST/macos_arm64 is for `macos_arm64`, which is not a platform that Go knows");
    assert_snapshot!(of(&["linux_amd64/terraform-provider-zap", "linux_arm64/terraform-provider-zip"]), @"DIST holds packages of several providers: zap, zip");
    assert_snapshot!(of(&["terraform-provider-zap_1.4_linux_amd64.zip", "terraform-provider-zap_1.4.0_linux_amd64.zip"]), @"linux_amd64 has two packages: DIST/terraform-provider-zap_1.4.0_linux_amd64.zip and DIST/terraform-provider-zap_1.4_linux_amd64.zip");
}

#[test]
fn one_version_is_chosen_by_name() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.10.0", "linux_amd64");
    assert_snapshot!(read(&folder), @"DIST holds packages of several versions: 1.4.0, 1.10.0");
    let options = |version: &str| DistOptions { version: Some(version.parse().unwrap()), ..DistOptions::default() };
    assert_snapshot!(read_as(&folder, &options("1.4.0")), @r"
    Zips zap 1.4.0 [] sums: -
    linux_amd64 DIST/terraform-provider-zap_1.4.0_linux_amd64.zip
    ");
    assert_snapshot!(read_as(&folder, &options("1.5.0")), @"DIST holds packages of several versions: 1.4.0, 1.10.0");
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64");
    assert_snapshot!(read_as(&folder, &options("1.5.0")), @"version 1.5.0 was asked for, but DIST holds 1.4.0");
}

#[test]
fn every_zip_needs_its_line() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").sums("SHA256SUMS").package("1.4.0", "linux_arm64");
    assert_snapshot!(read(&folder), @"DIST/SHA256SUMS has no line for DIST/terraform-provider-zap_1.4.0_linux_arm64.zip");
    folder.file("SHA256SUMS", "what is this\n");
    assert_snapshot!(read(&folder), @"cannot understand DIST/SHA256SUMS: line 1: the checksum is not one of SHA-256");
}

#[test]
fn an_unknown_platform_is_taken_when_told_to() {
    let folder = Folder::new();
    folder.package("1.4.0", "haiku_amd64");
    assert_snapshot!(read(&folder), @"DIST/terraform-provider-zap_1.4.0_haiku_amd64.zip is for `haiku_amd64`, which is not a platform that Go knows");
    let options = DistOptions { unknown_platforms: UnknownPlatforms::Allow, ..DistOptions::default() };
    assert_snapshot!(read_as(&folder, &options), @r"
    Zips zap 1.4.0 [] sums: -
    haiku_amd64 DIST/terraform-provider-zap_1.4.0_haiku_amd64.zip
    ");
}

#[test]
fn tells_what_is_wrong_with_a_registry_manifest() {
    let folder = Folder::new();
    folder
        .package("1.4.0", "linux_amd64")
        .file("zap_manifest.json", r#"{"metadata": {"protocol_versions": ["v6.0"]}}"#);
    assert_snapshot!(read(&folder), @"cannot understand DIST/zap_manifest.json: `v6.0` is not a protocol version: it must read MAJOR.MINOR, such as 6.0");
    folder.file("zap_manifest.json", "{}");
    assert_snapshot!(read(&folder), @"cannot understand DIST/zap_manifest.json: missing field `metadata` at line 1 column 2");
}
