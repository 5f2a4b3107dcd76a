//! Relative links in Markdown lead to files of the repository.

use super::{Finding, Repository};

/// What a link means.
enum Place {
    /// Another site, or a place within the page.
    Elsewhere,
    /// Beyond the root of the repository.
    Outside,
    /// A path from the root.
    Inside(String),
}

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let documents = repository.with_extension("md");
    documents
        .flat_map(|(path, text)| {
            targets(text).into_iter().filter_map(move |(line, target)| {
                let complaint = match resolve(path, target) {
                    Place::Elsewhere => return None,
                    Place::Inside(file) if repository.contains(&file) => return None,
                    Place::Inside(_) => "does not exist",
                    Place::Outside => "leaves the repository",
                };
                let message = format!("link to `{target}`, which {complaint}");
                Some(Finding::new(path, line, message))
            })
        })
        .collect()
}

/// Returns what links point to, with their lines; code is no place for links.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => found.extend(line_targets(line).into_iter().map(|target| (index + 1, target))),
        }
    }
    found
}

fn line_targets(line: &str) -> Vec<&str> {
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    // The pieces between backticks alternate: text, code, text.
    let text = line.split('`').step_by(2);
    let inline = text.flat_map(|piece| {
        let starts = piece.match_indices("](").map(|(at, _)| at + 2);
        starts.filter_map(|start| piece[start..].split_once(')').map(|(target, _)| target))
    });
    let with_title = definition.into_iter().chain(inline);
    with_title.filter_map(|target| target.split_whitespace().next()).collect()
}

/// Follows a link from the document it stands in.
fn resolve(document: &str, target: &str) -> Place {
    let target = target.trim_matches(['<', '>']);
    let path = target.split('#').next().unwrap_or_default();
    let is_elsewhere = path.contains("://") || path.starts_with("mailto:");
    if path.is_empty() || is_elsewhere {
        return Place::Elsewhere;
    }
    let directory = match path.strip_prefix('/') {
        Some(_) => "",
        None => document.rsplit_once('/').map_or("", |(directory, _)| directory),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Place::Outside;
                }
            }
            part => parts.push(part),
        }
    }
    Place::Inside(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::expect;

    #[track_caller]
    fn check_page(text: &str, expected: &[&str]) {
        let files = [("docs/a.md", text), ("docs/adr/b.md", ""), ("README.md", "")];
        expect(&check(&Repository::of(&files)), expected);
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        check_page("[b](adr/b.md), [b](./adr/b.md#part \"Title\"), [r](../README.md) [r](/README.md)\n", &[]);
        check_page(
            "[adr](adr/), [web](https://example.org/x), [here](#part), <mailto:a@b>\n[r]: adr/b.md\n",
            &[],
        );
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let expected = [
            "docs/a.md:2: link to `adr/c.md`, which does not exist",
            "docs/a.md:2: link to `b.md#x`, which does not exist",
            "docs/a.md:3: link to `gone.md`, which does not exist",
            "docs/a.md:4: link to `../../shared/design.md`, which leaves the repository",
        ];
        check_page(
            "text\n[c](adr/c.md) `code` [b](b.md#x)\n[g]: gone.md\n![d](../../shared/design.md)\n",
            &expected,
        );
    }

    #[test]
    fn code_holds_no_links() {
        check_page("`[c](nowhere.md)`\n```text\n[c](nowhere.md)\n```\n~~~\n```\n[c](x.md)\n~~~\n", &[]);
    }
}
