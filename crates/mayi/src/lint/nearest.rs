//! An unknown name → the known name that was probably meant.

/// The known name that is one or two slips away from `name`, ignoring case: a letter too many, missing,
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
/// each letter moved at most once. There can be very many names to compare, and nearly all are far apart, so that
/// nothing is worked out that can't be within `most`.
pub(super) fn slips(one: &[u8], other: &[u8], most: usize) -> Option<usize> {
    if one.len() >= LONGEST || other.len() >= LONGEST || one.len().abs_diff(other.len()) > most {
        return None;
    }
    let equal = |a: u8, b: u8| a.eq_ignore_ascii_case(&b);
    // The common start and the common end need no comparison.
    let same = one.iter().zip(other).take_while(|(a, b)| equal(**a, **b)).count();
    let (one, other) = (&one[same..], &other[same..]);
    let same = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| equal(**a, **b)).count();
    let (one, other) = (&one[..one.len() - same], &other[..other.len() - same]);
    let longer = one.len().max(other.len());
    if longer <= 1 || most == 0 {
        return Some(longer).filter(|slips| *slips <= most);
    }
    // One slip changes no more than two letters, and these stand side by side.
    if most == 1 && longer > 2 {
        return None;
    }
    // A row for each letter of one name, with a column for each of the other. Columns that are further from a
    // row than `most` need not be computed.
    let too_many = most as u8 + 1;
    let mut rows = [[too_many; LONGEST + 1]; 3];
    (0..=most.min(other.len())).for_each(|column| rows[0][column] = column as u8);
    let mut last_is_too_much = false;
    for (row, &a) in (1..).zip(one) {
        let [before_last, last, mut this] = [rows[(row + 1) % 3], rows[(row + 2) % 3], rows[row % 3]];
        let (first, end) = (row.saturating_sub(most), other.len().min(row + most));
        let before_first = if first == 0 { row as u8 } else { too_many };
        this[first.saturating_sub(1)] = before_first;
        let mut fewest_of_row = before_first;
        for column in first.max(1)..=end {
            let b = other[column - 1];
            let changed = last[column - 1] + u8::from(!equal(a, b));
            let mut fewest = changed.min(this[column - 1] + 1).min(last[column] + 1);
            if row > 1 && column > 1 && equal(a, other[column - 2]) && equal(one[row - 2], b) {
                fewest = fewest.min(before_last[column - 2] + 1);
            }
            this[column] = fewest.min(too_many);
            fewest_of_row = fewest_of_row.min(fewest);
        }
        if let Some(behind) = this.get_mut(end + 1) {
            *behind = too_many;
        }
        rows[row % 3] = this;
        // If two rows have only values above `most`, so have all that follow, because they are computed from
        // these.
        let is_too_much = fewest_of_row > most as u8;
        if is_too_much && last_is_too_much {
            return None;
        }
        last_is_too_much = is_too_much;
    }
    Some(usize::from(rows[one.len() % 3][other.len()])).filter(|slips| *slips <= most)
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

    /// The same by its definition, with every cell of the table.
    fn slips_by_definition(one: &[u8], other: &[u8]) -> usize {
        let mut table = vec![vec![0; other.len() + 1]; one.len() + 1];
        for row in 0..=one.len() {
            for column in 0..=other.len() {
                table[row][column] = if row == 0 || column == 0 {
                    row + column
                } else {
                    let is_changed = usize::from(one[row - 1] != other[column - 1]);
                    let fewest = (table[row - 1][column - 1] + is_changed)
                        .min(table[row - 1][column] + 1)
                        .min(table[row][column - 1] + 1);
                    let is_swapped = row > 1
                        && column > 1
                        && one[row - 1] == other[column - 2]
                        && one[row - 2] == other[column - 1];
                    if is_swapped { fewest.min(table[row - 2][column - 2] + 1) } else { fewest }
                };
            }
        }
        table[one.len()][other.len()]
    }

    #[test]
    fn slips_are_those_of_the_definition() {
        // All words of up to six letters of which there are two, and some longer ones with slips at both ends.
        let word = |number: usize, length: usize| -> Vec<u8> {
            (0..length).map(|place| b'a' + (number >> place & 1) as u8).collect()
        };
        let mut words: Vec<_> = (0..7)
            .flat_map(|length| (0..1 << length).map(move |number| word(number, length)))
            .collect();
        for text in ["abcdefghij", "bacdefghij", "bacdefghji", "xabcdefghi", "abcdfghij", "acbdefgihj"]
        {
            words.push(text.as_bytes().to_vec());
        }
        for (one, other) in words.iter().flat_map(|one| words.iter().map(move |other| (one, other))) {
            let expected = slips_by_definition(one, other);
            for most in 0..4 {
                let expected = Some(expected).filter(|slips| *slips <= most);
                assert_eq!(slips(one, other, most), expected, "{one:?} {other:?} {most}");
            }
        }
    }
}
