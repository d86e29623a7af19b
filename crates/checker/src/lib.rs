//! Findings about repositories, lock files and registries, and what `OpenTofu` makes of them.

pub mod facts;
pub mod opentofu;
