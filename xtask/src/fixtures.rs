//! The golden files in `testdata/` and the generated pages in `docs/`: written here and nowhere else, the same bytes on
//! every run.
//!
//! ```text
//! dist/          the output folder of GoReleaser for provider widget 1.0.0
//! dist-next/     widget 1.1.0 as a plain folder of release zips
//! dist-folders/  widget 1.2.0 as OS_ARCH folders
//! terraform-registry-manifest.json   lies in the project's root, beside dist/
//! docs/          errors.md, environment.md, rules.md and verbs.md
//! ```
//!
//! One more file is written: the public suffix list of `remote`.

mod golden;
mod goreleaser;
mod pages;
mod release;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};

use url::Host;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::floors::workspace::Workspace;
use crate::paths;
use crate::process::ProgramRun;
use crate::program;
use golden::{GoldenMode, Goldens};

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct FixturesArgs {
    /// Write nothing: fail when a file differs from what would be written
    #[arg(long)]
    check: bool,
}

/// The folders that hold golden files only; anything else in them is a leftover.
const FOLDERS: &[&str] = &["dist", "dist-next", "dist-folders"];

/// Fails when a golden file differs from what would be written.
pub(crate) fn check() -> ChoreResult {
    run(&FixturesArgs { check: true })
}

/// Writes or compares the golden files.
pub(crate) fn run(arguments: &FixturesArgs) -> ChoreResult {
    let goldens = goldens()?;
    let place = paths::testdata();
    let mut pages = pages::pages()?;
    pages.insert("docs/reference/verbs.md", verbs_page()?);
    pages.insert("crates/remote/src/public_suffixes.txt", public_suffixes()?);
    let is_there = |(name, text): &(&&str, &String)| {
        fs::read_to_string(paths::root().join(name)).is_ok_and(|there| there == **text)
    };
    let mut lines = differences(&goldens, &place)?;
    lines.extend(pages.iter().filter(|page| !is_there(page)).map(|(name, _)| format!("differs: {name}")));
    for line in &lines {
        println!("{line}");
    }
    if !lines.is_empty() && arguments.check {
        return Err(ChoreFailure::new("testdata/ or docs/ is not what `cargo xtask fixtures` writes"));
    }
    if !lines.is_empty() {
        write(&goldens, &place)?;
        for (name, text) in &pages {
            paths::write(&paths::root().join(name), text)?;
        }
    }
    let problems = pages::problems()?;
    for line in &problems {
        println!("{line}");
    }
    if !problems.is_empty() {
        return Err(ChoreFailure::new(format!("{} things are wrong with the pages in docs/", problems.len())));
    }
    let done = if lines.is_empty() { "all as they should be" } else { "written" };
    println!("fixtures: {} files and {} pages, {done}", goldens.len(), pages.len());
    Ok(())
}

/// The page about verbs, which the program writes from what it declares.
fn verbs_page() -> ChoreResult<String> {
    let home = tempfile::tempdir()?;
    let page = ProgramRun::isolated(program::build()?, home.path()).args(["help", "verbs", "--markdown"]).bytes()?;
    String::from_utf8(page).doing(|| "reading the page about verbs".to_owned())
}

/// The rules of the public suffix list that the crate `psl` has, a line each, in punycode. The crate makes code of them, two
/// thirds of a megabyte; a program that looks a name up once in a while needs the text alone.
fn public_suffixes() -> ChoreResult<String> {
    let folder = Workspace::read()?.folder("psl").ok_or_else(|| ChoreFailure::new("psl is not in the lock file"))?;
    let rules = fs::read_to_string(folder.join("data/rules.txt")).doing(|| "reading the rules of psl".to_owned())?;
    let mut lines = Vec::new();
    for rule in rules.lines() {
        let (mark, name) = rule.split_at(rule.find(|letter| !"*.!".contains(letter)).unwrap_or(rule.len()));
        let name = Host::parse(name).doing(|| format!("reading the rule {rule}"))?;
        lines.push(format!("{mark}{name}\n"));
    }
    lines.sort_unstable();
    Ok(lines.concat())
}

fn goldens() -> ChoreResult<Goldens> {
    let mut all = goreleaser::dist("dist", "1.0.0")?;
    all.extend(release::zips("dist-next", "1.1.0")?);
    all.extend(release::folders("dist-folders", "1.2.0"));
    Ok(all)
}

fn differences(goldens: &Goldens, place: &Path) -> ChoreResult<Vec<String>> {
    let mut lines = Vec::new();
    for (name, golden) in goldens {
        match fs::read(place.join(name)) {
            Err(_) => lines.push(format!("missing: {name}")),
            Ok(bytes) if bytes != golden.bytes => lines.push(format!("differs: {name}")),
            Ok(_) if !has_mode(&place.join(name), golden.mode)? => lines.push(format!("wrong mode: {name}")),
            Ok(_) => {}
        }
    }
    for name in present(place)? {
        if !goldens.contains_key(&name) {
            lines.push(format!("left over: {name}"));
        }
    }
    Ok(lines)
}

fn write(goldens: &Goldens, place: &Path) -> ChoreResult {
    for folder in FOLDERS.iter().map(|folder| place.join(folder)).filter(|folder| folder.exists()) {
        fs::remove_dir_all(&folder).doing(|| format!("emptying {}", folder.display()))?;
    }
    for (name, golden) in goldens {
        let path = place.join(name);
        paths::write(&path, &golden.bytes)?;
        set_mode(&path, golden.mode)?;
    }
    Ok(())
}

fn present(place: &Path) -> ChoreResult<Vec<String>> {
    let mut names = Vec::new();
    for folder in FOLDERS.iter().filter(|folder| place.join(folder).is_dir()) {
        for file in paths::files_below(&place.join(folder))? {
            let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
            names.push(format!("{folder}/{}", parts.join("/")));
        }
    }
    Ok(names)
}

#[cfg(unix)]
fn has_mode(path: &Path, mode: GoldenMode) -> ChoreResult<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok((fs::metadata(path)?.permissions().mode() & 0o100 != 0) == (mode == GoldenMode::Executable))
}

#[cfg(unix)]
fn set_mode(path: &PathBuf, mode: GoldenMode) -> ChoreResult {
    use std::os::unix::fs::PermissionsExt as _;
    let bits = if mode == GoldenMode::Executable { 0o755 } else { 0o644 };
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(bits))?)
}

#[cfg(not(unix))]
fn has_mode(_: &Path, _: GoldenMode) -> ChoreResult<bool> {
    Ok(true)
}

#[cfg(not(unix))]
fn set_mode(_: &PathBuf, _: GoldenMode) -> ChoreResult {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::golden::Golden;
    use super::*;

    #[test]
    fn the_same_bytes_twice() {
        let (first, second) = (goldens().map_err(|e| e.to_string()), goldens().map_err(|e| e.to_string()));
        assert_eq!(first, second);
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let golden = |text: &str| Golden { bytes: text.as_bytes().to_vec(), mode: GoldenMode::Plain };
        let before = Goldens::from([("dist/a".to_owned(), golden("a")), ("dist/b".to_owned(), golden("b"))]);
        write(&before, folder.path()).map_err(|e| e.to_string()).unwrap();
        let run = Golden { mode: GoldenMode::Executable, ..golden("b") };
        let now = Goldens::from([("dist/b".to_owned(), run), ("dist/c".to_owned(), golden("c"))]);
        let lines = differences(&now, folder.path()).map_err(|e| e.to_string()).unwrap();
        assert_eq!(lines, ["wrong mode: dist/b", "missing: dist/c", "left over: dist/a"]);
    }
}
