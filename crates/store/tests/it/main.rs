//! The store's contract: one suite of properties, run on both databases.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod database;
mod harness;
mod history;
mod model;
mod opening;
mod plans;
mod servers;

/// Makes a test of each property for each database.
macro_rules! conformance_suite {
    ($($module:ident: $($property:ident),+;)+) => {
        mod sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $property() {
                    let ctx = std::sync::Arc::new(crate::harness::TestStore::sqlite().await);
                    crate::conformance::$module::$property(&ctx).await;
                    ctx.audit().await;
                }
            )+)+
        }
        mod postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $property() {
                    let ctx = std::sync::Arc::new(crate::harness::TestStore::postgres().await);
                    crate::conformance::$module::$property(&ctx).await;
                    ctx.audit().await;
                }
            )+)+
        }
    };
}

conformance_suite! {
    tasks:
        every_field_of_a_task_comes_back_as_it_was_written,
        every_field_of_a_dispatch_comes_back_as_it_was_written,
        a_deleted_task_is_invisible_and_never_handed_out,
        every_move_does_what_the_transition_table_says,
        a_verb_that_does_not_move_tasks_is_refused;
    lists:
        a_list_is_filtered_by_state_kind_and_priority,
        pages_by_key_are_stable_under_inserts_and_deletes,
        a_page_may_be_asked_for_by_offset,
        totals_are_counted_to_ten_thousand,
        counts_are_of_what_there_is;
    claims:
        a1_every_task_is_claimed_exactly_once,
        a2_two_simultaneous_claims_get_the_first_two_tasks,
        a2_a_batch_equals_its_requests_claimed_singly,
        a3_queue_order_equals_claim_order_across_pages,
        a10_ties_go_to_the_earlier_then_to_the_smaller_number,
        a_claimer_is_only_handed_what_leaves_by_its_door,
        a_foreign_crowd_at_the_head_does_not_hide_the_right_task,
        a_task_is_handed_out_when_its_moment_has_come,
        a_task_asked_for_by_name_is_handed_out_when_its_moment_has_come,
        nothing_tells_why;
    reports:
        a13_a_lapsed_lease_requeues_and_the_old_dispatch_cannot_touch_the_new_one,
        a_stale_report_books_its_cost_and_keeps_its_result_as_evidence,
        a_late_completion_counts_if_nobody_claimed_since,
        a_late_failure_counts_if_nobody_claimed_since,
        a_late_question_counts_if_nobody_claimed_since,
        a_late_heartbeat_is_stale_and_renews_nothing,
        a_late_report_does_not_touch_what_was_parked_canceled_or_reopened,
        k5_a_repeated_report_changes_nothing,
        k5_a_report_on_what_is_finished_changes_nothing,
        only_the_holder_reports,
        a_persons_word_on_anothers_dispatch_is_an_order_to_end,
        a_person_who_ends_a_dispatch_says_why_and_whether_to_try_again,
        a_report_on_an_unknown_dispatch_is_refused;
    retries:
        a_later_moment_somebody_set_outlasts_a_back_off,
        r1_crashes_back_off_1_5_15_30_minutes_and_the_fifth_fails,
        an_unavailable_agent_backs_off_2_5_10_15_minutes_and_the_fifth_blocks,
        failed_attempts_double_their_wait_until_retries_are_used_up,
        attempts_that_take_too_long_end_as_timed_out,
        the_draw_stretches_a_back_off_by_up_to_a_quarter,
        r2_each_category_spends_only_its_own_counter,
        r3_preemption_shutdown_and_release_spend_and_reset_nothing,
        r5_max_retries_zero_fails_at_the_first_failure,
        r6_what_is_not_retryable_is_a_dead_letter_at_once,
        r11_retry_resets_counters_and_keeps_history,
        rate_limited_waits_as_long_as_told_and_spends_nothing,
        a_task_lost_ten_times_is_poison,
        k11_every_reason_routes_to_one_state;
    leases:
        k2_the_first_reason_wins,
        terminate_leaves_at_most_a_minute,
        heartbeats_never_extend_an_ending_lease,
        heartbeats_renew_an_open_lease,
        a_desk_that_was_down_longer_than_a_lease_hears_its_holders_first,
        a_dispatch_told_to_end_gets_a_minute_of_grace_not_a_lease,
        o4_a_clock_that_jumps_back_expires_nothing,
        the_next_moment_is_the_next_timer_and_the_next_lease,
        a_dispatch_ends_at_once_when_its_task_is_deleted;
    reopening:
        a_reopened_task_waits_for_its_old_dispatch_and_stays_reopened,
        a_reopened_task_joins_the_line_when_the_old_lease_ends,
        a_reopened_task_stays_reopened_if_its_dispatch_ended_for_another_reason,
        a_task_closed_by_a_person_stays_closed,
        a_person_may_cancel_what_they_hold_while_it_is_ending,
        a_holder_that_cancels_is_done_at_once,
        o6_what_is_finished_leaves_only_by_reopen_and_retry;
    patches:
        asking_for_a_status_does_what_the_table_says,
        an_edit_moves_a_waiting_task_to_its_new_place,
        writing_back_the_level_that_was_read_keeps_the_points,
        a_moment_set_while_running_counts_when_the_task_comes_back,
        a_holders_patch_renews_its_lease,
        an_agent_cannot_delete_what_somebody_else_works_on;
    idempotency:
        a12_the_same_key_returns_the_same_open_dispatch,
        a12_a_key_whose_dispatch_closed_is_refused,
        a12_a_key_whose_dispatch_is_ending_is_refused,
        a12_a_key_with_other_parameters_is_refused,
        a12_a_key_is_forgotten_after_a_day,
        a12_a_key_is_not_kept_after_nothing,
        a12_two_requests_of_one_key_in_one_batch_are_one,
        a12_the_same_key_of_two_callers_is_two_keys,
        a12_a_key_whose_task_was_deleted_does_not_spoil_the_batch,
        a12_a_task_is_created_once_per_key,
        a12_racing_creations_with_one_key_make_one_task;
    constraints:
        at_most_one_dispatch_of_a_task_is_not_closed,
        two_dispatches_of_a_task_never_share_a_fence,
        values_out_of_range_are_refused;
    events:
        every_change_of_state_has_an_event,
        every_event_names_who_did_it_and_when,
        resuming_from_any_position_yields_the_rest_exactly_once,
        events_have_no_position_before_the_sequencer_gives_one,
        concurrent_sequencers_never_give_a_position_twice;
    secrets:
        all_servers_agree_on_one_key,
        an_admin_token_is_known_by_its_hash,
        tidying_the_line_changes_nothing;
    races:
        sixteen_claimers_and_four_writers_never_share_a_task,
        sixteen_claimers_keep_the_order_of_the_line,
        a_claim_waits_for_an_edit_of_the_only_task,
        claim_cancel_and_edit_of_one_task_end_canceled,
        a_late_report_and_a_new_claim_never_both_win;
    migrations:
        opening_again_keeps_everything,
        a_database_of_a_newer_version_is_refused_and_untouched,
        a_migration_that_fails_leaves_nothing_behind;
}
