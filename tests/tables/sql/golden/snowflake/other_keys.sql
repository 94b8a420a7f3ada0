-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t9"."key0",
  "t9"."key1",
  CAST(SUM("t9"."term_0") AS VARCHAR) AS "term_0_0",
  COUNT("t9"."term_1") AS "term_1_rows",
  CAST(SUM("t9"."term_2") AS VARCHAR) AS "term_2_0",
  CAST(SUM("t9"."term_3") AS VARCHAR) AS "term_3_0",
  COUNT("t9"."term_4") AS "term_4_rows",
  CAST(SUM("t9"."term_5") AS VARCHAR) AS "term_5_0",
  CAST(SUM("t9"."term_6") AS VARCHAR) AS "term_6_0"
FROM (
  SELECT
    "t8"."key0",
    "t8"."key1",
    "t8"."kept0" AS "term_0",
    "t8"."kept1" AS "term_1",
    "t8"."upper1" * "t8"."kept1" AS "term_2",
    (
      "t8"."lower1" * "t8"."kept1"
    ) + (
      CAST(FLOOR((
        "t8"."rest1" / "t8"."by1"
      ) - 0.5) AS BIGINT) + IFF(
        (
          (
            CAST(FLOOR((
              "t8"."rest1" / "t8"."by1"
            ) - 0.5) AS BIGINT) + 1
          ) * "t8"."by1"
        ) <= "t8"."rest1",
        1,
        0
      )
    ) AS "term_3",
    "t8"."kept2" AS "term_4",
    "t8"."upper2" * "t8"."kept2" AS "term_5",
    (
      "t8"."lower2" * "t8"."kept2"
    ) + (
      CAST(FLOOR((
        "t8"."rest2" / "t8"."by2"
      ) - 0.5) AS BIGINT) + IFF(
        (
          (
            CAST(FLOOR((
              "t8"."rest2" / "t8"."by2"
            ) - 0.5) AS BIGINT) + 1
          ) * "t8"."by2"
        ) <= "t8"."rest2",
        1,
        0
      )
    ) AS "term_6"
  FROM (
    SELECT
      "t7"."key0",
      "t7"."key1",
      "t7"."kept0",
      "t7"."by0",
      "t7"."kept1",
      "t7"."by1",
      "t7"."high1",
      "t7"."low1",
      "t7"."kept2",
      "t7"."by2",
      "t7"."high2",
      "t7"."low2",
      "t7"."upper1",
      "t7"."upper2",
      "t7"."left1",
      "t7"."left2",
      "t7"."lower1",
      "t7"."lower2",
      (
        "t7"."left1" - (
          "t7"."lower1" * "t7"."by1"
        )
      ) * "t7"."kept1" AS "rest1",
      (
        "t7"."left2" - (
          "t7"."lower2" * "t7"."by2"
        )
      ) * "t7"."kept2" AS "rest2"
    FROM (
      SELECT
        "t6"."key0",
        "t6"."key1",
        "t6"."kept0",
        "t6"."by0",
        "t6"."kept1",
        "t6"."by1",
        "t6"."high1",
        "t6"."low1",
        "t6"."kept2",
        "t6"."by2",
        "t6"."high2",
        "t6"."low2",
        "t6"."upper1",
        "t6"."upper2",
        "t6"."left1",
        "t6"."left2",
        CAST(FLOOR((
          "t6"."left1" / "t6"."by1"
        ) - 0.5) AS BIGINT) + IFF(
          (
            (
              CAST(FLOOR((
                "t6"."left1" / "t6"."by1"
              ) - 0.5) AS BIGINT) + 1
            ) * "t6"."by1"
          ) <= "t6"."left1",
          1,
          0
        ) AS "lower1",
        CAST(FLOOR((
          "t6"."left2" / "t6"."by2"
        ) - 0.5) AS BIGINT) + IFF(
          (
            (
              CAST(FLOOR((
                "t6"."left2" / "t6"."by2"
              ) - 0.5) AS BIGINT) + 1
            ) * "t6"."by2"
          ) <= "t6"."left2",
          1,
          0
        ) AS "lower2"
      FROM (
        SELECT
          "t5"."key0",
          "t5"."key1",
          "t5"."kept0",
          "t5"."by0",
          "t5"."kept1",
          "t5"."by1",
          "t5"."high1",
          "t5"."low1",
          "t5"."kept2",
          "t5"."by2",
          "t5"."high2",
          "t5"."low2",
          "t5"."upper1",
          "t5"."upper2",
          (
            (
              "t5"."high1" - (
                "t5"."upper1" * "t5"."by1"
              )
            ) * 4294967296
          ) + "t5"."low1" AS "left1",
          (
            (
              "t5"."high2" - (
                "t5"."upper2" * "t5"."by2"
              )
            ) * 4294967296
          ) + "t5"."low2" AS "left2"
        FROM (
          SELECT
            "t4"."key0",
            "t4"."key1",
            LEAST(IFF("t4"."rows0" < 536870912, "t4"."rows0", 0), 3) AS "kept0",
            NULLIF("t4"."rows0", 0) AS "by0",
            LEAST(IFF("t4"."rows1" < 536870912, "t4"."rows1", 0), 3) AS "kept1",
            NULLIF("t4"."rows1", 0) AS "by1",
            "t4"."high1",
            "t4"."low1",
            LEAST(IFF("t4"."rows2" < 536870912, "t4"."rows2", 0), 3) AS "kept2",
            NULLIF("t4"."rows2", 0) AS "by2",
            "t4"."high2",
            "t4"."low2",
            CAST(FLOOR((
              "t4"."high1" / NULLIF("t4"."rows1", 0)
            ) - 0.5) AS BIGINT) + IFF(
              (
                (
                  CAST(FLOOR((
                    "t4"."high1" / NULLIF("t4"."rows1", 0)
                  ) - 0.5) AS BIGINT) + 1
                ) * NULLIF("t4"."rows1", 0)
              ) <= "t4"."high1",
              1,
              0
            ) AS "upper1",
            CAST(FLOOR((
              "t4"."high2" / NULLIF("t4"."rows2", 0)
            ) - 0.5) AS BIGINT) + IFF(
              (
                (
                  CAST(FLOOR((
                    "t4"."high2" / NULLIF("t4"."rows2", 0)
                  ) - 0.5) AS BIGINT) + 1
                ) * NULLIF("t4"."rows2", 0)
              ) <= "t4"."high2",
              1,
              0
            ) AS "upper2"
          FROM (
            SELECT
              "t3"."unit",
              "t3"."key0",
              "t3"."key1",
              "t3"."rows0",
              "t3"."rows1",
              "t3"."high1",
              "t3"."low1",
              "t3"."rows2",
              "t3"."high2",
              "t3"."low2",
              DENSE_RANK() OVER (
                PARTITION BY "t3"."unit"
                ORDER BY MD5(
                  TO_BINARY(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT('SECRET', '|'),
                              HEX_ENCODE("t3"."unit")
                            ),
                            '|'
                          ),
                          HEX_ENCODE("t3"."key0")
                        ),
                        '|'
                      ),
                      HEX_ENCODE("t3"."key1")
                    ),
                    'UTF-8'
                  )
                ) ASC, "t3"."key0" ASC, "t3"."key1" ASC
              ) - 1 AS "place"
            FROM (
              SELECT
                "t2"."unit",
                "t2"."key0",
                "t2"."key1",
                COUNT((
                  "t2"."base0" * 0
                ) + 0) AS "rows0",
                COUNT((
                  "t2"."base2" * 1
                ) + 85899345920) AS "rows1",
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      BITSHIFTRIGHT(
                        (
                          (
                            "t2"."base2" * 1
                          ) + 85899345920
                        ) - (
                          BITAND((
                            "t2"."base2" * 1
                          ) + 85899345920, 4294967295)
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS "high1",
                CAST(LEAST(
                  COALESCE(SUM(BITAND((
                    "t2"."base2" * 1
                  ) + 85899345920, 4294967295)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "low1",
                COUNT((
                  "t2"."base2" * -1
                ) + 1717986918400) AS "rows2",
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      BITSHIFTRIGHT(
                        (
                          (
                            "t2"."base2" * -1
                          ) + 1717986918400
                        ) - (
                          BITAND((
                            "t2"."base2" * -1
                          ) + 1717986918400, 4294967295)
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS "high2",
                CAST(LEAST(
                  COALESCE(SUM(BITAND((
                    "t2"."base2" * -1
                  ) + 1717986918400, 4294967295)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "low2"
              FROM (
                SELECT
                  IFF(
                    (
                      (
                        TO_BINARY("t1"."town", 'UTF-8') = TO_BINARY('Bury', 'UTF-8')
                      )
                      AND (
                        TO_BINARY("t1"."name", 'UTF-8') = TO_BINARY('a', 'UTF-8')
                      )
                    )
                    OR (
                      (
                        TO_BINARY("t1"."town", 'UTF-8') = TO_BINARY('York', 'UTF-8')
                      )
                      AND (
                        TO_BINARY("t1"."name", 'UTF-8') = TO_BINARY('b', 'UTF-8')
                      )
                    ),
                    TO_BINARY("t1"."town", 'UTF-8'),
                    TO_BINARY('-', 'UTF-8')
                  ) AS "key0",
                  IFF(
                    (
                      (
                        TO_BINARY("t1"."town", 'UTF-8') = TO_BINARY('Bury', 'UTF-8')
                      )
                      AND (
                        TO_BINARY("t1"."name", 'UTF-8') = TO_BINARY('a', 'UTF-8')
                      )
                    )
                    OR (
                      (
                        TO_BINARY("t1"."town", 'UTF-8') = TO_BINARY('York', 'UTF-8')
                      )
                      AND (
                        TO_BINARY("t1"."name", 'UTF-8') = TO_BINARY('b', 'UTF-8')
                      )
                    ),
                    TO_BINARY("t1"."name", 'UTF-8'),
                    TO_BINARY('-', 'UTF-8')
                  ) AS "key1",
                  "t1"."token" AS "unit",
                  NULLIF(IFF(TRUE, 1, 0), 0) AS "base0",
                  CAST((
                    (
                      CASE
                        WHEN (
                          "t1"."pay" >= CAST(-5 AS DOUBLE)
                        )
                        AND (
                          "t1"."pay" <= (
                            CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
                          )
                        )
                        THEN "t1"."pay"
                        WHEN "t1"."pay" < CAST(-5 AS DOUBLE)
                        THEN CAST(-5 AS DOUBLE)
                        WHEN (
                          "t1"."pay" > (
                            CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
                          )
                        )
                        AND NOT (
                          "t1"."pay" = CAST('NaN' AS DOUBLE)
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
                  ) AS BIGINT) AS "base2"
                FROM (
                  SELECT
                    *
                  FROM "c"."d"."t" AS "t0"
                  WHERE
                    IFF(
                      (
                        (
                          TO_BINARY("t0"."town", 'UTF-8') = TO_BINARY('Bury', 'UTF-8')
                        )
                        AND (
                          TO_BINARY("t0"."name", 'UTF-8') = TO_BINARY('a', 'UTF-8')
                        )
                      )
                      OR (
                        (
                          TO_BINARY("t0"."town", 'UTF-8') = TO_BINARY('York', 'UTF-8')
                        )
                        AND (
                          TO_BINARY("t0"."name", 'UTF-8') = TO_BINARY('b', 'UTF-8')
                        )
                      ),
                      TO_BINARY("t0"."town", 'UTF-8'),
                      TO_BINARY('-', 'UTF-8')
                    ) IS NOT NULL
                    AND IFF(
                      (
                        (
                          TO_BINARY("t0"."town", 'UTF-8') = TO_BINARY('Bury', 'UTF-8')
                        )
                        AND (
                          TO_BINARY("t0"."name", 'UTF-8') = TO_BINARY('a', 'UTF-8')
                        )
                      )
                      OR (
                        (
                          TO_BINARY("t0"."town", 'UTF-8') = TO_BINARY('York', 'UTF-8')
                        )
                        AND (
                          TO_BINARY("t0"."name", 'UTF-8') = TO_BINARY('b', 'UTF-8')
                        )
                      ),
                      TO_BINARY("t0"."name", 'UTF-8'),
                      TO_BINARY('-', 'UTF-8')
                    ) IS NOT NULL
                    AND "t0"."token" IS NOT NULL
                ) AS "t1"
              ) AS "t2"
              GROUP BY
                1,
                2,
                3
            ) AS "t3"
          ) AS "t4"
          WHERE
            "t4"."place" < 2
        ) AS "t5"
      ) AS "t6"
    ) AS "t7"
  ) AS "t8"
) AS "t9"
GROUP BY
  1,
  2;
