//! The table of the house: the floor of each crate, and what its code may do.

use std::fmt;

/// A floor of the house; the order of the variants is the order of the floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Floor {
    Words,
    Rules,
    Connections,
    Registries,
    Places,
    Packages,
    Jobs,
    People,
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Words => "floor 0",
            Self::Rules => "floor 1",
            Self::Connections => "floor 1b",
            Self::Registries => "floor 1c",
            Self::Places => "floor 2",
            Self::Packages => "floor 2b",
            Self::Jobs => "floor 3",
            Self::People => "floor 4",
        })
    }
}

/// The position of a crate in the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// On a floor.
    On(Floor),
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

type Row = (&'static str, Position, Conduct);

/// Every crate: its role, its floor, its conduct.
#[rustfmt::skip]
const CRATES: &[Row] = &[
    ("types",       Position::On(Floor::Words),       Conduct::Pure),
    ("hcl",         Position::On(Floor::Words),       Conduct::Pure),
    ("disk",        Position::On(Floor::Words),       Conduct::Quiet),
    ("store",       Position::On(Floor::Rules),       Conduct::Quiet),
    ("mapper",      Position::On(Floor::Rules),       Conduct::Pure),
    ("credentials", Position::On(Floor::Rules),       Conduct::Pure),
    ("layout",      Position::On(Floor::Rules),       Conduct::Pure),
    ("archive",     Position::On(Floor::Rules),       Conduct::PureWithFiles),
    ("lockfile",    Position::On(Floor::Rules),       Conduct::PureWithFiles),
    ("trust",       Position::On(Floor::Rules),       Conduct::Pure),
    ("tfconfig",    Position::On(Floor::Rules),       Conduct::PureWithFiles),
    ("http",        Position::On(Floor::Connections), Conduct::Quiet),
    ("remote",      Position::On(Floor::Registries),  Conduct::Quiet),
    ("source",      Position::On(Floor::Places),      Conduct::Quiet),
    ("logins",      Position::On(Floor::Places),      Conduct::Quiet),
    ("fetch",       Position::On(Floor::Packages),    Conduct::Quiet),
    ("packer",      Position::On(Floor::Jobs),        Conduct::Quiet),
    ("installer",   Position::On(Floor::Jobs),        Conduct::Quiet),
    ("checker",     Position::On(Floor::Jobs),        Conduct::Quiet),
    ("explain",     Position::On(Floor::Jobs),        Conduct::Quiet),
    ("mirror",      Position::On(Floor::Jobs),        Conduct::Quiet),
    ("bridge",      Position::On(Floor::Jobs),        Conduct::Quiet),
    ("cli",         Position::On(Floor::People),      Conduct::Talking),
    ("testkit",     Position::TestsOnly,              Conduct::Talking),
    ("xtask",       Position::Chores,                 Conduct::Talking),
];

/// The position of a crate, or `None` if the table does not have it.
pub(super) fn position(role: &str) -> Option<Position> {
    row(role).map(|(_, position, _)| *position)
}

/// What the code of a crate may do. A crate that the table does not have is quiet.
pub(super) fn conduct(role: &str) -> Conduct {
    row(role).map_or(Conduct::Quiet, |(_, _, conduct)| *conduct)
}

fn row(role: &str) -> Option<&'static Row> {
    CRATES.iter().find(|(name, _, _)| *name == role)
}
