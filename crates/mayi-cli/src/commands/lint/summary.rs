//! The findings in many files → a table: how many each lint has, and in how many files.

use std::io::{self, Write};

use mayi::report::LintSummary;

use crate::text::{STRONG, counted, styled};

pub(super) fn write(summary: &LintSummary, out: &mut impl Write) -> io::Result<()> {
    if !summary.lints.is_empty() {
        let head =
            format!("{:<5} {:<30} {:<8} {:>8} {:>7}", "code", "name", "severity", "findings", "files");
        writeln!(out, "{}", styled(STRONG, head))?;
    }
    for (code, lint) in &summary.lints {
        let (name, severity) = (&lint.name, lint.severity.name());
        writeln!(out, "{code:<5} {name:<30} {severity:<8} {:>8} {:>7}", lint.findings, lint.files)?;
    }
    let (files, clean) = (counted(summary.files, "file"), summary.clean);
    writeln!(out, "{files}, {clean} with nothing to report")
}
