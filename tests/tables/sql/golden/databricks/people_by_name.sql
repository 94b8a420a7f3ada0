-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(`t7`.`term_0` & 8388607) AS STRING) AS `sum_0_0`,
  CAST(SUM(SHIFTRIGHT(`t7`.`term_0`, 23)) AS STRING) AS `sum_0_23`,
  CAST(SUM(`t7`.`term_1` & 8388607) AS STRING) AS `sum_1_0`,
  CAST(SUM(SHIFTRIGHT(`t7`.`term_1`, 23)) AS STRING) AS `sum_1_23`
FROM (
  SELECT
    `t6`.`upper0` * `t6`.`kept0` AS `term_0`,
    (
      `t6`.`lower0` * `t6`.`kept0`
    ) + (
      CAST(FLOOR(TRY_DIVIDE(`t6`.`rest0`, `t6`.`by0`) - 0.5) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR(TRY_DIVIDE(`t6`.`rest0`, `t6`.`by0`) - 0.5) AS BIGINT) + 1
          ) * `t6`.`by0`
        ) <= `t6`.`rest0`,
        1,
        0
      )
    ) AS `term_1`
  FROM (
    SELECT
      `t5`.`kept0`,
      `t5`.`by0`,
      `t5`.`upper0`,
      `t5`.`lower0`,
      (
        `t5`.`left0` - (
          `t5`.`lower0` * `t5`.`by0`
        )
      ) * `t5`.`kept0` AS `rest0`
    FROM (
      SELECT
        `t4`.`kept0`,
        `t4`.`by0`,
        `t4`.`upper0`,
        `t4`.`left0`,
        CAST(FLOOR(TRY_DIVIDE(`t4`.`left0`, `t4`.`by0`) - 0.5) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR(TRY_DIVIDE(`t4`.`left0`, `t4`.`by0`) - 0.5) AS BIGINT) + 1
            ) * `t4`.`by0`
          ) <= `t4`.`left0`,
          1,
          0
        ) AS `lower0`
      FROM (
        SELECT
          `t3`.`kept0`,
          `t3`.`by0`,
          `t3`.`upper0`,
          (
            (
              `t3`.`high0` - (
                `t3`.`upper0` * `t3`.`by0`
              )
            ) * 4294967296
          ) + `t3`.`low0` AS `left0`
        FROM (
          SELECT
            IF(`t2`.`rows0` < 536870912, LEAST(`t2`.`rows0`, 2), 0) AS `kept0`,
            NULLIF(`t2`.`rows0`, 0) AS `by0`,
            `t2`.`high0`,
            `t2`.`low0`,
            CAST(FLOOR(TRY_DIVIDE(`t2`.`high0`, NULLIF(`t2`.`rows0`, 0)) - 0.5) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(TRY_DIVIDE(`t2`.`high0`, NULLIF(`t2`.`rows0`, 0)) - 0.5) AS BIGINT) + 1
                ) * NULLIF(`t2`.`rows0`, 0)
              ) <= `t2`.`high0`,
              1,
              0
            ) AS `upper0`
          FROM (
            SELECT
              `t1`.`unit`,
              COUNT(`t1`.`above0`) AS `rows0`,
              CAST(LEAST(
                COALESCE(SUM(SHIFTRIGHT((
                  `t1`.`above0` - (
                    `t1`.`above0` & 4294967295
                  )
                ), 32)), 0),
                4611686018427387904
              ) AS BIGINT) AS `high0`,
              CAST(LEAST(COALESCE(SUM(`t1`.`above0` & 4294967295), 0), 4611686018427387904) AS BIGINT) AS `low0`
            FROM (
              SELECT
                CAST(`t0`.`name` AS BINARY) AS `unit`,
                (
                  (
                    CAST(CASE
                      WHEN (
                        `t0`.`age` >= 0
                      ) AND (
                        `t0`.`age` <= 100
                      )
                      THEN `t0`.`age`
                      WHEN `t0`.`age` < 0
                      THEN 0
                      WHEN `t0`.`age` > 100
                      THEN 100
                      ELSE NULL
                    END AS BIGINT) - 0
                  ) * 17179869184
                ) + 0 AS `above0`
              FROM `c`.`d`.`t` AS `t0`
              WHERE
                CAST(`t0`.`name` AS BINARY) IS NOT NULL
            ) AS `t1`
            GROUP BY
              1
          ) AS `t2`
        ) AS `t3`
      ) AS `t4`
    ) AS `t5`
  ) AS `t6`
) AS `t7`;
