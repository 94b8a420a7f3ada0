-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t4"."key0",
  COUNT("t4"."term_0") AS "term_0_rows",
  COUNT("t4"."term_1") AS "term_1_rows",
  CAST(SUM("t4"."term_1") AS VARCHAR) AS "term_1_0"
FROM (
  SELECT
    "t3"."key0",
    "t3"."base0" AS "term_0",
    "t3"."base2" AS "term_1"
  FROM (
    SELECT
      TO_BINARY("t2"."town", 'UTF-8') AS "key0",
      NULLIF(IFF(TRUE, 1, 0), 0) AS "base0",
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
      ) AS BIGINT) AS "base2"
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
        TO_BINARY("t1"."town", 'UTF-8') IS NOT NULL
    ) AS "t2"
  ) AS "t3"
) AS "t4"
GROUP BY
  1;
