//! Methods as text: in the language of the CLI configuration, or in its JSON form.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_hcl::{HclSyntax, hcl1_string};
use tofu_oci_types::TofuRelease;

use super::{CliConfigReading, ConfigFiles, Environment, Installation, MEASURED, Method, MethodKind, Os};

/// A block of `provider_installation` to write: texts and patterns as the file has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenMethod {
    /// The addresses of providers, each with its folder.
    DevOverrides(Vec<(String, String)>),
    /// `oci_mirror`.
    OciMirror { template: String, include: Vec<String>, exclude: Vec<String> },
    /// `direct`.
    Direct { include: Vec<String>, exclude: Vec<String>, retries: Option<i64> },
    /// `filesystem_mirror`.
    FilesystemMirror { path: String, include: Vec<String>, exclude: Vec<String> },
    /// `network_mirror`.
    NetworkMirror {
        url: String,
        include: Vec<String>,
        exclude: Vec<String>,
        retries: Option<i64>,
        trust_all_hashes: bool,
    },
}

/// The value of an argument.
enum Value {
    Text(String),
    List(Vec<String>),
    Number(i64),
    Bool(bool),
}

impl WrittenMethod {
    /// A method to write again; `None` if `OpenTofu` cannot read it.
    pub fn of(method: &Method) -> Option<Self> {
        let (include, exclude) = (method.include.clone(), method.exclude.clone());
        Some(match &method.kind {
            MethodKind::Direct { download_retry_count } => {
                Self::Direct { include, exclude, retries: *download_retry_count }
            }
            MethodKind::FilesystemMirror { written, .. } => {
                Self::FilesystemMirror { path: written.clone(), include, exclude }
            }
            MethodKind::NetworkMirror { url, download_retry_count, trust_all_hashes } => Self::NetworkMirror {
                url: url.clone(),
                include,
                exclude,
                retries: *download_retry_count,
                trust_all_hashes: *trust_all_hashes,
            },
            MethodKind::OciMirror { template } => {
                Self::OciMirror { template: template.as_str().to_owned(), include, exclude }
            }
            MethodKind::Unreadable { .. } => return None,
        })
    }

    /// The entries of `dev_overrides`; `None` without any.
    pub fn of_overrides(installation: &Installation) -> Option<Self> {
        let entries = installation.dev_overrides.iter();
        let entries: Vec<_> = entries.map(|entry| (entry.address.to_string(), entry.written.clone())).collect();
        (!entries.is_empty()).then_some(Self::DevOverrides(entries))
    }

    /// The same with these patterns in `exclude`.
    #[must_use]
    pub fn excluding(mut self, patterns: Vec<String>) -> Self {
        match &mut self {
            Self::DevOverrides(_) => {}
            Self::OciMirror { exclude, .. }
            | Self::Direct { exclude, .. }
            | Self::FilesystemMirror { exclude, .. }
            | Self::NetworkMirror { exclude, .. } => *exclude = patterns,
        }
        self
    }

    /// The same with these patterns in `include`.
    pub(super) fn including(mut self, patterns: Vec<String>) -> Self {
        match &mut self {
            Self::DevOverrides(_) => {}
            Self::OciMirror { include, .. }
            | Self::Direct { include, .. }
            | Self::FilesystemMirror { include, .. }
            | Self::NetworkMirror { include, .. } => *include = patterns,
        }
        self
    }

    /// The same with this template, if it is an `oci_mirror`.
    pub(super) fn with_template(mut self, text: &str) -> Self {
        if let Self::OciMirror { template, .. } = &mut self {
            text.clone_into(template);
        }
        self
    }

    fn name(&self) -> &'static str {
        match self {
            Self::DevOverrides(_) => "dev_overrides",
            Self::OciMirror { .. } => "oci_mirror",
            Self::Direct { .. } => "direct",
            Self::FilesystemMirror { .. } => "filesystem_mirror",
            Self::NetworkMirror { .. } => "network_mirror",
        }
    }

    /// Names and values, each name once: since 1.12 a repeated one makes the whole file unreadable.
    fn arguments(&self) -> Vec<(String, Value)> {
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: Value| arguments.push((name.to_owned(), value));
        match self {
            Self::DevOverrides(entries) => {
                for (address, path) in entries {
                    add(address, Value::Text(path.clone()));
                }
            }
            Self::OciMirror { template, .. } => add("repository_template", Value::Text(template.clone())),
            Self::FilesystemMirror { path, .. } => add("path", Value::Text(path.clone())),
            Self::NetworkMirror { url, trust_all_hashes, .. } => {
                add("url", Value::Text(url.clone()));
                if *trust_all_hashes {
                    add("trust_all_hashes", Value::Bool(true));
                }
            }
            Self::Direct { .. } => {}
        }
        if let Self::Direct { retries: Some(count), .. } | Self::NetworkMirror { retries: Some(count), .. } = self {
            add("download_retry_count", Value::Number(*count));
        }
        let (include, exclude) = self.patterns();
        for (name, list) in [("include", include), ("exclude", exclude)] {
            if !list.is_empty() {
                add(name, Value::List(list.to_vec()));
            }
        }
        arguments
    }

    /// `include` and `exclude`.
    pub(super) fn patterns(&self) -> (&[String], &[String]) {
        match self {
            Self::DevOverrides(_) => (&[], &[]),
            Self::OciMirror { include, exclude, .. }
            | Self::Direct { include, exclude, .. }
            | Self::FilesystemMirror { include, exclude, .. }
            | Self::NetworkMirror { include, exclude, .. } => (include, exclude),
        }
    }
}

