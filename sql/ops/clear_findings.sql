-- name: ops/clear_findings
-- grain: statement
-- params: day_index BIGINT, contract VARCHAR
-- reads: ops.findings
-- units: day_index
-- why: in the transaction that inserts the contract's findings anew
delete from ops.findings
where day_index = $day_index and contract = $contract
