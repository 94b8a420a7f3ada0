-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t3`.`size`,
  COUNT(*) AS `units`
FROM (
  SELECT
    `t2`.`unit`,
    MAX(
      -(
        CAST(FLOOR(
          ieee_divide(
            ABS(
              COALESCE(
                (
                  CAST(`t2`.`rows0` AS FLOAT64) * CAST(0 AS FLOAT64)
                ) + (
                  CAST(`t2`.`high0` AS FLOAT64) * (
                    CAST(1 AS FLOAT64) * CAST(4294967296 AS FLOAT64)
                  )
                ) + (
                  CAST(`t2`.`low0` AS FLOAT64) * CAST(1 AS FLOAT64)
                ),
                CAST(0 AS FLOAT64)
              )
            ),
            CAST(-25 AS FLOAT64) * CAST(268435456 AS FLOAT64)
          )
        ) AS INT64)
      )
    ) AS `size`
  FROM (
    SELECT
      `t1`.`unit`,
      COUNT((
        `t1`.`base0` * 1
      ) + 0) AS `rows0`,
      CAST(LEAST(
        COALESCE(
          SUM(
            (
              (
                (
                  `t1`.`base0` * 1
                ) + 0
              ) - (
                (
                  (
                    `t1`.`base0` * 1
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
            `t1`.`base0` * 1
          ) + 0
        ) & 4294967295), 0),
        4611686018427387904
      ) AS INT64) AS `low0`
    FROM (
      SELECT
        `t0`.`token` AS `unit`,
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
                CAST(1 AS FLOAT64) * CAST(17179869184 AS FLOAT64)
              )
            ) + (
              CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
            )
          ) - (
            CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
          )
        ) AS INT64) AS `base0`
      FROM `c`.`d`.`t` AS `t0`
      WHERE
        `t0`.`token` IS NOT NULL
    ) AS `t1`
    GROUP BY
      1
  ) AS `t2`
  GROUP BY
    1
) AS `t3`
GROUP BY
  1;

SELECT
  CAST(SUM(`t3`.`term_0` & 8388607) AS STRING) AS `term_0_0`,
  CAST(SUM(`t3`.`term_0` >> 23) AS STRING) AS `term_0_23`
FROM (
  SELECT
    IF(
      (
        `t2`.`rows0` > 0
      ) AND (
        `t2`.`rows0` < 536870912
      ),
      GREATEST(
        LEAST(
          (
            GREATEST(
              LEAST(
                `t2`.`high0` + (
                  IF((
                    `t2`.`rows0` > 0
                  ) AND (
                    `t2`.`rows0` < 536870912
                  ), `t2`.`rows0`, 0) * 0
                ) + (
                  (
                    `t2`.`low0` + (
                      IF((
                        `t2`.`rows0` > 0
                      ) AND (
                        `t2`.`rows0` < 536870912
                      ), `t2`.`rows0`, 0) * 0
                    )
                  ) >> 32
                ),
                536870912
              ),
              -536870912
            ) * 4294967296
          ) + (
            (
              `t2`.`low0` + (
                IF((
                  `t2`.`rows0` > 0
                ) AND (
                  `t2`.`rows0` < 536870912
                ), `t2`.`rows0`, 0) * 0
              )
            ) & 4294967295
          ),
          6710886400
        ),
        0
      ),
      NULL
    ) AS `term_0`
  FROM (
    SELECT
      `t1`.`unit`,
      COUNT((
        `t1`.`base0` * 1
      ) + 0) AS `rows0`,
      CAST(LEAST(
        COALESCE(
          SUM(
            (
              (
                (
                  `t1`.`base0` * 1
                ) + 0
              ) - (
                (
                  (
                    `t1`.`base0` * 1
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
            `t1`.`base0` * 1
          ) + 0
        ) & 4294967295), 0),
        4611686018427387904
      ) AS INT64) AS `low0`
    FROM (
      SELECT
        `t0`.`token` AS `unit`,
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
                CAST(1 AS FLOAT64) * CAST(17179869184 AS FLOAT64)
              )
            ) + (
              CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
            )
          ) - (
            CAST(3 AS FLOAT64) * CAST(2251799813685248 AS FLOAT64)
          )
        ) AS INT64) AS `base0`
      FROM `c`.`d`.`t` AS `t0`
      WHERE
        `t0`.`token` IS NOT NULL
    ) AS `t1`
    GROUP BY
      1
  ) AS `t2`
) AS `t3`;
