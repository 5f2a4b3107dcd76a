//! The prompt of a task, until templates make better ones.

use extraboard_core::task::Task;

/// Returns the task in plain words.
pub fn plain(task: &Task) -> String {
    let mut prompt = format!("# #{} {}\n", task.number, one_line(&task.title));
    for text in [task.description.clone(), answered(task)].into_iter().flatten() {
        prompt = format!("{prompt}\n{text}\n");
    }
    prompt
}

/// Returns what a person answered to what was asked about the task.
fn answered(task: &Task) -> Option<String> {
    let answer = task.answer.as_ref()?;
    Some(match &task.question {
        Some(question) => format!("## You asked\n\n{question}\n\n## The answer\n\n{answer}"),
        None => format!("## The answer\n\n{answer}"),
    })
}

/// Keeps a title on its line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
