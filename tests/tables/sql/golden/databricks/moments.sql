-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`key0`,
  COUNT(`t1`.`term_0`) AS `term_0_rows`
FROM (
  SELECT
    IF(
      `t0`.`moment` BETWEEN CAST('0001-01-01T00:00:00' AS TIMESTAMP) AND CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP),
      `t0`.`moment`,
      NULL
    ) AS `key0`,
    IF(TRUE, 1, 0) AS `term_0`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    IF(
      `t0`.`moment` BETWEEN CAST('0001-01-01T00:00:00' AS TIMESTAMP) AND CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP),
      `t0`.`moment`,
      NULL
    ) IS NOT NULL
) AS `t1`
GROUP BY
  1;
