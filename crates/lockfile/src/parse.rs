//! Text to a lock file.

use std::ops::Range;
use std::path::PathBuf;

use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Structure};
use hcl_edit::template::Element;
use tofu_oci_types::{Constraints, PackageHash, ProviderAddr, TextPosition, Version};

use crate::render::TERRAFORM_HEADER;
use crate::{LOCK_FILE_NAME, LockEntry, LockFile, LockFileError, LockProblem, Maintainer};

impl LockFile {
    /// Reads a lock file's text.
    ///
    /// # Errors
    /// [`LockFileError::Invalid`], naming `.terraform.lock.hcl` as the file; [`crate::read`] names the real one.
    ///
    /// Spec: `OpenTofu` 1.12, `depsfile.LoadLocksFromBytes`.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        // Spec: HCL ignores a byte order mark, and so do both programs that maintain lock files (measured).
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let body = hcl_edit::parser::parse_body(text).map_err(|error| {
            let location = error.location();
            let problem = LockProblem::Syntax { message: error.message().trim().to_owned() };
            invalid(TextPosition { line: location.line(), column: location.column() }, problem)
        })?;
        LockFileReader { text }.file(&body)
    }
}

fn invalid(at: TextPosition, problem: LockProblem) -> LockFileError {
    LockFileError::Invalid { path: PathBuf::from(LOCK_FILE_NAME), at, problem }
}

/// Turns spans of the text into lines and columns.
struct LockFileReader<'a> {
    text: &'a str,
}

impl LockFileReader<'_> {
    fn error(&self, span: Option<Range<usize>>, problem: LockProblem) -> LockFileError {
        invalid(TextPosition::of(self.text, span.map_or(0, |span| span.start)), problem)
    }

    fn file(&self, body: &hcl_edit::structure::Body) -> Result<LockFile, LockFileError> {
        let mut file = LockFile::default();
        if self.text.lines().any(|line| line == TERRAFORM_HEADER) {
            file.set_maintainer(Maintainer::Terraform);
        }
        for structure in body {
            match structure {
                Structure::Block(block) if block.has_ident("provider") => {
                    let (address, entry, is_in_order) = self.provider(block)?;
                    if !is_in_order {
                        file.note_disorder();
                    }
                    let label = address.to_string();
                    if file.insert(address, entry).is_some() {
                        return Err(self.error(block.span(), LockProblem::Duplicate { label }));
                    }
                }
                Structure::Block(block) if block.has_ident("module") => file.count_ignored_module(),
                Structure::Block(block) => {
                    let name = block.ident.as_str().to_owned();
                    return Err(self.error(block.span(), LockProblem::Unexpected { what: "block", name }));
                }
                Structure::Attribute(attribute) => return Err(self.unexpected_attribute(attribute)),
            }
        }
        Ok(file)
    }

    fn unexpected_attribute(&self, attribute: &Attribute) -> LockFileError {
        let name = attribute.key.as_str().to_owned();
        self.error(attribute.span(), LockProblem::Unexpected { what: "attribute", name })
    }

    fn provider(&self, block: &Block) -> Result<(ProviderAddr, LockEntry, bool), LockFileError> {
        let [label] = &block.labels[..] else { return Err(self.error(block.span(), LockProblem::Label)) };
        let address = address(label.as_str()).map_err(|problem| self.error(label.span().or(block.span()), problem))?;
        let (mut version, mut constraints, mut hashes) = (None, Constraints::any(), Vec::new());
        for structure in &block.body {
            let attribute = match structure {
                Structure::Attribute(attribute) => attribute,
                Structure::Block(block) => {
                    let name = block.ident.as_str().to_owned();
                    return Err(self.error(block.span(), LockProblem::Unexpected { what: "block", name }));
                }
            };
            match attribute.key.as_str() {
                "version" | "constraints" | "hashes" if attribute.value.is_null() => {}
                "version" => version = Some(self.version(attribute)?),
                "constraints" => constraints = self.constraints(attribute)?,
                "hashes" => hashes = self.hashes(attribute)?,
                _ => return Err(self.unexpected_attribute(attribute)),
            }
        }
        let version = version.ok_or_else(|| self.error(block.span(), LockProblem::MissingVersion))?;
        let is_in_order = hashes.is_sorted_by(|one: &PackageHash, next| one < next);
        Ok((address, LockEntry { version, constraints, hashes: hashes.into_iter().collect() }, is_in_order))
    }

    fn string(&self, attribute: &Attribute, name: &'static str) -> Result<String, LockFileError> {
        plain_string(&attribute.value)
            .ok_or_else(|| self.error(attribute.value.span(), LockProblem::NotAString { name }))
    }

    fn version(&self, attribute: &Attribute) -> Result<Version, LockFileError> {
        let text = self.string(attribute, "version")?;
        let at = |problem| self.error(attribute.value.span(), problem);
        let version: Version = text.parse().map_err(|error: tofu_oci_types::InvalidVersion| {
            at(LockProblem::InvalidVersion { text: text.clone(), reason: error.to_string() })
        })?;
        let canonical = version.to_string();
        if canonical == text {
            return Ok(version);
        }
        Err(at(LockProblem::NonNormalizedVersion { text, canonical }))
    }

    fn constraints(&self, attribute: &Attribute) -> Result<Constraints, LockFileError> {
        let text = self.string(attribute, "constraints")?;
        let at = |problem| self.error(attribute.value.span(), problem);
        let constraints: Constraints = text.parse().map_err(|error: tofu_oci_types::InvalidConstraints| {
            at(LockProblem::InvalidConstraints { text: text.clone(), reason: error.to_string() })
        })?;
        let canonical = constraints.to_string();
        if canonical == text {
            return Ok(constraints);
        }
        Err(at(LockProblem::NonNormalizedConstraints { text, canonical }))
    }

    fn hashes(&self, attribute: &Attribute) -> Result<Vec<PackageHash>, LockFileError> {
        let list = attribute.value.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| self.error(attribute.value.span(), LockProblem::InvalidHashSet))?;
        let hash = |element: &Expression| {
            let text = plain_string(element)
                .ok_or_else(|| self.error(element.span(), LockProblem::NotAString { name: "hashes" }))?;
            text.parse().map_err(|_| self.error(element.span(), LockProblem::InvalidHash { text }))
        };
        list.iter().map(hash).collect()
    }
}

