//! `Sitemap`: the URL of a sitemap; it belongs to the file, wherever the line is (REP-17).

use super::{Clause, Directive, Role};

/// `Sitemap: https://example.com/sitemap.xml` names a sitemap of the site.
pub static SITEMAP: Directive = Directive {
    name: "Sitemap",
    aliases: &[],
    misspellings: &["site-map"],
    role: Role::FileRecord,
    extension: None,
    listed_as: None,
    clause: Clause::REP_17,
    summary: "the URL of a sitemap, for every crawler",
};
