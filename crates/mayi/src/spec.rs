//! The clauses that this crate implements, as a registry.
//!
//! A clause id such as `REP-12` is what code, vectors, explanations and documentation cite. Each
//! entry says in a sentence what is required; `docs/conformance.md` is made from this table and
//! from the vectors, and a clause that no vector shows fails the tests.

use std::fmt;

/// One numbered requirement.
///
/// ```
/// use mayi::Clause;
///
/// let clause = Clause::named("REP-8").expect("it is in the registry");
/// assert_eq!(clause.id(), "REP-8");
/// assert!(clause.requirement().contains("octets"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clause(u8);

struct Entry {
    id: &'static str,
    section: &'static str,
    requirement: &'static str,
}

impl Clause {
    /// Every clause, in the order of the registry.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..ENTRIES.len()).map(|index| Self(index as u8))
    }

    /// The clause with this id.
    pub fn named(id: &str) -> Option<Self> {
        Self::all().find(|clause| clause.id() == id)
    }

    /// Its id, e.g. `REP-12`.
    pub fn id(self) -> &'static str {
        ENTRIES[self.0 as usize].id
    }

    /// The section of the draft that it comes from.
    pub fn section(self) -> &'static str {
        ENTRIES[self.0 as usize].section
    }

    /// What it requires, in a sentence.
    pub fn requirement(self) -> &'static str {
        ENTRIES[self.0 as usize].requirement
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Makes the table and a constant for each of its rows, so that code can't cite a clause that is
/// not there.
macro_rules! clauses {
    ($($constant:ident, $id:literal, $section:literal, $requirement:literal;)*) => {
        static ENTRIES: &[Entry] = &[
            $(Entry { id: $id, section: $section, requirement: $requirement },)*
        ];

        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u8)]
        enum Index { $($constant,)* }

        impl Clause {
            $(
                #[doc = concat!("`", $id, "`: ", $requirement)]
                pub const $constant: Self = Self(Index::$constant as u8);
            )*
        }
    };
}

clauses! {
    REP_1, "REP-1", "2.1",
    "A group is one or more group-start lines and the rules after them; a group-start line after a \
     rule, or the end of the file, ends it. A group with no rules allows everything.";
    REP_2, "REP-2", "2.2",
    "Lines end in CR, LF or CRLF, mixed freely. Spaces and tabs around name, colon and value do not \
     count, nor does the case of a name.";
    REP_3, "REP-3", "2.2",
    "Blank lines and comments never end a group; `#` starts a comment anywhere in a line.";
    REP_4, "REP-4", "2.2.1",
    "A group-start line names the crawler when its value starts with the crawler's product token, in \
     any case, and no further letter, `_` or `-` follows; `*`, alone or before white space, is the \
     global token. A product token of other characters is an error of the caller.";
    REP_5, "REP-5", "2.2.1",
    "All groups that match the crawler count as one.";
    REP_6, "REP-6", "2.2.1",
    "Without a match the global groups apply, all of them together (in the dialect koster-00 only the \
     first); without those, no rules apply.";
    REP_7, "REP-7", "2.2.2",
    "Patterns are compared, case and all, with the path and query of the URL from the first octet on; \
     no path is `/`, dot segments are resolved first, and nothing else of the URL is repaired.";
    REP_8, "REP-8", "2.2.2",
    "The matching rule with the most octets in its normalised pattern wins; at equal length, allow.";
    REP_9, "REP-9", "2.2.2",
    "Where no rule matches the URL is allowed; an empty pattern matches nothing.";
    REP_10, "REP-10", "2.2.2",
    "`/robots.txt` itself is always allowed.";
    REP_11, "REP-11", "2.2.2",
    "On both sides, octets that may not stand raw in a URI are percent-encoded, escapes of unreserved \
     characters are decoded, other escapes get upper-case digits, and a stray `%` stays.";
    REP_12, "REP-12", "2.2.2",
    "In the query a gen-delim and its escape are equal: a pattern matches if it matches the URL with \
     its query's gen-delims all raw, or all encoded. In the path they differ.";
    REP_13, "REP-13", "2.2.2",
    "Rules before the first group-start line are ignored.";
    REP_14, "REP-14", "2.2.2",
    "A file that is not UTF-8 is still used: byte order marks and the caller's charset are honoured, \
     other octets stand for themselves, and NUL ends nothing.";
    REP_15, "REP-15", "2.2.3",
    "`*` matches any run of octets anywhere in a pattern; `$` anchors at its end and is literal \
     elsewhere.";
    REP_16, "REP-16", "2.2.3",
    "`%2A` and `%24` in a pattern are a literal `*` and `$`, raw or encoded in the URL.";
    REP_17, "REP-17", "2.2.4",
    "Other records never end a group and never disturb the rest; `Sitemap` belongs to the file.";
    REP_18, "REP-18", "2.3",
    "The file is `/robots.txt` at the root of the authority: scheme, host in lower-case ASCII form, \
     and port unless it is the scheme's own; http, https and ftp have one, other schemes are an error.";
    REP_19, "REP-19", "2.3.1.2",
    "Five redirects in a row are followed, across authorities, and the rules hold for the first one; \
     more, a loop, or a redirect away from http(s) make the file unavailable.";
    REP_20, "REP-20", "2.3.1.3",
    "400 to 499 is unavailable: everything is allowed, or by option a copy of at most 24 hours holds.";
    REP_21, "REP-21", "2.3.1.4",
    "500 to 599, network errors and every other status are unreachable: everything is disallowed \
     unless there is a copy; after a settable time, by option, it is unavailable.";
    REP_22, "REP-22", "2.3.1.5",
    "Each line is tried alone; a bad line never takes a good one with it.";
    REP_23, "REP-23", "2.4",
    "A copy is used for at most 24 hours unless the file is unreachable; within that, HTTP cache \
     control decides.";
    REP_24, "REP-24", "2.5",
    "At least 500 KiB are read; past the limit the rest is ignored and the line that it cuts through \
     is dropped whole.";
    REP_25, "REP-25", "2.2.2",
    "Matching takes time linear in URL plus pattern, for any pattern.";
    REP_26, "REP-26", "3",
    "The draft's examples hold as printed.";
    WILD_2, "WILD-2", "practice",
    "Common misspellings of names, and a missing colon between exactly two words, are read as meant.";
    WILD_4, "WILD-4", "practice",
    "A pattern that starts with `*` is matched as written; one that starts with neither `*` nor `/` \
     matches nothing.";
    WILD_5, "WILD-5", "practice",
    "A product token may have digits and dots.";
    WILD_7, "WILD-7", "practice",
    "Names match exactly or by the list of misspellings; the dialect google matches them by prefix.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_constants_point_at_them() {
        let mut ids: Vec<_> = Clause::all().map(Clause::id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Clause::all().len());
        assert_eq!(Clause::REP_12.to_string(), "REP-12");
        assert_eq!(Clause::named("WILD-7"), Some(Clause::WILD_7));
        assert_eq!(Clause::REP_19.section(), "2.3.1.2");
    }
}
