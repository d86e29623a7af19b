//! Errors of every crate in people's words: what is wrong, why, and what to do about it.

mod archive;
mod install;
mod io;
mod logins;
mod mirror;
mod module;
mod module_lock;
mod module_pull;
mod network;
mod pack;
mod source;
mod state;
mod store;
mod tfconfig;
mod trust;
mod usage;

use std::borrow::Cow;
use std::error::Error;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use tofu_oci_logins::{CredentialResolver, RefusalCause};
use tofu_oci_types::{Fault, FaultEnd, Place, RUN, RepositoryRef};

pub(crate) use io::{settings_fault, settings_text};
pub(crate) use logins::{remedy_text, source_remedy};
pub(crate) use state::brings_back;
pub(crate) use trust::Refused;

use crate::exit::Exit;
use crate::invocation;
use crate::page::{self, Page};
use crate::printer;

/// One error as the user sees it.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    text: String,
    /// Lines of a file with what is meant underlined, below the text.
    excerpt: Option<Box<str>>,
    causes: Vec<String>,
    hints: Vec<String>,
    exit: Exit,
    /// A stable name of the fault that is closer than the exit's; see [`Self::stable_name`].
    code: Option<Box<str>>,
    /// Whether it says nothing about what a place holds: the network, the machine or missing access rights are to blame.
    unasked: bool,
    /// The repository that access was refused to, because of the credentials or for want of them.
    refused: Option<Box<(RepositoryRef, RefusalCause)>>,
}

impl Diagnostic {
    /// A diagnostic without causes and hints.
    pub(crate) fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            excerpt: None,
            causes: Vec::new(),
            hints: Vec::new(),
            exit,
            code: None,
            unasked: false,
            refused: None,
        }
    }

    /// Wrong usage or configuration.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(Exit::Usage, text)
    }

    /// The error's own text, and the texts of what caused it, outermost first.
    pub(crate) fn of(exit: Exit, error: &(dyn Error + 'static)) -> Self {
        let mut diagnostic = Self::new(exit, error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if diagnostic.causes.last() != Some(&text) && diagnostic.text != text {
                diagnostic.causes.push(text);
            }
            cause = error.source();
        }
        diagnostic
    }

    /// All that an error says of itself.
    pub(crate) fn fault<E: Fault + Error + 'static>(error: &E) -> Self {
        let exit = match error.end() {
            FaultEnd::Fixable => Exit::Fixable,
            FaultEnd::Usage => Exit::Usage,
            FaultEnd::Unexpected => Exit::Unexpected,
        };
        let mut diagnostic = Self::of(exit, error).code(error.code());
        diagnostic.causes.extend(error.causes());
        diagnostic.hints.extend(error.hints().iter().filter(|hint| is_possible(hint)).map(|hint| runnable(hint)));
        let more_time = invocation::more_time().filter(|_| error.code() == "locked-by-another");
        diagnostic.more_hints(more_time.map(|option| format!("{option} waits longer")))
    }

    /// The same with another end of the program.
    pub(crate) fn exiting(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The same with one more line of advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same with more lines of advice.
    pub(crate) fn more_hints(mut self, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    /// The same with this advice alone.
    fn instead(mut self, hint: impl Into<String>) -> Self {
        self.hints = vec![hint.into()];
        self
    }

    /// The same with one more cause.
    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// The same with more causes.
    pub(crate) fn more_causes(mut self, causes: impl IntoIterator<Item: Into<String>>) -> Self {
        self.causes.extend(causes.into_iter().map(Into::into));
        self
    }

    /// The same with lines of a file below the text; whoever made them has escaped what is foreign in them.
    pub(crate) fn excerpt(mut self, lines: impl Into<String>) -> Self {
        self.excerpt = Some(lines.into().into_boxed_str());
        self
    }

    /// The same with a stable name for programs.
    pub(crate) fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into().into_boxed_str());
        self
    }

    /// The same with a stable name for programs, unless it has a closer one already.
    pub(crate) fn or_code(self, code: &str) -> Self {
        if self.code.is_some() { self } else { self.code(code) }
    }

    /// The same, marked as a refusal of this repository that credentials may have to do with.
    pub(crate) fn refused(mut self, place: &Place, refusal: RefusalCause) -> Self {
        self.refused = place.repository().map(|repository| Box::new((repository.clone(), refusal)));
        self
    }

    /// The same without a report about credentials, which the caller gives itself.
    pub(crate) fn settled(mut self) -> Self {
        self.refused = None;
        self
    }

    /// A refusal, with where the credentials came from; anything else as it is.
    pub(crate) fn explain_credentials(mut self, resolver: Option<&CredentialResolver>) -> Self {
        let Some((repository, refusal)) = self.refused.take().map(|refused| *refused) else { return self };
        if let Some(resolver) = resolver {
            self = self.with_credentials(&resolver.report(&repository, refusal));
        }
        let explain = invocation::command(&format!("auth explain {repository}"));
        self.hint(format!("`{explain}` shows every file, entry and helper, and what the registry answers"))
    }

    /// The same with the circumstance in front, such as `registry.example.test/acme/widget`.
    pub(crate) fn about(mut self, what: &str) -> Self {
        if !self.text.contains(what) {
            self.text = format!("{what}: {}", self.text);
        }
        self
    }

    /// What is wrong, in one line.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// A stable name of the fault; if nothing closer is known, that of the exit.
    pub(crate) fn stable_name(&self) -> &str {
        self.code.as_deref().unwrap_or_else(|| self.exit.code())
    }

    /// Why, outermost first.
    pub(crate) fn causes(&self) -> &[String] {
        &self.causes
    }

    /// Whether it says nothing about what a place holds.
    pub(crate) fn is_unasked(&self) -> bool {
        self.unasked
    }

    /// What to do about it.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    /// How the program ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Prints it: on stderr for people, and as a JSON line on stdout too where JSON was asked for.
    pub(crate) fn print(&self, json: bool) {
        if json {
            self.print_json();
        }
        printer::stderr(&self.page());
    }

    /// Prints it as a JSON line on stdout.
    pub(crate) fn print_json(&self) {
        #[derive(Serialize)]
        #[serde(tag = "event", rename = "error")]
        struct ErrorLine<'a> {
            code: &'a str,
            text: &'a str,
            causes: &'a [String],
            hints: &'a [String],
        }
        let text = match &self.excerpt {
            Some(excerpt) => &format!("{}\n{excerpt}", self.text),
            None => &self.text,
        };
        let (causes, hints) = (&self.causes, &self.hints);
        crate::report::JsonLines.add(&ErrorLine { code: self.stable_name(), text, causes, hints });
    }

    pub(crate) fn page(&self) -> Page {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let bold = Style::new().bold();
        let mut page = Page::default();
        page.push(page::Line::default().styled(red, "error:").plain(format_args!(" {}", shortened(&self.text))));
        page.block("", self.excerpt.as_deref().unwrap_or_default());
        self.causes.iter().for_each(|cause| page.line(format_args!("  cause: {}", shortened(cause))));
        if !self.hints.is_empty() {
            page.gap();
        }
        for hint in &self.hints {
            let hint = shortened(hint);
            let (first, more) = with_lines(&hint);
            page.push(page::Line::default().styled(bold, "hint:").plain(format_args!(" {first}")));
            page.block("      ", more);
        }
        page
    }
}

