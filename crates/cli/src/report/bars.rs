//! Which bars a terminal shows, and when: one for each thing that moves and for each work that is counted. A bar
//! appears after a second, so that nothing flickers, and goes when its work is done; the result is said on stdout.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tofu_oci_types::{Event, Reporter, WorkUnit, human_bytes, printable};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::text::{human_time, message};
use crate::printer;
use crate::terminal;

/// How old a work is when its bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often bars are drawn anew.
const TICK: Duration = Duration::from_millis(100);

/// Below this many columns a bar has no room beside its numbers.
const NARROW: usize = 80;

/// So many items say something about the time that the rest takes.
const FEW: u64 = 10;

/// One bar for each subject that has started and not yet finished.
pub(super) struct Bars(Arc<Mutex<Running>>);

#[derive(Default)]
struct Running {
    works: HashMap<String, Work>,
    /// Whether a thread draws them.
    drawn: bool,
}

/// A work that is not done.
struct Work {
    since: Instant,
    bar: ProgressBar,
    shown: bool,
}

impl Bars {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    fn start(&self, subject: &str, of: Option<u64>, unit: WorkUnit) {
        let bar = ProgressBar::with_draw_target(of, ProgressDrawTarget::hidden());
        let bar = bar.with_style(style(unit, of)).with_message(cut(&printable(subject), terminal::stderr_columns()));
        let mut running = lock(&self.0);
        if !std::mem::replace(&mut running.drawn, true) {
            printer::begin_bars();
            let all = Arc::downgrade(&self.0);
            std::thread::spawn(move || {
                while draw(&all) {
                    std::thread::sleep(TICK);
                }
            });
        }
        if let Some(old) = running.works.insert(subject.to_owned(), Work { since: Instant::now(), bar, shown: false }) {
            old.end();
        }
    }

    fn working(&self, subject: &str, done: u64, of: u64, unit: WorkUnit) {
        if done >= of {
            return self.end(subject);
        }
        if !lock(&self.0).works.contains_key(subject) {
            self.start(subject, Some(of), unit);
        }
        if let Some(work) = lock(&self.0).works.get(subject) {
            work.bar.set_length(of);
            work.bar.set_position(done);
        }
    }

    fn end(&self, subject: &str) {
        if let Some(work) = lock(&self.0).works.remove(subject) {
            work.end();
        }
    }
}

impl Work {
    fn end(self) {
        printer::draw(|_| self.bar.finish_and_clear());
    }
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the bars that have become old enough, and how far the others are. False if all work is done.
fn draw(running: &Weak<Mutex<Running>>) -> bool {
    let Some(running) = running.upgrade() else { return false };
    let mut running = lock(&running);
    for work in running.works.values_mut().filter(|work| work.since.elapsed() >= PATIENCE) {
        printer::draw(|all| {
            if !work.shown {
                work.bar = all.add(work.bar.clone());
                work.shown = true;
            }
            work.bar.tick();
        });
    }
    running.drawn = !running.works.is_empty();
    running.drawn
}

/// Name, bar, how much of it is done, the rate, and how long it will take. Plain characters, for every locale.
fn style(unit: WorkUnit, of: Option<u64>) -> ProgressStyle {
    let is_narrow = terminal::stderr_columns().is_some_and(|columns| columns < NARROW);
    let template = match of {
        Some(_) if is_narrow => "{wide_msg} {percent}%{left}",
        Some(_) => "{wide_msg} [{bar:12}] {amount}{left}",
        None => "{wide_msg} {amount}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Writing to a bar cannot fail.
    let amount =
        move |state: &ProgressState, out: &mut dyn Write| out.write_str(&amount(state, unit)).unwrap_or_default();
    let left = move |state: &ProgressState, out: &mut dyn Write| out.write_str(&left(state, unit)).unwrap_or_default();
    style.progress_chars("=> ").with_key("amount", amount).with_key("left", left)
}

/// The name as its columns allow: without its beginning, since the end tells one package from another.
fn cut(name: &str, columns: Option<usize>) -> String {
    /// What the numbers take, without the bar and with it.
    const NUMBERS: (usize, usize) = (22, 55);
    let Some(columns) = columns else { return name.to_owned() };
    let room = columns.saturating_sub(if columns < NARROW { NUMBERS.0 } else { NUMBERS.1 });
    if name.width() <= room {
        return name.to_owned();
    }
    let mut used = 3;
    let fits = |one: &(usize, char)| {
        used += one.1.width().unwrap_or_default();
        used <= room
    };
    let start = name.char_indices().rev().take_while(fits).last().map_or(name.len(), |(at, _)| at);
    format!("...{}", &name[start..])
}

/// `3/8`, or `12.3 MB of 148.0 MB, 4.1 MB/s`.
fn amount(state: &ProgressState, unit: WorkUnit) -> String {
    let (done, of) = (state.pos(), state.len());
    match (unit, of) {
        (WorkUnit::Items, Some(of)) => format!("{done}/{of}"),
        (WorkUnit::Items, None) => done.to_string(),
        (WorkUnit::Bytes, of) => {
            let rate = u128::from(done) * 1000 / state.elapsed().as_millis().max(1);
            let rate = human_bytes(rate.try_into().unwrap_or(u64::MAX));
            let of = of.map(|of| format!(" of {}", human_bytes(of))).unwrap_or_default();
            format!("{}{of}, {rate}/s", human_bytes(done))
        }
    }
}

/// How long it will take at the rate so far; empty as long as too little is known for that. A few items say nothing: one
/// may be a thousand times as large as another.
fn left(state: &ProgressState, unit: WorkUnit) -> String {
    let (done, of) = (state.pos(), state.len().unwrap_or_default());
    if done == 0 || done > of || (unit == WorkUnit::Items && of < FEW) {
        return String::new();
    }
    let millis = state.elapsed().as_millis() * u128::from(of - done) / u128::from(done);
    format!(", {} left", human_time(millis))
}

impl Reporter for Bars {
    fn event(&self, event: &Event) {
        match event {
            Event::Started { subject, bytes } => self.start(subject, *bytes, WorkUnit::Bytes),
            Event::Progress { subject, done } => {
                if let Some(work) = lock(&self.0).works.get(subject) {
                    work.bar.set_position(*done);
                }
            }
            Event::Working { subject, done, of, unit } => self.working(subject, *done, *of, *unit),
            Event::Finished { subject, .. } => self.end(subject),
            Event::Message { .. } | Event::Retrying { .. } => printer::stderr(&message(event)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_cut_the_end_of_the_name() {
        let name = "ghcr.io/acme/opentofu-provider-widget 1.4.0 linux_amd64";
        let short = cut(name, Some(60));
        assert!(
            short.starts_with("...") && short.ends_with("widget 1.4.0 linux_amd64") && short.len() == 38,
            "{short}"
        );
        assert_eq!(cut(name, Some(200)), name);
        assert_eq!(cut(name, None), name);
        assert_eq!(cut(name, Some(10)), "...");
    }
}
