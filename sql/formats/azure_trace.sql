-- name: formats/azure_trace
-- grain: one record
-- params: none
-- reads: lines
-- units: as logged
-- why: the trace has arrivals and lengths alone: cached tokens are not reported, so no hit rate follows from it
-- summary: Azure's public LLM inference traces (CSV of TIMESTAMP, ContextTokens, GeneratedTokens)
-- switch_on: download AzureLLMInferenceTrace_*.csv from Azure/AzurePublicDataset; its time stamps name no zone: declare
--      timezone = "UTC" and a deployment in the source
-- keys: TIMESTAMP, ContextTokens, GeneratedTokens
-- reader: csv
-- ttft_basis: declared
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, ['$.TIMESTAMP', '$.ContextTokens', '$.GeneratedTokens'])
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  null::varchar as kind,
  field[1] as arrived,
  null::json as request_id,
  null::json as deployment,
  null::json as instance,
  null::json as model,
  null::json as session_id,
  field[2] as input_tokens,
  null::json as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[3] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  null::json as e2e_ms,
  null::json as status
from fields
