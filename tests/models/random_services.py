"""Random services of known truth: what the intervals of a curve are judged on.

Belongs here: drawing a deployment (engine, mix, load, rhythm, network) and what is true of it. Does not belong here:
fitting, and judging fits (`coverage`).

Every range is that of published engines or of production logs; a service is drawn from its number alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from models.envelope import EnvelopeRows
from models.service_time import TrafficMoments
from tests.models.engines import DECODE_S, Engine, Log, Run, Traffic, moments, serve, true_index
from tests.models.workloads import BLOCK_TOKENS, Mix, offer

SWEEP_HIT_RATES = np.linspace(0.0, 0.9, 19)
MIN_HORIZON_S = 6 * 3600.0
MAX_REQUESTS = 12_000


@dataclass(frozen=True)
class Service:
    """One deployment, and the traffic it served for some hours. overhead_s, jitter: see `engines.serve`.

    hit_rates: between which those of requests lie, instead of what the mix finds. input_length: of every prompt
    [tokens], instead of those of the mix.
    """

    number: int
    engine: Engine
    mix: Mix
    load: float
    rhythm: str
    n_requests: int
    overhead_s: float
    jitter: float
    hit_rates: tuple[float, float] | None = None
    input_length: int | None = None

    @cached_property
    def traffic(self) -> Traffic:
        """What was asked."""
        asked = offer(
            self.mix, self.engine, load=self.load, n_requests=self.n_requests, seed=self.number, rhythm=self.rhythm
        )
        length, cached = asked.miss_tokens + asked.cached_tokens, asked.cached_tokens
        if self.input_length is not None:
            length, cached = np.full_like(length, self.input_length), cached * self.input_length // length
        if self.hit_rates is not None:
            share = np.random.default_rng([self.number, 1]).uniform(*self.hit_rates, len(length))
            cached = np.minimum((share * length).astype(np.int64), length - 1)
        work_s = self.engine.alone_s(length - cached, cached).sum()
        slower = work_s / self.engine.alone_s(asked.miss_tokens, asked.cached_tokens).sum()
        return replace(asked, arrival_s=asked.arrival_s * slower, miss_tokens=length - cached, cached_tokens=cached)

    @cached_property
    def run(self) -> Run:
        """What the engine did."""
        return serve(self.engine, self.traffic, seed=self.number, overhead_s=self.overhead_s, jitter=self.jitter)

    @cached_property
    def cold(self) -> Run:
        """What it would have done without a cache."""
        return serve(self.engine, self.traffic.cold, seed=self.number)

    @property
    def log(self) -> Log:
        """What is known of it."""
        return self.run.log

    @property
    def moments(self) -> TrafficMoments:
        """Sums over its requests."""
        return moments(self.traffic)

    @property
    def input_tokens(self) -> float:
        """Mean prompt, the length lines are stated for."""
        return float((self.traffic.miss_tokens + self.traffic.cached_tokens).mean())

    def index(self, price_ratio: float) -> float:
        """The true revenue index of its traffic."""
        return true_index(self.traffic, self.run, self.cold, price_ratio)

    @cached_property
    def sharing(self) -> float:
        """How requests shared steps: 0 = each alone, 1 = as far as chunks allow, by the steps that were taken."""
        miss = self.traffic.miss_tokens
        alone, packed = np.ceil(miss / self.engine.chunk_tokens).sum(), miss.sum() / self.engine.chunk_tokens
        return float((alone - self.run.n_steps) / (alone - packed))

    @cached_property
    def line(self) -> tuple[float, float]:
        """tps0 [tokens/s] and a of the line through the engine's curve at its mean prompt, steps shared as they were.

        Lone requests share none, saturation shares all that chunks allow; what an operator earns lies between.
        """
        return self.line_at(self.sharing)

    def line_at(self, sharing: float) -> tuple[float, float]:
        """The same were steps shared this much; requests in decode are those the service had on average."""
        engine, length = self.engine, self.input_tokens
        miss = np.maximum(np.round((1 - SWEEP_HIT_RATES) * length), 1.0)
        alone, packed = np.ceil(miss / engine.chunk_tokens), miss / engine.chunk_tokens
        step_s = engine.step_s + engine.decoding_s * self.n_decoding
        own_s = engine.alone_s(miss, length - miss) - engine.step_s * alone
        slope, intercept = np.polyfit(
            SWEEP_HIT_RATES, miss / (own_s + step_s * (alone + sharing * (packed - alone))), 1
        )
        return float(intercept), float(-slope / intercept)

    @property
    def n_decoding(self) -> float:
        """Requests in decode on an instance, on average over time."""
        output_s = DECODE_S * self.traffic.output_tokens.sum()
        return float(output_s / self.traffic.arrival_s[-1] / self.engine.instances)

    def envelope_rows(self, target: str) -> EnvelopeRows:
        """The requests as a log without instances shows them, by time to first token or end to end."""
        log = self.log
        output = self.traffic.output_tokens.astype(float)
        times = log.first_token_s - log.start_s
        if target == "e2e_s":
            times = times + DECODE_S * output
        miss, cached = log.miss_tokens.astype(float), log.cached_tokens.astype(float)
        return EnvelopeRows((log.start_s // 60).astype(np.int64), times, miss, cached, output)


def draw(number: int) -> Service:
    """The service of this number."""
    rng = np.random.default_rng([20_261, number])

    def between(low: float, high: float) -> float:
        """Evenly in the logarithm."""
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    engine = Engine(
        step_s=between(0.002, 0.1),
        token_s=between(2e-5, 3e-4),
        attention_s=between(3e-10, 4e-9),
        kv_load_s=between(1e-6, 2e-5) if rng.random() < 0.25 else 1e-7,
        request_s=between(5e-4, 5e-3),
        decoding_s=between(5e-5, 5e-4) if rng.random() < 0.2 else 0.0,
        chunk_tokens=int(rng.choice([2048, 4096, 8192, 16_384])),
        packs=bool(rng.random() < 0.7),
        noise=float(rng.uniform(0.0, 0.1)),
        instances=int(rng.integers(1, 5)),
        router=str(rng.choice(["turns", "shortest", "sticky"])),
    )
    shared = int(between(100, 10_000)) // BLOCK_TOKENS * BLOCK_TOKENS
    mix = Mix(
        shared_tokens=shared if rng.random() < 0.7 else 0,
        opening_tokens=between(500, 40_000),
        turn_tokens=between(200, 6_000),
        turns=between(1.2, 16),
        reuse=float(rng.uniform(0.5, 0.95)),
        warm=float(rng.uniform(0.1, 0.9)),
        output_tokens=between(60, 600),
        pause_s=between(5, 60),
        spread=float(rng.uniform(0.4, 0.9)),
    )
    load = between(0.05, 1.2)
    service = Service(
        number=number,
        engine=engine,
        mix=mix,
        load=load,
        rhythm=str(rng.choice(["steady", "bursty", "diurnal"])),
        n_requests=1_000,
        overhead_s=between(0.005, 0.15),
        jitter=float(rng.uniform(0.1, 0.4)),
    )
    hours = service.traffic.arrival_s[-1]
    enough = int(min(MAX_REQUESTS, max(1_500, 1_000 * MIN_HORIZON_S / hours)))
    return replace(service, n_requests=enough)
