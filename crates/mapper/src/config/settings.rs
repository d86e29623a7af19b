//! The settings of one file that HCL 1 decodes by itself: a single value of the wrong kind drops the whole file.

use std::collections::BTreeMap;

use tofu_oci_hcl::{Document, Item, Value};

use super::decode::{self, Entry, Mismatch, Node};
use super::reader::{Findings, Source};
use super::{At, Attribute, BlockKind, Effect, Environment, Host, Problem, RawBlock};
use crate::MagicSuffix;
use crate::TofuRelease;

/// What a file says besides its installation methods and the credentials of OCI registries.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) plugin_cache_dir: Option<(String, At)>,
    pub(super) may_break_lock: bool,
    pub(super) hosts: Vec<(String, Host)>,
    pub(super) credentials: Vec<RawBlock>,
    pub(super) credentials_helpers: Vec<RawBlock>,
    pub(super) retry_count: Option<i64>,
    pub(super) request_timeout_seconds: Option<i64>,
    pub(super) magic_suffix: Option<(MagicSuffix, At)>,
}

/// Reads them all, in the order in which HCL 1 fills them in; the error is the one that drops the rest of the file.
/// What was filled in before stays, as it does in `OpenTofu`, which then expands no variables.
pub(super) fn read(
    environment: &Environment,
    source: Source<'_>,
    document: &Document,
    settings: &mut Settings,
) -> Result<(), Mismatch> {
    let list = decode::entries(&document.body);
    if let Some(written) = decode::text(&list, "plugin_cache_dir")? {
        let at = At { file: source.file, span: written.span };
        settings.plugin_cache_dir = Some((written.value, at));
    }
    settings.may_break_lock = decode::truth(&list, "plugin_cache_may_break_dependency_lock_file")?.unwrap_or_default();
    for node in decode::field(&list, "host") {
        settings.hosts.extend(hosts(source, &node)?);
    }
    for node in decode::field(&list, "credentials") {
        let members = decode::members(&node, "credentials")?;
        let read = members.into_iter().map(|(key, node)| {
            let members = decode::members(&node, "credentials")?;
            Ok(block(source, BlockKind::Credentials, Some(key), &members))
        });
        settings.credentials.extend(read.collect::<Result<Vec<_>, Mismatch>>()?);
    }
    for node in decode::field(&list, "credentials_helper") {
        let members = decode::members(&node, "credentials_helper")?;
        let read = members.into_iter().map(|(key, node)| {
            let arguments = decode::arguments(&node, "credentials_helper")?;
            decode::texts(&arguments, "args")?;
            let members = decode::members(&Node::Items(arguments), "credentials_helper")?;
            Ok(block(source, BlockKind::CredentialsHelper, Some(key), &members))
        });
        settings.credentials_helpers.extend(read.collect::<Result<Vec<_>, Mismatch>>()?);
    }
    if let Some((dir, _)) = &mut settings.plugin_cache_dir {
        *dir = expand(dir, environment);
    }
    Ok(())
}

fn hosts(source: Source<'_>, node: &Node<'_>) -> Result<Vec<(String, Host)>, Mismatch> {
    let read = |(key, node): (&tofu_oci_hcl::Key, Node<'_>)| {
        let arguments = decode::arguments(&node, "host")?;
        let mut services = BTreeMap::new();
        for node in decode::field(&arguments, "services") {
            let members = decode::members(&node, "services")?;
            services.extend(members.iter().map(|(key, node)| (key.text.clone(), decode::anything(node, &key.text))));
        }
        let at = At { file: source.file, span: key.span.clone() };
        Ok((key.text.clone(), Host { services, at }))
    };
    decode::members(node, "host")?.into_iter().map(read).collect()
}

