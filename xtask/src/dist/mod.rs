//! `cargo xtask dist`: what users download, for each target that can be built here.
//!
//! ```text
//! target        names of a target                  build     the program, without a trace of its folder
//! dependencies  crates of the program              payload   completions, man pages, licences
//! licences      their texts                        member    archives, byte for byte the same
//! sbom          bill of materials                  debian, redhat, alpine, image   packages and image
//! sums          checksums, signature               release   version, date, where the sources are
//! ```
//!
//! What it is not: a release. Nothing is sent anywhere.

mod alpine;
mod build;
mod debian;
mod dependencies;
mod image;
mod licences;
mod member;
mod payload;
mod redhat;
mod release;
mod sbom;
mod sums;
mod target;

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::process::ProgramRun;
use crate::{paths, program};
use build::Built;
use member::Member;
use payload::{DistTexts, Packager};
use release::{DistSource, Release};
use target::{DistTarget, TARGETS};

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct DistArgs {
    /// A target, instead of all
    #[arg(long, value_name = "TRIPLE", value_parser = DistTarget::parse)]
    target: Vec<&'static DistTarget>,
    /// Where the files go
    #[arg(long, default_value = "target/dist-files")]
    out: PathBuf,
    /// Sign `SHA256SUMS` with this key: PEM as cosign has it (`COSIGN_PASSWORD` opens it), or one of minisign
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
    /// Build again in another folder, and fail if a byte differs
    #[arg(long)]
    check_twice: bool,
}

/// Writes all files and prints their checksums; a failure if a target that was named cannot be built.
pub(crate) fn run(arguments: &DistArgs) -> ChoreResult {
    let targets: Vec<&DistTarget> =
        if arguments.target.is_empty() { TARGETS.iter().collect() } else { arguments.target.clone() };
    let source = DistSource { root: paths::root(), target: paths::root().join("target") };
    let release = Release::checked_out(&source.root)?;
    let out = std::path::absolute(&arguments.out)?;
    let ends = write(&source, &release, &targets, &out)?;
    if !any_program(&ends) && (arguments.check_twice || arguments.sign_key.is_some()) {
        return Err(ChoreFailure::new("no program was built, so nothing can be signed or built twice"));
    }
    if any_program(&ends) {
        if arguments.check_twice {
            check_twice(&source.root, &release, &targets, &out)?;
        }
        print!("{}", fs::read_to_string(out.join(sums::NAME))?);
        if let Some(key) = &arguments.sign_key {
            println!("signed: {}", sums::sign(&out, key)?);
        }
    }
    let mut missing = Vec::new();
    for (target, end) in ends {
        match end {
            Built::Program(file) => println!("{target}: {:.1} MB", fs::metadata(file)?.len() as f64 / 1e6),
            Built::Checked(why) => println!("{target}: checked, not built: {why}"),
            Built::Skipped(why) => {
                println!("{target}: SKIPPED: {why}");
                missing.push(target.to_string());
            }
        }
    }
    if arguments.target.is_empty() || missing.is_empty() {
        return Ok(());
    }
    Err(ChoreFailure::new(format!("not built: {}", missing.join(", "))))
}

/// Builds all targets and writes their files and the sums; the folder is emptied first.
fn write<'a>(
    source: &DistSource,
    release: &Release,
    targets: &[&'a DistTarget],
    out: &Path,
) -> ChoreResult<Vec<(&'a DistTarget, Built)>> {
    if out.exists() {
        fs::remove_dir_all(out).doing(|| format!("removing {}", out.display()))?;
    }
    let mut ends = Vec::new();
    for target in targets {
        ends.push((*target, build::build(source, release, target)?));
    }
    if !any_program(&ends) {
        return Ok(ends);
    }
    let here = ends.iter().find_map(|(target, end)| match end {
        Built::Program(file) if target.runs_here() => Some(file.clone()),
        _ => None,
    });
    let texts = DistTexts::of(&source.root, &here.map_or_else(program::build, Ok)?)?;
    let mut images = Vec::new();
    for (target, end) in &ends {
        let Built::Program(file) = end else { continue };
        let bytes = fs::read(file).doing(|| format!("reading {}", file.display()))?;
        let crates = dependencies::of_program(&source.root, target.triple)?;
        let licences = licences::page(&crates, &fs::read_to_string(source.root.join("LICENSE"))?)?;
        let stem = target.stem(&release.version);
        let lock_file = fs::read_to_string(source.root.join("Cargo.lock"))?;
        paths::write(&out.join(format!("{stem}.cdx.json")), sbom::document(release, &crates, &lock_file)?)?;
        let files = texts.archive(Member::program(target.program(), bytes.clone()), &licences);
        let archive =
            if target.is_windows() { member::zip(&files)? } else { member::gzip(&member::tar(&files, release.date)?)? };
        paths::write(&out.join(target.archive(&release.version)), archive)?;
        let Some(names) = &target.linux else { continue };
        let package = debian::package(release, names.debian, &texts.system(Packager::Debian, &bytes, &licences)?)?;
        paths::write(&out.join(format!("tofu-oci_{}_{}.deb", release.version, names.debian)), package)?;
        let package = redhat::package(release, names.rpm, &texts.system(Packager::Rpm, &bytes, &licences)?)?;
        paths::write(&out.join(format!("tofu-oci-{}-1.{}.rpm", release.version, names.rpm)), package)?;
        let package = alpine::package(release, names.debian, &texts.system(Packager::Rpm, &bytes, &licences)?)?;
        match package {
            Some(package) => {
                paths::write(&out.join(format!("tofu-oci_{}_{}.apk", release.version, names.rpm)), package)?;
            }
            None => println!("note: no package of Alpine: `nfpm` is not on the PATH"),
        }
        images.push((names.debian, texts.installed(&bytes, &licences)));
    }
    if !images.is_empty() {
        image::write(&out.join("image"), release, &images)?;
    }
    paths::write(&out.join(sums::NAME), sums::of_folder(out)?)?;
    Ok(ends)
}

