//! A name that nobody knows → the known one that it is probably meant to be.

/// The known name that is one or two slips away from `name`, in any case: a letter too many, missing,
/// wrong, or two that changed places. Short names may differ by one slip only, and none that differ by
/// more is ever taken.
///
/// ```
/// use mayi::lint::nearest;
///
/// let known = ["Disallow", "Allow", "Sitemap"];
/// assert_eq!(nearest("dissalow", known), Some("Disallow"));
/// assert_eq!(nearest("allwo", known), Some("Allow"));
/// assert_eq!(nearest("Host", known), None);
/// ```
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let most = most_slips(name.len());
    let slips = |known: &&'n str| slips(name.as_bytes(), known.as_bytes(), most);
    let near = known.into_iter().filter_map(|known| Some((slips(&known)?, known)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, known)| known)
}

/// How many slips a name of this length may have and still be recognised.
fn most_slips(length: usize) -> usize {
    match length {
        0..4 => 0,
        4..8 => 1,
        8..LONGEST => 2,
        _ => 0,
    }
}

/// Longer names than this are not compared.
const LONGEST: usize = 40;

/// How many slips lead from one name to the other, if no more than `most`: Damerau's distance with
/// each letter moved at most once.
pub(super) fn slips(one: &[u8], other: &[u8], most: usize) -> Option<usize> {
    if one.len() >= LONGEST || other.len() >= LONGEST || one.len().abs_diff(other.len()) > most {
        return None;
    }
    let equal = |a: u8, b: u8| a.eq_ignore_ascii_case(&b);
    let mut before_last = [0; LONGEST];
    let mut last: [usize; LONGEST] = std::array::from_fn(|column| column);
    for (row, &a) in one.iter().enumerate() {
        let mut this = [row + 1; LONGEST];
        for (column, &b) in other.iter().enumerate() {
            let changed = last[column] + usize::from(!equal(a, b));
            let mut fewest = changed.min(this[column] + 1).min(last[column + 1] + 1);
            if row > 0 && column > 0 && equal(a, other[column - 1]) && equal(one[row - 1], b) {
                fewest = fewest.min(before_last[column - 1] + 1);
            }
            this[column + 1] = fewest;
        }
        // What is too much in two rows is too much in all that follow, which are made of them.
        let is_too_much = |slips: &[usize]| slips[..=other.len()].iter().all(|count| *count > most);
        if is_too_much(&last) && is_too_much(&this) {
            return None;
        }
        (before_last, last) = (last, this);
    }
    Some(last[other.len()]).filter(|slips| *slips <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (one, other, expected) in [
            ("disallow", "Disallow", Some(0)),
            ("disalow", "disallow", Some(1)),
            ("dissalow", "disallow", Some(2)),
            ("dsiallow", "disallow", Some(1)),
            ("abc", "xyz", None),
            ("", "ab", Some(2)),
        ] {
            assert_eq!(slips(one.as_bytes(), other.as_bytes(), 2), expected, "{one} {other}");
        }
        assert_eq!(nearest("abc", ["abd"]), None, "too short to tell");
        assert_eq!(nearest(&"a".repeat(100), ["a"]), None);
    }
}
