//! google/robotstxt itself, where `build.rs` has built it from a checkout that the user names.

use std::ffi::c_char;
use std::hint::black_box;

use crate::engines::{Asker, Engine};

unsafe extern "C" {
    fn google_parse(file: *const c_char, file_octets: usize) -> usize;
    fn google_allows(
        file: *const c_char,
        file_octets: usize,
        agent: *const c_char,
        agent_octets: usize,
        url: *const c_char,
        url_octets: usize,
    ) -> bool;
}

/// The engine in C++: keeps nothing, parses the text for each question.
pub struct Google;

impl Engine for Google {
    const NAME: &'static str = "google/robotstxt";
    const KEEPS: &'static str = "nothing: parse events only";
    type Kept<'t> = &'t [u8];

    fn keep<'t>(octets: &'t [u8], _: &Asker) -> Option<&'t [u8]> {
        Some(octets)
    }

    fn allows_url(kept: &&[u8], asker: &Asker, url: &str) -> bool {
        // SAFETY: each pair is the start and the length of octets that live until the call is over, and
        // the functions keep none of them.
        unsafe {
            google_allows(
                kept.as_ptr().cast(),
                kept.len(),
                asker.name.as_ptr().cast(),
                asker.name.len(),
                url.as_ptr().cast(),
                url.len(),
            )
        }
    }

    fn allows_path(kept: &&[u8], asker: &Asker, path: &str) -> bool {
        Self::allows_url(kept, asker, path)
    }

    fn read(octets: &[u8], _: &Asker) -> bool {
        // SAFETY: as above.
        black_box(unsafe { google_parse(octets.as_ptr().cast(), octets.len()) });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_parses_and_decides() {
        let asker = Asker::new("ExampleBot");
        let file = b"User-agent: *\nDisallow: /private/\n";
        assert!(Google::read(file, &asker));
        let kept = Google::keep(file, &asker).expect("it refuses nothing");
        assert!(!Google::allows_url(&kept, &asker, "https://example.com/private/x"));
        assert!(Google::allows_url(&kept, &asker, "https://example.com/public"));
    }
}
