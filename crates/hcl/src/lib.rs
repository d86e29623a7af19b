//! Two languages, read as their own libraries read them: text in, values with their places out.
//!
//! The CLI configuration is written in HCL 1 (or in its JSON form), and the texts inside it are templates of HCL 2.
//! This crate knows both languages and no word of what is written in them.
//!
//! ```text
//! text --parse--> Document { Body { Item { keys, value } } }     every part with its bytes in the text
//!                    |
//!                    +--decode--> Decoded                        texts, numbers, lists and maps, weakly typed
//! ```
//!
//! What HCL 1 accepts is accepted, and what it refuses is refused: a file means here what it means to the program
//! that it was written for. Where a mistake is underlined is our own: see [`SyntaxError::span`].

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

pub use ast::{
    Duplicates, HclBody, HclDocument, HclItem, HclKey, HclSyntax, HclValue, OffsetMap, Overlooked, Text, TextFault,
};
pub use decode::{DecodeError, DecodeErrorKind, DecodeNode, DecodeShape, Decoded, ItemView, MapMembers, equal_fold};
pub use error::{SyntaxError, SyntaxErrorKind};
pub use hcl1::{parse, parse_bytes};

/// How deep blocks, objects and lists may stand in each other. HCL 1 has no limit of its own; it recurses until its
/// memory for that is used up and crashes.
pub const MAX_DEPTH: usize = 200;
