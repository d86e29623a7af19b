//! Test support: an in-process registry with faults, fixtures and a test context.
