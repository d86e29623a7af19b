//! Each rule by itself.
