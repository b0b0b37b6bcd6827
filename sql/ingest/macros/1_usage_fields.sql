-- name: ingest/macros/1_usage_fields
-- grain: scalar; usage is a provider's usage object as JSON; a struct of the counts that any vendor writes, as JSON
-- params: none
-- reads: nothing
-- units: tokens
-- why: one reading of the object for all vendors; a missing key and a JSON null become NULL, everything else stays as it is
create or replace temp macro usage_fields(usage) as
  json_transform(usage, '{
    "prompt_tokens": "JSON",
    "completion_tokens": "JSON",
    "total_tokens": "JSON",
    "prompt_tokens_details": {"cached_tokens": "JSON", "cache_write_tokens": "JSON", "created_cache_tokens": "JSON"},
    "input_tokens": "JSON",
    "output_tokens": "JSON",
    "input_tokens_details": {"cached_tokens": "JSON", "cache_write_tokens": "JSON"},
    "cached_input_tokens": "JSON",
    "cached_tokens": "JSON",
    "cache_read_input_tokens": "JSON",
    "cache_creation_input_tokens": "JSON",
    "cache_creation": {"ephemeral_5m_input_tokens": "JSON", "ephemeral_1h_input_tokens": "JSON"},
    "inputTokens": "JSON",
    "outputTokens": "JSON",
    "totalTokens": "JSON",
    "cacheReadInputTokens": "JSON",
    "cacheWriteInputTokens": "JSON",
    "prompt_cache_hit_tokens": "JSON",
    "prompt_cache_miss_tokens": "JSON",
    "promptTokenCount": "JSON",
    "cachedContentTokenCount": "JSON",
    "candidatesTokenCount": "JSON",
    "thoughtsTokenCount": "JSON",
    "totalTokenCount": "JSON"
  }')
