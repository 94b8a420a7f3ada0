"""Five queries of TPC-H under differential privacy, for the loss of a row or of a customer.

python -m benchmarks.tpch [--scale 1] [--rounds 3] [--postgres]

A table for each way to the rows (DuckDB and PostgreSQL through Ibis, Parquet through `dp.scan`):
times over the engine's own query on the same rows, the errors that noise and bounding make, and
the lines of the question. DPFAST_BENCH_SMOKE=1 tries it on few rows. `benchmarks/compare` asks
three queries of other systems, too, on tables that NumPy draws by the laws of TPC-H.
"""
