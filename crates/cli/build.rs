//! What `tofu-oci version` says about this build: the commit with its date, the target and the compiler. It reads no clock,
//! so that two builds of one commit are equal. Without git, or outside the repository of tofu-oci, there is no commit.
//!
//! And `docs.zz`, the pages of `docs/` in a third of their bytes: path and text in turns, each with a zero byte after it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::ZlibEncoder;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Git writes the first when another branch is checked out, and the second whenever HEAD names another commit.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let show = ["show", "--no-patch", "--no-show-signature", "--format=%H %cd", "--date=format-local:%FT%TZ", "HEAD"];
    // The files may stand in the repository of somebody else.
    let is_ours = git(&["rev-parse", "--show-prefix"]).is_some_and(|folder| folder == "crates/cli/");
    let head = is_ours.then(|| git(&show)).flatten().unwrap_or_default();
    let (commit, date) = head.split_once(' ').unwrap_or_default();
    let compiler = std::env::var_os("RUSTC").and_then(|rustc| said(Command::new(rustc).arg("--version")));
    let compiler = compiler.unwrap_or_default();
    for (name, value) in [
        ("COMMIT", commit),
        ("COMMIT_DATE", date),
        ("TARGET", &std::env::var("TARGET").unwrap_or_default()),
        ("RUSTC", compiler.strip_prefix("rustc ").unwrap_or(&compiler)),
    ] {
        println!("cargo::rustc-env=BUILD_{name}={value}");
    }
    pack(Path::new("../../docs")).expect("the pages of docs/ are there");
}

/// Packs what the program contains of `docs/`: its pages, and the schema of its JSON.
fn pack(docs: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", docs.display());
    let out = Path::new(&std::env::var_os("OUT_DIR").unwrap_or_default()).join("docs.zz");
    let mut packed = ZlibEncoder::new(fs::File::create(out)?, Compression::best());
    for part in ["start", "how-to", "concepts", "reference"] {
        let mut names =
            fs::read_dir(docs.join(part))?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        // The program writes the page of its verbs itself.
        let is_page = |name: &str| name != "verbs.md" && Path::new(name).extension().is_some_and(|ext| ext == "md");
        let is_read = |name: &&str| is_page(name) || *name == "json.schema.json";
        for name in names.iter().filter_map(|name| name.to_str()).filter(is_read) {
            write!(packed, "{part}/{name}\0{}\0", fs::read_to_string(docs.join(part).join(name))?)?;
        }
    }
    packed.finish()?.flush()
}

fn git(arguments: &[&str]) -> Option<String> {
    // A hook of git that builds has variables of its own repository.
    said(Command::new("git").args(arguments).env("TZ", "UTC").env_remove("GIT_DIR").env_remove("GIT_WORK_TREE"))
}

/// What a program prints; `None` if there is no such program, or if it fails.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
