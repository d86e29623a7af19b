//! The names of our own files and folders: how they are made and recognised.

use crate::kernel;

/// The prefix of our own files in a folder of the user. Other tools ignore them.
pub const OWN_PREFIX: &str = ".tofu-oci-";

/// The file that is locked while the content of a folder is changed, and names its holder.
pub const LOCK_NAME: &str = ".tofu-oci-lock";

/// The file that names the holder of a lock of its folder. It differs from [`LOCK_NAME`], because two programs may
/// lock one folder at once: one for what a user keeps in it, one for the content that programs keep in it.
pub const HOLDER_NAME: &str = ".tofu-oci-holder";

/// What the `index.json` of an image layout was when a run last ended there: it takes the place of one that a power cut has
/// emptied.
pub const KEPT_INDEX_NAME: &str = ".tofu-oci-index.json";

/// How many random characters end a name.
pub(crate) const RANDOM: usize = 6;

/// The purpose of a folder among the system's temporary ones, which its name shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `tofu-oci-push-…`: unfinished zips and layers.
    Push,
    /// `tofu-oci-lock-…`: packages that are verified and thrown away.
    Lock,
    /// `tofu-oci-check-…`: the same, for findings.
    Check,
    /// `tofu-oci-run-…`: what the command of `run` reads.
    Run,
}

impl Purpose {
    pub(crate) const ALL: [Self; 4] = [Self::Push, Self::Lock, Self::Check, Self::Run];

    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Push => "tofu-oci-push-",
            Self::Lock => "tofu-oci-lock-",
            Self::Check => "tofu-oci-check-",
            Self::Run => "tofu-oci-run-",
        }
    }
}

/// A prefix with the label of this kernel, if it has one.
pub(crate) fn labelled(prefix: &str) -> String {
    kernel::label().map_or_else(|| prefix.to_owned(), |label| format!("{prefix}{label}-"))
}

/// Whether a program, not a person, made the end of a name: a label and random characters, or random characters alone.
pub(crate) fn is_made_up(rest: &str) -> bool {
    let word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if let Some((label, random)) = rest.split_once('-') {
        return kernel::is_label(label) && random.len() == RANDOM && word(random);
    }
    let random = rest.bytes().any(|byte| !byte.is_ascii_lowercase());
    random && word(rest) && (RANDOM..=8).contains(&rest.len())
}

/// Whether a run made this name for a file or folder that goes when the run ends.
pub(crate) fn is_temporary(name: &str) -> bool {
    let prefixes = Purpose::ALL.map(Purpose::prefix);
    let rest = prefixes.into_iter().chain([OWN_PREFIX]).find_map(|prefix| name.strip_prefix(prefix));
    rest.is_some_and(is_made_up)
}

/// The kernel under which a name was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameOrigin {
    /// This kernel, or the name does not say.
    Here,
    /// Another kernel, or an earlier run of this one.
    Elsewhere,
}

/// The origin by the part of a name after its prefix.
pub(crate) fn origin(rest: &str) -> NameOrigin {
    match rest.split_once('-') {
        Some((label, random))
            if kernel::is_label(label) && random.len() == RANDOM && Some(label) != kernel::label() =>
        {
            NameOrigin::Elsewhere
        }
        _ => NameOrigin::Here,
    }
}
