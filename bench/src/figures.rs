//! Numbers → the words of a table: three digits that matter, and a unit that fits.

/// A number with three digits that matter, grouped by thousands.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        size if size < 0.1 => 3,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    let written = format!("{value:.decimals$}");
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let grouped = grouped(whole);
    if fraction.is_empty() { grouped } else { format!("{grouped}.{fraction}") }
}

fn grouped(digits: &str) -> String {
    let mut written = String::new();
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        if left.is_multiple_of(3) && place > 0 && !written.ends_with('-') {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// A time in the unit that leaves up to three digits before the point.
pub fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        small if small < 1e-6 => (value * 1e9, "ns"),
        small if small < 1e-3 => (value * 1e6, "µs"),
        small if small < 1.0 => (value * 1e3, "ms"),
        _ => (value, "s"),
    };
    format!("{} {unit}", number(scaled))
}

/// An amount of memory.
pub fn octets(value: f64) -> String {
    match value {
        small if small < 1e3 => format!("{} B", number(value)),
        small if small < 1e6 => format!("{} kB", number(value / 1e3)),
        _ => format!("{} MB", number(value / 1e6)),
    }
}

/// How many times as much as mayi.
pub fn times(ratio: f64) -> String {
    if ratio < 0.01 { "< × 0.01".to_owned() } else { format!("× {}", number(ratio)) }
}

/// A number of things, whole and grouped by thousands.
pub fn count(things: usize) -> String {
    grouped(&things.to_string())
}

/// Instructions, in millions where there are that many.
pub fn instructions(count: f64) -> String {
    if count < 1e6 { grouped(&format!("{count:.0}")) } else { format!("{} M", number(count / 1e6)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_matter() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(0.0123), "0.012");
        assert_eq!(number(1.234), "1.23");
        assert_eq!(number(98.76), "98.8");
        assert_eq!(number(1_234_567.8), "1,234,568");
        assert_eq!(number(-123_456.0), "-123,456");
        assert_eq!(seconds(0.000_012_3), "12.3 µs");
        assert_eq!(octets(12_300.0), "12.3 kB");
        assert_eq!(instructions(123_456.0), "123,456");
        assert_eq!(count(9), "9");
    }
}