fn any_program(ends: &[(&DistTarget, Built)]) -> bool {
    ends.iter().any(|(_, end)| matches!(end, Built::Program(_)))
}

/// Does it all again with a copy of the sources elsewhere.
fn check_twice(root: &Path, release: &Release, targets: &[&DistTarget], out: &Path) -> ChoreResult {
    let other = tempfile::tempdir()?;
    let source = DistSource { root: other.path().join("sources"), target: other.path().join("objects") };
    copy_sources(root, &source.root)?;
    let again = other.path().join("out");
    write(&source, release, targets, &again)?;
    let differing = differing(&fs::read_to_string(out.join(sums::NAME))?, &fs::read_to_string(again.join(sums::NAME))?);
    if !differing.is_empty() {
        return Err(ChoreFailure::new(format!("two builds differ: {}", differing.join(", "))));
    }
    println!("two builds in two folders: the same bytes");
    Ok(())
}

/// Copies the files of a repository as they are now, with its commit, which the program names.
fn copy_sources(root: &Path, to: &Path) -> ChoreResult {
    let clone = ["clone", "--quiet", "--shared", "--no-checkout"];
    ProgramRun::inheriting("git").args(clone).arg(root).arg(to).success()?;
    let listed = ProgramRun::inheriting("git").arg("-C").arg(root).args(["ls-files", "-z"]).success()?.stdout;
    for file in listed.split_terminator('\0') {
        let copy = to.join(file);
        fs::create_dir_all(copy.parent().unwrap_or(to))?;
        fs::copy(root.join(file), &copy).doing(|| format!("copying {file}"))?;
    }
    Ok(())
}

/// The names of files that two lists of sums do not share with the same sum.
fn differing(first: &str, second: &str) -> Vec<String> {
    let only = |here: &str, there: &str| -> Vec<String> {
        let lines = here.lines().filter(|line| !there.lines().any(|other| other == *line));
        lines.filter_map(|line| Some(line.split_once("  ")?.1.to_owned())).collect()
    };
    let mut names = [only(first, second), only(second, first)].concat();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_elsewhere_have_the_same_commit_and_the_edits() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let git = |folder: &Path, arguments: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"];
            ProgramRun::isolated("git", &from).arg("-C").arg(folder).args(who).args(arguments).success().unwrap().stdout
        };
        paths::write(&from.join("a/b"), "committed").unwrap();
        git(&from, &["init", "--quiet"]);
        git(&from, &["add", "a/b"]);
        git(&from, &["commit", "--quiet", "--message", "one"]);
        paths::write(&from.join("a/b"), "edited").unwrap();
        copy_sources(&from, &to).unwrap();
        assert_eq!(git(&from, &["rev-parse", "HEAD"]), git(&to, &["rev-parse", "HEAD"]));
        assert_eq!(fs::read_to_string(to.join("a/b")).unwrap(), "edited");
    }

    #[test]
    fn a_file_that_differs_or_is_missing_is_named() {
        assert_eq!(differing("1  a\n2  b\n", "1  a\n2  b\n"), Vec::<String>::new());
        assert_eq!(differing("1  a\n2  b\n", "1  a\n3  b\n4  c\n"), ["b", "c"]);
    }
}
