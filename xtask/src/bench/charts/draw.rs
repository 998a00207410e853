//! Bars and lines, as SVG.

use std::error::Error;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::super::line::Spread;

const SIZE: (u32, u32) = (960, 480);
/// Between the bottom of the plot and that of the picture: labels and footer.
const BELOW: u32 = 64;
const INK: RGBColor = RGBColor(60, 60, 60);
const FONT: &str = "sans-serif";

type Drawing<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), Box<dyn Error>>;

/// What the bars of one colour are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Series {
    BareCt,
    StackCt,
    BareMt2,
    StackMt2,
    Ct,
    Mt2,
}

impl Series {
    const fn name(self) -> &'static str {
        match self {
            Self::BareCt => "bare, ct",
            Self::StackCt => "whole stack, ct",
            Self::BareMt2 => "bare, mt2",
            Self::StackMt2 => "whole stack, mt2",
            Self::Ct => "ct",
            Self::Mt2 => "mt2",
        }
    }

    /// Blue is one thread, orange two; they differ in lightness, too.
    const fn color(self) -> RGBColor {
        match self {
            Self::BareCt => RGBColor(158, 202, 225),
            Self::StackCt | Self::Ct => RGBColor(33, 113, 181),
            Self::BareMt2 => RGBColor(253, 190, 133),
            Self::StackMt2 | Self::Mt2 => RGBColor(217, 95, 14),
        }
    }
}

/// Bars that stand together: one a series, where it was measured.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) label: &'static str,
    pub(super) bars: Vec<Option<Spread>>,
}

/// A floor: a line across.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) at: f64,
}

/// A chart of bars.
#[derive(Debug)]
pub(super) struct Bars {
    pub(super) series: Vec<Series>,
    pub(super) groups: Vec<Group>,
    pub(super) lines: Vec<Line>,
}

/// A line through points.
#[derive(Debug)]
pub(super) struct Trend {
    /// Where each is, what it is called, and its time.
    pub(super) points: Vec<(f64, &'static str, Spread)>,
    pub(super) floors: Vec<Line>,
}

fn text(size: u32, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK).pos(Pos::new(horizontal, vertical))
}

/// The empty chart: title, footer, a grid of times up to `highest`.
fn frame<'a, 'b>(
    area: &'a Drawing<'b>,
    title: &str,
    footer: &str,
    width: std::ops::Range<f64>,
    highest: f64,
) -> Result<Plot<'a, 'b>, Box<dyn Error>> {
    area.fill(&WHITE)?;
    let bottom = SIZE.1.cast_signed() - 8;
    area.draw(&Text::new(footer.to_owned(), (16, bottom), text(11, HPos::Left, VPos::Bottom)))?;
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 20).into_font().color(&INK))
        .margin_top(8)
        .margin_right(16)
        .margin_left(8)
        .margin_bottom(BELOW)
        .y_label_area_size(60)
        .build_cartesian_2d(width, 0.0..highest.max(1.0) * 1.15)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().disable_x_axis().light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.12));
    mesh.axis_style(BLACK.mix(0.3)).label_style((FONT, 12).into_font().color(&INK));
    mesh.y_desc("ns a job").y_label_formatter(&|time| format!("{time:.0}")).draw()?;
    Ok(chart)
}

/// Floors: lines across, told under the plot, for bars would hide it.
fn across(area: &Drawing<'_>, chart: &Plot<'_, '_>, lines: &[Line]) -> Drawn {
    for line in lines {
        let ends = [chart.x_range().start, chart.x_range().end].map(|x| chart.backend_coord(&(x, line.at)));
        area.draw(&PathElement::new(ends.to_vec(), BLACK.mix(0.7)))?;
    }
    let labels: Vec<_> = lines.iter().map(|line| format!("floor {}: {:.1}", line.name, line.at)).collect();
    let place = (SIZE.0.cast_signed() - 16, SIZE.1.cast_signed() - 30);
    area.draw(&Text::new(labels.join(", "), place, text(12, HPos::Right, VPos::Center)))?;
    Ok(())
}

