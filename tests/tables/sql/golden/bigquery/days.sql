-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`key0`,
  COUNT(`t1`.`term_0`) AS `term_0_rows`
FROM (
  SELECT
    IF(`t0`.`day` BETWEEN DATE(1, 1, 1) AND DATE(9999, 12, 31), `t0`.`day`, NULL) AS `key0`,
    IF(TRUE, 1, 0) AS `term_0`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    IF(`t0`.`day` BETWEEN DATE(1, 1, 1) AND DATE(9999, 12, 31), `t0`.`day`, NULL) IS NOT NULL
) AS `t1`
GROUP BY
  1;
