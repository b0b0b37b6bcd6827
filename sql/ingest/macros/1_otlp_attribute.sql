-- name: ingest/macros/1_otlp_attribute
-- grain: scalar; attributes as of otlp_attributes, keys a list of names; the value under the first name that has one
-- params: none
-- reads: nothing
-- units: none
-- why: conventions renamed attributes, and every instrumentation stayed with the names of its day
create or replace temp macro otlp_attribute(attributes, keys) as
  list_filter(
    list_transform(keys, lambda key: list_filter(attributes, lambda attribute: attribute.key = key)[1].value),
    lambda value: value is not null
  )[1]
