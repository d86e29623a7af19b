//! Who this run is to registries.

use std::path::PathBuf;
use tofu_oci_types::Secret;

/// Who this run is to registries.
#[derive(Clone, Debug)]
pub enum Access {
    /// Whoever the user's files and helpers say, read as `OpenTofu` would in this directory.
    Ambient {
        /// The directory of `--chdir`.
        chdir: Option<PathBuf>,
    },
    Anonymous,
    /// This user of one registry, and an anonymous caller elsewhere.
    As {
        /// The registry, as the command names it.
        registry: String,
        /// The name.
        username: String,
        /// The password, or a token in its place.
        password: Secret,
    },
}

/// Why a user name cannot be used: it is for exactly one registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsernameError {
    /// The command names no registry.
    #[error("--username is for one registry, and this command names none")]
    NoRegistry,
    /// The command names several.
    #[error("--username is for one registry, and this command names {first} and {}", others.join(" and "))]
    SeveralRegistries { first: String, others: Vec<String> },
}

/// The one registry that a command names.
///
/// # Errors
/// If it names none, or different ones.
pub fn one_registry<'a>(named: &[&'a str]) -> Result<&'a str, UsernameError> {
    match named {
        [] => Err(UsernameError::NoRegistry),
        [registry, others @ ..] if others.iter().all(|other| other == registry) => Ok(registry),
        [first, others @ ..] => Err(UsernameError::SeveralRegistries {
            first: (*first).to_owned(),
            others: others.iter().map(|other| (*other).to_owned()).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_of_one_registry() {
        assert_eq!(one_registry(&["a.example", "a.example"]), Ok("a.example"));
        assert_eq!(one_registry(&[]), Err(UsernameError::NoRegistry));
        let several = one_registry(&["a.example", "b.example", "c.example"]).map_err(|error| error.to_string());
        let text = "--username is for one registry, and this command names a.example and b.example and c.example";
        assert_eq!(several, Err(text.to_owned()));
    }
}
