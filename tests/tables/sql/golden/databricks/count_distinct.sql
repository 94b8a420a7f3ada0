-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`key0`,
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `sum_0_0`
FROM (
  SELECT
    `t0`.`who` AS `key0`,
    IF((
      IF(TRUE, 1, 0) * 0
    ) IS NOT NULL, 1, 0) AS `term_0`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    `t0`.`who` IS NOT NULL
) AS `t1`
GROUP BY
  1;
