-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`name_0`,
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`
FROM (
  SELECT
    CASE
      WHEN CAST(`t0`.`town` AS BINARY) = CAST('Aston' AS BINARY)
      THEN 0
      WHEN CAST(`t0`.`town` AS BINARY) = CAST('Zürich' AS BINARY)
      THEN 1
      ELSE NULL
    END AS `name_0`,
    IF(TRUE, 1, 0) AS `term_0`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`
GROUP BY
  1;
