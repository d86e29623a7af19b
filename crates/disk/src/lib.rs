//! Runs that meet on one disk.
//!
//! ```text
//! Lockable  --lock, Waiter-->  Lock           names its holder; reports a wait after a second, and limits it
//! folder    --Scratch, ScratchFile-->           temporary, locked while they are in use
//! file      --open_file, read_file-->           reads within a limit, and never waits
//!           --PrivateFile-->                     replaced as a whole, for its owner alone
//!           --require_own_folder-->             refuses a folder whose files others could exchange
//!           --FileIdentity-->                  changes when a file changes
//!           --FileError-->                     what could not be done, and what to do about it
//! folder    --sync_tree-->                      outlasts a power cut
//!           --sweep-->                          removes the leftovers of killed runs: what no run has locked
//! ```
//!
//! It does not know the domain and prints nothing: the caller of `lock` passes a function that reports the wait.

mod file_error;
mod holder;
mod identity;
mod inside;
mod kernel;
mod lock;
mod names;
mod outlast;
mod own_folder;
mod private_file;
mod read;
mod scratch;
mod sweep;

pub use file_error::FileError;
pub use holder::Holder;
pub use identity::{FileIdentity, device};
pub use inside::{leads_out, link_out_of, open_inside};
pub use kernel::label as kernel_label;
pub use lock::{Held, Lock, LockError, Lockable, Waiter, lock, try_lock};
pub use names::{HOLDER_NAME, KEPT_INDEX_NAME, LOCK_NAME, OWN_PREFIX, Purpose};
pub use outlast::{sync_folder, sync_tree};
pub use own_folder::{FolderFault, require_ours, require_own_folder, require_way};
pub use private_file::{PrivateFile, StagedFile, make_private_folder, resolve_links};
pub use read::{is_descriptor, open_file, read_file};
pub use scratch::{Scratch, ScratchFile};
pub use sweep::{FolderOwner, sweep};
