//! Which repository a module of a registry is in: `modules.toml`.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tofu_oci_types::{InvalidModulePattern, ModuleAddr, ModulePattern, Predecessors};
use toml::Spanned;

use crate::{
    AddressRule, MapError, ModuleRepositories, NotOneToOne, Selection, TemplateError, TemplatePlace, check_one_to_one,
};

/// The file of the mapping, unless [`ModuleMirrors::read_from`] says otherwise.
const FILE_NAME: &str = "modules.toml";

/// One `[[module_mirror]]`: the modules that it is for, and their repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleMirror {
    pub include: Vec<ModulePattern>,
    /// Those of them that it is not for.
    pub exclude: Vec<ModulePattern>,
    pub repositories: ModuleRepositories,
    /// Where the rule is written; `None` if an option names it.
    pub origin: Option<ModuleMirrorOrigin>,
}

/// Where a rule of the mapping is written. `Display` gives `modules.toml:3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleMirrorOrigin {
    pub path: PathBuf,
    /// The line of its `[[module_mirror]]`, from 1.
    pub line: usize,
}

impl fmt::Display for ModuleMirrorOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

impl ModuleMirror {
    /// The repository or folder for `address`. A relative folder is one of the folder of the file with the rule.
    ///
    /// # Errors
    /// When the template gives no repository for this address.
    pub fn place(&self, address: &ModuleAddr) -> Result<TemplatePlace, MapError> {
        let folder = self.origin.as_ref().and_then(|origin| origin.path.parent()).unwrap_or(Path::new(""));
        self.repositories.place(address).map(|place| match place {
            TemplatePlace::Layout(dir) => TemplatePlace::Layout(folder.join(dir)),
            TemplatePlace::Registry(repository) => TemplatePlace::Registry(repository),
        })
    }

    /// Whether it is for `address`, and by which pattern: `exclude` beats `include`.
    pub fn select(&self, address: &ModuleAddr) -> Selection {
        let first = |patterns: &[ModulePattern]| patterns.iter().position(|pattern| pattern.matches(address));
        match (first(&self.exclude), first(&self.include)) {
            (Some(index), _) => Selection::Excluded(index),
            (None, Some(index)) => Selection::Included(index),
            (None, None) => Selection::NotIncluded,
        }
    }

    /// Whether it is for `address`.
    pub fn is_for(&self, address: &ModuleAddr) -> bool {
        self.select(address).is_in()
    }
}

/// The user's mapping of modules, as `modules.toml` has it.
///
/// ```text
/// [[module_mirror]]
/// include             = ["registry.example.com/*/*/*"]
/// exclude             = ["registry.example.com/acme/old/*"]
/// repository_template = "ghcr.io/acme/modules/${namespace}/${name}/${target_system}"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleMirrors {
    mirrors: Vec<ModuleMirror>,
}

/// A `modules.toml` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ModuleMirrorsError {
    /// The place in the text, in bytes, if it has one.
    pub span: Option<Range<usize>>,
    pub problem: ModuleMirrorsProblem,
}

/// What is wrong with a mapping of modules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleMirrorsProblem {
    /// It is not TOML, has an unknown member, or has a value of another kind.
    #[error("{0}")]
    Syntax(String),
    /// A text where a list belongs.
    #[error("{text} must be a list")]
    NotAList { text: String },
    #[error("the list of patterns is empty")]
    NoInclude,
    #[error(transparent)]
    Pattern(InvalidModulePattern),
    /// The template cannot be used.
    #[error(transparent)]
    Template(TemplateError),
    /// Two modules would be in one repository.
    #[error(transparent)]
    NotOneToOne(Box<NotOneToOne>),
}

