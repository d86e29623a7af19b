//! The settings of one file that HCL 1 decodes by itself: a single value of the wrong kind drops the whole file.

use tofu_oci_hcl::{DecodeError, DecodeNode, DecodeShape, Decoded, HclDocument, HclItem, HclValue, ItemView};

use super::decode::{self, Labelled};
use super::reader::{ReadingNotes, SourceText};
use super::{BlockKind, CliConfigProblem, Effect, Environment, HostBlock, RawBlock, TextPlace};
use crate::MagicSuffix;
use tofu_oci_types::TofuRelease;

/// The settings of a file, except installation methods and the credentials of OCI registries.
#[derive(Default)]
pub(super) struct FileSettings {
    pub(super) plugin_cache_dir: Option<(String, TextPlace)>,
    pub(super) may_break_lock: bool,
    pub(super) hosts: Vec<(String, HostBlock)>,
    pub(super) credentials: Vec<RawBlock>,
    pub(super) credentials_helpers: Vec<RawBlock>,
    pub(super) retry_count: Option<i64>,
    pub(super) request_timeout_seconds: Option<i64>,
    pub(super) magic_suffix: Option<(MagicSuffix, TextPlace)>,
}

/// Reads them all, in the order in which HCL 1 fills them in; the error is the one that drops the rest of the file.
/// Settings before it stay, as in `OpenTofu`, which then expands no variables.
pub(super) fn read(
    environment: &Environment,
    source: SourceText<'_>,
    document: &HclDocument,
    settings: &mut FileSettings,
) -> Result<(), DecodeError> {
    let top = DecodeNode::of_body(&document.body);
    if let Some(written) = decode::text(&top, "plugin_cache_dir")? {
        let at = TextPlace { file: source.file, span: written.span };
        settings.plugin_cache_dir = Some((written.value, at));
    }
    settings.may_break_lock = decode::truth(&top, "plugin_cache_may_break_dependency_lock_file")?.unwrap_or_default();
    let blocks = |name, shape| decode::labelled(&top, name, shape, source.duplicates);
    for mut host in blocks("host", block_of("services", decode::map_of(DecodeShape::Any)))? {
        let services = host.values.remove("services").and_then(Decoded::into_map).unwrap_or_default();
        let services = services.into_iter().map(|(name, value)| (name, value.into())).collect();
        let at = TextPlace { file: source.file, span: host.key.span.clone() };
        settings.hosts.push((host.key.text.clone(), HostBlock { services, at }));
    }
    for block in blocks("credentials", decode::map_of(DecodeShape::Any))? {
        settings.credentials.push(raw(source, BlockKind::Credentials, block));
    }
    for block in blocks("credentials_helper", block_of("args", decode::list_of_texts()))? {
        settings.credentials_helpers.push(raw(source, BlockKind::CredentialsHelper, block));
    }
    if let Some((dir, _)) = &mut settings.plugin_cache_dir {
        *dir = expand(dir, environment);
    }
    Ok(())
}

/// A block of one argument, as the program holds it.
fn block_of(name: &'static str, shape: DecodeShape) -> DecodeShape {
    DecodeShape::Pointer(Box::new(DecodeShape::Struct(vec![(name, shape)])))
}

fn raw(source: SourceText<'_>, kind: BlockKind, block: Labelled<'_>) -> RawBlock {
    let Labelled { key, blocks, values } = block;
    RawBlock {
        kind,
        label: Some(key.text.clone()),
        attributes: decode::attributes(&blocks, values),
        file: source.file,
        span: key.span.clone(),
    }
}

/// Reads `registry_protocols`, which is decoded after the rest and drops only itself.
pub(super) fn registry_protocols(
    source: SourceText<'_>,
    document: &HclDocument,
    settings: &mut FileSettings,
    findings: &mut ReadingNotes,
) {
    if findings.release == TofuRelease::V1_10 {
        return;
    }
    let mut first: Option<&HclItem> = None;
    for item in &document.body.items {
        let Some(key) = item.keys.first().filter(|key| key.text == "registry_protocols") else { continue };
        if let Some(first) = first {
            let line = source.line_of(first);
            let problem =
                source.problem("duplicate-block", key.span.clone(), line, "registry_protocols is given twice");
            findings.push(problem.instead("put both arguments into one block").effect(Effect::FirstUsed));
            continue;
        }
        let HclValue::Object(body, _) = &item.value else {
            let line = source.line_of(item);
            let problem = source.problem("block-equals", key.span.clone(), line, "registry_protocols must be a block");
            findings.push(problem.instead("write registry_protocols { … }"));
            continue;
        };
        first = Some(item);
        let list = DecodeNode::of_body(body);
        let read = || -> Result<_, DecodeError> {
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
pub(super) fn tofu_oci(
    source: SourceText<'_>,
    document: &HclDocument,
    settings: &mut FileSettings,
    findings: &mut ReadingNotes,
) {
    for item in &document.body.items {
        let Some((key, rest)) = item.keys.split_first().filter(|(key, _)| key.text == "tofu_oci") else { continue };
        let list = match (&item.value, rest.is_empty()) {
            (_, false) if source.is_json() => DecodeNode::Items(vec![ItemView::of(item).without(1)]),
            (HclValue::Object(body, _), true) if source.is_json() || !item.assigned => DecodeNode::of_body(body),
            _ => {
                findings.push(
                    own(source, key.span.clone(), "tofu_oci must be a block without a label")
                        .instead("write tofu_oci { magic_suffix = \"oci.example.com\" }"),
                );
                continue;
            }
        };
        for entry in list.items().unwrap_or_default() {
            let Some(name) = entry.keys().first().filter(|name| name.text != "magic_suffix") else { continue };
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

fn suffix(
    source: SourceText<'_>,
    list: &DecodeNode<'_>,
    settings: &mut FileSettings,
) -> Result<(), Box<CliConfigProblem>> {
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
    settings.magic_suffix = Some((suffix, TextPlace { file: source.file, span: written.span }));
    Ok(())
}

fn own(source: SourceText<'_>, span: std::ops::Range<usize>, message: impl Into<String>) -> CliConfigProblem {
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

/// The name after a `$` and how many bytes it takes. Without a name: broken braces are removed, and zero bytes mean
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
        // `${}` is removed whole, an unclosed `${` up to the brace.
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
        let environment = Environment {
            os: Os::Unix,
            home: None,
            app_data: None,
            launch_dir: dir.clone(),
            working_dir: dir,
            named: None,
            vars,
        };
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
