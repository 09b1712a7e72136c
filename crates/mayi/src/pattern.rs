//! The value of a rule → something that can be compared with a target.
//!
//! A pattern is cut at its wildcards once; each piece is then searched after the one before it. The
//! first place is always good enough, so nothing is ever tried twice, and one comparison takes time
//! linear in pattern plus target (REP-25). A naive matcher in this file's tests and in `tests/laws.rs`
//! defines the right answer.
//!
//! Why the first place is good enough: a wildcard matches any number of octets. If the following pieces fit
//! after a later place of this piece, they also fit after an earlier one, because the wildcard then matches
//! the octets between. So a search never has to go back, and no pattern can make it slow. Only the last piece
//! of an anchored pattern has a fixed place, the end of the target, and is compared only there.
//!
//! There are three ways to compare, because most patterns need very little. [`Glancing`] compares a pattern
//! as it is written, and excludes most patterns within eight octets; it needs no preparation. [`Plain`] reads
//! a pattern that is compared as it is written, without copying it. Only what has to be normalised is copied
//! ([`PathPattern::read_changed`]). Each way stops if it is not certain, and the next one takes over.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use memchr::memchr;

use crate::dialect::{Comparison, Dialect};
use crate::directive::RuleKind;
use crate::forms::{Folds, Forms};
use crate::octets::{
    OctetSet, Signs, common_of_first_eight, first_eight, try_each_sign, try_each_sign_but_dots,
};
use crate::percent::{SIGNS, Sign, encode_as_written, normalise, not_raw_or};
use crate::places::SearchedText;
use crate::target::Target;

/// A path pattern, ready to be compared.
///
/// ```
/// use mayi::{PathPattern, Target};
///
/// let pattern = PathPattern::new(b"/*.php$");
/// assert!(pattern.matches(&Target::parse("https://example.com/a.php.php")?));
/// assert!(!pattern.matches(&Target::parse("https://example.com/a.php?x")?));
/// assert_eq!(pattern.octets(), 7);
/// # Ok::<(), mayi::InvalidUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern<'p> {
    comparison: Comparison,
    /// The normalised pattern, whose octets count.
    normalised: Cow<'p, [u8]>,
    /// What is compared, if it is not a prefix of the normalised pattern.
    body: Option<Vec<u8>>,
    /// How much of the normalised pattern is compared differently.
    compared: usize,
    shape: Shape,
    /// Which parts of it match two spellings (REP-12, REP-16).
    folds: Folds,
    /// The signs that a target must have to match, as far as they are known.
    signs: Signs,
}

/// What must be known about a pattern's text to compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Octets before the first wildcard; all of them if there is none.
    pub(crate) head: u32,
    pub(crate) wildcards: Wildcards,
    /// Whether the pattern ends in an end anchor, which is not part of the text.
    pub(crate) anchored: bool,
}

/// How many wildcards the text of a pattern has. Those at its end have no effect and are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wildcards {
    None = 0,
    One = 1,
    Several = 2,
}

impl<'p> PathPattern<'p> {
    /// Reads a pattern in the default dialect.
    pub fn new(written: &'p [u8]) -> Self {
        Self::read(written, Comparison::Normalised)
    }

    /// Reads a pattern as a dialect compares it.
    pub(crate) fn read(written: &'p [u8], comparison: Comparison) -> Self {
        if comparison == Comparison::Normalised
            && let Some((Plain { compared, shape, folds }, signs)) = Plain::read_with_signs(written)
        {
            let normalised = Cow::Borrowed(written);
            return Self { comparison, normalised, body: None, compared, shape, folds, signs };
        }
        Self::read_changed(written, comparison)
    }

    /// Reads a pattern that is compared in another form than it is written, or in another dialect.
    pub(crate) fn read_changed(written: &'p [u8], comparison: Comparison) -> Self {
        let normalised = match comparison {
            Comparison::Normalised => normalise(written),
            Comparison::AsWritten => encode_as_written(written),
            Comparison::Decoded(decoding) => Cow::Owned(decoding.pattern(written)),
        };
        let Ends { compared, anchored } = Ends::of(&normalised);
        let text = &normalised[..compared];
        let folds = match comparison {
            Comparison::Normalised => Folds::of_pattern(text),
            Comparison::AsWritten | Comparison::Decoded(_) => Folds::NONE,
        };
        let body = (folds != Folds::NONE).then(|| folds.fold_pattern(text));
        let shape = Shape::of(body.as_deref().unwrap_or(text), anchored);
        Self { comparison, normalised, body, compared, shape, folds, signs: Signs::NONE }
    }

