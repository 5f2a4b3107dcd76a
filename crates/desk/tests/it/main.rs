//! The desk on both databases, its loops turned by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harness;

mod chores;
mod claims;
mod lost_answers;
mod time;
mod waiting;
mod wakeups;

/// Makes one test per database of each property.
macro_rules! on_both_databases {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        mod sqlite {
            $(crate::on_both_databases!(@test $module::$name, crate::harness::TestDesk::sqlite());)+
        }
        mod postgres {
            $(crate::on_both_databases!(@test $module::$name, crate::harness::TestDesk::postgres());)+
        }
    };
    (@test $module:ident :: $name:ident, $desk:expr) => {
        #[tokio::test]
        async fn $name() {
            crate::$module::$name($desk.await).await;
        }
    };
}

pub(crate) use on_both_databases;

on_both_databases! {
    chores::a_new_goal_moves_what_waits_without_being_asked,
    chores::l6_a_file_that_appears_frees_what_waits_for_it,
    chores::an_empty_database_takes_the_configured_rules_and_keeps_them,
    claims::whoever_waits_is_served_together_in_the_order_of_arrival,
    claims::a_claim_whose_client_has_gone_is_released_at_once,
    claims::a_keyed_claim_waits_for_its_client_to_come_back,
    claims::two_desks_over_one_database_never_hand_out_a_task_twice,
    time::a_task_joins_the_line_when_its_moment_comes,
    time::the_queue_shows_what_is_due_without_waiting_for_a_timer,
    time::a_lease_ends_when_its_holder_is_silent,
    time::o4_a_clock_that_jumps_ends_no_lease_early,
    time::a_desk_that_was_down_hears_heartbeats_before_it_ends_leases,
    waiting::whoever_waits_gets_what_comes_in_the_order_they_came,
    waiting::a_wait_that_is_over_says_why_there_is_nothing,
    waiting::who_cannot_take_it_does_not_keep_it_from_whoever_can,
    waiting::who_has_gone_takes_nothing_with_them,
    waiting::a_moment_that_comes_wakes_whoever_waits,
    waiting::work_added_at_one_desk_wakes_who_waits_at_another,
    waiting::a_desk_that_stops_answers_whoever_waits,
    wakeups::every_write_moves_the_position_readers_wait_for,
    wakeups::the_loops_do_all_this_by_themselves_and_stop_when_told,
    wakeups::a_loop_that_panics_has_died_and_says_why,
}
