"""Gateway JSON lines: OpenAI-style token names with the client's and the engine's timings side by side."""

from pipelines.formats.format import Format

FORMAT = Format(
    name="gateway",
    keys=frozenset({"ts", "prompt_tokens"}),
    summary="access log of a gateway or benchmark client in front of an engine (.jsonl, .jsonl.gz)",
    switch_on=(
        "have the gateway log per request: ts (ISO 8601 with offset, when it was sent), request_id, deployment, "
        "instance, session, prompt_tokens (cached ones included), cached_tokens, completion_tokens, ttft_ms, e2e_ms, "
        "prompt_ms (the engine's prefill time), queue_ms and the HTTP status; llama.cpp's server reports cached_tokens "
        "as timings.cache_n and prompt_ms as timings.prompt_ms"
    ),
    ttft_basis="client",
    cached_basis="measured",
)
