-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM("t1"."term_0") AS VARCHAR) AS "term_0_0",
  COUNT("t1"."term_1") AS "term_1_rows",
  CAST(SUM("t1"."term_1") AS VARCHAR) AS "term_1_0",
  COUNT("t1"."term_2") AS "term_2_rows",
  CAST(SUM("t1"."term_2") AS VARCHAR) AS "term_2_0"
FROM (
  SELECT
    IFF(TRUE, 1, 0) AS "term_0",
    CAST(CASE
      WHEN (
        "t0"."age" >= 0
      ) AND (
        "t0"."age" <= 100
      )
      THEN "t0"."age"
      WHEN "t0"."age" < 0
      THEN 0
      WHEN "t0"."age" > 100
      THEN 100
      ELSE NULL
    END AS BIGINT) AS "term_1",
    CAST((
      (
        CASE
          WHEN (
            CAST(CAST("t0"."is_new" AS INT) AS DOUBLE) >= CAST(0 AS DOUBLE)
          )
          AND (
            CAST(CAST("t0"."is_new" AS INT) AS DOUBLE) <= CAST(1 AS DOUBLE)
          )
          THEN CAST(CAST("t0"."is_new" AS INT) AS DOUBLE)
          WHEN CAST(CAST("t0"."is_new" AS INT) AS DOUBLE) < CAST(0 AS DOUBLE)
          THEN CAST(0 AS DOUBLE)
          WHEN (
            CAST(CAST("t0"."is_new" AS INT) AS DOUBLE) > CAST(1 AS DOUBLE)
          )
          AND NOT (
            CAST(CAST("t0"."is_new" AS INT) AS DOUBLE) = CAST('NaN' AS DOUBLE)
          )
          THEN CAST(1 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) AS "term_2"
  FROM "c"."d"."t" AS "t0"
) AS "t1";
