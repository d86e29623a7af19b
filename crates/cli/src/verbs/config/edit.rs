//! `config add` and `config remove`: the file of the user, changed where it must be.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tofu_oci_disk::{FileError, PrivateFile};
use tofu_oci_mapper::Pattern;
use tofu_oci_mapper::config::{
    CliConfigReading, ConfigFileState, MASK, Method, MethodKind, MirrorChange, Severity, edit_mirrors, read_snippet,
    secrets_in_line,
};
use tofu_oci_types::Event;
use zeroize::Zeroizing;

use super::snippet::{IMPLICIT_FOLDERS, pattern, template, warn_of_bare_host, warn_of_meeting};
use crate::args::{ConfigAddArgs, ConfigRemoveArgs};
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::invocation;
use crate::mistake::nearest;
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
    let template = template(&sent.template, &pattern, &sent.pattern)?;
    let change = MirrorChange::Add(pattern, template.as_str().to_owned());
    let Edit { path, had_block, methods, .. } = edit(context, &change, args.dry_run)?;
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
    let Edit { path, changed, had_block, methods } =
        edit(context, &MirrorChange::Remove(pattern.clone()), args.dry_run)?;
    let covers = |list: &[Pattern]| list.iter().any(|one| one.covers(&pattern));
    let includes = |method: &Method| method.selector.include.is_empty() || covers(&method.selector.include);
    let serving = methods.iter().find(|method| includes(method) && !excludes(method, &pattern));
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
    let parts = parts(&methods, &pattern, serving);
    let except = if parts.is_empty() { String::new() } else { format!("; other methods are for {}", parts.join(", ")) };
    let mut note = Event::note("config-edited", text + &except);
    if let Some(near) = near(&methods, &pattern).filter(|_| !changed) {
        let command = invocation::with_all_options(&format!("config remove {}", invocation::quoted(&near)));
        note = note.with_hint(format!("did you mean {near}: {command}"));
    }
    context.reporter.event(&note);
    Ok(())
}

fn excludes(method: &Method, pattern: &Pattern) -> bool {
    method.selector.exclude.iter().any(|one| one.covers(pattern))
}

/// The parts of a pattern that other methods than the one that serves it name.
fn parts(methods: &[Method], pattern: &Pattern, serving: Option<&Method>) -> Vec<String> {
    let others = methods.iter().filter(|method| serving.is_none_or(|serving| serving.span != method.span));
    let named = others.flat_map(|method| method.selector.include.iter().filter(|part| !excludes(method, part)));
    let mut parts: Vec<String> =
        named.filter(|part| pattern.covers(part) && !part.covers(pattern)).map(ToString::to_string).collect();
    parts.sort();
    parts.dedup();
    parts
}

/// The pattern of an `oci_mirror` that is nearest to one that is not there: it has a provider in common, or is misspelt.
fn near(methods: &[Method], pattern: &Pattern) -> Option<String> {
    let mirrors = methods.iter().filter(|method| matches!(method.kind, MethodKind::OciMirror { .. }));
    let named: Vec<&Pattern> = mirrors.flat_map(|method| &method.selector.include).collect();
    let common = named.iter().find(|one| one.overlaps(pattern)).map(ToString::to_string);
    let all: Vec<String> = named.iter().map(ToString::to_string).collect();
    common.or_else(|| nearest(&pattern.to_string(), all.iter().map(String::as_str)).map(ToOwned::to_owned))
}

/// How often a file is read again that another program has changed meanwhile.
const ATTEMPTS: usize = 50;

/// The file, whether it changes, whether it had a `provider_installation`, and the methods that it has after the change, or would have.
struct Edit {
    path: PathBuf,
    changed: bool,
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
        // OpenTofu complains of a file that is not there if a variable names it.
        let is_named = reading.located.main.as_ref().is_some_and(|main| main.origin.named_by().is_some());
        let goes = after.as_deref().is_some_and(|after| after.trim().is_empty()) && !is_named && !path.is_symlink();
        if let Some(after) = after.as_deref().filter(|_| !dry_run) {
            let done = if goes { removed(path, before) } else { replaced(path, before, after) };
            if !done.map_err(|error| FileError::new(if goes { "remove" } else { "write" }, path, error))? {
                continue;
            }
        }
        let text = after.as_deref().unwrap_or(before);
        let edited = ConfigEdited {
            path: shown,
            changed: after.is_some(),
            dry_run,
            diff: if after.is_some() { diff(before, text) } else { String::new() },
        };
        context.emit(&edited, || page(&edited, change, goes));
        let methods = read_snippet(text, reading.release).config.installation.map(|there| there.methods);
        let had_block = installation.is_some();
        return Ok(Edit {
            path: path.clone(),
            changed: after.is_some(),
            had_block,
            methods: methods.unwrap_or_default(),
        });
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

/// Removes the file, in which nothing would be left; false if it is another one meanwhile.
fn removed(path: &Path, before: &str) -> std::io::Result<bool> {
    let file = PrivateFile::at(path)?;
    file.sweep();
    file.remove(before.as_bytes())
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

fn page(edited: &ConfigEdited, change: &MirrorChange, goes: bool) -> Page {
    let ConfigEdited { path, changed, dry_run, diff } = edited;
    let mut page = Page::default();
    page.block("", diff);
    page.line(match (changed, change, dry_run) {
        (false, MirrorChange::Add(..), _) => format!("{path} stays as it is: it says so already"),
        (false, MirrorChange::Remove(pattern), _) => {
            format!("{path} stays as it is: {pattern} is not there, no oci_mirror in it names it")
        }
        (true, _, true) if goes => format!("{path} would go, because nothing else is in it; nothing was written"),
        (true, _, false) if goes => format!("removed {path}, because nothing else was in it"),
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
            // Each line stays one, so that the lines of the difference are those of the file.
            let lines = text.get(secret.clone()).unwrap_or_default().split('\n');
            let stars: Vec<&str> = lines.map(|line| if line.is_empty() { "" } else { MASK }).collect();
            masked.replace_range(secret, &stars.join("\n"));
        }
        masked
    };
    similar::TextDiff::from_lines(&masked(before), &masked(after)).unified_diff().to_string()
}