    /// The pattern as it is compared and counted.
    pub fn normalised(&self) -> &[u8] {
        &self.normalised
    }

    /// The same, without the rest.
    #[cfg(feature = "report")]
    pub(crate) fn into_normalised(self) -> Cow<'p, [u8]> {
        self.normalised
    }

    /// How many octets the normalised pattern has, `*` and `$` included (REP-8).
    pub fn octets(&self) -> usize {
        self.normalised.len()
    }

    /// How many octets of a target it matches, if it does match, in a dialect in which a target has one form.
    pub(crate) fn octets_matched(&self, forms: &Forms<'_>) -> usize {
        octets_matched(self.octets(), self.body(), self.shape, forms)
    }

    /// Whether it matches.
    pub fn matches(&self, target: &Target<'_>) -> bool {
        self.matches_one_of(&Forms::of(target, self.comparison))
    }

    /// Whether it matches the form of a target that it must be compared with.
    pub(crate) fn matches_one_of(&self, forms: &Forms<'_>) -> bool {
        // REP-9
        !self.normalised.is_empty()
            && forms.signs().may_have(self.signs)
            && matches_one_of(self.body(), self.shape, self.folds, forms)
    }

    /// What is compared: no end anchor, no wildcards at the end, two spellings made one.
    pub(crate) fn body(&self) -> &[u8] {
        self.body.as_deref().unwrap_or(&self.normalised[..self.compared])
    }

    /// Whether what is compared is the start of the pattern as written, which counts as it is.
    pub(crate) fn is_start_of(&self, written: &[u8]) -> bool {
        // Usually it is the same slice, not only an equal one.
        let normalised: &[u8] = &self.normalised;
        let is_normalised = std::ptr::eq(normalised, written) || normalised == written;
        is_normalised && self.body.as_ref().is_none_or(|body| written.starts_with(body))
    }

    /// A part of the normalised pattern from its start on, with two spellings made one.
    pub(crate) fn folded(&self, start: &[u8]) -> Vec<u8> {
        self.folds.fold_pattern(start)
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// What of it meets two spellings.
    pub(crate) fn folds(&self) -> Folds {
        self.folds
    }
}

/// What is known about a pattern that is compared as it is written.
#[derive(Clone, Copy)]
pub(crate) struct Plain {
    /// How many octets of it are compared.
    pub(crate) compared: usize,
    pub(crate) shape: Shape,
    pub(crate) folds: Folds,
}

impl Plain {
    /// A pattern of this many octets that has no sign but dots.
    #[inline]
    pub(crate) fn of_words(octets: usize) -> Self {
        let shape = Shape { head: octets as u32, wildcards: Wildcards::None, anchored: false };
        Self { compared: octets, shape, folds: Folds::NONE }
    }

    /// Reads a pattern whose signs but dots are known, one bit for each place.
    #[inline]
    pub(crate) fn read_with_places(pattern: &[u8], mut signs: u64) -> Option<Self> {
        let mut plain = Self::before_signs(pattern);
        while signs != 0 {
            let place = signs.trailing_zeros() as usize;
            if place >= plain.compared {
                break;
            }
            if plain.see(place, pattern[place]).is_break() {
                return None;
            }
            signs &= signs - 1;
        }
        Some(plain)
    }

    /// Reads the pattern in this range of a text, if it is compared as it is written, as most are.
    #[inline]
    pub(crate) fn read(text: &[u8], range: Range<usize>) -> Option<Self> {
        let mut plain = Self::before_signs(&text[range.clone()]);
        let compared = range.start..range.start + plain.compared;
        let odd = try_each_sign_but_dots(text, compared, |place, octet| {
            plain.see(place - range.start, octet)
        });
        odd.is_continue().then_some(plain)
    }

