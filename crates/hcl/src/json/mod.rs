//! The JSON form of HCL 1, as its own reader takes it. It accepts more than JSON (trailing commas, several keys before
//! a colon, anything after the outermost object), and less (no lists in lists, no `\/`, no halves of surrogate pairs).
//!
//! ```text
//! {"a": {"b": {"c": {}}}}      a "b" "c" {}          objects that hold objects alone become blocks with labels
//! {"a": {"b": {}, "c": 1}}     a { b {} c = 1 }      anything else in them, and they stay
//! {"a": [{}, {}]}              a {} a {}             lists that hold objects alone become blocks
//! ```

mod flatten;
mod parser;
mod scanner;

use crate::{HclBody, Overlooked, SyntaxError};

/// Reads a JSON text, and collects what HCL 1 ignores in it.
pub(crate) fn parse(text: &[u8]) -> Result<(HclBody, Vec<Overlooked>), SyntaxError> {
    let (mut body, overlooked) = parser::parse(text)?;
    flatten::flatten(&mut body);
    Ok((body, overlooked))
}
