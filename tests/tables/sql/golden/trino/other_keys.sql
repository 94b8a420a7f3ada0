-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t9"."key0",
  "t9"."key1",
  CAST(SUM("t9"."term_0") AS VARCHAR) AS "term_0_0",
  COUNT("t9"."term_1") AS "term_1_rows",
  CAST(SUM(BITWISE_AND("t9"."term_2", 8388607)) AS VARCHAR) AS "term_2_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t9"."term_2", 23)) AS VARCHAR) AS "term_2_23",
  CAST(SUM(BITWISE_AND("t9"."term_3", 8388607)) AS VARCHAR) AS "term_3_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t9"."term_3", 23)) AS VARCHAR) AS "term_3_23",
  COUNT("t9"."term_4") AS "term_4_rows",
  CAST(SUM(BITWISE_AND("t9"."term_5", 8388607)) AS VARCHAR) AS "term_5_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t9"."term_5", 23)) AS VARCHAR) AS "term_5_23",
  CAST(SUM(BITWISE_AND("t9"."term_6", 8388607)) AS VARCHAR) AS "term_6_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t9"."term_6", 23)) AS VARCHAR) AS "term_6_23"
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
        CAST("t8"."rest1" AS DOUBLE) / "t8"."by1"
      ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR((
              CAST("t8"."rest1" AS DOUBLE) / "t8"."by1"
            ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
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
        CAST("t8"."rest2" AS DOUBLE) / "t8"."by2"
      ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
        (
          (
            CAST(FLOOR((
              CAST("t8"."rest2" AS DOUBLE) / "t8"."by2"
            ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
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
          CAST("t6"."left1" AS DOUBLE) / "t6"."by1"
        ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR((
                CAST("t6"."left1" AS DOUBLE) / "t6"."by1"
              ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
            ) * "t6"."by1"
          ) <= "t6"."left1",
          1,
          0
        ) AS "lower1",
        CAST(FLOOR((
          CAST("t6"."left2" AS DOUBLE) / "t6"."by2"
        ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + IF(
          (
            (
              CAST(FLOOR((
                CAST("t6"."left2" AS DOUBLE) / "t6"."by2"
              ) - CAST(0.5 AS DOUBLE)) AS BIGINT) + 1
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
            LEAST(IF("t4"."rows0" < 536870912, "t4"."rows0", 0), 3) AS "kept0",
            NULLIF("t4"."rows0", 0) AS "by0",
            LEAST(IF("t4"."rows1" < 536870912, "t4"."rows1", 0), 3) AS "kept1",
            NULLIF("t4"."rows1", 0) AS "by1",
            "t4"."high1",
            "t4"."low1",
            LEAST(IF("t4"."rows2" < 536870912, "t4"."rows2", 0), 3) AS "kept2",
            NULLIF("t4"."rows2", 0) AS "by2",
            "t4"."high2",
            "t4"."low2",
            CAST(FLOOR(
              (
                CAST("t4"."high1" AS DOUBLE) / NULLIF("t4"."rows1", 0)
              ) - CAST(0.5 AS DOUBLE)
            ) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(
                    (
                      CAST("t4"."high1" AS DOUBLE) / NULLIF("t4"."rows1", 0)
                    ) - CAST(0.5 AS DOUBLE)
                  ) AS BIGINT) + 1
                ) * NULLIF("t4"."rows1", 0)
              ) <= "t4"."high1",
              1,
              0
            ) AS "upper1",
            CAST(FLOOR(
              (
                CAST("t4"."high2" AS DOUBLE) / NULLIF("t4"."rows2", 0)
              ) - CAST(0.5 AS DOUBLE)
            ) AS BIGINT) + IF(
              (
                (
                  CAST(FLOOR(
                    (
                      CAST("t4"."high2" AS DOUBLE) / NULLIF("t4"."rows2", 0)
                    ) - CAST(0.5 AS DOUBLE)
                  ) AS BIGINT) + 1
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
                  TO_UTF8(
                    CONCAT(
                      CONCAT(
                        CONCAT(
                          CONCAT(
                            CONCAT(
                              CONCAT('SECRET', '|'),
                              TO_HEX("t3"."unit")
                            ),
                            '|'
                          ),
                          TO_HEX("t3"."key0")
                        ),
                        '|'
                      ),
                      TO_HEX("t3"."key1")
                    )
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
                      BITWISE_RIGHT_SHIFT(
                        (
                          (
                            (
                              "t2"."base2" * 1
                            ) + 85899345920
                          ) - (
                            BITWISE_AND((
                              (
                                "t2"."base2" * 1
                              ) + 85899345920
                            ), 4294967295)
                          )
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS "high1",
                CAST(LEAST(
                  COALESCE(SUM(BITWISE_AND((
                    (
                      "t2"."base2" * 1
                    ) + 85899345920
                  ), 4294967295)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "low1",
                COUNT((
                  "t2"."base2" * -1
                ) + 1717986918400) AS "rows2",
                CAST(LEAST(
                  COALESCE(
                    SUM(
                      BITWISE_RIGHT_SHIFT(
                        (
                          (
                            (
                              "t2"."base2" * -1
                            ) + 1717986918400
                          ) - (
                            BITWISE_AND((
                              (
                                "t2"."base2" * -1
                              ) + 1717986918400
                            ), 4294967295)
                          )
                        ),
                        32
                      )
                    ),
                    0
                  ),
                  4611686018427387904
                ) AS BIGINT) AS "high2",
                CAST(LEAST(
                  COALESCE(SUM(BITWISE_AND((
                    (
                      "t2"."base2" * -1
                    ) + 1717986918400
                  ), 4294967295)), 0),
                  4611686018427387904
                ) AS BIGINT) AS "low2"
              FROM (
                SELECT
                  IF(
                    (
                      (
                        TO_UTF8("t1"."town") = TO_UTF8('Bury')
                      )
                      AND (
                        TO_UTF8("t1"."name") = TO_UTF8('a')
                      )
                    )
                    OR (
                      (
                        TO_UTF8("t1"."town") = TO_UTF8('York')
                      )
                      AND (
                        TO_UTF8("t1"."name") = TO_UTF8('b')
                      )
                    ),
                    TO_UTF8("t1"."town"),
                    TO_UTF8('-')
                  ) AS "key0",
                  IF(
                    (
                      (
                        TO_UTF8("t1"."town") = TO_UTF8('Bury')
                      )
                      AND (
                        TO_UTF8("t1"."name") = TO_UTF8('a')
                      )
                    )
                    OR (
                      (
                        TO_UTF8("t1"."town") = TO_UTF8('York')
                      )
                      AND (
                        TO_UTF8("t1"."name") = TO_UTF8('b')
                      )
                    ),
                    TO_UTF8("t1"."name"),
                    TO_UTF8('-')
                  ) AS "key1",
                  "t1"."token" AS "unit",
                  NULLIF(IF(TRUE, 1, 0), 0) AS "base0",
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
                          IS_NAN("t1"."pay")
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
                    IF(
                      (
                        (
                          TO_UTF8("t0"."town") = TO_UTF8('Bury')
                        )
                        AND (
                          TO_UTF8("t0"."name") = TO_UTF8('a')
                        )
                      )
                      OR (
                        (
                          TO_UTF8("t0"."town") = TO_UTF8('York')
                        )
                        AND (
                          TO_UTF8("t0"."name") = TO_UTF8('b')
                        )
                      ),
                      TO_UTF8("t0"."town"),
                      TO_UTF8('-')
                    ) IS NOT NULL
                    AND IF(
                      (
                        (
                          TO_UTF8("t0"."town") = TO_UTF8('Bury')
                        )
                        AND (
                          TO_UTF8("t0"."name") = TO_UTF8('a')
                        )
                      )
                      OR (
                        (
                          TO_UTF8("t0"."town") = TO_UTF8('York')
                        )
                        AND (
                          TO_UTF8("t0"."name") = TO_UTF8('b')
                        )
                      ),
                      TO_UTF8("t0"."name"),
                      TO_UTF8('-')
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
