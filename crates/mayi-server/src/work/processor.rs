//! This thread → how much of the processors it had, and how much it is to have.
//!
//! Only Linux has priorities of single threads that anybody may lower. Elsewhere all threads are alike, and the time that
//! passes stands for the time of the processor.

use std::time::Duration;

/// How much lower the priority is: a third of what the others have, where there is not enough for all.
#[cfg(target_os = "linux")]
const LOWER: i32 = 5;

/// Lets other threads go first where there are not enough cores for all.
pub(super) fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        // Without it all is right and some wait longer, so there is nothing to say where the system does not want to.
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
