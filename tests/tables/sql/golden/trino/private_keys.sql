-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t3"."key0",
  COUNT("t3"."term_0") AS "term_0_rows"
FROM (
  SELECT
    "t2"."key0",
    "t2"."base0" AS "term_0"
  FROM (
    SELECT
      TO_UTF8("t1"."town") AS "key0",
      IF(TRUE, 1, 0) AS "base0"
    FROM (
      SELECT
        *
      FROM "c"."d"."t" AS "t0"
      WHERE
        TO_UTF8("t0"."town") IS NOT NULL
    ) AS "t1"
  ) AS "t2"
) AS "t3"
GROUP BY
  1;
