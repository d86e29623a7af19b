//! The dependency lock file: read, merge and write .terraform.lock.hcl.
