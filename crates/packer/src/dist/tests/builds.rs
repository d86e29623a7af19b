//! Files as `GoReleaser` names them.

use insta::assert_snapshot;

use super::{read, read_as};
use crate::dist::{Dist, DistOptions, read_dist};
use crate::testing::Folder;

/// A folder with `artifacts.json` of these artifacts of one version; each file is there.
fn build(version: &str, artifacts: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    let one = |(path, rest): &(&str, &str)| {
        let name = path.rsplit('/').next().unwrap();
        format!(r#"{{"name":"{name}","path":"{path}",{rest}}}"#)
    };
    for (path, _) in artifacts {
        folder.file(path.rsplit_once("dist/").map_or(path, |(_, path)| path), "x");
    }
    let list: Vec<String> = artifacts.iter().map(one).collect();
    folder.file("artifacts.json", format!("[{}]", list.join(",")));
    folder.file("metadata.json", format!(r#"{{"project_name":"terraform-provider-zap","version":"{version}"}}"#));
    folder
}

/// The packages of a folder: each platform with its file, without what all their names begin with.
fn packages(folder: &Folder) -> String {
    let text = read(folder);
    let (_, packages) = text.split_once('\n').unwrap_or_else(|| panic!("{text}"));
    packages.replace("DIST/terraform-provider-zap_", "").replace('\n', ", ")
}

/// What is said of a folder before anything is sent.
fn events(folder: &Folder) -> String {
    let Dist { events, .. } = read_dist(&folder.path()).unwrap();
    events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["text"].as_str().unwrap().to_owned() + "\n")
        .collect()
}

#[test]
fn a_v_before_the_version_was_refused() {
    let folder = Folder::new();
    folder.package("v1.4.0", "linux_amd64").sums("SHA256SUMS");
    assert!(read(&folder).starts_with("Zips zap 1.4.0 [] sums: DIST/SHA256SUMS\n"), "{}", read(&folder));
    assert_snapshot!(packages(&folder), @"linux_amd64 v1.4.0_linux_amd64.zip");
}

#[test]
fn one_universal_program_was_for_no_platform_that_go_knows() {
    let folder = Folder::new();
    folder.package("1.4.0", "darwin_all").package("1.4.0", "linux_amd64");
    assert_snapshot!(packages(&folder), @"darwin_amd64 1.4.0_darwin_all.zip, darwin_arm64 1.4.0_darwin_all.zip, linux_amd64 1.4.0_linux_amd64.zip");
    let archive = r#""goos":"darwin","goarch":"all","type":"Archive","extra":{"Format":"zip","Replaces":true}"#;
    let folder = build("1.4.0", &[("dist/terraform-provider-zap_1.4.0_darwin_all.zip", archive)]);
    assert_snapshot!(packages(&folder), @"darwin_amd64 1.4.0_darwin_all.zip, darwin_arm64 1.4.0_darwin_all.zip");
    // A program for one of them alone goes before it.
    let folder = Folder::new();
    folder.package("1.4.0", "darwin_all").package("1.4.0", "darwin_arm64");
    assert_snapshot!(packages(&folder), @"darwin_amd64 1.4.0_darwin_all.zip, darwin_arm64 1.4.0_darwin_arm64.zip");
    assert_snapshot!(events(&folder), @"terraform-provider-zap_1.4.0_darwin_all.zip does not go with the release as darwin_arm64: terraform-provider-zap_1.4.0_darwin_arm64.zip is for it alone");
}

#[test]
fn builds_for_several_processors_of_one_platform_were_two_packages() {
    let archive = |level: &str| format!(r#""goos":"linux","goarch":"arm","goarm":"{level}","type":"Archive""#);
    let (six, seven) = (archive("6"), archive("7"));
    let folder = build(
        "1.4.0",
        &[
            ("dist/terraform-provider-zap_1.4.0_linux_armv7.zip", &seven),
            ("dist/terraform-provider-zap_1.4.0_linux_armv6.zip", &six),
        ],
    );
    assert_snapshot!(packages(&folder), @"linux_arm 1.4.0_linux_armv6.zip");
    assert_snapshot!(events(&folder), @"terraform-provider-zap_1.4.0_linux_armv7.zip does not go with the release as linux_arm: terraform-provider-zap_1.4.0_linux_armv6.zip runs on more machines");
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.4.0", "linux_amd64v3").package("1.4.0", "linux_mips_softfloat");
    assert_snapshot!(packages(&folder), @"linux_amd64 1.4.0_linux_amd64.zip, linux_mips 1.4.0_linux_mips_softfloat.zip");
}

#[test]
fn programs_without_archives_were_no_packages() {
    let program = |os: &str, arch: &str| {
        format!(
            r#""goos":"{os}","goarch":"{arch}","type":"Binary","extra":{{"Binary":"terraform-provider-zap_v0.0.3"}}"#
        )
    };
    let (linux, darwin) = (program("linux", "amd64"), program("darwin", "arm64"));
    let folder = build(
        "0.0.3",
        &[
            ("/home/ci/zap/dist/terraform-provider-zap_linux_amd64_v1/terraform-provider-zap_v0.0.3", &linux),
            ("/home/ci/zap/dist/terraform-provider-zap_darwin_arm64_v8.0/terraform-provider-zap_v0.0.3", &darwin),
            ("/home/ci/zap/dist/zapctl_linux_amd64_v1/zapctl", &linux),
        ],
    );
    assert_snapshot!(packages(&folder), @"darwin_arm64 darwin_arm64_v8.0/terraform-provider-zap_v0.0.3, linux_amd64 linux_amd64_v1/terraform-provider-zap_v0.0.3");
    for file in ["artifacts.json", "metadata.json"] {
        std::fs::remove_file(folder.path().join(file)).unwrap();
    }
    assert!(read(&folder).starts_with("Directories zap 0.0.3 "), "{}", read(&folder));
    assert_snapshot!(packages(&folder), @"darwin_arm64 darwin_arm64_v8.0, linux_amd64 linux_amd64_v1");
}

#[test]
fn checksums_of_another_kind_made_the_folder_unreadable() {
    let archive = |extra: &str| format!(r#""goos":"linux","goarch":"amd64","type":"Archive","extra":{{{extra}}}"#);
    let name = "dist/terraform-provider-zap_1.4.0_linux_amd64.zip";
    for (extra, sum) in [("", "a".repeat(128)), (r#""Checksum":"blake3:aa""#, "a".repeat(64))] {
        let folder = build("1.4.0", &[(name, &archive(extra)), ("dist/zap_checksums.txt", r#""type":"Checksum""#)]);
        folder.file("zap_checksums.txt", format!("{sum}  terraform-provider-zap_1.4.0_linux_amd64.zip\n"));
        assert!(read(&folder).contains("sums: -"), "{}", read(&folder));
        assert_eq!(
            events(&folder),
            "the checksums in zap_checksums.txt are not of SHA-256: no package was compared with them, and they do not go with \
             the release\n"
        );
    }
}

#[test]
fn checksums_with_a_folder_before_each_name_named_no_package() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").sums("SHA256SUMS");
    let sums = folder.path().join("SHA256SUMS");
    let text = std::fs::read_to_string(&sums).unwrap();
    std::fs::write(&sums, text.replace("  ", "  dist/")).unwrap();
    assert!(read(&folder).contains("sums: DIST/SHA256SUMS"), "{}", read(&folder));
    let bsd = |line: &str| line.split_once("  ").map(|(sum, name)| format!("SHA256 ({name}) = {sum}\n"));
    std::fs::write(&sums, text.lines().filter_map(bsd).collect::<String>()).unwrap();
    assert!(read(&folder).contains("sums: DIST/SHA256SUMS"), "{}", read(&folder));
}

#[test]
fn a_registry_manifest_with_a_whole_number_or_a_byte_order_mark_made_the_folder_unreadable() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64");
    folder.file("zap_manifest.json", "\u{feff}{\"metadata\": {\"protocol_versions\": [\"6\"]}}");
    assert!(read(&folder).contains("zap 1.4.0 [6.0]"), "{}", read(&folder));
}

#[test]
fn a_preview_could_not_be_published_from_the_files_of_another_version() {
    let folder = Folder::new();
    folder.package("1.0.0", "linux_amd64");
    let options = |version: &str| DistOptions { version: version.parse().ok(), ..DistOptions::default() };
    assert!(read_as(&folder, &options("1.1.0-pr12.3")).starts_with("Zips zap 1.0.0 "));
    assert_snapshot!(read_as(&folder, &options("1.1.0")), @"version 1.1.0 was asked for, but DIST holds 1.0.0");
}
