use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::*;
use crate::testing::put;

/// The first 4096 bytes of a program that prints two letters, built by Go 1.26.8 for each platform of `go tool dist list`
/// for which it needs no other linker (`CGO_ENABLED=0 go build -ldflags='-s -w'`).
fn built_by_go() -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/programs.zip");
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut heads = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut head = Vec::new();
        file.read_to_end(&mut head).unwrap();
        let name = file.name().unwrap().into_owned();
        heads.push((name, head));
    }
    heads
}

fn of(platform: &str) -> Vec<u8> {
    let found = built_by_go().into_iter().find(|(name, _)| name == platform);
    found.unwrap_or_else(|| panic!("testdata/programs.zip has no {platform}")).1
}

fn platform(text: &str) -> Platform {
    text.parse().unwrap()
}

/// Platforms that the header alone cannot tell apart.
fn alike(one: &str, other: &str) -> bool {
    let group = |platform: &str| match platform.split_once('_').unwrap() {
        ("android", arch) => format!("linux_{arch}"),
        ("ios", arch) => format!("darwin_{arch}"),
        ("illumos", arch) => format!("solaris_{arch}"),
        _ => platform.to_owned(),
    };
    // Go marks no program for DragonFly, and one for Linux may run on whatever takes unmarked files.
    let unmarked = ["linux_amd64", "dragonfly_amd64"];
    let taken = ["linux_amd64", "dragonfly_amd64", "solaris_amd64", "illumos_amd64", "android_amd64"];
    group(one) == group(other)
        || (unmarked.contains(&one) && taken.contains(&other))
        || (one == "linux_386" && other == "android_386")
}

#[test]
fn a_zip_with_the_name_of_the_program_was_taken_for_a_script() {
    let found = Program::read(b"PK\x03\x04 and so on").unwrap();
    assert!(found.is_archive() && found.contradicts(&platform("linux_amd64")));
    assert_eq!(found.to_string(), "a zip archive in place of its program");
}

#[test]
fn a_program_contradicts_every_platform_but_its_own() {
    let heads = built_by_go();
    assert!(heads.len() >= 40, "{}", heads.len());
    for (own, head) in &heads {
        let program = Program::read(head);
        let other_format = ["aix", "js", "plan9", "wasip1"].iter().any(|system| own.starts_with(system));
        assert_eq!(program.is_none(), other_format, "{own}: {program:?}");
        let Some(program) = program else { continue };
        for (other, _) in &heads {
            assert_eq!(program.contradicts(&platform(other)), !alike(own, other), "{program} as {other}");
        }
    }
}

#[test]
fn platforms_that_go_does_not_know_are_contradicted_by_the_known_half_alone() {
    let program = Program::read(&of("linux_amd64")).unwrap();
    for (other, want) in [("beos_amd64", false), ("beos_arm64", true), ("linux_vax", false), ("windows_vax", true)] {
        assert_eq!(program.contradicts(&platform(other)), want, "{other}");
    }
}

