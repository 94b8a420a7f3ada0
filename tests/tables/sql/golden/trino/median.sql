-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t1"."x",
  COUNT(*) AS "n"
FROM (
  SELECT
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
        WHEN IS_NAN("t0"."pay")
        THEN NULL
        WHEN "t0"."pay" > (
          CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
        )
        THEN CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
        ELSE NULL
      END + (
        CAST(3 AS DOUBLE) * CAST(70368744177664 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(70368744177664 AS DOUBLE)
    ) AS "x"
  FROM "c"."d"."t" AS "t0"
) AS "t1"
GROUP BY
  1;

SELECT
  "t1"."x",
  COUNT(*) AS "n"
FROM (
  SELECT
    CASE
      WHEN (
        "t0"."pay" >= (
          CAST(63 AS DOUBLE) / CAST(64 AS DOUBLE)
        )
      )
      AND (
        "t0"."pay" <= (
          CAST(65 AS DOUBLE) / CAST(64 AS DOUBLE)
        )
      )
      THEN "t0"."pay"
      WHEN IS_NAN("t0"."pay")
      THEN NULL
      ELSE NULL
    END AS "x"
  FROM "c"."d"."t" AS "t0"
  WHERE
    "t0"."pay" >= (
      CAST(63 AS DOUBLE) / CAST(64 AS DOUBLE)
    )
    AND "t0"."pay" <= (
      CAST(65 AS DOUBLE) / CAST(64 AS DOUBLE)
    )
) AS "t1"
GROUP BY
  1;
