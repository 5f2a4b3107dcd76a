//! Aligned columns.

use super::{Style, clean_line};

/// The longest cell that is printed whole.
const CELL_CHARS_MAX: usize = 80;
const GAP: &str = "  ";
const BOLD: &str = "\u{1b}[1m";
const RESET: &str = "\u{1b}[0m";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows under headings. Cells are cleaned, and cut where they are very long.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| cut(&clean_line(&cell))).collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// Returns the whole table, a line per row.
    pub(crate) fn render(&self, style: Style) -> String {
        let headings: Vec<String> = self.columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        let first = match style {
            Style::Plain => self.line(&headings),
            Style::Color => format!("{BOLD}{}{RESET}", self.line(&headings)),
        };
        let rest = self.rows.iter().map(|row| self.line(row));
        std::iter::once(first).chain(rest).map(|line| line + "\n").collect()
    }

    fn line(&self, cells: &[String]) -> String {
        let padded = cells.iter().zip(&self.columns).enumerate().map(|(index, (cell, (_, align)))| {
            let width = self.width(index);
            match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            }
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }

    fn width(&self, index: usize) -> usize {
        let heading = self.columns[index].0.chars().count();
        let cells = self.rows.iter().map(|row| row[index].chars().count());
        cells.fold(heading, usize::max)
    }
}

fn cut(cell: &str) -> String {
    if cell.chars().count() <= CELL_CHARS_MAX {
        return cell.to_owned();
    }
    cell.chars().take(CELL_CHARS_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(&[("ID", Align::Right), ("STATE", Align::Left), ("TITLE", Align::Left)]);
        table.row(["#7".to_owned(), "queued".to_owned(), "Lay the track\u{1b}[2J".to_owned()]);
        table.row(["#1024".to_owned(), "in_review".to_owned(), "Grüße\nund mehr".to_owned()]);
        table
    }

    #[test]
    fn columns_line_up() {
        insta::assert_snapshot!(sample().render(Style::Plain), @r"
           ID  STATE      TITLE
           #7  queued     Lay the track�[2J
        #1024  in_review  Grüße und mehr
        ");
    }

    #[test]
    fn only_the_heading_is_set_off() {
        let text = sample().render(Style::Color);
        assert!(text.starts_with("\u{1b}[1m   ID"), "{text:?}");
        assert_eq!(text.matches('\u{1b}').count(), 2);
    }

    #[test]
    fn long_cells_are_cut() {
        let mut table = Table::new(&[("TITLE", Align::Left)]);
        table.row(["x".repeat(500)]);
        assert_eq!(table.rows[0][0].chars().count(), CELL_CHARS_MAX);
        assert!(table.rows[0][0].ends_with('…'));
    }
}
