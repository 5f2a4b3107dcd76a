//! Random histories against a scorer that sorts everything anew each time.
//!
//! After every step the order of the line, what each claimer would be handed and what
//! `why` says are compared with brute force over plain lists. Cases are numbered: a
//! failure prints its seed, and seeds that once failed stand in [`KEPT`].

mod brute;
mod step;
mod world;

use extraboard_core::profile::ProfileName;
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
        let profile = ProfileName::ALL[usize::from(seed % 2 == 1)];
        let outcome = runner.run(&vec(step::any_step(), 1..STEPS_MAX), |steps| {
            runtime.block_on(async {
                let ctx = fresh().await;
                let mut world = World::new(&ctx, profile).await;
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

/// Makes a test of each slice of histories, so that they run side by side.
macro_rules! histories {
    ($($name:ident: $first:literal;)+) => {
        $(
            #[test]
            fn $name() {
                check((0..cases(250)).map(|seed| seed + $first), TestStore::sqlite);
            }
        )+
    };
}

histories! {
    slice_1_of_histories_on_sqlite: 0;
    slice_2_of_histories_on_sqlite: 1_000_000;
    slice_3_of_histories_on_sqlite: 2_000_000;
    slice_4_of_histories_on_sqlite: 3_000_000;
    slice_5_of_histories_on_sqlite: 5_000_000;
    slice_6_of_histories_on_sqlite: 6_000_000;
    slice_7_of_histories_on_sqlite: 7_000_000;
    slice_8_of_histories_on_sqlite: 8_000_000;
}

#[test]
fn histories_on_postgres() {
    check((0..cases(25)).map(|seed| seed + 4_000_000), TestStore::postgres);
}
