//! The service over real sockets.

mod answers;
mod document;
mod fetching;
mod hosts;
mod limits;
mod operation;
mod protocols;
mod support;
mod traces;
