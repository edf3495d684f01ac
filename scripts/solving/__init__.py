"""The parts of `bench_solve.py`: which files, one run in a process of its own, its line, and whether it is right."""
