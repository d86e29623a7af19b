//! `config add` and `config remove`: the file of the user, changed where it must be.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tofu_oci_disk::{FileError, PrivateFile};
use tofu_oci_mapper::config::{
    CliConfigReading, ConfigFileState, MASK, Method, MethodKind, MirrorChange, Severity, edit_mirrors, read_snippet,
    secrets_in_line,
};
use tofu_oci_mapper::{Pattern, Selector};
use tofu_oci_types::Event;
use zeroize::Zeroizing;

use super::snippet::{IMPLICIT_FOLDERS, pattern, template, warn_of_bare_host, warn_of_meeting};
use crate::args::{ConfigAddArgs, ConfigRemoveArgs};
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::invocation;
use crate::page::Page;
use crate::verbs::context::Context;

#[derive(Serialize)]
#[serde(tag = "event", rename = "config-edited")]
struct ConfigEdited {
    path: String,
    changed: bool,
    dry_run: bool,
    diff: String,
}

/// Sends the providers of a pattern to repositories.
pub(crate) fn add(context: &Context, args: &ConfigAddArgs) -> Result<(), Diagnostic> {
    let sent = &args.sent;
    let pattern = pattern("config add", &sent.pattern, &sent.template)?;
    let template = template(&sent.template, &sent.pattern)?;
    let change = MirrorChange::Add(pattern, template.as_str().to_owned());
    let Edit { path, had_block, methods } = edit(context, &change, args.dry_run)?;
    warn_of_bare_host(context, &sent.template);
    warn_of_meeting(context, &methods, &args.predecessors.all());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("terraform") || path.parent().is_some_and(|folder| folder.ends_with(".terraform.d")) {
        let text = format!("Terraform reads {}, too, and prints an error: it has no oci_mirror", path.display());
        let hint = "copy the file to ~/.tofurc, which OpenTofu reads in its place, and edit that one";
        context.reporter.event(&Event::warning("terraform-reads-it-too", text).with_hint(hint));
    }
    if !had_block {
        context.reporter.event(&Event::note("config-edited", IMPLICIT_FOLDERS));
    }
    Ok(())
}

/// Takes a pattern out of the `oci_mirror` that serves it, and says which method serves it then.
pub(crate) fn remove(context: &Context, args: &ConfigRemoveArgs) -> Result<(), Diagnostic> {
    let pattern = pattern("config remove", &args.pattern, "")?;
    let Edit { path, had_block, methods } = edit(context, &MirrorChange::Remove(pattern.clone()), args.dry_run)?;
    let covers = |list: &[Pattern]| list.iter().any(|one| one.covers(&pattern));
    let serving = methods.iter().find(|method| {
        let Selector { include, exclude } = &method.selector;
        (include.is_empty() || covers(include)) && !covers(exclude)
    });
    let text = match serving {
        _ if methods.is_empty() && had_block => {
            "without a provider_installation, every provider comes from its origin, or from terraform.d/plugins and \
             the other implicit folders"
                .to_owned()
        }
        _ if methods.is_empty() => format!("{pattern} comes from its origin: there is no provider_installation"),
        None => format!("no method is for {pattern} now"),
        Some(method) => match &method.kind {
            MethodKind::Direct { .. } => format!("{pattern} comes from its origin, by `direct` in {}", path.display()),
            MethodKind::OciMirror { template } => format!("{pattern} comes from {}", template.as_str()),
            kind => format!("{pattern} comes from a {} of {}", kind.name(), path.display()),
        },
    };
    context.reporter.event(&Event::note("config-edited", text));
    Ok(())
}

/// How often a file is read again that another program has changed meanwhile.
const ATTEMPTS: usize = 50;

/// The file, whether it had a `provider_installation`, and the methods that it has after the change, or would have.
struct Edit {
    path: PathBuf,
    had_block: bool,
    methods: Vec<Method>,
}

