//! Lines of points → a drawing in SVG with logarithmic axes, readable on light and on dark pages.
//!
//! The layout follows from the figures alone. Each line is named where it ends, in its own colour, so
//! that nobody has to go back and forth between the drawing and a legend.

use std::fmt::Write as _;

pub struct Plot {
    pub title: &'static str,
    pub x_axis: &'static str,
    /// How the points are counted: `seconds` along y.
    pub y_axis: &'static str,
    pub lines: Vec<Line>,
}

pub struct Line {
    pub name: String,
    /// The class of its colour.
    pub class: &'static str,
    /// In the order of x.
    pub points: Vec<(f64, f64)>,
    /// Whether there was no answer behind the last point.
    pub broken: bool,
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 590.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 384.0;
/// Between two names at the right.
const NAME_STEP: f64 = 18.0;

const STYLE: &str = "\
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 16px; font-weight: 600 }
  .page { fill: #ffffff } .grid { stroke: #d8dee4; stroke-width: 1 } .guide { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 4 4 }
  .small { font-size: 12px; fill: #57606a }
  polyline { fill: none; stroke-width: 1.8 } circle { stroke: none }
  .leader { stroke-width: 0.8; opacity: 0.55 }
  .own { stroke: #0550ae; fill: #0550ae } .own-direct { stroke: #2f9fd8; fill: #2f9fd8 }
  .first { stroke: #bc4c00; fill: #bc4c00 } .second { stroke: #2b8a3e; fill: #2b8a3e } .third { stroke: #8250df; fill: #8250df }
  polyline.own { stroke-width: 3 } polyline { fill: none !important } text.name { stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .page { fill: #0d1117 } .grid { stroke: #30363d } .guide { stroke: #6e7681 } .small { fill: #9198a1 }
    .own { stroke: #79c0ff; fill: #79c0ff } .own-direct { stroke: #4d8fc9; fill: #4d8fc9 }
    .first { stroke: #ffa657; fill: #ffa657 } .second { stroke: #7ee787; fill: #7ee787 } .third { stroke: #d2a8ff; fill: #d2a8ff }
  }";

impl Plot {
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = Axis::over(points().map(|point| point.0), LEFT, RIGHT);
        let y = Axis::decades(points().map(|point| point.1), BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{}\">\n<style>\n{STYLE}\n</style>\n\
             <rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"28\">{}</text>\n\
             <text class=\"small\" x=\"{LEFT}\" y=\"48\">{}</text>\n",
            self.title, self.title, self.y_axis
        );
        for power in x.powers() {
            let at = x.place(10f64.powi(power));
            line(&mut svg, "grid", [at, TOP, at, BOTTOM]);
            let number = crate::figures::count(10usize.pow(power.unsigned_abs()));
            let down = BOTTOM + 20.0;
            write(&mut svg, "small", "middle", at, down, &number);
        }
        for power in y.powers() {
            let at = y.place(10f64.powi(power));
            line(&mut svg, "grid", [LEFT, at, RIGHT, at]);
            write(&mut svg, "small", "end", LEFT - 8.0, at + 4.0, &duration(power));
        }
        write(&mut svg, "small", "middle", f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0, self.x_axis);
        Self::guide(&mut svg, &x, &y);
        for drawn in &self.lines {
            drawn.draw(&mut svg, &x, &y);
        }
        self.names(&mut svg, &x, &y);
        svg + "</svg>\n"
    }

    /// What a line looks like whose time grows as x does.
    fn guide(svg: &mut String, x: &Axis, y: &Axis) {
        let decades = (x.high - x.low).min(y.high - y.low);
        let from = (LEFT, BOTTOM);
        let to = (x.place_of_log(x.low + decades), y.place_of_log(y.low + decades));
        line(svg, "guide", [from.0, from.1, to.0, to.1]);
        let (at, up) = (from.0 + 0.86 * (to.0 - from.0), from.1 + 0.86 * (to.1 - from.1));
        write(svg, "small", "end", at - 6.0, up - 2.0, "linear");
    }

    /// The names of the lines, each as near to the end of its line as the others let it be.
    fn names(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let mut ends: Vec<(f64, f64, &Line)> = self
            .lines
            .iter()
            .filter_map(|line| {
                let last = line.points.last()?;
                Some((y.place(last.1), x.place(last.0), line))
            })
            .collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut places: Vec<f64> = Vec::new();
        for (wanted, _, _) in &ends {
            let least = places.last().map_or(TOP, |above| above + NAME_STEP);
            places.push(wanted.max(least));
        }
        // From the bottom up, so that nothing stands below the drawing.
        let mut most = BOTTOM;
        for place in places.iter_mut().rev() {
            *place = place.min(most);
            most = *place - NAME_STEP;
        }
        for line in self.lines.iter().filter(|line| line.points.is_empty()) {
            let name = format!("{}: no answer", line.name);
            let (class, across, up) = (line.class, RIGHT + 14.0, BOTTOM + 20.0);
            let _ =
                writeln!(svg, "<text class=\"name {class}\" x=\"{across}\" y=\"{up}\">{name}</text>");
        }
        for ((end, across, line), place) in ends.into_iter().zip(places) {
            let class = line.class;
            let _ = writeln!(
                svg,
                "<line class=\"{class} leader\" x1=\"{across:.1}\" y1=\"{end:.1}\" x2=\"{:.1}\" \
                 y2=\"{place:.1}\"/>",
                RIGHT + 10.0
            );
            let name = if line.broken { format!("{} ×", line.name) } else { line.name.clone() };
            let _ = writeln!(
                svg,
                "<text class=\"name {class}\" x=\"{}\" y=\"{:.1}\">{name}</text>",
                RIGHT + 14.0,
                place + 4.5
            );
        }
    }
}

impl Line {
    fn draw(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let mut places = String::new();
        for (across, up) in &self.points {
            let _ = write!(places, "{:.1},{:.1} ", x.place(*across), y.place(*up));
        }
        let class = self.class;
        let _ = writeln!(svg, "<polyline class=\"{class}\" points=\"{}\"/>", places.trim_end());
        for (across, up) in &self.points {
            let (across, up) = (x.place(*across), y.place(*up));
            let _ = writeln!(
                svg,
                "<circle class=\"{class}\" cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"2.6\"/>"
            );
        }
    }
}

/// A logarithmic axis from one place of the drawing to another.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// From the least value to the greatest.
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value.log10()), high.max(value.log10()))
        });
        Self { low, high: high.max(low + 1.0), from, to }
    }

    /// The same, with whole decades.
    fn decades(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let axis = Self::over(values, from, to);
        Self { low: axis.low.floor(), high: axis.high.ceil(), ..axis }
    }

    fn place(&self, value: f64) -> f64 {
        self.place_of_log(value.log10())
    }

    fn place_of_log(&self, log: f64) -> f64 {
        self.from + (log - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The powers of ten on it.
    fn powers(&self) -> impl Iterator<Item = i32> {
        (self.low - 1e-9).ceil() as i32..=(self.high + 1e-9).floor() as i32
    }
}

fn line(svg: &mut String, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
    let _ = writeln!(
        svg,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn write(svg: &mut String, class: &str, anchor: &str, x: f64, y: f64, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    );
}

/// A power of ten of a second, in words.
fn duration(power: i32) -> String {
    let (unit, less) = match power {
        ..-6 => ("ns", -9),
        -6..-3 => ("µs", -6),
        -3..0 => ("ms", -3),
        0.. => ("s", 0),
    };
    format!("{} {unit}", 10f64.powi(power - less))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_a_second_have_names() {
        let names: Vec<_> = [-9, -8, -7, -6, -4, -3, 0].into_iter().map(duration).collect();
        assert_eq!(names, ["1 ns", "10 ns", "100 ns", "1 µs", "100 µs", "1 ms", "1 s"]);
    }

    #[test]
    fn a_drawing_depends_on_its_figures_alone() {
        let plot = || Plot {
            title: "time",
            x_axis: "rules",
            y_axis: "seconds",
            lines: vec![Line {
                name: "one".to_owned(),
                class: "own",
                points: vec![(1.0, 1e-8), (1000.0, 2e-6)],
                broken: false,
            }],
        };
        let svg = plot().svg();
        assert_eq!(svg, plot().svg());
        assert!(
            svg.contains(">1,000</text>")
                && svg.contains(">10 ns</text>")
                && svg.contains(">one</text>")
        );
    }
}
