-- Ibis 12.0.0, sqlglot 30.30.0
SELECT
  "t3"."size",
  COUNT(*) AS "units"
FROM (
  SELECT
    "t2"."unit",
    MAX(
      -(
        CAST(FLOOR(
          CAST(ABS(
            COALESCE(
              (
                CAST("t2"."rows0" AS DOUBLE) * CAST(0 AS DOUBLE)
              ) + (
                CAST("t2"."high0" AS DOUBLE) * (
                  CAST(1 AS DOUBLE) * CAST(4294967296 AS DOUBLE)
                )
              ) + (
                CAST("t2"."low0" AS DOUBLE) * CAST(1 AS DOUBLE)
              ),
              CAST(0 AS DOUBLE)
            )
          ) AS DOUBLE) / (
            CAST(-25 AS DOUBLE) * CAST(268435456 AS DOUBLE)
          )
        ) AS BIGINT)
      )
    ) AS "size"
  FROM (
    SELECT
      "t1"."unit",
      COUNT((
        "t1"."base0" * 1
      ) + 0) AS "rows0",
      CAST(LEAST(
        COALESCE(
          SUM(
            BITWISE_RIGHT_SHIFT(
              (
                (
                  (
                    "t1"."base0" * 1
                  ) + 0
                ) - (
                  BITWISE_AND((
                    (
                      "t1"."base0" * 1
                    ) + 0
                  ), 4294967295)
                )
              ),
              32
            )
          ),
          0
        ),
        4611686018427387904
      ) AS BIGINT) AS "high0",
      CAST(LEAST(
        COALESCE(SUM(BITWISE_AND((
          (
            "t1"."base0" * 1
          ) + 0
        ), 4294967295)), 0),
        4611686018427387904
      ) AS BIGINT) AS "low0"
    FROM (
      SELECT
        "t0"."token" AS "unit",
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
                IS_NAN("t0"."pay")
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
        ) AS BIGINT) AS "base0"
      FROM "c"."d"."t" AS "t0"
      WHERE
        "t0"."token" IS NOT NULL
    ) AS "t1"
    GROUP BY
      1
  ) AS "t2"
  GROUP BY
    1
) AS "t3"
GROUP BY
  1;

SELECT
  CAST(SUM(BITWISE_AND("t3"."term_0", 8388607)) AS VARCHAR) AS "term_0_0",
  CAST(SUM(BITWISE_RIGHT_SHIFT("t3"."term_0", 23)) AS VARCHAR) AS "term_0_23"
FROM (
  SELECT
    IF(
      (
        "t2"."rows0" > 0
      ) AND (
        "t2"."rows0" < 536870912
      ),
      GREATEST(
        LEAST(
          (
            GREATEST(
              LEAST(
                "t2"."high0" + (
                  IF((
                    "t2"."rows0" > 0
                  ) AND (
                    "t2"."rows0" < 536870912
                  ), "t2"."rows0", 0) * 0
                ) + (
                  BITWISE_RIGHT_SHIFT(
                    (
                      "t2"."low0" + (
                        IF((
                          "t2"."rows0" > 0
                        ) AND (
                          "t2"."rows0" < 536870912
                        ), "t2"."rows0", 0) * 0
                      )
                    ),
                    32
                  )
                ),
                536870912
              ),
              -536870912
            ) * 4294967296
          ) + (
            BITWISE_AND(
              (
                "t2"."low0" + (
                  IF((
                    "t2"."rows0" > 0
                  ) AND (
                    "t2"."rows0" < 536870912
                  ), "t2"."rows0", 0) * 0
                )
              ),
              4294967295
            )
          ),
          6710886400
        ),
        0
      ),
      NULL
    ) AS "term_0"
  FROM (
    SELECT
      "t1"."unit",
      COUNT((
        "t1"."base0" * 1
      ) + 0) AS "rows0",
      CAST(LEAST(
        COALESCE(
          SUM(
            BITWISE_RIGHT_SHIFT(
              (
                (
                  (
                    "t1"."base0" * 1
                  ) + 0
                ) - (
                  BITWISE_AND((
                    (
                      "t1"."base0" * 1
                    ) + 0
                  ), 4294967295)
                )
              ),
              32
            )
          ),
          0
        ),
        4611686018427387904
      ) AS BIGINT) AS "high0",
      CAST(LEAST(
        COALESCE(SUM(BITWISE_AND((
          (
            "t1"."base0" * 1
          ) + 0
        ), 4294967295)), 0),
        4611686018427387904
      ) AS BIGINT) AS "low0"
    FROM (
      SELECT
        "t0"."token" AS "unit",
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
                IS_NAN("t0"."pay")
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
        ) AS BIGINT) AS "base0"
      FROM "c"."d"."t" AS "t0"
      WHERE
        "t0"."token" IS NOT NULL
    ) AS "t1"
    GROUP BY
      1
  ) AS "t2"
) AS "t3";
