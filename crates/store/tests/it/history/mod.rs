//! Random histories against a scorer that sorts everything anew each time.
//!
//! After every step the order of the line, what each claimer would be handed and what
//! `why` says are compared with brute force over plain lists. Cases are numbered: a
//! failure prints its seed, and seeds that once failed stand in [`KEPT`].

mod brute;
mod step;
mod world;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::harness::TestStore;
use world::World;

const STEPS_MAX: usize = 45;

/// Seeds that failed once, run first ever since.
const KEPT: &[u64] = &[];

/// How many cases a test runs unless told otherwise by `XB_HISTORY_CASES`.
#[expect(clippy::disallowed_methods, reason = "a longer search is asked for from outside")]
fn cases(usual: u64) -> u64 {
    std::env::var("XB_HISTORY_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(usual)
}

/// Runs the cases of these seeds; a failure is shrunk to its shortest steps.
fn check(seeds: impl Iterator<Item = u64>, fresh: impl AsyncFn() -> TestStore) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in KEPT.iter().copied().chain(seeds) {
        let config =
            Config { cases: 1, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let outcome = runner.run(&vec(step::any_step(), 1..STEPS_MAX), |steps| {
            runtime.block_on(async {
                let ctx = fresh().await;
                let mut world = World::new(&ctx).await;
                for step in steps {
                    step.run(&ctx, &mut world).await;
                    world.check(&ctx).await;
                }
                ctx.store.close().await;
            });
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn the_first_quarter_of_histories_on_sqlite() {
    check(0..cases(500), TestStore::sqlite);
}

#[test]
fn the_second_quarter_of_histories_on_sqlite() {
    check((0..cases(500)).map(|seed| seed + 1_000_000), TestStore::sqlite);
}

#[test]
fn the_third_quarter_of_histories_on_sqlite() {
    check((0..cases(500)).map(|seed| seed + 2_000_000), TestStore::sqlite);
}

#[test]
fn the_last_quarter_of_histories_on_sqlite() {
    check((0..cases(500)).map(|seed| seed + 3_000_000), TestStore::sqlite);
}

#[test]
fn histories_on_postgres() {
    check((0..cases(40)).map(|seed| seed + 4_000_000), TestStore::postgres);
}
