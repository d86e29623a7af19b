//! `provider_installation`: the block, its methods, and what `OpenTofu` drops of them.
//!
//! The order of the checks is `OpenTofu`'s, so that the first problem is the same. All problems except those of a
//! template have the line of the whole block, because HCL 1 keeps few places.
//!
//! Spec: `OpenTofu` 1.12, cliconfig, provider installation; measured on 1.10 to 1.13.

use std::path::{Path, PathBuf};

use tofu_oci_hcl::{
    DecodeError, DecodeNode, DecodeShape, Decoded, Duplicates, HclBody, HclDocument, HclItem, HclValue,
};
use tofu_oci_types::{InvalidProviderAddr, ProviderAddr};

use super::decode;
use super::reader::{ReadingNotes, SourceText};
use super::{CliConfigProblem, DevOverride, Effect, Environment, Installation, Method, MethodKind, Topic, names};
use tofu_oci_types::TofuRelease;

use crate::{RepositoryTemplate, Selector};

/// The arguments of a method.
struct MethodArguments {
    kind: MethodKind,
    include: Vec<String>,
    exclude: Vec<String>,
}

/// The current block, and its surroundings.
struct InstallationBlock<'a> {
    environment: &'a Environment,
    source: SourceText<'a>,
    line: Option<usize>,
}

/// Reads the `provider_installation` blocks of a file.
pub(super) fn read(
    environment: &Environment,
    source: SourceText<'_>,
    document: &HclDocument,
    findings: &mut ReadingNotes,
) -> Vec<Installation> {
    let mut blocks = Vec::new();
    for item in &document.body.items {
        if item.keys.first().is_none_or(|key| key.text != "provider_installation") {
            continue;
        }
        let line = source.line_of(item);
        let head = item.keys.first().map_or(item.span.clone(), |key| key.span.clone());
        let body = match &item.value {
            HclValue::Object(body, _) if source.is_json() || !item.assigned => body,
            _ => {
                let instead = if source.is_json() {
                    "write an object, and in it each method as a list: \"direct\": [{}]"
                } else {
                    "leave the = out: provider_installation { … }"
                };
                let message = "provider_installation must be a block";
                let problem = source.problem("block-equals", head, line, message).instead(instead);
                findings.push(problem.topic(Topic::ProviderInstallation));
                continue;
            }
        };
        if let (Some(label), false) = (item.keys.get(1), source.is_json()) {
            let message = "provider_installation has no label";
            let problem = source.problem("block-label", label.span.clone(), line, message);
            findings.push(problem.instead("leave the label out").effect(Effect::KeptAnyway));
        }
        blocks.push(InstallationBlock { environment, source, line }.read(item, body, findings));
    }
    blocks
}

