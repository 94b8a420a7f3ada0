-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t1"."key0",
  COUNT("t1"."term_0") AS "term_0_rows"
FROM (
  SELECT
    IFF(
      "t0"."moment" BETWEEN TIMESTAMP_FROM_PARTS(1, 1, 1, 0, 0, 0, 0) AND TIMESTAMP_FROM_PARTS(9999, 12, 31, 23, 59, 59, 999999000),
      "t0"."moment",
      NULL
    ) AS "key0",
    IFF(TRUE, 1, 0) AS "term_0"
  FROM "c"."d"."t" AS "t0"
  WHERE
    IFF(
      "t0"."moment" BETWEEN TIMESTAMP_FROM_PARTS(1, 1, 1, 0, 0, 0, 0) AND TIMESTAMP_FROM_PARTS(9999, 12, 31, 23, 59, 59, 999999000),
      "t0"."moment",
      NULL
    ) IS NOT NULL
) AS "t1"
GROUP BY
  1;
