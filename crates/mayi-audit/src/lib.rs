//! Lines of access logs → hits → findings → a report: which crawlers visited, which of them requested
//! URLs that robots.txt disallows, and what another file would mean for the same traffic.
//!
//! This crate opens no file and no socket and reads no clock: the caller gives it the lines, the files
//! of the sites ([`Sites`]) and what is known about addresses ([`Confirmations`]). Nothing about
//! robots.txt is decided here: every decision comes from `mayi`.
//!
//! ```
//! use mayi_audit::{Audit, Block, File, Format, OneSite, Site, Worker};
//!
//! let file = File::read("robots.txt", b"User-agent: *\nDisallow: /private/\n".to_vec(), &Default::default());
//! let audit = Audit::new(Box::new(OneSite::new(Site::always(file))));
//! let log = b"192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /private/x HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n";
//!
//! let mut worker = Worker::new(&audit);
//! worker.take(&Block { octets: log, source: 0, first_line: 1, format: &Format::detect(log) });
//! let report = audit.report(worker.tally(), &["access.log".to_owned()]);
//! assert_eq!(report.crawlers[0].crawler, "GPTBot");
//! assert_eq!(report.crawlers[0].refused, 1);
//! ```
//!
//! | step | where |
//! | --- | --- |
//! | a line → a [`Hit`] | [`Format`], one file for each format |
//! | a User-Agent string → a crawler | `mayi::registry::Registry::claim`, kept by [`Worker`] |
//! | an address → verified, unverified or contradicted | [`Ranges`], [`Confirmations`] |
//! | a time and a host → the file that applied | [`Site`] |
//! | hits → figures that can be added up in any order | [`AuditTally`] |
//! | figures → what JSON, text, CSV and HTML show | [`AuditReport`] |

mod address;
mod audit;
mod bounded;
mod condition;
mod csv;
mod files;
mod format;
mod hit;
mod html;
mod identity;
mod number;
mod octets;
mod operators;
mod ranges;
mod report;
mod reporting;
mod rules;
mod sketch;
mod svg;
mod tally;
mod time;
mod worker;

pub use address::shortened;
pub use audit::{Audit, Selection};
pub use condition::{Condition, InvalidCondition};
pub use csv::{CsvTable, csv};
pub use files::{File, OneSite, Site, Sites};
pub use format::{Format, InvalidFormat, Unreadable};
pub use hit::Hit;
pub use html::html;
pub use identity::{Confirmations, Identity};
pub use number::with_commas;
pub use operators::{host_names_of, is_host_of};
pub use ranges::{InvalidRanges, Ranges};
pub use report::{
    AddressReport, AskedForRobotsTxt, AuditReport, Becomes, Bounds, CrawlerReport, DayReport, Figures,
    HostReport, IdentityReport, LineReport, PartReport, PathReport, Period, PlainReport,
    ProposalReport, ProposedChange, ProposedCrawler, ProposedPart, RuleReport, UnreadableReport,
};
pub use tally::AuditTally;
pub use time::{InvalidTime, Moment, day_text};
pub use worker::{Block, MOST_LINE, Worker};
