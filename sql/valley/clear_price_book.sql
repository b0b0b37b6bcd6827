-- name: valley/clear_price_book
-- grain: statement
-- params: none
-- reads: mart.price_book
-- units: none
-- why: the book is the configuration's
delete from mart.price_book
