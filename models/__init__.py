"""The mathematics: what a cache hit earns, what a request costs, and how well production logs say so.

Belongs here: pure functions of numbers and arrays, and the frozen results they return.
Does not belong here: files, SQL, clocks, where prices come from, alert policy.

    valley          the article's straight line in closed form: where revenue falls, how far, until when
    service_time    what a request costs an instance, and the exact index of a mixture of requests
    revenue         that index where the requests of a mixture have several prices
    bathtub         floor and exit of a mixture's own bathtub
    operating_point a mixture under its law and prices, in money; the slope of the mixture and its parts
    levers          what gets it out of the valley, ranked by money
    what_if         what it would earn at another price, hit rate or curve
    waterfall       why a busy hour earns more or less than it did, in parts that add up
    goodput         revenue of requests that were answered in time
    profit          revenue by scope, the cost of instances, hours that lose money
    busy_periods    that law, from production logs
    drift           since when the engine behind them has been the same
    like_rows       how much faster like work is done
    families        which shape the curve has, and where the straight line stops being good
    length_bands    the curve at the lengths of a deployment's own traffic
    chunks          the chunk size of engines that do not pack, and what their small last chunks cost
    sweep           the straight line, from a controlled benchmark
    length_sweep    the service-time law, from a controlled benchmark of several lengths
    sensitivity     how index and exit of a mixture move with the law
    knowledge       what is known of a law: from a curve, from nothing, after a benchmark
    design, plan    the few benchmark points that would narrow an exit most
    curve_fit       what every estimator returns
    trust           whether a verdict may rest on it
"""
