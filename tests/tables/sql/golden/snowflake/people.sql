-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t10"."key0",
  CAST(SUM("t10"."term_0") AS VARCHAR) AS "sum_0_0",
  CAST(SUM("t10"."term_1") AS VARCHAR) AS "sum_1_0",
  CAST(SUM("t10"."term_2") AS VARCHAR) AS "sum_2_0",
  CAST(SUM("t10"."term_3") AS VARCHAR) AS "sum_3_0",
  CAST(SUM("t10"."term_4") AS VARCHAR) AS "sum_4_0"
FROM (
  SELECT
    "t9"."key0",
    "t9"."kept0" AS "term_0",
    "t9"."upper1" * "t9"."kept1" AS "term_1",
    (
      "t9"."lower1" * "t9"."kept1"
    ) + (
      CAST(FLOOR((
        "t9"."rest1" / "t9"."by1"
      ) - 0.5) AS BIGINT) + IFF(
        (
          (
            CAST(FLOOR((
              "t9"."rest1" / "t9"."by1"
            ) - 0.5) AS BIGINT) + 1
          ) * "t9"."by1"
        ) <= "t9"."rest1",
        1,
        0
      )
    ) AS "term_2",
    "t9"."upper2" * "t9"."kept2" AS "term_3",
    (
      "t9"."lower2" * "t9"."kept2"
    ) + (
      CAST(FLOOR((
        "t9"."rest2" / "t9"."by2"
      ) - 0.5) AS BIGINT) + IFF(
        (
          (
            CAST(FLOOR((
              "t9"."rest2" / "t9"."by2"
            ) - 0.5) AS BIGINT) + 1
          ) * "t9"."by2"
        ) <= "t9"."rest2",
        1,
        0
      )
    ) AS "term_4"
  FROM (
    SELECT
      "t8"."key0",
      "t8"."kept0",
      "t8"."kept1",
      "t8"."kept2",
      "t8"."by1",
      "t8"."upper1",
      "t8"."lower1",
      (
        "t8"."left1" - (
          "t8"."lower1" * "t8"."by1"
        )
      ) * "t8"."kept1" AS "rest1",
      "t8"."by2",
      "t8"."upper2",
      "t8"."lower2",
      (
        "t8"."left2" - (
          "t8"."lower2" * "t8"."by2"
        )
      ) * "t8"."kept2" AS "rest2"
    FROM (
      SELECT
        "t7"."key0",
        "t7"."kept0",
        "t7"."kept1",
        "t7"."kept2",
        "t7"."by1",
        "t7"."upper1",
        "t7"."left1",
        CAST(FLOOR((
          "t7"."left1" / "t7"."by1"
        ) - 0.5) AS BIGINT) + IFF(
          (
            (
              CAST(FLOOR((
                "t7"."left1" / "t7"."by1"
              ) - 0.5) AS BIGINT) + 1
            ) * "t7"."by1"
          ) <= "t7"."left1",
          1,
          0
        ) AS "lower1",
        "t7"."by2",
        "t7"."upper2",
        "t7"."left2",
        CAST(FLOOR((
          "t7"."left2" / "t7"."by2"
        ) - 0.5) AS BIGINT) + IFF(
          (
            (
              CAST(FLOOR((
                "t7"."left2" / "t7"."by2"
              ) - 0.5) AS BIGINT) + 1
            ) * "t7"."by2"
          ) <= "t7"."left2",
          1,
          0
        ) AS "lower2"
      FROM (
        SELECT
          "t6"."key0",
          "t6"."kept0",
          "t6"."kept1",
          "t6"."kept2",
          "t6"."by1",
          "t6"."upper1",
          (
            (
              "t6"."high1" - (
                "t6"."upper1" * "t6"."by1"
              )
            ) * 4294967296
          ) + "t6"."low1" AS "left1",
          "t6"."by2",
          "t6"."upper2",
          (
            (
              "t6"."high2" - (
                "t6"."upper2" * "t6"."by2"
              )
            ) * 4294967296
          ) + "t6"."low2" AS "left2"
        FROM (
          SELECT
            "t5"."key0",
            IFF("t5"."rows0" < 536870912, LEAST("t5"."rows0", 3), 0) AS "kept0",
            IFF("t5"."rows1" < 536870912, LEAST("t5"."rows1", 3), 0) AS "kept1",
            IFF("t5"."rows2" < 536870912, LEAST("t5"."rows2", 3), 0) AS "kept2",
            NULLIF("t5"."rows1", 0) AS "by1",
            "t5"."high1",
            "t5"."low1",
            CAST(FLOOR((
              "t5"."high1" / NULLIF("t5"."rows1", 0)
            ) - 0.5) AS BIGINT) + IFF(
              (
                (
                  CAST(FLOOR((
                    "t5"."high1" / NULLIF("t5"."rows1", 0)
                  ) - 0.5) AS BIGINT) + 1
                ) * NULLIF("t5"."rows1", 0)
              ) <= "t5"."high1",
              1,
              0
            ) AS "upper1",
            NULLIF("t5"."rows2", 0) AS "by2",
            "t5"."high2",
            "t5"."low2",
            CAST(FLOOR((
              "t5"."high2" / NULLIF("t5"."rows2", 0)
            ) - 0.5) AS BIGINT) + IFF(
              (
                (
                  CAST(FLOOR((
                    "t5"."high2" / NULLIF("t5"."rows2", 0)
                  ) - 0.5) AS BIGINT) + 1
                ) * NULLIF("t5"."rows2", 0)
              ) <= "t5"."high2",
              1,
              0
            ) AS "upper2"
          FROM (
            SELECT
              "t4"."unit",
              "t4"."key0",
              "t4"."rows0",
              "t4"."rows1",
              "t4"."high1",
              "t4"."low1",
              "t4"."rows2",
              "t4"."high2",
              "t4"."low2",
              ROW_NUMBER() OVER (
                PARTITION BY "t4"."unit"
                ORDER BY MD5(
                  TO_BINARY(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT('SECRET', '|'),
                          HEX_ENCODE("t4"."unit")
                        ),
                        '|'
                      ),
                      HEX_ENCODE("t4"."key0")
                    ),
                    'UTF-8'
                  )
                ) ASC, "t4"."key0" ASC
              ) - 1 AS "place"
            FROM (
              SELECT
                "t3"."unit",
                "t3"."key0",
                COUNT("t3"."above0") AS "rows0",
                COUNT("t3"."above1") AS "rows1",
                CAST(LEAST(
                  COALESCE(SUM(BITSHIFTRIGHT("t3"."above1" - (
                    BITAND("t3"."above1", 4294967295)
                  ), 32)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "high1",
                CAST(LEAST(COALESCE(SUM(BITAND("t3"."above1", 4294967295)), 0), 4611686018427387904) AS BIGINT) AS "low1",
                COUNT("t3"."above2") AS "rows2",
                CAST(LEAST(
                  COALESCE(SUM(BITSHIFTRIGHT("t3"."above2" - (
                    BITAND("t3"."above2", 4294967295)
                  ), 32)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "high2",
                CAST(LEAST(COALESCE(SUM(BITAND("t3"."above2", 4294967295)), 0), 4611686018427387904) AS BIGINT) AS "low2"
              FROM (
                SELECT
                  TO_BINARY("t2"."town", 'UTF-8') AS "key0",
                  "t2"."token" AS "unit",
                  NULLIF(IFF(TRUE, 1, 0), 0) * 0 AS "above0",
                  (
                    CAST((
                      (
                        CASE
                          WHEN (
                            "t2"."pay" >= CAST(-5 AS DOUBLE)
                          )
                          AND (
                            "t2"."pay" <= (
                              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
                            )
                          )
                          THEN "t2"."pay"
                          WHEN "t2"."pay" < CAST(-5 AS DOUBLE)
                          THEN CAST(-5 AS DOUBLE)
                          WHEN (
                            "t2"."pay" > (
                              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
                            )
                          )
                          AND NOT (
                            "t2"."pay" = CAST('NaN' AS DOUBLE)
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
                    ) AS BIGINT) - -85899345920
                  ) + 0 AS "above1",
                  (
                    (
                      CAST((
                        (
                          CASE
                            WHEN (
                              "t2"."pay" >= CAST(-5 AS DOUBLE)
                            )
                            AND (
                              "t2"."pay" <= (
                                CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
                              )
                            )
                            THEN "t2"."pay"
                            WHEN "t2"."pay" < CAST(-5 AS DOUBLE)
                            THEN CAST(-5 AS DOUBLE)
                            WHEN (
                              "t2"."pay" > (
                                CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
                              )
                            )
                            AND NOT (
                              "t2"."pay" = CAST('NaN' AS DOUBLE)
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
                      ) AS BIGINT) - -85899345920
                    ) * -1
                  ) + 1803886264320 AS "above2"
                FROM (
                  SELECT
                    *
                  FROM (
                    SELECT
                      *
                    FROM "c"."d"."t" AS "t0"
                    WHERE
                      "t0"."town" IN ('Bury')
                  ) AS "t1"
                  WHERE
                    TO_BINARY("t1"."town", 'UTF-8') IS NOT NULL AND "t1"."token" IS NOT NULL
                ) AS "t2"
              ) AS "t3"
              GROUP BY
                1,
                2
            ) AS "t4"
          ) AS "t5"
          WHERE
            "t5"."place" < 2
        ) AS "t6"
      ) AS "t7"
    ) AS "t8"
  ) AS "t9"
) AS "t10"
GROUP BY
  1;
