//! Exit codes, and the code of an error that has none of its own.

use std::ffi::OsString;

use anstyle::{AnsiColor, Style};
use tofu_oci_types::{is_unprintable, printable};

use crate::page::{Line, Page};
use crate::printer;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: the user can fix it: not found, refused, does not match.
    Fixable,
    /// 2: wrong usage or configuration.
    Usage,
    /// 3: unexpected: the network, the machine, or a bug.
    Unexpected,
    /// 130: interrupted by the user; nothing half-done is left.
    Interrupted,
    /// That of the command that `run` has run, or why there was none.
    OfCommand(u8),
}

impl Exit {
    /// The code of an error of which nothing closer is known.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Done | Self::Fixable | Self::OfCommand(_) => "failed",
            Self::Usage => "usage",
            Self::Unexpected => "unexpected",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Fixable => 1,
            Exit::Usage => 2,
            Exit::Unexpected => 3,
            Exit::Interrupted => 130,
            Exit::OfCommand(code) => code,
        })
    }
}

/// Prints clap's output: help and version on stdout, mistakes on stderr.
pub(crate) fn from_clap(error: &clap::Error) -> Exit {
    let text = error.render();
    let hostile = hostile();
    if error.use_stderr() {
        // Clap's plain form would drop escape sequences from quoted text, and that text would then not be found.
        printer::stderr(&mistake(text.ansi().to_string(), &hostile));
        Exit::Usage
    } else {
        // Help shows the values of variables, and breaks them at blanks as its own words.
        if hostile.is_empty() {
            printer::help(&text);
        } else {
            printer::stdout(&plain(&text.ansi().to_string()));
        }
        Exit::Done
    }
}

/// The arguments, and the values of their variables, that could act on a terminal.
fn hostile() -> Vec<String> {
    let hostile = |text: &OsString| text.to_string_lossy().contains(is_unprintable);
    let variables =
        if std::env::vars_os().any(|(_, value)| hostile(&value)) { crate::args::variables() } else { Vec::new() };
    let texts = std::env::args_os().skip(1).chain(variables).filter(hostile);
    texts.map(|text| text.to_string_lossy().into_owned()).collect()
}

/// The text without styles: foreign text may have put them there.
fn plain(text: &str) -> Page {
    let mut page = Page::default();
    page.block("", &anstream::adapter::strip_str(text).to_string());
    page
}

/// A mistake in the arguments. What it quotes of them stays in its line.
fn mistake(mut text: String, hostile: &[String]) -> Page {
    for argument in hostile {
        // Clap quotes the whole argument, the value in it, or one of several values.
        let value = argument.split_once('=').map(|(_, value)| value);
        for quoted in [argument.as_str()].into_iter().chain(value).chain(argument.split([',', '='])) {
            if quoted.contains(is_unprintable) {
                text = text.replace(quoted, &printable(quoted));
            }
        }
    }
    let text = anstream::adapter::strip_str(&text).to_string();
    let mut page = Page::default();
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    match text.strip_prefix("error:").and_then(|rest| rest.split_once('\n')) {
        Some((first, rest)) => {
            page.push(Line::default().styled(style, "error:").plain(first));
            page.block("", rest);
        }
        None => return plain(&text),
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_forges_no_line() {
        let hostile = "--to=x\nerror: forged\x1b[2J";
        let text =
            format!("\x1b[1merror:\x1b[0m unexpected argument '\x1b[33m{hostile}\x1b[0m' found\n\nUsage: tofu-oci\n");
        let page = mistake(text, &[hostile.to_owned()]);
        insta::assert_snapshot!(page.to_string(), @r"
        error: unexpected argument '--to=x\nerror: forged\u{1b}[2J' found

        Usage: tofu-oci
        ");
    }
}
