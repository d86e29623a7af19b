//! From a body to the values that a program wants, with HCL 1's weak typing.
//!
//! ```text
//! wanted      taken                                         refused
//! Text        a text, a whole number as written, null ""    true, false, 2.5, a list, an object
//! Bool        true, false                                   "true", 1
//! Integer     a whole number, a text that is one            true, 2.5, a heredoc
//! List        a list, an object as its only element         a single value
//! Map         an object or blocks                           anything else
//! ```
//!
//! Names are compared without regard to case. If a name is repeated, lists grow, and of
//! anything else the last counts. A block with labels is accepted as a map or a list of objects.
//!
//! Spec: hashicorp/hcl v1.0.1-vault-7 and -vault-5, measured.

mod decoded;
mod error;
mod fold;
mod integer;
mod node;
mod reader;

pub use self::decoded::{DecodeShape, Decoded};
pub use self::error::{DecodeError, DecodeErrorKind};
pub use self::fold::equal_fold;
pub use self::node::{DecodeNode, ItemView, MapMembers};
use self::reader::ShapeReader;
use crate::{Duplicates, HclBody};

impl HclBody {
    /// The whole body as `shape`: a map or a struct.
    pub fn decode(&self, shape: &DecodeShape, duplicates: Duplicates) -> Result<Decoded, DecodeError> {
        DecodeNode::of_body(self).decode(shape, duplicates)
    }

    /// The value of `name`, as `shape`; `None` if it is not given.
    ///
    /// A struct reads its fields in the order of the program, and the first error ends it: ask in the same order.
    pub fn field(
        &self,
        name: &'static str,
        shape: DecodeShape,
        duplicates: Duplicates,
    ) -> Result<Option<Decoded>, DecodeError> {
        DecodeNode::of_body(self).argument(name, shape, duplicates)
    }
}

impl DecodeNode<'_> {
    /// The value of an argument; `None` if it is not given.
    ///
    /// # Errors
    /// When it has not this shape.
    pub fn argument(
        &self,
        name: &'static str,
        shape: DecodeShape,
        duplicates: Duplicates,
    ) -> Result<Option<Decoded>, DecodeError> {
        let fields = self.decode(&DecodeShape::Struct(vec![(name, shape)]), duplicates)?.into_map();
        Ok(fields.and_then(|mut fields| fields.remove(name)))
    }

    /// The whole as `shape`.
    ///
    /// # Errors
    /// When it has not this shape.
    pub fn decode(&self, shape: &DecodeShape, duplicates: Duplicates) -> Result<Decoded, DecodeError> {
        ShapeReader::new(duplicates).read("", self, shape, None).map_err(|error| *error)
    }
}
