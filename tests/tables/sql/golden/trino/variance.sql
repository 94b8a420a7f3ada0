-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM("t1"."term_0") AS VARCHAR) AS "term_0_0",
  COUNT("t1"."term_1") AS "term_1_rows",
  CAST(SUM(BITWISE_AND("t1"."term_1", 8388607)) AS VARCHAR) AS "term_1_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t1"."term_1", 23)) AS VARCHAR) AS "term_1_23",
  CAST(SUM(BITWISE_AND("t1"."term_2", 8388607)) AS VARCHAR) AS "term_2_0",
  CAST(SUM(BITWISE_AND((
    BITWISE_RIGHT_SHIFT("t1"."term_2", 23)
  ), 8388607)) AS VARCHAR) AS "term_2_23",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t1"."term_2", 46)) AS VARCHAR) AS "term_2_46"
FROM (
  SELECT
    IF(TRUE, 1, 0) AS "term_0",
    CAST((
      (
        CASE
          WHEN (
            "t0"."pay" >= CAST(0 AS DOUBLE)
          )
          AND (
            "t0"."pay" <= (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          THEN "t0"."pay"
          WHEN "t0"."pay" < CAST(0 AS DOUBLE)
          THEN CAST(0 AS DOUBLE)
          WHEN (
            "t0"."pay" > (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          AND NOT (
            IS_NAN("t0"."pay")
          )
          THEN CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) * CAST(16777216 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) AS "term_1",
    CAST((
      (
        CASE
          WHEN (
            "t0"."pay" >= CAST(0 AS DOUBLE)
          )
          AND (
            "t0"."pay" <= (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          THEN "t0"."pay"
          WHEN "t0"."pay" < CAST(0 AS DOUBLE)
          THEN CAST(0 AS DOUBLE)
          WHEN (
            "t0"."pay" > (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          AND NOT (
            IS_NAN("t0"."pay")
          )
          THEN CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) * CAST(16777216 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) * CAST((
      (
        CASE
          WHEN (
            "t0"."pay" >= CAST(0 AS DOUBLE)
          )
          AND (
            "t0"."pay" <= (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          THEN "t0"."pay"
          WHEN "t0"."pay" < CAST(0 AS DOUBLE)
          THEN CAST(0 AS DOUBLE)
          WHEN (
            "t0"."pay" > (
              CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
            )
          )
          AND NOT (
            IS_NAN("t0"."pay")
          )
          THEN CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) * CAST(16777216 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) AS "term_2"
  FROM "c"."d"."t" AS "t0"
) AS "t1";