impl ModuleMirrorsProblem {
    /// What to write instead, if the problem does not say it.
    pub fn instead(&self) -> Option<String> {
        match self {
            Self::Syntax(_) => None,
            Self::NotAList { text } => Some(format!("write it in brackets: [{text}]")),
            Self::NoInclude => Some("write \"*/*/*/*\" for every module".to_owned()),
            Self::Pattern(error) => Some(error.instead().to_owned()),
            Self::Template(error) => Some(error.instead()),
            Self::NotOneToOne(error) => Some(error.instead()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MirrorsDocument {
    #[serde(default)]
    module_mirror: Vec<Spanned<MirrorTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MirrorTable {
    include: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    repository_template: Spanned<String>,
}

fn at(span: Range<usize>, problem: ModuleMirrorsProblem) -> ModuleMirrorsError {
    ModuleMirrorsError { span: Some(span), problem }
}

impl ModuleMirrors {
    /// Reads the text of a `modules.toml`.
    ///
    /// # Errors
    /// What is wrong, with its place in the text: an unknown member, too, since it would be without effect; and mirrors by which
    /// two modules would be in one repository, unless they count as one.
    pub fn parse(text: &str, predecessors: &Predecessors) -> Result<Self, ModuleMirrorsError> {
        let document: MirrorsDocument = toml::from_str(text).map_err(|error| {
            let at = error.span().and_then(|span| text.get(span));
            ModuleMirrorsError { span: error.span(), problem: of_parser(error.message(), at) }
        })?;
        let templates: Vec<_> =
            document.module_mirror.iter().map(|table| table.get_ref().repository_template.span()).collect();
        let read = |table: Spanned<MirrorTable>| {
            let line = text.get(..table.span().start).unwrap_or_default().matches('\n').count() + 1;
            mirror(table.into_inner(), line)
        };
        let mirrors = Self { mirrors: document.module_mirror.into_iter().map(read).collect::<Result<_, _>>()? };
        match mirrors.check(predecessors) {
            Ok(()) => Ok(mirrors),
            Err(error) => Err(ModuleMirrorsError {
                span: templates.get(error.rule().0).cloned(),
                problem: ModuleMirrorsProblem::NotOneToOne(Box::new(error)),
            }),
        }
    }

    fn check(&self, predecessors: &Predecessors) -> Result<(), NotOneToOne> {
        let rules = self.mirrors.iter().map(|ModuleMirror { include, exclude, repositories, .. }| {
            AddressRule::new(include, exclude, [repositories.clone()])
        });
        let rules: Vec<AddressRule<'_, ModuleAddr>> = rules.collect();
        let mirror_of = |address: &ModuleAddr| self.mirrors.iter().position(|mirror| mirror.is_for(address));
        check_one_to_one(&rules, &|number, address| mirror_of(address) == Some(number), predecessors)
    }

    /// The same, read from this file.
    #[must_use]
    pub fn read_from(mut self, file: &Path) -> Self {
        for origin in self.mirrors.iter_mut().filter_map(|mirror| mirror.origin.as_mut()) {
            file.clone_into(&mut origin.path);
        }
        self
    }

    /// One mirror for every module.
    pub fn everywhere(repositories: ModuleRepositories) -> Self {
        let all = "*/*/*/*".parse().expect("a pattern");
        Self { mirrors: vec![ModuleMirror { include: vec![all], exclude: Vec::new(), repositories, origin: None }] }
    }

    /// The mirror for `address`: the first one that is for it, if any is.
    pub fn of(&self, address: &ModuleAddr) -> Option<&ModuleMirror> {
        self.mirrors.iter().find(|mirror| mirror.is_for(address))
    }

    /// All of them, in their order.
    pub fn mirrors(&self) -> &[ModuleMirror] {
        &self.mirrors
    }
}

/// What the parser says, about this text.
fn of_parser(message: &str, at: Option<&str>) -> ModuleMirrorsProblem {
    match at {
        Some(text) if message.starts_with("invalid type: string") && message.contains("expected a sequence") => {
            ModuleMirrorsProblem::NotAList { text: text.to_owned() }
        }
        _ => ModuleMirrorsProblem::Syntax(message.trim_end().replace('\n', "; ")),
    }
}

fn mirror(table: MirrorTable, line: usize) -> Result<ModuleMirror, ModuleMirrorsError> {
    let patterns = |list: Vec<Spanned<String>>| -> Result<Vec<ModulePattern>, ModuleMirrorsError> {
        let pattern = |written: Spanned<String>| {
            written.get_ref().parse().map_err(|error| at(written.span(), ModuleMirrorsProblem::Pattern(error)))
        };
        list.into_iter().map(pattern).collect()
    };
    if table.include.get_ref().is_empty() {
        return Err(at(table.include.span(), ModuleMirrorsProblem::NoInclude));
    }
    let written = table.repository_template;
    let repositories: ModuleRepositories =
        written.get_ref().parse().map_err(|error| at(written.span(), ModuleMirrorsProblem::Template(error)))?;
    let origin = Some(ModuleMirrorOrigin { path: PathBuf::from(FILE_NAME), line });
    let (include, exclude) = (patterns(table.include.into_inner())?, patterns(table.exclude)?);
    Ok(ModuleMirror { include, exclude, repositories, origin })
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::{Place, Predecessor};

    use super::*;

    fn address(text: &str) -> ModuleAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn the_first_mirror_that_is_for_a_module_counts() {
        let mirrors = ModuleMirrors::parse(
            r#"
            [[module_mirror]]
            include = ["registry.example.com/acme/*/*"]
            exclude = ["registry.example.com/acme/old/*"]
            repository_template = "ghcr.io/acme/${name}-${target_system}"

            [[module_mirror]]
            include = ["*/*/*/*"]
            repository_template = "oci:modules"
            "#,
            Predecessors::NONE,
        )
        .expect("a mapping");
        let place = |text: &str| {
            let mirror = mirrors.of(&address(text)).expect("a mirror");
            Place::from(mirror.repositories.place(&address(text)).expect("a place")).to_string()
        };
        assert_eq!(place("registry.example.com/acme/network/aws"), "ghcr.io/acme/network-aws");
        assert_eq!(place("registry.example.com/acme/old/aws"), "oci:modules/registry.example.com/acme/old/aws");
        assert_eq!(ModuleMirrors::default().of(&address("a/b/c")), None);
    }

    #[test]
    fn a_rule_knows_its_line_and_its_folders_are_beside_its_file() {
        let text = "# ours\n[[module_mirror]]\ninclude = [\"registry.opentofu.org/a/b/c\"]\nrepository_template = \"oci:lay/${name}\"\n";
        let mirrors = ModuleMirrors::parse(text, Predecessors::NONE).expect("a mapping");
        let of = |mirrors: &ModuleMirrors| {
            let mirror = mirrors.of(&address("a/b/c")).expect("a mirror");
            let place = Place::from(mirror.place(&address("a/b/c")).expect("a place"));
            format!("{} {place}", mirror.origin.as_ref().expect("a line"))
        };
        assert_eq!(of(&mirrors), "modules.toml:2 oci:lay/b");
        assert_eq!(of(&mirrors.read_from(Path::new("/etc/house.toml"))), "/etc/house.toml:2 oci:/etc/lay/b");
    }

    #[test]
    fn modules_of_a_host_and_its_predecessor_may_share_a_repository() {
        let text = "[[module_mirror]]\ninclude = [\"registry.opentofu.org/*/*/*\", \"registry.terraform.io/*/*/*\"]\nrepository_template = \"r.test/${namespace}/${name}/${target_system}\"\n";
        let moved: Predecessor = "registry.opentofu.org=registry.terraform.io".parse().expect("a pair");
        assert!(ModuleMirrors::parse(text, &[moved].into_iter().collect()).is_ok());
        assert!(ModuleMirrors::parse(text, Predecessors::NONE).is_err());
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let refused = |text: &str| {
            let error = ModuleMirrors::parse(text, Predecessors::NONE).expect_err("must be refused");
            let place = error.span.as_ref().and_then(|span| text.get(span.clone())).unwrap_or_default();
            format!("{error} [{place}]")
        };
        let one = |include: &str, template: &str| {
            refused(&format!("[[module_mirror]]\ninclude = [{include}]\nrepository_template = \"{template}\"\n"))
        };
        insta::assert_snapshot!(one("", "ghcr.io/${name}"), @"the list of patterns is empty [[]]");
        insta::assert_snapshot!(one("\"acme/*/*\"", "ghcr.io/${name}"), @r#"`acme/*/*` is not a pattern of modules: it must read HOST/NAMESPACE/NAME/SYSTEM ["acme/*/*"]"#);
        insta::assert_snapshot!(one("\"*/*/*/*\"", "ghcr.io/${type}"), @r#"`ghcr.io/${type}` mentions `type` at column 11, which an address does not have ["ghcr.io/${type}"]"#);
        insta::assert_snapshot!(one("\"a.example/b/*/*\"", "ghcr.io/${name}"), @r#"`ghcr.io/${name}` sends two modules to one repository: a.example/b/network/aws and a.example/b/network/gcp both get ghcr.io/network ["ghcr.io/${name}"]"#);
        let text = refused("[[module_mirror]]\ninclude = \"*/*/*/*\"\nrepository_template = \"oci:m\"\n");
        insta::assert_snapshot!(text, @r#""*/*/*/*" must be a list ["*/*/*/*"]"#);
        insta::assert_snapshot!(refused("module_mirrors = []"), @"unknown field `module_mirrors`, expected `module_mirror` [module_mirrors]");
    }
}
