-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t1`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t1`.`term_1` & 8388607) AS STRING) AS `term_1_0`,
  CAST(SUM(`t1`.`term_1` >> 23) AS STRING) AS `term_1_23`,
  COUNT(`t1`.`term_2`) AS `term_2_rows`,
  CAST(SUM(`t1`.`term_3` & 8388607) AS STRING) AS `term_3_0`,
  CAST(SUM(`t1`.`term_3` >> 23) AS STRING) AS `term_3_23`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`,
    CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              `t0`.`price` >= CAST('0.00' AS NUMERIC)
            )
            AND (
              `t0`.`price` <= CAST('1000000.00' AS NUMERIC)
            )
            THEN CAST(`t0`.`price` AS FLOAT64)
            WHEN `t0`.`price` < CAST('0.00' AS NUMERIC)
            THEN CAST(0 AS FLOAT64)
            WHEN (
              `t0`.`price` > CAST('1000000.00' AS NUMERIC)
            )
            AND NOT (
              IS_NAN(CAST(`t0`.`price` AS FLOAT64))
            )
            THEN CAST(15625 AS FLOAT64) * CAST(64 AS FLOAT64)
            ELSE NULL
          END * (
            CAST(1 AS FLOAT64) * CAST(2097152 AS FLOAT64)
          )
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) AS `term_1`,
    CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) > -(
                CAST(1 AS FLOAT64) * CAST(4194304 AS FLOAT64)
              )
            )
            AND (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) < (
                CAST(1 AS FLOAT64) * CAST(4194304 AS FLOAT64)
              )
            )
            THEN CAST(0 AS FLOAT64)
            WHEN (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) >= (
                CAST(-596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
              )
            )
            AND (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) <= (
                CAST(596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
              )
            )
            THEN CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64)
            WHEN CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) < (
              CAST(-596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
            )
            THEN CAST(-596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
            WHEN (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) > (
                CAST(596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
              )
            )
            AND NOT (
              IS_NAN(CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64))
            )
            THEN CAST(596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
            ELSE NULL
          END * ieee_divide(CAST(1 AS FLOAT64), CAST(16777216 AS FLOAT64))
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) AS `term_2`,
    CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) > -(
                CAST(1 AS FLOAT64) * CAST(4194304 AS FLOAT64)
              )
            )
            AND (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) < (
                CAST(1 AS FLOAT64) * CAST(4194304 AS FLOAT64)
              )
            )
            THEN CAST(0 AS FLOAT64)
            WHEN (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) >= (
                CAST(-596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
              )
            )
            AND (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) <= (
                CAST(596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
              )
            )
            THEN CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64)
            WHEN CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) < (
              CAST(-596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
            )
            THEN CAST(-596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
            WHEN (
              CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64) > (
                CAST(596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
              )
            )
            AND NOT (
              IS_NAN(CAST(CAST(`t0`.`total` AS STRING) AS FLOAT64))
            )
            THEN CAST(596046447753 AS FLOAT64) * CAST(16777216 AS FLOAT64)
            ELSE NULL
          END * ieee_divide(CAST(1 AS FLOAT64), CAST(16777216 AS FLOAT64))
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) - -596046447753 AS `term_3`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`;
