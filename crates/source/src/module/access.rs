//! Whether a location is read with the user's logins.

/// Which logins a location is shown that a registry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationAccess {
    /// Those of the user, who reads it for themself.
    User,
    /// None: others read what comes, and the registry could name whatever the logins read.
    Anonymous,
}
