//! Tests of the crate as a whole: by case tables, by another library, and that no secret is shown.

mod oracle;
mod secrecy;
mod vectors;
