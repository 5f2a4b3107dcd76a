//! The prompt of a task, until templates make better ones.

use extraboard_core::task::Task;

/// Returns the task in plain words.
pub fn plain(task: &Task) -> String {
    let title = one_line(&task.title);
    match &task.description {
        Some(description) => format!("# #{} {title}\n\n{description}\n", task.number),
        None => format!("# #{} {title}\n", task.number),
    }
}

/// Keeps a title on its line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
