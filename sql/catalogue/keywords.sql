-- name: catalogue/keywords
-- grain: keyword
-- params: none
-- reads: the engine's catalogue
-- units: none
-- why: the words of the language that completion offers; the others may be names
select keyword_name
from duckdb_keywords()
where keyword_category = 'reserved'
order by keyword_name
