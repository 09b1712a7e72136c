//! Numbers as people read them.

/// `1,234,567`.
///
/// ```
/// assert_eq!(mayi_audit::with_commas(1_234_567), "1,234,567");
/// assert_eq!(mayi_audit::with_commas(999), "999");
/// ```
pub fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
