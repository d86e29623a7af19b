//! The JSON form of HCL 1, as its own reader takes it: more than JSON in places (trailing commas, several keys before
//! a colon, anything after the outermost object), less in others (lists in lists, `\/`, halves of surrogate pairs).
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

/// Reads a JSON text, and what is passed over in it.
pub(crate) fn parse(text: &[u8]) -> Result<(HclBody, Vec<Overlooked>), SyntaxError> {
    let (mut body, overlooked) = parser::parse(text)?;
    flatten::flatten(&mut body);
    Ok((body, overlooked))
}
