-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM(BITWISE_AND("t8"."term_0", 8388607)) AS VARCHAR) AS "sum_0_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t8"."term_0", 23)) AS VARCHAR) AS "sum_0_23",
  CAST(SUM(BITWISE_AND("t8"."term_1", 8388607)) AS VARCHAR) AS "sum_1_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t8"."term_1", 23)) AS VARCHAR) AS "sum_1_23"
FROM (
  SELECT
    "t7"."upper0" * "t7"."kept0" AS "term_0",
    (
      "t7"."lower0" * "t7"."kept0"
    ) + (
      CAST(FLOOR((
        CAST("t7"."rest0" AS DOUBLE) / "t7"."by0"
      ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR((
              CAST("t7"."rest0" AS DOUBLE) / "t7"."by0"
            ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
          ) * "t7"."by0"
        ) <= "t7"."rest0",
        1,
        0
      )
    ) AS "term_1"
  FROM (
    SELECT
      "t6"."kept0",
      "t6"."by0",
      "t6"."upper0",
      "t6"."lower0",
      (
        "t6"."left0" - (
          "t6"."lower0" * "t6"."by0"
        )
      ) * "t6"."kept0" AS "rest0"
    FROM (
      SELECT
        "t5"."kept0",
        "t5"."by0",
        "t5"."upper0",
        "t5"."left0",
        CAST(FLOOR((
          CAST("t5"."left0" AS DOUBLE) / "t5"."by0"
        ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR((
                CAST("t5"."left0" AS DOUBLE) / "t5"."by0"
              ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
            ) * "t5"."by0"
          ) <= "t5"."left0",
          1,
          0
        ) AS "lower0"
      FROM (
        SELECT
          "t4"."kept0",
          "t4"."by0",
          "t4"."upper0",
          (
            (
              "t4"."high0" - (
                "t4"."upper0" * "t4"."by0"
              )
            ) * 4294967296
          ) + "t4"."low0" AS "left0"
        FROM (
          SELECT
            IF("t3"."rows0" < 536870912, LEAST("t3"."rows0", 2), 0) AS "kept0",
            NULLIF("t3"."rows0", 0) AS "by0",
            "t3"."high0",
            "t3"."low0",
            CAST(FLOOR(
              (
                CAST("t3"."high0" AS DOUBLE) / NULLIF("t3"."rows0", 0)
              ) - CAST(0.5 AS DOUBLE)
            ) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(
                    (
                      CAST("t3"."high0" AS DOUBLE) / NULLIF("t3"."rows0", 0)
                    ) - CAST(0.5 AS DOUBLE)
                  ) AS BIGINT) + 1
                ) * NULLIF("t3"."rows0", 0)
              ) <= "t3"."high0",
              1,
              0
            ) AS "upper0"
          FROM (
            SELECT
              "t2"."unit",
              COUNT("t2"."above0") AS "rows0",
              CAST(LEAST(
                COALESCE(
                  SUM(
                    BITWISE_RIGHT_SHIFT((
                      "t2"."above0" - (
                        BITWISE_AND("t2"."above0", 4294967295)
                      )
                    ), 32)
                  ),
                  0
                ),
                4611686018427387904
              ) AS BIGINT) AS "high0",
              CAST(LEAST(COALESCE(SUM(BITWISE_AND("t2"."above0", 4294967295)), 0), 4611686018427387904) AS BIGINT) AS "low0"
            FROM (
              SELECT
                TO_UTF8("t1"."name") AS "unit",
                (
                  (
                    CAST(CASE
                      WHEN (
                        "t1"."age" >= 0
                      ) AND (
                        "t1"."age" <= 100
                      )
                      THEN "t1"."age"
                      WHEN "t1"."age" < 0
                      THEN 0
                      WHEN "t1"."age" > 100
                      THEN 100
                      ELSE NULL
                    END AS BIGINT) - 0
                  ) * 17179869184
                ) + 0 AS "above0"
              FROM (
                SELECT
                  *
                FROM "c"."d"."t" AS "t0"
                WHERE
                  TO_UTF8("t0"."name") IS NOT NULL
              ) AS "t1"
            ) AS "t2"
            GROUP BY
              1
          ) AS "t3"
        ) AS "t4"
      ) AS "t5"
    ) AS "t6"
  ) AS "t7"
) AS "t8";
