-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t1`.`term_0`) AS `term_0_rows`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    `t0`.`age` > 30 AND `t0`.`is_new`
) AS `t1`;
