-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t4"."x",
  COUNT(*) AS "n"
FROM (
  SELECT
    (
      CASE
        WHEN (
          "t3"."value0" >= CAST(0 AS DOUBLE)
        )
        AND (
          "t3"."value0" <= (
            CAST(25 AS DOUBLE) * CAST(4 AS DOUBLE)
          )
        )
        THEN "t3"."value0"
        WHEN "t3"."value0" < CAST(0 AS DOUBLE)
        THEN CAST(0 AS DOUBLE)
        WHEN "t3"."value0" = CAST('NaN' AS DOUBLE)
        THEN NULL
        WHEN "t3"."value0" > (
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
  FROM (
    SELECT
      "t2"."value0",
      "t2"."unit",
      "t2"."text_value0",
      "t2"."copy",
      ROW_NUMBER() OVER (
        PARTITION BY "t2"."unit"
        ORDER BY MD5(
          TO_BINARY(
            CONCAT(
              CONCAT(
                CONCAT(
                  CONCAT(
                    CONCAT(
                      CONCAT('SECRET', '|'),
                      HEX_ENCODE("t2"."unit")
                    ),
                    '|'
                  ),
                  "t2"."text_value0"
                ),
                '|'
              ),
              CAST("t2"."copy" AS VARCHAR)
            ),
            'UTF-8'
          )
        ) ASC, "t2"."text_value0" ASC, "t2"."copy" ASC
      ) - 1 AS "place"
    FROM (
      SELECT
        "t1"."value0",
        "t1"."unit",
        "t1"."text_value0",
        ROW_NUMBER() OVER (PARTITION BY "t1"."unit", "t1"."text_value0" ORDER BY "t1"."value0" ASC) - 1 AS "copy"
      FROM (
        SELECT
          "t0"."pay" AS "value0",
          "t0"."token" AS "unit",
          COALESCE(CAST("t0"."pay" AS VARCHAR), '') AS "text_value0"
        FROM "c"."d"."t" AS "t0"
        WHERE
          "t0"."token" IS NOT NULL
      ) AS "t1"
    ) AS "t2"
  ) AS "t3"
  WHERE
    "t3"."place" < 2
) AS "t4"
GROUP BY
  1;

SELECT
  "t4"."x",
  COUNT(*) AS "n"
FROM (
  SELECT
    CASE
      WHEN (
        "t3"."value0" >= (
          CAST(63 AS DOUBLE) / CAST(64 AS DOUBLE)
        )
      )
      AND (
        "t3"."value0" <= (
          CAST(65 AS DOUBLE) / CAST(64 AS DOUBLE)
        )
      )
      THEN "t3"."value0"
      WHEN "t3"."value0" = CAST('NaN' AS DOUBLE)
      THEN NULL
      ELSE NULL
    END AS "x"
  FROM (
    SELECT
      "t2"."value0",
      "t2"."unit",
      "t2"."text_value0",
      "t2"."copy",
      ROW_NUMBER() OVER (
        PARTITION BY "t2"."unit"
        ORDER BY MD5(
          TO_BINARY(
            CONCAT(
              CONCAT(
                CONCAT(
                  CONCAT(
                    CONCAT(
                      CONCAT('SECRET', '|'),
                      HEX_ENCODE("t2"."unit")
                    ),
                    '|'
                  ),
                  "t2"."text_value0"
                ),
                '|'
              ),
              CAST("t2"."copy" AS VARCHAR)
            ),
            'UTF-8'
          )
        ) ASC, "t2"."text_value0" ASC, "t2"."copy" ASC
      ) - 1 AS "place"
    FROM (
      SELECT
        "t1"."value0",
        "t1"."unit",
        "t1"."text_value0",
        ROW_NUMBER() OVER (PARTITION BY "t1"."unit", "t1"."text_value0" ORDER BY "t1"."value0" ASC) - 1 AS "copy"
      FROM (
        SELECT
          "t0"."pay" AS "value0",
          "t0"."token" AS "unit",
          COALESCE(CAST("t0"."pay" AS VARCHAR), '') AS "text_value0"
        FROM "c"."d"."t" AS "t0"
        WHERE
          "t0"."token" IS NOT NULL
      ) AS "t1"
    ) AS "t2"
  ) AS "t3"
  WHERE
    "t3"."place" < 2
    AND "t3"."value0" >= (
      CAST(63 AS DOUBLE) / CAST(64 AS DOUBLE)
    )
    AND "t3"."value0" <= (
      CAST(65 AS DOUBLE) / CAST(64 AS DOUBLE)
    )
) AS "t4"
GROUP BY
  1;
