"""Days of simulated services of known truth, as a log without instances shows them: sizes and times, and nothing else.

The engines are those of fixtures/fleet.py: chunked prefill that packs requests, several instances, agent sessions; an
overhead of network and API is added to every time. Loads are even over the day where the fleet's are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from models.envelope import EnvelopeRows
from models.service_time import TrafficMoments


@dataclass(frozen=True)
class ServiceDay:
    """What was logged, shape (n,) each, and the engines' own a, tps0 and index of this very traffic."""

    minute_index: Any
    ttft_s: Any
    e2e_s: Any
    miss_tokens: Any
    cached_tokens: Any
    output_tokens: Any
    reference_input_tokens: float
    price_ratio: float
    a: float
    tps0: float
    revenue_index: float

    def rows(self, target: str, *, noise: float = 0.0, seed: int = 0) -> EnvelopeRows:
        """The rows of one target; noise: lognormal sigma of a further factor on every time."""
        factor = np.random.default_rng(seed).lognormal(0, noise, len(self.ttft_s))
        times = getattr(self, target) * factor
        return EnvelopeRows(self.minute_index, times, self.miss_tokens, self.cached_tokens, self.output_tokens)

    def moments(self) -> TrafficMoments:
        return moments_of(self.miss_tokens, self.cached_tokens)


def moments_of(miss: Any, cached: Any) -> TrafficMoments:
    """The sums of requests of these computed and cached tokens, shape (n,) each."""
    length = miss + cached
    return TrafficMoments(
        len(miss), length.sum(), cached.sum(), miss.sum(), (miss * cached).sum(), (miss**2).sum(), (length**2).sum()
    )


def deployments(fleet: ModuleType) -> dict[str, Any]:
    """Engines × workloads: the fleet's own, and some of them at another load, chunk size or interference."""
    own = {deployment.name: deployment for deployment in fleet.FLEET}
    glm, coder, offload = own["glm-5-h200"], own["coder-b200"], own["agent-offload"]
    return own | {
        "glm-even-load": replace(glm, load=(0.6,) * 24),
        "glm-small-chunks": replace(glm, engine=replace(glm.engine, chunk_tokens=2048, step_s=0.03)),
        "coder-interference": replace(coder, engine=replace(coder.engine, interference_s=1e-3)),
        "coder-overloaded": replace(coder, load=(1.1,) * 24),
        "offload-overloaded": replace(offload, load=(1.05,) * 24),
    }


def run(fleet: ModuleType, name: str, *, hours: int = 24, seed: int = 5) -> ServiceDay:
    """One day of a service of `deployments`."""
    deployment = deployments(fleet)[name]
    rng = np.random.default_rng([seed, len(name)])
    requests, served = fleet.run_day(rng, deployment, hours)
    cold = fleet.serve(deployment.engine, replace(requests, cached_tokens=np.zeros_like(requests.cached_tokens)))
    length, cached = requests.input_tokens.astype(float), requests.cached_tokens.astype(float)
    reference = float(round(length.mean()))
    tps0, a = fleet.fit_line(np.array(fleet.SWEEP_HIT_RATES), fleet.sweep(deployment.engine, int(reference)))
    ttft_s = served.first_token_s - served.arrival_s + fleet.OVERHEAD_S * rng.lognormal(0, 0.3, len(length))
    return ServiceDay(
        minute_index=(served.arrival_s // 60).astype(np.int64),
        ttft_s=ttft_s,
        e2e_s=ttft_s + requests.decode_s,
        miss_tokens=length - cached,
        cached_tokens=cached,
        output_tokens=requests.output_tokens.astype(float),
        reference_input_tokens=reference,
        price_ratio=deployment.price_ratio,
        a=a,
        tps0=tps0,
        revenue_index=fleet.revenue_index(
            deployment.price_ratio,
            (length - cached).sum(),
            cached.sum(),
            served.work_s.sum(),
            cold.work_s.sum(),
        ),
    )
