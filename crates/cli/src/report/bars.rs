//! Progress bars on a terminal: bytes and rate, one bar for each thing that moves.

use std::collections::HashMap;
use std::sync::Mutex;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tofu_oci_types::{Event, Reporter, printable};

use super::text::message;
use crate::page::Page;

/// One bar for each subject that has started and not yet finished.
pub(super) struct Bars {
    all: MultiProgress,
    running: Mutex<HashMap<String, ProgressBar>>,
}

impl Bars {
    pub(super) fn new() -> Self {
        Self { all: MultiProgress::new(), running: Mutex::new(HashMap::new()) }
    }

    fn start(&self, subject: &str, bytes: Option<u64>) {
        let bar = match bytes {
            Some(bytes) => {
                ProgressBar::new(bytes).with_style(style("{msg}  {bar:24} {bytes}/{total_bytes} {bytes_per_sec}"))
            }
            None => ProgressBar::new_spinner().with_style(style("{spinner} {msg}  {bytes} {bytes_per_sec}")),
        };
        let bar = self.all.add(bar.with_message(printable(subject).into_owned()));
        if let Ok(mut running) = self.running.lock()
            && let Some(old) = running.insert(subject.to_owned(), bar)
        {
            old.finish_and_clear();
        }
    }

    fn with(&self, subject: &str, act: impl FnOnce(&ProgressBar)) {
        if let Ok(running) = self.running.lock()
            && let Some(bar) = running.get(subject)
        {
            act(bar);
        }
    }

    fn page(&self, page: &Page) {
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let text = if is_plain { page.to_string() } else { page.coloured() };
        // Written above the bars. A lost terminal does not stop the job.
        let _ = self.all.println(text.trim_end());
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Reporter for Bars {
    fn event(&self, event: &Event) {
        match event {
            Event::Started { subject, bytes } => self.start(subject, *bytes),
            Event::Progress { subject, done } => self.with(subject, |bar| bar.set_position(*done)),
            Event::Finished { subject, outcome } => {
                if let Ok(mut running) = self.running.lock()
                    && let Some(bar) = running.remove(subject)
                {
                    bar.finish_and_clear();
                }
                self.page(&Page::of(format_args!("{subject}: {outcome}")));
            }
            Event::Message { .. } | Event::Retrying { .. } => self.page(&message(event)),
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        // After an error, bars remain that no longer move.
        let _ = self.all.clear();
    }
}
