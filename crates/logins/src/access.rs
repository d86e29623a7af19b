//! Who this run is to registries.

use std::path::PathBuf;
use tofu_oci_fault::Fault;
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(code = "usage", end = Usage)]
pub enum UsernameError {
    #[error("--username is for one registry, and this command names none")]
    #[hint("name it: --from REGISTRY/REPOSITORY, or --from 'REGISTRY/${{namespace}}/${{type}}'")]
    #[hint("or log in once with `tofu-oci login REGISTRY --username USER`, and leave --username out")]
    NoRegistry,
    #[error("--username is for one registry, and this command names {first} and {}", others.join(" and "))]
    #[hint("log in to each with `tofu-oci login REGISTRY --username USER`, and leave --username out")]
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
