//! Many callers at once, timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;

use crate::clock::now;
use crate::work::Work;

/// How long things took.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// From the first to the last.
    pub(crate) elapsed: Duration,
    /// Each by itself.
    pub(crate) each: Vec<Duration>,
}

impl Times {
    /// Adds what was measured later.
    pub(crate) fn extend(&mut self, later: Self) {
        self.elapsed += later.elapsed;
        self.each.extend(later.each);
    }
}

/// Lets callers do something so many times altogether, whoever is free next.
pub(crate) async fn call<W: Work>(work: &W, callers: usize, count: usize) -> Result<Times> {
    let left = Arc::new(AtomicUsize::new(count));
    let started = now();
    let mut calling = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let (work, left) = (work.clone(), Arc::clone(&left));
        calling.spawn(async move {
            let mut each = Vec::new();
            let take = |left: usize| left.checked_sub(1);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                let begun = now();
                work.once(caller).await?;
                each.push(begun.elapsed());
            }
            Ok::<_, anyhow::Error>(each)
        });
    }
    let mut each = Vec::new();
    while let Some(caller) = calling.join_next().await {
        each.extend(caller??);
    }
    Ok(Times { elapsed: started.elapsed(), each })
}
