"""Canonical JSON lines: valleywatch's own field names, one request a line."""

from pipelines.formats.format import Format

FORMAT = Format(
    name="canonical",
    keys=frozenset({"timestamp", "input_tokens"}),
    summary="valleywatch's own field names, one JSON object a line (.jsonl, .jsonl.gz)",
    switch_on=(
        "write one JSON object per finished request: timestamp (ISO 8601 with offset), request_id, deployment, "
        "instance, model, session_id, input_tokens (cached ones included), cached_tokens, output_tokens, "
        "cache_write_tokens, queue_ms, prefill_ms, ttft_ms, e2e_ms, status"
    ),
    ttft_basis="declared",
    cached_basis="measured",
)
