//! What belongs to a program: completions, man pages and licences, in the folders of an archive or of a system.

use std::fs;
use std::path::Path;

use super::member::{Member, gzip};
use crate::failure::ChoreResult;
use crate::paths;
use crate::process::ProgramRun;

/// The texts that go with every program.
#[derive(Debug, Clone)]
pub(super) struct DistTexts {
    /// The name of a shell with its script.
    completions: Vec<(&'static str, Vec<u8>)>,
    /// The name of a page with its text.
    man: Vec<(String, Vec<u8>)>,
    licence: Vec<u8>,
    readme: Vec<u8>,
}

/// Where the systems look for the script of a shell: in an archive, with Debian, with RPM.
const SHELLS: &[(&str, &str, &str, &str)] = &[
    (
        "bash",
        "completions/tofu-oci.bash",
        "usr/share/bash-completion/completions/tofu-oci",
        "usr/share/bash-completion/completions/tofu-oci",
    ),
    (
        "zsh",
        "completions/_tofu-oci",
        "usr/share/zsh/vendor-completions/_tofu-oci",
        "usr/share/zsh/site-functions/_tofu-oci",
    ),
    (
        "fish",
        "completions/tofu-oci.fish",
        "usr/share/fish/vendor_completions.d/tofu-oci.fish",
        "usr/share/fish/vendor_completions.d/tofu-oci.fish",
    ),
    ("powershell", "completions/tofu-oci.ps1", "", ""),
];

/// Who packs, since their systems look for things in places of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packager {
    Debian,
    Rpm,
}

impl DistTexts {
    /// The texts that a program which runs here writes, and those of the repository.
    pub(super) fn of(root: &Path, program: &Path) -> ChoreResult<Self> {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("man");
        let tofu_oci = || ProgramRun::isolated(program, home.path());
        tofu_oci().arg("man").arg(&folder).success()?;
        let page = |file: std::path::PathBuf| Ok((file.to_string_lossy().into_owned(), fs::read(folder.join(&file))?));
        let man = paths::files_below(&folder)?.into_iter().map(page).collect::<ChoreResult<_>>()?;
        let script = |(shell, ..): &(&'static str, &str, &str, &str)| {
            Ok((*shell, tofu_oci().args(["completions", shell]).bytes()?))
        };
        let completions = SHELLS.iter().map(script).collect::<ChoreResult<_>>()?;
        Ok(Self {
            completions,
            man,
            licence: fs::read(root.join("LICENSE"))?,
            readme: fs::read(root.join("README.md"))?,
        })
    }

    /// The files of an archive.
    pub(super) fn archive(&self, program: Member, licences: &str) -> Vec<Member> {
        let mut files = vec![
            program,
            Member::file("LICENSE", self.licence.clone()),
            Member::file("README.md", self.readme.clone()),
            Member::file("THIRD-PARTY-LICENSES.txt", licences),
        ];
        files.extend(self.scripts(|(_, path, ..)| path));
        files.extend(self.man.iter().map(|(name, text)| Member::file(format!("man/{name}"), text.clone())));
        files
    }

    /// The files of a package of a system.
    pub(super) fn system(&self, packager: Packager, program: &[u8], licences: &str) -> ChoreResult<Vec<Member>> {
        let mut files = self.installed(program, licences);
        files.extend(self.scripts(|(_, _, debian, rpm)| match packager {
            Packager::Debian => debian,
            Packager::Rpm => rpm,
        }));
        for (name, text) in &self.man {
            files.push(Member::file(format!("usr/share/man/man1/{name}.gz"), gzip(text)?));
        }
        Ok(files)
    }

    /// The program and its licences where systems have them: all that an image needs.
    pub(super) fn installed(&self, program: &[u8], licences: &str) -> Vec<Member> {
        vec![
            Member::program("usr/bin/tofu-oci", program),
            Member::file("usr/share/doc/tofu-oci/copyright", self.licence.clone()),
            Member::file("usr/share/doc/tofu-oci/THIRD-PARTY-LICENSES.txt", licences),
        ]
    }

    fn scripts(
        &self,
        place: impl Fn(&(&'static str, &'static str, &'static str, &'static str)) -> &'static str,
    ) -> Vec<Member> {
        let scripts = SHELLS.iter().zip(&self.completions);
        let placed = scripts.map(|(row, (_, text))| Member::file(place(row), text.clone()));
        placed.filter(|member| !member.path.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_gets_completions_where_it_looks() {
        let texts = DistTexts {
            completions: SHELLS.iter().map(|(shell, ..)| (*shell, b"script".to_vec())).collect(),
            man: vec![("tofu-oci.1".to_owned(), b"page".to_vec())],
            licence: Vec::new(),
            readme: Vec::new(),
        };
        let paths = |files: Vec<Member>| files.into_iter().map(|file| file.path).collect::<Vec<_>>().join(" ");
        let debian = paths(texts.system(Packager::Debian, b"run", "").unwrap());
        assert!(debian.contains("usr/share/zsh/vendor-completions/_tofu-oci") && debian.contains("man1/tofu-oci.1.gz"));
        let rpm = paths(texts.system(Packager::Rpm, b"run", "").unwrap());
        assert!(rpm.contains("usr/share/zsh/site-functions/_tofu-oci") && !rpm.contains("vendor-completions/_"));
        let archive = paths(texts.archive(Member::program("tofu-oci", "run"), ""));
        assert!(archive.starts_with("tofu-oci LICENSE ") && archive.contains("completions/tofu-oci.ps1"));
    }
}
