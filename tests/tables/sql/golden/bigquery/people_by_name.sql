-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  COUNT(`t8`.`term_0`) AS `term_0_rows`,
  CAST(SUM(`t8`.`term_1` & 8388607) AS STRING) AS `term_1_0`,
  CAST(SUM(`t8`.`term_1` >> 23) AS STRING) AS `term_1_23`,
  CAST(SUM(`t8`.`term_2` & 8388607) AS STRING) AS `term_2_0`,
  CAST(SUM(`t8`.`term_2` >> 23) AS STRING) AS `term_2_23`
FROM (
  SELECT
    `t7`.`kept0` AS `term_0`,
    `t7`.`upper0` * `t7`.`kept0` AS `term_1`,
    (
      `t7`.`lower0` * `t7`.`kept0`
    ) + (
      CAST(FLOOR(ieee_divide(`t7`.`rest0`, `t7`.`by0`) - 0.5) AS INT64) + IF(
        (
          (
            CAST(FLOOR(ieee_divide(`t7`.`rest0`, `t7`.`by0`) - 0.5) AS INT64) + 1
          ) * `t7`.`by0`
        ) <= `t7`.`rest0`,
        1,
        0
      )
    ) AS `term_2`
  FROM (
    SELECT
      `t6`.`kept0`,
      `t6`.`by0`,
      `t6`.`high0`,
      `t6`.`low0`,
      `t6`.`upper0`,
      `t6`.`left0`,
      `t6`.`lower0`,
      (
        `t6`.`left0` - (
          `t6`.`lower0` * `t6`.`by0`
        )
      ) * `t6`.`kept0` AS `rest0`
    FROM (
      SELECT
        `t5`.`kept0`,
        `t5`.`by0`,
        `t5`.`high0`,
        `t5`.`low0`,
        `t5`.`upper0`,
        `t5`.`left0`,
        CAST(FLOOR(ieee_divide(`t5`.`left0`, `t5`.`by0`) - 0.5) AS INT64) + IF(
          (
            (
              CAST(FLOOR(ieee_divide(`t5`.`left0`, `t5`.`by0`) - 0.5) AS INT64) + 1
            ) * `t5`.`by0`
          ) <= `t5`.`left0`,
          1,
          0
        ) AS `lower0`
      FROM (
        SELECT
          `t4`.`kept0`,
          `t4`.`by0`,
          `t4`.`high0`,
          `t4`.`low0`,
          `t4`.`upper0`,
          (
            (
              `t4`.`high0` - (
                `t4`.`upper0` * `t4`.`by0`
              )
            ) * 4294967296
          ) + `t4`.`low0` AS `left0`
        FROM (
          SELECT
            `t3`.`kept0`,
            `t3`.`by0`,
            `t3`.`high0`,
            `t3`.`low0`,
            CAST(FLOOR(ieee_divide(`t3`.`high0`, `t3`.`by0`) - 0.5) AS INT64) + IF(
              (
                (
                  CAST(FLOOR(ieee_divide(`t3`.`high0`, `t3`.`by0`) - 0.5) AS INT64) + 1
                ) * `t3`.`by0`
              ) <= `t3`.`high0`,
              1,
              0
            ) AS `upper0`
          FROM (
            SELECT
              LEAST(IF(`t2`.`rows0` < 536870912, `t2`.`rows0`, 0), 2) AS `kept0`,
              NULLIF(`t2`.`rows0`, 0) AS `by0`,
              `t2`.`high0`,
              `t2`.`low0`
            FROM (
              SELECT
                `t1`.`unit`,
                COUNT((
                  `t1`.`base0` * 17179869184
                ) + 0) AS `rows0`,
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      (
                        (
                          (
                            `t1`.`base0` * 17179869184
                          ) + 0
                        ) - (
                          (
                            (
                              `t1`.`base0` * 17179869184
                            ) + 0
                          ) & 4294967295
                        )
                      ) >> 32
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS INT64) AS `high0`,
                CAST(LEAST(
                  COALESCE(SUM((
                    (
                      `t1`.`base0` * 17179869184
                    ) + 0
                  ) & 4294967295), 0),
                  4611686018427387904
                ) AS INT64) AS `low0`
              FROM (
                SELECT
                  CAST(`t0`.`name` AS BYTES) AS `unit`,
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
                  END AS INT64) AS `base0`
                FROM `c`.`d`.`t` AS `t0`
                WHERE
                  CAST(`t0`.`name` AS BYTES) IS NOT NULL
              ) AS `t1`
              GROUP BY
                1
            ) AS `t2`
          ) AS `t3`
        ) AS `t4`
      ) AS `t5`
    ) AS `t6`
  ) AS `t7`
) AS `t8`;
