-- name: ingest/staged
-- grain: judged line of the file being loaded
-- params: none
-- reads: nothing
-- units: tokens; microseconds
-- why: temporary, so that a crash leaves nothing behind
create or replace temp table staged (
  reason varchar,
  byte_offset bigint,
  line_bytes bigint,
  excerpt varchar,
  arrived_digits bigint,
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
