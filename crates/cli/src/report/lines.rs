//! One plain line on stderr for each finished subject, for logs and pipes.

use std::collections::HashMap;
use std::sync::Mutex;

use tofu_oci_types::{Event, Reporter, human_bytes};

use super::text::message;
use crate::page::Page;
use crate::printer;

/// Remembers the sizes of what has started, to name them at the end.
#[derive(Default)]
pub(super) struct Lines {
    sizes: Mutex<HashMap<String, u64>>,
}

impl Reporter for Lines {
    fn event(&self, event: &Event) {
        match event {
            Event::Started { subject, bytes } => {
                if let (Some(bytes), Ok(mut sizes)) = (bytes, self.sizes.lock()) {
                    sizes.insert(subject.clone(), *bytes);
                }
            }
            Event::Finished { subject, outcome } => {
                let size = self.sizes.lock().ok().and_then(|mut sizes| sizes.remove(subject));
                let size = size.map(|bytes| format!(" ({})", human_bytes(bytes))).unwrap_or_default();
                let outcome = outcome.replace('-', " ");
                printer::stderr(&Page::of(format_args!("{subject}: {outcome}{size}")));
            }
            Event::Message { .. } | Event::Retrying { .. } => printer::stderr(&message(event)),
            Event::Progress { .. } | Event::Working { .. } => {}
        }
    }
}