/// Changes the file, and prints the difference.
fn edit(context: &Context, change: &MirrorChange, dry_run: bool) -> Result<Edit, Diagnostic> {
    for _ in 0..ATTEMPTS {
        let ReadConfig { reading, .. } = ReadConfig::read(None)?;
        demand_sound(&reading)?;
        let installation = reading.config.installation.as_ref();
        let main = reading.located.main.as_ref().map(|main| &main.path);
        let place = installation.and_then(|there| reading.files.get(there.file)).map(|file| &file.path).or(main);
        let path = place.ok_or_else(|| {
            Diagnostic::usage("no home folder is known, so that there is no file to edit")
                .hint("set HOME, or name the file with TF_CLI_CONFIG_FILE")
        })?;
        let before = reading.files.iter().find(|file| file.path == *path).map_or("", |file| file.text.as_str());
        let shown = path.display().to_string();
        if before.trim_start().starts_with('{') || path.extension().is_some_and(|end| end == "json") {
            return Err(is_json(&shown, change));
        }
        let after = edit_mirrors(before, installation, change).map_err(|error| {
            Diagnostic::usage(error.to_string()).about(&shown).hint("the file stays as it is; edit it by hand")
        })?;
        if let Some(after) = after.as_deref().filter(|_| !dry_run)
            && !replaced(path, before, after).map_err(|error| FileError::new("write", path, error))?
        {
            continue;
        }
        let text = after.as_deref().unwrap_or(before);
        let edited = ConfigEdited {
            path: shown,
            changed: after.is_some(),
            dry_run,
            diff: if after.is_some() { diff(before, text) } else { String::new() },
        };
        context.emit(&edited, || page(&edited, change));
        let methods = read_snippet(text, reading.release).config.installation.map(|there| there.methods);
        let had_block = installation.is_some();
        return Ok(Edit { path: path.clone(), had_block, methods: methods.unwrap_or_default() });
    }
    Err(Diagnostic::new(Exit::Fixable, "the CLI configuration keeps changing while it is edited")
        .hint("run the command again when no other program writes it"))
}

fn is_json(shown: &str, change: &MirrorChange) -> Diagnostic {
    let diagnostic = Diagnostic::usage(format!("{shown} is JSON, which this command does not edit"));
    match change {
        MirrorChange::Add(pattern, template) => {
            let pattern = invocation::quoted(&pattern.to_string());
            let template = invocation::quoted(template);
            diagnostic.hint(format!("to print the blocks: tofu-oci config snippet --json-form {pattern} {template}"))
        }
        MirrorChange::Remove(_) => diagnostic.hint("edit it by hand; `tofu-oci config check` reads it then"),
    }
}

/// Replaces the text of the file; false if it is another one meanwhile.
fn replaced(path: &Path, before: &str, after: &str) -> std::io::Result<bool> {
    let file = PrivateFile::at(path)?;
    file.sweep();
    let mut is_same = true;
    file.stage()?.commit(|now| {
        is_same = now.unwrap_or_default() == before.as_bytes();
        Ok::<_, std::io::Error>(is_same.then(|| Zeroizing::new(after.as_bytes().to_vec())))
    })?;
    Ok(is_same)
}

/// Refuses a configuration with errors. A missing main file is allowed, because this run writes it.
fn demand_sound(reading: &CliConfigReading) -> Result<(), Diagnostic> {
    let is_missing = |file: Option<usize>| {
        file.and_then(|file| reading.files.get(file)).is_some_and(|file| file.state == ConfigFileState::Missing)
    };
    let errors: Vec<_> =
        reading.errors().filter(|problem| problem.severity == Severity::Error || !is_missing(problem.file)).collect();
    match errors.split_first() {
        None => Ok(()),
        Some((first, more)) => Err(Diagnostic::configuration(reading, first, more.len())),
    }
}

fn page(edited: &ConfigEdited, change: &MirrorChange) -> Page {
    let ConfigEdited { path, changed, dry_run, diff } = edited;
    let mut page = Page::default();
    page.block("", diff);
    page.line(match (changed, change, dry_run) {
        (false, MirrorChange::Add(..), _) => format!("{path} stays as it is: it says so already"),
        (false, MirrorChange::Remove(pattern), _) => {
            format!("{path} stays as it is: no oci_mirror in it names {pattern}")
        }
        (true, _, true) => format!("{path} would change; nothing was written"),
        (true, _, false) => format!("wrote {path}"),
    });
    page
}

/// The lines that differ, as `diff -u` shows them, without secrets.
fn diff(before: &str, after: &str) -> String {
    let masked = |text: &str| {
        let mut masked = text.to_owned();
        for secret in secrets_in_line(text, 0..text.len()).into_iter().rev() {
            masked.replace_range(secret, MASK);
        }
        masked
    };
    similar::TextDiff::from_lines(&masked(before), &masked(after)).unified_diff().to_string()
}
