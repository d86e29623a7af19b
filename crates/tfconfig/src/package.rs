//! The modules of an unpacked package that a call from outside leads to.

use std::collections::BTreeSet;
use std::path::Path;

use tofu_oci_types::{LocalModulePath, ModuleSource, masked};

use crate::error::TfConfigError;
use crate::facts::{WrittenSource, WrittenVersion};
use crate::model::Declared;
use crate::module;
use crate::outer::OuterCall;

/// The modules of a package that a call of one of its folders leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageModules {
    /// Their folders, `/` between the segments, sorted; the package's root is the empty text.
    pub folders: BTreeSet<String>,
    /// Those of them without any configuration file.
    pub empty: BTreeSet<String>,
    /// The calls that lead to other packages, which are not followed, sorted.
    pub elsewhere: BTreeSet<String>,
    /// The same calls with their versions and places, and the computed ones; in the order of the folders and names.
    pub outer: Vec<OuterCall>,
}

/// Why `OpenTofu` cannot read the modules of a package. Each place is relative to the package.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageModulesError {
    /// A call of a folder outside of the package.
    #[error("{at}: the call of `{source_text}` leads out of the package")]
    Escapes { at: Declared, source_text: String },
    /// A call of a folder that the package does not have.
    #[error("{at}: the package has no folder `{folder}`")]
    Missing { at: Declared, folder: String },
    /// A module that calls itself, directly or through others.
    #[error("{at}: the call of `{source_text}` leads back to a module that makes it")]
    Loop { at: Declared, source_text: String },
    /// A configuration that is not valid.
    #[error("{at}: {message}")]
    Invalid { at: Declared, message: String },
    /// A file that cannot be read, or is larger than what this program reads.
    #[error(transparent)]
    Unread(TfConfigError),
}

/// The modules that a call of `folder` in the unpacked package `package` leads to, by way of local calls.
///
/// A folder that exists and holds no configuration is an empty module. A computed source is not followed.
///
/// # Errors
/// The first fault, in the order of the names of the calls, the callers before the called.
///
/// Spec: `OpenTofu` 1.12, initwd `installDescendantModules`; `real-tofu-http.md` (measured), §3.
pub fn package_modules(package: &Path, folder: &str) -> Result<PackageModules, PackageModulesError> {
    let mut walk = PackageWalk { package, found: PackageModules::default(), chain: Vec::new() };
    walk.module(folder)?;
    Ok(walk.found)
}

/// Modules below each other; a walk of more would have no end to its stack.
const DEPTH: usize = 100;

struct PackageWalk<'a> {
    package: &'a Path,
    found: PackageModules,
    /// The folders on the way.
    chain: Vec<String>,
}

impl PackageWalk<'_> {
    fn module(&mut self, folder: &str) -> Result<(), PackageModulesError> {
        let calls = self.calls(folder)?;
        self.found.folders.insert(folder.to_owned());
        self.chain.push(folder.to_owned());
        for (source, version) in calls {
            if source.template.is_some() {
                self.found.outer.push(OuterCall::of(&source, &version));
                continue;
            }
            let WrittenSource { text: source_text, at, .. } = source.clone();
            let Ok(parsed) = source_text.parse::<ModuleSource>() else {
                // OpenTofu reports what is wrong with it.
                let message = format!("`{}` is not a module source", masked(&source_text));
                return Err(PackageModulesError::Invalid { at, message });
            };
            if let (WrittenVersion::Text(text), false) = (&version, matches!(parsed, ModuleSource::Registry(..))) {
                // OpenTofu takes such a source for an address of a registry, and finds it to be none.
                let message = format!(
                    "`version = \"{text}\"` is for modules of a registry, and `{}` is not one",
                    masked(&source_text)
                );
                return Err(PackageModulesError::Invalid { at, message });
            }
            let ModuleSource::Local(path) = parsed else {
                self.found.elsewhere.insert(parsed.to_string());
                self.found.outer.push(OuterCall::of(&source, &version));
                continue;
            };
            let Some(called) = joined(folder, &path) else {
                return Err(PackageModulesError::Escapes { at, source_text });
            };
            if self.chain.contains(&called) {
                return Err(PackageModulesError::Loop { at, source_text });
            }
            if self.chain.len() > DEPTH {
                let too_deep = crate::ConfigProblem::ModulesTooDeep { limit: DEPTH };
                return Err(PackageModulesError::Unread(crate::facts::problem(at, too_deep)));
            }
            if !self.package.join(&called).is_dir() {
                return Err(PackageModulesError::Missing { at, folder: called });
            }
            if !self.found.folders.contains(&called) {
                self.module(&called)?;
            }
        }
        self.chain.pop();
        Ok(())
    }

    /// The sources that the module in a folder calls, with their places, and the versions.
    fn calls(&mut self, folder: &str) -> Result<Vec<(WrittenSource, WrittenVersion)>, PackageModulesError> {
        let Some(module) = module::read(&self.package.join(folder)).map_err(|error| self.fault(error))? else {
            self.found.empty.insert(folder.to_owned());
            return Ok(Vec::new());
        };
        if let Some(refused) = module.findings.into_iter().find(|finding| finding.refused) {
            return Err(PackageModulesError::Invalid { at: self.inside(&refused.declared), message: refused.message });
        }
        let calls = module.calls.into_values().filter_map(|call| Some((call.source?, call.version)));
        Ok(calls.map(|(source, version)| (WrittenSource { at: self.inside(&source.at), ..source }, version)).collect())
    }

    fn fault(&self, error: TfConfigError) -> PackageModulesError {
        use crate::ConfigProblem::{NoFile, TooLarge};
        match error {
            TfConfigError::Invalid { problem: NoFile | TooLarge { .. }, .. } => PackageModulesError::Unread(error),
            TfConfigError::Invalid { at, problem } => {
                PackageModulesError::Invalid { at: self.inside(&at), message: problem.to_string() }
            }
            other => PackageModulesError::Unread(other),
        }
    }

    fn inside(&self, at: &Declared) -> Declared {
        let path = at.path.strip_prefix(self.package).unwrap_or(&at.path);
        Declared { path: path.to_owned(), at: at.at }
    }
}

