//! `man`: a page for the program and for each verb.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use tofu_oci_disk::ScratchFile;

use crate::args::{self, ManArgs};
use crate::diagnostic::Diagnostic;
use crate::page::Page;
use crate::printer;

/// Writes the pages.
pub(super) fn man(args: &ManArgs, quiet: bool) -> Result<(), Diagnostic> {
    let dir = &args.dir;
    fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    // A page has every option with its help, as `--help` has.
    let mut command = args::each(args::declared(), &|option| option.hide_short_help(false));
    command.build();
    let mut pages = Vec::new();
    gather("", &command, &mut pages);
    for (name, text) in &pages {
        let path = dir.join(format!("{name}.1"));
        write(dir, &path, text).map_err(|error| unwritable(&path, &error))?;
    }
    if !quiet {
        printer::stdout(&Page::of(format_args!("wrote {} pages to {}", pages.len(), dir.display())));
    }
    Ok(())
}

/// Puts a page in its place. A link that is there is replaced, and what it leads to stays as it is.
fn write(dir: &Path, path: &Path, text: &[u8]) -> std::io::Result<()> {
    let page = ScratchFile::beside(dir)?;
    page.as_file().write_all(text)?;
    page.put(path)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let text = format!("cannot write {}: {error}", path.display());
    Diagnostic::new(crate::exit::Exit::Fixable, text).code("io").io_hint("write", path, error)
}

/// The page of the command, then those of its verbs, by their names.
fn gather(parent: &str, command: &Command, pages: &mut Vec<(String, Vec<u8>)>) {
    let gap = if parent.is_empty() { "" } else { "-" };
    let name = format!("{parent}{gap}{}", command.get_name());
    pages.push((name.clone(), page(&name, command)));
    command.get_subcommands().for_each(|verb| gather(&name, verb, pages));
}

/// The page of one command. Nothing in it depends on the day or the machine.
fn page(name: &str, command: &Command) -> Vec<u8> {
    let man = Man::new(command.clone().display_name(name)).title(name).manual("tofu-oci").section("1").date("");
    let mut out = Vec::new();
    // Writing to a vector cannot fail.
    let _ = man.render_title(&mut out);
    let _ = man.render_name_section(&mut out);
    let _ = man.render_synopsis_section(&mut out);
    let _ = description(command).to_writer(&mut out);
    let _ = man.render_options_section(&mut out);
    if command.has_subcommands() {
        let _ = verbs(name, command).to_writer(&mut out);
    }
    let mut end = Roff::new();
    end.control("SH", ["SEE ALSO"]);
    end.text([roman("`tofu-oci help` prints pages about trust, configuration, credentials and other topics.")]);
    let _ = end.to_writer(&mut out);
    out
}

/// The examples and what else `--help` says, whose lines are laid out already.
fn description(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    roff.control("nf", []);
    for line in command.get_after_long_help().map(ToString::to_string).unwrap_or_default().lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

/// The verbs below a command, with the names of their pages.
fn verbs(name: &str, command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["VERBS"]);
    for verb in command.get_subcommands() {
        roff.control("TP", []);
        roff.text([bold(format!("{name}-{}(1)", verb.get_name()))]);
        roff.text([roman(verb.get_about().map(ToString::to_string).unwrap_or_default())]);
    }
    roff
}
