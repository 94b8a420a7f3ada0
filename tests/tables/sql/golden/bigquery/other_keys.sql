-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t8`.`key0`,
  `t8`.`key1`,
  CAST(SUM(`t8`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t8`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t8`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM(`t8`.`term_2` >> 23) AS STRING) AS `term_2_23`,
  CAST(SUM(`t8`.`term_3` & 8388607) AS STRING) AS `term_3_0`,
  CAST(SUM(`t8`.`term_3` >> 23) AS STRING) AS `term_3_23`,
  COUNT(`t8`.`term_4`) AS `term_4_rows`,
  CAST(SUM(`t8`.`term_5` & 8388607) AS STRING) AS `term_5_0`,
  CAST(SUM(`t8`.`term_5` >> 23) AS STRING) AS `term_5_23`,
  CAST(SUM(`t8`.`term_6` & 8388607) AS STRING) AS `term_6_0`,
  CAST(SUM(`t8`.`term_6` >> 23) AS STRING) AS `term_6_23`
FROM (
  SELECT
    `t7`.`key0`,
    `t7`.`key1`,
    `t7`.`kept0` AS `term_0`,
    `t7`.`kept1` AS `term_1`,
    `t7`.`upper1` * `t7`.`kept1` AS `term_2`,
    (
      `t7`.`lower1` * `t7`.`kept1`
    ) + (
      CAST(FLOOR(ieee_divide(`t7`.`rest1`, `t7`.`by1`) - 0.5) AS INT64) + IF(
        (
          (
            CAST(FLOOR(ieee_divide(`t7`.`rest1`, `t7`.`by1`) - 0.5) AS INT64) + 1
          ) * `t7`.`by1`
        ) <= `t7`.`rest1`,
        1,
        0
      )
    ) AS `term_3`,
    `t7`.`kept2` AS `term_4`,
    `t7`.`upper2` * `t7`.`kept2` AS `term_5`,
    (
      `t7`.`lower2` * `t7`.`kept2`
    ) + (
      CAST(FLOOR(ieee_divide(`t7`.`rest2`, `t7`.`by2`) - 0.5) AS INT64) + IF(
        (
          (
            CAST(FLOOR(ieee_divide(`t7`.`rest2`, `t7`.`by2`) - 0.5) AS INT64) + 1
          ) * `t7`.`by2`
        ) <= `t7`.`rest2`,
        1,
        0
      )
    ) AS `term_6`
  FROM (
    SELECT
      `t6`.`key0`,
      `t6`.`key1`,
      `t6`.`kept0`,
      `t6`.`by0`,
      `t6`.`kept1`,
      `t6`.`by1`,
      `t6`.`high1`,
      `t6`.`low1`,
      `t6`.`kept2`,
      `t6`.`by2`,
      `t6`.`high2`,
      `t6`.`low2`,
      `t6`.`upper1`,
      `t6`.`upper2`,
      `t6`.`left1`,
      `t6`.`left2`,
      `t6`.`lower1`,
      `t6`.`lower2`,
      (
        `t6`.`left1` - (
          `t6`.`lower1` * `t6`.`by1`
        )
      ) * `t6`.`kept1` AS `rest1`,
      (
        `t6`.`left2` - (
          `t6`.`lower2` * `t6`.`by2`
        )
      ) * `t6`.`kept2` AS `rest2`
    FROM (
      SELECT
        `t5`.`key0`,
        `t5`.`key1`,
        `t5`.`kept0`,
        `t5`.`by0`,
        `t5`.`kept1`,
        `t5`.`by1`,
        `t5`.`high1`,
        `t5`.`low1`,
        `t5`.`kept2`,
        `t5`.`by2`,
        `t5`.`high2`,
        `t5`.`low2`,
        `t5`.`upper1`,
        `t5`.`upper2`,
        `t5`.`left1`,
        `t5`.`left2`,
        CAST(FLOOR(ieee_divide(`t5`.`left1`, `t5`.`by1`) - 0.5) AS INT64) + IF(
          (
            (
              CAST(FLOOR(ieee_divide(`t5`.`left1`, `t5`.`by1`) - 0.5) AS INT64) + 1
            ) * `t5`.`by1`
          ) <= `t5`.`left1`,
          1,
          0
        ) AS `lower1`,
        CAST(FLOOR(ieee_divide(`t5`.`left2`, `t5`.`by2`) - 0.5) AS INT64) + IF(
          (
            (
              CAST(FLOOR(ieee_divide(`t5`.`left2`, `t5`.`by2`) - 0.5) AS INT64) + 1
            ) * `t5`.`by2`
          ) <= `t5`.`left2`,
          1,
          0
        ) AS `lower2`
      FROM (
        SELECT
          `t4`.`key0`,
          `t4`.`key1`,
          `t4`.`kept0`,
          `t4`.`by0`,
          `t4`.`kept1`,
          `t4`.`by1`,
          `t4`.`high1`,
          `t4`.`low1`,
          `t4`.`kept2`,
          `t4`.`by2`,
          `t4`.`high2`,
          `t4`.`low2`,
          `t4`.`upper1`,
          `t4`.`upper2`,
          (
            (
              `t4`.`high1` - (
                `t4`.`upper1` * `t4`.`by1`
              )
            ) * 4294967296
          ) + `t4`.`low1` AS `left1`,
          (
            (
              `t4`.`high2` - (
                `t4`.`upper2` * `t4`.`by2`
              )
            ) * 4294967296
          ) + `t4`.`low2` AS `left2`
        FROM (
          SELECT
            `t3`.`key0`,
            `t3`.`key1`,
            LEAST(IF(`t3`.`rows0` < 536870912, `t3`.`rows0`, 0), 3) AS `kept0`,
            NULLIF(`t3`.`rows0`, 0) AS `by0`,
            LEAST(IF(`t3`.`rows1` < 536870912, `t3`.`rows1`, 0), 3) AS `kept1`,
            NULLIF(`t3`.`rows1`, 0) AS `by1`,
            `t3`.`high1`,
            `t3`.`low1`,
            LEAST(IF(`t3`.`rows2` < 536870912, `t3`.`rows2`, 0), 3) AS `kept2`,
            NULLIF(`t3`.`rows2`, 0) AS `by2`,
            `t3`.`high2`,
            `t3`.`low2`,
            CAST(FLOOR(ieee_divide(`t3`.`high1`, NULLIF(`t3`.`rows1`, 0)) - 0.5) AS INT64) + IF(
              (
                (
                  CAST(FLOOR(ieee_divide(`t3`.`high1`, NULLIF(`t3`.`rows1`, 0)) - 0.5) AS INT64) + 1
                ) * NULLIF(`t3`.`rows1`, 0)
              ) <= `t3`.`high1`,
              1,
              0
            ) AS `upper1`,
            CAST(FLOOR(ieee_divide(`t3`.`high2`, NULLIF(`t3`.`rows2`, 0)) - 0.5) AS INT64) + IF(
              (
                (
                  CAST(FLOOR(ieee_divide(`t3`.`high2`, NULLIF(`t3`.`rows2`, 0)) - 0.5) AS INT64) + 1
                ) * NULLIF(`t3`.`rows2`, 0)
              ) <= `t3`.`high2`,
              1,
              0
            ) AS `upper2`
          FROM (
            SELECT
              `t2`.`unit`,
              `t2`.`key0`,
              `t2`.`key1`,
              `t2`.`rows0`,
              `t2`.`rows1`,
              `t2`.`high1`,
              `t2`.`low1`,
              `t2`.`rows2`,
              `t2`.`high2`,
              `t2`.`low2`,
              DENSE_RANK() OVER (
                PARTITION BY `t2`.`unit`
                ORDER BY MD5(
                  CAST(CONCAT(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT('SECRET', '|'),
                            TO_HEX(`t2`.`unit`)
                          ),
                          '|'
                        ),
                        TO_HEX(`t2`.`key0`)
                      ),
                      '|'
                    ),
                    TO_HEX(`t2`.`key1`)
                  ) AS BYTES)
                ) ASC, `t2`.`key0` ASC, `t2`.`key1` ASC
              ) - 1 AS `place`
            FROM (
              SELECT
                `t1`.`unit`,
                `t1`.`key0`,
                `t1`.`key1`,
                COUNT((
                  `t1`.`base0` * 0
                ) + 0) AS `rows0`,
                COUNT((
                  `t1`.`base2` * 1
                ) + 85899345920) AS `rows1`,
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      (
                        (
                          (
                            `t1`.`base2` * 1
                          ) + 85899345920
                        ) - (
                          (
                            (
                              `t1`.`base2` * 1
                            ) + 85899345920
                          ) & 4294967295
                        )
                      ) >> 32
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS INT64) AS `high1`,
                CAST(LEAST(
                  COALESCE(SUM((
                    (
                      `t1`.`base2` * 1
                    ) + 85899345920
                  ) & 4294967295), 0),
                  4611686018427387904
                ) AS INT64) AS `low1`,
                COUNT((
                  `t1`.`base2` * -1
                ) + 1717986918400) AS `rows2`,
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      (
                        (
                          (
                            `t1`.`base2` * -1
                          ) + 1717986918400
                        ) - (
                          (
                            (
                              `t1`.`base2` * -1
                            ) + 1717986918400
                          ) & 4294967295
                        )
                      ) >> 32
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS INT64) AS `high2`,
                CAST(LEAST(
                  COALESCE(SUM((
                    (
                      `t1`.`base2` * -1
                    ) + 1717986918400
                  ) & 4294967295), 0),
                  4611686018427387904
                ) AS INT64) AS `low2`
              FROM (
                SELECT
                  IF(
                    (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('Bury' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('a' AS BYTES)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('York' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('b' AS BYTES)
                      )
                    ),
                    CAST(`t0`.`town` AS BYTES),
                    CAST('-' AS BYTES)
                  ) AS `key0`,
                  IF(
                    (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('Bury' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('a' AS BYTES)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('York' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('b' AS BYTES)
                      )
                    ),
                    CAST(`t0`.`name` AS BYTES),
                    CAST('-' AS BYTES)
                  ) AS `key1`,
                  `t0`.`token` AS `unit`,
                  NULLIF(IF(TRUE, 1, 0), 0) AS `base0`,
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
                  ) AS INT64) AS `base2`
                FROM `c`.`d`.`t` AS `t0`
                WHERE
                  IF(
                    (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('Bury' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('a' AS BYTES)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('York' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('b' AS BYTES)
                      )
                    ),
                    CAST(`t0`.`town` AS BYTES),
                    CAST('-' AS BYTES)
                  ) IS NOT NULL
                  AND IF(
                    (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('Bury' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('a' AS BYTES)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BYTES) = CAST('York' AS BYTES)
                      )
                      AND (
                        CAST(`t0`.`name` AS BYTES) = CAST('b' AS BYTES)
                      )
                    ),
                    CAST(`t0`.`name` AS BYTES),
                    CAST('-' AS BYTES)
                  ) IS NOT NULL
                  AND `t0`.`token` IS NOT NULL
              ) AS `t1`
              GROUP BY
                1,
                2,
                3
            ) AS `t2`
          ) AS `t3`
          WHERE
            `t3`.`place` < 2
        ) AS `t4`
      ) AS `t5`
    ) AS `t6`
  ) AS `t7`
) AS `t8`
GROUP BY
  1,
  2;