impl InstallationBlock<'_> {
    fn read(&self, block: &HclItem, body: &HclBody, findings: &mut ReadingNotes) -> Installation {
        let mut installation = Installation {
            dev_overrides: Vec::new(),
            methods: Vec::new(),
            file: self.source.file,
            span: block.span.clone(),
            name_span: head(block),
        };
        for item in &body.items {
            if let Err(problem) = self.method(item, &mut installation, findings) {
                let dropped = Some(findings.push(*problem));
                let name = item.keys.first().map_or_else(String::new, |key| key.text.clone());
                let arguments =
                    MethodArguments { kind: MethodKind::Unreadable { name }, include: Vec::new(), exclude: Vec::new() };
                installation.methods.push(Method { dropped, ..self.finished(item, arguments) });
            }
            if let (Some(key), HclValue::Object(body, _)) = (item.keys.first(), &item.value) {
                names::look_into(self.source, &key.text, body, findings);
            }
        }
        installation
    }

    /// Reads one method; the error is the one that drops it.
    fn method(
        &self,
        item: &HclItem,
        installation: &mut Installation,
        findings: &mut ReadingNotes,
    ) -> Result<(), Box<CliConfigProblem>> {
        let Some(key) = item.keys.first() else { return Ok(()) };
        let (name, json) = (key.text.as_str(), self.source.is_json());
        let body = match &item.value {
            HclValue::Object(body, _) if json || !item.assigned => body,
            _ => {
                let instead = match (json, names::METHODS.contains(&name)) {
                    (true, true) => format!("write the method as a list: \"{name}\": [{{ … }}]"),
                    // HCL 1 has taken the object of a method for the block itself.
                    (true, false) => "write every method as a list: \"direct\": [{ … }]".to_owned(),
                    (false, true) => format!("leave the = out: {name} {{ … }}"),
                    (false, false) => {
                        "leave it out: only method blocks such as direct { … } stand in provider_installation"
                            .to_owned()
                    }
                };
                let message = match (json, names::METHODS.contains(&name)) {
                    (true, false) => format!("{name} is taken for a method, and is not a block"),
                    _ => format!("{name} must be a block"),
                };
                let problem = self.source.problem("method-not-block", key.span.clone(), self.line, message);
                return Err(Box::new(problem.instead(instead).effect(Effect::EntryIgnored)));
            }
        };
        if let (Some(label), false) = (item.keys.get(1), json) {
            let message = format!("{name} has no label");
            let problem = self.source.problem("method-label", label.span.clone(), self.line, message);
            findings.push(problem.instead("leave the label out").effect(Effect::KeptAnyway));
        }
        let list = DecodeNode::of_body(body);
        let arguments = match name {
            "direct" => self.direct(&list, findings.release)?,
            "filesystem_mirror" => self.filesystem_mirror(item, &list)?,
            "network_mirror" => self.network_mirror(item, &list, findings.release)?,
            "oci_mirror" => self.oci_mirror(item, &list, findings)?,
            "dev_overrides" => return self.dev_overrides(item, &list, installation, findings),
            _ => return Err(Box::new(self.unknown(item, name))),
        };
        installation.methods.push(self.finished(item, arguments));
        Ok(())
    }

    fn finished(&self, item: &HclItem, arguments: MethodArguments) -> Method {
        let MethodArguments { kind, include, exclude } = arguments;
        Method {
            kind,
            selector: Selector::parse(&include, &exclude).unwrap_or_default(),
            include,
            exclude,
            file: Some(self.source.file),
            place: Some(self.source.place(item.span.start)),
            span: item.span.clone(),
            dropped: None,
        }
    }

    fn direct(&self, list: &DecodeNode<'_>, release: TofuRelease) -> Result<MethodArguments, Box<CliConfigProblem>> {
        let (include, exclude) = self.patterns(list)?;
        let download_retry_count = self.retries(list, release)?;
        Ok(MethodArguments { kind: MethodKind::Direct { download_retry_count }, include, exclude })
    }

    fn filesystem_mirror(
        &self,
        item: &HclItem,
        list: &DecodeNode<'_>,
    ) -> Result<MethodArguments, Box<CliConfigProblem>> {
        let path = self.decoded(decode::text(list, "path"))?.map(|written| written.value);
        let (include, exclude) = self.patterns(list)?;
        let written = self.required(item, "path", path, "path = \"/usr/share/providers\"")?;
        let path = self.absolute(&written);
        Ok(MethodArguments { kind: MethodKind::FilesystemMirror { path, written }, include, exclude })
    }

    fn network_mirror(
        &self,
        item: &HclItem,
        list: &DecodeNode<'_>,
        release: TofuRelease,
    ) -> Result<MethodArguments, Box<CliConfigProblem>> {
        let url = self.decoded(decode::text(list, "url"))?.map(|written| written.value);
        let (include, exclude) = self.patterns(list)?;
        let download_retry_count = self.retries(list, release)?;
        let trust_all_hashes = match release {
            TofuRelease::V1_10 => false,
            _ => self.decoded(decode::truth(list, "trust_all_hashes"))?.unwrap_or_default(),
        };
        let url = self.required(item, "url", url, "url = \"https://mirror.example.com/providers/\"")?;
        Ok(MethodArguments {
            kind: MethodKind::NetworkMirror { url, download_retry_count, trust_all_hashes },
            include,
            exclude,
        })
    }

    fn oci_mirror(
        &self,
        item: &HclItem,
        list: &DecodeNode<'_>,
        findings: &mut ReadingNotes,
    ) -> Result<MethodArguments, Box<CliConfigProblem>> {
        let line = self.source.line_of_brace(item);
        let dropped = |problem: CliConfigProblem| Box::new(problem.effect(Effect::MethodDropped));
        let decode = |error: DecodeError| dropped(self.source.mismatch("decode", line, &error));
        let written = decode::text(list, "repository_template").map_err(decode)?;
        let include = decode::texts(list, "include").map_err(decode)?.unwrap_or_default();
        let exclude = decode::texts(list, "exclude").map_err(decode)?.unwrap_or_default();
        let Some(written) = written.filter(|written| !written.value.is_empty()) else {
            let problem = self
                .source
                .problem("template-required", head(item), line, "oci_mirror needs repository_template")
                .instead("write repository_template = \"ghcr.io/acme/${hostname}/${namespace}/${type}\"");
            return Err(dropped(problem));
        };
        match RepositoryTemplate::check(&written.value, &include) {
            Ok(template) => Ok(MethodArguments { kind: MethodKind::OciMirror { template }, include, exclude }),
            Err(errors) => {
                let mut problems: Vec<CliConfigProblem> = errors
                    .iter()
                    .map(|error| {
                        let code = error.code();
                        let span = match &written.text {
                            Some(text) => text.map.span(error.span()),
                            None => written.span.clone(),
                        };
                        let reported = if code.starts_with("hcl:") { None } else { line };
                        let problem = self.source.problem(&code, span, reported, error.to_string());
                        let problem = problem.instead(error.instead());
                        if error.passes_opentofu() {
                            problem.effect(Effect::NotPredicted).ours()
                        } else {
                            problem.effect(Effect::MethodDropped)
                        }
                    })
                    .collect();
                // The last one decides about the method; the order stays.
                let decisive = problems.pop().expect("a template is refused for a reason");
                for problem in problems {
                    findings.push(problem);
                }
                Err(Box::new(decisive))
            }
        }
    }

    fn dev_overrides(
        &self,
        item: &HclItem,
        list: &DecodeNode<'_>,
        installation: &mut Installation,
        findings: &mut ReadingNotes,
    ) -> Result<(), Box<CliConfigProblem>> {
        if installation.methods.iter().any(|method| method.dropped.is_none()) {
            let line = self.source.line_of(item);
            let message = "dev_overrides must stand before all methods";
            let problem = self.source.problem("dev-overrides-order", head(item), line, message);
            return Err(Box::new(
                problem.instead("move it to the top of provider_installation").effect(Effect::MethodDropped),
            ));
        }
        let decoded = self.decoded(list.decode(&decode::map_of(DecodeShape::Text), Duplicates::Refused))?;
        let mut overrides = decoded.into_map().unwrap_or_default();
        let members = self.decoded(list.members("dev_overrides"))?;
        for (key, _) in members.filter_map(Result::ok) {
            // Only the last path of a name counts.
            let Some(written) = overrides.remove(&key.text).and_then(Decoded::into_text) else { continue };
            match key.text.parse::<ProviderAddr>().and_then(ProviderAddr::for_opentofu) {
                Ok(address) => installation.dev_overrides.push(DevOverride {
                    address,
                    path: self.absolute(&written),
                    written,
                    span: key.span.clone(),
                }),
                Err(error) => {
                    findings.push(self.bad_override(key, &error));
                }
            }
        }
        Ok(())
    }

    fn bad_override(&self, key: &tofu_oci_hcl::HclKey, error: &InvalidProviderAddr) -> CliConfigProblem {
        let instead = match error.suggestion() {
            Some(suggestion) => format!("write \"{suggestion}\""),
            None => "write HOST/NAMESPACE/TYPE, such as \"registry.opentofu.org/acme/widget\"".to_owned(),
        };
        let problem = self.source.problem("dev-overrides-address", key.span.clone(), self.line, error.to_string());
        let problem = problem.instead(instead).effect(Effect::EntryIgnored);
        if error.passes_opentofu() { problem.kept_by_opentofu() } else { problem }
    }

    fn unknown(&self, item: &HclItem, name: &str) -> CliConfigProblem {
        let message = format!("there is no installation method {name}");
        let instead = match names::near(name, &names::METHODS) {
            Some(near) => format!("write {near}"),
            None => format!("write one of {}", names::METHODS.join(", ")),
        };
        let problem = self.source.problem("unknown-method", head(item), self.source.line_of(item), message);
        problem.instead(instead).effect(Effect::MethodDropped)
    }

    /// `include` and `exclude` as they were written.
    fn patterns(&self, list: &DecodeNode<'_>) -> Result<(Vec<String>, Vec<String>), Box<CliConfigProblem>> {
        let read = |argument: &'static str| self.decoded(decode::texts(list, argument)).map(Option::unwrap_or_default);
        Ok((read("include")?, read("exclude")?))
    }

    /// `download_retry_count`, which 1.10 does not know.
    fn retries(&self, list: &DecodeNode<'_>, release: TofuRelease) -> Result<Option<i64>, Box<CliConfigProblem>> {
        match release {
            TofuRelease::V1_10 => Ok(None),
            _ => self.decoded(decode::whole(list, "download_retry_count")),
        }
    }

    fn decoded<T>(&self, value: Result<T, DecodeError>) -> Result<T, Box<CliConfigProblem>> {
        value.map_err(|error| Box::new(self.source.mismatch("decode", self.line, &error).effect(Effect::MethodDropped)))
    }

    fn required(
        &self,
        item: &HclItem,
        argument: &str,
        value: Option<String>,
        example: &str,
    ) -> Result<String, Box<CliConfigProblem>> {
        value.filter(|value| !value.is_empty()).ok_or_else(|| {
            let name = item.keys.first().map_or("the method", |key| key.text.as_str());
            let code = format!("{argument}-required");
            let problem = self.source.problem(&code, head(item), self.line, format!("{name} needs {argument}"));
            Box::new(problem.instead(format!("write {example}")).effect(Effect::MethodDropped))
        })
    }

    /// A folder as `OpenTofu` finds it: relative to the working directory, without expanding `~` or variables.
    fn absolute(&self, written: &str) -> PathBuf {
        self.environment.absolute(&self.environment.working_dir, Path::new(written))
    }
}

/// The name of a block.
fn head(item: &HclItem) -> std::ops::Range<usize> {
    item.keys.first().map_or(item.span.clone(), |key| key.span.clone())
}
