-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  CAST(SUM("t1"."term_0") AS VARCHAR) AS "term_0_0",
  COUNT("t1"."term_1") AS "term_1_rows",
  CAST(SUM(BITWISE_AND("t1"."term_2", 8388607)) AS VARCHAR) AS "term_2_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t1"."term_2", 23)) AS VARCHAR) AS "term_2_23"
FROM (
  SELECT
    IF(TRUE, 1, 0) AS "term_0",
    CAST((
      (
        CASE
          WHEN (
            CAST("t0"."who" AS DOUBLE) > -(
              CAST(1 AS DOUBLE) * CAST(256 AS DOUBLE)
            )
          )
          AND (
            CAST("t0"."who" AS DOUBLE) < (
              CAST(1 AS DOUBLE) * CAST(256 AS DOUBLE)
            )
          )
          THEN CAST(0 AS DOUBLE)
          WHEN (
            CAST("t0"."who" AS DOUBLE) >= (
              CAST(-1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
            )
          )
          AND (
            CAST("t0"."who" AS DOUBLE) <= (
              CAST(1 AS DOUBLE) * CAST(1125899906842624 AS DOUBLE)
            )
          )
          THEN CAST("t0"."who" AS DOUBLE)
          WHEN CAST("t0"."who" AS DOUBLE) < (
            CAST(-1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
          )
          THEN CAST(-1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
          WHEN (
            CAST("t0"."who" AS DOUBLE) > (
              CAST(1 AS DOUBLE) * CAST(1125899906842624 AS DOUBLE)
            )
          )
          AND NOT (
            IS_NAN(CAST("t0"."who" AS DOUBLE))
          )
          THEN CAST(1 AS DOUBLE) * CAST(1125899906842624 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) / CAST(1024 AS DOUBLE)
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
            CAST("t0"."who" AS DOUBLE) > -(
              CAST(1 AS DOUBLE) * CAST(256 AS DOUBLE)
            )
          )
          AND (
            CAST("t0"."who" AS DOUBLE) < (
              CAST(1 AS DOUBLE) * CAST(256 AS DOUBLE)
            )
          )
          THEN CAST(0 AS DOUBLE)
          WHEN (
            CAST("t0"."who" AS DOUBLE) >= (
              CAST(-1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
            )
          )
          AND (
            CAST("t0"."who" AS DOUBLE) <= (
              CAST(1 AS DOUBLE) * CAST(1125899906842624 AS DOUBLE)
            )
          )
          THEN CAST("t0"."who" AS DOUBLE)
          WHEN CAST("t0"."who" AS DOUBLE) < (
            CAST(-1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
          )
          THEN CAST(-1 AS DOUBLE) * CAST(1099511627776 AS DOUBLE)
          WHEN (
            CAST("t0"."who" AS DOUBLE) > (
              CAST(1 AS DOUBLE) * CAST(1125899906842624 AS DOUBLE)
            )
          )
          AND NOT (
            IS_NAN(CAST("t0"."who" AS DOUBLE))
          )
          THEN CAST(1 AS DOUBLE) * CAST(1125899906842624 AS DOUBLE)
          ELSE NULL
        END * (
          CAST(1 AS DOUBLE) / CAST(1024 AS DOUBLE)
        )
      ) + (
        CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
      )
    ) - (
      CAST(3 AS DOUBLE) * CAST(2251799813685248 AS DOUBLE)
    ) AS BIGINT) - -1073741824 AS "term_2"
  FROM "c"."d"."t" AS "t0"
) AS "t1";
