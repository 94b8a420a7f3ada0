-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t1`.`x`,
  COUNT(*) AS `n`
FROM (
  SELECT
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
        WHEN IS_NAN(`t0`.`pay`)
        THEN NULL
        WHEN `t0`.`pay` > (
          CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
        )
        THEN CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
        ELSE NULL
      END + (
        CAST(3 AS FLOAT64) * CAST(70368744177664 AS FLOAT64)
      )
    ) - (
      CAST(3 AS FLOAT64) * CAST(70368744177664 AS FLOAT64)
    ) AS `x`
  FROM `c`.`d`.`t` AS `t0`
) AS `t1`
GROUP BY
  1;

SELECT
  `t1`.`x`,
  COUNT(*) AS `n`
FROM (
  SELECT
    CASE
      WHEN (
        `t0`.`pay` >= ieee_divide(CAST(63 AS FLOAT64), CAST(64 AS FLOAT64))
      )
      AND (
        `t0`.`pay` <= ieee_divide(CAST(65 AS FLOAT64), CAST(64 AS FLOAT64))
      )
      THEN `t0`.`pay`
      WHEN IS_NAN(`t0`.`pay`)
      THEN NULL
      ELSE NULL
    END AS `x`
  FROM `c`.`d`.`t` AS `t0`
  WHERE
    `t0`.`pay` >= ieee_divide(CAST(63 AS FLOAT64), CAST(64 AS FLOAT64))
    AND `t0`.`pay` <= ieee_divide(CAST(65 AS FLOAT64), CAST(64 AS FLOAT64))
) AS `t1`
GROUP BY
  1;