/// Grouped bars with a whisker from the fastest run to the slowest, and the median in figures.
pub(super) fn bars(title: &str, footer: &str, bars: &Bars) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let all = || bars.groups.iter().flat_map(|group| group.bars.iter().flatten());
        let highest = all().map(|time| time.max).fold(0.0, f64::max);
        let groups = u32::try_from(bars.groups.len())?;
        let chart = frame(&area, title, footer, 0.0..f64::from(groups), highest)?;
        let part = 0.8 / f64::from(u32::try_from(bars.series.len())?);
        for (nth, group) in (0_u32..).zip(&bars.groups) {
            let left = f64::from(nth) + 0.1;
            for ((place, series), time) in (0_u32..).zip(&bars.series).zip(&group.bars) {
                let Some(time) = time else { continue };
                bar(&area, &chart, left + part * f64::from(place), part, *series, *time)?;
            }
            let (x, y) = chart.backend_coord(&(f64::from(nth) + 0.5, 0.0));
            area.draw(&Text::new(group.label, (x, y + 6), text(13, HPos::Center, VPos::Top)))?;
        }
        across(&area, &chart, &bars.lines)?;
        legend(&area, &bars.series)?;
        area.present()?;
    }
    Ok(svg)
}

fn bar(area: &Drawing<'_>, chart: &Plot<'_, '_>, left: f64, width: f64, series: Series, time: Spread) -> Drawn {
    let at = |x, y| chart.backend_coord(&(x, y));
    let (right, middle) = (left + width * 0.92, left + width * 0.46);
    area.draw(&Rectangle::new([at(left, time.median), at(right, 0.0)], series.color().filled()))?;
    area.draw(&PathElement::new(vec![at(middle, time.min), at(middle, time.max)], BLACK.mix(0.5)))?;
    let (x, y) = at(middle, time.max);
    area.draw(&Text::new(format!("{:.0}", time.median), (x, y - 3), text(11, HPos::Center, VPos::Bottom)))?;
    Ok(())
}

/// The colours, in a row under the labels.
fn legend(area: &Drawing<'_>, series: &[Series]) -> Drawn {
    let y = SIZE.1.cast_signed() - 36;
    let mut x = 76;
    for one in series {
        area.draw(&Rectangle::new([(x, y), (x + 12, y + 12)], one.color().filled()))?;
        area.draw(&Text::new(one.name(), (x + 18, y + 6), text(12, HPos::Left, VPos::Center)))?;
        x += 150;
    }
    Ok(())
}

/// A line through the medians, whiskers, and the floor.
pub(super) fn trend(title: &str, footer: &str, trend: &Trend) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let times = trend.points.iter().map(|(_, _, time)| time.max);
        let last = trend.points.last().map_or(1.0, |(at, ..)| *at);
        let chart = frame(&area, title, footer, -0.5..last + 0.5, times.fold(0.0, f64::max))?;
        let at = |x: f64, y: f64| chart.backend_coord(&(x, y));
        let color = Series::Ct.color();
        let middle: Vec<_> = trend.points.iter().map(|(x, _, time)| at(*x, time.median)).collect();
        area.draw(&PathElement::new(middle, color.stroke_width(2)))?;
        for (x, label, time) in &trend.points {
            area.draw(&PathElement::new(vec![at(*x, time.min), at(*x, time.max)], BLACK.mix(0.5)))?;
            area.draw(&Circle::new(at(*x, time.median), 4, color.filled()))?;
            let (left, top) = at(*x, time.max);
            area.draw(&Text::new(
                format!("{:.1}", time.median),
                (left, top - 4),
                text(12, HPos::Center, VPos::Bottom),
            ))?;
            let (left, bottom) = at(*x, 0.0);
            area.draw(&Text::new(*label, (left, bottom + 6), text(13, HPos::Center, VPos::Top)))?;
        }
        across(&area, &chart, &trend.floors)?;
        let (x, y) = (SIZE.0.cast_signed() / 2, SIZE.1.cast_signed() - 36);
        area.draw(&Text::new("jobs queued", (x, y), text(12, HPos::Center, VPos::Center)))?;
        area.present()?;
    }
    Ok(svg)
}
