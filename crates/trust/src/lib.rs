//! Evidence and bytes in, a verdict out.
