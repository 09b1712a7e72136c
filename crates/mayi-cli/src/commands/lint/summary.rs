//! Many files → how many diagnostics of each lint there are, and in how many files.

use std::collections::BTreeMap;
use std::io::{self, Write};

use mayi::lint::{Lint, Severity};
use serde_json::{Value, json};

use crate::text::{STRONG, counted, styled};

#[derive(Default)]
pub(super) struct Summary {
    files: usize,
    clean: usize,
    /// By code: the lint, its worst severity, how many diagnostics, and in how many files.
    lints: BTreeMap<&'static str, (&'static Lint, Severity, usize, usize)>,
}

impl Summary {
    pub(super) fn add(&mut self, counts: &[(&'static Lint, Severity, usize)]) {
        self.files += 1;
        self.clean += usize::from(counts.is_empty());
        for (lint, worst, total) in counts {
            let entry = self.lints.entry(lint.code).or_insert((lint, *worst, 0, 0));
            entry.1 = entry.1.max(*worst);
            entry.2 += total;
            entry.3 += 1;
        }
    }

    /// The same for programs.
    pub(super) fn to_json(&self) -> Value {
        let lints: serde_json::Map<String, Value> = self
            .lints
            .iter()
            .map(|(code, (lint, worst, findings, files))| {
                let (name, severity) = (lint.name, worst.name());
                let entry =
                    json!({ "name": name, "severity": severity, "findings": findings, "files": files });
                ((*code).to_owned(), entry)
            })
            .collect();
        json!({ "files": self.files, "clean": self.clean, "lints": lints })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.lints.is_empty() {
            let head = format!(
                "{:<5} {:<30} {:<8} {:>8} {:>7}",
                "code", "name", "severity", "findings", "files"
            );
            writeln!(out, "{}", styled(STRONG, head))?;
        }
        for (code, (lint, worst, total, files)) in &self.lints {
            writeln!(out, "{code:<5} {:<30} {:<8} {total:>8} {files:>7}", lint.name, worst.name())?;
        }
        let (files, clean) = (counted(self.files, "file"), self.clean);
        writeln!(out, "{files}, {clean} with nothing to report")
    }
}
