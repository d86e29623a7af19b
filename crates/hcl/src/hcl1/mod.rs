//! The native syntax of HCL 1.

mod diagnose;
mod heredoc;
mod parser;
mod scanner;
mod source;
mod stop;

use self::source::Hcl1Source;
use crate::{Duplicates, HclDocument, HclSyntax, SyntaxError, json};

/// Reads a text as HCL 1 does: as JSON if its first character is `{`, otherwise as the native syntax.
///
/// Spec: hashicorp/hcl v1.0.1-vault-7 and -vault-5, measured.
pub fn parse(text: &str, duplicates: Duplicates) -> Result<HclDocument, SyntaxError> {
    parse_bytes(text.as_bytes(), duplicates)
}

/// As [`parse`], for bytes that need not be UTF-8. They are an error, except after the
/// outermost object of a JSON text, which HCL 1 does not read.
pub fn parse_bytes(text: &[u8], duplicates: Duplicates) -> Result<HclDocument, SyntaxError> {
    if is_json(text) {
        let (body, overlooked) = json::parse(text)?;
        return Ok(HclDocument { body, syntax: HclSyntax::Json, overlooked });
    }
    let (body, overlooked) = parser::parse(&Hcl1Source::new(text), duplicates)?;
    Ok(HclDocument { body, syntax: HclSyntax::Native, overlooked })
}

fn is_json(text: &[u8]) -> bool {
    let text = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    text.trim_start().starts_with('{')
}
