"""A vLLM statistics logger that appends one JSON line per finished request: the log format `vllm`.

vLLM keeps no per-request record of cached tokens. Installed in the engine's environment, this class is found through
the entry-point group `vllm.stat_logger_plugins`; copied there as a single file, it needs that entry point declared by
any small package, or is passed as `AsyncLLM(stat_loggers=[RequestLog])`. Variables of the environment:

    VALLEYWATCH_VLLM_LOG      file to append to; without it nothing is written
    VALLEYWATCH_DEPLOYMENT    deployment of the lines; without it the reading source must name one
    VALLEYWATCH_INSTANCE      instead of the host's name, where one host runs several servers

What the lines mean:

- `timestamp` is the arrival: the end of the engine's iteration (`time.time()`) minus `e2e_latency`.
- `ttft_ms` is queue plus prefill, without the front end's share; not reported unless both are known. A request that
  finished without a first token has a negative prefill time: then neither is reported.
- `cached_tokens` is null where this version of vLLM does not say; 0 is a true miss.
- Requests whose client went away never reach vLLM's statistics: under overload the log shows the survivors.
- The samples of one request (n > 1) share its id, and count once.

The interface is internal to vLLM (`vllm/v1/metrics/loggers.py`) and changes; what is missing is left out, and nothing
is ever raised into the engine: the first failure is logged, the rest are silent.

Belongs here: the standard library. Does not belong here: anything else of valleywatch.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

try:
    # vLLM refuses plugins that are not its own subclass; elsewhere (tests, other versions) the class stands alone.
    from vllm.v1.metrics.loggers import StatLoggerBase as _Base  # type: ignore[import-not-found]
except ImportError:
    _Base = object

_STATUS = {"abort": "aborted", "error": "failed"}


class RequestLog(_Base):  # type: ignore[misc]
    """See the module's docstring."""

    def __init__(self, vllm_config: Any, engine_index: int = 0) -> None:
        self._path = os.environ.get("VALLEYWATCH_VLLM_LOG")
        self._deployment = os.environ.get("VALLEYWATCH_DEPLOYMENT")
        self._host = os.environ.get("VALLEYWATCH_INSTANCE") or socket.gethostname()
        self._model = _model_name(vllm_config)
        self._engine_index = engine_index
        self._has_failed = False

    def record(
        self,
        scheduler_stats: Any,  # noqa: ARG002  # vLLM passes it by this name
        iteration_stats: Any,
        mm_cache_stats: Any = None,  # noqa: ARG002  # vLLM passes it by this name
        engine_idx: int | None = None,
    ) -> None:
        """Append the requests that finished in this iteration."""
        finished = getattr(iteration_stats, "finished_requests", None)
        if not self._path or not finished:
            return
        engine = self._engine_index if engine_idx is None else engine_idx
        ended = getattr(iteration_stats, "iteration_timestamp", None) or time.time()
        try:
            lines = [json.dumps(self._line(request, engine, ended)) + "\n" for request in finished]
            # Opened each time, so that the file may be rotated; written in one piece, so that engines may share it.
            with Path(self._path).open("ab", buffering=0) as file:
                file.write("".join(lines).encode())
        except Exception as error:  # noqa: BLE001  # the edge of somebody else's process
            if not self._has_failed:
                logging.getLogger(__name__).warning("valleywatch cannot log to %s: %r", self._path, error)
            self._has_failed = True

    def log_engine_initialized(self) -> None:
        """Do nothing: the engine's configuration is not logged."""

    def log(self) -> None:
        """Do nothing: every line is written when its request finishes."""

    def _line(self, request: Any, engine: int, ended: float) -> dict[str, Any]:
        reason = _reason(getattr(request, "finish_reason", None))
        e2e_s = _not_negative(request, "e2e_latency")
        queue_s = _not_negative(request, "queued_time")
        prefill_s = _not_negative(request, "prefill_time")
        return {
            "timestamp": None if e2e_s is None else datetime.fromtimestamp(ended - e2e_s, UTC).isoformat(),
            "request_id": getattr(request, "request_id", None),
            "deployment": self._deployment,
            "instance": f"{self._host}:{engine}",
            "model": self._model,
            "input_tokens": _not_negative(request, "num_prompt_tokens"),
            "cached_tokens": _not_negative(request, "num_cached_tokens"),
            "output_tokens": _not_negative(request, "num_generation_tokens"),
            "queue_ms": _ms(queue_s),
            "prefill_ms": _ms(prefill_s),
            "ttft_ms": None if queue_s is None or prefill_s is None else _ms(queue_s + prefill_s),
            "e2e_ms": _ms(e2e_s),
            "status": _STATUS.get(reason or "", "ok"),
            "finish_reason": reason,
            "num_preemptions": getattr(request, "num_preemptions", None),
        }


def _not_negative(request: Any, name: str) -> Any:
    """Return a figure of the request; None where vLLM has none: it marks unknown ones by negative values."""
    value = getattr(request, name, None)
    return None if value is None or value < 0 else value


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def _reason(finish_reason: Any) -> str | None:
    """Return an enumeration's name or a text in lower case."""
    return None if finish_reason is None else str(getattr(finish_reason, "name", finish_reason)).lower()


def _model_name(vllm_config: Any) -> str | None:
    model = getattr(vllm_config, "model_config", None)
    name = getattr(model, "served_model_name", None) or getattr(model, "model", None)
    return str(name[0] if isinstance(name, list) else name) if name else None
