//! How paths are named for people.

use std::path::{Path, PathBuf};

use tofu_oci_mapper::config::Environment;

/// Names paths for people: the home folder as `~`.
#[derive(Clone, Debug)]
pub struct PathNames {
    home: Option<PathBuf>,
}

impl PathNames {
    /// With the home folder of this user.
    pub fn new(environment: &Environment) -> Self {
        // If the home folder were the root, every path would begin with `~`.
        Self { home: environment.home.clone().filter(|home| home.parent().is_some()) }
    }

    pub fn name(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
            None => path.display().to_string(),
        }
    }

    /// The path that a shell would make of `~/REST`; `None` if the text does not begin so.
    pub fn expand(&self, written: &str) -> Option<PathBuf> {
        let rest = written.strip_prefix("~/")?;
        Some(self.home.as_ref()?.join(rest))
    }
}
