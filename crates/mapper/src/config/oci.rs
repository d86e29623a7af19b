//! `oci_credentials` and `oci_default_credentials`: which blocks are valid. Another crate interprets them.
//!
//! Spec: `OpenTofu` 1.12, cliconfig, OCI credentials; measured on 1.10 to 1.13.

use tofu_oci_hcl::{
    DecodeError, DecodeNode, DecodeShape, Decoded, Duplicates, HclDocument, HclItem, HclKey, HclValue, ItemView,
};

use super::decode::{self, WrittenText};
use super::reader::{ReadingNotes, SourceText};
use super::{BlockKind, CliConfigProblem, Effect, RawBlock};
use crate::{Prefix, parse_prefix};

/// Reads the `oci_default_credentials` blocks of a file.
pub(super) fn defaults(source: SourceText<'_>, document: &HclDocument, findings: &mut ReadingNotes) -> Vec<RawBlock> {
    let mut blocks = Vec::new();
    for item in &document.body.items {
        let Some((key, labels)) = item.keys.split_first() else { continue };
        if key.text != "oci_default_credentials" {
            continue;
        }
        let line = source.line_of(item);
        if let (Some(label), false) = (labels.first(), source.is_json()) {
            let message = "oci_default_credentials has no label";
            let problem = source.problem("block-label-count", label.span.clone(), line, message);
            findings.push(problem.instead("leave the label out, or write oci_credentials for one registry"));
            continue;
        }
        match body(source, item, key, line) {
            Ok(list) => match check_defaults(source, item, &list, findings) {
                Ok(()) => blocks.push(raw(source, BlockKind::OciDefaultCredentials, None, item, &list)),
                Err(error) => {
                    findings.push(source.mismatch("block-argument-type", source.line_of_brace(item), &error));
                }
            },
            Err(problem) => {
                findings.push(*problem);
            }
        }
    }
    blocks
}

/// Reports problems of the arguments; `OpenTofu` still keeps the block, unless one is of the wrong kind.
fn check_defaults(
    source: SourceText<'_>,
    item: &HclItem,
    list: &DecodeNode<'_>,
    findings: &mut ReadingNotes,
) -> Result<(), DecodeError> {
    let line = source.line_of_brace(item);
    let discover = decode::truth(list, "discover_ambient_credentials")?;
    let files = decode::texts(list, "docker_style_config_files")?;
    let helper = decode::text(list, "docker_credentials_helper")?;
    if let Some(helper) = &helper {
        if !is_helper_name(&helper.value) {
            findings.push(bad_helper(source, helper, line).effect(Effect::KeptAnyway));
        } else if let Some(problem) = odd_helper(source, helper) {
            findings.push(problem);
        }
    }
    if let (Some(false), Some(_)) = (discover, files) {
        let message = "docker_style_config_files has no meaning beside discover_ambient_credentials = false";
        let problem = source.problem("block-files-without-discovery", head(item), line, message);
        findings.push(problem.instead("leave one of them out").effect(Effect::KeptAnyway));
    }
    Ok(())
}

/// Reads the `oci_credentials` blocks of a file.
pub(super) fn repositories(
    source: SourceText<'_>,
    document: &HclDocument,
    findings: &mut ReadingNotes,
) -> Vec<RawBlock> {
    let mut blocks = Vec::new();
    for item in document.body.items.iter().filter(|item| is_named(item, "oci_credentials")) {
        match repository(source, item, findings) {
            Ok(block) => blocks.extend(block),
            Err(problem) => {
                findings.push(*problem);
            }
        }
    }
    blocks
}

fn is_named(item: &HclItem, name: &str) -> bool {
    item.keys.first().is_some_and(|key| key.text == name)
}

fn repository(
    source: SourceText<'_>,
    item: &HclItem,
    findings: &mut ReadingNotes,
) -> Result<Option<RawBlock>, Box<CliConfigProblem>> {
    let line = source.line_of(item);
    let count = if source.is_json() { item.keys.len().min(2) } else { item.keys.len() };
    let (Some(key), Some(label), 2) = (item.keys.first(), item.keys.get(1), count) else {
        let message = "oci_credentials has exactly one label";
        let problem = source.problem("block-label-count", head(item), line, message);
        return Err(Box::new(problem.instead("write oci_credentials \"ghcr.io/acme\" { … }")));
    };
    let list = match (source.is_json(), item.keys.get(2..)) {
        // Nested objects of JSON have become keys.
        (true, Some(rest)) if !rest.is_empty() => DecodeNode::Items(vec![ItemView::of(item).without(2)]),
        _ => body(source, item, key, line)?,
    };
    let line = source.line_of_brace(item);
    let prefix = parse_prefix(&label.text).map_err(|error| {
        let problem = source.problem("block-invalid-label", label.span.clone(), line, error.to_string());
        Box::new(problem.instead("write REGISTRY or REGISTRY/PATH, in lower case and without a tag"))
    })?;
    let sound = check_repository(source, item, &list, &prefix, line, findings)?;
    Ok(sound.then(|| raw(source, BlockKind::OciCredentials, Some(label), item, &list)))
}

/// The styles of credentials.
const STYLES: &str = "write username and password, or access_token and refresh_token, or docker_credentials_helper";

