-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  `t4`.`x`,
  COUNT(*) AS `n`
FROM (
  SELECT
    (
      CASE
        WHEN (
          `t3`.`value` >= CAST(0 AS FLOAT64)
        )
        AND (
          `t3`.`value` <= (
            CAST(25 AS FLOAT64) * CAST(4 AS FLOAT64)
          )
        )
        THEN `t3`.`value`
        WHEN `t3`.`value` < CAST(0 AS FLOAT64)
        THEN CAST(0 AS FLOAT64)
        WHEN IS_NAN(`t3`.`value`)
        THEN NULL
        WHEN `t3`.`value` > (
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
  FROM (
    SELECT
      `t2`.`value`,
      `t2`.`unit`,
      `t2`.`text`,
      `t2`.`copy`,
      ROW_NUMBER() OVER (
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
                `t2`.`text`
              ),
              '|'
            ),
            CAST(`t2`.`copy` AS STRING)
          ) AS BYTES)
        ) ASC, `t2`.`text` ASC, `t2`.`copy` ASC
      ) - 1 AS `place`
    FROM (
      SELECT
        `t1`.`value`,
        `t1`.`unit`,
        `t1`.`text`,
        ROW_NUMBER() OVER (PARTITION BY `t1`.`unit`, `t1`.`text` ORDER BY `t1`.`value` ASC) - 1 AS `copy`
      FROM (
        SELECT
          `t0`.`pay` AS `value`,
          `t0`.`token` AS `unit`,
          COALESCE(CAST(`t0`.`pay` AS STRING), '') AS `text`
        FROM `c`.`d`.`t` AS `t0`
        WHERE
          `t0`.`token` IS NOT NULL
      ) AS `t1`
    ) AS `t2`
  ) AS `t3`
  WHERE
    `t3`.`place` < 2
) AS `t4`
GROUP BY
  1;

SELECT
  `t4`.`x`,
  COUNT(*) AS `n`
FROM (
  SELECT
    CASE
      WHEN (
        `t3`.`value` >= ieee_divide(CAST(63 AS FLOAT64), CAST(64 AS FLOAT64))
      )
      AND (
        `t3`.`value` <= ieee_divide(CAST(65 AS FLOAT64), CAST(64 AS FLOAT64))
      )
      THEN `t3`.`value`
      WHEN IS_NAN(`t3`.`value`)
      THEN NULL
      ELSE NULL
    END AS `x`
  FROM (
    SELECT
      `t2`.`value`,
      `t2`.`unit`,
      `t2`.`text`,
      `t2`.`copy`,
      ROW_NUMBER() OVER (
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
                `t2`.`text`
              ),
              '|'
            ),
            CAST(`t2`.`copy` AS STRING)
          ) AS BYTES)
        ) ASC, `t2`.`text` ASC, `t2`.`copy` ASC
      ) - 1 AS `place`
    FROM (
      SELECT
        `t1`.`value`,
        `t1`.`unit`,
        `t1`.`text`,
        ROW_NUMBER() OVER (PARTITION BY `t1`.`unit`, `t1`.`text` ORDER BY `t1`.`value` ASC) - 1 AS `copy`
      FROM (
        SELECT
          `t0`.`pay` AS `value`,
          `t0`.`token` AS `unit`,
          COALESCE(CAST(`t0`.`pay` AS STRING), '') AS `text`
        FROM `c`.`d`.`t` AS `t0`
        WHERE
          `t0`.`token` IS NOT NULL
      ) AS `t1`
    ) AS `t2`
  ) AS `t3`
  WHERE
    `t3`.`place` < 2
    AND `t3`.`value` >= ieee_divide(CAST(63 AS FLOAT64), CAST(64 AS FLOAT64))
    AND `t3`.`value` <= ieee_divide(CAST(65 AS FLOAT64), CAST(64 AS FLOAT64))
) AS `t4`
GROUP BY
  1;
