"""What dashboards are fed: gauges of the published snapshot, as a file or over HTTP.

Belongs here: which gauges there are, and how they are handed out. Does not belong here: what their values follow from
(`overview`, `sql/metrics/`). The only importer of prometheus_client and waitress.
"""
