//! Tests by the case tables.

mod vectors;