/// A hint, and the lines of TOML at its end.
pub(crate) fn with_lines(hint: &str) -> (&str, &str) {
    let (first, more) = hint.split_at(hint.find(IDENTITY).unwrap_or(hint.len()));
    (first, more.trim_start())
}

/// An error that says all there is to say.
trait Plain: Fault + Error + 'static {}

impl<E: Plain> From<E> for Diagnostic {
    fn from(error: E) -> Self {
        Self::fault(&error)
    }
}

/// Whether this run's verb has the options that an advice names. Those between backticks and after `tofu-oci` are of a command.
fn is_possible(hint: &str) -> bool {
    let own: String = hint.split('`').step_by(2).collect();
    let own = own.replace(RUN, "tofu-oci ");
    let own = own.split("tofu-oci ").next().unwrap_or_default();
    let words = own.split(|one: char| one != '-' && !one.is_ascii_alphanumeric());
    // A form of signature is an option of those that sign with a key.
    let is_keyless = invocation::says("keyless") || invocation::says("sign-keyless");
    let is_taken = |option: &str| invocation::takes(option) && !(is_keyless && option == "sign-format");
    words.filter_map(|word| word.strip_prefix("--")).all(|option| option.is_empty() || is_taken(option))
}

/// An advice whose command has the options of this run.
fn runnable(hint: &str) -> String {
    let Some((before, rest)) = hint.split_once(RUN) else { return hint.to_owned() };
    let (words, after) = rest.split_at(rest.find('`').unwrap_or(rest.len()));
    format!("{before}{}{}", invocation::command(words.trim_start()), runnable(after))
}

/// Where lines of TOML begin in a hint. Any other line break stays inside its line.
const IDENTITY: &str = "\n[[identity]]\n";

/// The most characters of one text that people get to read: what a server has sent may be in there, which has megabytes.
const LONGEST: usize = 8000;

/// A text without the blanks at its end, cut if it is too long for people.
fn shortened(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((end, _)) => format!("{}… (and {} characters more)", &text[..end], text[end..].chars().count()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_megabytes_from_a_server_filled_the_terminal() {
        let diagnostic =
            Diagnostic::usage("é".repeat(LONGEST + 5)).cause("y".repeat(4 << 20)).hint("z".repeat(LONGEST));
        let page = diagnostic.page().to_string();
        let counts: Vec<_> = page.lines().map(|line| line.chars().count()).collect();
        assert!(counts.iter().all(|count| *count < LONGEST + 60), "{counts:?}");
        assert!(page.contains("é… (and 5 characters more)") && page.ends_with("zz\n"), "{counts:?}");
    }

    #[test]
    fn causes_are_indented_and_hints_follow_a_blank_line() {
        let error = tofu_oci_store::StoreError::io("read", "dist", std::io::ErrorKind::NotFound.into());
        let diagnostic = Diagnostic::of(Exit::Fixable, &error).hint("name the folder that holds the zips");
        insta::assert_snapshot!(diagnostic.page().to_string(), @"
        error: cannot read dist
          cause: entity not found

        hint: name the folder that holds the zips
        ");
    }
}
