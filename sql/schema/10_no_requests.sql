-- name: schema/10_no_requests
-- grain: request; always empty
-- params: none
-- reads: nothing
-- units: tokens; microseconds
-- why: gives the requests view its columns and types when the lake is empty
create table if not exists core.no_requests (
  request_id varchar,
  arrived_us bigint,
  deployment varchar,
  instance varchar,
  model varchar,
  session_id varchar,
  input_tokens bigint,
  cached_tokens bigint,
  cached_device_tokens bigint,
  cached_host_tokens bigint,
  cached_storage_tokens bigint,
  cache_write_tokens bigint,
  output_tokens bigint,
  queue_us bigint,
  prefill_us bigint,
  ttft_us bigint,
  e2e_us bigint,
  ttft_basis varchar,
  cached_basis varchar,
  status varchar,
  outcome varchar,
  source_name varchar,
  source_file varchar,
  source_line bigint,
  source_sha256 varchar
)