#[test]
fn says_what_a_program_is_for() {
    let mut told = Vec::new();
    for name in ["linux_arm64", "freebsd_amd64", "openbsd_386", "illumos_amd64", "darwin_arm64", "windows_amd64"] {
        told.push(Program::read(&of(name)).unwrap().to_string());
    }
    told.push(Program::read(&universal(0xcafe_babe)).unwrap().to_string());
    let mut avr = of("linux_386");
    avr[18] = 83;
    told.push(Program::read(&avr).unwrap().to_string());
    insta::assert_snapshot!(told.join("\n"), @"
    an ELF program for linux_arm64
    an ELF program for freebsd_amd64
    an ELF program for openbsd_386
    an ELF program for solaris_amd64
    a Mach-O program for darwin_arm64
    a Windows program for windows_amd64
    a Mach-O program for darwin_amd64 and darwin_arm64
    an ELF program for linux on a machine with the number 0x53
    ");
}

/// A universal binary of both architectures of macOS.
fn universal(magic: u32) -> Vec<u8> {
    let wide = magic == 0xcafe_babf;
    let mut bytes: Vec<u8> = [magic, 2].iter().flat_map(|word| word.to_be_bytes()).collect();
    for machine in [macho::CPU_TYPE_X86_64, macho::CPU_TYPE_ARM64] {
        bytes.extend(machine.to_be_bytes());
        bytes.resize(bytes.len() + if wide { 28 } else { 16 }, 0);
    }
    bytes
}

#[test]
fn a_universal_binary_is_for_each_of_its_machines() {
    for magic in [0xcafe_babe, 0xcafe_babf] {
        let program = Program::read(&universal(magic)).unwrap();
        for (other, want) in [("darwin_amd64", false), ("darwin_arm64", false), ("linux_amd64", true)] {
            assert_eq!(program.contradicts(&platform(other)), want, "{other}");
        }
    }
}

#[test]
fn what_is_no_program_says_nothing() {
    let class = [&0xcafe_babe_u32.to_be_bytes()[..], &[0, 0, 0, 65], &[0; 4000]].concat();
    let everywhere = [&b"MZqFpD='\n"[..], &[0; 4000]].concat();
    let dos = [&b"MZ"[..], &[0; 4000]].concat();
    for bytes in [&b""[..], b"#!", b"#!/bin/sh\necho\n", b"MZ", b"\x7fELF", &class, &everywhere, &dos] {
        assert_eq!(Program::read(bytes), None, "{:?}", bytes.get(..9));
    }
}

#[test]
fn a_net_program_that_is_compiled_where_it_runs_says_nothing() {
    let mut head = of("windows_386");
    let at = usize::try_from(u32::from_le_bytes(head[60..64].try_into().unwrap())).unwrap();
    assert!(Program::read(&head).is_some());
    // The fifteenth data directory: that of .NET.
    head[at + 24 + 96 + 14 * 8] = 1;
    assert_eq!(Program::read(&head), None);
}

#[test]
fn marks_beyond_what_is_read_are_not_called_missing() {
    let head = of("netbsd_amd64");
    let mut unmarked = head.clone();
    unmarked[7] = 0;
    // The note still marks it; without the bytes of the note the system is unknown.
    assert!(Program::read(&unmarked).unwrap().contradicts(&platform("linux_amd64")));
    unmarked.truncate(1024);
    let program = Program::read(&unmarked).unwrap();
    for other in ["netbsd_amd64", "linux_amd64", "freebsd_amd64"] {
        assert!(!program.contradicts(&platform(other)), "{other}");
    }
}

#[test]
fn damaged_headers_are_read_without_a_fault() {
    for (name, head) in built_by_go() {
        for length in (0..256).chain((256..head.len()).step_by(61)) {
            let _ = Program::read(&head[..length]);
        }
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for at in (0..512.min(head.len())).chain((512..head.len()).step_by(37)) {
            let mut damaged = head.clone();
            for bit in [0x01, 0x80, 0xff] {
                damaged[at] = head[at] ^ bit;
                if let Some(program) = Program::read(&damaged) {
                    assert!(!program.to_string().is_empty(), "{name}");
                }
            }
            // And several at once.
            for _ in 0..3 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let place = usize::try_from(state >> 33).unwrap() % head.len();
                damaged[place] = u8::try_from(state >> 56).unwrap();
            }
            let _ = Program::read(&damaged);
        }
    }
}

fn zip_of(dir: &Path, files: &[(&str, &[u8], zip::CompressionMethod)]) -> PathBuf {
    let path = dir.join("package.zip");
    let mut writer = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    for (name, bytes, method) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default().compression_method(*method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
    path
}

#[test]
fn the_executable_of_a_package_is_the_one_that_opentofu_runs() {
    use zip::CompressionMethod::{Deflated, Stored};
    let (linux, windows) = (of("linux_amd64"), of("windows_amd64"));
    let long = [&linux[..], &vec![7; 3 * HEAD]].concat();
    let dir = tempfile::tempdir().unwrap();
    for method in [Deflated, Stored] {
        let path = zip_of(
            dir.path(),
            &[
                ("bin/terraform-provider-zap", &windows, method),
                ("terraform-provider-zap_v2", &windows, method),
                ("terraform-provider-zap_v1", &long, method),
                ("terraform-provider-zip", &windows, method),
            ],
        );
        let program = zip_program(&path, "zap").unwrap().unwrap();
        assert_eq!(program.to_string(), "an ELF program for linux_amd64");
        assert_eq!(zip_program(&path, "other").unwrap(), None);
        let names: Vec<String> =
            zip_programs(&path, &|name| !name.contains('/')).unwrap().into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["terraform-provider-zap_v1", "terraform-provider-zap_v2", "terraform-provider-zip"]);
    }
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("terraform-provider-zap_v2"), &windows);
    put(&folder.path().join("terraform-provider-zap_v1"), &long);
    put(&folder.path().join("bin/terraform-provider-zap"), &windows);
    let program = folder_program(folder.path(), "zap").unwrap().unwrap();
    assert_eq!(program.to_string(), "an ELF program for linux_amd64");
    assert_eq!(folder_program(folder.path(), "other").unwrap(), None);
}
