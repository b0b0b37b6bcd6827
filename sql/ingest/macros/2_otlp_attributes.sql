-- name: ingest/macros/2_otlp_attributes
-- grain: scalar; attributes is OTLP's JSON list of keys and typed values; a list of key and value, the values as JSON
-- params: none
-- reads: nothing
-- units: none
create or replace temp macro otlp_attributes(attributes) as
  list_transform(
    json_transform(attributes, '[{
      "key": "VARCHAR",
      "value": {"intValue": "JSON", "doubleValue": "JSON", "stringValue": "JSON", "boolValue": "JSON"}
    }]'),
    lambda attribute: struct_pack(
      key := attribute.key,
      value := coalesce(
        otlp_integer(attribute.value.intValue),
        attribute.value.doubleValue,
        attribute.value.stringValue,
        attribute.value.boolValue
      )
    )
  )
