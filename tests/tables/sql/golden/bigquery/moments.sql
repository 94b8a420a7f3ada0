-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t2`.`key0`,
  CAST(SUM(`t2`.`term_0`) AS STRING) AS `sum_0_0`
FROM (
  SELECT
    `t1`.`key0`,
    IF(`t1`.`above0` IS NOT NULL, 1, 0) AS `term_0`
  FROM (
    SELECT
      IF(
        `t0`.`moment` BETWEEN DATETIME('0001-01-01T00:00:00') AND DATETIME('9999-12-31T23:59:59.999999'),
        `t0`.`moment`,
        NULL
      ) AS `key0`,
      IF(TRUE, 1, 0) * 0 AS `above0`
    FROM `c`.`d`.`t` AS `t0`
  ) AS `t1`
  WHERE
    `t1`.`key0` IS NOT NULL
) AS `t2`
GROUP BY
  1;
