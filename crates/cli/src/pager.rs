//! The user's pager, for a text that does not fit on the terminal.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::helper_program::find;
use crate::terminal;

/// Shows the text by `$PAGER`, else by `less`. False if nothing was shown: no terminal, a text that fits, or no such program.
pub(crate) fn show(text: &str) -> bool {
    if std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb") {
        return false;
    }
    // What is no terminal has no rows.
    if terminal::stdout_rows().is_none_or(|rows| text.lines().count() < rows) {
        return false;
    }
    let variable = std::env::var("PAGER").ok();
    let Some((program, arguments)) = chosen(variable.as_deref()) else { return false };
    let found = if program.contains(std::path::is_separator) {
        Ok(program.into())
    } else {
        find(program, std::env::var_os("PATH").as_deref())
    };
    let Ok(program) = found else { return false };
    let mut command = Command::new(program);
    // A pager that shows help itself, such as `tofu-oci help`, starts no other one.
    command.args(arguments).env("PAGER", "cat").stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours as they are, nothing if it fits, and the text stays on the terminal: as git sets it.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that is left before the end closes the pipe.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}

/// The program that `$PAGER` names, and its arguments; `None` if the user wants none.
fn chosen(variable: Option<&str>) -> Option<(&str, Vec<&str>)> {
    let mut words = variable.unwrap_or("less").split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    Some((program, words.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_pager_and_cat_are_none() {
        assert_eq!(chosen(None), Some(("less", vec![])));
        assert_eq!(chosen(Some("less -S")), Some(("less", vec!["-S"])));
        assert!(chosen(Some("")).is_none() && chosen(Some("cat")).is_none());
    }
}
