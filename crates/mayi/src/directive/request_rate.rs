//! `Request-rate`: how many pages per time (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `Request-rate: 1/10s` asks for one page in ten seconds.
pub static REQUEST_RATE: Directive = Directive {
    name: "Request-rate",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: Some("request_rate"),
    clause: Clause::WILD_1,
    summary: "how many pages may be requested per period of time",
};
