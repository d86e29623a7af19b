//! Which files are the CLI configuration.

use std::path::{Path, PathBuf};

use super::{ConfigFiles, Environment, Os};

/// The files that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The main file, whether or not it exists; `None` if no home folder is known.
    pub main: Option<MainFile>,
    /// The files of the configuration directory in the order of their names.
    pub directory: Vec<PathBuf>,
    /// Files that look as if they were read, and are not.
    pub passed_over: Vec<PassedOver>,
}

/// The main file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainFile {
    pub path: PathBuf,
    /// The reason for this path.
    pub origin: MainFileOrigin,
    pub exists: bool,
}

/// Why a file is the main one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MainFileOrigin {
    /// This option of the command names it.
    Option(&'static str),
    /// A variable of this name names it.
    Variable(&'static str),
    /// It is the usual place.
    Usual,
    /// It has the name from before `OpenTofu`, and no file with the new name exists.
    Legacy,
    /// `XDG_CONFIG_HOME` is set, and the home folder has no main file.
    Xdg,
}

/// An existing file or folder that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    pub path: PathBuf,
    /// Why it is not read, as the end of a sentence.
    pub why: String,
}

impl MainFileOrigin {
    /// The option or variable that names the file.
    pub fn named_by(&self) -> Option<&'static str> {
        match self {
            Self::Option(name) | Self::Variable(name) => Some(name),
            Self::Usual | Self::Legacy | Self::Xdg => None,
        }
    }
}

/// Finds the files: the main one, and those of the configuration directory unless an option or a variable names the main one.
///
/// Spec: `OpenTofu` 1.12, cliconfig; measured on 1.10 to 1.13 (files).
pub fn locate(environment: &Environment, files: &dyn ConfigFiles) -> Located {
    let search = FileSearch { environment, files };
    let usual = search.usual();
    let directory = search.directory();
    let listed = directory.as_ref().map(|dir| search.listed(dir)).unwrap_or_default();
    let mut passed_over = Vec::new();
    let by_variable = |name| Some((MainFileOrigin::Variable(name), Path::new(environment.var(name)?)));
    let by_option = environment.named.as_ref().map(|file| (MainFileOrigin::Option(file.option), file.path.as_path()));
    let overridden = by_option.or_else(|| VARIABLES.into_iter().find_map(by_variable));
    let (main, listed) = match overridden {
        Some((origin, path)) => {
            let path = environment.absolute(&environment.launch_dir, path);
            let why = format!("{} names another file", origin.named_by().unwrap_or_default());
            let usual = usual.filter(|usual| usual.exists).map(|usual| usual.path);
            passed_over.extend(usual.into_iter().chain(listed).map(|path| PassedOver { path, why: why.clone() }));
            let exists = files.exists(&path);
            (Some(MainFile { path, origin, exists }), Vec::new())
        }
        None => (usual, listed),
    };
    let read: Vec<&PathBuf> = main.iter().map(|main| &main.path).chain(&listed).collect();
    let mut also = search.misnamed(directory.as_deref());
    also.retain(|over| !read.contains(&&over.path) && !passed_over.iter().any(|known| known.path == over.path));
    passed_over.extend(also);
    Located { main, directory: listed, passed_over }
}

/// Variables that name the main file, the stronger first.
const VARIABLES: [&str; 2] = ["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"];

struct FileSearch<'a> {
    environment: &'a Environment,
    files: &'a dyn ConfigFiles,
}

