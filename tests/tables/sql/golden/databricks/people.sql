-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t7`.`key0`,
  CAST(SUM(`t7`.`term_0`) AS STRING) AS `term_0_0`,
  COUNT(`t7`.`term_1`) AS `term_1_rows`,
  CAST(SUM(`t7`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM(SHIFTRIGHT(`t7`.`term_2`, 23)) AS STRING) AS `term_2_23`,
  CAST(SUM(`t7`.`term_3` & 8388607) AS STRING) AS `term_3_0`,
  CAST(SUM(SHIFTRIGHT(`t7`.`term_3`, 23)) AS STRING) AS `term_3_23`,
  COUNT(`t7`.`term_4`) AS `term_4_rows`,
  CAST(SUM(`t7`.`term_5` & 8388607) AS STRING) AS `term_5_0`,
  CAST(SUM(SHIFTRIGHT(`t7`.`term_5`, 23)) AS STRING) AS `term_5_23`,
  CAST(SUM(`t7`.`term_6` & 8388607) AS STRING) AS `term_6_0`,
  CAST(SUM(SHIFTRIGHT(`t7`.`term_6`, 23)) AS STRING) AS `term_6_23`
FROM (
  SELECT
    `t6`.`key0`,
    `t6`.`kept0` AS `term_0`,
    `t6`.`kept1` AS `term_1`,
    `t6`.`upper1` * `t6`.`kept1` AS `term_2`,
    (
      `t6`.`lower1` * `t6`.`kept1`
    ) + (
      CAST(FLOOR(TRY_DIVIDE(`t6`.`rest1`, `t6`.`by1`) - 0.5) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR(TRY_DIVIDE(`t6`.`rest1`, `t6`.`by1`) - 0.5) AS BIGINT) + 1
          ) * `t6`.`by1`
        ) <= `t6`.`rest1`,
        1,
        0
      )
    ) AS `term_3`,
    `t6`.`kept2` AS `term_4`,
    `t6`.`upper2` * `t6`.`kept2` AS `term_5`,
    (
      `t6`.`lower2` * `t6`.`kept2`
    ) + (
      CAST(FLOOR(TRY_DIVIDE(`t6`.`rest2`, `t6`.`by2`) - 0.5) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR(TRY_DIVIDE(`t6`.`rest2`, `t6`.`by2`) - 0.5) AS BIGINT) + 1
          ) * `t6`.`by2`
        ) <= `t6`.`rest2`,
        1,
        0
      )
    ) AS `term_6`
  FROM (
    SELECT
      `t5`.`key0`,
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
      `t5`.`lower1`,
      `t5`.`lower2`,
      (
        `t5`.`left1` - (
          `t5`.`lower1` * `t5`.`by1`
        )
      ) * `t5`.`kept1` AS `rest1`,
      (
        `t5`.`left2` - (
          `t5`.`lower2` * `t5`.`by2`
        )
      ) * `t5`.`kept2` AS `rest2`
    FROM (
      SELECT
        `t4`.`key0`,
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
        `t4`.`left1`,
        `t4`.`left2`,
        CAST(FLOOR(TRY_DIVIDE(`t4`.`left1`, `t4`.`by1`) - 0.5) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR(TRY_DIVIDE(`t4`.`left1`, `t4`.`by1`) - 0.5) AS BIGINT) + 1
            ) * `t4`.`by1`
          ) <= `t4`.`left1`,
          1,
          0
        ) AS `lower1`,
        CAST(FLOOR(TRY_DIVIDE(`t4`.`left2`, `t4`.`by2`) - 0.5) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR(TRY_DIVIDE(`t4`.`left2`, `t4`.`by2`) - 0.5) AS BIGINT) + 1
            ) * `t4`.`by2`
          ) <= `t4`.`left2`,
          1,
          0
        ) AS `lower2`
      FROM (
        SELECT
          `t3`.`key0`,
          `t3`.`kept0`,
          `t3`.`by0`,
          `t3`.`kept1`,
          `t3`.`by1`,
          `t3`.`high1`,
          `t3`.`low1`,
          `t3`.`kept2`,
          `t3`.`by2`,
          `t3`.`high2`,
          `t3`.`low2`,
          `t3`.`upper1`,
          `t3`.`upper2`,
          (
            (
              `t3`.`high1` - (
                `t3`.`upper1` * `t3`.`by1`
              )
            ) * 4294967296
          ) + `t3`.`low1` AS `left1`,
          (
            (
              `t3`.`high2` - (
                `t3`.`upper2` * `t3`.`by2`
              )
            ) * 4294967296
          ) + `t3`.`low2` AS `left2`
        FROM (
          SELECT
            `t2`.`key0`,
            LEAST(IF(`t2`.`rows0` < 536870912, `t2`.`rows0`, 0), 3) AS `kept0`,
            NULLIF(`t2`.`rows0`, 0) AS `by0`,
            LEAST(IF(`t2`.`rows1` < 536870912, `t2`.`rows1`, 0), 3) AS `kept1`,
            NULLIF(`t2`.`rows1`, 0) AS `by1`,
            `t2`.`high1`,
            `t2`.`low1`,
            LEAST(IF(`t2`.`rows2` < 536870912, `t2`.`rows2`, 0), 3) AS `kept2`,
            NULLIF(`t2`.`rows2`, 0) AS `by2`,
            `t2`.`high2`,
            `t2`.`low2`,
            CAST(FLOOR(TRY_DIVIDE(`t2`.`high1`, NULLIF(`t2`.`rows1`, 0)) - 0.5) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(TRY_DIVIDE(`t2`.`high1`, NULLIF(`t2`.`rows1`, 0)) - 0.5) AS BIGINT) + 1
                ) * NULLIF(`t2`.`rows1`, 0)
              ) <= `t2`.`high1`,
              1,
              0
            ) AS `upper1`,
            CAST(FLOOR(TRY_DIVIDE(`t2`.`high2`, NULLIF(`t2`.`rows2`, 0)) - 0.5) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(TRY_DIVIDE(`t2`.`high2`, NULLIF(`t2`.`rows2`, 0)) - 0.5) AS BIGINT) + 1
                ) * NULLIF(`t2`.`rows2`, 0)
              ) <= `t2`.`high2`,
              1,
              0
            ) AS `upper2`
          FROM (
            SELECT
              `t1`.`unit`,
              `t1`.`key0`,
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
                CAST(`t0`.`town` AS BINARY) AS `key0`,
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
                `t0`.`town` IN ('Bury')
                AND CAST(`t0`.`town` AS BINARY) IS NOT NULL
                AND `t0`.`token` IS NOT NULL
            ) AS `t1`
            GROUP BY
              1,
              2
          ) AS `t2`
        ) AS `t3`
      ) AS `t4`
    ) AS `t5`
  ) AS `t6`
) AS `t7`
GROUP BY
  1;
