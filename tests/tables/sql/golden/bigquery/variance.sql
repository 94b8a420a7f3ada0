-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t1`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t1`.`term_1` & 8388607) AS STRING) AS `term_1_0`,
  CAST(SUM(`t1`.`term_1` >> 23) AS STRING) AS `term_1_23`,
  CAST(SUM(`t1`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM((
    `t1`.`term_2` >> 23
  ) & 8388607) AS STRING) AS `term_2_23`,
  CAST(SUM(`t1`.`term_2` >> 46) AS STRING) AS `term_2_46`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`,
    CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              `t0`.`pay` >= CAST(0 AS FLOAT64)
            )
            AND (
              `t0`.`pay` <= (
                CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
              )
            )
            THEN `t0`.`pay`
            WHEN `t0`.`pay` < CAST(0 AS FLOAT64)
            THEN CAST(0 AS FLOAT64)
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
            CAST(1 AS FLOAT64) * CAST(16777216 AS FLOAT64)
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
              `t0`.`pay` >= CAST(0 AS FLOAT64)
            )
            AND (
              `t0`.`pay` <= (
                CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
              )
            )
            THEN `t0`.`pay`
            WHEN `t0`.`pay` < CAST(0 AS FLOAT64)
            THEN CAST(0 AS FLOAT64)
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
            CAST(1 AS FLOAT64) * CAST(16777216 AS FLOAT64)
          )
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) * CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              `t0`.`pay` >= CAST(0 AS FLOAT64)
            )
            AND (
              `t0`.`pay` <= (
                CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
              )
            )
            THEN `t0`.`pay`
            WHEN `t0`.`pay` < CAST(0 AS FLOAT64)
            THEN CAST(0 AS FLOAT64)
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
            CAST(1 AS FLOAT64) * CAST(16777216 AS FLOAT64)
          )
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) AS `term_2`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`;
