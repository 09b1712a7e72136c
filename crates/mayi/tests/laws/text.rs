//! Laws 5, 6, 7, 8 and 11: what the octets of a file are read as, and which changes to them change
//! nothing.

use mayi::{Crawler, Dialect, Extension, Limits, LineNumber, ReadOptions, RobotsTxt, Span};

use super::decide::ask;
use super::{Question, file_of, read};

/// Law 5: lines end in CR, LF or CRLF, mixed freely (REP-2), so rewriting every line end changes no
/// decision and no line number. For each line end in turn, the next of the choices says which.
pub(crate) fn line_ends_do_not_matter(question: &Question, choices: &[u8]) {
    let Some((crawler, target)) = question.asked() else { return };
    for dialect in Dialect::ALL {
        let robots = read(&question.robots, dialect);
        let mut choices = choices.iter().cycle();
        let mut rewritten = Vec::new();
        for line in robots.lines() {
            rewritten.extend_from_slice(line.text());
            if line.end().is_empty() {
                continue; // the last line of a file needs no end
            }
            // An LF right behind a CR would be half of a CRLF and not the end of an empty line.
            let after_return = rewritten.ends_with(b"\r");
            rewritten.extend_from_slice(match choices.next().map(|choice| choice % 3) {
                Some(0) if !after_return => b"\n",
                Some(1) => b"\r\n",
                _ => b"\r",
            });
        }
        let rewritten = file_of(&rewritten);
        let changed = read(&rewritten, dialect);
        assert_eq!(changed.lines().count(), robots.lines().count(), "{dialect}: {question:?}");
        let [before, after] = [&robots, &changed].map(|robots| ask(robots, &crawler, &target));
        assert_eq!(after, before, "{dialect}: {question:?} became {changed:?}");
    }
}

/// Law 6: nothing of a text is lost: its lines, joined with their ends, give it again. No line has a line end
/// in it (REP-2).
pub(crate) fn lines_joined_are_the_text(octets: &[u8]) {
    for dialect in Dialect::ALL {
        let robots = read(octets, dialect);
        let joined: Vec<u8> =
            robots.lines().flat_map(|line| [line.text(), line.end()].concat()).collect();
        assert_eq!(joined, robots.text(), "{dialect}");
        for line in robots.lines() {
            assert!(!line.text().iter().any(|octet| b"\r\n".contains(octet)), "{dialect}");
            assert!([&b""[..], b"\r", b"\n", b"\r\n"].contains(&line.end()), "{dialect}");
        }
    }
}

/// Law 7: blank lines, comments, other records and unreadable lines never end a group and never
/// disturb the rest (REP-3, REP-17, REP-22). Inserted anywhere they change no decision, and move its
/// lines down by as many as were inserted above. For each place in turn, the next of the choices says
/// what is inserted there.
pub(crate) fn other_lines_do_not_matter(question: &Question, choices: &[u8]) {
    let Some((crawler, target)) = question.asked() else { return };
    for dialect in Dialect::BY_TOKEN {
        let robots = read(&question.robots, dialect);
        let mut choices = choices.iter().cycle();
        let mut longer = Vec::new();
        let mut new_numbers = vec![0]; // no line has the number 0
        let mut number = 0;
        for line in robots.lines() {
            if let Some(inserted) = choices.next().and_then(|&choice| inserted(choice)) {
                longer.extend_from_slice(inserted);
                number += 1;
            }
            number += 1;
            new_numbers.push(number);
            longer.extend_from_slice(line.text());
            longer.extend_from_slice(line.end());
        }
        let longer = file_of(&longer);
        let changed = read(&longer, dialect);
        let before = ask(&robots, &crawler, &target).with_lines(|line| new_numbers[line as usize]);
        let after = ask(&changed, &crawler, &target);
        assert_eq!(after, before, "{dialect}: {question:?} became {changed:?}");
    }
}

/// A line that means nothing for access in any dialect. None is empty or ends in CR alone, which could
/// make one line end of two.
fn inserted(choice: u8) -> Option<&'static [u8]> {
    match choice % 8 {
        0 => Some(b"X-Thing: y\n"),
        1 => Some(b" \t\r\n"),
        2 => Some(b"# User-agent: *\n"),
        3 => Some(b"Sitemap: https://example.com/s.xml\n"),
        4 => Some(b"Crawl-delay: 1\r\n"),
        5 => Some(b"neither a record nor a comment\n"),
        _ => None,
    }
}

