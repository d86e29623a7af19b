//! Evidence and bytes in, a verdict out.

mod evidence;

pub use evidence::Evidence;
