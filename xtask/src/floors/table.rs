//! The table of the house: the floor of each crate, and what its code may do.

use std::fmt;

/// A floor of the house; the order of the variants is the order of the floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HouseFloor {
    Letters,
    Words,
    Languages,
    Rules,
    Connections,
    Registries,
    Places,
    Packages,
    Jobs,
    Carriers,
    Servers,
    People,
}

impl fmt::Display for HouseFloor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Letters => "the cellar",
            Self::Words => "floor 0",
            Self::Languages => "floor 0b",
            Self::Rules => "floor 1",
            Self::Connections => "floor 1b",
            Self::Registries => "floor 1c",
            Self::Places => "floor 2",
            Self::Packages => "floor 2b",
            Self::Jobs => "floor 3",
            Self::Carriers => "floor 3b",
            Self::Servers => "floor 3c",
            Self::People => "floor 4",
        })
    }
}

/// The position of a crate in the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HousePosition {
    /// On a floor.
    On(HouseFloor),
    /// Beside the house: only tests use it, and it uses floors 0 and 1.
    TestsOnly,
    /// The chores: no crate uses them, and they may use every crate.
    Chores,
}

/// What the code of a crate may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conduct {
    /// Text and bytes in, values out: it has no `async`, and reaches no crate that has.
    Pure,
    /// As `Pure`, except that it reads and writes files with `disk`, whose locks wait with tokio.
    PureWithFiles,
    /// It waits and does IO, and neither prints nor reads the environment.
    Quiet,
    /// It may print, read the environment and exit.
    Talking,
}

type TableRow = (&'static str, HousePosition, Conduct);

/// Every crate: its role, its floor, its conduct.
#[rustfmt::skip]
const CRATES: &[TableRow] = &[
    ("fault",       HousePosition::On(HouseFloor::Letters),     Conduct::Pure),
    ("types",       HousePosition::On(HouseFloor::Words),       Conduct::Pure),
    ("hcl",         HousePosition::On(HouseFloor::Languages),   Conduct::Pure),
    ("disk",        HousePosition::On(HouseFloor::Languages),     Conduct::Quiet),
    ("store",       HousePosition::On(HouseFloor::Rules),       Conduct::Quiet),
    ("mapper",      HousePosition::On(HouseFloor::Rules),       Conduct::Pure),
    ("credentials", HousePosition::On(HouseFloor::Rules),       Conduct::Pure),
    ("layout",      HousePosition::On(HouseFloor::Rules),       Conduct::Pure),
    ("docs",        HousePosition::On(HouseFloor::Rules),       Conduct::Pure),
    ("archive",     HousePosition::On(HouseFloor::Rules),       Conduct::PureWithFiles),
    ("lockfile",    HousePosition::On(HouseFloor::Rules),       Conduct::PureWithFiles),
    ("trust",       HousePosition::On(HouseFloor::Rules),       Conduct::Pure),
    ("tfconfig",    HousePosition::On(HouseFloor::Rules),       Conduct::PureWithFiles),
    ("http",        HousePosition::On(HouseFloor::Connections), Conduct::Quiet),
    ("remote",      HousePosition::On(HouseFloor::Registries),  Conduct::Quiet),
    ("source",      HousePosition::On(HouseFloor::Places),      Conduct::Quiet),
    ("logins",      HousePosition::On(HouseFloor::Places),      Conduct::Quiet),
    ("fetch",       HousePosition::On(HouseFloor::Packages),    Conduct::Quiet),
    ("packer",      HousePosition::On(HouseFloor::Jobs),        Conduct::Quiet),
    ("installer",   HousePosition::On(HouseFloor::Jobs),        Conduct::Quiet),
    ("checker",     HousePosition::On(HouseFloor::Jobs),        Conduct::Quiet),
    ("explain",     HousePosition::On(HouseFloor::Jobs),        Conduct::Quiet),
    ("mirror",      HousePosition::On(HouseFloor::Carriers),    Conduct::Quiet),
    ("bridge",      HousePosition::On(HouseFloor::Servers),     Conduct::Quiet),
    ("cli",         HousePosition::On(HouseFloor::People),      Conduct::Talking),
    ("testkit",     HousePosition::TestsOnly,              Conduct::Talking),
    ("vectors",     HousePosition::TestsOnly,              Conduct::Talking),
    ("fuzzing",     HousePosition::Chores,                 Conduct::Talking),
    ("xtask",       HousePosition::Chores,                 Conduct::Talking),
];

/// The position of a crate, or `None` if the table does not have it.
pub(super) fn position(role: &str) -> Option<HousePosition> {
    row(role).map(|(_, position, _)| *position)
}

/// What the code of a crate may do. A crate that the table does not have is quiet.
pub(super) fn conduct(role: &str) -> Conduct {
    row(role).map_or(Conduct::Quiet, |(_, _, conduct)| *conduct)
}

fn row(role: &str) -> Option<&'static TableRow> {
    CRATES.iter().find(|(name, _, _)| *name == role)
}

/// Enums that have the variants of another one, and another meaning.
pub(super) const OTHER_MEANING: &[&str] = &[
    "Repetition",       // of an advice; `ChallengeStage` is of a conversation
    "UnknownPlatforms", // `Rename` is about providers
    "Duplicates",       // of arguments; `AddressKeys` is about maps
    "HostService",      // of a host; `TemplateOf` is what a repository template is for
];
