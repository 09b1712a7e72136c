//! One file a command.

pub(crate) mod check;
pub(crate) mod decide;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod lint;
pub(crate) mod page;
pub(crate) mod registry;
