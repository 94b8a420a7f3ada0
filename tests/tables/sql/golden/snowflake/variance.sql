-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM("t1"."term_0") AS VARCHAR) AS "term_0_0",
  COUNT("t1"."term_1") AS "term_1_rows",
  CAST(SUM("t1"."term_1") AS VARCHAR) AS "term_1_0",
  CAST(SUM("t1"."term_2") AS VARCHAR) AS "term_2_0"
FROM (
  SELECT
    IFF(TRUE, 1, 0) AS "term_0",
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
            "t0"."pay" = CAST('NaN' AS DOUBLE)
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
            "t0"."pay" = CAST('NaN' AS DOUBLE)
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
            "t0"."pay" = CAST('NaN' AS DOUBLE)
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