/// A block as it was written. Its span is that of its label, or of its first argument.
pub(super) fn block(
    source: Source<'_>,
    kind: BlockKind,
    label: Option<&tofu_oci_hcl::Key>,
    members: &[(&tofu_oci_hcl::Key, Node<'_>)],
) -> RawBlock {
    let attributes: Vec<Attribute> = members
        .iter()
        .map(|(key, node)| {
            let span = match node {
                Node::Value(value) => value.span(),
                _ => key.span.clone(),
            };
            Attribute { name: key.text.clone(), value: decode::anything(node, &key.text), span }
        })
        .collect();
    let span = label.or(members.first().map(|(key, _)| *key)).map_or(0..0, |key| key.span.clone());
    RawBlock { kind, label: label.map(|key| key.text.clone()), attributes, file: source.file, span }
}

/// Reads `registry_protocols`, which is decoded after the rest and drops only itself.
pub(super) fn registry_protocols(
    source: Source<'_>,
    document: &Document,
    settings: &mut Settings,
    findings: &mut Findings,
) {
    if findings.release == TofuRelease::V1_10 {
        return;
    }
    let mut first: Option<&Item> = None;
    for item in &document.body.items {
        let Some(key) = item.keys.first().filter(|key| key.text == "registry_protocols") else { continue };
        if let Some(first) = first {
            let line = source.line_of(first);
            let problem =
                source.problem("duplicate-block", key.span.clone(), line, "registry_protocols is given twice");
            findings.push(problem.instead("put both arguments into one block").effect(Effect::FirstUsed));
            continue;
        }
        let Value::Object(body, _) = &item.value else {
            let line = source.line_of(item);
            let problem = source.problem("block-equals", key.span.clone(), line, "registry_protocols must be a block");
            findings.push(problem.instead("write registry_protocols { … }"));
            continue;
        };
        first = Some(item);
        let list = decode::entries(body);
        let read = || -> Result<_, Mismatch> {
            Ok((decode::whole(&list, "retry_count")?, decode::whole(&list, "request_timeout_seconds")?))
        };
        match read() {
            Ok((retry_count, request_timeout_seconds)) => {
                settings.retry_count = retry_count;
                settings.request_timeout_seconds = request_timeout_seconds;
            }
            Err(error) => {
                findings.push(source.mismatch("decode", source.line_of_brace(item), &error));
            }
        }
    }
}

/// Reads the block `tofu_oci`, which `OpenTofu` does not know and ignores.
pub(super) fn tofu_oci(source: Source<'_>, document: &Document, settings: &mut Settings, findings: &mut Findings) {
    for item in &document.body.items {
        let Some((key, rest)) = item.keys.split_first().filter(|(key, _)| key.text == "tofu_oci") else { continue };
        let list: Vec<Entry<'_>> = match (&item.value, rest.is_empty()) {
            (_, false) if source.is_json() => vec![Entry { keys: rest, item }],
            (Value::Object(body, _), true) if source.is_json() || !item.assigned => decode::entries(body),
            _ => {
                findings.push(
                    own(source, key.span.clone(), "tofu_oci must be a block without a label")
                        .instead("write tofu_oci { magic_suffix = \"oci.example.com\" }"),
                );
                continue;
            }
        };
        for entry in &list {
            let Some(name) = entry.keys.first().filter(|name| name.text != "magic_suffix") else { continue };
            findings.push(
                own(source, name.span.clone(), format!("tofu_oci has no argument {}", name.text))
                    .instead("write magic_suffix"),
            );
        }
        if let Err(problem) = suffix(source, &list, settings) {
            findings.push(*problem);
        }
    }
}

fn suffix(source: Source<'_>, list: &[Entry<'_>], settings: &mut Settings) -> Result<(), Box<Problem>> {
    const EXAMPLE: &str = "write a hostname such as \"oci.example.com\"";
    let written = decode::text(list, "magic_suffix").map_err(|error| {
        Box::new(source.mismatch("tofu-oci-block", None, &error).effect(Effect::SilentlyIgnored).ours())
    })?;
    let Some(written) = written else { return Ok(()) };
    let wrong = |message: String| own(source, written.span.clone(), message);
    let suffix =
        written.value.parse::<MagicSuffix>().map_err(|error| Box::new(wrong(error.to_string()).instead(EXAMPLE)))?;
    if settings.magic_suffix.is_some() {
        return Err(Box::new(wrong("magic_suffix is given twice".to_owned()).instead("leave one of them out")));
    }
    settings.magic_suffix = Some((suffix, At { file: source.file, span: written.span }));
    Ok(())
}

fn own(source: Source<'_>, span: std::ops::Range<usize>, message: impl Into<String>) -> Problem {
    source.problem("tofu-oci-block", span, None, message).effect(Effect::SilentlyIgnored).ours()
}

/// Replaces `$NAME` and `${NAME}` by variables; one that is not set is empty. As Go's `os.ExpandEnv`.
fn expand(text: &str, environment: &Environment) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let (name, length) = variable_name(behind);
        if let Some(name) = name {
            out.push_str(environment.vars.get(name).map_or("", String::as_str));
        } else if length == 0 {
            out.push('$');
        }
        rest = behind.get(length..).unwrap_or_default();
    }
    out + rest
}

/// The name behind a `$` and how many bytes it takes. Without a name: broken braces are swallowed, and zero bytes mean
/// that the `$` stays.
fn variable_name(text: &str) -> (Option<&str>, usize) {
    let special = |byte: u8| matches!(byte, b'*' | b'#' | b'$' | b'@' | b'!' | b'?' | b'-' | b'0'..=b'9');
    let Some(first) = text.bytes().next() else { return (None, 0) };
    if first != b'{' {
        if special(first) {
            return (text.get(..1), 1);
        }
        let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        return (text.get(..length).filter(|name| !name.is_empty()), length);
    }
    match text.find('}') {
        Some(end) if end > 1 => (text.get(1..end), end + 1),
        // `${}` is swallowed whole, an unclosed `${` to the brace.
        Some(end) => (None, end + 1),
        None => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Os;
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let vars = BTreeMap::from([("HOME".to_owned(), "/home/u".to_owned()), ("A_1".to_owned(), "a".to_owned())]);
        let dir = std::path::PathBuf::from("/w");
        let environment =
            Environment { os: Os::Unix, home: None, app_data: None, launch_dir: dir.clone(), working_dir: dir, vars };
        assert_eq!(expand(text, &environment), want, "{text:?}");
    }

    #[test]
    fn variables_are_replaced_as_by_go() {
        check("$HOME/cache", "/home/u/cache");
        check("${HOME}/cache", "/home/u/cache");
        check("${HOME}x$A_1/b", "/home/uxa/b");
        check("$NOSUCH/cache", "/cache");
        check("${NO SUCH}/cache", "/cache");
        check("~/cache", "~/cache");
        check("a$", "a$");
        check("a$/b", "a$/b");
        check("a$$b", "ab");
        check("$1x", "x");
        check("${}x", "x");
        check("${HOME", "HOME");
        check("", "");
    }
}
