//! The picture of a record: bars beside each peer and the limit, and time against n. It reads on light and on dark.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::growth;
use super::jobs::{self, Doer, JobLine, MeasuredJob};
use super::record::BenchRecord;
use crate::failure::{ChoreFailure, ChoreResult};

/// Pixels of the picture and of its parts.
const WIDTH: i32 = 960;
const MARGIN: i32 = 16;
const NAMES: i32 = 250;
const LINE: i32 = 20;
const JOB: i32 = 34;
const CHART: i32 = 300;

/// Greys and hues with enough contrast on white and on near black.
const TEXT: RGBColor = RGBColor(118, 125, 134);
const OURS: RGBColor = RGBColor(31, 136, 114);
const PEER: RGBColor = RGBColor(143, 148, 156);
const LIMIT: RGBColor = RGBColor(201, 125, 27);
const LINES: [RGBColor; 4] = [OURS, LIMIT, RGBColor(104, 113, 214), RGBColor(190, 90, 140)];

impl Doer {
    fn colour(self) -> RGBColor {
        match self {
            Self::Ours => OURS,
            Self::Peer => PEER,
            Self::Limit => LIMIT,
        }
    }
}

/// The picture as SVG.
///
/// # Errors
/// If nothing was measured that it shows.
pub(super) fn svg(record: &BenchRecord) -> ChoreResult<String> {
    let jobs = jobs::measured(record);
    let bars: i32 = jobs.iter().map(|job| JOB + LINE * lines_of(job)).sum();
    let height = MARGIN * 2 + LINE * 2 + bars + CHART;
    let mut text = String::new();
    {
        let size = (u32::try_from(WIDTH)?, u32::try_from(height)?);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let (upper, lower) = root.split_vertically(height - CHART);
        draw_bars(&upper, &jobs).map_err(failure)?;
        draw_growth(&lower, record).map_err(failure)?;
        root.present().map_err(failure)?;
    }
    Ok(text)
}

fn failure(error: impl std::fmt::Display) -> ChoreFailure {
    ChoreFailure::new(format!("the picture cannot be drawn: {error}"))
}

fn lines_of(job: &MeasuredJob<'_>) -> i32 {
    i32::try_from(job.lines.len()).unwrap_or(i32::MAX)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn words(size: i32, colour: RGBColor, horizontal: HPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour).pos(Pos::new(horizontal, VPos::Center))
}

/// Each job has a scale of its own: its longest bar fills the width.
fn draw_bars(area: &Area<'_>, jobs: &[MeasuredJob<'_>]) -> Drawn {
    let mut x = MARGIN;
    for (doer, name) in [(Doer::Ours, "tofu-oci"), (Doer::Peer, "what people use today"), (Doer::Limit, "limit")] {
        area.draw(&Rectangle::new([(x, MARGIN), (x + 12, MARGIN + 12)], doer.colour().filled()))?;
        area.draw(&Text::new(name, (x + 18, MARGIN + 6), words(13, TEXT, HPos::Left)))?;
        x += 180;
    }
    area.draw(&Text::new("median seconds, shorter is better", (x, MARGIN + 6), words(13, TEXT, HPos::Left)))?;
    let mut y = MARGIN + LINE;
    for job in jobs {
        y += JOB;
        area.draw(&Text::new(job.what, (MARGIN, y - 10), words(15, TEXT, HPos::Left)))?;
        let longest = job.lines.iter().map(|line| line.series.median()).fold(f64::MIN_POSITIVE, f64::max);
        for line in &job.lines {
            draw_bar(area, y, line, longest)?;
            y += LINE;
        }
    }
    Ok(())
}

fn draw_bar(area: &Area<'_>, y: i32, line: &JobLine<'_>, longest: f64) -> Drawn {
    let room = f64::from(WIDTH - NAMES - 2 * MARGIN - 70);
    #[expect(clippy::cast_possible_truncation, reason = "at most the width of the picture")]
    let length = ((line.series.median() / longest * room) as i32).max(1);
    let middle = y + LINE / 2;
    area.draw(&Text::new(line.series.name.as_str(), (NAMES - 8, middle), words(13, TEXT, HPos::Right)))?;
    let corners = [(NAMES, y + 3), (NAMES + length, y + LINE - 3)];
    area.draw(&Rectangle::new(corners, line.doer.colour().filled()))?;
    let seconds = format!("{:.3} s", line.series.median());
    area.draw(&Text::new(seconds, (NAMES + length + 6, middle), words(13, TEXT, HPos::Left)))
}

/// Time against n on doubly logarithmic paper, a line a family.
fn draw_growth(area: &Area<'_>, record: &BenchRecord) -> Drawn {
    let families = growth::measured(record);
    let points = || families.iter().flat_map(|family| family.steps.iter());
    let seconds = || points().map(|(_, series)| series.min());
    let (low, high) = (seconds().fold(f64::INFINITY, f64::min), seconds().fold(0.0, f64::max));
    if low > high {
        return Ok(());
    }
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption("install: least seconds against n", words(15, TEXT, HPos::Center))
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d((1.0..1000.0).log_scale(), (low / 2.0..high * 2.0).log_scale())?;
    chart
        .configure_mesh()
        .axis_style(TEXT)
        .bold_line_style(TEXT.mix(0.25))
        .light_line_style(TEXT.mix(0.0))
        .label_style(words(12, TEXT, HPos::Center))
        .y_labels(5)
        .x_label_formatter(&|n| format!("{n:.0}"))
        .y_label_formatter(&|seconds| format!("{seconds:.2}"))
        .draw()?;
    for (family, colour) in families.iter().zip(LINES) {
        let line: Vec<(f64, f64)> = family.steps.iter().map(|(n, series)| (*n as f64, series.min())).collect();
        let end = line.last().copied().unwrap_or((1.0, low));
        chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))?;
        chart.draw_series(line.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        let name = format!("{}, n^{:.2}", family.family.name(), family.exponents[0]);
        // A line that ends far to the left has its room on the right.
        let side = if end.0 < 30.0 { HPos::Left } else { HPos::Right };
        chart.draw_series([Text::new(name, end, words(13, colour, side).pos(Pos::new(side, VPos::Bottom)))])?;
    }
    Ok(())
}