/// The `provider_installation` of these methods.
pub fn write_methods(methods: &[WrittenMethod], form: HclSyntax) -> String {
    match form {
        HclSyntax::Native => native(methods),
        HclSyntax::Json => json(methods),
    }
}

fn native(methods: &[WrittenMethod]) -> String {
    let methods: String = methods.iter().map(native_method).collect();
    format!("provider_installation {{\n{methods}}}\n")
}

/// The block of a method, indented by two spaces.
pub(super) fn native_method(method: &WrittenMethod) -> String {
    let arguments = method.arguments();
    let named = |name: &str| {
        if matches!(method, WrittenMethod::DevOverrides(_)) { hcl1_string(name) } else { name.to_owned() }
    };
    let width = arguments.iter().map(|(name, _)| named(name).chars().count()).max().unwrap_or_default();
    let mut text = format!("  {} {{\n", method.name());
    for (name, value) in &arguments {
        let value = match value {
            Value::Text(text) => hcl1_string(text),
            Value::List(list) => native_list(list),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
        };
        text.push_str(&format!("    {:<width$} = {value}\n", named(name)));
    }
    text + "  }\n"
}

/// A list of texts.
pub(super) fn native_list(list: &[String]) -> String {
    format!("[{}]", list.iter().map(|item| hcl1_string(item)).collect::<Vec<_>>().join(", "))
}

/// One array for each kind of method: OpenTofu reads no other JSON form correctly.
fn json(methods: &[WrittenMethod]) -> String {
    let mut kinds: Vec<(&str, Vec<&WrittenMethod>)> = Vec::new();
    for method in methods {
        match kinds.iter_mut().find(|(name, _)| *name == method.name()) {
            Some((_, list)) => list.push(method),
            None => kinds.push((method.name(), vec![method])),
        }
    }
    let string = |text: &str| serde_json::Value::from(text).to_string();
    let value = |value: &Value| match value {
        Value::Text(text) => string(text),
        Value::List(list) => format!("[{}]", list.iter().map(|item| string(item)).collect::<Vec<_>>().join(", ")),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
    };
    let method = |method: &&WrittenMethod| {
        let arguments = method.arguments();
        let lines = arguments.iter().map(|(name, argument)| format!("        {}: {}", string(name), value(argument)));
        let lines = lines.collect::<Vec<_>>().join(",\n");
        if lines.is_empty() { "      {}".to_owned() } else { format!("      {{\n{lines}\n      }}") }
    };
    let kind = |(name, list): &(&str, Vec<&WrittenMethod>)| {
        format!("    {}: [\n{}\n    ]", string(name), list.iter().map(method).collect::<Vec<_>>().join(",\n"))
    };
    let kinds = kinds.iter().map(kind).collect::<Vec<_>>().join(",\n");
    format!("{{\n  \"provider_installation\": {{\n{kinds}\n  }}\n}}\n")
}

/// Whether every release reads the text back as exactly these methods in this order, each with these patterns.
pub fn is_read_back(text: &str, methods: &[WrittenMethod]) -> bool {
    MEASURED.into_iter().all(|release| {
        let reading = read_snippet(text, release);
        reading.problems.is_empty()
            && (release != TofuRelease::V1_13 || reading.unknown.is_empty())
            && reading.config.installation.as_ref().is_some_and(|installation| has(installation, methods))
    })
}

