//! Cells → a table in Markdown.

pub struct Table {
    /// How many columns hold words; those behind them hold figures and stand to the right.
    words: usize,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<T: Into<String>>(words: usize, head: impl IntoIterator<Item = T>) -> Self {
        Self { words, head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<_> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.head.len(), "{cells:?}");
        self.rows.push(cells);
    }

    /// The table with an empty line behind it.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<_> = (0..self.head.len())
            .map(|column| if column < self.words { "---".to_owned() } else { "---:".to_owned() })
            .collect();
        let mut text = line(&self.head) + &line(&rule);
        text.extend(self.rows.iter().map(|row| line(row)));
        text + "\n"
    }
}
