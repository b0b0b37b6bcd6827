"""The price book: which price a request has, by deployment, arrival and length, and which price a result was given.

rows     the keys of one price row, from the configuration or a CSV
file     that CSV
known    rows of the genai-prices package, for deployments named like a model it knows
globs    which patterns are more specific, which can meet
book     all rows: contradictions refused, the row of a request found
lists    an hour's prices as a list that names and hashes itself
memory   the price lists of published results, which later rows never rewrite
"""
