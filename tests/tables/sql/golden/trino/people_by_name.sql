-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  COUNT("t9"."term_0") AS "term_0_rows",
  CAST(SUM(BITWISE_AND("t9"."term_1", 8388607)) AS VARCHAR) AS "term_1_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t9"."term_1", 23)) AS VARCHAR) AS "term_1_23",
  CAST(SUM(BITWISE_AND("t9"."term_2", 8388607)) AS VARCHAR) AS "term_2_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t9"."term_2", 23)) AS VARCHAR) AS "term_2_23"
FROM (
  SELECT
    "t8"."kept0" AS "term_0",
    "t8"."upper0" * "t8"."kept0" AS "term_1",
    (
      "t8"."lower0" * "t8"."kept0"
    ) + (
      CAST(FLOOR((
        CAST("t8"."rest0" AS DOUBLE) / "t8"."by0"
      ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR((
              CAST("t8"."rest0" AS DOUBLE) / "t8"."by0"
            ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
          ) * "t8"."by0"
        ) <= "t8"."rest0",
        1,
        0
      )
    ) AS "term_2"
  FROM (
    SELECT
      "t7"."kept0",
      "t7"."by0",
      "t7"."high0",
      "t7"."low0",
      "t7"."upper0",
      "t7"."left0",
      "t7"."lower0",
      (
        "t7"."left0" - (
          "t7"."lower0" * "t7"."by0"
        )
      ) * "t7"."kept0" AS "rest0"
    FROM (
      SELECT
        "t6"."kept0",
        "t6"."by0",
        "t6"."high0",
        "t6"."low0",
        "t6"."upper0",
        "t6"."left0",
        CAST(FLOOR((
          CAST("t6"."left0" AS DOUBLE) / "t6"."by0"
        ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR((
                CAST("t6"."left0" AS DOUBLE) / "t6"."by0"
              ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
            ) * "t6"."by0"
          ) <= "t6"."left0",
          1,
          0
        ) AS "lower0"
      FROM (
        SELECT
          "t5"."kept0",
          "t5"."by0",
          "t5"."high0",
          "t5"."low0",
          "t5"."upper0",
          (
            (
              "t5"."high0" - (
                "t5"."upper0" * "t5"."by0"
              )
            ) * 4294967296
          ) + "t5"."low0" AS "left0"
        FROM (
          SELECT
            "t4"."kept0",
            "t4"."by0",
            "t4"."high0",
            "t4"."low0",
            CAST(FLOOR((
              CAST("t4"."high0" AS DOUBLE) / "t4"."by0"
            ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR((
                    CAST("t4"."high0" AS DOUBLE) / "t4"."by0"
                  ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
                ) * "t4"."by0"
              ) <= "t4"."high0",
              1,
              0
            ) AS "upper0"
          FROM (
            SELECT
              LEAST(IF("t3"."rows0" < 536870912, "t3"."rows0", 0), 2) AS "kept0",
              NULLIF("t3"."rows0", 0) AS "by0",
              "t3"."high0",
              "t3"."low0"
            FROM (
              SELECT
                "t2"."unit",
                COUNT((
                  "t2"."base0" * 17179869184
                ) + 0) AS "rows0",
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      BITWISE_RIGHT_SHIFT(
                        (
                          (
                            (
                              "t2"."base0" * 17179869184
                            ) + 0
                          ) - (
                            BITWISE_AND((
                              (
                                "t2"."base0" * 17179869184
                              ) + 0
                            ), 4294967295)
                          )
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS "high0",
                CAST(LEAST(
                  COALESCE(SUM(BITWISE_AND((
                    (
                      "t2"."base0" * 17179869184
                    ) + 0
                  ), 4294967295)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "low0"
              FROM (
                SELECT
                  TO_UTF8("t1"."name") AS "unit",
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
                  END AS BIGINT) AS "base0"
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
  ) AS "t8"
) AS "t9";
