//! Two languages, as their own libraries read them: text in, values with their places out.
//!
//! The CLI configuration is written in HCL 1 (or in its JSON form), and the texts inside it are templates of HCL 2.
//! This crate knows both languages, and nothing of what the texts mean.
//!
//! ```text
//! text --parse--> Document { Body { Item { keys, value } } }     every part with its bytes in the text
//!                    |
//!                    +--decode--> Decoded                        texts, numbers, lists and maps, weakly typed
//! ```
//!
//! This crate accepts and refuses what HCL 1 does: a file means here what it means to the program that it was written
//! for. Only the underlined bytes of a mistake are our own choice: see [`SyntaxError::span`].

mod ast;
mod cursor;
mod decode;
mod error;
mod hcl1;
mod json;
mod letters;
mod lexeme;
pub mod template;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub use ast::{
    Duplicates, HclBody, HclDocument, HclItem, HclKey, HclSyntax, HclValue, OffsetMap, Overlooked, Text, TextFault,
};
pub use decode::{DecodeError, DecodeErrorKind, DecodeNode, DecodeShape, Decoded, ItemView, MapMembers, equal_fold};
pub use error::{SyntaxError, SyntaxErrorKind};
pub use hcl1::{parse, parse_bytes};
pub use write::{hcl1_string, hcl2_string, hcl2_template};

/// The deepest nesting of blocks, objects and lists. HCL 1 has no limit: it recurses until its stack overflows, and
/// crashes.
pub const MAX_DEPTH: usize = 200;
