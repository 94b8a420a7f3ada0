-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t2"."name_0",
  CAST(SUM("t2"."term_0") AS VARCHAR) AS "term_0_0"
FROM (
  SELECT
    "t1"."name_0",
    IF(TRUE, 1, 0) AS "term_0"
  FROM (
    SELECT
      "t0"."who",
      "t0"."name",
      "t0"."token",
      "t0"."town",
      "t0"."age",
      "t0"."day",
      "t0"."moment",
      "t0"."pay",
      "t0"."price",
      "t0"."total",
      "t0"."is_new",
      CASE
        WHEN TO_UTF8("t0"."town") = TO_UTF8('Aston')
        THEN 0
        WHEN TO_UTF8("t0"."town") = TO_UTF8('Zürich')
        THEN 1
        ELSE NULL
      END AS "name_0"
    FROM "c"."d"."t" AS "t0"
  ) AS "t1"
) AS "t2"
GROUP BY
  1;