/// The folder that a call in `folder` names; `None` if it is outside of the package.
fn joined(folder: &str, path: &LocalModulePath) -> Option<String> {
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in path.as_str().split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            segment => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package with these files; each calls these sources.
    fn package(files: &[(&str, &[&str])]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, sources) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let calls = sources.iter().enumerate();
            let text: String =
                calls.map(|(nth, source)| format!("module \"m{nth}\" {{\n  source = \"{source}\"\n}}\n")).collect();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    #[track_caller]
    fn check(files: &[(&str, &[&str])], folder: &str, want: &str) {
        let dir = package(files);
        let got = match package_modules(dir.path(), folder) {
            Ok(found) => {
                let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" ");
                format!("[{}] [{}] [{}]", list(found.folders), list(found.empty), list(found.elsewhere))
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(got, want);
    }

    #[test]
    fn local_calls_are_followed_and_others_named() {
        check(
            &[
                ("main.tf", &["./a", "./a/", "oci://example.com/x?tag=1"]),
                ("a/main.tofu", &["../b", "a/b/c"]),
                ("b/x", &[]),
            ],
            "",
            "[ a b] [b] [oci://example.com/x?tag=1 registry.opentofu.org/a/b/c]",
        );
        check(&[("main.tf", &[]), ("sub/main.tf", &["../"])], "sub", "[ sub] [] []");
        check(&[("x", &[])], "", "[] [] []");
    }

    #[test]
    fn calls_that_lead_nowhere_are_faults() {
        check(&[("main.tf", &["../../x"])], "", "main.tf:2:12: the call of `../../x` leads out of the package");
        check(
            &[("a/b/main.tf", &["../../../x"])],
            "a/b",
            "a/b/main.tf:2:12: the call of `../../../x` leads out of the package",
        );
        check(&[("main.tf", &["./gone"])], "", "main.tf:2:12: the package has no folder `gone`");
        check(&[("main.tf", &["./main.tf"])], "", "main.tf:2:12: the package has no folder `main.tf`");
        check(&[("main.tf", &["./"])], "", "main.tf:2:12: the call of `./` leads back to a module that makes it");
        check(&[("main.tf", &["nothing"])], "", "main.tf:2:12: `nothing` is not a module source");
    }

    #[test]
    fn calls_of_other_packages_have_their_versions_and_places() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"
module "a" {
  source  = "acme/network/aws//dns"
  version = "~> 1.4"
}
module "b" {
  source  = var.where
}
module "c" {
  source  = "git::https://user:hunter2@example.com/a.git?ref=v1"
  version = var.which
}
"#;
        std::fs::write(dir.path().join("main.tf"), text).unwrap();
        let found = package_modules(dir.path(), "").unwrap();
        let shown = found.outer.iter().map(|call| {
            let constraints = call.constraints.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
            format!("{}: {} [{constraints}] {}", call.at, call.text, call.source.is_some())
        });
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @"
        main.tf:3:13: acme/network/aws//dns [~> 1.4] true
        main.tf:7:13: var.where [] false
        main.tf:10:13: git::https://***@example.com/a.git?ref=v1 [unknown] true
        ");
    }

    #[test]
    fn a_long_chain_of_calls_does_not_overflow_the_stack() {
        let dir = tempfile::tempdir().unwrap();
        for nth in 0..5000 {
            let folder = dir.path().join(format!("d{nth}"));
            std::fs::create_dir(&folder).unwrap();
            let text = format!("module \"next\" {{\n  source = \"../d{}\"\n}}\n", nth + 1);
            std::fs::write(folder.join("main.tf"), text).unwrap();
        }
        let error = package_modules(dir.path(), "d0").expect_err("too deep");
        assert!(matches!(error, PackageModulesError::Unread(_)), "{error}");
        assert!(error.to_string().contains("more than 100 levels deep"), "{error}");
    }

    #[test]
    fn a_configuration_that_does_not_parse_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("main.tf"), "module {").unwrap();
        let error = package_modules(dir.path(), "").expect_err("not valid");
        assert!(matches!(error, PackageModulesError::Invalid { .. }), "{error}");
    }
}
