//! This thread → the processor time that it has used, and its priority.
//!
//! Only Linux has priorities of single threads that any process may lower. Elsewhere all threads have
//! the same priority, and elapsed time is used for processor time.

use std::time::Duration;

/// How much lower the priority is: a third of the processor time of the others, if there is not enough for
/// all.
#[cfg(target_os = "linux")]
const LOWER: i32 = 5;

/// Lets other threads run first if there are not enough cores for all.
pub(super) fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        // Without it everything is right and only some wait longer, so a failure needs no message.
        let now = getpriority_process(None).unwrap_or(0);
        let _ = setpriority_process(None, now + LOWER);
    }
}

/// The time that this thread has had of a processor.
#[cfg(target_os = "linux")]
pub(super) fn time_of_this_thread() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The time that this thread has had of a processor, or more.
#[cfg(not(target_os = "linux"))]
pub(super) fn time_of_this_thread() -> Duration {
    thread_local! {
        static START: std::time::Instant = std::time::Instant::now();
    }
    START.with(std::time::Instant::elapsed)
}