/// Whether the arguments make one style of credentials.
fn check_repository(
    source: SourceText<'_>,
    item: &HclItem,
    list: &DecodeNode<'_>,
    prefix: &Prefix,
    line: Option<usize>,
    findings: &mut ReadingNotes,
) -> Result<bool, Box<CliConfigProblem>> {
    let argument =
        |name| decode::text(list, name).map_err(|error| Box::new(source.mismatch("block-argument-type", line, &error)));
    let basic = [argument("username")?.is_some(), argument("password")?.is_some()];
    let oauth = [argument("access_token")?.is_some(), argument("refresh_token")?.is_some()];
    let helper = argument("docker_credentials_helper")?;
    let wrong = |code: &str, message: &str, instead: &str| {
        Err(Box::new(source.problem(code, head(item), line, message).instead(instead)))
    };
    let styles = [basic.contains(&true), oauth.contains(&true), helper.is_some()];
    match styles.iter().filter(|given| **given).count() {
        0 => return wrong("block-no-style", "oci_credentials holds no credentials", STYLES),
        1 => {}
        _ => return wrong("block-two-styles", "oci_credentials holds more than one kind of credentials", STYLES),
    }
    if styles[0] && basic != [true; 2] {
        return wrong("block-basic-needs-both", "username and password belong together", "write both");
    }
    if styles[1] && oauth != [true; 2] {
        return wrong("block-oauth-needs-both", "access_token and refresh_token belong together", "write both");
    }
    let Some(helper) = helper else { return Ok(true) };
    let mut sound = true;
    if matches!(prefix, Prefix::Repository(_)) {
        let message = "docker_credentials_helper gives credentials for whole registries only";
        let problem = source.problem("helper-with-path", helper.span.clone(), line, message);
        findings.push(problem.instead("leave the path out of the label"));
        sound = false;
    }
    if !is_helper_name(&helper.value) {
        findings.push(bad_helper(source, &helper, line));
        sound = false;
    } else if let Some(problem) = odd_helper(source, &helper) {
        findings.push(problem);
    }
    Ok(sound)
}

/// The items of a block.
fn body<'a>(
    source: SourceText<'_>,
    item: &'a HclItem,
    key: &HclKey,
    line: Option<usize>,
) -> Result<DecodeNode<'a>, Box<CliConfigProblem>> {
    let wrong = |code, instead: String| {
        let problem = source.problem(code, key.span.clone(), line, format!("{} must be a block", key.text));
        Err(Box::new(problem.instead(instead)))
    };
    match &item.value {
        _ if item.assigned && !source.is_json() => wrong("block-equals", "leave the = out".to_owned()),
        HclValue::Object(body, _) => Ok(DecodeNode::of_body(body)),
        _ => wrong("block-not-object", "write an object in braces".to_owned()),
    }
}

/// A block whose arguments are of the right kinds.
fn raw(
    source: SourceText<'_>,
    kind: BlockKind,
    label: Option<&HclKey>,
    item: &HclItem,
    list: &DecodeNode<'_>,
) -> RawBlock {
    let decoded = list.decode(&DecodeShape::Struct(arguments(kind)), Duplicates::Refused);
    let values = decoded.ok().and_then(Decoded::into_map).unwrap_or_default();
    RawBlock {
        kind,
        label: label.map(|key| key.text.clone()),
        attributes: decode::attributes(std::slice::from_ref(list), values),
        file: source.file,
        span: item.span.clone(),
    }
}

/// The arguments of a kind of block.
fn arguments(kind: BlockKind) -> Vec<(&'static str, DecodeShape)> {
    match kind {
        BlockKind::OciDefaultCredentials => vec![
            ("discover_ambient_credentials", DecodeShape::Bool),
            ("docker_style_config_files", decode::list_of_texts()),
            ("docker_credentials_helper", DecodeShape::Text),
        ],
        _ => ["username", "password", "access_token", "refresh_token", "docker_credentials_helper"]
            .map(|name| (name, DecodeShape::Text))
            .to_vec(),
    }
}

/// A name of a program without its prefix: not empty, no path.
fn is_helper_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('/')
}

fn bad_helper(source: SourceText<'_>, helper: &WrittenText<'_>, line: Option<usize>) -> CliConfigProblem {
    let message = format!("`{}` cannot be the name of a credential helper", helper.value);
    source
        .problem("invalid-helper-name", helper.span.clone(), line, message)
        .instead("write the part after docker-credential-, such as \"pass\"")
}

/// A name that `OpenTofu` runs although it is not the name of a helper.
fn odd_helper(source: SourceText<'_>, helper: &WrittenText<'_>) -> Option<CliConfigProblem> {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if helper.value.bytes().all(fine) {
        return None;
    }
    let message = "the name of a credential helper has letters, digits, `.`, `_` and `-` alone";
    let problem = source.problem("invalid-helper-name", helper.span.clone(), None, message);
    Some(problem.instead("write the part after docker-credential-, such as \"pass\"").effect(Effect::KeptAnyway).ours())
}

fn head(item: &HclItem) -> std::ops::Range<usize> {
    item.keys.first().map_or(item.span.clone(), |key| key.span.clone())
}
