-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  CAST(SUM(`t1`.`term_1`) AS STRING) AS `term_1_0`,
  CAST(SUM(`t1`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM(`t1`.`term_2` >> 23) AS STRING) AS `term_2_23`,
  CAST(SUM(`t1`.`term_3` & 8388607) AS STRING) AS `term_3_0`,
  CAST(SUM((
    `t1`.`term_3` >> 23
  ) & 8388607) AS STRING) AS `term_3_23`,
  CAST(SUM(`t1`.`term_3` >> 46) AS STRING) AS `term_3_46`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`,
    IF(
      TRUE
      AND (
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
        ) AS INT64) IS NOT NULL
      ),
      1,
      0
    ) AS `term_1`,
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
    ) AS INT64) AS `term_2`,
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
    ) AS INT64) AS `term_3`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`;
