//! The store's contract tests. SQLite and Postgres both run every function on a fresh store.

pub(crate) mod scene;

pub(crate) mod log;
pub(crate) mod needs;
pub(crate) mod events;
pub(crate) mod turns;
pub(crate) mod exchanges;
pub(crate) mod sessions;
pub(crate) mod labels;
pub(crate) mod similar;
pub(crate) mod judged;
pub(crate) mod routing;
pub(crate) mod relevance;
pub(crate) mod quality;
pub(crate) mod listed;
pub(crate) mod rules;
pub(crate) mod alerts;
pub(crate) mod experiments;
pub(crate) mod reactions;
pub(crate) mod period;
pub(crate) mod decisions;
pub(crate) mod copies;
pub(crate) mod rebuild;
pub(crate) mod keys;
pub(crate) mod retention;
pub(crate) mod removal;
pub(crate) mod users;
pub(crate) mod leases;

/// Generates one test per contract function. `$fresh::new()` creates a location for a store and
/// `open` opens the store in it.
macro_rules! contract_tests {
    ($fresh:ident) => {
        $crate::contract::contract_tests! { @each $fresh
            log::positions_have_no_gaps,
            log::an_id_is_used_once,
            log::ids_are_per_scope,
            log::a_request_key_stands_for_its_first_event,
            log::commits_at_once_are_all_kept,
            log::a_closed_store_takes_nothing,
            log::a_store_says_how_it_is,
            events::an_event_comes_back_as_it_went_in,
            events::a_scope_sees_only_its_own,
            events::pages_follow_the_log,
            events::a_page_has_what_its_filter_holds,
            events::the_newest_come_first,
            events::the_tail_is_of_every_scope,
            events::recent_questions_are_told,
            needs::a_needed_turn_must_be_open_and_in_its_conversation,
            needs::a_needed_decision_must_be_made,
            needs::an_outcome_that_stands_changes_nothing,
            needs::a_reaction_that_stands_changes_nothing,
            needs::a_key_is_used_up_even_if_nothing_changed,
            needs::events_of_one_write_stay_together,
            turns::a_turn_is_known_from_its_opening_on,
            turns::turns_come_with_what_happened_to_them,
            turns::question_and_answer_come_however_much_was_said,
            turns::turns_are_opened_whether_they_were_known_or_not,
            exchanges::a_conversation_is_read_newest_first,
            exchanges::a_conversation_is_read_from_where_one_stands,
            exchanges::what_was_said_is_found_by_its_message,
            exchanges::the_right_word_counts,
            exchanges::a_message_speaks_once,
            exchanges::a_word_without_a_message_counts,
            sessions::a_session_ends_after_its_last_turn,
            labels::labels_are_where_people_and_machine_spoke,
            labels::a_project_has_its_newest_curve,
            similar::answered_turns_are_found_by_likeness,
            similar::a_correction_is_found_by_what_it_corrects,
            similar::what_went_with_its_tenant_is_not_found,
            judged::an_answer_comes_with_what_was_said_of_it,
            judged::what_was_touched_is_told,
            judged::what_was_erased_is_told,
            judged::what_was_done_about_an_answer_is_told,
            judged::a_turn_comes_with_what_was_asked_before,
            judged::a_long_conversation_comes_in_stretches,
            judged::conversations_come_whole,
            judged::conversations_without_turns_hold_no_page_up,
            routing::what_routers_learnt_is_kept_whole,
            routing::routers_are_kept_only_behind_the_latest,
            alerts::what_is_to_be_told_outlasts_new_targets,
            alerts::what_could_not_be_told_is_tried_anew,
            alerts::what_stands_is_told_of_one_tenant_or_of_all,
            alerts::alerts_are_listed_with_how_they_went,
            alerts::the_newest_targets_count,
            listed::conversations_are_listed_by_what_their_turns_were_like,
            listed::pages_of_the_list_are_the_whole_list,
            listed::words_are_found_until_they_are_erased,
            listed::words_with_marks_are_found,
            listed::pages_of_a_search_are_the_whole_search,
            listed::a_long_conversation_hides_no_other,
            listed::the_worst_of_a_conversation_stands_for_it,
            quality::turns_count_as_they_are,
            quality::what_went_wrong_is_found,
            quality::users_count_by_what_is_known_of_them,
            quality::statements_count_by_their_newest_outcome,
            quality::sums_are_those_of_the_turns,
            quality::days_are_those_of_their_hours,
            experiments::turns_count_for_what_was_served,
            experiments::conversations_are_served_by_themselves,
            experiments::a_day_that_is_over_stays_as_it_ended,
            experiments::an_experiment_stands_where_a_write_needs_it,
            relevance::a_query_counts_once_for_an_item,
            relevance::what_stands_for_items_is_told,
            reactions::a_later_reaction_of_the_same_user_replaces_the_earlier,
            reactions::early_reactions_are_attached_when_the_turn_arrives,
            reactions::a_conversation_is_asked_for_some_of_its_turns,
            reactions::the_newest_reactions_of_some_turns_are_told,
            reactions::a_standing_reaction_is_found_by_its_user,
            reactions::nobody_is_one,
            reactions::a_review_ends_what_is_read_from_messages,
            reactions::a_search_pages_newest_first,
            period::pages_are_what_counting_one_by_one_says,
            decisions::a_decision_has_its_newest_outcome,
            copies::copies_are_kept_with_how_far_they_came,
            copies::copies_of_the_erased_are_due_until_they_are_settled,
            copies::copies_stay_due_when_somebody_else_is_erased_meanwhile,
            copies::copies_of_one_who_lost_the_lease_are_due,
            rebuild::a_rebuild_changes_nothing,
            keys::keys_are_kept_and_revoked,
            keys::ended_visits_are_remembered_while_they_matter,
            rules::the_newest_rule_counts,
            users::what_there_is_of_somebody_is_told,
            users::what_an_erasure_emptied_is_found_by_it,
            users::what_was_erased_is_repeated_by_whatever_comes,
            users::many_events_are_emptied_by_one_erasure,
            users::what_is_set_aside_is_listed,
            users::whatever_is_set_aside_everybody_can_be_erased,
            retention::what_is_old_is_found_and_dropped,
            retention::what_was_dropped_is_still_a_repeat,
            retention::a_turn_outlives_its_events,
            retention::many_old_events_are_found_in_parts,
            retention::the_beginning_of_every_project_comes_first,
            removal::a_tenant_goes_whole_and_alone,
            leases::a_lease_has_one_holder,
            leases::a_late_holder_notes_nothing,
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
