"""Which test shows that a fault another product shipped cannot occur here: one row a public report.

Numbers, gaps included, are those of the list the reports were gathered in. `later` says what of a row is not built
yet, or why a part of it does not apply.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A report, the tests that answer it (file::function below tests/), and what they leave out."""

    report: str
    tests: tuple[str, ...]
    later: str = ""


CACHED, PRICES, COUNTING = ("bug_reports/test_cached_tokens.py", "bug_reports/test_prices.py",
                            "bug_reports/test_counting_once.py")  # fmt: skip
HOURS, FILES, JOBS = "bug_reports/test_hours.py", "bug_reports/test_files.py", "bug_reports/test_orchestration.py"
READERS = "formats/test_readers.py"

ROWS = {
    # Cached tokens and cost
    1: Row("aider#5516", (f"{CACHED}::test_aider_5516_cached_tokens_of_an_inclusive_input_are_not_counted_again",)),
    2: Row("openusage#360", (f"{CACHED}::test_openusage_360_codex_cached_input_is_part_of_the_input",)),
    3: Row("pi#2588", (f"{CACHED}::test_pi_2588_gemini_cached_content_is_part_of_the_prompt",)),
    4: Row(
        "new-api#5003", (f"{CACHED}::test_new_api_5003_an_input_smaller_than_its_cache_reads_never_becomes_negative",)
    ),
    6: Row(
        "sglang#11900",
        (f"{CACHED}::test_sglang_11900_more_cached_than_prompt_tokens_are_quarantined_not_explained_away",),
    ),
    7: Row("pew#143", (f"{CACHED}::test_pew_143_a_hit_rate_is_cached_over_all_input_not_over_the_uncached",)),
    9: Row("gnhf#212", (f"{CACHED}::test_gnhf_212_cache_reads_are_part_of_the_input",)),
    10: Row("litellm#28009", (f"{CACHED}::test_litellm_28009_a_total_reads_every_vendors_name_of_cached_tokens",)),
    11: Row(
        "vllm#44377",
        (
            f"{CACHED}::test_vllm_44377_an_absent_cached_count_is_unknown_and_coverage_says_so",
            f"{CACHED}::test_vllm_44377_an_absent_cached_count_is_zero_where_the_source_declares_it",
            f"{CACHED}::test_vllm_44377_a_cached_count_of_zero_is_a_miss",
        ),
    ),
    12: Row(
        "oh-my-pi#6876",
        (f"{CACHED}::test_oh_my_pi_6876_cache_writes_are_counted_whatever_their_lifetime",),
        later="writes are counted and not priced: revenue is that of the input, in which no lifetime occurs",
    ),
    13: Row(
        "eidan#203",
        (
            f"{PRICES}::test_eidan_203_a_deployment_without_a_price_costs_an_unknown_amount_not_nothing",
            f"{PRICES}::test_eidan_203_the_cost_of_a_day_that_is_priced_in_part_is_marked_as_a_part",
            f"{PRICES}::test_eidan_203_hours_in_another_currency_are_not_added",
        ),
    ),
    # Counting once
    14: Row(
        "claude-code-history-viewer#283",
        (f"{CACHED}::test_claude_code_history_viewer_283_rows_of_one_message_count_once",),
    ),
    16: Row("ccusage#797", (f"{CACHED}::test_ccusage_797_of_rows_of_one_message_the_complete_one_is_kept",)),
    19: Row(
        "sample-voice-of-customer-datalake#264",
        (
            f"{COUNTING}::test_voice_of_customer_264_a_job_that_died_after_its_raw_rows_counts_no_hour_twice",
            "faults/test_kills.py::test_a_job_killed_at_any_named_point_is_finished_by_the_next",
        ),
    ),
    21: Row(
        "vllm#43736",
        (f"{COUNTING}::test_vllm_43736_a_request_that_was_scheduled_again_is_one_request",),
        later="no engine counters are read, so there is nothing yet to find a gap to",
    ),
    # Hours, days, units
    22: Row(
        "timescaledb#4884", (f"{HOURS}::test_timescaledb_4884_two_one_oclock_hours_of_an_autumn_night_are_two_hours",)
    ),
    23: Row(
        "dagster#18022",
        (f"{HOURS}::test_dagster_18022_every_hour_of_a_day_that_changes_the_clocks_is_in_exactly_one_partition",),
        later="partitions are UTC days of 24 hours; there are none of local days, of 23 or 25",
    ),
    24: Row(
        "ccusage#349",
        (f"{HOURS}::test_ccusage_349_the_day_is_that_of_utc_and_the_output_says_so",),
        later="days are those of UTC, by design: no local day is offered",
    ),
    25: Row("duckdb#561", (f"{HOURS}::test_duckdb_561_the_same_bytes_come_out_in_every_zone",)),
    27: Row(
        "ai-dba-workbench#401",
        (
            f"{COUNTING}::test_ai_dba_workbench_401_counters_since_the_start_hide_no_bad_hour_and_a_restart_is_not_negative",
        ),
        later="the one format with counters since a start is a transcript's; engine counters are not read",
    ),
    # Getting files in
    29: Row("super#4546", (f"{FILES}::test_super_4546_half_a_line_is_one_reject_and_no_row_of_nulls",)),
    30: Row("duckdb#23120", (f"{FILES}::test_duckdb_23120_a_record_with_something_after_it_is_one_reject",)),
    31: Row("mimic-fhir#119", (f"{FILES}::test_mimic_fhir_119_half_a_gzip_is_said_and_harms_no_other_file",)),
    33: Row(
        "CodexBar#2168",
        (
            f"{FILES}::test_codexbar_2168_the_unfinished_line_of_a_growing_file_becomes_its_row_once",
            f"{FILES}::test_codexbar_2168_a_whole_last_line_counts_without_its_newline",
            f"{READERS}::test_bug_report_33_an_unfinished_row_becomes_a_row_once",
            f"{READERS}::test_bug_report_33_a_last_row_counts_with_or_without_a_newline",
        ),
    ),
    34: Row("ax#1159", (f"{FILES}::test_ax_1159_a_line_of_40_megabytes_stops_nothing_then_or_later",)),
    35: Row(
        "ragflow#19179",
        (
            f"{FILES}::test_ragflow_19179_a_byte_order_mark_line_ends_and_a_blank_line_lose_no_record",
            f"{READERS}::test_bug_report_35_a_byte_order_mark_and_blank_lines_lose_no_row",
            f"{READERS}::test_bug_report_35_a_document_may_begin_with_a_byte_order_mark",
        ),
    ),
    37: Row(
        "duckdb#7766",
        (
            f"{FILES}::test_duckdb_7766_a_key_that_first_occurs_after_30000_lines_is_seen",
            f"{READERS}::test_bug_report_37_a_value_that_first_occurs_in_the_last_of_many_rows_is_seen",
        ),
    ),
    39: Row(
        "duckdb#18579",
        (f"{READERS}::test_bug_report_39_a_header_alone_and_missing_columns_change_nothing_in_other_files",),
    ),
    40: Row(
        "gpustack#4439",
        (f"{READERS}::test_bug_report_40_sums_pass_what_32_bits_hold",),
        later="a sum of 3,000,000,000 is of 300 requests: one of 1,500,000,000 tokens is no request and is refused",
    ),
    # Orchestration and checks
    41: Row(
        "dagster#16248",
        (
            f"{JOBS}::test_dagster_16248_days_done_four_at_a_time_and_backwards_are_as_if_done_one_by_one",
            f"{JOBS}::test_dagster_16248_a_day_that_gets_late_lines_while_it_is_judged_is_done_again",
            "commands/test_sql.py::test_readers_do_not_wait_for_the_writer",
        ),
    ),
    42: Row(
        "great_expectations#1149",
        (
            f"{JOBS}::test_great_expectations_1149_a_day_without_a_folder_has_no_data_and_has_not_passed",
            "contracts/test_contracts.py::test_an_empty_profile_is_one_warning_and_no_pass",
        ),
    ),
    44: Row(
        "great_expectations#8548",
        (
            f"{JOBS}::test_great_expectations_8548_an_expectation_that_meets_nulls_is_listed_and_failed",
            "contracts/test_contracts.py::test_a_null_beside_good_values_fails_as_well",
            "contracts/test_contracts.py::test_an_expectation_that_vanishes_from_the_result_fails",
        ),
    ),
}
