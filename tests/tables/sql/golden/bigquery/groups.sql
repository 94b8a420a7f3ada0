-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`key0`,
  COUNT(`t1`.`term_0`) AS `term_0_rows`,
  CAST(SUM(`t1`.`term_1` & 8388607) AS STRING) AS `term_1_0`,
  CAST(SUM(`t1`.`term_1` >> 23) AS STRING) AS `term_1_23`,
  COUNT(`t1`.`term_1`) AS `term_1_rows`
FROM (
  SELECT
    CAST(`t0`.`town` AS BYTES) AS `key0`,
    NULLIF(IF(TRUE, 1, 0), 0) AS `term_0`,
    CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              `t0`.`pay` >= CAST(-5 AS FLOAT64)
            )
            AND (
              `t0`.`pay` <= (
                CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
              )
            )
            THEN `t0`.`pay`
            WHEN `t0`.`pay` < CAST(-5 AS FLOAT64)
            THEN CAST(-5 AS FLOAT64)
            WHEN (
              `t0`.`pay` > (
                CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
              )
            )
            AND NOT (
              IS_NAN(`t0`.`pay`)
            )
            THEN CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
            ELSE NULL
          END * (
            CAST(1 AS FLOAT64) * CAST(17179869184 AS FLOAT64)
          )
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) - -85899345920 AS `term_1`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    `t0`.`town` IN ('Bury') AND CAST(`t0`.`town` AS BYTES) IS NOT NULL
) AS `t1`
GROUP BY
  1;
