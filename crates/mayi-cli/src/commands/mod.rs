//! One file per command.

pub(crate) mod audit;
pub(crate) mod bulk;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod decide;
pub(crate) mod diff;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod fetch;
pub(crate) mod fmt;
pub(crate) mod generate;
pub(crate) mod lint;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod registry;
pub(crate) mod serve;
pub(crate) mod served;
