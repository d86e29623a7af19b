//! Exit codes.

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
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Fixable => 1,
            Exit::Usage => 2,
            Exit::Unexpected => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// Prints what clap has to say, help and version on stdout, mistakes on stderr.
pub(crate) fn from_clap(error: &clap::Error) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        let given = std::env::args_os().skip(1).chain(crate::args::variables());
        let given: Vec<String> = given.map(|value| value.to_string_lossy().into_owned()).collect();
        // Its plain form would take escape sequences out of what is quoted, which is then not found.
        printer::stderr(&mistake(text.ansi().to_string(), &given));
        Exit::Usage
    } else {
        printer::help(&text);
        Exit::Done
    }
}

/// A mistake in what was given, as arguments or in variables. What it quotes of that stays in its line.
fn mistake(mut text: String, given: &[String]) -> Page {
    for argument in given.iter().filter(|argument| argument.contains(is_unprintable)) {
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
        None => page.block("", &text),
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