    /// The same of a whole text, and the signs that it has.
    #[inline]
    fn read_with_signs(pattern: &[u8]) -> Option<(Self, Signs)> {
        let mut plain = Self::before_signs(pattern);
        let mut signs = Signs::NONE;
        let odd = try_each_sign(pattern, 0..plain.compared, |place, octet| {
            if octet != b'*' {
                signs = signs.with(octet);
            }
            plain.see(place, octet)
        });
        odd.is_continue().then_some((plain, signs))
    }

    /// What is known before its signs are: how it ends.
    #[inline]
    fn before_signs(pattern: &[u8]) -> Self {
        let Ends { compared, anchored } = Ends::of(pattern);
        let shape = Shape { head: compared as u32, wildcards: Wildcards::None, anchored };
        Self { compared, shape, folds: Folds::NONE }
    }

    /// The next sign; the end where the pattern is not compared as it is written.
    #[inline(always)]
    #[allow(clippy::inline_always)] // its callers are the loops over octets
    fn see(&mut self, place: usize, octet: u8) -> ControlFlow<()> {
        let Self { shape, folds, .. } = self;
        match SIGNS[usize::from(octet)] {
            Sign::Raw | Sign::Dot | Sign::Hash => {}
            Sign::Star if shape.wildcards == Wildcards::None => {
                shape.wildcards = Wildcards::One;
                shape.head = place as u32;
            }
            Sign::Star => shape.wildcards = Wildcards::Several,
            Sign::QuestionMark => *folds = *folds | Folds::QUERY,
            Sign::Dollar => *folds = *folds | Folds::DOLLARS,
            Sign::Changed => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

/// How much of a pattern is compared, and how it ends.
struct Ends {
    /// Octets without an end anchor and without wildcards at the end.
    compared: usize,
    anchored: bool,
}

impl Ends {
    #[inline]
    fn of(pattern: &[u8]) -> Self {
        let (text, has_anchor) = match pattern {
            [text @ .., b'$'] => (text, true),
            text => (text, false),
        };
        // Wildcards at the end match whatever follows, and an anchor after them too: `/a*`, `/a**` and `/a*$` match
        // what `/a` matches, although they count as longer (REP-8). So what is compared has none of them.
        if text.last() != Some(&b'*') {
            return Self { compared: text.len(), anchored: has_anchor };
        }
        let stars = text.iter().rev().take_while(|&&octet| octet == b'*').count();
        Self { compared: text.len() - stars, anchored: false }
    }
}

impl Shape {
    pub(crate) fn of(body: &[u8], anchored: bool) -> Self {
        let (head, wildcards) = match memchr(b'*', body) {
            None => (body.len(), Wildcards::None),
            Some(first) if memchr(b'*', &body[first + 1..]).is_none() => (first, Wildcards::One),
            Some(first) => (first, Wildcards::Several),
        };
        Self { head: head as u32, wildcards, anchored }
    }

    pub(crate) fn has_wildcard(self) -> bool {
        self.wildcards != Wildcards::None
    }
}

/// How many octets of a target a matching pattern matches, if its wildcards match as many as they can. If all
/// octets of the pattern are compared, only an end anchor ends it.
pub(crate) fn octets_matched(octets: usize, body: &[u8], shape: Shape, forms: &Forms<'_>) -> usize {
    let ends_in_wildcard = octets > body.len() + usize::from(shape.anchored);
    if shape.anchored || ends_in_wildcard {
        return forms.text().len();
    }
    match memchr::memrchr(b'*', body) {
        None => body.len(),
        Some(star) => forms.end_of_last(&body[star + 1..]).unwrap_or(forms.text().len()),
    }
}

/// The patterns that a dialect tries for a rule beside the rule's own, which is given as it is compared.
pub(crate) fn other_patterns(
    kind: RuleKind,
    normalised: &[u8],
    dialect: &Dialect,
) -> impl Iterator<Item = Vec<u8>> {
    let is_for_folder = dialect.index_pages && kind == RuleKind::Allow;
    let folder = if is_for_folder { index_page_folder(normalised) } else { None };
    let is_url = dialect.whole_urls
        && [&b"http%3A//"[..], b"https%3A//"].iter().any(|start| normalised.starts_with(start));
    let with_url = is_url.then(|| [b"/", normalised].concat());
    let own = with_url.as_deref().unwrap_or(normalised);
    let anchored = if dialect.plain_dollars { own.strip_suffix(b"$") } else { None };
    let with_dollar = anchored.map(|text| [text, b"%24"].concat());
    folder.into_iter().chain(with_url).chain(with_dollar)
}

/// The pattern that google/robotstxt tries for an allow rule beside its own: a pattern that ends in
/// a name that starts with `index.htm` also allows the folder itself.
pub(crate) fn index_page_folder(normalised: &[u8]) -> Option<Vec<u8>> {
    let slash = memchr::memrchr(b'/', normalised)?;
    normalised[slash..].starts_with(b"/index.htm").then(|| [&normalised[..=slash], b"$"].concat())
}

/// Compares a pattern's text with the form of a target that its folds need.
///
/// Up to the first `?` of a target a delimiter and its escape are different, and after it they are the same
/// (REP-12). A pattern has its own `?` somewhere, and which `?` of the target it matches depends on what its
/// wildcards match. With no wildcard before it both are at the same place, and one form of the target is
/// enough. With one, the pattern may cross from the path into the query at several places, which
/// [`Crossing`](crate::crossing::Crossing) tries together.
pub(crate) fn matches_one_of(body: &[u8], shape: Shape, folds: Folds, forms: &Forms<'_>) -> bool {
    let folds = forms.that_matter(folds);
    if folds.has(Folds::QUERY)
        && let Some(mark) = memchr(b'?', body)
        && mark > shape.head as usize
    {
        return forms.crossing(folds).matches(body, mark, shape);
    }
    matches(body, shape, forms.folded(folds))
}

/// Compares a pattern's text with a target's: the head at the start, each further piece at the
/// first place after the one before, and the last one at the end where the pattern is anchored.
pub(crate) fn matches(body: &[u8], shape: Shape, text: &SearchedText<'_>) -> bool {
    let (head, wild) = body.split_at(shape.head as usize);
    let Some(rest) = text.octets().strip_prefix(head) else { return false };
    match shape.wildcards {
        Wildcards::None => !shape.anchored || rest.is_empty(),
        Wildcards::One => is_last_piece_in(&wild[1..], shape.anchored, text, head.len()),
        Wildcards::Several => are_pieces_in(&wild[1..], shape.anchored, text, head.len()),
    }
}

/// Whether pieces that are separated by wildcards are in a text from a place on, one after the other.
pub(crate) fn are_pieces_in(
    mut pieces: &[u8],
    anchored: bool,
    text: &SearchedText<'_>,
    mut from: usize,
) -> bool {
    // Most pieces are short: starting a general search would take longer than running it.
    while let Some(star) = pieces.iter().position(|&octet| octet == b'*') {
        if star == 0 {
            // Consecutive wildcards are one. There can be thousands, and even a search for an empty piece has
            // a cost.
            pieces = &pieces[1..];
            continue;
        }
        let Some(at) = text.find(&pieces[..star], from) else { return false };
        from = at + star;
        pieces = &pieces[star + 1..];
    }
    is_last_piece_in(pieces, anchored, text, from)
}

fn is_last_piece_in(piece: &[u8], anchored: bool, text: &SearchedText<'_>, from: usize) -> bool {
    if anchored { text.octets()[from..].ends_with(piece) } else { text.find(piece, from).is_some() }
}

/// The result of comparing a pattern as it is written, without preparing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// It can't match, in any form of the target.
    Mismatch,
    /// It is a plain prefix of the target, and its octets are its length.
    Prefix,
    /// Something has to be normalised, or is a wildcard or an anchor.
    LookCloser,
}

/// A target, for the quick comparison with patterns.
pub(crate) struct Glancing<'t> {
    text: &'t [u8],
    first_eight: u64,
    /// How many octets are before the first one that is not plain.
    plain: usize,
}

impl<'t> Glancing<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let plain = NOT_PLAIN.first_in(text).unwrap_or(text.len());
        Self { text, first_eight: first_eight(text), plain }
    }

    /// Compares a pattern as written with the normalised target up to the first octet that is not
    /// plain. Eight octets are enough to see that most rules do not match most targets, so a file that is used for
    /// only one decision never has its patterns prepared. `first_eight` are the first eight octets from
    /// where the pattern is, whether or not all of them belong to it.
    ///
    /// A plain octet where the target has a `%` may be the delimiter that it encodes there (REP-12).
    pub(crate) fn glance(&self, written: &[u8], first_eight: u64) -> Glance {
        let mut met = common_of_first_eight(first_eight, self.first_eight);
        if met == 8 {
            let behind = |text: &'t [u8]| text.get(8..).unwrap_or_default();
            let pairs = written.get(8..).unwrap_or_default().iter().zip(behind(self.text));
            met += pairs.take_while(|(one, other)| one == other).count();
        }
        let met = met.min(written.len()).min(self.text.len());
        match written.get(met) {
            // The common octet is not plain there.
            _ if met > self.plain => Glance::LookCloser,
            Some(&octet) if NOT_PLAIN.has(octet) || self.text.get(met) == Some(&b'%') => {
                Glance::LookCloser
            }
            Some(_) => Glance::Mismatch,
            None if met == 0 => Glance::Mismatch,
            None => Glance::Prefix,
        }
    }
}

