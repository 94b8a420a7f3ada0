-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t1`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t1`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t1`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM(`t1`.`term_2` >> 23) AS STRING) AS `term_2_23`
FROM (
  SELECT
    IF(TRUE, 1, 0) AS `term_0`,
    CAST(TRUNC(
      (
        (
          CASE
            WHEN (
              CAST(`t0`.`who` AS FLOAT64) > -(
                CAST(1 AS FLOAT64) * CAST(256 AS FLOAT64)
              )
            )
            AND (
              CAST(`t0`.`who` AS FLOAT64) < (
                CAST(1 AS FLOAT64) * CAST(256 AS FLOAT64)
              )
            )
            THEN CAST(0 AS FLOAT64)
            WHEN (
              CAST(`t0`.`who` AS FLOAT64) >= (
                CAST(-1 AS FLOAT64) * CAST(1099511627776 AS FLOAT64)
              )
            )
            AND (
              CAST(`t0`.`who` AS FLOAT64) <= (
                CAST(1 AS FLOAT64) * CAST(1125899906842624 AS FLOAT64)
              )
            )
            THEN CAST(`t0`.`who` AS FLOAT64)
            WHEN CAST(`t0`.`who` AS FLOAT64) < (
              CAST(-1 AS FLOAT64) * CAST(1099511627776 AS FLOAT64)
            )
            THEN CAST(-1 AS FLOAT64) * CAST(1099511627776 AS FLOAT64)
            WHEN (
              CAST(`t0`.`who` AS FLOAT64) > (
                CAST(1 AS FLOAT64) * CAST(1125899906842624 AS FLOAT64)
              )
            )
            AND NOT (
              IS_NAN(CAST(`t0`.`who` AS FLOAT64))
            )
            THEN CAST(1 AS FLOAT64) * CAST(1125899906842624 AS FLOAT64)
            ELSE NULL
          END * ieee_divide(CAST(1 AS FLOAT64), CAST(1024 AS FLOAT64))
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
              CAST(`t0`.`who` AS FLOAT64) > -(
                CAST(1 AS FLOAT64) * CAST(256 AS FLOAT64)
              )
            )
            AND (
              CAST(`t0`.`who` AS FLOAT64) < (
                CAST(1 AS FLOAT64) * CAST(256 AS FLOAT64)
              )
            )
            THEN CAST(0 AS FLOAT64)
            WHEN (
              CAST(`t0`.`who` AS FLOAT64) >= (
                CAST(-1 AS FLOAT64) * CAST(1099511627776 AS FLOAT64)
              )
            )
            AND (
              CAST(`t0`.`who` AS FLOAT64) <= (
                CAST(1 AS FLOAT64) * CAST(1125899906842624 AS FLOAT64)
              )
            )
            THEN CAST(`t0`.`who` AS FLOAT64)
            WHEN CAST(`t0`.`who` AS FLOAT64) < (
              CAST(-1 AS FLOAT64) * CAST(1099511627776 AS FLOAT64)
            )
            THEN CAST(-1 AS FLOAT64) * CAST(1099511627776 AS FLOAT64)
            WHEN (
              CAST(`t0`.`who` AS FLOAT64) > (
                CAST(1 AS FLOAT64) * CAST(1125899906842624 AS FLOAT64)
              )
            )
            AND NOT (
              IS_NAN(CAST(`t0`.`who` AS FLOAT64))
            )
            THEN CAST(1 AS FLOAT64) * CAST(1125899906842624 AS FLOAT64)
            ELSE NULL
          END * ieee_divide(CAST(1 AS FLOAT64), CAST(1024 AS FLOAT64))
        ) + (
          CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
        )
      ) - (
        CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
      )
    ) AS INT64) - -1073741824 AS `term_2`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`;
