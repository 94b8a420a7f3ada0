-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t8`.`key0`,
  `t8`.`key1`,
  CAST(SUM(`t8`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t8`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t8`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM(SHIFTRIGHT(`t8`.`term_2`, 23)) AS STRING) AS `term_2_23`,
  CAST(SUM(`t8`.`term_3` & 8388607) AS STRING) AS `term_3_0`,
  CAST(SUM(SHIFTRIGHT(`t8`.`term_3`, 23)) AS STRING) AS `term_3_23`,
  COUNT(`t8`.`term_4`) AS `term_4_rows`,
  CAST(SUM(`t8`.`term_5` & 8388607) AS STRING) AS `term_5_0`,
  CAST(SUM(SHIFTRIGHT(`t8`.`term_5`, 23)) AS STRING) AS `term_5_23`,
  CAST(SUM(`t8`.`term_6` & 8388607) AS STRING) AS `term_6_0`,
  CAST(SUM(SHIFTRIGHT(`t8`.`term_6`, 23)) AS STRING) AS `term_6_23`
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
      CAST(FLOOR(TRY_DIVIDE(`t7`.`rest1`, `t7`.`by1`) - 0.5) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR(TRY_DIVIDE(`t7`.`rest1`, `t7`.`by1`) - 0.5) AS BIGINT) + 1
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
      CAST(FLOOR(TRY_DIVIDE(`t7`.`rest2`, `t7`.`by2`) - 0.5) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR(TRY_DIVIDE(`t7`.`rest2`, `t7`.`by2`) - 0.5) AS BIGINT) + 1
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
        CAST(FLOOR(TRY_DIVIDE(`t5`.`left1`, `t5`.`by1`) - 0.5) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR(TRY_DIVIDE(`t5`.`left1`, `t5`.`by1`) - 0.5) AS BIGINT) + 1
            ) * `t5`.`by1`
          ) <= `t5`.`left1`,
          1,
          0
        ) AS `lower1`,
        CAST(FLOOR(TRY_DIVIDE(`t5`.`left2`, `t5`.`by2`) - 0.5) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR(TRY_DIVIDE(`t5`.`left2`, `t5`.`by2`) - 0.5) AS BIGINT) + 1
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
            CAST(FLOOR(TRY_DIVIDE(`t3`.`high1`, NULLIF(`t3`.`rows1`, 0)) - 0.5) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(TRY_DIVIDE(`t3`.`high1`, NULLIF(`t3`.`rows1`, 0)) - 0.5) AS BIGINT) + 1
                ) * NULLIF(`t3`.`rows1`, 0)
              ) <= `t3`.`high1`,
              1,
              0
            ) AS `upper1`,
            CAST(FLOOR(TRY_DIVIDE(`t3`.`high2`, NULLIF(`t3`.`rows2`, 0)) - 0.5) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(TRY_DIVIDE(`t3`.`high2`, NULLIF(`t3`.`rows2`, 0)) - 0.5) AS BIGINT) + 1
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
                            HEX(`t2`.`unit`)
                          ),
                          '|'
                        ),
                        HEX(`t2`.`key0`)
                      ),
                      '|'
                    ),
                    HEX(`t2`.`key1`)
                  ) AS BINARY)
                ) ASC NULLS LAST, `t2`.`key0` ASC NULLS LAST, `t2`.`key1` ASC NULLS LAST
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
                      SHIFTRIGHT(
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
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS `high1`,
                CAST(LEAST(
                  COALESCE(SUM((
                    (
                      `t1`.`base2` * 1
                    ) + 85899345920
                  ) & 4294967295), 0),
                  4611686018427387904
                ) AS BIGINT) AS `low1`,
                COUNT((
                  `t1`.`base2` * -1
                ) + 1717986918400) AS `rows2`,
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      SHIFTRIGHT(
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
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS `high2`,
                CAST(LEAST(
                  COALESCE(SUM((
                    (
                      `t1`.`base2` * -1
                    ) + 1717986918400
                  ) & 4294967295), 0),
                  4611686018427387904
                ) AS BIGINT) AS `low2`
              FROM (
                SELECT
                  IF(
                    (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('Bury' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('a' AS BINARY)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('York' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('b' AS BINARY)
                      )
                    ),
                    CAST(`t0`.`town` AS BINARY),
                    CAST('-' AS BINARY)
                  ) AS `key0`,
                  IF(
                    (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('Bury' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('a' AS BINARY)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('York' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('b' AS BINARY)
                      )
                    ),
                    CAST(`t0`.`name` AS BINARY),
                    CAST('-' AS BINARY)
                  ) AS `key1`,
                  `t0`.`token` AS `unit`,
                  NULLIF(IF(TRUE, 1, 0), 0) AS `base0`,
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
                  ) AS BIGINT) AS `base2`
                FROM `c`.`d`.`t` AS `t0`
                WHERE
                  IF(
                    (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('Bury' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('a' AS BINARY)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('York' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('b' AS BINARY)
                      )
                    ),
                    CAST(`t0`.`town` AS BINARY),
                    CAST('-' AS BINARY)
                  ) IS NOT NULL
                  AND IF(
                    (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('Bury' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('a' AS BINARY)
                      )
                    )
                    OR (
                      (
                        CAST(`t0`.`town` AS BINARY) = CAST('York' AS BINARY)
                      )
                      AND (
                        CAST(`t0`.`name` AS BINARY) = CAST('b' AS BINARY)
                      )
                    ),
                    CAST(`t0`.`name` AS BINARY),
                    CAST('-' AS BINARY)
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
