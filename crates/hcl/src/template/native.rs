//! The text of a file in the language's native syntax.

use hcl_edit::Decorated;
use hcl_edit::Span;
use hcl_edit::Spanned;
use hcl_edit::visit::Visit;

/// The text of a file in the language's native syntax. As for HCL, its comments may hold any bytes.
///
/// # Errors
/// The text before the first other byte that is not UTF-8.
pub fn native_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let body = text.trim_start_matches('\u{feff}');
        let wrong = match hcl_edit::parser::parse_body(body) {
            Ok(parsed) => {
                let mut texts = Texts { of: body, wrong: None };
                texts.visit_body(&parsed);
                texts.wrong
            }
            // Any other fault is for the reader of the text to tell.
            Err(error) => {
                let at = error.location().offset();
                body.get(at..).is_some_and(|rest| rest.starts_with('\u{fffd}')).then_some(at)
            }
        };
        match wrong {
            Some(at) => Err(text[..at + text.len() - body.len()].to_owned()),
            None => Ok(text),
        }
    })
}

/// Finds the first replaced byte in what is no comment.
struct Texts<'a> {
    of: &'a str,
    wrong: Option<usize>,
}

impl Texts<'_> {
    fn look(&mut self, text: &impl Span) {
        let span = text.span().unwrap_or_default();
        let at = self.of.get(span.clone()).and_then(|text| text.find('\u{fffd}')).map(|at| span.start + at);
        self.wrong = self.wrong.into_iter().chain(at).min();
    }
}

impl Visit for Texts<'_> {
    fn visit_string(&mut self, text: &Decorated<String>) {
        self.look(text);
    }

    fn visit_literal(&mut self, text: &Spanned<String>) {
        self.look(text);
    }
}
