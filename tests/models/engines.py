"""Serving engines, step by step: what a gateway would log of them, and how long they really computed.

An engine prefills in steps of at most `chunk_tokens`, first come first served. One that packs fills a step from several
requests; one that does not pays `step_s` once for every chunk of every request. Nothing here knows how a law is fitted.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from models.regression_rows import BusyRows
from models.service_time import TrafficMoments

COLD_AFTER_RESTART_S = 600.0
"""How long a restarted instance finds nothing in its prefix cache [s]."""
SWEEP_REQUESTS = 64
SWEEP_HIT_RATES = tuple(i / 20 for i in range(19))  # 0 … .90, where the article's line is fitted


@dataclass(frozen=True)
class Engine:
    """Costs [s] of one instance, and how many there are.

    step_s: per step, whatever is in it. request_s, kv_load_s: per request and per cached token, with the first chunk.
    decoding_s: per step and request then decoding, on engines where decode shares the steps. noise: sigma of ln of a
    step's duration. router: "turns", "shortest" queue, or "sticky" by session.
    """

    step_s: float
    token_s: float
    attention_s: float = 0.0
    kv_load_s: float = 0.0
    request_s: float = 0.002
    decoding_s: float = 0.0
    chunk_tokens: int = 8192
    packs: bool = True
    noise: float = 0.03
    instances: int = 2
    router: str = "shortest"

    def alone_s(self, miss, cached):
        """Seconds [s] that requests of `miss` computed after `cached` tokens take an idle instance, one at a time."""
        own = self.token_s * miss + self.attention_s * miss * (cached + miss / 2) + self.kv_load_s * cached
        return self.step_s * np.ceil(miss / self.chunk_tokens) + self.request_s + own


@dataclass(frozen=True)
class Traffic:
    """Requests in order of arrival, every array of shape (n,): times [s], tokens, and the session of each."""

    arrival_s: np.ndarray
    miss_tokens: np.ndarray
    cached_tokens: np.ndarray
    output_tokens: np.ndarray
    session: np.ndarray

    @property
    def cold(self) -> Traffic:
        """The same requests with nothing cached."""
        return replace(
            self, miss_tokens=self.miss_tokens + self.cached_tokens, cached_tokens=np.zeros_like(self.cached_tokens)
        )


@dataclass(frozen=True)
class Log:
    """What a gateway knows of the requests it answered, every array of shape (n,): times [s], tokens, the instance."""

    instance: np.ndarray
    start_s: np.ndarray
    first_token_s: np.ndarray
    miss_tokens: np.ndarray
    cached_tokens: np.ndarray

    def __len__(self) -> int:
        return len(self.start_s)

    def pick(self, chosen) -> Log:
        """The requests that a mask or an array of indices selects."""
        return Log(**{name: getattr(self, name)[chosen] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Hang:
    """An instance that makes no progress for `length_s` from `begin_s` on [s].

    loses: a restart. What waits is never answered, and the prefix cache comes back empty.
    """

    instance: int
    begin_s: float
    length_s: float
    loses: bool = False


@dataclass(frozen=True)
class Run:
    """log: the answered requests. work_s: the length [s] of all n_steps steps, hangs and idling not counted."""

    log: Log
    work_s: float
    n_steps: int


DECODE_S = 0.02
"""Time of one output token [s]: how long a request stays in decode."""


def serve(
    engine: Engine, traffic: Traffic, *, seed: int, overhead_s: float = 0.04, jitter: float = 0.3, hangs=(), alive=None
) -> Run:
    """Run the traffic through the engine's instances.

    overhead_s: median of what network, tokenizer and gateway add to a time to first token [s], jitter its sigma of ln.
    alive: for each instance, the interval [s] in which the router sends to it; always, when None.
    """
    dice = Random(seed)
    instances = [_Instance(engine, dice, deque(h for h in hangs if h.instance == i)) for i in range(engine.instances)]
    columns = (traffic.arrival_s, traffic.miss_tokens, traffic.cached_tokens, traffic.output_tokens, traffic.session)
    where, cached_here = [], []
    for i, (at, miss, cached, output, session) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        for instance in instances:
            instance.run_until(at)
        open_to = [n for n in range(len(instances)) if alive is None or alive[n][0] <= at < alive[n][1]]
        if engine.router == "turns":
            chosen = open_to[i % len(open_to)]
        elif engine.router == "sticky":
            chosen = open_to[session % len(open_to)]
        else:
            chosen = min(open_to, key=lambda n: len(instances[n].queue))
        where.append(chosen)
        cached_here.append(instances[chosen].take(i, at, miss, cached, output))
    for instance in instances:
        instance.run_until(float("inf"))
    answers = {i: at for instance in instances for i, at in instance.answers.items()}
    served = np.array(sorted(answers))
    network = overhead_s * np.random.default_rng(seed).lognormal(0, jitter, len(served))
    cached = np.array(cached_here)[served]
    log = Log(
        instance=np.array(where)[served],
        start_s=traffic.arrival_s[served],
        first_token_s=np.array([answers[i] for i in served.tolist()]) + network,
        miss_tokens=(traffic.miss_tokens + traffic.cached_tokens)[served] - cached,
        cached_tokens=cached,
    )
    return Run(log, sum(each.work_s for each in instances), sum(each.n_steps for each in instances))


@dataclass
class _Instance:
    engine: Engine
    dice: Random
    hangs: deque[Hang]
    now_s: float = 0.0
    work_s: float = 0.0
    n_steps: int = 0
    cold_until_s: float = -1.0
    queue: deque = field(default_factory=deque)  # [request, tokens left, context, s due with the first chunk, output]
    decoding: list = field(default_factory=list)  # when each ends
    answers: dict = field(default_factory=dict)

    def run_until(self, at_s: float) -> None:
        """Take the steps that begin before `at_s` [s]."""
        while self.queue and self.now_s < at_s:
            self._step()

    def take(self, request: int, at_s: float, miss: int, cached: int, output: int) -> int:
        """Queue a request; return how many of its tokens are found cached."""
        if not self.queue:
            self.now_s = max(self.now_s, at_s)
            while self.hangs and self.hangs[0].begin_s <= self.now_s:
                self._recover(self.hangs[0].begin_s)
        if at_s < self.cold_until_s:
            miss, cached = miss + cached, 0
        due_s = self.engine.request_s + self.engine.kv_load_s * cached
        self.queue.append([request, miss, cached, due_s, output])
        return cached

    def _step(self) -> None:
        engine, queue, decoding = self.engine, self.queue, self.decoding
        while decoding and decoding[0] <= self.now_s:
            heapq.heappop(decoding)
        length_s, budget, done = engine.step_s + engine.decoding_s * len(decoding), engine.chunk_tokens, []
        while queue and budget:
            head = queue[0]
            tokens = min(head[1], budget)
            length_s += tokens * (engine.token_s + engine.attention_s * (head[2] + tokens / 2)) + head[3]
            head[1], head[2], head[3] = head[1] - tokens, head[2] + tokens, 0.0
            budget -= tokens
            if not head[1]:
                done.append(queue.popleft())
            if not engine.packs:
                break
        length_s *= self.dice.lognormvariate(0, engine.noise)
        self.work_s += length_s
        self.n_steps += 1
        self.now_s += length_s
        while self.hangs and self.hangs[0].begin_s <= self.now_s:
            if self.hangs[0].loses:
                queue.clear()
                done.clear()
            self._recover(self.now_s)
        for request, _, _, _, output in done:
            self.answers[request] = self.now_s
            if engine.decoding_s:
                heapq.heappush(decoding, self.now_s + DECODE_S * output)

    def _recover(self, from_s: float) -> None:
        hang = self.hangs.popleft()
        self.now_s = max(self.now_s, from_s + hang.length_s)
        if hang.loses:
            self.decoding.clear()
            self.cold_until_s = self.now_s + COLD_AFTER_RESTART_S


# ------------------------------------------------------------------------------------------------ what is known of it


def busy_rows(log: Log) -> BusyRows:
    """One row per instance, busy period and minute of the first token, as sql/mart/busy_periods.sql makes them."""
    log = log.pick(np.lexsort((log.start_s, log.first_token_s, log.instance)))
    n = len(log)
    first_of_instance = np.diff(log.instance, prepend=-1) != 0
    earliest = np.empty(n)
    for part in np.split(np.arange(n), np.flatnonzero(first_of_instance)[1:]):
        earliest[part] = np.minimum.accumulate(log.start_s[part][::-1])[::-1]
    previous = np.where(first_of_instance, -np.inf, np.roll(log.first_token_s, 1))
    begins = earliest > previous
    busy = log.first_token_s - np.maximum(earliest, previous)
    minute = (log.first_token_s // 60).astype(np.int64)
    opens_row = begins | (np.diff(minute, prepend=-1) != 0)
    row = np.cumsum(opens_row) - 1
    miss, cached = log.miss_tokens.astype(float), log.cached_tokens.astype(float)
    amounts = (busy, np.ones(n), miss, miss * (cached + miss / 2), cached, begins)
    table = np.column_stack([np.bincount(row, amount) for amount in amounts])
    order = np.argsort(minute[opens_row], kind="stable")
    return BusyRows(minute[opens_row][order] // 60, *table[order].T)


def moments(log: Log | Traffic) -> TrafficMoments:
    """Sums over all requests."""
    miss, cached = log.miss_tokens.astype(float), log.cached_tokens.astype(float)
    length = miss + cached
    return TrafficMoments(
        n_requests=len(miss),
        input_tokens=length.sum(),
        cached_tokens=cached.sum(),
        miss_tokens=miss.sum(),
        sum_miss_cached=(miss * cached).sum(),
        sum_miss_sq=(miss**2).sum(),
        sum_input_sq=(length**2).sum(),
    )


def true_index(traffic: Traffic, hot: Run, cold: Run, price_ratio: float) -> float:
    """Revenue per second of work, over that of the same requests served without a cache."""
    miss, cached = traffic.miss_tokens.sum(), traffic.cached_tokens.sum()
    return (miss + price_ratio * cached) / hot.work_s / ((miss + cached) / cold.work_s)


def true_slope(engine: Engine, input_tokens: float, *, saturated: bool = True) -> float:
    """Slope `a` of the line through the engine's own curve at one length: 64 requests at once, or each alone."""
    throughput = []
    for x in SWEEP_HIT_RATES:
        miss = max(1, round((1 - x) * input_tokens))
        cached = round(input_tokens) - miss
        if saturated:
            some = np.full(SWEEP_REQUESTS, 1)
            burst = Traffic(some * 0.0, some * miss, some * cached, some, some)
            one = replace(engine, noise=0.0, instances=1, decoding_s=0.0)
            throughput.append(SWEEP_REQUESTS * miss / serve(one, burst, seed=0).work_s)
        else:
            throughput.append(miss / engine.alone_s(miss, cached))
    slope, intercept = np.polyfit(SWEEP_HIT_RATES, throughput, 1)
    return float(-slope / intercept)
