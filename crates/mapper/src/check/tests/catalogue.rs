//! The table of rules, the code and `docs/configuration.md` say the same.

use std::path::Path;

use super::super::RULES;
