//! Answers of a site's owner → the first robots.txt of a site.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::goal::path_of;

/// What a new file should say to everybody. [`edit`](super::edit) then adds goals.
///
/// ```
/// let mut file = mayi::edit::NewFile::default();
/// file.keep_out.push("/cart/".into());
/// assert_eq!(file.text()?, "User-agent: *\nDisallow: /cart/\n");
/// # Ok::<(), mayi::edit::InvalidFile>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NewFile<'a> {
    /// Paths that nobody may fetch.
    #[serde(borrow)]
    pub keep_out: Vec<Cow<'a, str>>,
    /// Exceptions to them.
    #[serde(borrow)]
    pub let_in: Vec<Cow<'a, str>>,
}

impl NewFile<'_> {
    /// The text of the file.
    ///
    /// # Errors
    ///
    /// If a path can't be written in a file.
    pub fn text(&self) -> Result<String, InvalidFile> {
        let mut lines = vec!["User-agent: *".to_owned()];
        let allowed = self.let_in.iter().map(|path| ("Allow", path));
        for (name, path) in allowed.chain(self.keep_out.iter().map(|path| ("Disallow", path))) {
            let path = path_of(path).map_err(|error| InvalidFile(error.to_string()))?;
            lines.push(format!("{name}: {path}"));
        }
        if self.keep_out.is_empty() {
            lines.push("Disallow:".to_owned());
        }
        lines.push(String::new());
        Ok(lines.join("\n"))
    }
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidFile(String);

impl fmt::Display for InvalidFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidFile {}