/// The text of a string without interpolation.
fn plain_string(expression: &Expression) -> Option<String> {
    match expression {
        Expression::String(text) => Some(text.as_str().to_owned()),
        Expression::StringTemplate(template) => template
            .iter()
            .map(|element| match element {
                Element::Literal(text) => Some(text.as_str()),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

fn address(label: &str) -> Result<ProviderAddr, LockProblem> {
    let parts: Vec<&str> = label.split('/').collect();
    if matches!(parts[..], [_, "-", _] | ["terraform.io", "builtin", _]) {
        return Err(LockProblem::NotLockable { label: label.to_owned() });
    }
    let address: Option<ProviderAddr> = label.parse().ok();
    let canonical = address.as_ref().map(ToString::to_string);
    match address {
        Some(address) if canonical.as_deref() == Some(label) => Ok(address),
        _ => Err(LockProblem::NonNormalizedAddress { label: label.to_owned(), canonical }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tofu_oci_vectors::Vectors;

    use super::*;

    pub(crate) fn vectors() -> Vectors {
        Vectors::open("lockfile.json")
    }

    #[track_caller]
    fn problem(text: &str) -> String {
        match LockFile::parse(text).expect_err(text) {
            LockFileError::Invalid { problem, .. } => match problem {
                LockProblem::Syntax { .. } => "syntax",
                LockProblem::Unexpected { what: "block", .. } => "unsupported-block",
                LockProblem::Unexpected { .. } => "unsupported-attribute",
                LockProblem::NonNormalizedAddress { .. } => "non-normalized-address",
                LockProblem::NotLockable { .. } => "not-lockable",
                LockProblem::Duplicate { .. } => "duplicate",
                LockProblem::MissingVersion => "missing",
                LockProblem::InvalidVersion { .. } => "invalid-version",
                LockProblem::NonNormalizedVersion { .. } => "not-normalized",
                LockProblem::NonNormalizedConstraints { .. } => "non-normalized-constraints",
                LockProblem::InvalidHashSet => "invalid-hash-set",
                LockProblem::InvalidHash { .. } => "invalid-hash-string",
                other => panic!("{other}"),
            }
            .to_owned(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn reads_the_vectors() {
        vectors().each("parse", |case| {
            let file = LockFile::parse(case["file"].as_str().unwrap()).unwrap();
            let providers = case["providers"].as_object().unwrap();
            assert_eq!(file.iter().count(), providers.len(), "{}", case["name"]);
            for (label, want) in providers {
                let entry = file.get(&label.parse().unwrap()).unwrap();
                assert_eq!(entry.version.to_string(), want["version"].as_str().unwrap());
                assert_eq!(entry.constraints.to_string(), want["constraints"].as_str().unwrap());
                let hashes: Vec<&str> = entry.hashes.iter().map(PackageHash::as_str).collect();
                let wanted: Vec<&str> =
                    want["hashes"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
                assert_eq!(hashes, wanted);
            }
        });
    }

    #[test]
    fn what_was_written_reads_back_the_same() {
        vectors().each("render", |case| {
            let text = case["file"].as_str().unwrap();
            if case.get("locks").is_some() {
                assert_eq!(LockFile::parse(text).unwrap().to_text(), text);
            } else {
                // Blocks out of order, so only the entries are compared.
                let file = LockFile::parse(text).unwrap();
                assert_eq!(LockFile::parse(&file.to_text()).unwrap(), file);
                assert!(file.to_text().contains(r#""x:$${y}\"%%{z}\\","#), "{}", file.to_text());
            }
        });
    }

    #[test]
    fn labels_must_be_normal_and_lockable() {
        vectors().each("address_labels", |case| {
            let label = case["label"].as_str().unwrap();
            let text = format!("provider \"{label}\" {{\n  version = \"1.0.0\"\n}}\n");
            match case["error"].as_str() {
                Some(want) => assert_eq!(problem(&text), want, "{label}"),
                None => assert!(LockFile::parse(&text).is_ok(), "{label}"),
            }
        });
    }

    #[test]
    fn versions_must_be_normal() {
        vectors().each("version_attribute", |case| {
            let version = case["version"].as_str().unwrap();
            let text = format!("provider \"this/one/okay\" {{\n  version = {version}\n}}\n");
            assert_eq!(problem(&text), case["error"].as_str().unwrap(), "{version}");
        });
    }

    #[test]
    fn other_errors() {
        let block = |body: &str| format!("provider \"this/one/okay\" {{\n  version = \"1.0.0\"\n{body}}}\n");
        vectors().each("other_errors", |case| {
            let text = match case["case"].as_str().unwrap() {
                "duplicate provider block for one address" => format!("{}{}", block(""), block("")),
                "hashes = []" => block("  hashes = []\n"),
                "hashes contains a string without scheme: prefix" => block("  hashes = [\"nothing\"]\n"),
                "constraints not in canonical rendering" => block("  constraints = \"~> 1\"\n"),
                "block type other than provider/module" => "resource \"x\" \"y\" {}\n".to_owned(),
                // Reserved, without a meaning. They are counted for one warning.
                "module block" => {
                    let file = LockFile::parse("module \"x\" {}\nmodule \"y\" {}\n").unwrap();
                    assert_eq!(file.ignored_modules(), 2);
                    return;
                }
                other => panic!("unknown case `{other}`"),
            };
            // OpenTofu ignores text that is not a hash.
            let want = case["error"].as_str().unwrap().split(' ').next().unwrap();
            assert_eq!(problem(&text), want, "{text}");
        });
        assert_eq!(problem(&block("  hashes = \"h1:x\"\n")), "invalid-hash-set");
        assert_eq!(problem(&block("  size = 5\n")), "unsupported-attribute");
        assert_eq!(problem("x = 5\n"), "unsupported-attribute");
        assert_eq!(problem("provider \"this/one/okay\" {\n"), "syntax");
    }

    #[test]
    fn every_list_of_the_vectors_is_read() {
        vectors().known_sections(&[
            "address_labels",
            "hash_list_order",
            "other_errors",
            "parse",
            "render",
            "version_attribute",
        ]);
    }

    #[test]
    fn the_header_of_terraform_stays() {
        let text = "# This file is maintained automatically by \"terraform init\".\n\
                    # Manual edits may be lost in future updates.\n\nprovider \"example.com/a/b\" {\n  \
                    version = \"1.0.0\"\n}\n";
        assert_eq!(LockFile::parse(text).unwrap().to_text(), text);
    }

    #[test]
    fn errors_name_line_and_column() {
        let text = "\nprovider \"example.com/ä/b\" {\n  version = \"1\"\n}\n";
        insta::assert_snapshot!(LockFile::parse(text).expect_err("not normal"), @".terraform.lock.hcl:3:13: the version `1` must be written `1.0.0`");
        let text = "provider \"Example.com/a/b\" {\n  version = \"1.0.0\"\n}\n";
        insta::assert_snapshot!(LockFile::parse(text).expect_err("not normal"), @".terraform.lock.hcl:1:10: `Example.com/a/b` is not a provider address in normal form; write `example.com/a/b`");
        let text = text.replace("Example.com", "example.com.");
        insta::assert_snapshot!(LockFile::parse(&text).expect_err("not normal"), @".terraform.lock.hcl:1:10: `example.com./a/b` is not a provider address in normal form");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let mut file = LockFile::default();
        let version = "1.0.0".parse().unwrap();
        file.insert("example.com/a/b".parse().unwrap(), LockEntry::new(version, Constraints::any()));
        assert_eq!(LockFile::parse(&format!("\u{feff}{}", file.to_text())).unwrap(), file);
    }
}
