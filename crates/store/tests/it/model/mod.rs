//! Random sequences of verbs against a model small enough to be read at once.

mod board;
mod step;

use proptest::collection::vec;
use proptest::strategy::Strategy as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::harness::TestStore;
use board::Board;
use step::Step;

const STEPS_MAX: usize = 60;

/// Runs cases that are the same on every run; a failure is shrunk to its shortest steps.
fn check(cases: u32, fresh: impl AsyncFn() -> TestStore) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let steps = vec(step::any_step(), 1..STEPS_MAX).prop_map(|steps: Vec<Step>| steps);
    let outcome = runner.run(&steps, |steps| {
        runtime.block_on(async {
            let ctx = fresh().await;
            let mut board = Board::default();
            for step in steps {
                Box::pin(step.check(&ctx, &mut board)).await;
                board.compare(&ctx).await;
            }
            ctx.store.close().await;
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn random_verbs_do_on_sqlite_what_the_model_says() {
    check(100, TestStore::sqlite);
}

#[test]
fn random_verbs_do_on_postgres_what_the_model_says() {
    check(12, TestStore::postgres);
}
