-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t1"."name_0",
  CAST(SUM("t1"."term_0") AS VARCHAR) AS "term_0_0"
FROM (
  SELECT
    IF(
      (
        IF(IS_NAN("t0"."pay"), NULL, "t0"."pay") >= CAST(0 AS DOUBLE)
      )
      AND (
        IF(IS_NAN("t0"."pay"), NULL, "t0"."pay") <= (
          CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
        )
      ),
      IF(
        IF(IS_NAN("t0"."pay"), NULL, "t0"."pay") >= (
          CAST(3602879701896397 AS DOUBLE) / CAST(36028797018963968 AS DOUBLE)
        ),
        IF(IF(IS_NAN("t0"."pay"), NULL, "t0"."pay") >= CAST(5 AS DOUBLE), 2, 1),
        0
      ),
      NULL
    ) AS "name_0",
    IF(TRUE, 1, 0) AS "term_0"
  FROM "c"."d"."t" AS "t0"
) AS "t1"
GROUP BY
  1;
