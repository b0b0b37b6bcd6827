-- name: ingest/macros/1_pseudonym
-- grain: scalar; NULL stays NULL
-- params: none
-- reads: the session's variables hashed_fields VARCHAR[], hash_inner and hash_outer BLOB (the padded keys of HMAC), NULL
--        where nothing is hashed
-- units: none
-- why: HMAC-SHA256 of "field:value" under the salt of [privacy], its first 32 hex digits, for the fields that are hashed. The
--      variables are constants to the planner: fields that are not hashed cost nothing
create or replace temp macro pseudonym(field, value) as
  case
    when list_contains(getvariable('hashed_fields')::varchar[], field)
      then left(
        sha256(
          getvariable('hash_outer')::blob
          || unhex(sha256(getvariable('hash_inner')::blob || encode(field || ':' || value)))
        ),
        32
      )
    else value
  end
