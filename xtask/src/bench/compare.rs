//! A run beside an earlier one, as a Markdown page: which cases became slower, and which faster.

use super::measure::Series;
use super::record::BenchRecord;
use super::table;

/// How a case differs between two runs.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// Every round took longer than each one before.
    Slower,
    /// Every round took less than each one before.
    Faster,
    /// The rounds of both runs overlap.
    WithinSpread,
}

/// Both runs, with the cases whose name contains one of these texts; of all without a text.
pub(super) fn page(before: &BenchRecord, now: &BenchRecord, only: &[String]) -> String {
    let mut text = String::from("# A run beside an earlier one\n");
    for (name, record) in [("before", before), ("now", now)] {
        text += &format!("\n- {name}");
        for line in table::machine_lines(record).into_iter().chain(record.noise_lines()) {
            text += &format!("\n  - {line}");
        }
    }
    text += "\n\nSeconds; compare only runs of one machine. A spread says how much longer the slowest round took than the \
             fastest. A case is *slower* if even its fastest round took longer than the slowest one before, and *faster* \
             if even its slowest round took less than the fastest one before.\n\n\
             | case | least before | now | ratio | median before | now | ratio | spread before | now | |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
    let wanted = |series: &&Series| only.is_empty() || only.iter().any(|text| series.name.contains(text));
    for series in now.series.iter().filter(wanted) {
        text += &row(&series.name, before.find(&series.name), Some(series));
    }
    for series in before.series.iter().filter(wanted).filter(|series| now.find(&series.name).is_none()) {
        text += &row(&series.name, Some(series), None);
    }
    text
}

fn row(name: &str, before: Option<&Series>, now: Option<&Series>) -> String {
    let mut text = format!("| {} ", name.replace('|', "\\|"));
    let cell = |value: Option<String>| format!("| {} ", value.unwrap_or_default());
    for of in [Series::min, Series::median] {
        let seconds = [before, now].map(|series| series.map(|series| format!("{:.3}", of(series))));
        let ratio = before.zip(now).map(|(before, now)| format!("{:.2}", of(now) / of(before)));
        text.extend(seconds.into_iter().chain([ratio]).map(cell));
    }
    text.extend([before, now].map(|series| cell(series.map(|series| format!("{:.0} %", series.spread())))));
    let mark = match (before, now) {
        (Some(before), Some(now)) => match change(before, now) {
            Change::Slower => "**slower**",
            Change::Faster => "**faster**",
            Change::WithinSpread => "",
        },
        (None, _) => "only now",
        (_, None) => "only before",
    };
    text + &format!("| {mark} |\n")
}

fn change(before: &Series, now: &Series) -> Change {
    if now.min() > before.most() {
        Change::Slower
    } else if now.most() < before.min() {
        Change::Faster
    } else {
        Change::WithinSpread
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::series;
    use super::super::record::tests::record;
    use super::{Change, change, page};

    #[track_caller]
    fn check(before: &[f64], now: &[f64], want: &Change) {
        assert_eq!(change(&series("a", before), &series("a", now)), *want);
    }

    #[test]
    fn a_case_is_slower_only_beyond_the_spread_of_both_runs() {
        check(&[1.0, 1.1, 1.2], &[1.3, 1.25, 1.21], &Change::Slower);
        check(&[1.3, 1.25, 1.21], &[1.0, 1.1, 1.2], &Change::Faster);
        // Slower by least and by median.
        check(&[1.0, 1.1, 1.2], &[1.19, 1.3, 1.4], &Change::WithinSpread);
        check(&[1.0], &[1.0], &Change::WithinSpread);
    }

    #[test]
    fn the_page_has_every_case_of_both_runs() {
        let before =
            record(vec![series("install", &[1.0, 1.5]), series("gone", &[2.0]), series("curl | curl", &[1.0])]);
        let now = record(vec![series("curl | curl", &[0.5]), series("install", &[1.2, 1.4]), series("new", &[3.0])]);
        let rows = |only: &[String]| {
            let page = page(&before, &now, only);
            page.lines().filter(|line| line.starts_with('|')).skip(2).map(str::to_owned).collect::<Vec<_>>()
        };
        let want = [
            r"| curl \| curl | 1.000 | 0.500 | 0.50 | 1.000 | 0.500 | 0.50 | 0 % | 0 % | **faster** |",
            "| install | 1.000 | 1.200 | 1.20 | 1.500 | 1.400 | 0.93 | 50 % | 17 % |  |",
            "| new |  | 3.000 |  |  | 3.000 |  |  | 0 % | only now |",
            "| gone | 2.000 |  |  | 2.000 |  |  | 0 % |  | only before |",
        ];
        assert_eq!(rows(&[]), want);
        assert_eq!(rows(&["inst".to_owned()]), want[1..2]);
    }
}
