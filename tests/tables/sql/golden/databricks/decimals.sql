-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t1`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t1`.`term_1` & 8388607) AS STRING) AS `term_1_0`,
  CAST(SUM(SHIFTRIGHT(`t1`.`term_1`, 23)) AS STRING) AS `term_1_23`,
  COUNT(`t1`.`term_2`) AS `term_2_rows`,
  CAST(SUM(`t1`.`term_3` & 8388607) AS STRING) AS `term_3_0`,
  CAST(SUM(SHIFTRIGHT(`t1`.`term_3`, 23)) AS STRING) AS `term_3_23`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`,
    CAST((
      (
        CASE
          WHEN (
            `t0`.`price` >= CAST('0.00' AS DECIMAL(15, 2))
          )
          AND (
            `t0`.`price` <= CAST('1000000.00' AS DECIMAL(15, 2))
          )
          THEN CAST(`t0`.`price` AS DOUBLE)
          WHEN `t0`.`price` < CAST('0.00' AS DECIMAL(15, 2))
          THEN CAST(0 AS DOUBLE)
          WHEN (
            `t0`.`price` > CAST('1000000.00' AS DECIMAL(15, 2))
          )
          AND NOT (
            ISNAN(CAST(`t0`.`price` AS DOUBLE))
          )
          THEN CAST(15625 AS DOUBLE) * CAST(64 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) * CAST(2097152 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) AS `term_1`,
    CAST((
      (
        CASE
          WHEN (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) > -(
              CAST(1 AS DOUBLE) * CAST(4194304 AS DOUBLE)
            )
          )
          AND (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) < (
              CAST(1 AS DOUBLE) * CAST(4194304 AS DOUBLE)
            )
          )
          THEN CAST(0 AS DOUBLE)
          WHEN (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) >= (
              CAST(-596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
            )
          )
          AND (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) <= (
              CAST(596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
            )
          )
          THEN CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE)
          WHEN CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) < (
            CAST(-596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
          )
          THEN CAST(-596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
          WHEN (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) > (
              CAST(596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
            )
          )
          AND NOT (
            ISNAN(CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE))
          )
          THEN CAST(596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
          ELSE NULL
        END * TRY_DIVIDE(CAST(1 AS DOUBLE), CAST(16777216 AS DOUBLE))
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) AS `term_2`,
    CAST((
      (
        CASE
          WHEN (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) > -(
              CAST(1 AS DOUBLE) * CAST(4194304 AS DOUBLE)
            )
          )
          AND (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) < (
              CAST(1 AS DOUBLE) * CAST(4194304 AS DOUBLE)
            )
          )
          THEN CAST(0 AS DOUBLE)
          WHEN (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) >= (
              CAST(-596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
            )
          )
          AND (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) <= (
              CAST(596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
            )
          )
          THEN CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE)
          WHEN CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) < (
            CAST(-596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
          )
          THEN CAST(-596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
          WHEN (
            CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE) > (
              CAST(596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
            )
          )
          AND NOT (
            ISNAN(CAST(CAST(`t0`.`total` AS STRING) AS DOUBLE))
          )
          THEN CAST(596046447753 AS DOUBLE) * CAST(16777216 AS DOUBLE)
          ELSE NULL
        END * TRY_DIVIDE(CAST(1 AS DOUBLE), CAST(16777216 AS DOUBLE))
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) - -596046447753 AS `term_3`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`;
