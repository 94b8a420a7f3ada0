-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM("t8"."term_0") AS VARCHAR) AS "sum_0_0",
  CAST(SUM("t8"."term_1") AS VARCHAR) AS "sum_1_0"
FROM (
  SELECT
    "t7"."upper0" * "t7"."kept0" AS "term_0",
    (
      "t7"."lower0" * "t7"."kept0"
    ) + (
      CAST(FLOOR((
        "t7"."rest0" / "t7"."by0"
      ) - 0.5) AS BIGINT) + IFF(
        (
          (
            CAST(FLOOR((
              "t7"."rest0" / "t7"."by0"
            ) - 0.5) AS BIGINT) + 1
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
          "t5"."left0" / "t5"."by0"
        ) - 0.5) AS BIGINT) + IFF(
          (
            (
              CAST(FLOOR((
                "t5"."left0" / "t5"."by0"
              ) - 0.5) AS BIGINT) + 1
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
            IFF("t3"."rows0" < 536870912, LEAST("t3"."rows0", 2), 0) AS "kept0",
            NULLIF("t3"."rows0", 0) AS "by0",
            "t3"."high0",
            "t3"."low0",
            CAST(FLOOR((
              "t3"."high0" / NULLIF("t3"."rows0", 0)
            ) - 0.5) AS BIGINT) + IFF(
              (
                (
                  CAST(FLOOR((
                    "t3"."high0" / NULLIF("t3"."rows0", 0)
                  ) - 0.5) AS BIGINT) + 1
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
                COALESCE(SUM(BITSHIFTRIGHT("t2"."above0" - (
                  BITAND("t2"."above0", 4294967295)
                ), 32)), 0),
                4611686018427387904
              ) AS BIGINT) AS "high0",
              CAST(LEAST(COALESCE(SUM(BITAND("t2"."above0", 4294967295)), 0), 4611686018427387904) AS BIGINT) AS "low0"
            FROM (
              SELECT
                TO_BINARY("t1"."name", 'UTF-8') AS "unit",
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
                  TO_BINARY("t0"."name", 'UTF-8') IS NOT NULL
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
