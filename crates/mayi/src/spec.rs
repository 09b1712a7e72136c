//! The clauses that this crate implements, as a registry.
//!
//! A clause id such as `REP-12` is what code, vectors, explanations and documentation cite. Each entry
//! says in a sentence what is required. `docs/conformance.md` is made from this table and from the
//! vectors, and a clause without a vector fails the tests.

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
     count. Names are compared case-insensitively.";
    REP_3, "REP-3", "2.2",
    "Blank lines and comments never end a group; `#` starts a comment anywhere in a line.";
    REP_4, "REP-4", "2.2.1",
    "A value of a group-start line starts with a product token: the longest run of letters, `_`, `-`, \
     digits and dots, without dots at its end. The line names the crawler if that token equals the \
     crawler's, ignoring case. `*`, alone or before white space, is the global token. If the caller gives \
     a product token with other characters, that is an error of the caller.";
    REP_5, "REP-5", "2.2.1",
    "All groups that match the crawler are combined.";
    REP_6, "REP-6", "2.2.1",
    "If no group matches, the global groups apply, all of them together (in the dialect koster-00 only \
     the first). If there are none, no rules apply.";
    REP_7, "REP-7", "2.2.2",
    "Patterns are compared, case-sensitively, with the path and query of the URL from the first octet on; \
     a URL without a path has the path `/`. A URL of http or https is read as clients read it: white \
     space around it and tabs and line ends in it are removed, `\\` means `/`, dot segments are resolved. \
     Nothing else is repaired.";
    REP_8, "REP-8", "2.2.2",
    "The matching rule with the most octets in its normalised pattern wins; at equal length, allow wins.";
    REP_9, "REP-9", "2.2.2",
    "If no rule matches, the URL is allowed; an empty pattern matches nothing.";
    REP_10, "REP-10", "2.2.2",
    "`/robots.txt` itself is always allowed.";
    REP_11, "REP-11", "2.2.2",
    "Pattern and URL are normalised in the same way: octets that may not be raw in a URI are \
     percent-encoded, escapes of unreserved characters and of reserved ones that delimit nothing in a \
     path or query are decoded, other escapes get upper-case digits, and a stray `%` stays.";
    REP_12, "REP-12", "2.2.2",
    "After the first `?` of the pattern itself, `/`, `?` and `#` equal their escapes after the first `?` \
     of the URL. Elsewhere they differ. A pattern without a `?` is compared with the query as it is.";
    REP_13, "REP-13", "2.2.2",
    "Rules before the first group-start line are ignored.";
    REP_14, "REP-14", "2.2.2",
    "A file that is not UTF-8 is still used: byte order marks and the caller's charset are used to decode \
     it, other octets are taken as they are, and NUL ends nothing.";
    REP_15, "REP-15", "2.2.3",
    "`*` matches any run of octets anywhere in a pattern; `$` anchors at its end and is literal \
     elsewhere.";
    REP_16, "REP-16", "2.2.3",
    "`%2A` and `%24` in a pattern are a literal `*` and `$`, raw or encoded in the URL; so is a raw `$` \
     that does not end the pattern.";
    REP_17, "REP-17", "2.2.4",
    "Other records never end a group and never affect other lines; `Sitemap` belongs to the file.";
    REP_18, "REP-18", "2.3",
    "The file is `/robots.txt` at the root of the authority: scheme, host in lower-case ASCII form, \
     and port unless it is the scheme's own; http, https and ftp have one, other schemes are an error.";
    REP_19, "REP-19", "2.3.1.2",
    "Five redirects in a row are followed, across authorities, and the rules apply to the first \
     authority. More redirects, a loop, or a redirect to a scheme other than http(s) make the file \
     unavailable.";
    REP_20, "REP-20", "2.3.1.3",
    "400 to 499 is unavailable: everything is allowed, or by option a copy of at most 24 hours is used.";
    REP_21, "REP-21", "2.3.1.4",
    "500 to 599, network errors and every other status are unreachable: everything is disallowed unless \
     there is a copy. By option, the file counts as unavailable after a configurable time.";
    REP_22, "REP-22", "2.3.1.5",
    "Each line is read by itself; a bad line never makes a good one unreadable.";
    REP_23, "REP-23", "2.4",
    "A copy is used for at most 24 hours unless the file is unreachable; within that, HTTP cache \
     control decides.";
    REP_24, "REP-24", "2.5",
    "At least 500 KiB are read. Everything after the limit is ignored, and so is the whole line that the \
     limit cuts.";
    REP_25, "REP-25", "2.2.2",
    "Matching takes time linear in URL plus pattern, for any pattern.";
    REP_26, "REP-26", "3",
    "The draft's examples hold as printed.";
    PUR_1, "PUR-1", "draft-illyes-rep-purpose",
    "`User-Agent-Purpose` starts a group as `User-agent` does, alone or together with it.";
    PUR_2, "PUR-2", "draft-illyes-rep-purpose",
    "Purpose tokens are compared as a whole, case-insensitively. A purpose that a crawler claims and a \
     file names counts, registered or not, unless the caller accepts only registered purposes.";
    PUR_3, "PUR-3", "draft-illyes-rep-purpose",
    "The product token chooses first, then a regular expression, then a purpose, then `*`; all matching \
     groups of the chosen kind are combined.";
    PUR_4, "PUR-4", "draft-illyes-rep-purpose",
    "A crawler's product token and purposes have to be substrings of its User-Agent string, if one is \
     given; otherwise it is an error of the caller.";
    PUR_5, "PUR-5", "draft-illyes-rep-purpose",
    "The draft's example holds as printed.";
    AIA_1, "AIA-1", "draft-jimenez-tbd-robotstxt-update",
    "A product token that ends in `-ai` means a crawler that collects data for training.";
    AIA_2, "AIA-2", "draft-jimenez-tbd-robotstxt-update",
    "A user-agent value whose first word is a regular expression selects the crawlers whose whole product \
     token that word matches, ignoring case.";
    AIA_3, "AIA-3", "draft-jimenez-tbd-robotstxt-update",
    "Regular expressions run in linear time and have a size limit; a line whose expression does not \
     compile is ignored.";
    AIA_4, "AIA-4", "draft-jimenez-tbd-robotstxt-update",
    "A product token beats a regular expression, which beats a purpose; all that match are combined.";
    AIA_5, "AIA-5", "draft-jimenez-tbd-robotstxt-update",
    "A user-agent line may continue with an `Allow:` or `Disallow:` rule, which is the group's first rule.";
    AIA_6, "AIA-6", "draft-jimenez-tbd-robotstxt-update",
    "The draft's examples hold as printed.";
    APP_1, "APP-1", "draft-nottingham-plan-b",
    "`App-Directives` and `App-Directive` are the same rule of a group: a group-start line after it \
     starts a new group.";
    APP_2, "APP-2", "draft-nottingham-plan-b",
    "The value is a path pattern, if it starts with `/`, and a Structured Fields List. A value without a \
     path matches every URL, with zero octets.";
    APP_3, "APP-3", "draft-nottingham-plan-b",
    "Members that are Tokens name applications, and their parameters are directives of any bare type; \
     other members are ignored.";
    APP_4, "APP-4", "draft-nottingham-plan-b",
    "Rules with the same pattern are one List in file order; the later value of a directive wins. A line \
     that does not parse is ignored, and only that line.";
    APP_5, "APP-5", "draft-nottingham-plan-b",
    "An application uses the groups that its registered product token selects by name, else by regular \
     expression, else those of `*`. For an application that is not registered, the crawler's own token is \
     used.";
    APP_6, "APP-6", "draft-nottingham-plan-b",
    "Of the rules that match the URL and name the application, only the longest apply.";
    APP_7, "APP-7", "draft-nottingham-plan-b",
    "Directives never change access, and access never changes directives.";
    APP_8, "APP-8", "draft-nottingham-plan-b",
    "Applications and directives are registered with their types: a value of the wrong type is not used, \
     and what is not registered is passed on unchanged.";
    APP_9, "APP-9", "draft-nottingham-plan-b",
    "A directive overrides a conflicting Content-Usage preference that its file states, for the category \
     that it is registered for, and nothing else. If no preference is stated, it is a signal about the \
     use.";
    APP_10, "APP-10", "draft-nottingham-plan-b",
    "App-Directives outside of a `*` group are read, and reported with a recommendation.";
    TAG_1, "TAG-1", "draft-illyes-repext",
    "The fields Robots-Tag and X-Robots-Tag, on any number of lines, are read together.";
    TAG_2, "TAG-2", "draft-illyes-repext",
    "Robots-Tag is structured: a product token, `*` or nothing, with rules as parameters or as an inner \
     list; the draft's own spellings, with trailing `;` and `=`, are read too, and so is a String for a \
     Token.";
    TAG_3, "TAG-3", "draft-illyes-repext",
    "Entries of one product token, ignoring case, are merged, and each rule counts once.";
    TAG_4, "TAG-4", "draft-illyes-repext",
    "In a structured field a crawler's own entry replaces the global one; by request or option both \
     count. In the old syntax both always count.";
    TAG_5, "TAG-5", "practice",
    "X-Robots-Tag is read in the syntax in use unless a member has parameters or is a bare `*`; a rule \
     alone in Robots-Tag is that rule for all crawlers.";
    TAG_6, "TAG-6", "draft-illyes-repext",
    "At least 8 KiB of a field are read; members that are completely within the limit count.";
    TAG_7, "TAG-7", "draft-illyes-repext",
    "A meta element named robots is for all crawlers; one with another name is for the crawler with that \
     product token. All of them are combined.";
    TAG_8, "TAG-8", "draft-illyes-repext",
    "Only meta elements that the HTML standard puts in the head count, up to a size limit.";
    TAG_9, "TAG-9", "draft-illyes-repext",
    "Rule names are case-insensitive, tokens may start with a digit, and rules that are not understood \
     are ignored and listed.";
    TAG_10, "TAG-10", "draft-illyes-repext",
    "A restriction applies if it is in the header or in a meta element.";
    TAG_11, "TAG-11", "draft-illyes-repext",
    "A decision says for how long the response's fields keep its rules fresh; without a Date, Expires is \
     counted from the caller's time, or says nothing.";
    TAG_12, "TAG-12", "draft-illyes-repext",
    "Header octets that are not text, and HTML in any encoding, never hide a rule that can be read.";
    USE_1, "USE-1", "draft-ietf-aipref-attach",
    "`Content-Usage` is a rule of a group: a path, if it starts with `/`, and a Structured Fields \
     Dictionary; the response header of that name has the same Dictionary.";
    USE_2, "USE-2", "draft-ietf-aipref-vocab",
    "Each category is allowed by the token `y`, disallowed by `n` and unknown otherwise; labels outside \
     of the vocabulary are listed separately.";
    USE_3, "USE-3", "draft-ietf-aipref-attach",
    "Only the longest matching path decides; rules of the same length are combined, and the most \
     restrictive wins. A rule that can't be read still counts for its path, and its preferences are \
     unknown.";
    USE_4, "USE-4", "draft-ietf-aipref-attach",
    "A URL that may not be fetched has no preferences.";
    USE_5, "USE-5", "draft-ietf-aipref-vocab",
    "What the file states (after the directives that override it) and the header are combined, and the \
     most restrictive wins. The preferences of a header that does not parse are unknown, and the decision \
     says so.";
    USE_6, "USE-6", "summary",
    "Each use gets one answer from all signals about it; the most restrictive wins.";
    WILD_1, "WILD-1", "practice",
    "Other records that are in common use are read and reported, and never change access.";
    WILD_2, "WILD-2", "practice",
    "Common misspellings of names, and a missing colon between exactly two words, are read as intended.";
    WILD_3, "WILD-3", "practice",
    "The page rules in common use are understood, with their values; `unavailable_after` applies from its \
     date on.";
    WILD_4, "WILD-4", "practice",
    "A pattern that starts with `*` is matched as written; one that starts with neither `*` nor `/` \
     matches nothing.";
    WILD_5, "WILD-5", "practice",
    "A product token may have digits and dots.";
    WILD_6, "WILD-6", "practice",
    "Known crawlers fall back to another token before `*`, or ignore `*` completely; a caller can \
     configure this too.";
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
