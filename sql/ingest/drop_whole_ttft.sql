-- name: ingest/drop_whole_ttft
-- grain: statement
-- params: none
-- reads: staged
-- units: none
-- why: where a response of several tokens is sent whole, loggers write its end as the moment of its first token: that is no
--      time to first token, and is not reported. Of one token, or of a number that is not known, the two may well be one
update staged
set ttft_us = null
where reason is null and ttft_us = e2e_us and output_tokens > 1
