//! `config add` and `config remove`: the file of the user, changed where it must be.

use serde::Serialize;
use tofu_oci_disk::{FileError, PrivateFile};
use tofu_oci_mapper::config::{
    CliConfigReading, ConfigFileState, MASK, MirrorChange, Severity, edit_mirrors, secrets_in_line,
};
use tofu_oci_types::Event;
use zeroize::Zeroizing;

use super::snippet::{IMPLICIT_FOLDERS, pattern, template, warn_of_bare_host, warn_of_meeting};
use crate::args::{ConfigAddArgs, ConfigRemoveArgs};
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
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
    let pattern = pattern("config add", &args.pattern, &args.template)?;
    let template = template(&args.template, &args.pattern)?;
    let change = MirrorChange::Add(pattern, template.as_str().to_owned());
    let had_none = edit(context, &change, args.dry_run)?;
    warn_of_bare_host(context, &args.template);
    let read = ReadConfig::read(None)?;
    if let Some(installation) = &read.reading.config.installation {
        warn_of_meeting(context, &installation.methods, &args.predecessors.all());
    }
    if had_none {
        context.reporter.event(&Event::note("config-edited", IMPLICIT_FOLDERS));
    }
    Ok(())
}

/// Takes a pattern out of every `oci_mirror`.
pub(crate) fn remove(context: &Context, args: &ConfigRemoveArgs) -> Result<(), Diagnostic> {
    let change = MirrorChange::Remove(pattern("config remove", &args.pattern, "")?);
    edit(context, &change, args.dry_run).map(|_| ())
}

/// How often a file is read again that another program has changed meanwhile.
const ATTEMPTS: usize = 50;

/// Changes the file, and prints the difference. Returns whether no file had a `provider_installation`.
fn edit(context: &Context, change: &MirrorChange, dry_run: bool) -> Result<bool, Diagnostic> {
    let mut attempts = ATTEMPTS;
    loop {
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
            return Err(Diagnostic::usage(format!("{shown} is JSON, which this command does not edit"))
                .hint("`tofu-oci config snippet --json-form` prints the blocks"));
        }
        let after = edit_mirrors(before, installation, change).map_err(|error| {
            Diagnostic::usage(error.to_string())
                .about(&shown)
                .hint("the file stays as it is; `tofu-oci config snippet` prints the blocks to put there by hand")
        })?;
        let edited = ConfigEdited {
            path: shown,
            changed: after.is_some(),
            dry_run,
            diff: after.as_deref().map(|after| diff(before, after)).unwrap_or_default(),
        };
        if let Some(after) = after.filter(|_| !dry_run) {
            let failed = |error| FileError::new("write", path, error);
            let file = PrivateFile::at(path).map_err(failed)?;
            let mut is_same = true;
            let replace = |now: Option<&[u8]>| {
                is_same = now.unwrap_or_default() == before.as_bytes();
                Ok::<_, std::io::Error>(is_same.then(|| Zeroizing::new(after.into_bytes())))
            };
            file.stage().and_then(|staged| staged.commit(replace)).map_err(failed)?;
            if !is_same && attempts > 1 {
                attempts -= 1;
                continue;
            }
            if !is_same {
                let text = format!("{} changes while it is edited, or holds bytes that are not UTF-8", edited.path);
                return Err(Diagnostic::usage(text).hint("correct the bytes, or run the command again"));
            }
        }
        context.emit(&edited, || page(&edited));
        return Ok(edited.changed && installation.is_none());
    }
}

/// Refuses a configuration with errors. A main file that is not there is none: it is to be written.
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

fn page(edited: &ConfigEdited) -> Page {
    let ConfigEdited { path, changed, dry_run, diff } = edited;
    let mut page = Page::default();
    page.block("", diff);
    page.line(match (changed, dry_run) {
        (false, _) => format!("{path} stays as it is: it says so already"),
        (true, true) => format!("{path} would change; nothing was written"),
        (true, false) => format!("wrote {path}"),
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
