//! Numbers → charts as SVG, without a script. Colours come from the page, so that they follow its theme.

use std::fmt::Write as _;

use crate::html::escaped;
use crate::number::with_commas as number;

/// A row of a bar chart: a name, and parts of one bar with the class that colours each.
pub(crate) struct Bar<'b> {
    pub(crate) name: &'b str,
    pub(crate) parts: Vec<(u64, &'static str, &'static str)>,
}

/// Horizontal bars, one below the other. Names and figures are text of the page, which wraps and can be
/// selected; only the bar is drawn.
pub(crate) fn bars(bars: &[Bar<'_>]) -> String {
    let total = |bar: &Bar<'_>| bar.parts.iter().map(|(count, ..)| count).sum::<u64>();
    let most = bars.iter().map(total).max().unwrap_or(0).max(1);
    let mut out = String::from("<table class=\"bars\">");
    for bar in bars {
        let sum = total(bar);
        let _ = write!(out, "<tr><th scope=\"row\">{}</th><td class=\"bar\">", escaped(bar.name));
        out.push_str(
            "<svg viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
        );
        let labels: Vec<_> =
            bar.parts.iter().map(|(count, _, label)| format!("{} {label}", number(*count))).collect();
        let _ = write!(out, "{}\">", escaped(&labels.join(", ")));
        let mut before = 0;
        for (count, class, label) in &bar.parts {
            let (start, end) = (scaled(before, most), scaled(before + count, most));
            before += count;
            if *count > 0 {
                // Every value above zero is visible, however small it is.
                let width = (end - start).max(2);
                let title = format!("{}: {} {label}", bar.name, number(*count));
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{start}\" width=\"{width}\" height=\"14\"><title>{}</title></rect>",
                    escaped(&title)
                );
            }
        }
        let _ = write!(out, "</svg></td><td class=\"figure\">{}</td></tr>", number(sum));
    }
    out.push_str("</table>");
    out
}

/// The size of a chart of columns, in its own units.
const WIDTH: usize = 1000;
const HEIGHT: u64 = 220;

/// A day of a chart, with the figure of each series.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) parts: Vec<u64>,
}

/// Columns that stand on each other, one for each day; the series are coloured by their place.
pub(crate) fn columns(columns: &[Column], series: &[String]) -> String {
    let most = columns.iter().map(|column| column.parts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
    let count = columns.len().max(1);
    let gap = if WIDTH / count > 8 { 2 } else { 0 };
    let mut out = format!(
        "<svg class=\"columns\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"Requests of crawlers by day\">",
        HEIGHT + 24
    );
    for quarter in 0..=4_u64 {
        let at = HEIGHT - HEIGHT * quarter / 4;
        let _ = write!(out, "<line class=\"grid\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{at}\" y2=\"{at}\"/>");
    }
    for (place, column) in columns.iter().enumerate() {
        let (start, end) = (WIDTH * place / count, WIDTH * (place + 1) / count);
        let mut top = HEIGHT;
        for (of, requests) in column.parts.iter().enumerate() {
            let tall = (u128::from(*requests) * u128::from(HEIGHT) / u128::from(most)) as u64;
            if *requests == 0 {
                continue;
            }
            let tall = tall.max(1).min(top);
            top -= tall;
            let name = series.get(of).map_or("", String::as_str);
            let title = format!("{}: {name}, {} requests", column.name, number(*requests));
            let _ = write!(
                out,
                "<rect class=\"s{of}\" x=\"{start}\" y=\"{top}\" width=\"{}\" height=\"{tall}\"><title>{}</title></rect>",
                (end - start).saturating_sub(gap).max(1),
                escaped(&title)
            );
        }
    }
    // The first and the last day, and a few between them, where there is room.
    let labels = count.min(4);
    for label in 0..labels {
        let place = if labels == 1 { 0 } else { label * (count - 1) / (labels - 1) };
        let middle = usize::midpoint(WIDTH * place / count, WIDTH * (place + 1) / count);
        let anchor = if place == 0 && count > 1 {
            "start"
        } else if place + 1 == count && count > 1 {
            "end"
        } else {
            "middle"
        };
        let at = match anchor {
            "start" => 0,
            "end" => WIDTH,
            _ => middle,
        };
        let _ = write!(
            out,
            "<text x=\"{at}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            HEIGHT + 18,
            escaped(&columns[place].name)
        );
    }
    out.push_str("</svg>");
    let _ = write!(out, "<p class=\"axis\">The tallest column is {} requests.</p>", number(most));
    out.push_str("<ul class=\"legend\">");
    for (place, name) in series.iter().enumerate() {
        let _ = write!(out, "<li><span class=\"key s{place}\"></span>{}</li>", escaped(name));
    }
    out.push_str("</ul>");
    out
}

/// A number on a scale of 1000.
fn scaled(number: u64, most: u64) -> u64 {
    (u128::from(number) * 1000 / u128::from(most)) as u64
}
