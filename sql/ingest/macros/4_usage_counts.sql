-- name: ingest/macros/4_usage_counts
-- grain: scalar; fields is a struct of usage_fields; a struct of the counts under one name each, as JSON
-- params: none
-- reads: nothing
-- units: tokens
-- why: input is as the vendor counts it; may_be_exclusive says that the vendor names cached and written tokens apart from its
--      input and may leave them out of it: keys that only inclusive vendors write are never summed, so a
--      count of theirs above the input is refused, not explained away (sglang#11900)
create or replace temp macro usage_counts(fields) as
  struct_pack(
    input := coalesce(
      (fields).prompt_tokens,
      (fields).input_tokens,
      (fields).inputTokens,
      (fields).promptTokenCount,
      token_sum((fields).prompt_cache_hit_tokens, (fields).prompt_cache_miss_tokens, null)
    ),
    cached := token_greatest([
      (fields).prompt_tokens_details.cached_tokens,
      (fields).input_tokens_details.cached_tokens,
      (fields).cached_input_tokens,
      (fields).cached_tokens,
      (fields).cache_read_input_tokens,
      (fields).cacheReadInputTokens,
      (fields).prompt_cache_hit_tokens,
      (fields).cachedContentTokenCount
    ]),
    written := token_greatest([
      (fields).cache_creation_input_tokens,
      token_sum(
        (fields).cache_creation.ephemeral_5m_input_tokens, (fields).cache_creation.ephemeral_1h_input_tokens, null
      ),
      (fields).cacheWriteInputTokens,
      (fields).input_tokens_details.cache_write_tokens,
      (fields).prompt_tokens_details.cache_write_tokens,
      (fields).prompt_tokens_details.created_cache_tokens
    ]),
    output := coalesce(
      (fields).completion_tokens,
      (fields).output_tokens,
      (fields).outputTokens,
      token_sum((fields).candidatesTokenCount, (fields).thoughtsTokenCount, null)
    ),
    total := coalesce((fields).total_tokens, (fields).totalTokens, (fields).totalTokenCount),
    may_be_exclusive := coalesce(
      (fields).cache_read_input_tokens,
      (fields).cache_creation_input_tokens,
      (fields).cache_creation.ephemeral_5m_input_tokens,
      (fields).cache_creation.ephemeral_1h_input_tokens,
      (fields).cacheReadInputTokens,
      (fields).cacheWriteInputTokens
    ) is not null,
    is_inclusive_by_rule := (fields).prompt_tokens is not null,
    is_sum_wrong := coalesce(
      token_count((fields).prompt_tokens)
      <> token_count((fields).prompt_cache_hit_tokens) + token_count((fields).prompt_cache_miss_tokens),
      false
    )
  )
