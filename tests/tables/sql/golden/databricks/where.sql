-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  CAST(SUM(`t1`.`term_1`) AS STRING) AS `term_1_0`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`,
    IF(TRUE AND (
      IF(TRUE, 1, 0) IS NOT NULL
    ), 1, 0) AS `term_1`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    `t0`.`age` > 30 AND `t0`.`is_new`
) AS `t1`;
