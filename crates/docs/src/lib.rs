//! The documentation of a provider, as its `docs/` or `website/docs/` folder holds it.
//!
//! ```text
//! docs/resources/widget.md, website/docs/r/widget.html.markdown  --PageName::of_file-->  resources/widget
//! files      --ProviderDocs::of_files-->  pages by name, each with its front matter and text
//! a link     --ProviderDocs::linked-->    the page that it leads to
//! a text     --arguments-->               the names in its lists of arguments
//! two trees  --DocsDifference::between--> pages and arguments that came and went
//! ```
//!
//! Markdown stays text here: whoever shows it makes it harmless.
//!
//! Spec: Terraform Registry, "Provider Documentation" (names of folders and files, front matter); terraform-plugin-docs.

mod arguments;
mod difference;
mod front_matter;
mod links;
mod page_name;
mod provider_docs;

pub use arguments::arguments;
pub use difference::{ChangedPage, DocsDifference};
pub use page_name::{InvalidPageName, PageKind, PageName};
pub use provider_docs::{DocPage, ProviderDocs};

/// The most bytes that the files of a provider's documentation may have together: 8 MiB.
pub const MOST_BYTES: u64 = 8 << 20;
/// The most pages.
pub const MOST_PAGES: usize = 5_000;
