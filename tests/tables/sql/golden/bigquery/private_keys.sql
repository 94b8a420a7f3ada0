-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`key0`,
  COUNT(`t1`.`term_0`) AS `term_0_rows`
FROM (
  SELECT
    CAST(`t0`.`town` AS BYTES) AS `key0`,
    IF(TRUE, 1, 0) AS `term_0`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    CAST(`t0`.`town` AS BYTES) IS NOT NULL
) AS `t1`
GROUP BY
  1;
