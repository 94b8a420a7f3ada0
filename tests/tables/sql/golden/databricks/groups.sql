-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`key0`,
  COUNT(`t1`.`term_0`) AS `term_0_rows`,
  CAST(SUM(`t1`.`term_1` & 8388607) AS STRING) AS `term_1_0`,
  CAST(SUM(SHIFTRIGHT(`t1`.`term_1`, 23)) AS STRING) AS `term_1_23`,
  COUNT(`t1`.`term_1`) AS `term_1_rows`
FROM (
  SELECT
    CAST(`t0`.`town` AS BINARY) AS `key0`,
    NULLIF(IF(TRUE, 1, 0), 0) AS `term_0`,
    CAST((
      (
        CASE
          WHEN (
            `t0`.`pay` >= CAST(-5 AS DOUBLE)
          )
          AND (
            `t0`.`pay` <= (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          THEN `t0`.`pay`
          WHEN `t0`.`pay` < CAST(-5 AS DOUBLE)
          THEN CAST(-5 AS DOUBLE)
          WHEN (
            `t0`.`pay` > (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          AND NOT (
            ISNAN(`t0`.`pay`)
          )
          THEN CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) * CAST(17179869184 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) - -85899345920 AS `term_1`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    `t0`.`town` IN ('Bury') AND CAST(`t0`.`town` AS BINARY) IS NOT NULL
) AS `t1`
GROUP BY
  1;
