//! What nobody waits for: moving tasks after the rules changed, looking for files that
//! tasks wait for, counting what became of prompts, and a slow check of everything.

use std::path::{Component, Path};
use std::sync::atomic::Ordering;

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::id::TaskNumber;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ArtifactWait, ArtifactWaits, ArtifactsFound, Doctor, Rerank, Reranked, RulesRead,
};
use tokio::sync::watch as flag;
use tokio::time::timeout;

use crate::desk::Desk;

/// How often files are looked for, and for what other servers changed.
const NET: Span = Span::from_secs(1);
/// How often the slow check looks at another page of tasks.
const EXAMINATION: Span = Span::from_secs(10);
/// How many tasks that page has.
const EXAMINED: i64 = 100;

/// Does the desk's chores.
#[derive(Debug)]
pub(crate) struct Chores {
    examined: Timestamp,
    /// The last task the slow check looked at.
    at: TaskNumber,
}

impl Chores {
    pub(crate) const fn new(now: Timestamp) -> Self {
        Self { examined: now, at: TaskNumber(0) }
    }

    /// Does what there is to do until told to stop.
    pub(crate) async fn run(mut self, desk: Desk, mut stopped: flag::Receiver<bool>) {
        loop {
            if let Err(error) = self.round(&desk).await {
                tracing::warn!("re-ranks, files and counts wait: {}", error.with_cause());
            }
            tokio::select! {
                _ = stopped.changed() => return,
                _ = timeout(NET.to_std(), desk.shared.nudged.notified()) => {}
            }
        }
    }

    /// Does what there is to do now.
    pub(crate) async fn round(&mut self, desk: &Desk) -> Result<(), Error> {
        let (rules, reranking) = desk.read(RulesRead).await?;
        desk.shared.poll_interval_secs.store(rules.poll_interval_secs, Ordering::Relaxed);
        if reranking {
            while desk.write(Rerank { ctx: desk.ctx(Caller::Desk) }).await? == Reranked::More {}
        }
        look_for_files(desk).await?;
        desk.count_prompts().await?;
        let now = desk.now();
        if now.since(self.examined) >= EXAMINATION {
            self.examined = now;
            self.examine(desk).await?;
        }
        Ok(())
    }

    /// Checks another page of tasks. It only tells: a repair is a person's decision.
    async fn examine(&mut self, desk: &Desk) -> Result<(), Error> {
        let checked = desk.read(Doctor { after: self.at, limit: EXAMINED }).await?;
        self.at = checked.next.unwrap_or(TaskNumber(0));
        metrics::counter!("extraboard_differences_total").increment(checked.differences.len() as u64);
        for difference in checked.differences {
            tracing::error!(task.number = difference.task.0, "{difference}: see `xb doctor`");
        }
        Ok(())
    }
}

/// Looks for the files queued tasks wait for.
async fn look_for_files(desk: &Desk) -> Result<(), Error> {
    let mut after = TaskNumber(0);
    loop {
        let waits = desk.read(ArtifactWaits { after }).await?;
        let Some(last) = waits.last() else { return Ok(()) };
        after = last.task;
        let found = tokio::task::spawn_blocking(|| waits.into_iter().filter(is_there).collect::<Vec<_>>());
        // A look that panicked found nothing.
        let found = found.await.unwrap_or_default();
        if !found.is_empty() {
            desk.write(ArtifactsFound { ctx: desk.ctx(Caller::Desk), found }).await?;
        }
    }
}

/// Tells whether a file lies in its workspace; links must not lead out of there.
fn is_there(wait: &ArtifactWait) -> bool {
    let path = Path::new(&wait.path);
    if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return false;
    }
    let workspace = Path::new(&wait.workspace);
    match (workspace.canonicalize(), workspace.join(path).canonicalize()) {
        (Ok(workspace), Ok(file)) => file.starts_with(workspace),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(workspace: &Path, path: &str) -> ArtifactWait {
        let workspace = workspace.display().to_string();
        ArtifactWait { task: TaskNumber(1), workspace, path: path.to_owned() }
    }

    #[test]
    fn a_file_is_found_in_its_workspace_only() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspace");
        std::fs::create_dir_all(workspace.join("specs")).unwrap();
        std::fs::write(workspace.join("specs/a.md"), "a").unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), workspace.join("link")).unwrap();
        assert!(is_there(&wait(&workspace, "specs/a.md")));
        assert!(is_there(&wait(&workspace, "./specs")));
        for path in ["specs/b.md", "../secret", "link", "/etc/passwd", "specs/../../secret"] {
            assert!(!is_there(&wait(&workspace, path)), "{path}");
        }
        assert!(!is_there(&wait(&dir.path().join("none"), "a")));
    }
}
