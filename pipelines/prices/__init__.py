"""The price book: which price a request has, by deployment, arrival and length, and which price a result was given.

rows     the keys of one price row, from the configuration or a CSV
file     that CSV
known    rows of the genai-prices package, for deployments named like a model it knows
globs    which patterns are more specific, which can meet
precedence  which row of a pattern holds, and refusing rows that contradict each other; of costs and objectives too
book     all rows: the row of a request found
sales    what requests bought, by price, model, length and timeliness
lists    an hour's prices as a list that names and hashes itself
memory   the price lists of published results, which later rows never rewrite
"""
