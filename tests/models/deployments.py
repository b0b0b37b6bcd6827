"""Engines of published kinds under the mixes they meet, and one served day of each: what recovery is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tests.models.engines import Engine, Run, Traffic, serve, true_index
from tests.models.workloads import Mix, offer

DENSE = Engine(step_s=0.012, token_s=5e-5, attention_s=1.2e-9, kv_load_s=1e-7)
SPARSE = Engine(step_s=0.09, token_s=3e-5, attention_s=3e-10, kv_load_s=1e-7)
"""A mixture of experts over many cards: a step takes 90 ms whatever is in it."""
UNPACKED = Engine(step_s=0.05, token_s=6e-5, attention_s=1.5e-9, chunk_tokens=4096, packs=False)
OFFLOADED = Engine(
    step_s=0.015,
    token_s=7e-5,
    attention_s=1e-9,
    kv_load_s=9e-6,
    chunk_tokens=16_384,
    instances=3,
    router="sticky",
)
"""Cached keys and values come from a slow tier."""
SHARED = Engine(step_s=0.01, token_s=6e-5, attention_s=1.5e-9, kv_load_s=3e-7, decoding_s=4e-4, chunk_tokens=2048)
"""Each request in decode slows every step."""
SMALL = Engine(
    step_s=0.004, token_s=3e-4, attention_s=2e-9, kv_load_s=1e-7, chunk_tokens=2048, instances=4, router="turns"
)


@dataclass(frozen=True)
class Day:
    """One deployment's traffic at one load, served with its cache and, for the truth, without."""

    engine: Engine
    mix: Mix
    load: float
    rhythm: str = "steady"
    n_requests: int = 6_000
    seed: int = 1

    @cached_property
    def traffic(self) -> Traffic:
        """What was asked."""
        return offer(
            self.mix, self.engine, load=self.load, n_requests=self.n_requests, seed=self.seed, rhythm=self.rhythm
        )

    @cached_property
    def run(self) -> Run:
        """What the engine did."""
        return serve(self.engine, self.traffic, seed=self.seed)

    @cached_property
    def cold(self) -> Run:
        """What it would have done without a cache."""
        return serve(self.engine, self.traffic.cold, seed=self.seed)

    @property
    def input_tokens(self) -> float:
        """Mean prompt, the length slopes are stated for."""
        return float((self.traffic.miss_tokens + self.traffic.cached_tokens).mean())

    def index(self, price_ratio: float) -> float:
        """The true revenue index."""
        return true_index(self.traffic, self.run, self.cold, price_ratio)
