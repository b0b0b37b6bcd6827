/* The model as the page works it out: the closed forms of the straight line (models/valley.py) and the index of a traffic
 * mix from its sums (models/bathtub.py, service_time.py, operating_point.py, what_if.py).
 *
 * Belongs here: pure functions of numbers; null where there is nothing, as None there. Does not belong here: the page.
 * law: {f, c, q, k}; moments: the sums of TrafficMoments by their names; r: price ratio; x: hit rate; a: slope.
 */
"use strict";

(() => {
  const ROUNDING = 1e-12; // a depth below this is arithmetic, not a valley

  // --- the straight line ---------------------------------------------------------------------------------------------

  const revenueIndex = (x, a, r) => ((1 - a * x) * (1 - (1 - r) * x)) / (1 - x);

  const lineValley = (a, r) => {
    if (!(a > r)) return null;
    return {
      floorHitRate: 1 - Math.sqrt(((1 - a) * r) / (a * (1 - r))),
      exitHitRate: r > 0 ? (a - r) / (a * (1 - r)) : null,
      floorDepth: Math.sin(Math.asin(Math.sqrt(a)) - Math.asin(Math.sqrt(r))) ** 2,
    };
  };

  const lineSide = (x, a, r) => {
    const valley = lineValley(a, r);
    return valley !== null && x < valley.floorHitRate ? "descending" : "ascending";
  };

  // --- a traffic mix -------------------------------------------------------------------------------------------------

  const cachedSq = (m) => m.sum_input_sq - 2 * m.sum_miss_cached - m.sum_miss_sq;

  const busyS = (law, m) =>
    law.f * m.n_requests + law.c * m.miss_tokens + law.q * (m.sum_miss_cached + m.sum_miss_sq / 2) + law.k * m.cached_tokens;

  const busyWithoutCacheS = (law, m) => law.f * m.n_requests + law.c * m.input_tokens + (law.q * m.sum_input_sq) / 2;

  /** The same requests at another hit rate: a like share of every request's misses or hits is moved. */
  const moveToHitRate = (m, x) => {
    const now = m.cached_tokens / m.input_tokens;
    if (x === now) return m;
    const share = x > now ? (x - now) / (1 - now) : (x - now) / now;
    const keep = 1 - Math.abs(share);
    if (share >= 0) {
      return {
        ...m,
        miss_tokens: keep * m.miss_tokens,
        cached_tokens: m.cached_tokens + share * m.miss_tokens,
        sum_miss_cached: keep * (m.sum_miss_cached + share * m.sum_miss_sq),
        sum_miss_sq: keep ** 2 * m.sum_miss_sq,
      };
    }
    return {
      ...m,
      miss_tokens: m.miss_tokens - share * m.cached_tokens,
      cached_tokens: keep * m.cached_tokens,
      sum_miss_cached: keep * (m.sum_miss_cached - share * cachedSq(m)),
      sum_miss_sq: m.sum_miss_sq - 2 * share * m.sum_miss_cached + share ** 2 * cachedSq(m),
    };
  };

  const mixIndex = (law, m, r) =>
    ((m.miss_tokens + r * m.cached_tokens) / m.input_tokens) * (busyWithoutCacheS(law, m) / busyS(law, m));

  /** What one more hit does at the traffic as it is. */
  const mixSide = (law, m, r) => {
    const context = m.miss_tokens > 0 ? m.sum_miss_cached / m.miss_tokens : cachedSq(m) / m.cached_tokens;
    const savedS = law.c - law.k + law.q * context;
    const gained = mixIndex(law, m, r) * m.input_tokens * savedS - (1 - r) * busyWithoutCacheS(law, m);
    return gained / busyS(law, m) < 0 ? "descending" : "ascending";
  };

  /* One side of the path through the traffic, for shares 0 <= s <= 1: R(s) = (e0 + e1*s) * w / (b0 + b1*s + b2*s²). */
  const sides = (law, m, r) => {
    const without = busyWithoutCacheS(law, m);
    const now = m.miss_tokens + r * m.cached_tokens;
    const w = without / m.input_tokens;
    const below = {
      e0: m.input_tokens, e1: now - m.input_tokens,
      b0: without, b1: -(law.c - law.k) * m.cached_tokens, b2: (-law.q * cachedSq(m)) / 2, w,
    };
    const above = {
      e0: r * m.input_tokens, e1: now - r * m.input_tokens,
      b0: law.f * m.n_requests + law.k * m.input_tokens,
      b1: (law.c - law.k) * m.miss_tokens + law.q * (m.sum_miss_sq + m.sum_miss_cached),
      b2: (-law.q * m.sum_miss_sq) / 2, w,
    };
    return [below, above];
  };

  const indexAt = (side, s) => {
    const earned = side.e0 + side.e1 * s;
    const busy = side.b0 + side.b1 * s + side.b2 * s * s;
    return (busy === 0 && earned === 0 ? side.e1 / side.b1 : earned / busy) * side.w;
  };

  const lowest = (side) => {
    const start = side.e1 * side.b0 - side.e0 * side.b1;
    const bend = side.e0 * -side.b2;
    const inner = bend * bend + side.e1 * side.b2 * start;
    if (start >= 0) return 0;
    const turn = -start / (bend + Math.sqrt(Math.max(inner, 0)));
    return inner < 0 || !(turn < 1) ? 1 : turn;
  };

  const exitAbove = (side) => {
    const full = side.b0 - side.e0 * side.w;
    const rises = side.b1 - side.e1 * side.w;
    if (!(rises > 0 && indexAt(side, 0) >= 1)) return NaN;
    return (-2 * full) / (rises + Math.sqrt(rises * rises + 4 * -side.b2 * full));
  };

  const mixValley = (law, m, r) => {
    const [below, above] = sides(law, m, r);
    const keptHits = lowest(below);
    const keptMisses = lowest(above);
    const low = indexAt(below, keptHits);
    const high = indexAt(above, keptMisses);
    const x = m.cached_tokens / m.input_tokens;
    const isBelow = low < high;
    const floorDepth = 1 - (isBelow ? low : high);
    if (!(floorDepth > ROUNDING)) return null;
    const paysHere = indexAt(above, 1) >= 1;
    const exitBelow = (below.b1 - below.e1 * below.w) / -below.b2;
    const leaves = isBelow && paysHere ? exitBelow * x : 1 - exitAbove(above) * (1 - x);
    return {
      floorHitRate: isBelow ? keptHits * x : 1 - keptMisses * (1 - x),
      exitHitRate: Number.isNaN(leaves) ? null : leaves,
      floorDepth,
    };
  };

  // --- money: what the busy seconds of `before` would earn more; traffic: {law, moments, price_ratio, input_per_mtok} -----

  const revenueOf = (traffic, m, r) => (traffic.input_per_mtok * (m.miss_tokens + r * m.cached_tokens)) / 1e6;

  const mixGain = (traffic, { r, x, f }) => {
    const law = { ...traffic.law, f };
    const after = moveToHitRate(traffic.moments, x);
    const isAsItIs = after === traffic.moments && f === traffic.law.f;
    const times = isAsItIs ? 1 : busyS(traffic.law, traffic.moments) / busyS(law, after);
    return times * revenueOf(traffic, after, r) - revenueOf(traffic, traffic.moments, traffic.price_ratio);
  };

  const lineGain = (traffic, { r, x, a }) => {
    const after = moveToHitRate(traffic.moments, x);
    const busy = (busyWithoutCacheS(traffic.law, traffic.moments) * (1 - x)) / (1 - a * x);
    const times = busyS(traffic.law, traffic.moments) / busy;
    return times * revenueOf(traffic, after, r) - revenueOf(traffic, traffic.moments, traffic.price_ratio);
  };

  window.valleywatchModel = {
    revenueIndex, lineValley, lineSide, moveToHitRate, mixIndex, mixValley, mixSide, mixGain, lineGain,
  };
})();
