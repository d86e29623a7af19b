//! The JSON form of HCL 1.