/// The octets of a pattern that may mean something else than themselves.
static NOT_PLAIN: OctetSet = not_raw_or(b"*$");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let target = Target::from_path(path).expect("a path");
        let read = PathPattern::new(pattern.as_bytes());
        assert_eq!(read.matches(&target), expected, "{pattern} against {path}");
        let glancing = Glancing::new(target.normalised());
        match glancing.glance(pattern.as_bytes(), first_eight(pattern.as_bytes())) {
            Glance::Mismatch => assert!(!expected, "{pattern} glanced at {path}"),
            Glance::Prefix => assert!(expected, "{pattern} glanced at {path}"),
            Glance::LookCloser => {}
        }
    }

    #[test]
    fn wildcards_and_anchors() {
        check("/fish", "/fish.html", true);
        check("/fish", "/Fish", false);
        check("/fish*", "/fish", true);
        check("/*.php$", "/a.php.php", true);
        check("/*.php$", "/a.php?x", false);
        check("/a*b*c", "/aXbXc", true);
        check("/a*b*c", "/acb", false);
        check("/ab*b$", "/ab", false);
        check("*/x", "/x", true);
        check("/$", "/", true);
        check("/$", "/a", false);
        check("/a$b", "/a$b", true);
        check("/a$b", "/a%24b", true);
        check("", "/", false);
        check("$", "/", false);
        check("*", "/", true);
        check("*$", "/x", true);
        check("private/", "/private/", false);
    }

    #[test]
    fn wildcards_at_the_end_say_nothing() {
        for pattern in ["/a*", "/a**", "/a*$", "/a***$"] {
            check(pattern, "/a", true);
            check(pattern, "/ab", true);
            check(pattern, "/b", false);
            assert_eq!(PathPattern::new(pattern.as_bytes()).octets(), pattern.len());
            assert_eq!(PathPattern::new(pattern.as_bytes()).body(), b"/a");
        }
        check("**", "/", true);
        check("/a%2A*$", "/a*b", true);
        check("/a%2A*$", "/ab", false);
        check("/*b**$", "/abc", true);
        check("/*b**$", "/ac", false);
    }

    #[test]
    fn a_piece_is_found_behind_many_false_starts() {
        check("/*aab", &format!("/{}b", "a".repeat(50)), true);
        check("/*aab", &format!("/{}", "a".repeat(50)), false);
        check("/*aabc*d", &format!("/{}c/d", "aab".repeat(20)), true);
        check("/*aba$", &format!("/{}", "ab".repeat(20)), false);
    }

    #[test]
    fn a_long_piece_is_found_where_it_is() {
        let piece = |length: usize| format!("{}ba", "a".repeat(length));
        for length in [1, 13, 14, 15, 30, 62, 300] {
            for (before, times) in [("", 1), ("b", 20), ("bac", 3), ("bac", 20)] {
                // Many places end as the piece does, and the a before them are one too few.
                let path = format!("/{}", format!("{}{before}", "a".repeat(length - 1)).repeat(times));
                check(&format!("/*{}", piece(length)), &path, false);
                check(&format!("/*{}", piece(length)), &format!("{path}{}/", piece(length)), true);
                check(&format!("/*{}*c", piece(length)), &format!("{path}{}c", piece(length)), true);
                check(&format!("/*{}*bac", piece(length)), &format!("{path}{}c", piece(length)), false);
            }
        }
    }

    #[test]
    fn a_glance_goes_beyond_eight_octets() {
        check("/folder/of/pages", "/folder/of/pages/1", true);
        check("/folder/of/pages", "/folder/of/page", false);
        check("/folder", "/folder", true);
        check("/folder/", "/folder", false);
        check("/folder/*x", "/folder/x", true);
        check("/a$b", "/a$c", false);
    }

    #[test]
    fn escapes_are_compared_normalised() {
        check("/caf%c3%a9", "/café", true);
        check("/a%2Fb", "/a/b", false);
        check("/%7Euser", "/~user", true);
        check("/a b", "/a%20b", true);
        check("/a%2Ab", "/a*b", true);
        check("/a%2Ab", "/a%2ab", true);
        check("/a%2Ab", "/aXb", false);
        check("/a%24", "/a$", true);
        check("/a%24$", "/a%24", true);
        check("/a%24$", "/a%24b", false);
        check("/a%2A*z", "/a*yz", true);
        check("/a$b%2Ac", "/a$b*c", true);
        check("/a$b%2Ac", "/a%24b%2Ac", true);
        check("/a$b%24c", "/a%24b$c", true);
        check("/a$b%24c", "/a$bc", false);
        check("/*$%24b$", "/x$$%24b", true);
        check("/*$%24b$", "/x%24b", false);
        check("/a*24b", "/a%24b", true);
        check("/a*24b$c", "/a%24b$c", false);
        check("/a:(b", "/a%3A%28b", true);
    }

    #[test]
    fn delimiters_are_equal_behind_a_question_mark_of_the_pattern() {
        check("/?u=http://a", "/?u=http%3A%2F%2Fa", true);
        check("/?u=http%3A%2F%2Fa", "/?u=http://a", true);
        check("/?u=%2Fa/b?", "/?u=/a%2Fb%3F", true);
        check("/*u=/", "/?u=%2F", false);
        check("/*u=%2F", "/?u=%2F", true);
        check("/*?u=/", "/?u=%2F", true);
        check("/a?b", "/a%3Fb", false);
        check("/a/b", "/a%2Fb", false);
        check("/?a=b", "/?a%3Db", false);
    }

    #[test]
    fn what_stands_before_its_question_mark_is_compared_as_it_stands() {
        check("/*/b?c", "/a?%2Fb?c", false);
        check("/*/b?c", "/a?%2Fb?/b?c", true);
        check("/*b?c/", "/a?%2Fb?c%2F", true);
        check("/*?c/$", "/a?c%2F?c%2F", true);
        check("/*?c/$", "/a?c%2F?c%2F?", false);
        check("/*a?/a*a/", "/a?a?%2Fa?aa%2F", true);
        check("/*F?/", "/?a=%2F?%2F", true);
        check("/*??", "/?%3F", true);
        check("/*??", "/%3F?a?%2F", false);
        // The piece comes again within itself.
        check("/*?aab/", "/?aaab%2F?aab%2F", true);
        check("/*?aa/aab", "/?aa/aa%2Faab?aa%2Faab", true);
        check("/*?a/a/b", "/?a/a/a%2Fb", false);
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_compared_in_linear_time() {
        let (many, runs) = (20_000, 40);
        let path =
            format!("/{}?{}%2F", "a".repeat(many), format!("{}?", "a".repeat(many / 2)).repeat(runs));
        check(&format!("/*{}?{}/", "a".repeat(many), "a".repeat(many)), &path, false);
        let path = format!("/%2A{}?%2F", "$%24?".repeat(many));
        check(&format!("/*{}x", "$".repeat(many)), &path, false);
        check(&format!("/*{}/", "?".repeat(many)), &path, false);
    }

    #[test]
    fn the_folder_of_an_index_page() {
        assert_eq!(index_page_folder(b"/a/index.html").as_deref(), Some(&b"/a/$"[..]));
        assert_eq!(index_page_folder(b"/a/index.html/b"), None);
        assert_eq!(index_page_folder(b"index.htm"), None);
    }
}
