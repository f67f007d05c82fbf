//! The store's contract tests. SQLite and Postgres both run every function on a fresh store.

pub(crate) mod scene;

pub(crate) mod log;
pub(crate) mod preconditions;
pub(crate) mod events;
pub(crate) mod turns;
pub(crate) mod exchanges;
pub(crate) mod sessions;
pub(crate) mod labels;
pub(crate) mod similar_turns;
pub(crate) mod labelled_turns;
pub(crate) mod router_state;
pub(crate) mod relevance;
pub(crate) mod quality;
pub(crate) mod conversation_list;
pub(crate) mod rules;
pub(crate) mod alerts;
pub(crate) mod experiments;
pub(crate) mod reactions;
pub(crate) mod period;
pub(crate) mod decisions;
pub(crate) mod turn_log_copies;
pub(crate) mod rebuild;
pub(crate) mod repair;
pub(crate) mod live_rebuild;
pub(crate) mod api_keys;
pub(crate) mod retention;
pub(crate) mod tenant_removal;
pub(crate) mod users;
pub(crate) mod leases;

/// Generates one test per contract function. `$fresh::new()` creates a location for a store and
/// `open` opens the store in it.
macro_rules! contract_tests {
    ($fresh:ident) => {
        $crate::contract::contract_tests! { @each $fresh
            log::positions_have_no_gaps,
            log::id_is_used_once,
            log::ids_are_per_scope,
            log::request_key_returns_its_first_event,
            log::concurrent_commits_are_all_stored,
            log::closed_store_rejects_writes,
            log::stats_report_queue_and_commits,
            events::event_round_trips_unchanged,
            events::scope_reads_only_its_own_events,
            events::event_pages_follow_the_log,
            events::event_page_matches_its_filter,
            events::newest_events_come_first,
            events::tail_covers_every_scope,
            events::recent_questions_are_returned,
            preconditions::needed_turn_must_be_open_in_its_conversation,
            preconditions::known_turn_is_not_new,
            preconditions::turn_of_another_conversation_is_replaced_by_a_fallback,
            preconditions::turn_quoted_in_another_conversation_is_refused,
            preconditions::needed_decision_must_exist,
            preconditions::equal_outcome_changes_nothing,
            preconditions::equal_reaction_changes_nothing,
            preconditions::equal_reaction_with_new_tags_is_stored,
            preconditions::unchanged_write_uses_up_its_request_key,
            preconditions::further_events_are_found_by_the_first_ones_claim,
            preconditions::question_of_a_known_answer_is_stored_under_the_same_key,
            preconditions::events_of_one_write_are_adjacent,
            turns::turn_exists_from_its_opening,
            turns::turns_include_their_events,
            turns::long_turn_keeps_question_and_answer,
            turns::known_and_unknown_turns_open_together,
            exchanges::conversation_reads_newest_first,
            exchanges::user_sees_own_answers_and_those_without_a_user,
            exchanges::conversation_reads_before_a_position,
            exchanges::verdict_is_found_by_its_message,
            exchanges::verdict_precedence_holds,
            exchanges::message_has_one_verdict,
            exchanges::verdict_without_a_message_counts,
            sessions::session_ends_after_its_last_turn,
            sessions::reports_before_the_opening_do_not_change_the_turn,
            labels::labels_need_person_and_machine,
            labels::newest_calibration_applies,
            similar_turns::similar_answered_turns_are_found,
            similar_turns::correction_is_found_by_the_corrected_question,
            similar_turns::removed_tenant_is_not_found,
             labelled_turns::labelled_turn_includes_its_signals,
             labelled_turns::touched_turns_are_returned,
             labelled_turns::erased_corrections_are_returned,
             labelled_turns::stars_and_regenerations_are_returned,
             labelled_turns::turn_includes_earlier_questions,
             labelled_turns::long_conversation_is_split,
             labelled_turns::conversations_are_complete,
             labelled_turns::empty_conversations_block_no_page,
            router_state::router_checkpoint_round_trips,
            router_state::stale_router_checkpoint_is_rejected,
            alerts::deliveries_survive_new_targets,
            alerts::failed_deliveries_are_rescheduled,
            alerts::active_alerts_by_tenant_or_for_all,
            alerts::alerts_list_their_delivery,
            alerts::newest_targets_apply,
            conversation_list::conversation_list_matches_turns,
            conversation_list::conversation_list_pages_are_complete,
            conversation_list::pages_of_a_user_have_shared_conversations,
            conversation_list::words_are_found_until_erased,
            conversation_list::words_with_marks_are_found,
            conversation_list::word_search_pages_are_complete,
            conversation_list::long_conversation_hides_no_other,
            conversation_list::worst_turn_represents_its_conversation,
            conversation_list::turn_filters_select_turns,
            conversation_list::conversation_summaries_are_counted_and_ranked,
            quality::quality_counts_current_turns,
            quality::turns_with_problems_are_found,
            quality::quality_filters_by_user_profile,
            quality::sql_statements_count_by_newest_outcome,
            quality::quality_sums_equal_the_turns,
            quality::day_sums_equal_their_hours,
            experiments::turns_count_for_the_served_variant,
            experiments::conversation_units_count_separately,
            experiments::past_day_keeps_its_sums,
            experiments::needed_experiment_status_is_checked,
            relevance::query_counts_once_per_item,
            relevance::item_standings_are_returned,
            reactions::later_reaction_replaces_the_earlier,
            reactions::early_reactions_attach_to_their_turn,
            reactions::conversation_reactions_filter_by_turn,
            reactions::newest_reactions_of_turns_are_returned,
            reactions::reaction_is_found_by_its_user,
            reactions::anonymous_reactions_replace_each_other,
            reactions::review_overrides_messages,
            reactions::reaction_search_pages_newest_first,
            period::period_pages_match_a_full_count,
            decisions::decision_has_its_newest_outcome,
            turn_log_copies::copies_and_progress_are_stored_together,
            turn_log_copies::erased_users_copies_are_due_until_settled,
            turn_log_copies::copies_stay_due_after_another_erasure,
            turn_log_copies::copies_under_an_expired_lease_are_due,
            rebuild::rebuild_changes_nothing,
            repair::damage_of_every_projection_is_repaired,
            repair::rebuild_creates_ids_that_changes_name,
            repair::projects_are_rebuilt_side_by_side,
            repair::newest_settings_of_a_tenant_apply_after_a_rebuild,
            live_rebuild::writes_continue_during_a_rebuild,
            live_rebuild::repair_includes_what_was_written_meanwhile,
            live_rebuild::erasure_during_a_rebuild_is_not_undone,
            live_rebuild::retention_during_a_rebuild_loses_no_effect,
            live_rebuild::tenant_removed_during_a_rebuild_stays_removed,
            api_keys::keys_are_stored_and_revoked,
            api_keys::ended_visits_are_kept_until_expiry,
            rules::newest_rule_applies,
            users::user_data_is_counted,
            users::erased_positions_are_returned,
            users::erased_id_is_always_a_repeat,
            users::erasure_empties_many_events,
            users::dead_letters_are_listed,
            users::dead_letters_do_not_block_erasure,
            retention::old_events_are_found_and_dropped,
            retention::dropped_event_is_still_a_repeat,
            retention::turn_survives_its_events,
            retention::only_projects_with_dropped_events_get_a_baseline,
            retention::every_projection_belongs_to_a_project,
            retention::experiment_rows_belong_to_a_project,
            retention::old_events_are_found_in_batches,
            retention::oldest_events_of_every_project_come_first,
            tenant_removal::tenant_removal_is_complete_and_isolated,
            leases::lease_has_one_holder,
            leases::expired_holder_stores_no_progress,
        }
    };
    (@each $fresh:ident $($module:ident::$name:ident),+ $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let Some(place) = $fresh::new() else { return };
            $crate::contract::$module::$name(&place.open()).await;
        }
    )+};
}

pub(crate) use contract_tests;
