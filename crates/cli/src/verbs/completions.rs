//! `completions`.

use crate::args::CompletionsArgs;
use crate::completion;
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::exit::Exit;
use crate::printer;

/// Prints the script of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<(), Diagnostic> {
    let script = completion::script(args.shell).map_err(|error| Diagnostic::of(Exit::Unexpected, &error))?;
    printer::document(&Document::lines(&script));
    Ok(())
}