impl FileSearch<'_> {
    fn at(&self, folder: &Path, parts: &[&str]) -> PathBuf {
        self.environment.join(folder, parts)
    }

    /// The folder of all usual places.
    fn home(&self) -> Option<&Path> {
        match self.environment.os {
            Os::Windows => self.environment.app_data.as_deref(),
            Os::Unix | Os::Mac => self.environment.home.as_deref(),
        }
    }

    /// `XDG_CONFIG_HOME`, which counts only if it is set.
    fn xdg(&self) -> Option<&Path> {
        match self.environment.os {
            Os::Windows => None,
            Os::Unix | Os::Mac => self.environment.var("XDG_CONFIG_HOME").map(Path::new),
        }
    }

    /// The names of the main file, the new one first.
    fn names(&self) -> [&'static str; 2] {
        match self.environment.os {
            Os::Windows => ["tofu.rc", "terraform.rc"],
            Os::Unix | Os::Mac => [".tofurc", ".terraformrc"],
        }
    }

    /// The main file if no variable names one.
    fn usual(&self) -> Option<MainFile> {
        let home = self.home()?;
        let [new, legacy] = self.names().map(|name| self.at(home, &[name]));
        let (has_new, has_legacy) = (self.files.exists(&new), self.files.exists(&legacy));
        Some(match (has_new, has_legacy, self.xdg()) {
            (true, _, _) => MainFile { path: new, origin: MainFileOrigin::Usual, exists: true },
            (false, true, _) => MainFile { path: legacy, origin: MainFileOrigin::Legacy, exists: true },
            (false, false, Some(xdg)) => {
                let path = self.at(xdg, &["opentofu", "tofurc"]);
                let exists = self.files.exists(&path);
                MainFile { path, origin: MainFileOrigin::Xdg, exists }
            }
            (false, false, None) => MainFile { path: new, origin: MainFileOrigin::Usual, exists: false },
        })
    }

    /// The configuration directory, if it exists.
    fn directory(&self) -> Option<PathBuf> {
        let home = self.home()?;
        let usual = match self.environment.os {
            Os::Windows => self.at(home, &["terraform.d"]),
            Os::Unix | Os::Mac => self.at(home, &[".terraform.d"]),
        };
        let directory = match self.xdg() {
            Some(xdg) if !self.files.exists(&usual) => self.at(xdg, &["opentofu"]),
            _ => usual,
        };
        self.files.is_dir(&directory).then_some(directory)
    }

    /// The files of the configuration directory that are read, in the order of their names.
    fn listed(&self, directory: &Path) -> Vec<PathBuf> {
        let names = self.names_in(directory).into_iter().filter(|name| is_listed(name));
        names.map(|name| self.at(directory, &[&name])).collect()
    }

    /// The names in a folder, sorted; empty if it cannot be read.
    fn names_in(&self, folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = self
            .files
            .list(folder)
            .unwrap_or_default()
            .into_iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// What looks like a configuration, and is not read.
    fn misnamed(&self, directory: Option<&Path>) -> Vec<PassedOver> {
        let mut over = Vec::new();
        let mut add = |path: PathBuf, why: &str| {
            if self.files.exists(&path) && !over.iter().any(|known: &PassedOver| known.path == path) {
                over.push(PassedOver { path, why: why.to_owned() });
            }
        };
        let [new, legacy] = self.names();
        if let Some(home) = self.home() {
            add(self.at(home, &[legacy]), &format!("{new} stands before it"));
            for name in other_names(self.environment.os) {
                add(self.at(home, &[name]), &format!("the file is called {new} here"));
            }
            let standard = self.at(home, &[".config", "opentofu"]);
            let named = self.xdg().is_some_and(|xdg| self.at(xdg, &["opentofu"]) == standard);
            for name in if named { Vec::new() } else { self.config_like(&standard) } {
                add(self.at(&standard, &[&name]), "~/.config is looked into only where XDG_CONFIG_HOME names it");
            }
        }
        if let Some(xdg) = self.xdg() {
            let folder = self.at(xdg, &["opentofu"]);
            add(self.at(&folder, &["tofurc"]), "a file in the home folder stands before it");
            for name in self.names_in(&folder).iter().filter(|name| is_listed(name)) {
                add(self.at(&folder, &[name]), "~/.terraform.d is there, and stands before this folder");
            }
        }
        for folder in [&self.environment.launch_dir, &self.environment.working_dir] {
            for name in [".tofurc", ".terraformrc", "tofu.rc", "terraform.rc"] {
                let why = "the folder of a configuration is not looked into";
                if self.home() != Some(folder.as_path()) {
                    add(self.at(folder, &[name]), why);
                }
            }
        }
        let Some(directory) = directory else { return over };
        for name in self.names_in(directory) {
            let path = self.at(directory, &[&name]);
            if is_nearly_listed(&name) {
                add(path, "only names that end in .tfrc or .tfrc.json are read there");
            } else if !is_listed(&name) && self.files.is_dir(&path) {
                for inner in self.names_in(&path).iter().filter(|inner| is_listed(inner)) {
                    add(self.at(&path, &[inner]), "folders in the configuration directory are not looked into");
                }
            }
        }
        over
    }

    /// Names in a folder that look like configuration.
    fn config_like(&self, folder: &Path) -> Vec<String> {
        let mut names = self.names_in(folder);
        names.retain(|name| is_listed(name) || is_nearly_listed(name) || name == "tofurc");
        names
    }
}

/// Names that another system, or another program, would use for the main file.
fn other_names(os: Os) -> &'static [&'static str] {
    match os {
        Os::Windows => &[".tofurc", ".terraformrc", "tofurc", "tofu.rc.json", "tofu.rc.txt"],
        Os::Unix | Os::Mac => &["tofu.rc", "terraform.rc", ".tofurc.json", ".terraformrc.json", "tofurc", ".tofu.rc"],
    }
}

fn is_listed(name: &str) -> bool {
    // On every system: names are compared as they are written.
    [".tfrc", ".tfrc.json"].iter().any(|end| name.ends_with(end))
}

fn is_nearly_listed(name: &str) -> bool {
    [".tofurc", ".tofurc.json", ".terraformrc", ".rc", ".tfrc.hcl", ".tofurc.hcl"].iter().any(|end| name.ends_with(end))
}
