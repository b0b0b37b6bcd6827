-- name: ingest/plain_key_lists
-- grain: statement; sets plain_key_lists: hashes of lists of keys without a repeated one
-- params: none
-- reads: lines (the first ones of a file)
-- units: none
-- why: producers write few different lists of keys; looking for repeated keys line by line costs three times as much as
--      telling a known list (ingest/macros/1_json_line_fault), which is all that the lines after these mostly need
set variable plain_key_lists = (
  select list(key_list)
  from (
    select hash(json_keys(line)) as key_list
    from lines
    where
      json_valid(line)
      and starts_with(line, '{')
      and len(json_keys(line)) = list_unique(json_keys(line))
      -- An empty list has the hash of no list at all.
      and len(json_keys(line)) > 0
    group by key_list
    order by count(*) desc, key_list asc
    limit 16
  )
)
