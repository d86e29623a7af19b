//! Real bash, zsh and fish load the script of `completions` and complete at a TAB in a terminal.

use super::lab::{Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult, Doing as _};
use crate::paths;
use crate::registry::Guard;

/// What a sub-stage needs.
pub(super) const NEEDS: &[&str] = &["docker-registry", "python3", "bash", "zsh", "fish"];

const SCRIPT: &str = include_str!("shells.py");

/// A shell without the settings of any user, and how it loads the script of its name.
struct RealShell {
    name: &'static str,
    arguments: &'static [&'static str],
    settings: &'static str,
}

const SHELLS: [RealShell; 3] = [
    RealShell {
        name: "bash",
        arguments: &["--norc", "--noprofile", "-i"],
        settings: "source <(tofu-oci completions bash)",
    },
    // As the help says: a file in a folder of fpath.
    RealShell {
        name: "zsh",
        arguments: &["-f", "-i"],
        settings: "mkdir -p zfunc; tofu-oci completions zsh > zfunc/_tofu-oci; fpath+=$PWD/zfunc; autoload -U compinit; \
                   compinit -u -D",
    },
    RealShell { name: "fish", arguments: &["--no-config", "-i"], settings: "tofu-oci completions fish | source" },
];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let repository = format!("{}/acme/widget", registry.address());
    for dist in ["dist", "dist-next"] {
        let dist = text(&paths::testdata().join(dist));
        lab.tofu_oci(&registry, &["push", &dist, &repository, "--address", ADDRESS]).success()?;
    }
    let folder = lab.new_folder("shells")?;
    let layout = format!("oci:{}", text(&folder.join("layout")));
    lab.tofu_oci(&registry, &["copy", &repository, &layout, "--all"]).success()?;
    let person = folder.join("shells.py");
    paths::write(&person, SCRIPT)?;

    let from = format!("tofu-oci verify --from {repository} {ADDRESS}");
    let cases = [
        ("a verb", "tofu-oci outda".to_owned(), "tofu-oci outdated ".to_owned()),
        ("an option", "tofu-oci install --platf".to_owned(), "--platform ".to_owned()),
        ("a rule", "tofu-oci help check stray-".to_owned(), "stray-version-tag ".to_owned()),
        ("a folder", "tofu-oci check oci:lay".to_owned(), "oci:layout/".to_owned()),
        ("a version in a folder", "tofu-oci check oci:layout:1.1".to_owned(), "oci:layout:1.1.0".to_owned()),
        ("a version of a repository", format!("tofu-oci check {repository}:1.1"), format!("{repository}:1.1.0")),
        ("a version of a provider", format!("{from}@1.1"), format!("{ADDRESS}@1.1.0")),
    ];
    // Its name ends the command and runs another one, wherever a shell does not get it as one word.
    let name = "$(touch ran);touch ran|`touch ran`'\"";
    paths::write(&folder.join("files").join(name), "not a lock file")?;
    let completed = |open: &str| (format!("tofu-oci check {open}./files/\n"), format!("files/{name}"));
    for shell in &SHELLS {
        for open in ["", "'", "\""] {
            let (line, want) = completed(open);
            let typed =
                lab.tool("python3")?.arg(&person).args([line.as_str(), &want, shell.name]).args(shell.arguments);
            let typed = typed.directory(&folder).variable("PATH", path(lab)).input(shell.settings);
            typed.success().doing(|| format!("{} completes the name of a file after {open}", shell.name))?;
            if folder.join("ran").exists() {
                return Err(ChoreFailure::new(format!("{} has run the name of a file", shell.name)));
            }
        }
        for (what, line, want) in &cases {
            let typed = lab.tool("python3")?.arg(&person).args([line.as_str(), want, shell.name]).args(shell.arguments);
            let typed = typed.directory(&folder).variable("PATH", path(lab)).input(shell.settings);
            typed.success().doing(|| format!("{} completes {what}", shell.name))?;
        }
        seen(&format!(
            "{} completes verbs, options, rules, folders, versions of each kind, and names of files that hold commands",
            shell.name
        ));
    }
    Ok(())
}

/// The PATH with the program of this run first.
fn path(lab: &Lab) -> String {
    let program = lab.program().parent().map(text).unwrap_or_default();
    format!("{program}:{}", std::env::var("PATH").unwrap_or_default())
}
