"""Benchmarks of placement and judge; each module is run as `python -m benchmarks.<name>`."""