/// Whether the block has exactly these methods in this order, each with these patterns.
pub(super) fn has(installation: &Installation, methods: &[WrittenMethod]) -> bool {
    let is_override = |method: &&WrittenMethod| matches!(method, WrittenMethod::DevOverrides(_));
    let wanted: Vec<&WrittenMethod> = methods.iter().filter(|method| !is_override(method)).collect();
    WrittenMethod::of_overrides(installation).as_ref() == methods.iter().find(is_override)
        && installation.methods.len() == wanted.len()
        && installation.methods.iter().zip(wanted).all(|(read, wanted)| is(read, wanted))
}

/// The text as a release reads it.
pub fn read_snippet(text: &str, release: TofuRelease) -> CliConfigReading {
    let path = PathBuf::from(SNIPPET);
    let environment = Environment {
        os: Os::Unix,
        home: None,
        app_data: None,
        launch_dir: PathBuf::from("/"),
        working_dir: PathBuf::from("/"),
        named: None,
        vars: BTreeMap::from([("TF_CLI_CONFIG_FILE".to_owned(), path.display().to_string())]),
    };
    super::read(&environment, &OneFile { path: &path, text }, release)
}

/// The text as a release reads it in place of the user's files.
pub(super) fn read_instead(text: &str, environment: &Environment, release: TofuRelease) -> CliConfigReading {
    let path = PathBuf::from(SNIPPET);
    let mut vars = environment.vars.clone();
    vars.insert("TF_CLI_CONFIG_FILE".to_owned(), path.display().to_string());
    let environment = Environment { named: None, vars, ..environment.clone() };
    super::read(&environment, &OneFile { path: &path, text }, release)
}

fn is(read: &Method, wanted: &WrittenMethod) -> bool {
    let (include, exclude) = wanted.patterns();
    let same = match (&read.kind, wanted) {
        (MethodKind::OciMirror { template: read }, WrittenMethod::OciMirror { template, .. }) => {
            read.as_str() == template
        }
        (MethodKind::FilesystemMirror { written, .. }, WrittenMethod::FilesystemMirror { path, .. }) => written == path,
        (MethodKind::NetworkMirror { url: read, .. }, WrittenMethod::NetworkMirror { url, .. }) => read == url,
        (MethodKind::Direct { .. }, WrittenMethod::Direct { .. }) => true,
        _ => false,
    };
    same && read.include == include && read.exclude == exclude
}

/// Where a text lies that is in no file.
const SNIPPET: &str = "/snippet";

/// A file system of one file.
struct OneFile<'a> {
    path: &'a Path,
    text: &'a str,
}

impl ConfigFiles for OneFile<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.path { Ok(self.text.as_bytes().to_vec()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_dir(&self, _: &Path) -> bool {
        false
    }

    fn exists(&self, path: &Path) -> bool {
        path == self.path
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn mirror(template: &str) -> Vec<WrittenMethod> {
        let include = vec!["registry.example.test/*/*".to_owned()];
        let exclude = include.clone();
        vec![
            WrittenMethod::OciMirror { template: template.to_owned(), include, exclude: Vec::new() },
            WrittenMethod::Direct { include: Vec::new(), exclude, retries: Some(3) },
        ]
    }

    #[track_caller]
    fn check(template: &str) {
        for form in [HclSyntax::Native, HclSyntax::Json] {
            let methods = mirror(template);
            let text = write_methods(&methods, form);
            assert!(is_read_back(&text, &methods), "is not read back:\n{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_in_both_forms() {
        check("ghcr.io/acme/${namespace}/${type}");
        check("ghcr.io/acme/${namespace}${type == \"x\" ? \"/a\" : \"/b\"}");
        check("ghcr.io/acme/${namespace}/%{ if type == \"x\" }a%{ else }b%{ endif }");
        check("ghcr.io/acme/${namespace}/${{\"example-type\" = \"a\", \"x\" = \"b\"}[type]}");
    }

    #[test]
    fn methods_are_aligned_and_in_json_every_one_is_in_an_array() {
        assert_snapshot!(write_methods(&mirror("ghcr.io/${namespace}/${type}"), HclSyntax::Native), @r#"
        provider_installation {
          oci_mirror {
            repository_template = "ghcr.io/${namespace}/${type}"
            include             = ["registry.example.test/*/*"]
          }
          direct {
            download_retry_count = 3
            exclude              = ["registry.example.test/*/*"]
          }
        }
        "#);
        assert_snapshot!(write_methods(&mirror("ghcr.io/${namespace}/${type}"), HclSyntax::Json), @r#"
        {
          "provider_installation": {
            "oci_mirror": [
              {
                "repository_template": "ghcr.io/${namespace}/${type}",
                "include": ["registry.example.test/*/*"]
              }
            ],
            "direct": [
              {
                "download_retry_count": 3,
                "exclude": ["registry.example.test/*/*"]
              }
            ]
          }
        }
        "#);
    }
}