/// Law 8: any octets are a file, under any label of a charset; whatever is asked of it, the answer
/// comes, every span is within the text and lines ascend (REP-14, REP-22).
pub(crate) fn any_octets_are_a_file(octets: &[u8], charset: Option<&str>) {
    let crawler = Crawler::new("ExampleBot").expect("a product token");
    let plain = Extension::ALL.iter().fold(Dialect::RFC9309, |dialect, &part| dialect.without(part));
    for dialect in Dialect::ALL.iter().cloned().chain([plain]) {
        let options = ReadOptions::default().with_dialect(dialect);
        let options = match charset {
            Some(charset) => options.with_charset(charset),
            None => options,
        };
        let robots = RobotsTxt::read(octets, &options);
        let within = |span: Span| span.start <= span.end && span.end as usize <= robots.text().len();
        let count = robots.lines().count();
        let is_a_line = |line: LineNumber| line.number() as usize <= count.max(1);

        for (line, number) in robots.lines().zip(1..) {
            assert_eq!(line.number().number(), number);
            assert!(within(line.span()));
            assert!(line.record().is_none() || !line.is_unreadable());
            for record in line.record().into_iter().chain(line.inline_rule()) {
                assert!(within(record.value_span()));
                assert_eq!(&robots.text()[record.value_span().range()], record.value());
                assert!(line.span().start <= record.value_span().start);
                assert!(record.value_span().end <= line.span().end);
            }
        }
        let irregularities: Vec<_> = robots.irregularities().collect();
        assert!(irregularities.iter().all(|found| within(found.span())));
        let cut = robots.cut().map_or(0, |_| 1); // that the file is too long is said of its end
        assert!(irregularities.iter().rev().skip(cut).all(|found| is_a_line(found.line())));
        assert!(irregularities.is_sorted_by_key(mayi::Irregularity::line));

        let records = robots.groups().flat_map(|group| {
            let starts = group.start_lines().map(|(line, _)| line);
            let mut lines: Vec<_> = starts.chain(group.rules().map(|(line, ..)| line)).collect();
            assert!(group.start_lines().map(|(line, _)| line).is_sorted_by(|one, next| one < next));
            assert!(group.rules().map(|(line, ..)| line).is_sorted_by(|one, next| one < next));
            lines.sort_unstable();
            lines
        });
        let records: Vec<_> = records.collect();
        assert!(records.is_sorted(), "groups follow one another");
        assert!(records.into_iter().all(is_a_line));

        assert!(robots.sitemaps().count() <= count);
        let delay = robots.crawl_delay(&crawler);
        assert!(delay.is_none_or(|seconds| seconds.is_finite() && seconds >= 0.0));
    }
}

/// The other half of law 8: no input hangs (REP-25). Something that comes again and again, on one line
/// or on many, is read in a moment; where time grows with the square of a line, this test takes
/// minutes instead of a second, and nobody waits for that. No time is asserted: machines differ.
pub(crate) fn what_repeats_is_read_soon(start: &[u8], unit: &[u8]) {
    let file = [b"User-agent: *\nAllow: /a\n", start, &unit.repeat((256 << 10) / unit.len())].concat();
    let url = format!("https://h/{}", String::from_utf8_lossy(&unit.repeat(2048 / unit.len())));
    let (crawler, target) = Question { robots: file.clone(), agent: "a".to_owned(), url }
        .asked()
        .map(|(crawler, target)| (crawler, target.into_owned()))
        .expect("a crawler and a URL");
    for dialect in Dialect::ALL {
        let robots = read(&file, dialect);
        let decided = robots.decide(&crawler, &target);
        assert_eq!(robots.for_crawler(&crawler).decide(&target), decided, "{dialect}");
        assert_eq!(robots.explain(&crawler, &target).decision(), &decided, "{dialect}");
        assert!(robots.irregularities().count() <= 4 * robots.lines().count(), "{dialect}");
    }
}

/// Law 11: past the limit the rest is ignored, and the line that the limit cuts through is dropped
/// whole (REP-24), in UTF-16 too. So a file that is too long decides like its lines that are complete
/// within the limit. A long comment between two parts of the question's file brings the limit to
/// wherever `beyond` says: that many characters before the end.
pub(crate) fn a_cut_file_is_its_whole_lines(
    question: &Question,
    half: usize,
    beyond: usize,
    in_utf_16: bool,
) {
    let Some((crawler, target)) = question.asked() else { return };
    if question.robots.starts_with(b"\xFF\xFE") || question.robots.starts_with(b"\xFE\xFF") {
        return; // it would be the mark of a file that is no longer in UTF-16
    }
    let limit = Limits::LEAST_FILE_OCTETS;
    let limits = Limits::with_file_octets(limit).expect("the least limit is allowed");
    let limit = if in_utf_16 { (limit - 2) / 2 } else { limit }; // in characters; the mark is one
    let file_of = if in_utf_16 { utf_16 } else { <[u8]>::to_vec };

    let (head, tail) = question.robots.split_at(half.min(question.robots.len()));
    let beyond = 1 + beyond % tail.len().max(1);
    let filler = limit + beyond - (head.len() + tail.len() + 3);
    let text = [head, b"\n#", &vec![b'-'; filler], b"\n", tail].concat();
    let [long, short] = [&text, whole_lines(&text, limit)].map(file_of);

    for dialect in [Dialect::RFC9309, Dialect::KOSTER_00, Dialect::GOOGLE] {
        if dialect == Dialect::GOOGLE && in_utf_16 {
            continue; // it does not read UTF-16
        }
        let options = ReadOptions::default().with_dialect(dialect).with_limits(limits);
        let cut = RobotsTxt::read(&long[..], &options);
        let short = RobotsTxt::read(&short[..], &options);
        assert!(cut.cut().is_some() && short.cut().is_none());
        let [after, before] = [&cut, &short].map(|robots| ask(robots, &crawler, &target));
        let context = || format!("{}: {question:?}, {half}, {beyond}", cut.dialect());
        assert_eq!(after, before, "{}", context());
        assert!(cut.text() == short.text(), "{}", context());
    }
}

/// The lines of a text that end at or before the limit, each with as much of its line end as is within
/// it.
fn whole_lines(text: &[u8], limit: usize) -> &[u8] {
    let ends_line = |octet: &u8| b"\r\n".contains(octet);
    if ends_line(&text[limit]) {
        return &text[..limit];
    }
    let last = text[..limit].iter().rposition(ends_line);
    &text[..last.map_or(0, |at| at + 1)]
}

/// A text, of one octet a character, in UTF-16.
fn utf_16(text: &[u8]) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.iter().flat_map(|&octet| [octet, 0])).collect()
}
