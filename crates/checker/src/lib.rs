//! Findings about repositories, lock files and registries, and what `OpenTofu` makes of them.
