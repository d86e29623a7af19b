//! Runs that meet on one disk.
//!
//! ```text
//! Lockable  --lock, Waiter-->  Lock           names its holder; waiting is reported after a second, and ends
//! folder    --Scratch, ScratchFile-->           temporary, locked while they are in use
//! file      --open_file, read_file-->           read within a limit, and never waited for
//!           --PrivateFile-->                     replaced as a whole, for its owner alone
//!           --sweep-->                          removes what killed runs have left: what no run has locked
//! ```
//!
//! It knows no word of the domain and prints nothing: the caller of `lock` passes a function that reports the wait.

mod holder;
mod kernel;
mod lock;
mod names;
mod private_file;
mod read;
mod scratch;
mod sweep;

pub use holder::Holder;
pub use lock::{Held, Lock, LockError, Lockable, Waiter, lock};
pub use names::{HOLDER_NAME, LOCK_NAME, OWN_PREFIX, Purpose};
pub use private_file::{PrivateFile, StagedFile};
pub use read::{is_descriptor, open_file, read_file};
pub use scratch::{Scratch, ScratchFile};
pub use sweep::{Whose, sweep};
